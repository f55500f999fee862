// SPDX-License-Identifier: GPL-2.0-only
/* bpfrelay load */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <bpf/bpf.h>

#include "bpfrelay.h"
#include "cli.h"
#include "json.h"

struct load_args {
	const char *object;
	const char *name;
	const char *pins;
	bool replace;
	bool json;
	const char **set;	/* "VAR=VALUE" */
	int n_set;
	struct kept_options given;
	char cgroup[PATH_MAX];
};

/* Where objects are, from the directory of this command: as built, as installed. */
static const char *const object_dirs[] = { ".", "../lib/bpfrelay" };

static const char help_text[] =
	"Loads a BPF object with one or more RELAY_MAP() logs, opens the logs, attaches the\n"
	"programs, pins maps and links, and exits. Programs and logs stay.\n"
	"\n"
	"WHAT is a file if it has a slash in it or ends in .o. Otherwise WHAT.bpf.o is looked\n"
	"for beside this command, and in ../lib/bpfrelay from there.\n"
	"\n"
	"Programs go where their section says; what it does not say, options do, and what no\n"
	"option says (a socket, a netfilter hook, ...) is pinned in DIR/progs, to be attached\n"
	"by other means. `start` and `load --replace` keep what --dev to --clock said.\n"
	"\n"
	"--replace puts new programs in the place of those that are loaded as NAME, if there\n"
	"are any. Logs, and tables of the same shape, stay, with all that is in them. If the\n"
	"types of records or the options of a log differ, or anything fails, nothing changes.\n"
	"For a moment both are attached: an event may be recorded by each.\n";

enum { OPT_KEPT = 256, OPT_NAME = OPT_KEPT + N_KEPT, OPT_PIN, OPT_REPLACE, OPT_SET };

static const struct cli_option options[] = {
	{ "name", OPT_NAME, "NAME", "call it NAME (default: the file's name without .bpf.o)" },
	{ "pin", OPT_PIN, "DIR", "pin in DIR (default: " PIN_ROOT "/NAME)" },
	{ "replace", OPT_REPLACE, NULL, "replace the programs of NAME and keep its records" },
	{ "set", OPT_SET, "VAR=VALUE", "set a global variable of the object; may be repeated" },
	{ "dev", OPT_KEPT + KEPT_DEV, "IF", "attach xdp, tc and tcx programs to this interface" },
	{ "cgroup", OPT_KEPT + KEPT_CGROUP, "PATH",
	  "attach cgroup programs to this directory of cgroup2" },
	{ "freq", OPT_KEPT + KEPT_FREQ, "HZ",
	  "run perf_event programs so often on each CPU that is online" },
	{ "pid", OPT_KEPT + KEPT_PID, "P", "perf_event, uprobe, USDT: only in this process" },
	{ "size", OPT_KEPT + KEPT_SIZE, "BYTES[K|M]",
	  "of one sub-buffer, a power of two from 4K to 4M" },
	{ "count", OPT_KEPT + KEPT_COUNT, "N",
	  "sub-buffers per CPU, a power of two from 2 to 4096" },
	{ "mode", OPT_KEPT + KEPT_MODE, "overwrite|keep",
	  "when full, give up the oldest records, or the new ones" },
	{ "clock", OPT_KEPT + KEPT_CLOCK, "boot|mono", "CLOCK_BOOTTIME or CLOCK_MONOTONIC" },
	{}
};

static bool give_option(struct load_args *args, enum kept_option which, const char *text)
{
	struct parsed_options ignored;

	args->given.text[which] = text;
	/* `start` may be called from elsewhere. */
	if (which == KEPT_CGROUP && realpath(text, args->cgroup))
		args->given.text[which] = args->cgroup;
	return kept_option_parse(which, text, &ignored);
}

