// SPDX-License-Identifier: GPL-2.0-only
/* bpfrelay list and show: which logs there are, and what one of them is. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli.h"
#include "holders.h"
#include "json.h"
#include "reading.h"

#define NSEC	1000000000ULL

static const char *mode_name(const struct bpfrelay_stats *stats)
{
	return stats->mode == BPF_RELAY_KEEP ? "keep" : "overwrite";
}

/* A log's directory is made when it is opened: as a time of the log's clock; 0: not known. */
static unsigned long long opened_ts(const struct bpfrelay_log_info *info)
{
	struct stat st;

	if (stat(info->dir, &st))
		return 0;
	return st.st_mtim.tv_sec * NSEC + st.st_mtim.tv_nsec - info->real_offset;
}

/* "42s", "5m", "3h", "12d" */
static const char *format_age(unsigned long long from, unsigned long long now, char to[24])
{
	unsigned long long s = now > from ? (now - from) / NSEC : 0;

	if (s >= 86400)
		snprintf(to, 24, "%llud", s / 86400);
	else if (s >= 3600)
		snprintf(to, 24, "%lluh", s / 3600);
	else if (s >= 60)
		snprintf(to, 24, "%llum", s / 60);
	else
		snprintf(to, 24, "%llus", s);
	return to;
}

static void add_time(struct json_object *to, const char *key,
		     const struct bpfrelay_log_info *info, unsigned long long ts)
{
	char when[WHEN_SIZE];

	if (ts)
		format_when(when, sizeof(when), WHEN_LOCAL, info, ts);
	json_add(to, key, ts ? json_object_new_string(when) : NULL);
}

/* ---- types ---------------------------------------------------------------------- */

static const char *kind_name(const struct bpf_relay_field *f)
{
	static const char *const names[] = {
		[BPF_RELAY_UINT] = "uint", [BPF_RELAY_INT] = "int", [BPF_RELAY_CHAR] = "char",
		[BPF_RELAY_STRUCT] = "struct", [BPF_RELAY_BYTES] = "bytes",
		[BPF_RELAY_BOOL] = "bool", [BPF_RELAY_ENUM] = "enum",
		[BPF_RELAY_FLOAT] = "float", [BPF_RELAY_ARRAY] = "array",
	};

	return f->kind < sizeof(names) / sizeof(names[0]) && names[f->kind] ? names[f->kind] : "";
}

/* "uint32 port", "char[16] comm", "uint32 : 3 flags" */
static void format_field(const struct bpf_relay_field *f, char *to, size_t size)
{
	bool sized = f->kind == BPF_RELAY_UINT || f->kind == BPF_RELAY_INT ||
		     f->kind == BPF_RELAY_ENUM || f->kind == BPF_RELAY_FLOAT;
	int len;

	len = snprintf(to, size, "%s", kind_name(f));
	if (sized)
		len += snprintf(to + len, size - len, "%u", f->size * 8);
	if (f->bits)
		len += snprintf(to + len, size - len, " : %u", f->bits);
	if (!f->count)
		len += snprintf(to + len, size - len, "[]");
	else if (f->count != 1 || f->kind == BPF_RELAY_ARRAY)
		len += snprintf(to + len, size - len, "[%u]", f->count);
	snprintf(to + len, size - len, "%s%s", *f->name ? " " : "", f->name);
}

static struct json_object *describe_types(const struct bpfrelay_log *log)
{
	struct json_object *types = json_object_new_array(), *object, *fields;
	const struct bpfrelay_type *type;
	const struct bpf_relay_field *f;
	char text[128];
	__u32 id;

	for (id = 0; id < BPF_RELAY_TYPES_MAX; id++) {
		type = bpfrelay_log_type(log, id);
		if (!type)
			continue;
		object = json_object_new_object();
		json_add_number(object, "id", id);
		json_add_string(object, "name", type->name);
		json_add_number(object, "size", type->size);
		json_add_bool(object, "variable", type->flags & BPF_RELAY_TYPE_VAR);
		fields = json_object_new_array();
		for (f = type->fields; f < type->fields + type->n_fields; f++) {
			if (f->depth || f->kind == BPF_RELAY_PAD)
				continue;
			format_field(f, text, sizeof(text));
			json_object_array_add(fields, json_object_new_string(text));
		}
		json_add(object, "fields", fields);
		json_object_array_add(types, object);
	}
	return types;
}

/* ---- what both say --------------------------------------------------------------- */

