/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Inside the library: from one member's type in BTF to the field that describes it. */
#ifndef __SHAPE_H__
#define __SHAPE_H__

#include <stdbool.h>
#include <bpf/btf.h>
#include <linux/bpf_relay.h>

#define DIMS_MAX	32	/* libbpf follows no longer chain of types */

/* A type, with typedefs, qualifiers and the dimensions of arrays peeled off. */
struct shape {
	const struct btf_type *type;	/* of one element */
	__u32 type_id;
	__u32 size;			/* bytes of one element */
	__u32 dim[DIMS_MAX];		/* outermost first, without those of 1 */
	int dims;
	bool is_array;			/* whatever its dimensions */
	bool is_be;			/* called __be16, __be32 or __be64 on the way */
};

/* 0, or -EINVAL if there is no such type, or it has no size. */
int shape_get(const struct btf *btf, __u32 id, struct shape *shape);

/* Bytes of all elements of the dimensions from `dim` on; UINT64_MAX if too many. */
__u64 shape_bytes(const struct shape *shape, int dim);

/* The outermost dimension alone is 0. */
bool shape_is_flexible(const struct shape *shape);

/* What a shape is in the table: a field, inside as many arrays. */
struct leaf {
	struct bpf_relay_field field;	/* kind, size, count, flags, hint, value */
	int outer;			/* of the shape's dimensions; field.count has the others */
};

void leaf_of(const struct btf *btf, const struct shape *shape, struct leaf *leaf);

/* The same of a bit-field; false if there can be none of this type. */
bool leaf_of_bits(const struct shape *shape, __u32 bits, struct leaf *leaf);

/* Elements without a kind of their own, or of which nothing more is to be said. */
void leaf_bytes(const struct shape *shape, __u32 size, int outer, struct leaf *leaf);

/* ---- Hints: BTF declaration tags "bpf_relay:HINT" on members of structs ---- */

const char *hint_name(enum bpf_relay_hint hint);

/* HINT_NONE: there is no such hint. */
enum bpf_relay_hint hint_by_name(const char *name, size_t len);

struct hint_tag {
	__u32 type_id;
	int member;
	const char *text;	/* behind "bpf_relay:" */
};

struct hints {
	struct hint_tag *tag;	/* sorted by type_id and member */
	int n;
};

/* What the tags of one member say. */
struct hint {
	__u8 hint;		/* enum bpf_relay_hint */
	bool be;
	const char *length;	/* packet: the member with its length; may be empty */
	const char *text;	/* as in the tag, for people; NULL: no hint */
};

int hints_load(struct hints *hints, const struct btf *btf);
void hints_free(struct hints *hints);

/* NULL, or what is wrong with the tags, for people. */
const char *hints_find(const struct hints *hints, __u32 type_id, int member, struct hint *hint);

/* Shows a leaf as the hint says: NULL, or what the hint wants, for people. */
const char *hint_apply(const struct hint *hint, const struct shape *shape, struct leaf *leaf);

#endif /* __SHAPE_H__ */
