// SPDX-License-Identifier: GPL-2.0-only
/* Logs inside maps of maps, made, written and removed at run time. */
#define _GNU_SOURCE
#include "kselftest_harness.h"

#include <bpf/btf.h>
#include <linux/bpf.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "abuse.h"
#include "bpf/hostile.h"

#define CPU	1
#define N	HOSTILE_INNER

FIXTURE(inner) {
	struct relay_log log;		/* the object; its own log stays closed */
	struct relay_log logs[N];
	int fds[N];
	int by_hash, by_array;
	struct hostile_args *args;
	__u64 *results, *missing;
};

/* Make log i as user space would for a new cgroup, and let the program find it. */
static int add_inner(struct relay_log *obj, struct relay_log *log, int by_hash, int by_array,
		     __u32 i)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts,
		.btf_fd = bpf_object__btf_fd(obj->obj),
		.btf_key_type_id = bpf_map__btf_key_type_id(obj->map),
		.btf_value_type_id = bpf_map__btf_value_type_id(obj->map));
	struct bpf_map_info info = {};
	__u32 len = sizeof(info);
	int fd = bpf_map_create(BPF_MAP_TYPE_PERCPU_ARRAY, "inner", 4,
				bpf_map__value_size(obj->map), 1, &opts);

	if (fd < 0 || bpf_map_get_info_by_fd(fd, &info, &len) ||
	    bpf_map_update_elem(by_hash, &i, &fd, BPF_NOEXIST) ||
	    bpf_map_update_elem(by_array, &i, &fd, BPF_ANY))
		return -1;
	*log = (struct relay_log) { .name = "inner", .id = info.id };
	snprintf(log->dir, sizeof(log->dir), DEBUGFS "/inner.%u", info.id);
	return fd;
}

FIXTURE_SETUP(inner)
{
	struct bpf_relay_setup *setup;
	int i;

	log_load(&self->log, "hostile_inner", "inner");
	self->args = log_var(&self->log, ".bss", "args");
	self->results = log_var(&self->log, ".bss", "results");
	self->missing = log_var(&self->log, ".bss", "missing");
	setup = log_var(&self->log, ".data.relay", "inner_setup");
	setup->opts.subbuf_size = 4096;
	setup->opts.n_subbufs = 2;
	self->by_hash = bpf_object__find_map_fd_by_name(self->log.obj, "by_hash");
	self->by_array = bpf_object__find_map_fd_by_name(self->log.obj, "by_array");
	for (i = 0; i < N; i++) {
		self->fds[i] = add_inner(&self->log, &self->logs[i], self->by_hash,
					 self->by_array, i);
		ASSERT_GE(self->fds[i], 0);
		self->args->who = i;
		ASSERT_EQ(log_run(&self->log, "open_one", -1), 0);
	}
}

static void remove_inner(int by_hash, int by_array, int *fd, __u32 i)
{
	bpf_map_delete_elem(by_hash, &i);
	bpf_map_delete_elem(by_array, &i);
	close(*fd);
	*fd = -1;
}

FIXTURE_TEARDOWN(inner)
{
	int i;

	for (i = 0; i < N; i++)
		close(self->fds[i]);
	log_unload(&self->log);
	for (i = 0; i < N; i++)
		EXPECT_TRUE(log_gone(&self->logs[i]));
}

struct mine {
	__u64 who;
	__u64 next;	/* each number comes twice: output, then reserved */
	__u64 wrong;
};

static bool only_mine(const struct record *rec, void *ctx)
{
	const struct hostile_rec *r = rec->payload;
	struct mine *m = ctx;

	m->wrong += rec->header->len != sizeof(*r) || r->who != m->who || r->seq != m->next / 2;
	m->next++;
	return true;
}

/* Fails when: one program run does not reach all of 64 logs, or a record gets into another. */
TEST_F_TIMEOUT(inner, sixty_four_logs, 180)
{
	int i;

	self->args->count = 20;
	log_run(&self->log, "write_all", CPU);
	EXPECT_EQ(*self->missing, 0);
	EXPECT_EQ(self->results[0], 20 * N);
	for (i = 0; i < N; i++) {
		struct mine m = { .who = i };

		EXPECT_EQ(log_walk(&self->logs[i], CPU, true, only_mine, &m), 40);
		EXPECT_EQ(m.wrong, 0);
		EXPECT_EQ(log_stat(&self->logs[i], -1, "stored events"), 40);
		EXPECT_EQ(log_dropped(&self->logs[i], -1), 0);
	}

	/* Negative control: the records of another log are noticed. */
	{
		struct mine m = { .who = 1 };

		log_walk(&self->logs[0], CPU, true, only_mine, &m);
		EXPECT_EQ(m.wrong, 40);
	}
}

