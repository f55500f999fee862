// SPDX-License-Identifier: GPL-2.0-only
/* Maps that are no relay maps, and programs and users that mistreat one that is. */
#define _GNU_SOURCE
#include "kselftest_harness.h"

#include <bpf/btf.h>
#include <linux/bpf.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <unistd.h>

#include "abuse.h"
#include "bpf/hostile.h"

#define CPU		1
#define ELEM_SIZE	(8 + sizeof(struct bpf_relay_counters))

/* For what needs no log, but time. */
FIXTURE(none) {
};

FIXTURE_SETUP(none)
{
}

FIXTURE_TEARDOWN(none)
{
}

/* ---- Wrong maps -------------------------------------------------------------- */

static void *object_var(struct bpf_object *obj, const char *section, const char *var)
{
	struct relay_log log = { .obj = obj };

	return log_var(&log, section, var);
}

static bool autocreate(const char *map, const char *wanted)
{
	return !strcmp(map, wanted) || strchr(map, '.');
}

/* Load try_<map> of an object with that map alone and run it; false: not loaded. */
static bool try_map(const char *object, const char *map, struct hostile_tried *tried)
{
	struct relay_log log = { .obj = object_open(object) };
	char prog[64];
	struct bpf_map *m;
	bool loaded;

	snprintf(prog, sizeof(prog), "try_%s", map);
	object_only(log.obj, prog);
	bpf_object__for_each_map(m, log.obj)
		bpf_map__set_autocreate(m, autocreate(bpf_map__name(m), map));
	loaded = !bpf_object__load(log.obj);
	if (loaded) {
		log_run(&log, prog, -1);
		*tried = *(struct hostile_tried *)object_var(log.obj, ".bss", "tried");
	}
	bpf_object__close(log.obj);
	return loaded;
}

static bool refused_all(const struct hostile_tried *t)
{
	return t->runs == 1 && t->output == -EINVAL && !t->reserve &&
	       t->add_type == -EINVAL && t->open == -EINVAL;
}

/* Fails when: a map that nearly is a relay map is taken for one. */
TEST_F_TIMEOUT(none, nearly_relay_maps, 120)
{
	static const char * const wrong[] = {
		"only_kptr", "too_short", "too_long", "two_entries", "no_kptr", "kptr_second",
		"kptr_untrusted", "task_kptr", "two_kptrs", "task_behind", "task_before",
		"timer_percpu", "lock_percpu", "plain_array", "timer_array", "lock_array",
		"hash", "percpu_hash", "lru_hash",
	};
	struct hostile_tried tried;
	int i;

	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		ASSERT_TRUE(try_map("hostile_maps", wrong[i], &tried)) {
			TH_LOG("%s", wrong[i]);
		}
		EXPECT_TRUE(refused_all(&tried)) {
			TH_LOG("%s: %d %d %d %d", wrong[i], tried.output, tried.reserve,
			       tried.add_type, tried.open);
		}
	}
	ASSERT_TRUE(try_map("hostile_fwd", "declared", &tried));
	EXPECT_TRUE(refused_all(&tried));

	/* Negative control: a right one, written by hand, is not refused. */
	ASSERT_TRUE(try_map("hostile_maps", "right", &tried));
	EXPECT_EQ(tried.output, -ENODEV);
	EXPECT_EQ(tried.reserve, 0);
	EXPECT_EQ(tried.add_type, 0);
	EXPECT_EQ(tried.open, 0);
}

/* Programs that may use a map of this type. */
#define TC	1
#define ANY	2	/* programs that sleep, too */
#define LATER	3	/* these on 7.x only */

struct map_type {
	const char *name;
	enum bpf_map_type type;
	__u32 key, value, entries, flags;
	int who;
	bool inner, btf;
};

#define T(t, ...) { .name = #t, .type = BPF_MAP_TYPE_##t, __VA_ARGS__ }

