// SPDX-License-Identifier: GPL-2.0-only
/* --set VAR=VALUE: global variables of an object, found and checked through its BTF. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <bpf/btf.h>

#include "cli.h"

struct variable {
	const struct btf *btf;
	const struct btf_type *type;	/* typedefs and qualifiers peeled off */
	const char *section;
	size_t offset;			/* in the section */
	size_t size;
};

/* Sections that a user may set: not the loader's own, not the kernel's configuration. */
static bool is_settable(const char *section)
{
	return strcmp(section, ".data.relay") &&
	       (!strncmp(section, ".rodata", 7) || !strncmp(section, ".data", 5) ||
		!strncmp(section, ".bss", 4));
}

static const struct btf_type *peel(const struct btf *btf, __u32 id)
{
	int real = btf__resolve_type(btf, id);

	return real > 0 ? btf__type_by_id(btf, real) : NULL;
}

typedef bool (*variable_fn)(const struct variable *var, const char *name, void *ctx);

/* Calls fn for each settable variable until it returns true. */
static bool for_each_variable(const struct btf *btf, variable_fn fn, void *ctx)
{
	struct variable var = { .btf = btf };
	const struct btf_var_secinfo *info;
	const struct btf_type *sec, *decl;
	__u32 id;
	int i;

	for (id = 1; id < btf__type_cnt(btf); id++) {
		sec = btf__type_by_id(btf, id);
		if (!btf_is_datasec(sec))
			continue;
		var.section = btf__name_by_offset(btf, sec->name_off);
		if (!var.section || !is_settable(var.section))
			continue;
		info = btf_var_secinfos(sec);
		for (i = 0; i < btf_vlen(sec); i++, info++) {
			decl = btf__type_by_id(btf, info->type);
			if (!decl || !btf_is_var(decl))
				continue;
			var.type = peel(btf, decl->type);
			var.offset = info->offset;
			var.size = info->size;
			if (var.type && fn(&var, btf__name_by_offset(btf, decl->name_off), ctx))
				return true;
		}
	}
	return false;
}

struct wanted {
	const char *name;
	size_t len;
	struct variable found;
};

static bool match_name(const struct variable *var, const char *name, void *ctx)
{
	struct wanted *wanted = ctx;

	if (!name || strlen(name) != wanted->len || strncmp(name, wanted->name, wanted->len))
		return false;
	wanted->found = *var;
	return true;
}

/* The names of all variables, for the error about one that is not among them. */
static bool append_name(const struct variable *var, const char *name, void *ctx)
{
	size_t room = 512, len = strlen(ctx);

	(void)var;
	if (name && len + strlen(name) + 3 < room) {
		if (len)
			strcat(ctx, ", ");
		strcat(ctx, name);
	}
	return false;
}

/* Where the section's bytes are until the object is loaded. */
static void *section_data(const struct bpf_object *obj, const char *section, size_t *size)
{
	size_t tail = strlen(section), len;
	struct bpf_map *map;
	const char *name;

	bpf_object__for_each_map(map, obj) {
		if (!bpf_map__is_internal(map))
			continue;
		/* ".rodata" is called "tcplog.rodata", ".rodata.x" like itself. */
		name = bpf_map__name(map);
		len = strlen(name);
		if (len >= tail && !strcmp(name + len - tail, section))
			return bpf_map__initial_value(map, size);
	}
	return NULL;
}

static int set_number(const char *assignment, void *to, size_t size, bool is_signed,
		      const char *value)
{
	unsigned int bits = size * 8;
	unsigned long long number;
	char *end;
	bool fits;

	errno = 0;
	if (is_signed) {
		long long n = strtoll(value, &end, 0);

		fits = n >= INT64_MIN >> (64 - bits) && n <= INT64_MAX >> (64 - bits);
		number = n;
	} else {
		number = strtoull(value, &end, 0);
		fits = !strchr(value, '-') && number <= UINT64_MAX >> (64 - bits);
	}
	if (!*value || *end)
		return error("--set %s: '%s' is not a number", assignment, value);
	if (errno || !fits)
		return error("--set %s: does not fit %s%u bits", assignment,
			     is_signed ? "" : "unsigned ", bits);
	memcpy(to, &number, size);
	return 0;
}

