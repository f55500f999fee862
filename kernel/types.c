// SPDX-License-Identifier: GPL-2.0-only
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/err.h>
#include <linux/jhash.h>
#include <linux/printk.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "fields.h"
#include "tsdl.h"
#include "types.h"

void types_init(struct relay_types *t)
{
	u32 i;

	t->rule[0] = TYPE_VAR;
	for (i = 1; i < BPF_RELAY_TYPES_MAX; i++)
		t->rule[i] = TYPE_NONE;
}

void type_free(struct relay_type *type)
{
	if (!type)
		return;
	kvfree(type->tsdl);
	kvfree(type->fields);
	kfree(type);
}

void types_free(struct relay_types *t)
{
	u32 i;

	for (i = 0; i < BPF_RELAY_TYPES_MAX; i++)
		type_free(t->type[i]);
}

/* The name as #type yields it, without what stands before the identifier. */
static bool name_normalize(char *name)
{
	static const char * const prefixes[] = { "const ", "struct " };
	int i;

	if (strnlen(name, BPF_RELAY_NAME_MAX) == BPF_RELAY_NAME_MAX)
		return false;
	for (i = 0; i < ARRAY_SIZE(prefixes); i++) {
		size_t len = str_has_prefix(name, prefixes[i]);

		memmove(name, name + len, strlen(name) - len + 1);
	}
	/* Of two equal names the bytes behind the NUL are equal, too. */
	memset(name + strlen(name), 0, BPF_RELAY_NAME_MAX - strlen(name));
	return fields_identifier(name, BPF_RELAY_NAME_MAX);
}

static u32 n_fields(const struct relay_type *type)
{
	return type->desc.fields_len / sizeof(*type->fields);
}

/* The field that records of any length end with; NULL if nothing is known of one. */
static const struct bpf_relay_field *flexible(const struct relay_type *type)
{
	return type->fields ? fields_flexible(type->fields, n_fields(type)) : NULL;
}

static void *text_copy(u64 addr, u32 len)
{
	void *copy;

	if (!len)
		return NULL;
	if (len > BPF_RELAY_TEXT_MAX)
		return ERR_PTR(-E2BIG);
	copy = kvmalloc(len, GFP_KERNEL);
	if (!copy)
		return ERR_PTR(-ENOMEM);
	if (copy_from_user(copy, u64_to_user_ptr(addr), len)) {
		kvfree(copy);
		return ERR_PTR(-EFAULT);
	}
	return copy;
}

struct relay_type *type_copy(const struct bpf_relay_type *desc)
{
	struct relay_type *type = kzalloc(sizeof(*type), GFP_KERNEL);
	struct bpf_relay_type *d;
	void *text;
	int err;

	if (!type)
		return ERR_PTR(-ENOMEM);
	/* The caller's memory may change under us: from here on only the copy counts. */
	type->desc = *desc;
	d = &type->desc;

	err = -EINVAL;
	if (!d->id || d->id >= BPF_RELAY_TYPES_MAX || d->flags & ~BPF_RELAY_TYPE_VAR ||
	    d->reserved || d->size > BPF_RELAY_PAYLOAD_MAX(BPF_RELAY_SUBBUF_MAX) ||
	    (!d->size && !(d->flags & BPF_RELAY_TYPE_VAR)) || !name_normalize(d->name))
		goto free;

	text = text_copy(d->tsdl, d->tsdl_len);
	err = PTR_ERR_OR_ZERO(text);
	if (err)
		goto free;
	type->tsdl = text;
	text = text_copy(d->fields, d->fields_len);
	err = PTR_ERR_OR_ZERO(text);
	if (err)
		goto free;
	type->fields = text;

	err = -EINVAL;
	if (type->fields && (d->fields_len % sizeof(*type->fields) ||
			     !fields_valid(type->fields, n_fields(type), d->size,
					   d->flags & BPF_RELAY_TYPE_VAR)))
		goto free;
	/* Of a length of which the text could not speak: the module's own block. */
	if (type->tsdl && ((d->flags & BPF_RELAY_TYPE_VAR && !flexible(type)) ||
			   !tsdl_valid(type->tsdl, d->tsdl_len)))
		goto free;
	d->tsdl = 0;
	d->fields = 0;
	return type;
free:
	type_free(type);
	return ERR_PTR(err);
}

static u32 type_hash(const struct relay_type *type)
{
	u32 hash = jhash(type->desc.name, sizeof(type->desc.name),
			 type->desc.size ^ (u32)type->desc.flags << 30);

	if (type->tsdl)
		hash = jhash(type->tsdl, type->desc.tsdl_len, hash);
	if (type->fields)
		hash = jhash(type->fields, type->desc.fields_len, hash);
	return hash;
}

static bool text_equal(const void *a, u32 a_len, const void *b, u32 b_len)
{
	/* A loader that gives no text does not contradict one that did. */
	return !a || !b || (a_len == b_len && !memcmp(a, b, a_len));
}

static bool types_equal(const struct relay_type *a, const struct relay_type *b)
{
	return a->desc.size == b->desc.size && a->desc.flags == b->desc.flags &&
	       !strcmp(a->desc.name, b->desc.name) &&
	       text_equal(a->tsdl, a->desc.tsdl_len, b->tsdl, b->desc.tsdl_len) &&
	       text_equal(a->fields, a->desc.fields_len, b->fields, b->desc.fields_len);
}

int types_add(struct relay_types *t, struct relay_type *type, const char *log, bool frozen)
{
	const struct bpf_relay_type *d = &type->desc;
	struct relay_type *old = t->type[d->id];

	if (old && types_equal(old, type))
		return -EALREADY;
	if (old) {
		pr_info("%s: type %u is %s (%u bytes, hash %08x), not %s (%u bytes, hash %08x)\n",
			log, d->id, old->desc.name, old->desc.size, type_hash(old),
			d->name, d->size, type_hash(type));
		return -ESTALE;
	}
	if (frozen) {
		pr_info("%s: is open without type %u, %s (%u bytes, hash %08x)\n",
			log, d->id, d->name, d->size, type_hash(type));
		return -ESTALE;
	}
	t->type[d->id] = type;
	packet_type_init(&t->packet[d->id], d->size, type->fields, n_fields(type));
	t->rule[d->id] = d->size | (d->flags & BPF_RELAY_TYPE_VAR ? TYPE_VAR : 0);
	t->n++;
	return 0;
}

u32 types_largest(const struct relay_types *t)
{
	u32 largest = 0;
	u32 i;

	for (i = 1; i < BPF_RELAY_TYPES_MAX; i++)
		if (t->type[i])
			largest = max(largest, t->type[i]->desc.size);
	return largest;
}
