// SPDX-License-Identifier: GPL-2.0-only
/*
 * CPUs that go and come while logs are opened, written and read.
 *
 * A CPU that was never online at all is there when the machine boots with maxcpus=:
 * vm/run --append maxcpus=3 -- ... Without, one that was offline when the log was opened
 * goes the same way. A buffer that cannot be allocated when its CPU comes: faults.c.
 */
#define _GNU_SOURCE
#include "kselftest_harness.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

#include "abuse.h"
#include "bpf/hostile.h"

static const struct bpf_relay_opts small = { .subbuf_size = 4096, .n_subbufs = 8 };

FIXTURE(hotplug) {
	struct relay_log log;
	struct hostile_args *args;
	__u64 *results;
	int cpus;
};

FIXTURE_SETUP(hotplug)
{
	self->cpus = n_cpus();
	if (self->cpus < 2 || access("/sys/devices/system/cpu/cpu1/online", W_OK))
		SKIP(return, "no CPU can be switched off here");
	log_load(&self->log, "hostile", "hostile");
	self->args = log_var(&self->log, ".bss", "args");
	self->results = log_var(&self->log, ".bss", "results");
}

FIXTURE_TEARDOWN(hotplug)
{
	all_online();
	if (!self->log.obj)
		return;
	log_unload(&self->log);
	EXPECT_TRUE(log_gone(&self->log));
}

/* What a CPU without a buffer shows, and that it gets one when it comes. */
static bool comes_up(struct relay_log *log, __u64 *results, int cpu)
{
	size_t len;
	char name[32], *data, *stats;
	__u64 before;
	bool good = true;

	snprintf(name, sizeof(name), "cpu: %d (no buffer)\n", cpu);
	stats = log_file(log, "stats", &len);
	good &= stats && strstr(stats, name);
	free(stats);
	snprintf(name, sizeof(name), "ctf/cpu%d", cpu);
	data = log_file(log, name, &len);
	good &= data && !len;
	free(data);
	if (!good)
		printf("# CPU %d: not shown as one without a buffer\n", cpu);

	if (!cpu_set_online(cpu, true))
		return false;
	before = results[0];
	log_run(log, "hostile_write", cpu);
	return good && results[0] == before + 300 && !log_dropped(log, -1) &&
	       log_stat(log, cpu, "stored events") == 300 && log_identities(log);
}

/*
 * Fails when: a CPU that this kernel has not seen before has no buffer when it comes. The
 * first test, because the others bring all CPUs up when they are done.
 */
TEST_F_TIMEOUT(hotplug, never_online, 120)
{
	int cpu = self->cpus;

	if (sysconf(_SC_NPROCESSORS_CONF) <= cpu || cpu_is_online(cpu))
		SKIP(return, "every CPU was online: boot with maxcpus=");
	self->args->count = 300;
	ASSERT_EQ(log_open(&self->log, &small), 0);
	log_run(&self->log, "hostile_write", 0);
	EXPECT_TRUE(comes_up(&self->log, self->results, cpu));
}

struct loop {
	struct relay_log *log;
	pthread_t thread;
	int cpu;
	__u64 runs;
	__u64 wrong;
	atomic_bool *stop;
};

/*
 * On its CPU while there is one, elsewhere meanwhile. It sleeps in between because a CPU on
 * its way down only pushes off what it finds outside a program when it schedules: one that
 * does nothing but run programs may keep it for ever, whatever they call.
 */
static void *write_loop(void *arg)
{
	struct loop *l = arg;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(l->cpu, &set);
	while (!atomic_load(l->stop)) {
		sched_setaffinity(0, sizeof(set), &set);
		log_run(l->log, "hostile_write", -1);
		l->runs++;
		usleep(100);
	}
	return NULL;
}

static void *read_loop(void *arg)
{
	struct loop *l = arg;

	while (!atomic_load(l->stop)) {
		int cpu;

		for (cpu = 0; cpu < l->cpu; cpu++)
			l->wrong += log_walk(l->log, cpu, false, NULL, NULL) < 0;
		l->runs++;
	}
	return NULL;
}

/*
 * Fails when: a writer or reader does not survive its CPU, or records of a CPU that is
 * offline cannot be read, or get lost.
 */
