// SPDX-License-Identifier: GPL-2.0-only
/*
 * What <linux/bpf_relay.h> promises of a field table, said as a reader who trusts it
 * would use it: every bit of the record belongs to exactly one field.
 */
#include "check.h"

/* Records up to this size are walked bit by bit, larger ones by their fields only. */
#define MARKED_MAX	4096
#define DEPTH_MAX	16

struct walk {
	const struct bpf_relay_field *fields;
	uint32_t n;
	uint32_t at;		/* the next field */
	uint8_t *marks;		/* of each bit of the record, or NULL */
	uint64_t bits;		/* of the record */
	bool var;
	bool ours;
};

static void mark(struct walk *w, uint64_t from, uint64_t bits, uint8_t what)
{
	must(!w->marks || (from <= w->bits && bits <= w->bits - from));
	for (; w->marks && bits; bits--, from++) {
		must(w->marks[from] == MARK_NONE);
		w->marks[from] = what;
	}
}

static bool is_letter(char c)
{
	return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* A C identifier, unlike those of its siblings from `first` on. */
static void name_must_hold(const struct walk *w, const struct bpf_relay_field *f, uint32_t first)
{
	const struct bpf_relay_field *s;
	const char *c;

	must(memchr(f->name, 0, sizeof(f->name)));
	must(is_letter(f->name[0]));
	for (c = f->name; *c; c++)
		must(is_letter(*c) || (*c >= '0' && *c <= '9'));
	for (s = &w->fields[first]; w->ours && s < f; s++)
		must(s->depth != f->depth || strcmp(s->name, f->name));
}

static bool is_number(const struct bpf_relay_field *f)
{
	return f->kind == BPF_RELAY_UINT || f->kind == BPF_RELAY_INT;
}

static void hint_must_hold(const struct walk *w, const struct bpf_relay_field *f, uint32_t first)
{
	const struct bpf_relay_field *len;

	must(f->hint == BPF_RELAY_HINT_PACKET || !f->value);
	switch (f->hint) {
	case BPF_RELAY_HINT_NONE:
		break;
	case BPF_RELAY_HINT_HEX:
		must(is_number(f) || f->kind == BPF_RELAY_ENUM);
		break;
	case BPF_RELAY_HINT_IPV4:
		must(f->kind == BPF_RELAY_UINT ? f->size == 4 && !f->bits :
		     f->kind == BPF_RELAY_BYTES && f->count == 4);
		break;
	case BPF_RELAY_HINT_IPV6:
		must(f->kind == BPF_RELAY_BYTES && f->count == 16);
		break;
	case BPF_RELAY_HINT_MAC:
		must(f->kind == BPF_RELAY_BYTES && f->count == 6);
		break;
	case BPF_RELAY_HINT_STRING:
		must(f->kind == BPF_RELAY_CHAR);
		break;
	case BPF_RELAY_HINT_NS:
		must(is_number(f));
		break;
	case BPF_RELAY_HINT_STACK:
	case BPF_RELAY_HINT_KSYM:
		must(f->kind == BPF_RELAY_UINT && f->size == 8 && !f->bits);
		break;
	case BPF_RELAY_HINT_IFINDEX:
		must(is_number(f) && f->size == 4 && !f->bits);
		break;
	case BPF_RELAY_HINT_PACKET:
		must(f->kind == BPF_RELAY_BYTES);
		if (f->value == BPF_RELAY_NO_FIELD)
			break;
		must(f->value >= first && f->value < (uint64_t)(f - w->fields));
		len = &w->fields[f->value];
		must(len->depth == f->depth && len->kind == BPF_RELAY_UINT && len->count == 1 &&
		     !len->bits);
		break;
	default:
		must(!"a hint that exists");
	}
}

/* The enumerators of an ENUM. */
static void enumerators_must_hold(struct walk *w, uint32_t depth)
{
	uint32_t first = w->at;

	for (; w->at < w->n && w->fields[w->at].depth == depth; w->at++) {
		const struct bpf_relay_field *f = &w->fields[w->at];

		must(f->kind == BPF_RELAY_ENUMERATOR);
		must(!f->offset && !f->size && f->count == 1 && !f->hint && !f->flags &&
		     !f->bits && !f->bit_offset);
		name_must_hold(w, f, first);
	}
}

static void kind_must_hold(const struct bpf_relay_field *f)
{
	bool number = is_number(f) || f->kind == BPF_RELAY_ENUM;

	must(!(f->flags & ~(BPF_RELAY_FIELD_SIGNED | BPF_RELAY_FIELD_BE)));
	must(!(f->flags & BPF_RELAY_FIELD_SIGNED) || f->kind == BPF_RELAY_ENUM);
	must(!(f->flags & BPF_RELAY_FIELD_BE) || (is_number(f) && f->size > 1 && !f->bits));
	if (f->bits) {
		must(number || f->kind == BPF_RELAY_BOOL || f->kind == BPF_RELAY_PAD);
		must(f->count == 1 && f->bits <= 64 && f->bit_offset < 8);
		must(f->kind == BPF_RELAY_PAD || f->bits <= f->size * 8);
	} else {
		must(!f->bit_offset);
	}
	switch (f->kind) {
	case BPF_RELAY_UINT:
	case BPF_RELAY_INT:
	case BPF_RELAY_ENUM:
		must(f->size == 1 || f->size == 2 || f->size == 4 || f->size == 8);
		break;
	case BPF_RELAY_CHAR:
	case BPF_RELAY_BYTES:
	case BPF_RELAY_BOOL:
		must(f->size == 1);
		break;
	case BPF_RELAY_PAD:
		must(f->size == 1 && f->count && !f->hint);
		break;
	case BPF_RELAY_FLOAT:
		must(f->size == 4 || f->size == 8);
		break;
	case BPF_RELAY_STRUCT:
	case BPF_RELAY_ARRAY:
		must(f->size);
		break;
	default:
		must(!"a kind that exists, where it may stand");
	}
}

static void members_must_hold(struct walk *w, uint64_t base, uint32_t size, uint32_t depth);

static void field_must_hold(struct walk *w, uint64_t at, uint32_t depth, uint32_t first);

/* The one inner array of an ARRAY's element. */
static void inner_must_hold(struct walk *w, uint64_t at, uint32_t size, uint32_t depth)
{
	const struct bpf_relay_field *f = &w->fields[w->at];

	must(w->at < w->n && f->depth == depth && !f->offset && !f->name[0]);
	must(!f->bits && f->kind != BPF_RELAY_PAD);
	must((uint64_t)f->size * f->count == size);
	field_must_hold(w, at, depth, w->at);
	must(w->at == w->n || w->fields[w->at].depth < depth);
}

/* What is inside of one field that begins at bit `at` of the record. */
static void field_must_hold(struct walk *w, uint64_t at, uint32_t depth, uint32_t first)
{
	const struct bpf_relay_field *f = &w->fields[w->at++];
	bool nested = f->kind == BPF_RELAY_STRUCT || f->kind == BPF_RELAY_ARRAY;
	uint64_t elements = f->count ?: 1, i;
	uint32_t inside = w->at;
	uint8_t *marks = w->marks;

	must(depth < DEPTH_MAX);
	kind_must_hold(f);
	hint_must_hold(w, f, first);
	if (f->kind == BPF_RELAY_ENUM)
		enumerators_must_hold(w, depth + 1);
	if (!f->count)
		w->marks = NULL;	/* behind the record as far as we know it */
	if (!nested)
		mark(w, at, f->bits ?: (uint64_t)f->size * f->count * 8,
		     f->kind == BPF_RELAY_PAD ? MARK_PAD : MARK_FIELD);
	/* The inside once for each element that is marked. */
	if (nested && !w->marks)
		elements = 1;
	for (i = 0; nested && i < elements; i++, at += (uint64_t)f->size * 8) {
		w->at = inside;
		if (f->kind == BPF_RELAY_STRUCT)
			members_must_hold(w, at, f->size, depth + 1);
		else
			inner_must_hold(w, at, f->size, depth + 1);
	}
	w->marks = marks;
}

/* All fields of one parent, which begins at bit `base` of the record. */
static void members_must_hold(struct walk *w, uint64_t base, uint32_t size, uint32_t depth)
{
	uint32_t first = w->at;
	uint64_t pos = 0;

	while (w->at < w->n && w->fields[w->at].depth == depth) {
		const struct bpf_relay_field *f = &w->fields[w->at];
		unsigned __int128 bits = f->bits ?: (unsigned __int128)f->size * f->count * 8;

		must(f->offset * 8ULL + f->bit_offset == pos);
		must(pos + bits <= size * 8ULL);
		if (f->kind == BPF_RELAY_PAD)
			must(!f->name[0]);
		else
			name_must_hold(w, f, first);
		field_must_hold(w, base + pos, depth, first);
		pos += bits;
		if (!f->count) {
			must(!depth && w->var && w->at == w->n);
			return;
		}
	}
	must(pos == size * 8ULL);
	/* Out, not further in. */
	must(w->at == w->n || w->fields[w->at].depth < depth);
}

uint8_t *table_must_hold(const struct bpf_relay_field *fields, uint32_t n, uint32_t size, bool var,
			 bool ours)
{
	struct walk w = {
		.fields = fields, .n = n, .bits = size * 8ULL, .var = var, .ours = ours,
	};

	if (size <= MARKED_MAX)
		w.marks = calloc(1, w.bits + 1);
	members_must_hold(&w, 0, size, 0);
	must(w.at == n);
	return w.marks;
}