/* What both commands say of a live log, in JSON. */
static struct json_object *describe(const struct bpfrelay_log *log,
				    const struct bpfrelay_stats *stats,
				    const struct holders *holders)
{
	const struct bpfrelay_log_info *info = bpfrelay_log_info(log);
	struct json_object *object = json_object_new_object();
	struct bpfrelay_cpu_stats sum = sum_of(stats);

	json_add_string(object, "name", info->name);
	json_add_number(object, "map_id", info->map_id);
	json_add_string(object, "dir", info->dir);
	json_add_string(object, "mode", mode_name(stats));
	json_add_string(object, "clock", info->clock == BPF_RELAY_CLOCK_MONO ? "mono" : "boot");
	add_time(object, "opened", info, opened_ts(info));
	json_add_number(object, "subbuf_size", stats->subbuf_size);
	json_add_number(object, "n_subbufs", stats->n_subbufs);
	json_add_number(object, "memory", stats->memory);
	json_add_number(object, "records", sum.entries);
	json_add_number(object, "overwritten", sum.overrun);
	json_add_number(object, "dropped", sum.dropped);
	add_time(object, "newest", info, sum.newest_ts);
	json_add(object, "types", describe_types(log));
	json_add(object, "holders", describe_holders(holders, info->map_id));
	return object;
}

/* ---- list ----------------------------------------------------------------------- */

struct list {
	__u32 *ids;			/* of the logs' maps */
	int n_ids;
	struct holders holders;
	struct json_object *array;	/* NULL: a table */
	int n;
};

static int take_id(const char *name, const char *dir, void *ctx)
{
	struct list *list = ctx;
	__u32 *more;

	(void)dir;
	more = realloc(list->ids, (list->n_ids + 1) * sizeof(*more));
	if (!more)
		return error("out of memory");
	list->ids = more;
	list->ids[list->n_ids++] = strtoul(strrchr(name, '.') + 1, NULL, 10);
	return 0;
}

/* "tcp_event4,tcp_event6", without the bytes that every log may have. */
static const char *format_types(const struct bpfrelay_log *log, char *to, size_t size)
{
	const struct bpfrelay_type *type;
	size_t len = 0;
	__u32 id;

	*to = '\0';
	for (id = 1; id < BPF_RELAY_TYPES_MAX; id++) {
		type = bpfrelay_log_type(log, id);
		if (type && len < size)
			len += snprintf(to + len, size - len, "%s%s", len ? "," : "", type->name);
	}
	return *to ? to : "raw";
}

static void print_row(const struct bpfrelay_log *log, const struct bpfrelay_stats *stats,
		      const struct list *list)
{
	const struct bpfrelay_log_info *info = bpfrelay_log_info(log);
	struct bpfrelay_cpu_stats sum = sum_of(stats);
	char size[24], age[24], types[256], held[64];
	unsigned long long opened;

	if (!list->n)
		printf("%-24s %-9s %5s %10s %12s %14s %10s  %-20s %s\n", "LOG", "MODE", "AGE",
		       "MEMORY", "RECORDS", "OVERWRITTEN", "DROPPED", "TYPES", "HELD BY");
	opened = opened_ts(info);
	printf("%-24s %-9s %5s %10s %12llu %14llu %10llu  %-20s %s\n", info->name, mode_name(stats),
	       opened ? format_age(opened, bpfrelay_log_now(log), age) : "?",
	       format_size(stats->memory, size), sum.entries, sum.overrun, sum.dropped,
	       format_types(log, types, sizeof(types)),
	       format_holders(&list->holders, info->map_id, held, sizeof(held)));
}

static int list_one(const char *name, const char *dir, void *ctx)
{
	struct bpfrelay_stats *stats;
	struct list *list = ctx;
	struct bpfrelay_log *log;
	int err;

	err = bpfrelay_log_open(dir, NULL, &log);
	if (!err)
		err = bpfrelay_log_stats(log, &stats);
	if (err) {
		bpfrelay_log_close(log);
		/* It went while we looked. */
		if (err == -ENODEV || err == -ENOENT)
			return 0;
		return reading_error(name, err);
	}
	if (list->array)
		json_object_array_add(list->array, describe(log, stats, &list->holders));
	else
		print_row(log, stats, list);
	list->n++;
	free(stats);
	bpfrelay_log_close(log);
	return 0;
}

int cmd_list(int argc, char **argv)
{
	struct args args = {
		.command = "list",
		.help = "Lists the logs of this machine.\n",
		.json_text = "an array with an object for each log",
	};
	struct list list = {};
	int status, err;

	status = parse_args(argc, argv, &args);
	if (status >= 0)
		return status;
	if (args.json)
		list.array = json_object_new_array();
	err = bpfrelay_each_log(NULL, take_id, &list);
	if (!err && list.n_ids)
		holders_find(&list.holders, list.ids, list.n_ids);
	err = err ?: bpfrelay_each_log(NULL, list_one, &list);
	if (err == -ENOENT)
		error("no %s: the module is not loaded, or debugfs is not mounted (see bpfrelay doctor)",
		      BPFRELAY_ROOT);
	else if (err < -1)
		reading_error(BPFRELAY_ROOT, err);
	if (!err && list.array)
		json_print(list.array);
	else
		json_object_put(list.array);
	holders_free(&list.holders);
	free(list.ids);
	return err ? CLI_ERROR : CLI_OK;
}