/* All but STRUCT_OPS, which no program may name. */
static const struct map_type types[] = {
	T(HASH, 4, ELEM_SIZE, 1, 0, ANY),
	T(ARRAY, 4, ELEM_SIZE, 1, 0, ANY),
	T(PROG_ARRAY, 4, 4, 1, 0, TC),
	T(PERF_EVENT_ARRAY, 4, 4, 1, 0, TC),
	T(PERCPU_HASH, 4, ELEM_SIZE, 1, 0, ANY),
	T(PERCPU_ARRAY, 4, ELEM_SIZE, 1, 0, ANY),
	T(STACK_TRACE, 4, 120, 1, 0, TC),
	T(CGROUP_ARRAY, 4, 4, 1, 0, TC),
	T(LRU_HASH, 4, ELEM_SIZE, 1, 0, ANY),
	T(LRU_PERCPU_HASH, 4, ELEM_SIZE, 1, 0, ANY),
	T(LPM_TRIE, 8, ELEM_SIZE, 1, BPF_F_NO_PREALLOC, LATER),
	T(ARRAY_OF_MAPS, 4, 4, 1, 0, ANY, .inner = true),
	T(HASH_OF_MAPS, 4, 4, 1, 0, ANY, .inner = true),
	T(DEVMAP, 4, 4, 1, 0, TC),
	T(SOCKMAP, 4, 4, 1, 0, TC),
	T(CPUMAP, 4, 4, 1, 0, TC),
	T(XSKMAP, 4, 4, 1, 0, TC),
	T(SOCKHASH, 4, 4, 1, 0, TC),
	T(CGROUP_STORAGE, 8, ELEM_SIZE, 0, 0, TC),
	T(REUSEPORT_SOCKARRAY, 4, 8, 1, 0, TC),
	T(PERCPU_CGROUP_STORAGE, 8, ELEM_SIZE, 0, 0, TC),
	T(QUEUE, 0, ELEM_SIZE, 1, 0, ANY),
	T(STACK, 0, ELEM_SIZE, 1, 0, ANY),
	T(SK_STORAGE, 4, 4, 0, BPF_F_NO_PREALLOC, ANY, .btf = true),
	T(DEVMAP_HASH, 4, 4, 1, 0, TC),
	T(RINGBUF, 0, 0, 4096, 0, ANY),
	T(INODE_STORAGE, 4, 4, 0, BPF_F_NO_PREALLOC, ANY, .btf = true),
	T(TASK_STORAGE, 4, 4, 0, BPF_F_NO_PREALLOC, ANY, .btf = true),
	T(BLOOM_FILTER, 0, ELEM_SIZE, 1, 0, TC),
	T(USER_RINGBUF, 0, 0, 4096, 0, ANY),
	T(CGRP_STORAGE, 4, 4, 0, BPF_F_NO_PREALLOC, ANY, .btf = true),
	T(ARENA, 0, 0, 1, BPF_F_MMAPABLE, ANY),
};

static int make_map(const struct map_type *t)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = t->flags);
	struct btf *btf = NULL;
	int inner = -1, fd;

	if (t->inner) {
		inner = bpf_map_create(BPF_MAP_TYPE_ARRAY, "inner", 4, 8, 1, NULL);
		opts.inner_map_fd = inner;
	}
	if (t->btf) {
		btf = btf__new_empty();
		opts.btf_key_type_id = btf__add_int(btf, "int", 4, BTF_INT_SIGNED);
		opts.btf_value_type_id = opts.btf_key_type_id;
		btf__load_into_kernel(btf);
		opts.btf_fd = btf__fd(btf);
	}
	if (t->type == BPF_MAP_TYPE_ARENA)
		opts.map_extra = 1ULL << 44;	/* where user space would map it */
	fd = bpf_map_create(t->type, "victim", t->key, t->value, t->entries, &opts);
	if (inner >= 0)
		close(inner);
	btf__free(btf);
	return fd;
}

