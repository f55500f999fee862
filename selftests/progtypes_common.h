/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One program type: load its program alone, attach it, make what it waits for
 * happen, detach it, and compare the log with what the program counted itself.
 *
 * Included once by each test program, behind kselftest_harness.h.
 */
#ifndef _PROGTYPES_COMMON_H
#define _PROGTYPES_COMMON_H

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/lsm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "bpf/progtypes.h"
#include "relay_test.h"

#define RUNS		3	/* how often a trigger pulls */
#define AT_LEAST_ONE	0	/* where the kernel decides how often the program runs */

struct run {
	const struct progtype *type;
	struct relay_log log;
	struct bpf_program *prog;
	int prog_fd;
	struct bpf_link *link;
	volatile __u64 *started;
	volatile __u64 *finished;
	volatile __u64 *failed;
	int fd;			/* for attach and trigger */
};

struct progtype {
	const char *type;	/* as the program writes it */
	const char *prog;
	const char *config;	/* the kernel option that it needs, if kernels may lack it */
	const char *map;	/* the struct_ops map that goes with it */
	const char *also;	/* another program to load */
	/* Before loading; may be NULL. */
	int (*prepare)(struct run *run);
	/* 0 or -errno; NULL: as its section says. */
	int (*attach)(struct run *run);
	int (*trigger)(struct run *run);	/* NULL: needs a device that we have not */
	int (*act)(struct run *run);	/* for the trigger, in the right place */
	int runs;		/* that come of it, or AT_LEAST_ONE */
	/* NULL: the link goes, or nothing is attached. */
	void (*detach)(struct run *run);
};

static inline const char *build_dir(void)
{
	return getenv("BUILD") ?: "../build";
}

static inline struct bpf_object *open_object(const char *object)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/selftests/%s.bpf.o", build_dir(), object);
	return bpf_object__open_file(path, NULL);
}

/* 'y', 'm', 'n', or '?' if this kernel's options cannot be read. */
static inline char kernel_config(const char *option)
{
	size_t n = strlen(option);
	char line[512], found = 'n';
	struct utsname uts;
	FILE *f;

	uname(&uts);
	snprintf(line, sizeof(line), "/boot/config-%s", uts.release);
	f = fopen(line, "r");
	if (!f)
		return '?';
	while (fgets(line, sizeof(line), f))
		if (!strncmp(line, option, n) && line[n] == '=')
			found = line[n + 1];
	fclose(f);
	return found;
}

/* BPF is among the active security modules: the machine's own choice, lsm= at boot. */
static inline bool lsm_active(void)
{
	__u64 ids[64];
	__u32 size = sizeof(ids);
	int i, n;

	n = syscall(__NR_lsm_list_modules, ids, &size, 0);
	for (i = 0; i < n; i++)
		if (ids[i] == LSM_ID_BPF)
			return true;
	return false;
}

static inline struct bpf_program *find_prog(struct bpf_object *obj, const char *name)
{
	struct bpf_program *prog = bpf_object__find_program_by_name(obj, name);

	if (!prog) {
		fprintf(stderr, "# no program %s\n", name);
		exit(1);
	}
	return prog;
}

/* Of all programs of the object only those named (and what opens the log). */
static inline void only_load(struct bpf_object *obj, const char *prog, const char *also,
			     const char *map)
{
	struct bpf_program *p;
	struct bpf_map *m;

	bpf_object__for_each_map(m, obj)
		if (bpf_map__type(m) == BPF_MAP_TYPE_STRUCT_OPS &&
		    (!map || strcmp(bpf_map__name(m), map)))
			bpf_map__set_autocreate(m, false);
	bpf_object__for_each_program(p, obj) {
		const char *name = bpf_program__name(p);
		bool ops = map && bpf_program__type(p) == BPF_PROG_TYPE_STRUCT_OPS;

		bpf_program__set_autoload(p, ops || !strcmp(name, prog) ||
					  !strcmp(name, "progs_open") ||
					  (also && !strcmp(name, also)));
	}
}

/* Everything up to the open log; 0 or -errno of the load. */
static inline int run_load(struct run *run, const char *object)
{
	struct bpf_map_info info = {};
	__u32 len = sizeof(info);
	int err;

	run->log = (struct relay_log) { .name = "progs" };
	run->log.obj = open_object(object);
	if (!run->log.obj)
		return -errno;
	only_load(run->log.obj, run->type->prog, run->type->also, run->type->map);
	run->prog = find_prog(run->log.obj, run->type->prog);
	if (run->type->prepare) {
		err = run->type->prepare(run);
		if (err)
			return err;
	}
	err = bpf_object__load(run->log.obj);
	if (err)
		return err;
	run->prog_fd = bpf_program__fd(run->prog);
	run->log.map = bpf_object__find_map_by_name(run->log.obj, "progs");
	err = bpf_map_get_info_by_fd(bpf_map__fd(run->log.map), &info, &len);
	if (err)
		return err;
	run->log.id = info.id;
	snprintf(run->log.dir, sizeof(run->log.dir), DEBUGFS "/%s.%u", info.name, info.id);
	*(int *)log_var(&run->log, ".bss", "pid") = getpid();
	run->started = log_var(&run->log, ".bss", "started");
	run->finished = log_var(&run->log, ".bss", "finished");
	run->failed = log_var(&run->log, ".bss", "failed");
	return 0;
}

