// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "fields.h"
#include "packet.h"

void packet_type_init(struct packet_type *type, u32 size, const struct bpf_relay_field *table,
		      u32 n)
{
	const struct bpf_relay_field *flexible = fields_flexible(table, n);
	u32 i;

	*type = (struct packet_type) { .least = size };
	for (i = 0; i < n; i++) {
		if (table[i].kind == BPF_RELAY_PAD) {
			type->fields = table;
			type->n_fields = n;
		}
	}
	if (flexible) {
		type->offset = flexible->offset;
		type->elem = flexible->size;
	}
}

static void zero_pad(const struct bpf_relay_field *f, u8 *at)
{
	u32 i;

	if (!f->bits)
		memset(at, 0, f->count);
	for (i = f->bit_offset; i < f->bit_offset + (u32)f->bits; i++)
		at[i / 8] &= ~(1U << i % 8);
}

/* What a program left on its stack before is nobody's business. */
static void zero_padding(const struct packet_type *type, u8 *payload, u32 len)
{
	const struct bpf_relay_field *table = type->fields;
	/* The structs and arrays that we are inside, and their elements. */
	struct {
		u32 field;
		u32 left;
		u8 *at;
	} in[FIELDS_DEPTH_MAX];
	u32 depth = 0, i = 0;

	for (;;) {
		const struct bpf_relay_field *f;
		u8 *at;

		/* Behind the last member: the next element, or out. */
		while (depth && (i == type->n_fields || table[i].depth < depth)) {
			if (!--in[depth - 1].left) {
				depth--;
				continue;
			}
			in[depth - 1].at += table[in[depth - 1].field].size;
			i = in[depth - 1].field + 1;
		}
		if (i == type->n_fields)
			return;

		f = &table[i];
		at = (depth ? in[depth - 1].at : payload) + f->offset;
		if (f->kind == BPF_RELAY_PAD) {
			zero_pad(f, at);
		} else if (f->kind == BPF_RELAY_STRUCT || f->kind == BPF_RELAY_ARRAY) {
			u32 count = f->count ?: (len - f->offset) / f->size;

			/* Without elements it is the last one. */
			if (!count)
				return;
			in[depth].field = i;
			in[depth].left = count;
			in[depth++].at = at;
		}
		i++;
	}
}

static const struct packet_type *type_of(const struct packet_type *types,
					 const struct bpf_relay_header *header)
{
	static const struct packet_type none;

	return types && header->id < BPF_RELAY_TYPES_MAX ? &types[header->id] : &none;
}

/* Put a record where it belongs; returns its bytes without what aligns the next. */
static u32 packet_place(void *to, const struct bpf_relay_header *from,
			const struct packet_type *type)
{
	struct bpf_relay_header *header = to;
	u32 len = from->len, elements = 0;
	u32 bytes;

	if (type->elem) {
		elements = (len - type->offset) / type->elem;
		len = type->offset + elements * type->elem;
	}
	bytes = sizeof(*header) + len;
	/* Down by a multiple of 8: what CTF aligns stays aligned. */
	if (to != from)
		memmove(to, from, BPF_RELAY_RECORD_SIZE(len));
	if (type->fields)
		zero_padding(type, to + sizeof(*header), len);
	if (type->elem) {
		header->len = elements;
		memset(to + bytes, 0, BPF_RELAY_RECORD_SIZE(len) - bytes);
	}
	return bytes;
}

void packet_compact(void *copy, u32 len, u32 subbuf_size, const struct packet_type *types,
		    struct packet *p)
{
	u32 from = sizeof(struct bpf_relay_packet);
	u32 to = from;

	*p = (struct packet) { .content = to };

	while (from + sizeof(struct bpf_relay_header) <= len) {
		struct bpf_relay_header *header = copy + from;
		u64 bytes = BPF_RELAY_RECORD_SIZE(header->len);
		const struct packet_type *type = type_of(types, header);

		if (!header->state)
			break;
		if (bytes > len - from || header->ts < p->timestamp_end ||
		    header->len < type->least ||
		    (header->state != BPF_RELAY_COMMITTED &&
		     header->state != BPF_RELAY_DISCARDED)) {
			p->damaged = true;
			break;
		}
		if (header->state == BPF_RELAY_COMMITTED) {
			p->timestamp_end = header->ts;
			p->nrec++;
			p->content = to + packet_place(copy + to, header, type);
			to = (p->content + 7) & ~7U;
		}
		from += bytes;
	}
	memset(copy + to, 0, subbuf_size - to);
}
