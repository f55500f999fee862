// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
/*
 * Opens the logs of a BPF object: fills in what RELAY_MAP() left open in its
 * variable NAME_setup (see bpf/bpf_relay.h), and runs its program NAME_open.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <bpf/bpf.h>

#include "bpfrelay.h"

#define SETUP_SECTION	".data.relay"

/* A log's bpf_relay_setup: a copy of the section it is in. */
struct setup {
	struct bpf_map *section;
	void *data;		/* all of the section */
	size_t size;
	struct bpf_relay_setup *self;
};

static __attribute__((format(printf, 2, 3)))
void say(const struct bpfrelay_open_opts *opts, const char *fmt, ...)
{
	va_list args;

	if (!opts->print)
		return;
	va_start(args, fmt);
	opts->print(opts->print_ctx, fmt, args);
	va_end(args);
}

/* Where NAME_setup is in its section; NULL if there is none. */
static const struct btf_var_secinfo *find_setup_var(const struct btf *btf, const char *name)
{
	const struct btf_var_secinfo *var;
	const struct btf_type *sec;
	const char *var_name;
	size_t len = strlen(name);
	int i, id;

	id = btf__find_by_name_kind(btf, SETUP_SECTION, BTF_KIND_DATASEC);
	if (id < 0)
		return NULL;
	sec = btf__type_by_id(btf, id);
	var = btf_var_secinfos(sec);
	for (i = 0; i < btf_vlen(sec); i++, var++) {
		var_name = btf__name_by_offset(btf, btf__type_by_id(btf, var->type)->name_off);
		if (var_name && !strncmp(var_name, name, len) &&
		    !strcmp(var_name + len, "_setup"))
			return var;
	}
	return NULL;
}

static struct bpf_map *find_setup_section(const struct bpf_object *obj)
{
	struct bpf_map *map;

	bpf_object__for_each_map(map, obj)
		if (!strcmp(bpf_map__name(map), SETUP_SECTION))
			return map;
	return NULL;
}

static struct bpf_program *find_open_prog(const struct bpf_object *obj, const char *name)
{
	char prog[128];

	if (snprintf(prog, sizeof(prog), "%s_open", name) >= (int)sizeof(prog))
		return NULL;
	return bpf_object__find_program_by_name(obj, prog);
}

struct bpf_map *bpfrelay_next_log(const struct bpf_object *obj, struct bpf_map *prev)
{
	const struct btf *btf = bpf_object__btf(obj);
	struct bpf_map *map = prev;
	const char *name;

	if (!btf)
		return NULL;
	while ((map = bpf_object__next_map(obj, map))) {
		name = bpf_map__name(map);
		if (bpf_map__type(map) == BPF_MAP_TYPE_PERCPU_ARRAY &&
		    find_setup_var(btf, name) && find_open_prog(obj, name))
			return map;
	}
	return NULL;
}

static int store_setup(const struct setup *setup)
{
	__u32 zero = 0;

	return bpf_map__update_elem(setup->section, &zero, sizeof(zero),
				    setup->data, setup->size, BPF_ANY);
}

static void clear_types(struct bpf_relay_setup *self)
{
	struct bpf_relay_type *type;
	__u32 i;

	for (i = 0; i < self->opts.n_types; i++) {
		type = &self->type[i];
		type->fields = type->tsdl = 0;
		type->fields_len = type->tsdl_len = 0;
	}
}

static int load_setup(struct setup *setup, const struct bpf_object *obj, const char *name,
		      const struct bpfrelay_open_opts *opts)
{
	const struct btf_var_secinfo *var;
	__u32 zero = 0;
	int err;

	var = find_setup_var(bpf_object__btf(obj), name);
	setup->section = find_setup_section(obj);
	if (!var || !setup->section)
		return -ENOENT;

	setup->size = bpf_map__value_size(setup->section);
	if (var->size < sizeof(struct bpf_relay_setup) || var->offset > setup->size ||
	    var->size > setup->size - var->offset)
		return -EINVAL;
	setup->data = malloc(setup->size);
	if (!setup->data)
		return -ENOMEM;
	err = bpf_map__lookup_elem(setup->section, &zero, sizeof(zero),
				   setup->data, setup->size, 0);
	if (err)
		goto err_free;

	setup->self = setup->data + var->offset;
	if (setup->self->opts.abi != BPF_RELAY_ABI) {
		say(opts, "%s: built for bpf_relay ABI %u, this library has ABI %u",
		    name, setup->self->opts.abi, BPF_RELAY_ABI);
		err = -EPROTO;
		goto err_free;
	}
	if (setup->self->opts.n_types >
	    (var->size - sizeof(*setup->self)) / sizeof(setup->self->type[0])) {
		say(opts, "%s: %s_setup names more types than it holds", name, name);
		err = -EINVAL;
		goto err_free;
	}
	/* Addresses that come with the object mean nothing in this process. */
	clear_types(setup->self);
	return 0;

err_free:
	free(setup->data);
	return err;
}

/*
 * The C type with this id: RELAY_MAP() keeps it as an empty array typeN in the struct
 * of the map's value. (By name: of a map that is reused libbpf has other ids.)
 */
