// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
/* Fields by name, and what is in them. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "value.h"

__u32 value_elements(const struct bpf_relay_field *f, __u32 left)
{
	return f->count ?: left / f->size;
}

__u64 value_read(const struct bpf_relay_field *f, const void *data)
{
	__u32 bits = f->bits ?: f->size * 8, i, n = (f->bit_offset + bits + 7) / 8;
	const __u8 *bytes = data;
	__u64 value = 0;

	/* The lowest bits first, of up to nine bytes. */
	for (i = 0; i < n; i++) {
		int shift = (int)i * 8 - f->bit_offset;

		if (shift < 0)
			value |= bytes[i] >> -shift;
		else
			value |= (__u64)bytes[i] << shift;
	}
	if (f->flags & BPF_RELAY_FIELD_BE && f->kind != BPF_RELAY_ENUM)
		value = __builtin_bswap64(value) >> (64 - bits);
	value <<= 64 - bits;
	return value_is_signed(f) ? (__u64)((__s64)value >> (64 - bits)) : value >> (64 - bits);
}

double value_read_double(const struct bpf_relay_field *f, const void *data)
{
	double d;
	float s;

	if (f->size == sizeof(s)) {
		memcpy(&s, data, sizeof(s));
		return s;
	}
	memcpy(&d, data, sizeof(d));
	return d;
}

const struct bpf_relay_field *value_enumerator(const struct bpfrelay_type *type,
					       const struct bpf_relay_field *f, __u64 value)
{
	const struct bpf_relay_field *e, *end = type->fields + type->n_fields;

	for (e = f + 1; e < end && e->kind == BPF_RELAY_ENUMERATOR; e++)
		if (!((e->value ^ value) << (64 - f->size * 8)))
			return e;
	return NULL;
}

/* ---- Paths -------------------------------------------------------------------- */

/* A field of this name at this depth, from `f` on, with the same parent. */
static const struct bpf_relay_field *find_member(const struct bpfrelay_type *type,
						 const struct bpf_relay_field *f, __u16 depth,
						 const char *name, size_t len)
{
	const struct bpf_relay_field *end = type->fields + type->n_fields;

	for (; f < end && f->depth >= depth; f++)
		if (f->depth == depth && f->kind != BPF_RELAY_PAD &&
		    f->kind != BPF_RELAY_ENUMERATOR && strlen(f->name) == len &&
		    !memcmp(f->name, name, len))
			return f;
	return NULL;
}

static bool is_array(const struct bpf_relay_field *f)
{
	return f->kind == BPF_RELAY_ARRAY || f->count != 1;
}

/* The array becomes its element [N]; *path goes past that. */
static int take_element(struct place *v, const char **path)
{
	unsigned long n;
	char *end;

	if (!isdigit((unsigned char)(*path)[1]))
		return -EINVAL;
	errno = 0;
	n = strtoul(*path + 1, &end, 10);
	if (*end != ']')
		return -EINVAL;
	if (errno || n >= v->count)
		return -ERANGE;
	*path = end + 1;
	v->offset += n * v->field->size;
	v->len = v->field->size;
	v->count = 1;
	return 0;
}

/* All of the elements that a path names: "[2]", "[1][0]", ... */
static int take_elements(struct place *v, const char **path, bool *array)
{
	int err;

	for (*array = is_array(v->field); **path == '['; ) {
		if (!*array)
			return -ENOENT;
		err = take_element(v, path);
		if (err)
			return err;
		*array = false;
		if (v->field->kind == BPF_RELAY_ARRAY) {
			v->field++;
			v->count = v->field->count;
			*array = is_array(v->field);
		}
	}
	return 0;
}

int value_place(const struct bpfrelay_type *type, __u32 len, const char *path,
		struct place *place)
{
	const struct bpf_relay_field *f = type->fields;
	const char *begin = path;
	struct place v = { .len = len };
	__u16 depth = 0;
	bool array;
	size_t name;
	int err;

	for (;;) {
		name = strspn(path, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
		if (!name)
			return -EINVAL;
		f = find_member(type, f, depth, path, name);
		if (!f)
			return -ENOENT;
		path += name;
		v.field = f;
		v.offset += f->offset;
		v.count = value_elements(f, v.len - f->offset);
		v.len = f->bits ? (f->bit_offset + f->bits + 7U) / 8 : v.count * f->size;
		err = take_elements(&v, &path, &array);
		if (err) {
			*place = v;
			place->offset = path - begin;
			return err;
		}
		if (!*path) {
			*place = v;
			return 0;
		}
		if (*path++ != '.')
			return -EINVAL;
		if (v.field->kind != BPF_RELAY_STRUCT || array)
			return -ENOENT;
		depth = v.field->depth + 1;
		f = v.field + 1;
	}
}

int bpfrelay_record_find(const struct bpfrelay_record *record, const char *path,
			 struct bpfrelay_value *value)
{
	struct place place;
	int err;

	err = value_place(record->type, record->len, path, &place);
	if (err)
		return err;
	*value = (struct bpfrelay_value) {
		.field = place.field,
		.data = (const char *)record->data + place.offset,
		.len = place.len,
		.count = place.count,
	};
	return 0;
}

/* ---- Values ------------------------------------------------------------------- */

int bpfrelay_value_number(const struct bpfrelay_value *v, __u64 *number)
{
	if (v->count != 1)
		return -EDOM;
	switch (v->field->kind) {
	case BPF_RELAY_UINT:
	case BPF_RELAY_INT:
	case BPF_RELAY_BOOL:
	case BPF_RELAY_ENUM:
		*number = value_read(v->field, v->data);
		return 0;
	case BPF_RELAY_CHAR:
	case BPF_RELAY_BYTES:
		*number = *(const __u8 *)v->data;
		return 0;
	default:
		return -EDOM;
	}
}

int bpfrelay_value_double(const struct bpfrelay_value *v, double *number)
{
	if (v->count != 1 || v->field->kind != BPF_RELAY_FLOAT)
		return -EDOM;
	*number = value_read_double(v->field, v->data);
	return 0;
}

int bpfrelay_value_string(const struct bpfrelay_value *v, char *to, size_t size)
{
	size_t len, n;

	if (v->field->kind != BPF_RELAY_CHAR)
		return -EDOM;
	len = strnlen(v->data, v->len);
	if (size) {
		n = len < size ? len : size - 1;
		memcpy(to, v->data, n);
		to[n] = '\0';
	}
	return len;
}
