// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
/*
 * From BTF to the table of fields.
 *
 * BTF comes from files, so nothing in it is believed: types are looked up by
 * ids that may not exist, and may contain themselves. What bounds the walk is
 * the size of the table, the depth and the number of members looked at; what
 * keeps offsets right is that a frame only moves forward.
 */
#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpfrelay.h"
#include "shape.h"

#define FIELDS_MAX	((int)(BPF_RELAY_TEXT_MAX / sizeof(struct bpf_relay_field)))
#define NAME_MAX_LEN	(sizeof(((struct bpf_relay_field *)0)->name) - 1)

/* Structs and arrays within one another; deeper ones are bytes. */
#define DEPTH_MAX	16

/* Members looked at in all; far more than a table holds. */
#define VISITS_MAX	(1 << 16)

/* A hint does not fit its member: said to the caller, and the end of the walk. */
#define MISFIT		(-EDOM)

/* A member of a struct, or the record itself if that is no struct. */
struct member {
	const char *name;
	const char *parent;	/* the struct's name, for people */
	__u32 bit;		/* from the start of the frame's struct */
	__u32 bits;		/* of a bit-field; else 0 */
	struct shape shape;
	struct hint hint;
};

struct walk {
	const struct btf *btf;
	struct hints hints;
	bool var;			/* records of any length */
	bpfrelay_print_fn print;
	void *print_ctx;
	struct bpf_relay_field *fields;	/* FIELDS_MAX of them */
	int n;
	int names;			/* enumerators that may still be added */
	int visits;
	struct member last;		/* the flexible array that the record ends in; or no name */
};

/* One struct on the way down. Members of anonymous structs join their parent's. */
struct frame {
	__u32 size;		/* bytes of the struct */
	__u64 pos;		/* bits: the end of what is described so far */
	int first;		/* index of the first member */
	__u16 depth;
};

static int walk_struct(struct walk *w, const struct shape *shape, __u16 depth);

static const char *name_at(const struct btf *btf, __u32 name_off)
{
	return btf__name_by_offset(btf, name_off) ?: "";
}

static __attribute__((format(printf, 2, 3)))
void say(const struct walk *w, const char *fmt, ...)
{
	va_list args;

	if (!w->print)
		return;
	va_start(args, fmt);
	w->print(w->print_ctx, fmt, args);
	va_end(args);
}

static int misfit(const struct walk *w, const struct member *m, const char *wrong)
{
	say(w, "%s.%s: hint %s %s", m->parent, m->name, m->hint.text, wrong);
	return MISFIT;
}

/* ---- Names ---------------------------------------------------------------- */

static bool is_identifier(const char *s)
{
	if (!isalpha((unsigned char)*s) && *s != '_')
		return false;
	while (*++s)
		if (!isalnum((unsigned char)*s) && *s != '_')
			return false;
	return true;
}

/* The field of this name among those of one parent, which begin at `first`; or -1. */
static int find_sibling(const struct walk *w, int first, __u16 depth, const char *name)
{
	int i;

	for (i = first; i < w->n; i++)
		if (w->fields[i].depth == depth && !strcmp(w->fields[i].name, name))
			return i;
	return -1;
}

/* A C identifier, unlike its siblings'. Made up where BTF's will not do. */
static void make_name(const struct walk *w, int first, __u16 depth, const char *name,
		      const char *made_up, char *out)
{
	int keep, tail = 0;
	char suffix[12];

	if (!is_identifier(name))
		name = made_up;
	snprintf(out, NAME_MAX_LEN + 1, "%s", name);
	/* A name that was cut off bears a number, lest it look like the real one. */
	while ((!tail && strlen(name) > NAME_MAX_LEN) ||
	       find_sibling(w, first, depth, out) >= 0) {
		snprintf(suffix, sizeof(suffix), "_%d", ++tail);
		keep = NAME_MAX_LEN - strlen(suffix);
		snprintf(out, NAME_MAX_LEN + 1, "%.*s%s", keep, name, suffix);
	}
}

/* ---- The table ------------------------------------------------------------ */

static int add(struct walk *w, const struct bpf_relay_field *field)
{
	if (w->n == FIELDS_MAX)
		return -E2BIG;
	w->fields[w->n++] = *field;
	return 0;
}

