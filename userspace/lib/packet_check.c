// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
#include <string.h>

#include "../../kernel/fields.h"
#include "packet_check.h"

__u64 packet_payload(const struct bpfrelay_type *type, __u32 len)
{
	const struct bpf_relay_field *flexible = NULL;

	if (type->flags & BPF_RELAY_TYPE_VAR)
		flexible = fields_flexible(type->fields, type->n_fields);
	return flexible ? flexible->offset + (__u64)len * flexible->size : len;
}

bool packet_size(const struct metadata *m, const struct bpf_relay_packet *header, size_t *size)
{
	__u64 bytes = header->packet_size / 8;

	if (header->magic != BPF_RELAY_CTF_MAGIC || memcmp(header->uuid, m->uuid, 16) ||
	    header->packet_size % 8 || bytes & (bytes - 1) ||
	    bytes < BPF_RELAY_SUBBUF_MIN || bytes > BPF_RELAY_SUBBUF_MAX)
		return false;
	*size = bytes;
	return true;
}

static const char *check_header(const struct metadata *m, __u32 cpu,
				const struct bpf_relay_packet *p, size_t size,
				const struct packet_chain *chain)
{
	if (p->magic != BPF_RELAY_CTF_MAGIC)
		return "does not begin as a packet does";
	if (memcmp(p->uuid, m->uuid, sizeof(p->uuid)))
		return "belongs to another log";
	if (p->stream_id || p->stream_instance_id != cpu || p->cpu_id != cpu)
		return "belongs to another CPU";
	if (p->packet_size != size * 8ULL)
		return "has another size than the others";
	if (p->content_size % 8 || p->content_size < sizeof(*p) * 8 ||
	    p->content_size > p->packet_size)
		return "has a content_size that cannot be";
	if (p->timestamp_end < p->timestamp_begin)
		return "ends before it begins";
	if (!chain->begun)
		return NULL;
	if (chain->broken ? p->packet_seq_num <= chain->seq :
			    p->packet_seq_num != chain->seq + 1)
		return "has not the number that follows";
	if (p->events_discarded < chain->discarded)
		return "has discarded less than the one before";
	if (p->timestamp_begin < chain->ts)
		return "begins before the one before ends";
	return NULL;
}

static bool is_zero(const char *from, const char *to)
{
	while (from < to)
		if (*from++)
			return false;
	return true;
}

static const char *check_records(const struct metadata *m, const struct bpf_relay_packet *p,
				 size_t size)
{
	const char *bytes = (const char *)p;
	size_t content = p->content_size / 8, end = sizeof(*p), from = end;
	__u64 ts = p->timestamp_begin, len;

	while (from < content) {
		const struct bpf_relay_header *h = (const void *)(bytes + from);
		const struct bpfrelay_type *type;

		if (content - from < sizeof(*h))
			return "ends inside a record's header";
		type = h->id < BPF_RELAY_TYPES_MAX ? m->type[h->id] : NULL;
		if (!type)
			return "has a record of an unknown type";
		if (h->state != BPF_RELAY_COMMITTED)
			return "has a record that is not whole";
		if (h->ts < ts || h->ts > p->timestamp_end)
			return "has a record of another time";
		if (!(type->flags & BPF_RELAY_TYPE_VAR) && h->len != type->size)
			return "has a record of another size than its type";
		len = packet_payload(type, h->len);
		if (len > content - from - sizeof(*h))
			return "ends inside a record";
		ts = h->ts;
		end = from + sizeof(*h) + len;
		from += BPF_RELAY_RECORD_SIZE(len);
		if (from > size || !is_zero(bytes + end, bytes + from))
			return "has something in the padding of a record";
	}
	if (end != content)
		return "has a content_size that is not the end of a record";
	return is_zero(bytes + end, bytes + size) ? NULL : "has something behind its content";
}

const char *packet_check(const struct metadata *m, __u32 cpu, const void *buf, size_t size,
			 struct packet_chain *chain)
{
	const struct bpf_relay_packet *p = buf;
	const char *wrong;

	wrong = check_header(m, cpu, p, size, chain);
	wrong = wrong ?: check_records(m, p, size);
	if (wrong) {
		chain->broken = true;
		return wrong;
	}
	*chain = (struct packet_chain) {
		.begun = true,
		.seq = p->packet_seq_num,
		.discarded = p->events_discarded,
		.ts = p->timestamp_end,
	};
	return NULL;
}