static inline int run_attach(struct run *run)
{
	if (run->type->attach)
		return run->type->attach(run);
	run->link = bpf_program__attach(run->prog);
	return run->link ? 0 : -errno;
}

static inline void run_detach(struct run *run)
{
	if (run->type->detach)
		run->type->detach(run);
	else
		bpf_link__destroy(run->link);
	run->link = NULL;
}

/* Softirqs and workers are not done when the trigger returns: false after 20 s. */
static inline bool wait_runs(const struct run *run, __u64 n)
{
	int i;

	for (i = 0; i < 2000; i++) {
		if (*run->finished >= n && *run->finished == *run->started)
			return true;
		usleep(10000);
	}
	return false;
}

/* What is in the log, by content. */
struct found {
	const char *type;
	__u64 runs;		/* that the program counted */
	__u64 n[3];		/* records of the type, by enum progtypes_how */
	__u64 wrong;		/* records that no such run can have written */
	unsigned char *seen;	/* bit `how` per run */
};

static inline bool find_records(const struct record *r, void *ctx)
{
	const struct progtypes_rec *rec = r->payload;
	struct found *found = ctx;

	if (r->header->id != 1 || r->header->len != sizeof(*rec) ||
	    strncmp(rec->type, found->type, sizeof(rec->type)) ||
	    rec->pid != (__u32)getpid() || rec->seq >= found->runs ||
	    (rec->how != PROGTYPES_OUTPUT && rec->how != PROGTYPES_RESERVE) ||
	    found->seen[rec->seq] & 1 << rec->how) {
		found->wrong++;
		return true;
	}
	found->seen[rec->seq] |= 1 << rec->how;
	found->n[rec->how]++;
	return true;
}

static inline struct found find_all(const struct run *run, const char *type)
{
	struct found found = { .type = type, .runs = *run->started };
	int cpu;

	found.seen = calloc(1, found.runs + 1);
	for (cpu = 0; cpu < n_cpus(); cpu++)
		if (log_walk(&run->log, cpu, true, find_records, &found) < 0)
			found.wrong++;
	free(found.seen);
	return found;
}

/*
 * The whole of a type's test. Exactly one record of each kind must be there for each
 * run that the program counted, with the type's name in it, and no other record.
 */
static inline void check_type(struct __test_metadata *_metadata, const char *object,
			      const struct progtype *type)
{
	struct run run = { .type = type, .fd = -1 };
	struct found found;
	char config;
	int err;

	config = type->config ? kernel_config(type->config) : 'y';
	if (config == 'n')
		SKIP(return, "%s: this kernel is built without %s", type->type, type->config);
	if (!strncmp(type->type, "lsm", 3) && !lsm_active())
		SKIP(return, "%s: bpf is no active security module: boot with lsm=...,bpf",
		     type->type);

	err = run_load(&run, object);
	ASSERT_EQ(err, 0) TH_LOG("%s: cannot be loaded: %s", type->type, strerror(-err));
	ASSERT_EQ(log_open(&run.log, NULL), 0);
	if (!type->trigger)
		SKIP(return, "%s: loads, but there is no device to attach it to", type->type);
	err = run_attach(&run);
	ASSERT_EQ(err, 0) TH_LOG("%s: cannot be attached: %s", type->type, strerror(-err));

	ASSERT_EQ(type->trigger(&run), 0);
	EXPECT_TRUE(wait_runs(&run, type->runs ?: 1));
	run_detach(&run);
	ASSERT_TRUE(wait_runs(&run, 1));

	if (type->runs)
		EXPECT_EQ(*run.started, type->runs);
	EXPECT_EQ(*run.failed, 0);
	found = find_all(&run, type->type);
	EXPECT_EQ(found.n[PROGTYPES_OUTPUT], *run.started);
	EXPECT_EQ(found.n[PROGTYPES_RESERVE], *run.started);
	EXPECT_EQ(found.wrong, 0);
	EXPECT_EQ(log_stat(&run.log, -1, "stored events"), 2 * *run.started);
	EXPECT_EQ(log_dropped(&run.log, -1), 0);
	EXPECT_TRUE(log_identities(&run.log));
	log_unload(&run.log);
	EXPECT_TRUE(log_gone(&run.log));
}

FIXTURE(written_from) {
};

FIXTURE_VARIANT(written_from) {
	struct progtype type;
};

#define PROGTYPE(id, name, n, ...)						\
	FIXTURE_VARIANT_ADD(written_from, id) {					\
		{ .type = name, .prog = "on_" #id, .runs = n, __VA_ARGS__ }	\
	}

/* The verifier refuses the program, and says `why`. */
static inline void check_refused(struct __test_metadata *_metadata, const char *object,
				 const char *prog, const char *why)
{
	struct bpf_object *obj = open_object(object);
	static char text[1 << 16];
	struct bpf_program *p;

	ASSERT_NE(obj, NULL);
	libbpf_set_print(NULL);
	only_load(obj, prog, NULL, NULL);
	bpf_program__set_autoload(find_prog(obj, "progs_open"), false);
	p = find_prog(obj, prog);
	bpf_program__set_log_buf(p, text, sizeof(text));
	bpf_program__set_log_level(p, 1);
	EXPECT_LT(bpf_object__load(obj), 0);
	EXPECT_NE(strstr(text, why), NULL)
		TH_LOG("%s: refused, but for: %s", prog, text);
	bpf_object__close(obj);
}

#endif /* _PROGTYPES_COMMON_H */
