// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
/* Presentation hints: bpf/bpf_relay_hints.h has what each is for. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "shape.h"

#define PREFIX		"bpf_relay:"
#define PREFIX_LEN	(sizeof(PREFIX) - 1)

static const struct {
	const char *name;
	enum bpf_relay_hint hint;
	__u32 bytes;		/* of one address, if it is one */
	const char *wants;
} hint_types[] = {
	{ "hex",     BPF_RELAY_HINT_HEX,     0,  "wants an integer or an enum" },
	{ "ipv4",    BPF_RELAY_HINT_IPV4,    4,  "wants 4 bytes" },
	{ "ipv6",    BPF_RELAY_HINT_IPV6,    16, "wants 16 bytes" },
	{ "mac",     BPF_RELAY_HINT_MAC,     6,  "wants 6 bytes" },
	{ "string",  BPF_RELAY_HINT_STRING,  0,  "wants characters or bytes" },
	{ "ns",      BPF_RELAY_HINT_NS,      0,  "wants an integer" },
	{ "stack",   BPF_RELAY_HINT_STACK,   0,  "wants integers of 8 bytes" },
	{ "ksym",    BPF_RELAY_HINT_KSYM,    0,  "wants an integer of 8 bytes" },
	{ "ifindex", BPF_RELAY_HINT_IFINDEX, 0,  "wants an integer of 4 bytes" },
	{ "packet",  BPF_RELAY_HINT_PACKET,  0,  "wants bytes" },
};

#define N_HINTS	(sizeof(hint_types) / sizeof(hint_types[0]))

static const char be_wants[] = "wants an integer of 2, 4 or 8 bytes";

static int compare_tags(const void *a, const void *b)
{
	const struct hint_tag *x = a, *y = b;

	if (x->type_id != y->type_id)
		return x->type_id < y->type_id ? -1 : 1;
	return x->member < y->member ? -1 : x->member > y->member;
}

int hints_load(struct hints *hints, const struct btf *btf)
{
	__u32 id, n = btf__type_cnt(btf);
	const struct btf_type *t;
	struct hint_tag *tag;
	const char *text;

	hints->n = 0;
	hints->tag = NULL;
	for (id = 1; id < n; id++) {
		t = btf__type_by_id(btf, id);
		text = t && btf_is_decl_tag(t) ? btf__name_by_offset(btf, t->name_off) : NULL;
		if (!text || strncmp(text, PREFIX, PREFIX_LEN))
			continue;
		/* A power of two is full. */
		if (!(hints->n & (hints->n - 1))) {
			tag = realloc(hints->tag, (hints->n ? 2 * hints->n : 1) * sizeof(*tag));
			if (!tag) {
				hints_free(hints);
				return -ENOMEM;
			}
			hints->tag = tag;
		}
		hints->tag[hints->n++] = (struct hint_tag) {
			.type_id = t->type,
			.member = btf_decl_tag(t)->component_idx,
			.text = text + PREFIX_LEN,
		};
	}
	if (hints->n)
		qsort(hints->tag, hints->n, sizeof(*hints->tag), compare_tags);
	return 0;
}

void hints_free(struct hints *hints)
{
	free(hints->tag);
	hints->tag = NULL;
	hints->n = 0;
}

const char *hint_name(enum bpf_relay_hint hint)
{
	size_t i;

	for (i = 0; i < N_HINTS; i++)
		if (hint_types[i].hint == hint)
			return hint_types[i].name;
	return "";
}

enum bpf_relay_hint hint_by_name(const char *name, size_t len)
{
	size_t i;

	for (i = 0; i < N_HINTS; i++)
		if (len == strlen(hint_types[i].name) && !memcmp(name, hint_types[i].name, len))
			return hint_types[i].hint;
	return BPF_RELAY_HINT_NONE;
}

static const char *add_tag(struct hint *hint, const char *text)
{
	size_t len = strcspn(text, ":");
	enum bpf_relay_hint found;

	hint->text = text;
	if (!strcmp(text, "be")) {
		if (hint->be)
			return "is there twice";
		hint->be = true;
		return NULL;
	}
	found = hint_by_name(text, len);
	if (!found || (text[len] && found != BPF_RELAY_HINT_PACKET))
		return "is no hint of this version";
	if (hint->hint)
		return "comes on top of another hint";
	hint->hint = found;
	hint->length = text[len] ? text + len + 1 : "";
	return NULL;
}

