// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "fields.h"

static bool is_letter(char c)
{
	return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

bool fields_identifier(const char *s, u32 max)
{
	u32 i;

	if (!is_letter(s[0]))
		return false;
	for (i = 1; i < max; i++) {
		if (!s[i])
			return true;
		if (!is_letter(s[i]) && !is_digit(s[i]))
			return false;
	}
	return false;
}

static bool is_number(const struct bpf_relay_field *f)
{
	return f->kind == BPF_RELAY_UINT || f->kind == BPF_RELAY_INT;
}

static bool size_valid(const struct bpf_relay_field *f)
{
	switch (f->kind) {
	case BPF_RELAY_UINT:
	case BPF_RELAY_INT:
	case BPF_RELAY_ENUM:
		return f->size == 1 || f->size == 2 || f->size == 4 || f->size == 8;
	case BPF_RELAY_FLOAT:
		return f->size == 4 || f->size == 8;
	case BPF_RELAY_BOOL:
	case BPF_RELAY_CHAR:
	case BPF_RELAY_BYTES:
	case BPF_RELAY_PAD:
		return f->size == 1;
	case BPF_RELAY_STRUCT:
	case BPF_RELAY_ARRAY:
		return f->size;
	default:
		return false;
	}
}

static bool bits_valid(const struct bpf_relay_field *f)
{
	if (!f->bits)
		return !f->bit_offset;
	if (f->bit_offset > 7 || f->count != 1)
		return false;
	switch (f->kind) {
	case BPF_RELAY_UINT:
	case BPF_RELAY_INT:
	case BPF_RELAY_ENUM:
	case BPF_RELAY_BOOL:
		return f->bits <= f->size * 8;
	case BPF_RELAY_PAD:
		return f->bits <= 64;
	default:
		return false;
	}
}

static bool flags_valid(const struct bpf_relay_field *f)
{
	if (f->kind == BPF_RELAY_ENUM)
		return !(f->flags & ~BPF_RELAY_FIELD_SIGNED);
	if (is_number(f) && f->size > 1 && !f->bits)
		return !(f->flags & ~BPF_RELAY_FIELD_BE);
	return !f->flags;
}

static bool hint_valid(const struct bpf_relay_field *f)
{
	bool word = !f->bits && f->kind == BPF_RELAY_UINT;

	switch (f->hint) {
	case BPF_RELAY_HINT_NONE:
		return true;
	case BPF_RELAY_HINT_HEX:
		return is_number(f) || f->kind == BPF_RELAY_ENUM;
	case BPF_RELAY_HINT_IPV4:
		return (word && f->size == 4) || (f->kind == BPF_RELAY_BYTES && f->count == 4);
	case BPF_RELAY_HINT_IPV6:
		return f->kind == BPF_RELAY_BYTES && f->count == 16;
	case BPF_RELAY_HINT_MAC:
		return f->kind == BPF_RELAY_BYTES && f->count == 6;
	case BPF_RELAY_HINT_STRING:
		return f->kind == BPF_RELAY_CHAR;
	case BPF_RELAY_HINT_NS:
		return is_number(f);
	case BPF_RELAY_HINT_STACK:
	case BPF_RELAY_HINT_KSYM:
		return word && f->size == 8;
	case BPF_RELAY_HINT_IFINDEX:
		return is_number(f) && !f->bits && f->size == 4;
	case BPF_RELAY_HINT_PACKET:
		return f->kind == BPF_RELAY_BYTES;
	default:
		return false;
	}
}

/* Of field i: nothing, or a number before it in the same struct. */
static bool value_valid(const struct bpf_relay_field *table, u32 i)
{
	const struct bpf_relay_field *f = &table[i], *length;

	if (f->hint != BPF_RELAY_HINT_PACKET)
		return !f->value;
	if (f->value == BPF_RELAY_NO_FIELD)
		return true;
	if (f->value >= i)
		return false;
	length = &table[f->value];
	if (length->kind != BPF_RELAY_UINT || length->bits || length->count != 1 ||
	    length->depth != f->depth)
		return false;
	while (++length < f)
		if (length->depth < f->depth)
			return false;
	return true;
}

static bool enumerator_valid(const struct bpf_relay_field *f, const struct bpf_relay_field *of)
{
	return of && f->depth == of->depth + 1 && !f->offset && !f->size && f->count == 1 &&
	       !f->hint && !f->flags && !f->bits && !f->bit_offset &&
	       fields_identifier(f->name, sizeof(f->name));
}

/* What of it can be said without its neighbours; all but the count. */
static bool field_valid(const struct bpf_relay_field *f, bool named)
{
	return size_valid(f) && bits_valid(f) && flags_valid(f) && hint_valid(f) &&
	       (named ? fields_identifier(f->name, sizeof(f->name)) : !f->name[0]);
}

bool fields_valid(const struct bpf_relay_field *table, u32 n, u32 size, bool var)
{
	/* Of the structs and arrays that we are inside: their size, and how far we are. */
	struct {
		u32 size;	/* bytes */
		u64 end;	/* bits */
		bool array;
	} in[FIELDS_DEPTH_MAX] = { { .size = size } }, *parent;
	const struct bpf_relay_field *enumerated = NULL;
	bool flexible = false;
	u32 depth = 0;
	u32 i;

	for (i = 0; i < n; i++) {
		const struct bpf_relay_field *f = &table[i];
		/* The integer that a bit-field is of may be larger than a packed struct. */
		u64 bytes = f->bits ? 0 : (u64)f->size * f->count;

		if (f->kind == BPF_RELAY_ENUMERATOR) {
			if (!enumerator_valid(f, enumerated))
				return false;
			continue;
		}
		enumerated = f->kind == BPF_RELAY_ENUM ? f : NULL;

		if (f->depth > depth)
			return false;
		/* Leaving structs: each must be described to its end. */
		for (; depth > f->depth; depth--)
			if (in[depth].end != in[depth].size * 8ULL)
				return false;
		parent = &in[depth];
		if (!field_valid(f, f->kind != BPF_RELAY_PAD && !parent->array) ||
		    !value_valid(table, i))
			return false;
		/* An array has one child, which is no padding and no bit-field. */
		if (parent->array && (parent->end || f->kind == BPF_RELAY_PAD || f->bits))
			return false;

		if (f->offset * 8ULL + f->bit_offset != parent->end || bytes > parent->size ||
		    (f->bits ?: bytes * 8) > parent->size * 8ULL - parent->end)
			return false;
		parent->end += f->bits ?: bytes * 8;
		if (!depth) {
			if (flexible)
				return false;
			flexible = !f->count;
		}
		if (!f->count && (depth || !var || f->kind == BPF_RELAY_PAD))
			return false;

		if (f->kind == BPF_RELAY_STRUCT || f->kind == BPF_RELAY_ARRAY) {
			if (++depth == FIELDS_DEPTH_MAX)
				return false;
			in[depth].size = f->size;
			in[depth].end = 0;
			in[depth].array = f->kind == BPF_RELAY_ARRAY;
		}
	}
	for (; depth; depth--)
		if (in[depth].end != in[depth].size * 8ULL)
			return false;
	return flexible || in[0].end == size * 8ULL;
}