/* Hand the map to a program of hostile_types; -errno if the program is not loaded. */
static int try_type(int fd, const char *prog, struct hostile_tried *tried)
{
	struct bpf_object *obj = object_open("hostile_types");
	struct bpf_map *victim = bpf_object__find_map_by_name(obj, "victim");
	char packet[64] = {};
	LIBBPF_OPTS(bpf_test_run_opts, tc, .data_in = packet, .data_size_in = sizeof(packet));
	LIBBPF_OPTS(bpf_test_run_opts, syscall);
	libbpf_print_fn_t print = libbpf_set_print(NULL);
	int err;

	object_only(obj, prog);
	err = bpf_map__reuse_fd(victim, fd) ?: bpf_object__load(obj);
	libbpf_set_print(print);
	if (!err) {
		struct bpf_program *p = bpf_object__find_program_by_name(obj, prog);

		err = bpf_prog_test_run_opts(bpf_program__fd(p),
					     strcmp(prog, "from_tc") ? &syscall : &tc);
		*tried = *(struct hostile_tried *)object_var(obj, ".bss", "tried");
	}
	bpf_object__close(obj);
	return err;
}

/* Fails when: a map of another type is taken for a relay map, or crashes what is called. */
TEST_F_TIMEOUT(none, every_map_type, 120)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(types); i++) {
		const struct map_type *t = &types[i];
		struct hostile_tried tried = {};
		int fd = make_map(t), err;

		ASSERT_GE(fd, 0) {
			TH_LOG("%s cannot be made: %s", t->name, strerror(errno));
		}
		err = try_type(fd, "from_tc", &tried);
		EXPECT_TRUE(!err && tried.runs == 1 && tried.output == -EINVAL && !tried.reserve) {
			TH_LOG("%s: error %d, output %d, reserve %d", t->name, err, tried.output,
			       tried.reserve);
		}

		tried = (struct hostile_tried) {};
		err = try_type(fd, "from_syscall", &tried);
		EXPECT_EQ(!err, t->who == ANY || (t->who == LATER && kernel_major() >= 7)) {
			TH_LOG("%s: %s", t->name, strerror(-err));
		}
		EXPECT_TRUE(err || refused_all(&tried)) {
			TH_LOG("%s: %d %d %d %d", t->name, tried.output, tried.reserve,
			       tried.add_type, tried.open);
		}
		close(fd);
	}
}

/* ---- Moving the reference ---------------------------------------------------- */

/* Fails when: a program can take the log out of its map, or put anything in. */
TEST_F_TIMEOUT(none, reference_stays, 120)
{
	static const struct refused list[] = {
		{ "take_out", { "Unreleased reference" } },
		{ "other_map", { "Unreleased reference" } },
		{ "other_cpu", { "Unreleased reference" } },
		{ "out_and_back", { "Unreleased reference" } },
		{ "drop_it", { "expected pointer to allocated object" } },
		{ "store_null", { "store to referenced kptr disallowed" } },
		{ "store_half", { "kptr access misaligned" } },
		{ "put_task", { "R2 type=trusted_ptr_task_struct expected=ptr_bpf_relay" } },
		{ "put_record", { "ptr_bpf_relay_record expected=ptr_bpf_relay" } },
		{ "helper_writes", { "kptr cannot be accessed indirectly by helper" } },
		{ "output_reads", { "memory, len pair leads to invalid memory access" } },
	};
	char *verdict = malloc(VERDICT_SIZE);

	EXPECT_EQ(refused_wrongly("hostile_move", list, ARRAY_SIZE(list)), 0);
	/* Negative control: looking at it and spoiling the counters is allowed. */
	EXPECT_EQ(verify("hostile_move", "right", verdict), 0);
	free(verdict);
}

/* ---- Mistreating a log ------------------------------------------------------- */

FIXTURE(hostile) {
	struct relay_log log;
	struct hostile_args *args;
	__u64 *results, *updates;
};

static const struct bpf_relay_opts small = { .subbuf_size = 4096, .n_subbufs = 4 };

FIXTURE_SETUP(hostile)
{
	log_load(&self->log, "hostile", "hostile");
	self->args = log_var(&self->log, ".bss", "args");
	self->results = log_var(&self->log, ".bss", "results");
	self->updates = log_var(&self->log, ".bss", "updates");
}

