// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names of numbers in records. The file in a snapshot has lines, sorted:
 *
 *	interface 3 0 eth0
 *	kernel 0 ffffffff81012340 do_syscall_64+0x40/0x1b0
 *	user 1234 7f0123456789 libc.so.6+0x29ca8
 *	process 1234 0 98765432100
 *
 * A process's is when it began, ns of the log's clock: its names are for records from then on.
 */
#define _GNU_SOURCE	/* twalk_r() */
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"
#include "export.h"
#include "names.h"
#include "reading.h"

enum kind { KIND_INTERFACE, KIND_KERNEL, KIND_USER, KIND_PROCESS, N_KINDS };

static const char *const kind_names[N_KINDS] = { "interface", "kernel", "user", "process" };

/* One that was kept, or is to be. */
struct name {
	enum kind kind;
	__u64 number;		/* of the interface; of the process; 0 */
	__u64 address;
	char name[];
};

struct names {
	void *kept;		/* tsearch()'s */
	bool same_boot;		/* it can still be asked for */
	__u64 ahead;		/* ns that CLOCK_BOOTTIME is ahead of the log's clock */
	bool tried;		/* to load kallsyms ... */
	int err;		/* ... and why there are none */
	struct kallsyms *kallsyms;
	bool unknown;		/* a kernel address was not found */
};

static int compare_names(const void *a, const void *b)
{
	const struct name *x = a, *y = b;

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	return x->address < y->address ? -1 : x->address > y->address;
}

/* ---- Opening ------------------------------------------------------------------------ */

static int add_name(void **tree, const struct name *key, const char *name)
{
	struct name *new = malloc(sizeof(*new) + strlen(name) + 1), **found;

	if (!new)
		return -ENOMEM;
	*new = *key;
	strcpy(new->name, name);
	found = tsearch(new, tree, compare_names);
	if (!found || *found != new)
		free(new);
	return found ? 0 : -ENOMEM;
}

static int add_line(struct names *n, char *line)
{
	char kind[16];
	struct name key = {};
	int at = 0, i;

	line[strcspn(line, "\n")] = '\0';
	if (sscanf(line, "%15s %llu %llx %n", kind, &key.number, &key.address, &at) != 3 || !at)
		return -EINVAL;
	for (i = 0; i < N_KINDS && strcmp(kind, kind_names[i]); i++)
		;
	key.kind = i;
	/* Kinds may come that are not known yet. */
	return i < N_KINDS ? add_name(&n->kept, &key, line + at) : 0;
}

/* Without the file there are numbers; lines that are none of names are passed over. */
static int load_kept(struct names *n, const char *dir)
{
	char path[4096], *line = NULL;
	int err = 0, bad = 0;
	size_t size = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/" NAMES_FILE, dir);
	f = fopen(path, "re");
	if (!f) {
		if (errno != ENOENT)
			note("%s: %s: going on without these names", path, strerror(errno));
		return 0;
	}
	while (err != -ENOMEM && getline(&line, &size, f) > 0) {
		err = add_line(n, line);
		bad += err == -EINVAL;
	}
	free(line);
	fclose(f);
	if (bad)
		note("%s: %d line%s passed over: no names", path, bad, bad == 1 ? "" : "s");
	return err == -ENOMEM ? error("out of memory") : 0;
}

static bool is_this_boot(const struct bpfrelay_log_info *info)
{
	char boot[37] = "";
	FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");

	if (f) {
		if (!fgets(boot, sizeof(boot), f))
			boot[0] = '\0';
		fclose(f);
	}
	return boot[0] && !strcmp(boot, info->boot);
}

static void free_tree(void **tree)
{
	struct name *e;

	while (*tree) {
		e = *(struct name **)*tree;
		tdelete(e, tree, compare_names);
		free(e);
	}
}

void names_close(struct names *n)
{
	if (!n)
		return;
	free_tree(&n->kept);
	kallsyms_free(n->kallsyms);
	free(n);
}

/* It has slept. Before that it was less, so that no time is taken for a later one. */
static __u64 boot_ahead(const struct bpfrelay_log_info *info)
{
	struct timespec boot, mono;

	if (info->clock != BPF_RELAY_CLOCK_MONO)
		return 0;
	clock_gettime(CLOCK_MONOTONIC, &mono);
	clock_gettime(CLOCK_BOOTTIME, &boot);
	return (boot.tv_sec - mono.tv_sec) * 1000000000LL + boot.tv_nsec - mono.tv_nsec;
}

int names_open(const struct bpfrelay_log_info *info, struct names **out)
{
	struct names *n = calloc(1, sizeof(*n));

	if (!n)
		return error("out of memory");
	n->same_boot = is_this_boot(info);
	n->ahead = boot_ahead(info);
	if (!info->live && load_kept(n, info->dir)) {
		names_close(n);
		return -1;
	}
	*out = n;
	return 0;
}

/* ---- Finding ------------------------------------------------------------------------ */