/* ---- show ----------------------------------------------------------------------- */

static void print_types(const struct bpfrelay_log *log)
{
	const struct bpfrelay_type *type;
	const struct bpf_relay_field *f;
	char text[128];
	__u32 id;

	for (id = 0; id < BPF_RELAY_TYPES_MAX; id++) {
		type = bpfrelay_log_type(log, id);
		if (!type)
			continue;
		printf("\ntype %u: %s, %u bytes%s\n", id, type->name, type->size,
		       type->flags & BPF_RELAY_TYPE_VAR ? " or more" : "");
		for (f = type->fields; f < type->fields + type->n_fields; f++) {
			if (f->kind == BPF_RELAY_PAD || f->kind == BPF_RELAY_ENUMERATOR)
				continue;
			format_field(f, text, sizeof(text));
			printf("%*s%s\n", 4 * (f->depth + 1), "", text);
		}
	}
}

static void print_log(const struct bpfrelay_log *log, const struct bpfrelay_stats *stats,
		      const struct holders *holders)
{
	const struct bpfrelay_log_info *info = bpfrelay_log_info(log);
	char when[WHEN_SIZE], size[24], all[24];
	struct bpfrelay_cpu_stats sum;
	unsigned long long opened;

	printf("log:         %s\n", info->name);
	printf("directory:   %s\n", info->dir);
	printf("clock:       %s\n", info->clock == BPF_RELAY_CLOCK_MONO ? "mono" : "boot");
	if (!stats) {
		printf("copy:        of a log of %s\n", info->host);
		return;
	}
	sum = sum_of(stats);
	opened = opened_ts(info);
	if (opened) {
		format_when(when, sizeof(when), WHEN_LOCAL, info, opened);
		printf("opened:      %s, %s ago\n", when, format_age(opened, sum.now_ts, size));
	}
	printf("map:         %u\n", info->map_id);
	print_holders("held by:     ", holders, info->map_id);
	printf("mode:        %s\n", mode_name(stats));
	printf("memory:      %u x %s for each CPU, %s in all\n", stats->n_subbufs,
	       format_size(stats->subbuf_size, size), format_size(stats->memory, all));
	printf("records:     %llu\n", sum.entries);
	printf("overwritten: %llu\n", sum.overrun);
	printf("dropped:     %llu\n", sum.dropped);
	if (sum.newest_ts) {
		format_when(when, sizeof(when), WHEN_LOCAL, info, sum.newest_ts);
		printf("newest:      %s, %s ago\n", when,
		       format_age(sum.newest_ts, sum.now_ts, size));
	}
}

static struct json_object *describe_copy(const struct bpfrelay_log *log)
{
	const struct bpfrelay_log_info *info = bpfrelay_log_info(log);
	struct json_object *object = json_object_new_object();

	json_add_string(object, "name", info->name);
	json_add_string(object, "dir", info->dir);
	json_add_string(object, "host", info->host);
	json_add(object, "types", describe_types(log));
	return object;
}

int cmd_show(int argc, char **argv)
{
	struct args args = {
		.command = "show",
		.help = "Shows what LOG is: its sizes, its types, how much is in it, and what holds it:\n"
			"programs, processes, maps and pins.\n",
		.json_text = "as an object",
	};
	const struct bpfrelay_log_info *info;
	struct bpfrelay_stats *stats = NULL;
	struct holders holders = {};
	struct bpfrelay_log *log;
	int status, err;

	status = parse_args(argc, argv, &args);
	if (status >= 0)
		return status;
	if (open_for_reading(argv[optind], &log))
		return CLI_ERROR;
	info = bpfrelay_log_info(log);
	err = bpfrelay_log_stats(log, &stats);
	if (err && (info->live || err != -ENOENT)) {
		reading_error(argv[optind], err);
		bpfrelay_log_close(log);
		return CLI_ERROR;
	}
	if (stats)
		holders_find(&holders, &info->map_id, 1);
	if (args.json) {
		json_print(stats ? describe(log, stats, &holders) : describe_copy(log));
	} else {
		print_log(log, stats, &holders);
		print_types(log);
	}
	holders_free(&holders);
	free(stats);
	bpfrelay_log_close(log);
	return CLI_OK;
}