static int add_padding(struct walk *w, struct frame *f, __u32 bits, __u32 bytes)
{
	struct bpf_relay_field pad = {
		.kind = BPF_RELAY_PAD,
		.depth = f->depth,
		.offset = f->pos / 8,
		.bit_offset = f->pos % 8,
		.size = 1,
		.count = bits ? 1 : bytes,
		.bits = bits,
	};

	if (!bits && !bytes)
		return 0;
	f->pos += bits + bytes * 8ULL;
	return add(w, &pad);
}

/* Describes the hole up to a bit, where the next member (or nothing) begins. */
static int pad_to(struct walk *w, struct frame *f, __u64 bit)
{
	__u32 bits;
	int err;

	if (bit < f->pos)
		return -EINVAL;
	bits = -f->pos % 8;
	err = add_padding(w, f, bits < bit - f->pos ? bits : bit - f->pos, 0);
	err = err ?: add_padding(w, f, 0, (bit - f->pos) / 8);
	return err ?: add_padding(w, f, bit - f->pos, 0);
}

/* By name, as long as there is room for all of them. */
static int add_enumerators(struct walk *w, const struct btf_type *t, __u16 depth)
{
	struct bpf_relay_field field = {
		.kind = BPF_RELAY_ENUMERATOR,
		.depth = depth,
		.count = 1,
	};
	int i, err, first = w->n, vlen = btf_vlen(t);
	char made_up[24];
	__u32 name_off;

	if (vlen > w->names)
		return 0;
	w->names -= vlen;
	for (i = 0; i < vlen; i++) {
		if (btf_is_enum64(t)) {
			field.value = btf_enum64_value(&btf_enum64(t)[i]);
			name_off = btf_enum64(t)[i].name_off;
		} else {
			field.value = btf_kflag(t) ? (__u64)(__s64)btf_enum(t)[i].val :
						     (__u32)btf_enum(t)[i].val;
			name_off = btf_enum(t)[i].name_off;
		}
		snprintf(made_up, sizeof(made_up), "anon_%d", i);
		make_name(w, first, depth, name_at(w->btf, name_off), made_up, field.name);
		err = add(w, &field);
		if (err)
			return err;
	}
	return 0;
}

/* The arrays that a leaf is in, and the leaf itself; its insides are still to come. */
static int add_leaf(struct walk *w, struct frame *f, const struct member *m, struct leaf *leaf)
{
	struct bpf_relay_field field = { .kind = BPF_RELAY_ARRAY }, *inner = &leaf->field;
	char made_up[24];
	int i, err;

	snprintf(made_up, sizeof(made_up), "anon_%u", m->bit / 8);
	make_name(w, f->first, f->depth, m->name, made_up, field.name);
	field.offset = m->bit / 8;
	for (i = 0; i < leaf->outer; i++) {
		field.depth = f->depth + i;
		field.count = m->shape.dim[i];
		field.size = shape_bytes(&m->shape, i + 1);
		err = add(w, &field);
		if (err)
			return err;
		field.name[0] = '\0';
		field.offset = 0;
	}
	inner->depth = f->depth + i;
	inner->offset = field.offset;
	inner->bits = m->bits;
	inner->bit_offset = m->bit % 8;
	memcpy(inner->name, field.name, sizeof(inner->name));
	return add(w, inner);
}

/* ---- Members -------------------------------------------------------------- */

/* The value of a packet: the member that has its length. */
static const char *find_length(const struct walk *w, const struct frame *f,
			       const struct hint *hint, struct leaf *leaf)
{
	const struct bpf_relay_field *field;
	int i;

	leaf->field.value = BPF_RELAY_NO_FIELD;
	if (!*hint->length)
		return NULL;
	i = find_sibling(w, f->first, f->depth, hint->length);
	field = &w->fields[i];
	if (i < 0 || field->kind != BPF_RELAY_UINT || field->bits || field->count != 1)
		return "wants an unsigned integer of that name before it";
	leaf->field.value = i;
	return NULL;
}