static bool find_kept(const struct names *n, const struct name *key, char name[NAMES_MAX])
{
	struct name **found = tfind(key, &n->kept, compare_names);

	if (found)
		snprintf(name, NAMES_MAX, "%s", (*found)->name);
	return found;
}

static bool find_kernel(struct names *n, __u64 address, char name[NAMES_MAX])
{
	if (!n->same_boot)
		return false;
	if (!n->tried) {
		n->tried = true;
		n->kallsyms = kallsyms_load();
		n->err = n->kallsyms ? 0 : errno;
	}
	return n->kallsyms && kallsyms_find(n->kallsyms, address, name);
}

/* Of all of them it is known with the offset. */
static bool find_symbol(struct names *n, __u64 address, char name[NAMES_MAX])
{
	struct name key = { .kind = KIND_KERNEL, .address = address };

	if (find_kept(n, &key, name) || find_kernel(n, address, name))
		return true;
	snprintf(name, NAMES_MAX, "0x%llx", address);
	n->unknown = true;
	return false;
}

bool names_kernel(struct names *n, __u64 address, char name[NAMES_MAX])
{
	bool found = find_symbol(n, address, name);
	char *offset = found ? strstr(name, "+0x") : NULL, *behind;

	if (offset) {
		behind = offset + strcspn(offset, " ");
		memmove(offset, behind, strlen(behind) + 1);
	}
	return found;
}

bool names_symbol(struct names *n, __u64 address, char name[NAMES_MAX])
{
	bool found = find_symbol(n, address, name);
	char *space = found ? strchr(name, ' ') : NULL;

	/* Before the name of a module. */
	if (space)
		memmove(space, space + 1, strlen(space));
	return found;
}

/* From when on, of the log's clock, a process is the one whose names are kept; 0: from ever. */
static __u64 kept_start(const struct names *n, __u64 tgid)
{
	struct name key = { .kind = KIND_PROCESS, .number = tgid };
	char text[NAMES_MAX];

	return find_kept(n, &key, text) ? strtoull(text, NULL, 10) : 0;
}

/* The same of one that there is now, and when it began; false: there is none. */
static bool live_start(const struct names *n, __u64 tgid, __u64 *from, __u64 *start)
{
	if (!n->same_boot || !process_start(tgid, start))
		return false;
	*from = *start > n->ahead ? *start - n->ahead : 0;
	return true;
}

bool names_user(struct names *n, __u64 ts, __u64 tgid, __u64 address, char name[NAMES_MAX])
{
	struct name key = { .kind = KIND_USER, .number = tgid, .address = address };
	__u64 from, start;

	if (ts >= kept_start(n, tgid) && find_kept(n, &key, name))
		return true;
	if (live_start(n, tgid, &from, &start) && ts >= from &&
	    process_find(tgid, start, address, name))
		return true;
	snprintf(name, NAMES_MAX, "0x%llx", address);
	return false;
}

bool names_interface(struct names *n, __u64 ifindex, char name[NAMES_MAX])
{
	struct name key = { .kind = KIND_INTERFACE, .number = ifindex };

	/* The kernel counts them in an int, and if_indextoname() takes one. */
	if (find_kept(n, &key, name) ||
	    (n->same_boot && ifindex <= INT32_MAX && if_indextoname(ifindex, name)))
		return true;
	snprintf(name, NAMES_MAX, "if%lld", ifindex);
	return false;
}

void names_explain(const struct names *n, const char *what)
{
	if (!n->unknown)
		return;
	if (n->err == EPERM)
		note("%s: this kernel hides its addresses: run as root, or see kernel.kptr_restrict",
		     what);
	else
		note("%s: some addresses have no names%s", what, n->same_boot ? "" :
		     ": it is of another boot, and `bpfrelay snapshot` kept none");
}

void names_complain(const struct names *n, const char *what)
{
	if (n->err && n->err != EPERM)
		note("%s: kernel addresses have no names: %s", what, strerror(n->err));
}

/* ---- Keeping ------------------------------------------------------------------------ */

struct save {
	struct names *names;
	void *found;
	__u64 ts;		/* of the record */
	struct text_buffer text;
	int err;		/* of save_symbol() */
	bool any;		/* one of them has a name */
	FILE *to;
};

/* Looked for once; what has no name is not kept. */
static int save_one(struct save *s, enum kind kind, __u64 number, __u64 address)
{
	struct name key = { .kind = kind, .number = number, .address = address };
	char name[NAMES_MAX];
	bool found;

	if (tfind(&key, &s->found, compare_names))
		return 0;
	if (kind == KIND_INTERFACE)
		found = names_interface(s->names, number, name);
	else if (kind == KIND_KERNEL)
		found = find_symbol(s->names, address, name);
	else
		found = names_user(s->names, s->ts, number, address, name);
	s->any |= found;
	return add_name(&s->found, &key, found ? name : "");
}

/* The text asks for each name that it has in it, wherever that is in the record. */
static bool save_symbol(void *ctx, __u64 address, char *to, size_t size)
{
	struct save *s = ctx;

	(void)to;
	(void)size;
	s->err = s->err ?: save_one(s, KIND_KERNEL, 0, address);
	return false;
}