static int set_bool(const char *assignment, void *to, const char *value)
{
	bool on = !strcmp(value, "1") || !strcmp(value, "true");

	if (!on && strcmp(value, "0") && strcmp(value, "false"))
		return error("--set %s: must be true or false", assignment);
	memcpy(to, &on, sizeof(on));
	return 0;
}

static int set_enum(const char *assignment, const struct variable *var, void *to,
		    const char *value)
{
	const struct btf_type *t = var->type;
	const char *name;
	__s64 number;
	char text[24];
	int i;

	for (i = 0; i < btf_vlen(t); i++) {
		if (btf_is_enum(t)) {
			name = btf__name_by_offset(var->btf, btf_enum(t)[i].name_off);
			number = btf_enum(t)[i].val;
			if (!btf_kflag(t))
				number = (__u32)number;
		} else {
			name = btf__name_by_offset(var->btf, btf_enum64(t)[i].name_off);
			number = btf_enum64_value(&btf_enum64(t)[i]);
		}
		if (!name || strcmp(name, value))
			continue;
		snprintf(text, sizeof(text), btf_kflag(t) ? "%lld" : "%llu", (long long)number);
		return set_number(assignment, to, var->size, btf_kflag(t), text);
	}
	if (strspn(value, "-0123456789") == 0)
		return error("--set %s: enum %s has no %s", assignment,
			     btf__name_by_offset(var->btf, t->name_off), value);
	return set_number(assignment, to, var->size, btf_kflag(t), value);
}

static bool is_char_array(const struct variable *var)
{
	const struct btf_type *elem;

	if (!btf_is_array(var->type))
		return false;
	elem = peel(var->btf, btf_array(var->type)->type);
	return elem && btf_is_int(elem) && elem->size == 1;
}

static int set_value(const char *assignment, const struct variable *var, void *to,
		     const char *value)
{
	const struct btf_type *t = var->type;

	if (btf_is_int(t) && t->size == var->size && t->size <= 8) {
		if (btf_int_encoding(t) & BTF_INT_BOOL)
			return set_bool(assignment, to, value);
		return set_number(assignment, to, t->size,
				  btf_int_encoding(t) & BTF_INT_SIGNED, value);
	}
	if (btf_is_any_enum(t) && var->size <= 8)
		return set_enum(assignment, var, to, value);
	if (is_char_array(var)) {
		if (strlen(value) >= var->size)
			return error("--set %s: longer than %zu characters", assignment,
				     var->size - 1);
		memset(to, 0, var->size);
		memcpy(to, value, strlen(value));
		return 0;
	}
	return error("--set %s: only integers, bool, enums and char arrays can be set", assignment);
}

int set_variable(struct bpf_object *obj, const char *assignment)
{
	const struct btf *btf = bpf_object__btf(obj);
	struct wanted wanted = { .name = assignment };
	const char *equals = strchr(assignment, '=');
	char names[512] = "";
	size_t size = 0;
	void *data;

	wanted.len = equals - assignment;
	if (!for_each_variable(btf, match_name, &wanted)) {
		for_each_variable(btf, append_name, names);
		return error("--set %s: no such variable; the object has %s", assignment,
			     *names ? names : "none");
	}
	data = section_data(obj, wanted.found.section, &size);
	if (!data || wanted.found.offset > size || wanted.found.size > size - wanted.found.offset)
		return error("--set %s: section %s cannot be written", assignment,
			     wanted.found.section);
	return set_value(assignment, &wanted.found, data + wanted.found.offset, equals + 1);
}