FIXTURE_TEARDOWN(hostile)
{
	log_unload(&self->log);
	EXPECT_TRUE(log_gone(&self->log));
}

/* Open it again after its old log was dropped: how often it was told to wait, or -1. */
static int reopen(struct relay_log *log)
{
	int i, err;

	for (i = 0; i < 1000; i++) {
		err = log_open(log, &small);
		if (err != -EAGAIN)
			return err ? -1 : i;
		usleep(10000);
	}
	return -1;
}

/* After its element was written the log can be opened, or is open. */
static bool log_after_update(struct relay_log *log)
{
	return update_drops_log() ? reopen(log) >= 0 : log_open(log, &small) == -EALREADY;
}

/* What bpf(2) writes: all CPUs' elements. */
static int update_by_syscall(struct relay_log *log, int byte)
{
	static char values[256 * ELEM_SIZE];
	__u32 key = 0;

	memset(values, byte, sizeof(values));
	return bpf_map_update_elem(bpf_map__fd(log->map), &key, values, BPF_ANY);
}

static int directory(const struct relay_log *log)
{
	struct stat st;

	return stat(log->dir, &st) ? errno : 0;
}

/* The log was dropped: nobody can write it, it goes, it can be made anew. */
static bool is_dropped(struct relay_log *log, __u64 *results)
{
	__u64 before = results[ENODEV];

	log_run(log, "hostile_write", CPU);
	if (results[ENODEV] == before) {
		printf("# still written\n");
		return false;
	}
	if (reopen(log) < 0) {
		printf("# cannot be opened again\n");
		return false;
	}
	before = results[0];
	log_run(log, "hostile_write", CPU);
	return results[0] > before && log_stat(log, -1, "stored events") == results[0] - before;
}

/*
 * Fails when: an element that bpf(2) writes leaves a log that is neither alive nor gone.
 * Up to 6.x it is gone, later it is alive.
 */
TEST_F_TIMEOUT(hostile, updated_by_syscall, 120)
{
	__u32 key = 0;

	self->args->count = 10;
	ASSERT_EQ(log_open(&self->log, &small), 0);
	log_run(&self->log, "hostile_write", CPU);
	EXPECT_NE(bpf_map_delete_elem(bpf_map__fd(self->log.map), &key), 0);
	EXPECT_NE(bpf_map_freeze(bpf_map__fd(self->log.map)), 0);
	EXPECT_EQ(log_stat(&self->log, CPU, "stored events"), 10);

	ASSERT_EQ(update_by_syscall(&self->log, 0xa5), 0);
	if (update_drops_log()) {
		EXPECT_TRUE(log_gone(&self->log));
		EXPECT_TRUE(is_dropped(&self->log, self->results));
	} else {
		EXPECT_EQ(directory(&self->log), 0);
		log_run(&self->log, "hostile_write", CPU);
		EXPECT_EQ(self->results[ENODEV], 0);
		EXPECT_EQ(log_stat(&self->log, -1, "stored events"), 20);
		EXPECT_EQ(log_open(&self->log, &small), -EALREADY);
	}
	EXPECT_TRUE(log_identities(&self->log));
}

/* Fails when: the destructor does not survive being run from a program. */
TEST_F_TIMEOUT(hostile, updated_by_program, 120)
{
	self->args->count = 10;
	ASSERT_EQ(log_open(&self->log, &small), 0);
	log_run(&self->log, "hostile_write", CPU);
	log_run(&self->log, "hostile_update", CPU);
	EXPECT_EQ(*self->updates, 1);
	/* Elsewhere, too: one element is enough. */
	if (update_drops_log()) {
		log_run(&self->log, "hostile_write", 0);
		EXPECT_EQ(self->results[ENODEV], 10);
		EXPECT_TRUE(is_dropped(&self->log, self->results));
	} else {
		log_run(&self->log, "hostile_write", CPU);
		EXPECT_EQ(self->results[0], 20);
		EXPECT_EQ(self->results[ENODEV], 0);
	}
	EXPECT_TRUE(log_identities(&self->log));
}