static int save_symbols(struct save *s, const struct bpfrelay_record *record)
{
	LIBBPF_OPTS(bpfrelay_text_opts, opts, .symbol = save_symbol, .symbol_ctx = s);

	return record_text(&s->text, record, &opts) ? s->err : -ENOMEM;
}

static int save_stack(struct save *s, __u64 tgid, const struct bpfrelay_value *stack)
{
	__u64 address;
	int err = 0;
	__u32 i;

	for (i = 0; !err && stack_frame(stack, i, &address); i++)
		err = save_one(s, KIND_USER, tgid, address);
	return err;
}

/* Of the process that there was then, if it is still there, or its names were kept. */
static int save_process(struct save *s, __u64 tgid, const struct bpfrelay_value *stack)
{
	struct name key = { .kind = KIND_PROCESS, .number = tgid };
	__u64 from = kept_start(s->names, tgid), start;
	char text[24];
	int err = 0;

	if (!from)
		live_start(s->names, tgid, &from, &start);
	if (s->ts < from)
		return 0;
	snprintf(text, sizeof(text), "%llu", from);
	if (from && !tfind(&key, &s->found, compare_names))
		err = add_name(&s->found, &key, text);
	return err ?: save_stack(s, tgid, stack);
}

static int save_record(struct save *s, const struct bpfrelay_record *record)
{
	struct bpfrelay_value value;
	char path[FIELD_PATH_MAX];
	__u64 n, pid;
	int err = 0;

	s->ts = record->ts;
	if (find_hinted(record->type, BPF_RELAY_HINT_IFINDEX, path) &&
	    record_number(record, path, &n))
		err = save_one(s, KIND_INTERFACE, n, 0);
	if (!err && (type_has_hint(record->type, BPF_RELAY_HINT_KSYM) ||
		     type_has_hint(record->type, BPF_RELAY_HINT_STACK)))
		err = save_symbols(s, record);
	if (!err && find_hinted(record->type, BPF_RELAY_HINT_STACK, path) &&
	    record_thread(record, &n, &pid) && record_user_stack(record, &value))
		err = save_process(s, n, &value);
	return err;
}

static int save_records(struct save *s, const char *dir)
{
	struct bpfrelay_reader *reader = NULL;
	const struct bpfrelay_item *item;
	struct bpfrelay_log *copy;
	int err;

	err = bpfrelay_log_open(dir, NULL, &copy);
	if (err)
		return err;
	err = bpfrelay_reader_open(copy, NULL, &reader);
	while (!err && (err = bpfrelay_reader_next(reader, &item)) > 0) {
		err = item->kind == BPFRELAY_RECORD ? save_record(s, &item->record) : 0;
	}
	bpfrelay_reader_close(reader);
	bpfrelay_log_close(copy);
	return err;
}

static void save_name(const void *node, VISIT visit, void *ctx)
{
	const struct name *e = *(const struct name *const *)node;
	const struct save *s = ctx;

	if ((visit == postorder || visit == leaf) && e->name[0])
		fprintf(s->to, "%s %llu %llx %s\n", kind_names[e->kind], e->number, e->address,
			e->name);
}

/* Also a copy's files are only for its owner. */
static int write_names(struct save *s, const char *dir)
{
	char path[4096];
	int fd, err = 0;

	if (snprintf(path, sizeof(path), "%s" NAMES_FILE, dir) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	s->to = fd < 0 ? NULL : fdopen(fd, "w");
	if (!s->to)
		return -errno;
	twalk_r(s->found, save_name, s);
	if (fflush(s->to) || fsync(fd))
		err = -errno;
	if (fclose(s->to) && !err)
		err = -errno;
	if (err)
		unlink(path);
	return err;
}

static bool has_numbers_with_names(const struct bpfrelay_log *log)
{
	const struct bpfrelay_type *type;
	__u32 id;

	for (id = 0; id < BPF_RELAY_TYPES_MAX; id++) {
		type = bpfrelay_log_type(log, id);
		if (type && (type_has_hint(type, BPF_RELAY_HINT_STACK) ||
			     type_has_hint(type, BPF_RELAY_HINT_KSYM) ||
			     type_has_hint(type, BPF_RELAY_HINT_IFINDEX)))
			return true;
	}
	return false;
}

int names_save(const struct bpfrelay_log *log, const char *dir)
{
	struct save s = {};
	char path[4096];
	int err;

	if (!has_numbers_with_names(log))
		return 0;
	/* A name without a slash could be that of a log. */
	snprintf(path, sizeof(path), "%s%s/", *dir == '/' ? "" : "./", dir);
	if (names_open(bpfrelay_log_info(log), &s.names))
		return -1;
	err = save_records(&s, path);
	if (!err && s.any)
		err = write_names(&s, path);
	names_complain(s.names, dir);
	free_tree(&s.found);
	free(s.text.text);
	names_close(s.names);
	return err ? error("%s" NAMES_FILE ": %s", path, error_text(err)) : 0;
}