static int take(int c, const char *value, void *ctx)
{
	struct load_args *args = ctx;

	switch (c) {
	case OPT_NAME:
		args->name = value;
		break;
	case OPT_PIN:
		args->pins = value;
		break;
	case OPT_REPLACE:
		args->replace = true;
		break;
	case OPT_SET:
		if (!strchr(value, '=') || *value == '=')
			return usage_error("load", "--set %s: must be VAR=VALUE", value);
		args->set[args->n_set++] = value;
		break;
	default:
		if (!give_option(args, c - OPT_KEPT, value))
			return usage_error("load", "--%s %s: must be %s",
					   kept_option_names[c - OPT_KEPT], value,
					   kept_option_wants[c - OPT_KEPT]);
	}
	return 0;
}

static bool is_file_name(const char *what)
{
	size_t len = strlen(what);

	return strchr(what, '/') || (len > 2 && !strcmp(what + len - 2, ".o"));
}

/* Looks for a program by its name. */
static int find_object(const char *what, char *path, size_t size)
{
	char here[PATH_MAX];
	ssize_t len;
	size_t i;

	if (is_file_name(what)) {
		snprintf(path, size, "%s", what);
		return 0;
	}
	len = readlink("/proc/self/exe", here, sizeof(here) - 1);
	if (len < 0)
		return error("cannot find this command's own directory: %s", strerror(errno));
	here[len] = '\0';
	*strrchr(here, '/') = '\0';
	for (i = 0; i < sizeof(object_dirs) / sizeof(object_dirs[0]); i++) {
		if (snprintf(path, size, "%s/%s/%s.bpf.o", here, object_dirs[i], what) < (int)size &&
		    !access(path, F_OK))
			return 0;
	}
	return error("%s: no %s.bpf.o in %s or %s/%s; is it a file? then ./%s", what, what, here,
		     here, object_dirs[1], what);
}

/* "dir/tcplog.bpf.o" -> "tcplog" */
static void name_from_file(const char *file, char *name, size_t size)
{
	const char *slash = strrchr(file, '/');
	size_t len;
	char *c;

	snprintf(name, size, "%s", slash ? slash + 1 : file);
	len = strlen(name);
	if (len > 2 && !strcmp(name + len - 2, ".o"))
		name[len - 2] = '\0';
	len = strlen(name);
	if (len > 4 && !strcmp(name + len - 4, ".bpf"))
		name[len - 4] = '\0';
	for (c = name; *c; c++)
		if (*c == '.')
			*c = '_';
}

static struct bpf_object *open_object(const struct load_args *args, const void *data, size_t size,
				      const char *name)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts, .object_name = name);
	struct bpf_object *obj;
	int i;

	obj = bpf_object__open_mem(data, size, &opts);
	if (libbpf_get_error(obj)) {
		error("%s: not a BPF object file: %s", args->object,
		      error_text(libbpf_get_error(obj)));
		return NULL;
	}
	if (!bpfrelay_next_log(obj, NULL)) {
		error("%s: has no log: no RELAY_MAP() in it", args->object);
		goto err_close;
	}
	for (i = 0; i < args->n_set; i++)
		if (set_variable(obj, args->set[i]))
			goto err_close;
	return obj;

err_close:
	bpf_object__close(obj);
	return NULL;
}

static int pin_maps(const struct bpf_object *obj, const struct instance *inst)
{
	struct bpf_map *map;
	char path[512];
	int err;

	bpf_object__for_each_map(map, obj) {
		if (bpf_map__fd(map) < 0)
			continue;
		map_pin_path(inst, map, path, sizeof(path));
		/* bpf_map__pin() refuses a second pin, of a map that pins itself. */
		err = bpf_obj_pin(bpf_map__fd(map), path);
		if (err)
			return error("map %s: cannot be pinned at %s: %s", bpf_map__name(map),
				     path, error_text(err));
	}
	return 0;
}

/* All that can fail while nothing of the old one has changed. */
static int set_up(struct bpf_object *obj, const struct load_args *args,
		  const struct kept_options *all, const struct log_options *log,
		  const void *data, size_t size, struct attachment *at)
{
	int err = 0;

	if (at->old)
		err = replace_reuse_maps(obj, at->old);
	/* In this order: a program that runs finds its log open. */
	if (!err)
		err = load_object(obj, args->object);
	if (!err)
		err = open_logs(obj, log);
	if (!err)
		err = pin_maps(obj, at->inst);
	if (!err)
		err = instance_save(at->inst, "object", data, size);
	if (!err)
		err = kept_options_save(all, at->inst);
	if (!err)
		err = attach_programs(obj, at);
	return err;
}