/* Fails when: the destructor sleeps, takes a lock or wakes somebody under rq->lock. */
TEST_F_TIMEOUT(none, updated_under_rq_lock, 120)
{
	static const char * const progs[] = { "under_rq_lock", NULL };
	struct hostile_args *args;
	struct bpf_link *link;
	struct relay_log log;
	__u64 *results, *updates;
	int i;

	log_load_with(&log, "hostile", "hostile", progs);
	args = log_var(&log, ".bss", "args");
	results = log_var(&log, ".bss", "results");
	updates = log_var(&log, ".bss", "updates");

	ASSERT_EQ(log_open(&log, &small), 0);
	link = bpf_program__attach(bpf_object__find_program_by_name(log.obj, progs[0]));
	ASSERT_NE(link, NULL);
	for (i = 0; i < 10; i++) {
		args->armed = 1;
		while (*(volatile __u32 *)&args->armed != 2 ||
		       *(volatile __u64 *)updates != i + 1)
			usleep(1000);
		/* Let it write while the log goes. */
		usleep(1000);
		args->armed = 0;
		EXPECT_TRUE(log_after_update(&log));
	}
	bpf_link__destroy(link);
	EXPECT_EQ(*updates, 10);
	EXPECT_EQ(results[ENODEV] > 0, update_drops_log());
	if (!update_drops_log())
		EXPECT_EQ(log_stat(&log, -1, "stored events"), results[0]);
	EXPECT_TRUE(log_identities(&log));
	log_unload(&log);
	EXPECT_TRUE(log_gone(&log));
}

struct writer {
	struct relay_log *log;
	pthread_t thread;
	int cpu;
	__u64 runs;
	atomic_bool *stop;
};

static void *write_loop(void *arg)
{
	struct writer *w = arg;

	run_on(w->cpu);
	while (!atomic_load(w->stop)) {
		log_run(w->log, "hostile_write", -1);
		w->runs++;
	}
	return NULL;
}

static void start_writers(struct writer *w, int n, struct relay_log *log, atomic_bool *stop)
{
	int i;

	for (i = 0; i < n; i++) {
		w[i] = (struct writer) { .log = log, .cpu = i, .stop = stop };
		pthread_create(&w[i].thread, NULL, write_loop, &w[i]);
	}
}

/* Ends them: how often the program ran. */
static __u64 join_writers(struct writer *w, int n)
{
	__u64 runs = 0;
	int i;

	atomic_store(w->stop, true);
	for (i = 0; i < n; i++) {
		pthread_join(w[i].thread, NULL);
		runs += w[i].runs;
	}
	return runs;
}

/* Fails when: a log that is dropped while it is written is used afterwards, or lost count. */
TEST_F_TIMEOUT(hostile, updated_while_written, 180)
{
	int n = n_cpus(), i, errno_other = 0;
	struct writer writers[n];
	atomic_bool stop = false;
	__u64 runs;

	self->args->count = 100;
	ASSERT_EQ(log_open(&self->log, &small), 0);
	start_writers(writers, n, &self->log, &stop);
	for (i = 0; i < 20; i++) {
		__u64 seen = *(volatile __u64 *)&self->results[0];

		/* Not before it is written again. */
		while (*(volatile __u64 *)&self->results[0] == seen)
			usleep(1000);
		if (i % 2) {
			EXPECT_EQ(update_by_syscall(&self->log, i), 0);
		} else {
			log_run(&self->log, "hostile_update", i % n);
		}
		EXPECT_TRUE(log_after_update(&self->log));
	}
	runs = join_writers(writers, n);
	EXPECT_EQ(self->results[0] + self->results[ENODEV], runs * 100);
	for (i = 1; i < HOSTILE_RESULTS; i++)
		errno_other += i != ENODEV && self->results[i];
	EXPECT_EQ(errno_other, 0);
	EXPECT_EQ(self->results[ENODEV] > 0, update_drops_log());
	if (!update_drops_log())
		EXPECT_EQ(log_stat(&self->log, -1, "stored events"), self->results[0]);
	EXPECT_TRUE(log_identities(&self->log));
}