static const char *make_leaf(const struct walk *w, const struct frame *f,
			     const struct member *m, struct leaf *leaf)
{
	const char *wrong;

	leaf_of(w->btf, &m->shape, leaf);
	if (!m->hint.text)
		return NULL;
	wrong = hint_apply(&m->hint, &m->shape, leaf);
	if (!wrong && leaf->field.hint == BPF_RELAY_HINT_PACKET)
		wrong = find_length(w, f, &m->hint, leaf);
	return wrong;
}

/* The bit-field itself, or what its hint wants. */
static const char *make_bits(const struct member *m, struct leaf *leaf)
{
	const char *wrong;

	if (!m->hint.text)
		return NULL;
	wrong = hint_apply(&m->hint, &m->shape, leaf);
	if (!wrong && (m->hint.be || (m->hint.hint != BPF_RELAY_HINT_HEX &&
				      m->hint.hint != BPF_RELAY_HINT_NS)))
		return "is not for bit-fields";
	return wrong;
}

static int add_inside(struct walk *w, const struct member *m, const struct leaf *leaf)
{
	__u16 depth = leaf->field.depth + 1;

	switch (leaf->field.kind) {
	case BPF_RELAY_STRUCT:
		return walk_struct(w, &m->shape, depth);
	case BPF_RELAY_ENUM:
		return add_enumerators(w, m->shape.type, depth);
	default:
		return 0;
	}
}

static int add_member(struct walk *w, struct frame *f, const struct member *m)
{
	/* The integer that a bit-field is of may be larger than a packed struct. */
	__u64 bytes = m->bits ? 0 : shape_bytes(&m->shape, 0);
	struct frame before;
	struct leaf leaf;
	const char *wrong;
	int err, n, names;

	if (m->bits && !leaf_of_bits(&m->shape, m->bits, &leaf))
		return -EINVAL;
	wrong = m->bits ? make_bits(m, &leaf) : make_leaf(w, f, m, &leaf);
	if (wrong)
		return misfit(w, m, wrong);
	if (f->depth + leaf.outer + (leaf.field.kind == BPF_RELAY_STRUCT) >= DEPTH_MAX) {
		if (!bytes || bytes > f->size)
			return -EINVAL;
		leaf_bytes(&m->shape, bytes, 0, &leaf);
	}

	err = pad_to(w, f, m->bit);
	if (err)
		return err;
	if (bytes > f->size || f->pos + (m->bits ?: bytes * 8) > f->size * 8ULL)
		return -EINVAL;
	before = *f;
	n = w->n;
	names = w->names;
	err = add_leaf(w, f, m, &leaf);
	err = err ?: add_inside(w, m, &leaf);
	if (err == -EINVAL && leaf.field.kind == BPF_RELAY_STRUCT) {
		/* The inside makes no sense: take it as bytes. */
		*f = before;
		w->n = n;
		w->names = names;
		leaf_bytes(&m->shape, m->shape.size, m->shape.dims, &leaf);
		err = add_leaf(w, f, m, &leaf);
	}
	f->pos += m->bits ?: bytes * 8;
	return err;
}

/* Member i of a struct that begins at byte `base` of the frame's. */
static int get_member(const struct walk *w, const struct shape *parent, int i, __u32 base,
		      struct member *m)
{
	const struct btf_type *t = parent->type;
	const struct btf_member *member = btf_members(t) + i;
	const char *wrong, *name = name_at(w->btf, t->name_off);
	__u64 bit = base * 8ULL + btf_member_bit_offset(t, i);
	int err;

	memset(m, 0, sizeof(*m));
	m->name = name_at(w->btf, member->name_off);
	m->parent = *name ? name : "(anonymous struct)";
	m->bits = btf_member_bitfield_size(t, i);
	err = shape_get(w->btf, member->type, &m->shape);
	if (err)
		return err;
	/* BTF without BTF_INFO_KFLAG has the width in the integer type. */
	if (!m->bits && btf_is_int(m->shape.type) && !m->shape.is_array &&
	    (btf_int_offset(m->shape.type) ||
	     btf_int_bits(m->shape.type) != m->shape.size * 8)) {
		bit += btf_int_offset(m->shape.type);
		m->bits = btf_int_bits(m->shape.type);
	}
	if (bit > UINT32_MAX || (!m->bits && bit % 8))
		return -EINVAL;
	m->bit = bit;
	wrong = hints_find(&w->hints, parent->type_id, i, &m->hint);
	return wrong ? misfit(w, m, wrong) : 0;
}

