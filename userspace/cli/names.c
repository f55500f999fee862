// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names of numbers in records. The file in a snapshot has lines, sorted:
 *
 *	interface 3 0 eth0
 *	kernel 0 ffffffff81012340 do_syscall_64
 *	user 1234 7f0123456789 libc.so.6+0x29ca8
 */
#define _GNU_SOURCE	/* twalk_r() */
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "export.h"
#include "names.h"
#include "reading.h"

enum kind { KIND_INTERFACE, KIND_KERNEL, KIND_USER, N_KINDS };

static const char *const kind_names[N_KINDS] = { "interface", "kernel", "user" };

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

/* No such file is no error; lines that are none of names are passed over. */
static int load_kept(struct names *n, const char *dir)
{
	char path[4096], *line = NULL;
	int err = 0, bad = 0;
	size_t size = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/" NAMES_FILE, dir);
	f = fopen(path, "re");
	if (!f)
		return errno == ENOENT ? 0 : error("%s: %s", path, strerror(errno));
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

int names_open(const struct bpfrelay_log_info *info, struct names **out)
{
	struct names *n = calloc(1, sizeof(*n));

	if (!n)
		return error("out of memory");
	n->same_boot = is_this_boot(info);
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

bool names_kernel(struct names *n, __u64 address, char name[NAMES_MAX])
{
	struct name key = { .kind = KIND_KERNEL, .address = address };

	if (find_kept(n, &key, name) || find_kernel(n, address, name))
		return true;
	snprintf(name, NAMES_MAX, "0x%llx", address);
	n->unknown = true;
	return false;
}

bool names_user(struct names *n, __u64 tgid, __u64 address, char name[NAMES_MAX])
{
	struct name key = { .kind = KIND_USER, .number = tgid, .address = address };

	if (find_kept(n, &key, name) || (n->same_boot && process_find(tgid, address, name)))
		return true;
	snprintf(name, NAMES_MAX, "0x%llx", address);
	return false;
}

bool names_interface(struct names *n, __u64 ifindex, char name[NAMES_MAX])
{
	struct name key = { .kind = KIND_INTERFACE, .number = ifindex };

	if (find_kept(n, &key, name) || (n->same_boot && if_indextoname(ifindex, name)))
		return true;
	snprintf(name, NAMES_MAX, "if%llu", ifindex);
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

/* ---- Keeping ------------------------------------------------------------------------ */

struct save {
	struct names *names;
	void *found;
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
		found = names_kernel(s->names, address, name);
	else
		found = names_user(s->names, number, address, name);
	s->any |= found;
	return add_name(&s->found, &key, found ? name : "");
}

static int save_stack(struct save *s, enum kind kind, __u64 number,
		      const struct bpfrelay_value *stack)
{
	__u64 address;
	int err = 0;
	__u32 i;

	for (i = 0; !err && stack_frame(stack, i, &address); i++)
		err = save_one(s, kind, number, address);
	return err;
}

static int save_record(struct save *s, const struct bpfrelay_record *record)
{
	struct bpfrelay_value value;
	char path[FIELD_PATH_MAX];
	__u64 n, pid;
	int err = 0;

	if (find_hinted(record->type, BPF_RELAY_HINT_IFINDEX, path) &&
	    record_number(record, path, &n))
		err = save_one(s, KIND_INTERFACE, n, 0);
	if (!err && find_hinted(record->type, BPF_RELAY_HINT_KSYM, path) &&
	    record_number(record, path, &n))
		err = save_one(s, KIND_KERNEL, 0, n);
	if (err || !find_hinted(record->type, BPF_RELAY_HINT_STACK, path) ||
	    bpfrelay_record_find(record, path, &value))
		return err;
	err = save_stack(s, KIND_KERNEL, 0, &value);
	if (!err && record_thread(record, &n, &pid) && record_user_stack(record, &value))
		err = save_stack(s, KIND_USER, n, &value);
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

int names_save(const struct bpfrelay_log *log, const char *dir)
{
	struct save s = {};
	char path[4096];
	int err;

	if (!log_has_hint(log, BPF_RELAY_HINT_STACK) && !log_has_hint(log, BPF_RELAY_HINT_KSYM) &&
	    !log_has_hint(log, BPF_RELAY_HINT_IFINDEX))
		return 0;
	/* A name without a slash could be that of a log. */
	snprintf(path, sizeof(path), "%s%s/", *dir == '/' ? "" : "./", dir);
	if (names_open(bpfrelay_log_info(log), &s.names))
		return -1;
	err = save_records(&s, path);
	if (!err && s.any)
		err = write_names(&s, path);
	free_tree(&s.found);
	names_close(s.names);
	return err ? error("%s" NAMES_FILE ": %s", path, error_text(err)) : 0;
}
