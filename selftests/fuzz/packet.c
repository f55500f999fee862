// SPDX-License-Identifier: GPL-2.0-only
/* packet_compact() on a sub-buffer with any bytes in it. */
#include "check.h"
#include "packet.h"

#define HEADER	sizeof(struct bpf_relay_packet)

/* Types 2 and 3 end in a flexible field. */
static struct packet_type types[BPF_RELAY_TYPES_MAX];

/* The next record at `from`, if there is a whole one; said without packet.c's words. */
static const struct bpf_relay_header *record_at(const uint8_t *bytes, uint64_t from, uint64_t len,
						uint64_t last_ts)
{
	const struct bpf_relay_header *h = (const void *)(bytes + from);

	if (len - from < sizeof(*h))
		return NULL;
	if (h->state != BPF_RELAY_COMMITTED && h->state != BPF_RELAY_DISCARDED)
		return NULL;
	if (h->ts < last_ts || from + sizeof(*h) + (uint64_t)h->len > len)
		return NULL;
	if (h->id < BPF_RELAY_TYPES_MAX && h->len < types[h->id].least)
		return NULL;
	/* Its padding, too. */
	return (from + sizeof(*h) + h->len + 7) / 8 * 8 <= len ? h : NULL;
}

/* `to` is what must have become of h: its bytes up to the last element. */
static uint64_t record_must_hold(const uint8_t *to, uint64_t room,
				 const struct bpf_relay_header *h)
{
	const struct packet_type *type = &types[h->id % BPF_RELAY_TYPES_MAX];
	const struct bpf_relay_header *header = (const void *)to;
	uint32_t len = h->len, shown = h->len;
	uint64_t i;

	if (h->id < BPF_RELAY_TYPES_MAX && type->elem) {
		shown = (len - type->offset) / type->elem;
		len -= (len - type->offset) % type->elem;
	}
	must((sizeof(*h) + len + 7) / 8 * 8 <= room);
	must(header->ts == h->ts && header->id == h->id && header->state == h->state &&
	     header->len == shown);
	must(!memcmp(header + 1, h + 1, len));
	for (i = sizeof(*h) + len; len != h->len && i % 8; i++)
		must(!to[i]);
	return sizeof(*h) + len;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t from, at = HEADER, last_ts = 0, content = HEADER;
	uint32_t len, subbuf, nrec = 0, i;
	const struct bpf_relay_header *h;
	uint8_t *copy, *before;
	struct packet p;

	/* The first bytes say how far it may be read, and where the flexible fields begin. */
	if (size < HEADER + 6 || size > 65536)
		return 0;
	len = data[0] | data[1] << 8;
	types[2] = (struct packet_type) { .least = data[2], .offset = data[2], .elem = data[3] };
	types[3] = (struct packet_type) { .least = data[4], .offset = data[4], .elem = data[5] };
	data += 6;
	size -= 6;
	/* All that ring_readable() returns are multiples of 8. */
	len = len % (size + 1) & ~7U;
	for (subbuf = 128; subbuf < size; subbuf *= 2)
		;
	copy = calloc(1, subbuf);
	before = copy_of(data, size);
	memcpy(copy, data, size);
	packet_compact(copy, len, subbuf, types, &p);

	/* Exactly the committed records, in their order, one behind the other. */
	for (from = HEADER; len >= HEADER && (h = record_at(before, from, len, last_ts));) {
		if (h->state == BPF_RELAY_COMMITTED) {
			content = at + record_must_hold(copy + at, subbuf - at, h);
			last_ts = h->ts;
			at = (content + 7) / 8 * 8;
			nrec++;
		}
		from += (sizeof(*h) + h->len + 7) / 8 * 8;
	}
	must(p.nrec == nrec);
	must(p.content == content);
	must(p.timestamp_end == last_ts);
	must(!memcmp(copy, before, HEADER));
	for (i = at; i < subbuf; i++)
		must(!copy[i]);
	free(before);
	free(copy);
	return 0;
}