static void print_text(const struct bpf_object *obj, const struct instance *inst,
		       const struct attachment *at)
{
	print_logs(obj);
	if (at->old)
		printf("%s: replaced, the records stay\n", inst->name);
	if (!at->attached)
		printf("%s: no program says where to attach it: they are in %s/progs\n",
		       inst->name, inst->pins);
}

static void print_json(const struct bpf_object *obj, const struct instance *inst,
		       const struct attachment *at)
{
	struct json_object *object = json_object_new_object();

	json_add_string(object, "name", inst->name);
	json_add_string(object, "pins", inst->pins);
	json_add_number(object, "attached", at->attached);
	json_add_bool(object, "replaced", at->old);
	json_add(object, "logs", describe_logs(obj));
	json_print(object);
}

/* old: what is to be replaced, or NULL. */
static int load(const struct load_args *args, const struct instance *inst,
		const struct instance *old)
{
	struct kept_options all = args->given;
	struct parsed_options parsed;
	struct bpf_object *obj = NULL;
	struct instance next = *inst;
	struct targets targets;
	struct attachment at = { .inst = &next, .targets = &targets, .old = old, .xdp_link = -1 };
	char path[PATH_MAX];
	size_t size;
	void *data = NULL;
	int err;

	if (find_object(args->object, path, sizeof(path)))
		return -1;
	err = read_file(path, &data, &size);
	if (err)
		return error("%s: %s", args->object, error_text(err));
	if ((old && kept_options_read(&all, old)) || kept_options_parse(&all, &parsed)) {
		err = -1;
		goto out_free;
	}
	obj = open_object(args, data, size, inst->name);
	if (!obj || targets_check(obj, &all, &args->given) || targets_open(&targets, &parsed)) {
		err = -1;
		goto out_close;
	}
	err = old ? instance_claim_next(old, &next) : instance_claim(inst);
	if (err)
		goto out_targets;

	err = set_up(obj, args, &all, &parsed.log, data, size, &at);
	if (!err && old)
		err = replace_commit(&at);
	if (err) {
		instance_remove(&next);
		goto out_link;
	}
	if (args->json)
		print_json(obj, inst, &at);
	else
		print_text(obj, inst, &at);

out_link:
	if (at.xdp_link >= 0)
		close(at.xdp_link);
out_targets:
	targets_close(&targets);
out_close:
	bpf_object__close(obj);
out_free:
	free(all.memory);
	free(data);
	return err;
}

/* Replaces what is loaded by that name if that is wanted. */
static int load_or_replace(const struct load_args *args)
{
	struct instance inst, old;
	char name[256];
	int lock, err;

	name_from_file(args->object, name, sizeof(name));
	if (instance_init(&inst, args->name ?: name, args->pins))
		return -1;
	if (!args->replace || !instance_exists(&inst))
		return load(args, &inst, NULL);
	if (instance_find(&old, inst.name))
		return -1;
	if (args->pins && strcmp(inst.pins, old.pins))
		return error("%s: is pinned at %s, where --replace leaves it: without --pin, please",
			     inst.name, old.pins);
	lock = instance_lock(&old);
	if (lock < 0)
		return -1;
	err = load(args, &old, &old);
	close(lock);
	return err;
}

int cmd_load(int argc, char **argv)
{
	struct load_args load = {};
	struct args args = {
		.command = "load",
		.help = help_text,
		.json_text = "say what was loaded as an object",
		.options = options,
		.take = take,
		.ctx = &load,
	};
	int status;

	load.set = calloc(argc, sizeof(*load.set));
	if (!load.set) {
		error("%s", strerror(ENOMEM));
		return CLI_ERROR;
	}
	status = parse_args(argc, argv, &args);
	if (status < 0) {
		load.object = argv[optind];
		load.json = args.json;
		status = load_or_replace(&load) ? CLI_ERROR : CLI_OK;
	}
	free(load.set);
	return status;
}
