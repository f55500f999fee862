// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "shape.h"

static const char *type_name(const struct btf *btf, const struct btf_type *t)
{
	return btf__name_by_offset(btf, t->name_off) ?: "";
}

static bool is_be_name(const char *name)
{
	return !strcmp(name, "__be16") || !strcmp(name, "__be32") || !strcmp(name, "__be64");
}

/* Only plain char is text; one of them alone is a small number. */
static bool is_text(const struct btf *btf, const struct shape *shape)
{
	return shape->is_array && btf_is_int(shape->type) && shape->size == 1 &&
	       !strcmp(type_name(btf, shape->type), "char");
}

/* An array of one element is shown like the element, unless it is a text of one byte. */
static void drop_dims(const struct btf *btf, struct shape *shape)
{
	int i, n = 0;

	for (i = 0; i < shape->dims; i++)
		if (shape->dim[i] != 1 || (i == shape->dims - 1 && is_text(btf, shape)))
			shape->dim[n++] = shape->dim[i];
	shape->dims = n;
}

int shape_get(const struct btf *btf, __u32 id, struct shape *shape)
{
	const struct btf_type *t;
	__s64 size;

	memset(shape, 0, sizeof(*shape));
	/* Also shows that the chain of types ends. */
	if (btf__resolve_size(btf, id) < 0)
		return -EINVAL;
	for (;;) {
		t = btf__type_by_id(btf, id);
		if (!t)
			return -EINVAL;
		if (btf_is_array(t)) {
			shape->is_array = true;
			if (shape->dims == DIMS_MAX)
				return -EINVAL;
			shape->dim[shape->dims++] = btf_array(t)->nelems;
			id = btf_array(t)->type;
		} else if (btf_is_mod(t) || btf_is_typedef(t) || btf_is_var(t)) {
			shape->is_be |= btf_is_typedef(t) && is_be_name(type_name(btf, t));
			id = t->type;
		} else {
			break;
		}
	}
	size = btf__resolve_size(btf, id);
	if (size < 0 || size > UINT32_MAX)
		return -EINVAL;
	shape->type = t;
	shape->type_id = id;
	shape->size = size;
	drop_dims(btf, shape);
	return 0;
}

__u64 shape_bytes(const struct shape *shape, int dim)
{
	__u64 bytes = shape->size;

	for (; dim < shape->dims; dim++) {
		bytes *= shape->dim[dim];
		if (bytes > UINT32_MAX)
			return UINT64_MAX;
	}
	return bytes;
}

bool shape_is_flexible(const struct shape *shape)
{
	__u64 bytes = shape->dims && !shape->dim[0] ? shape_bytes(shape, 1) : 0;

	return bytes && bytes <= UINT32_MAX;
}

static __u16 int_kind(const struct btf *btf, const struct shape *shape)
{
	const struct btf_type *t = shape->type;
	__u32 size = shape->size;

	if ((size != 1 && size != 2 && size != 4 && size != 8) ||
	    btf_int_bits(t) != size * 8 || btf_int_offset(t))
		return BPF_RELAY_BYTES;
	if (btf_int_encoding(t) & BTF_INT_BOOL)
		return size == 1 ? BPF_RELAY_BOOL : BPF_RELAY_UINT;
	if (is_text(btf, shape))
		return BPF_RELAY_CHAR;
	return btf_int_encoding(t) & BTF_INT_SIGNED ? BPF_RELAY_INT : BPF_RELAY_UINT;
}

static __u16 element_kind(const struct btf *btf, const struct shape *shape)
{
	__u32 size = shape->size;

	switch (btf_kind(shape->type)) {
	case BTF_KIND_INT:
		return int_kind(btf, shape);
	case BTF_KIND_PTR:
		return BPF_RELAY_UINT;
	case BTF_KIND_STRUCT:
		return BPF_RELAY_STRUCT;
	case BTF_KIND_FLOAT:
		return size == 4 || size == 8 ? BPF_RELAY_FLOAT : BPF_RELAY_BYTES;
	case BTF_KIND_ENUM:
	case BTF_KIND_ENUM64:
		return size == 1 || size == 2 || size == 4 || size == 8 ? BPF_RELAY_ENUM :
									  BPF_RELAY_BYTES;
	default:
		return BPF_RELAY_BYTES;
	}
}

void leaf_bytes(const struct shape *shape, __u32 size, int outer, struct leaf *leaf)
{
	*leaf = (struct leaf) {
		.field.kind = BPF_RELAY_BYTES,
		.field.size = 1,
		.field.count = size,
		.outer = outer,
	};
	/* Bytes of bytes are bytes. */
	if (size == 1 && outer) {
		leaf->field.count = shape->dim[outer - 1];
		leaf->outer--;
	}
}

void leaf_of(const struct btf *btf, const struct shape *shape, struct leaf *leaf)
{
	const struct btf_type *t = shape->type;
	__u16 kind = element_kind(btf, shape);

	if (kind == BPF_RELAY_BYTES) {
		leaf_bytes(shape, shape->size, shape->dims, leaf);
		return;
	}
	*leaf = (struct leaf) {
		.field.kind = kind,
		.field.size = shape->size,
		.field.count = shape->dims ? shape->dim[shape->dims - 1] : 1,
		.outer = shape->dims ? shape->dims - 1 : 0,
	};
	if (btf_is_ptr(t))
		leaf->field.hint = BPF_RELAY_HINT_HEX;
	if (kind == BPF_RELAY_ENUM && btf_kflag(t))
		leaf->field.flags = BPF_RELAY_FIELD_SIGNED;
	if (shape->is_be && shape->size > 1 && (kind == BPF_RELAY_UINT || kind == BPF_RELAY_INT))
		leaf->field.flags = BPF_RELAY_FIELD_BE;
}

bool leaf_of_bits(const struct shape *shape, __u32 bits, struct leaf *leaf)
{
	const struct btf_type *t = shape->type;
	__u32 size = shape->size;

	*leaf = (struct leaf) {
		/* An __int128 may have bit-fields; those that fit a word are of one. */
		.field.size = size == 16 ? 8 : size,
		.field.count = 1,
	};
	if (shape->is_array || (size & (size - 1)) || size > 16 || bits > leaf->field.size * 8)
		return false;
	if (btf_is_any_enum(t)) {
		leaf->field.kind = BPF_RELAY_ENUM;
		leaf->field.flags = btf_kflag(t) ? BPF_RELAY_FIELD_SIGNED : 0;
	} else if (!btf_is_int(t)) {
		return false;
	} else if ((btf_int_encoding(t) & BTF_INT_BOOL) && size == 1) {
		leaf->field.kind = BPF_RELAY_BOOL;
	} else {
		leaf->field.kind = btf_int_encoding(t) & BTF_INT_SIGNED ? BPF_RELAY_INT :
									  BPF_RELAY_UINT;
	}
	return true;
}