static int walk_members(struct walk *w, struct frame *f, const struct shape *shape,
			__u32 base, int nesting)
{
	struct member m;
	int i, err;

	if (nesting == DEPTH_MAX)
		return -EINVAL;
	for (i = 0; i < btf_vlen(shape->type); i++) {
		if (++w->visits > VISITS_MAX)
			return -E2BIG;
		err = get_member(w, shape, i, base, &m);
		if (err)
			return err;
		if (!m.bits && !shape_bytes(&m.shape, 0)) {
			if (!f->depth && shape_is_flexible(&m.shape))
				w->last = m;
			continue;
		}
		w->last.name = NULL;
		if (!*m.name && btf_is_struct(m.shape.type) && !m.shape.is_array &&
		    !m.hint.text)
			err = walk_members(w, f, &m.shape, m.bit / 8, nesting + 1);
		else
			err = add_member(w, f, &m);
		if (err)
			return err;
	}
	return 0;
}

static int walk_struct(struct walk *w, const struct shape *shape, __u16 depth)
{
	struct frame f = { .size = shape->size, .first = w->n, .depth = depth };
	int err;

	err = walk_members(w, &f, shape, 0, 0);
	return err ?: pad_to(w, &f, f.size * 8ULL);
}

/* ---- Records -------------------------------------------------------------- */

/* What records of any length end with: the struct's own array, or bytes behind it. */
static int add_tail(struct walk *w, struct frame *f)
{
	struct bpf_relay_field data = {
		.kind = BPF_RELAY_BYTES,
		.offset = f->size,
		.size = 1,
	};
	struct member last = w->last;	/* its own members may end in one, too */
	int err;

	if (last.name && last.bit >= f->pos)
		return add_member(w, f, &last);
	err = pad_to(w, f, f->size * 8ULL);
	make_name(w, f->first, 0, "data", "", data.name);
	return err ?: add(w, &data);
}

static int walk_record(struct walk *w, const struct shape *shape, int names)
{
	struct frame f = { .size = shape_bytes(shape, 0) };
	struct member m = { .name = "value", .parent = "", .shape = *shape };
	int err = 0;

	w->n = 0;
	w->visits = 0;
	w->names = names;
	w->last.name = NULL;
	if (btf_is_struct(shape->type) && !shape->is_array)
		err = walk_members(w, &f, shape, 0, 0);
	else if (f.size)
		err = add_member(w, &f, &m);
	if (err)
		return err;
	return w->var ? add_tail(w, &f) : pad_to(w, &f, f.size * 8ULL);
}

static int describe(struct walk *w, const struct shape *shape)
{
	struct bpf_relay_field whole = {
		.kind = BPF_RELAY_BYTES,
		.size = 1,
		.count = w->var ? 0 : shape_bytes(shape, 0),
		.name = "bytes",
	};
	int err;

	/* Enumerators get the room that the fields leave. */
	err = walk_record(w, shape, 0);
	err = err ?: walk_record(w, shape, FIELDS_MAX - w->n);
	if (!err || err == MISFIT)
		return err;
	w->n = 0;
	return add(w, &whole);
}

int bpfrelay_type_fields(const struct btf *btf, __u32 type_id, __u16 flags,
			 bpfrelay_print_fn print, void *print_ctx,
			 struct bpf_relay_field **fields)
{
	struct walk w = {
		.btf = btf,
		.var = flags & BPF_RELAY_TYPE_VAR,
		.print = print,
		.print_ctx = print_ctx,
	};
	struct shape shape;
	int err;

	*fields = NULL;
	err = shape_get(btf, type_id, &shape);
	if (err || shape_bytes(&shape, 0) > UINT32_MAX)
		return -EINVAL;
	if (!shape_bytes(&shape, 0) && !w.var)
		return 0;
	w.fields = malloc(FIELDS_MAX * sizeof(*w.fields));
	if (!w.fields)
		return -ENOMEM;
	err = hints_load(&w.hints, btf);
	err = err ?: describe(&w, &shape);
	hints_free(&w.hints);
	if (err) {
		free(w.fields);
		return err == MISFIT ? -EINVAL : err;
	}
	*fields = w.fields;
	return w.n;
}