struct looper {
	struct relay_log *log;
	pthread_t thread;
	int cpu;
	atomic_bool *stop;
	__u64 runs;
};

static void *write_loop(void *arg)
{
	struct looper *l = arg;

	run_on(l->cpu);
	while (!atomic_load(l->stop)) {
		log_run(l->log, "write_all", -1);
		l->runs++;
	}
	return NULL;
}

/*
 * Fails when: a log that is removed from its map is written, or read, after it is freed; or
 * takes its neighbours along.
 */
TEST_F_TIMEOUT(inner, removed_while_written, 180)
{
	struct looper loopers[2];
	atomic_bool stop = false;
	__u64 calls = 0, bad = 0;
	int i;

	self->args->count = 5;
	for (i = 0; i < ARRAY_SIZE(loopers); i++) {
		loopers[i] = (struct looper) { .log = &self->log, .cpu = i, .stop = &stop };
		pthread_create(&loopers[i].thread, NULL, write_loop, &loopers[i]);
	}
	while (!*(volatile __u64 *)&self->results[0])
		usleep(1000);
	/* Every second one goes; every fourth comes again, as another. */
	for (i = 0; i < N; i += 2) {
		remove_inner(self->by_hash, self->by_array, &self->fds[i], i);
		EXPECT_TRUE(log_gone(&self->logs[i]));
		if (i % 4)
			continue;
		self->fds[i] = add_inner(&self->log, &self->logs[i], self->by_hash,
					 self->by_array, i);
		ASSERT_GE(self->fds[i], 0);
		self->args->who = i;
		EXPECT_EQ(log_run(&self->log, "open_one", -1), 0);
	}
	atomic_store(&stop, true);
	for (i = 0; i < ARRAY_SIZE(loopers); i++) {
		pthread_join(loopers[i].thread, NULL);
		calls += loopers[i].runs * 5;
	}
	EXPECT_GT(*self->missing, 0);
	for (i = 1; i < HOSTILE_RESULTS; i++)
		bad += i != ENODEV && self->results[i];
	EXPECT_EQ(bad, 0);
	/* Those that stayed have all of it. */
	for (i = 1; i < N; i += 2)
		EXPECT_EQ(log_stat(&self->logs[i], -1, "stored events"), calls * 2);
	for (i = 0; i < N; i += 4)
		EXPECT_TRUE(log_identities(&self->logs[i]));
}

/*
 * Fails when: a map is taken for one that was proven to be a relay map before, by its
 * address or by a part of its cookie.
 */
TEST_F_TIMEOUT(inner, foreign_in_their_place, 180)
{
	int outer = bpf_object__find_map_fd_by_name(self->log.obj, "by_foreign");
	__u64 *reserved = log_var(&self->log, ".bss", "reserved");
	int n_cpus = libbpf_num_possible_cpus(), foreign[N], i;
	char value[HOSTILE_FOREIGN * n_cpus], zeroes[sizeof(value)];
	__u32 zero = 0;

	/* Every second one goes, when all were proven; memory of theirs is used again. */
	self->args->count = 1;
	log_run(&self->log, "write_all", CPU);
	ASSERT_EQ(self->results[0], N);
	for (i = 0; i < N; i += 2) {
		remove_inner(self->by_hash, self->by_array, &self->fds[i], i);
		EXPECT_TRUE(log_gone(&self->logs[i]));
	}
	for (i = 0; i < N; i++) {
		foreign[i] = bpf_map_create(BPF_MAP_TYPE_PERCPU_ARRAY, "foreign", 4,
					    HOSTILE_FOREIGN, 1, NULL);
		ASSERT_GE(foreign[i], 0);
		ASSERT_EQ(bpf_map_update_elem(outer, &i, &foreign[i], BPF_ANY), 0);
	}
	log_run(&self->log, "write_all", CPU);
	log_run(&self->log, "write_foreign", CPU);
	EXPECT_EQ(self->results[0], N + N / 2);
	EXPECT_EQ(self->results[EINVAL], N);
	EXPECT_EQ(*reserved, 0);
	memset(zeroes, 0, sizeof(zeroes));
	for (i = 0; i < N; i++) {
		ASSERT_EQ(bpf_map_lookup_elem(foreign[i], &zero, value), 0);
		EXPECT_EQ(memcmp(value, zeroes, sizeof(value)), 0);
		close(foreign[i]);
	}
}

TEST_HARNESS_MAIN