TEST_F_TIMEOUT(hotplug, written_and_read, 240)
{
	int n = self->cpus, cpu, i, round, other = 0;
	struct loop writers[n], reader;
	atomic_bool stop = false;
	__u64 runs = 0;

	self->args->count = 50;
	ASSERT_EQ(log_open(&self->log, &small), 0);
	for (i = 0; i < n; i++) {
		writers[i] = (struct loop) { .log = &self->log, .cpu = i, .stop = &stop };
		pthread_create(&writers[i].thread, NULL, write_loop, &writers[i]);
	}
	reader = (struct loop) { .log = &self->log, .cpu = n, .stop = &stop };
	pthread_create(&reader.thread, NULL, read_loop, &reader);

	for (round = 0; round < 2; round++)
		for (cpu = 1; cpu < n; cpu++) {
			__u64 stored;

			while (!log_stat(&self->log, cpu, "stored events"))
				usleep(1000);
			ASSERT_TRUE(cpu_set_online(cpu, false));
			/* Nobody writes there: to the unit. */
			stored = log_stat(&self->log, cpu, "stored events");
			EXPECT_GT(log_walk(&self->log, cpu, true, NULL, NULL), 0);
			EXPECT_EQ(log_stat(&self->log, cpu, "entries") +
				  log_stat(&self->log, cpu, "overrun"), stored);
			EXPECT_EQ(log_stat(&self->log, cpu, "stored events"), stored);
			ASSERT_TRUE(cpu_set_online(cpu, true));
			while (log_stat(&self->log, cpu, "stored events") == stored)
				usleep(1000);
		}
	atomic_store(&stop, true);
	for (i = 0; i < n; i++) {
		pthread_join(writers[i].thread, NULL);
		runs += writers[i].runs;
	}
	pthread_join(reader.thread, NULL);
	EXPECT_GT(reader.runs, 0);
	EXPECT_EQ(reader.wrong, 0);
	for (i = 1; i < HOSTILE_RESULTS; i++)
		other += !!self->results[i];
	EXPECT_EQ(other, 0);
	EXPECT_EQ(self->results[0], runs * 50);
	EXPECT_EQ(log_stat(&self->log, -1, "stored events"), self->results[0]);
	EXPECT_TRUE(log_identities(&self->log));
}

/* Fails when: a CPU that was offline at open has no buffer when it comes, or takes CPU 0's. */
TEST_F_TIMEOUT(hotplug, opened_while_offline, 120)
{
	int cpu = self->cpus - 1;

	self->args->count = 300;
	ASSERT_TRUE(cpu_set_online(cpu, false));
	ASSERT_EQ(log_open(&self->log, &small), 0);
	log_run(&self->log, "hostile_write", 0);
	EXPECT_TRUE(comes_up(&self->log, self->results, cpu));
	/* CPU 0 still writes and reads. */
	log_run(&self->log, "hostile_write", 0);
	EXPECT_EQ(log_stat(&self->log, 0, "stored events"), 600);
	/* Gone and back: the same buffer, with what is in it. */
	ASSERT_TRUE(cpu_set_online(cpu, false));
	ASSERT_TRUE(cpu_set_online(cpu, true));
	log_run(&self->log, "hostile_write", cpu);
	EXPECT_EQ(log_stat(&self->log, cpu, "stored events"), 600);
	EXPECT_TRUE(log_identities(&self->log));
}

static void *switch_loop(void *arg)
{
	struct loop *l = arg;

	while (!atomic_load(l->stop)) {
		l->wrong += !cpu_set_online(l->cpu, false);
		l->wrong += !cpu_set_online(l->cpu, true);
		l->runs++;
	}
	return NULL;
}

/*
 * Fails when: open beside a CPU on its way up or down deadlocks, leaves a CPU without a
 * buffer, or fails with anything but -EAGAIN.
 */
TEST_F_TIMEOUT(hotplug, opened_meanwhile, 240)
{
	atomic_bool stop = false;
	struct loop l = { .cpu = self->cpus - 1, .stop = &stop };
	int opened, again = 0, err;

	pthread_create(&l.thread, NULL, switch_loop, &l);
	for (opened = 0; opened < 10 || *(volatile __u64 *)&l.runs < 4; opened++) {
		struct relay_log log;
		__u64 *results;
		int cpu;

		log_load(&log, "hostile", "hostile");
		results = log_var(&log, ".bss", "results");
		((struct hostile_args *)log_var(&log, ".bss", "args"))->count = 1;
		while ((err = log_open(&log, &small)) == -EAGAIN) {
			again++;
			usleep(1000);
		}
		ASSERT_EQ(err, 0);
		/* From whatever CPU is there: nobody finds itself without a buffer. */
		for (cpu = 0; cpu < 8; cpu++)
			log_run(&log, "hostile_write", -1);
		EXPECT_EQ(results[0], 8);
		EXPECT_EQ(log_dropped(&log, -1), 0);
		log_unload(&log);
		EXPECT_TRUE(log_gone(&log));
	}
	atomic_store(&stop, true);
	pthread_join(l.thread, NULL);
	EXPECT_EQ(l.wrong, 0);
	printf("# %d opened, %d times told to try again, CPU switched %llu times\n", opened,
	       again, l.runs);
}

TEST_HARNESS_MAIN