/* Fails when: a log is written before it is open, or a record is lost on the way. */
TEST_F_TIMEOUT(hostile, opened_while_written, 120)
{
	int n = n_cpus();
	struct writer writers[n];
	atomic_bool stop = false;
	__u64 runs;

	self->args->count = 100;
	start_writers(writers, n, &self->log, &stop);
	while (*(volatile __u64 *)&self->results[ENODEV] < 500)
		usleep(1000);
	EXPECT_EQ(log_open(&self->log, &small), 0);
	while (*(volatile __u64 *)&self->results[0] < 2000)
		usleep(1000);
	runs = join_writers(writers, n);
	EXPECT_GE(self->results[ENODEV], 500);
	EXPECT_EQ(self->results[0] + self->results[ENODEV], runs * 100);
	EXPECT_EQ(log_stat(&self->log, -1, "stored events"), self->results[0]);
	EXPECT_EQ(log_dropped(&self->log, -1), 0);
	EXPECT_TRUE(log_identities(&self->log));
}

struct opener {
	struct relay_log *log;
	pthread_t thread;
	int cpu;
	int err;
	atomic_int *ready;
};

static void *open_once(void *arg)
{
	struct opener *o = arg;
	struct bpf_program *p = bpf_object__find_program_by_name(o->log->obj, "hostile_open");
	LIBBPF_OPTS(bpf_test_run_opts, opts);
	int fd = bpf_program__fd(p);

	run_on(o->cpu);
	atomic_fetch_add(o->ready, 1);
	while (atomic_load(o->ready) < 2)
		;
	o->err = bpf_prog_test_run_opts(fd, &opts) ?: (int)opts.retval;
	return NULL;
}

/* Fails when: two that open a log at once both get it, or neither, or a second one. */
TEST_F_TIMEOUT(none, two_opens_at_once, 180)
{
	int round, i;

	for (round = 0; round < 20; round++) {
		atomic_int ready = 0;
		struct opener o[2];
		struct relay_log log;
		struct bpf_relay_setup *setup;

		log_load(&log, "hostile", "hostile");
		setup = log_var(&log, ".data.relay", "hostile_setup");
		setup->opts.subbuf_size = 4096;
		setup->opts.n_subbufs = 2;
		for (i = 0; i < 2; i++) {
			o[i] = (struct opener) { .log = &log, .cpu = i + 1, .ready = &ready };
			pthread_create(&o[i].thread, NULL, open_once, &o[i]);
		}
		for (i = 0; i < 2; i++)
			pthread_join(o[i].thread, NULL);
		EXPECT_EQ(!o[0].err + !o[1].err, 1);
		EXPECT_EQ(o[0].err + o[1].err, -EALREADY);
		EXPECT_EQ(directory(&log), 0);
		log_unload(&log);
		EXPECT_TRUE(log_gone(&log));
	}
}

/* Fails when: anything that counts reads the copy of the counters in the element. */
TEST_F_TIMEOUT(hostile, scribbled_counters, 120)
{
	__u64 expect = 0;
	int cpu;

	ASSERT_EQ(log_open(&self->log, &small), 0);
	self->args->count = 500;
	self->args->at = n_cpus();
	for (cpu = 0; cpu < n_cpus(); cpu++) {
		log_run(&self->log, "hostile_scribble", cpu);
		expect += 500;
		if (!update_drops_log())
			EXPECT_EQ(update_by_syscall(&self->log, 0xff), 0);
		EXPECT_EQ(self->results[0], expect);
		EXPECT_EQ(log_stat(&self->log, cpu, "stored events"), 500);
		EXPECT_EQ(log_stat(&self->log, cpu, "stored bytes"),
			  500 * sizeof(struct hostile_rec));
	}
	EXPECT_EQ(log_dropped(&self->log, -1), 0);
	EXPECT_EQ(log_stat(&self->log, -1, "discarded events"), 0);
	EXPECT_TRUE(log_identities(&self->log));
}

TEST_HARNESS_MAIN
