// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <string.h>

#include "export.h"

/* Structs inside one another, of which the module allows no more. */
#define DEPTH_MAX	16

/* Whether any field is it, which is cheaper to know than its path. */
static bool has_field(const struct bpfrelay_type *type,
		      bool (*fn)(const struct bpf_relay_field *f, const void *ctx), const void *ctx)
{
	int i;

	for (i = 0; i < type->n_fields; i++)
		if (fn(&type->fields[i], ctx))
			return true;
	return false;
}

const struct bpf_relay_field *
find_field(const struct bpfrelay_type *type,
	   bool (*fn)(const struct bpf_relay_field *f, const void *ctx), const void *ctx,
	   char path[FIELD_PATH_MAX])
{
	size_t end[DEPTH_MAX] = {};		/* of the path, by depth */
	const struct bpf_relay_field *f = type->fields;
	__u16 depth = 0;			/* of fields that have a path */
	int i, len;

	if (!has_field(type, fn, ctx))
		return NULL;
	for (i = 0; i < type->n_fields; i++, f++) {
		/* A struct that is left behind, or inside of an array. */
		if (f->depth < depth)
			depth = f->depth;
		if (f->depth > depth || !f->name[0])
			continue;
		len = snprintf(path + end[depth], FIELD_PATH_MAX - end[depth], "%s%s",
			       depth ? "." : "", f->name);
		if ((size_t)len >= FIELD_PATH_MAX - end[depth])
			continue;
		if (fn(f, ctx))
			return f;
		if (f->kind == BPF_RELAY_STRUCT && f->count == 1 && depth + 1 < DEPTH_MAX) {
			end[depth + 1] = end[depth] + len;
			depth++;
		}
	}
	return NULL;
}

static bool has_hint(const struct bpf_relay_field *f, const void *ctx)
{
	return f->hint == *(const enum bpf_relay_hint *)ctx;
}

const struct bpf_relay_field *find_hinted(const struct bpfrelay_type *type,
					  enum bpf_relay_hint hint, char path[FIELD_PATH_MAX])
{
	return find_field(type, has_hint, &hint, path);
}

bool type_has_hint(const struct bpfrelay_type *type, enum bpf_relay_hint hint)
{
	return has_field(type, has_hint, &hint);
}

bool log_has_hint(const struct bpfrelay_log *log, enum bpf_relay_hint hint)
{
	const struct bpfrelay_type *type;
	char path[FIELD_PATH_MAX];
	__u32 id;

	for (id = 0; id < BPF_RELAY_TYPES_MAX; id++) {
		type = bpfrelay_log_type(log, id);
		if (type && find_hinted(type, hint, path))
			return true;
	}
	return false;
}

bool record_number(const struct bpfrelay_record *record, const char *path, __u64 *number)
{
	struct bpfrelay_value value;

	return !bpfrelay_record_find(record, path, &value) &&
	       !bpfrelay_value_number(&value, number);
}

bool record_thread(const struct bpfrelay_record *record, __u64 *tgid, __u64 *pid)
{
	if (!record_number(record, "pid", pid))
		return false;
	if (!record_number(record, "tgid", tgid))
		*tgid = *pid;
	return true;
}

bool record_user_stack(const struct bpfrelay_record *record, struct bpfrelay_value *stack)
{
	return (!bpfrelay_record_find(record, "user", stack) ||
		!bpfrelay_record_find(record, "ustack", stack)) &&
	       stack->field->kind == BPF_RELAY_UINT && stack->field->size == 8 &&
	       stack->count > 1;
}

bool stack_frame(const struct bpfrelay_value *stack, __u32 n, __u64 *address)
{
	if (n >= stack->count || stack->field->size != sizeof(*address))
		return false;
	memcpy(address, (const char *)stack->data + n * sizeof(*address), sizeof(*address));
	return *address;
}