const char *hints_find(const struct hints *hints, __u32 type_id, int member, struct hint *hint)
{
	struct hint_tag key = { .type_id = type_id, .member = member };
	int i, low = 0, high = hints->n;
	const char *wrong = NULL;

	memset(hint, 0, sizeof(*hint));
	while (low < high) {
		i = (low + high) / 2;
		if (compare_tags(&hints->tag[i], &key) < 0)
			low = i + 1;
		else
			high = i;
	}
	for (i = low; !wrong && i < hints->n && !compare_tags(&hints->tag[i], &key); i++)
		wrong = add_tag(hint, hints->tag[i].text);
	return wrong;
}

static bool is_number(const struct leaf *leaf)
{
	return leaf->field.kind == BPF_RELAY_UINT || leaf->field.kind == BPF_RELAY_INT;
}

/* Addresses are bytes, of whatever they are made, in as many arrays as are left. */
static bool make_address(const struct shape *shape, struct leaf *leaf, __u32 bytes)
{
	int outer;

	for (outer = shape->dims; outer >= 0; outer--) {
		if (shape_bytes(shape, outer) == bytes) {
			leaf_bytes(shape, bytes, outer, leaf);
			return true;
		}
	}
	return false;
}

static bool make_string(const struct shape *shape, struct leaf *leaf)
{
	if (leaf->field.kind != BPF_RELAY_CHAR && (!is_number(leaf) || shape->size != 1))
		return false;
	leaf->field.kind = BPF_RELAY_CHAR;
	return true;
}

static bool make_packet(const struct shape *shape, struct leaf *leaf)
{
	if (shape_is_flexible(shape)) {
		if (shape_bytes(shape, 1) != 1)
			return false;
		leaf_bytes(shape, 1, 1, leaf);
	} else {
		leaf_bytes(shape, shape_bytes(shape, 0), 0, leaf);
	}
	return true;
}

static bool apply(enum bpf_relay_hint hint, __u32 bytes, const struct shape *shape,
		  struct leaf *leaf)
{
	struct bpf_relay_field *f = &leaf->field;

	switch (hint) {
	case BPF_RELAY_HINT_HEX:
		/* They are shown so by themselves. */
		if (f->kind == BPF_RELAY_BYTES)
			return true;
		if (f->kind == BPF_RELAY_CHAR)
			f->kind = BPF_RELAY_UINT;
		if (!is_number(leaf) && f->kind != BPF_RELAY_ENUM)
			return false;
		break;
	case BPF_RELAY_HINT_IPV4:
		if (is_number(leaf) && f->size == bytes) {
			f->kind = BPF_RELAY_UINT;
			break;
		}
		/* fallthrough */
	case BPF_RELAY_HINT_IPV6:
	case BPF_RELAY_HINT_MAC:
		if (!make_address(shape, leaf, bytes))
			return false;
		break;
	case BPF_RELAY_HINT_STRING:
		if (!make_string(shape, leaf))
			return false;
		break;
	case BPF_RELAY_HINT_NS:
		if (!is_number(leaf))
			return false;
		break;
	case BPF_RELAY_HINT_STACK:
	case BPF_RELAY_HINT_KSYM:
		if (!is_number(leaf) || f->size != 8)
			return false;
		f->kind = BPF_RELAY_UINT;
		break;
	case BPF_RELAY_HINT_IFINDEX:
		if (!is_number(leaf) || f->size != 4)
			return false;
		break;
	case BPF_RELAY_HINT_PACKET:
		if (!make_packet(shape, leaf))
			return false;
		break;
	default:
		return true;
	}
	f->hint = hint;
	return true;
}

const char *hint_apply(const struct hint *hint, const struct shape *shape, struct leaf *leaf)
{
	size_t i;

	if (hint->be) {
		if (!is_number(leaf) || leaf->field.size == 1)
			return be_wants;
		leaf->field.flags = BPF_RELAY_FIELD_BE;
	}
	for (i = 0; i < N_HINTS; i++)
		if (hint_types[i].hint == hint->hint &&
		    !apply(hint->hint, hint_types[i].bytes, shape, leaf))
			return hint_types[i].wants;
	return NULL;
}