static __u32 find_record_type(const struct btf *btf, const char *map, __u16 id)
{
	const struct btf_type *value, *array;
	const struct btf_member *m;
	char wanted[128];
	const char *name;
	int i, value_id;

	snprintf(wanted, sizeof(wanted), "%s_relay", map);
	value_id = btf__find_by_name_kind(btf, wanted, BTF_KIND_STRUCT);
	if (value_id < 0)
		return 0;
	value = btf__type_by_id(btf, value_id);
	snprintf(wanted, sizeof(wanted), "type%u", id);
	m = btf_members(value);
	for (i = 0; i < btf_vlen(value); i++, m++) {
		name = btf__name_by_offset(btf, m->name_off);
		array = btf__type_by_id(btf, m->type);
		if (name && !strcmp(name, wanted) && array && btf_is_array(array))
			return btf_array(array)->type;
	}
	return 0;
}

/* The name of a C type, without what stands before it. */
static const char *bare_name(const char *name)
{
	static const char *const prefixes[] = { "const ", "struct " };
	size_t i;

	for (i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (!strncmp(name, prefixes[i], strlen(prefixes[i])))
			name += strlen(prefixes[i]);
	return name;
}

/* Adds fields and TSDL. */
static int describe_type(struct bpf_relay_type *type, const struct btf *btf, __u32 type_id,
			 const struct bpfrelay_open_opts *opts)
{
	struct bpf_relay_field *fields;
	char name[sizeof(type->name)];
	char *tsdl;
	int n, len;

	n = bpfrelay_type_fields(btf, type_id, type->flags, opts->print, opts->print_ctx,
				 &fields);
	if (n <= 0)
		return n;
	snprintf(name, sizeof(name), "%.*s", (int)sizeof(name) - 1, type->name);
	type->fields = (uintptr_t)fields;
	type->fields_len = n * sizeof(*fields);
	len = bpfrelay_type_tsdl(fields, n, bare_name(name), type->id, &tsdl);
	if (len < 0)
		return len;
	type->tsdl = (uintptr_t)tsdl;
	type->tsdl_len = len;
	return 0;
}

static int describe_types(struct bpf_relay_setup *self, const struct btf *btf, const char *map,
			  const struct bpfrelay_open_opts *opts)
{
	struct bpf_relay_type *type;
	__u32 i, type_id;
	int err;

	for (i = 0; i < self->opts.n_types; i++) {
		type = &self->type[i];
		type_id = find_record_type(btf, map, type->id);
		if (!type_id || btf__resolve_size(btf, type_id) != type->size)
			continue;
		err = describe_type(type, btf, type_id, opts);
		if (err)
			return err;
	}
	return 0;
}

static void forget_types(struct bpf_relay_setup *self)
{
	__u32 i;

	for (i = 0; i < self->opts.n_types; i++) {
		free((void *)(uintptr_t)self->type[i].fields);
		free((void *)(uintptr_t)self->type[i].tsdl);
	}
	clear_types(self);
}

static void set_options(struct bpf_relay_opts *to, const struct bpfrelay_open_opts *from)
{
	if (from->subbuf_size)
		to->subbuf_size = from->subbuf_size;
	if (from->n_subbufs)
		to->n_subbufs = from->n_subbufs;
	if (from->mode)
		to->mode = from->mode;
	if (from->clock)
		to->clock = from->clock;
}

/* A caller built with an older or newer header: what this library does not know must be 0. */
static int get_opts(struct bpfrelay_open_opts *to, const struct bpfrelay_open_opts *from)
{
	const char *p = (const char *)from;
	size_t i;

	memset(to, 0, sizeof(*to));
	if (!from)
		return 0;
	if (from->sz < sizeof(from->sz))
		return -EINVAL;
	for (i = sizeof(*to); i < from->sz; i++)
		if (p[i])
			return -E2BIG;
	memcpy(to, from, from->sz < sizeof(*to) ? from->sz : sizeof(*to));
	return 0;
}

static int run_open(const struct bpf_object *obj, const char *name)
{
	LIBBPF_OPTS(bpf_test_run_opts, run);
	struct bpf_program *prog = find_open_prog(obj, name);
	int err;

	if (!prog)
		return -ENOENT;
	err = bpf_prog_test_run_opts(bpf_program__fd(prog), &run);
	return err ?: (int)run.retval;
}

int bpfrelay_open(struct bpf_object *obj, const struct bpf_map *map,
		  const struct bpfrelay_open_opts *user_opts)
{
	const struct btf *btf = bpf_object__btf(obj);
	const char *name = bpf_map__name(map);
	struct bpfrelay_open_opts opts;
	struct setup setup = {};
	int err, clear;

	err = get_opts(&opts, user_opts);
	if (err)
		return err;
	if (!btf)
		return -ENOENT;
	err = load_setup(&setup, obj, name, &opts);
	if (err)
		return err;

	set_options(&setup.self->opts, &opts);
	err = describe_types(setup.self, btf, name, &opts);
	if (!err)
		err = store_setup(&setup);
	if (!err)
		err = run_open(obj, name);
	forget_types(setup.self);
	/* The addresses end with this call: leave none behind in the map. */
	clear = store_setup(&setup);
	free(setup.data);
	return err ?: clear;
}
