// SPDX-License-Identifier: GPL-2.0-only
/* A CPU that never was online, as with maxcpus= on the command line. */
#define _GNU_SOURCE
#include "kselftest_harness.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/sysinfo.h>

#include "anylog.h"
#include "mem_test.h"

static bool set_online(int cpu, int online)
{
	return !shell("echo %d >/sys/devices/system/cpu/cpu%d/online", online, cpu);
}

static bool says_no_buffer(const struct relay_log *log, int cpu)
{
	char want[64];
	size_t len;
	char *text = log_file(log, "stats", &len);
	bool found;

	snprintf(want, sizeof(want), "\ncpu: %d (no buffer)\n", cpu);
	found = text && strstr(text, want);
	free(text);
	return found;
}

/*
 * Fails when: a CPU that is not there at open has no file, or one with anything in it;
 * or does not record as soon as it comes up; or loses its records when it goes.
 */
TEST(nobuffer)
{
	int possible = get_nprocs_conf(), cpu = get_nprocs(), fd, i;
	struct relay_log base, log;
	char name[32];
	struct stat st;
	char path[256];

	if (possible == cpu)
		SKIP(return, "all possible CPUs are online (boot with maxcpus=)");
	/* Those with the highest numbers are off. */
	log_load(&base, "lifetime", "any");
	fd = any_create(&base, &log, "nobuffer", 1);
	ASSERT_EQ(any_open(&base, 1, (struct bpf_relay_opts) {
		.subbuf_size = 4096, .n_subbufs = 4 }), 0);
	snprintf(name, sizeof(name), "ctf/cpu%d", cpu);
	snprintf(path, sizeof(path), "%s/%s", log.dir, name);

	EXPECT_FALSE(says_no_buffer(&log, 0));
	EXPECT_TRUE(says_no_buffer(&log, cpu));
	ASSERT_EQ(stat(path, &st), 0);
	EXPECT_EQ(st.st_size, 0);
	EXPECT_EQ(log_walk(&log, cpu, false, NULL, NULL), 0);
	any_write(&base, 1, 0, 0, 8, 0, 100);
	EXPECT_EQ(log_stat(&log, -1, "stored events"), 100);
	EXPECT_EQ(shell("rm -rf /tmp/nobuffer && cp -r %s/ctf /tmp/nobuffer && "
			"test $(babeltrace2 /tmp/nobuffer 2>&1 | wc -l) = 100", log.dir), 0);

	for (i = 1; i <= 2; i++) {
		ASSERT_TRUE(set_online(cpu, 1));
		EXPECT_FALSE(says_no_buffer(&log, cpu));
		any_write(&base, 1, cpu, 0, 8, 0, 50);
		EXPECT_EQ(log_stat(&log, cpu, "stored events"), 50 * i);
		EXPECT_EQ(log_walk(&log, cpu, true, NULL, NULL), 50 * i);
		EXPECT_TRUE(log_identities(&log));
		/* Gone again, its records stay. */
		ASSERT_TRUE(set_online(cpu, 0));
		EXPECT_EQ(log_walk(&log, cpu, true, NULL, NULL), 50 * i);
	}
	EXPECT_EQ(any_results(&base)[0], 200);
	EXPECT_EQ(log_dropped(&log, -1), 0);
	EXPECT_EQ(shell("rm -rf /tmp/nobuffer && cp -r %s/ctf /tmp/nobuffer && "
			"test $(babeltrace2 /tmp/nobuffer 2>&1 | wc -l) = 200; s=$?; "
			"rm -rf /tmp/nobuffer; exit $s", log.dir), 0);
	any_close(&base, 1, fd);
	EXPECT_TRUE(log_gone(&log));
	log_unload(&base);
}

#define LOGS	16

struct mapped {
	struct relay_log log;
	struct mem_reader m;
	int fd;
};

struct looker {
	pthread_t thread;
	const struct mapped *logs;
	int cpu;
	atomic_bool stop;
	_Atomic __u64 rounds;
	__u64 wrong;
};

/* Have the pages of a CPU mapped anew, again and again, with what is there at that moment. */
static void *look(void *arg)
{
	struct looker *l = arg;
	int i;

	for (i = 0; !atomic_load(&l->stop); i = (i + 1) % LOGS) {
		struct mem_reader m = l->logs[i].m;

		m.base = mmap(NULL, m.size, PROT_READ, MAP_SHARED, m.fd, 0);
		if (m.base == MAP_FAILED) {
			l->wrong++;
			break;
		}
		l->wrong += mem_nonzero(&m, l->cpu) != 0;
		munmap((void *)m.base, m.size);
		l->rounds++;
	}
	return NULL;
}

/*
 * Fails when: the data of a CPU without a buffer cannot be read, or not as zeroes, or the
 * zeroes stay where they were mapped when the CPU gets its buffer.
 */
TEST(mapped)
{
	int possible = get_nprocs_conf(), cpu = get_nprocs(), i;
	const struct bpf_relay_opts opts = { .subbuf_size = 4096, .n_subbufs = 4 };
	struct mapped logs[LOGS];
	struct looker looker = { .logs = logs, .cpu = cpu };
	struct relay_log base;

	if (possible == cpu)
		SKIP(return, "all possible CPUs are online (boot with maxcpus=)");
	log_load(&base, "lifetime", "any");
	for (i = 0; i < LOGS; i++) {
		const struct bpf_relay_ctl *ctl;

		logs[i].fd = any_create(&base, &logs[i].log, "mapped", i);
		ASSERT_EQ(any_open(&base, i, opts), 0);
		ASSERT_EQ(log_map(&logs[i].log, &logs[i].m), 0);
		ctl = mem_ctl(&logs[i].m, cpu);
		EXPECT_GT(logs[i].m.log->nr_cpus, cpu);
		EXPECT_EQ(ctl->cpu, cpu);
		EXPECT_EQ(ctl->flags, 0);
		EXPECT_EQ(mem_ctl(&logs[i].m, 0)->flags, BPF_RELAY_F_BUFFER);
		EXPECT_EQ(mem_nonzero(&logs[i].m, cpu), 0);
	}
	ASSERT_EQ(pthread_create(&looker.thread, NULL, look, &looker), 0);
	while (atomic_load(&looker.rounds) < 2 * LOGS)
		usleep(1000);
	EXPECT_TRUE(set_online(cpu, 1));
	atomic_store(&looker.stop, true);
	pthread_join(looker.thread, NULL);
	EXPECT_EQ(looker.wrong, 0);

	for (i = 0; i < LOGS; i++) {
		EXPECT_EQ(mem_ctl(&logs[i].m, cpu)->flags, BPF_RELAY_F_BUFFER);
		any_write(&base, i, cpu, 0, 8, 0, 300);
		EXPECT_GT(mem_nonzero(&logs[i].m, cpu), 0);
		EXPECT_TRUE(mem_same(&logs[i].log, &logs[i].m, cpu, 300));
	}
	/* Of a CPU that goes, everything stays. */
	ASSERT_TRUE(set_online(cpu, 0));
	for (i = 0; i < LOGS; i++) {
		EXPECT_TRUE(mem_same(&logs[i].log, &logs[i].m, cpu, 300));
		mem_close(&logs[i].m);
		any_close(&base, i, logs[i].fd);
		EXPECT_TRUE(log_gone(&logs[i].log));
	}
	log_unload(&base);
}

TEST_HARNESS_MAIN
