// SPDX-License-Identifier: GPL-2.0-only
/* A machine that could have many more CPUs than it has: boot with -c 255 --append maxcpus=4. */
#define _GNU_SOURCE
#include "kselftest_harness.h"

#include <bpf/libbpf.h>
#include <stdarg.h>

#include "mem_test.h"

/* Lines of a file of the log; fewer than `most`. */
static int lines_of(const struct relay_log *log, const char *name, size_t most)
{
	size_t len, i;
	char *text = log_file(log, name, &len);
	int lines = 0;

	if (!text)
		return -1;
	for (i = 0; i < len; i++)
		lines += text[i] == '\n';
	free(text);
	return len < most ? lines : -1;
}

static bool contains(const struct relay_log *log, const char *name, const char *words)
{
	size_t len;
	char *text = log_file(log, name, &len);
	bool found = text && strstr(text, words);

	free(text);
	return found;
}

/* The number that a command prints; -1: none, or the command failed. */
static __attribute__((format(printf, 1, 2))) long number_of(const char *fmt, ...)
{
	char command[1024];
	va_list args;
	long n = -1;
	FILE *f;

	va_start(args, fmt);
	vsnprintf(command, sizeof(command), fmt, args);
	va_end(args);
	f = popen(command, "r");
	if (!f)
		return -1;
	if (fscanf(f, "%ld", &n) != 1)
		n = -1;
	return pclose(f) ? -1 : n;
}

FIXTURE(manycpus) {
	struct relay_log log;
	struct mem_reader m;
	int online, possible, records;
};

FIXTURE_SETUP(manycpus)
{
	int cpu;

	self->online = n_cpus();
	self->possible = libbpf_num_possible_cpus();
	if (self->possible < self->online + 16)
		SKIP(return, "boot with -c 255 --append maxcpus=4");
	log_load(&self->log, "mem", "mem");
	ASSERT_EQ(log_open(&self->log, &mem_opts), 0);
	for (cpu = 0; cpu < self->online; cpu++) {
		mem_write(&self->log, cpu, 3 * MEM_PER_PACKET + cpu);
		self->records += 3 * MEM_PER_PACKET + cpu;
	}
	ASSERT_EQ(log_map(&self->log, &self->m), 0);
}

FIXTURE_TEARDOWN(manycpus)
{
	if (!self->log.obj)
		return;
	mem_close(&self->m);
	log_unload(&self->log);
	EXPECT_TRUE(log_gone(&self->log));
}

/* Fails when: what cannot be said of CPUs that are not there is said of each. */
TEST_F_TIMEOUT(manycpus, stats, 300)
{
	char absent[64];
	int cpu;

	snprintf(absent, sizeof(absent), "\ncpu: %d-%d (no buffer)\n", self->online,
		 self->possible - 1);
	EXPECT_TRUE(contains(&self->log, "stats", absent));
	/* About the log, 28 for each CPU, and that one. */
	EXPECT_GT(lines_of(&self->log, "stats", 4096), 28 * self->online);
	EXPECT_LT(lines_of(&self->log, "stats", 4096), 28 * self->online + 16);
	for (cpu = 0; cpu < self->online; cpu++)
		EXPECT_EQ(log_stat(&self->log, cpu, "stored events"), 3 * MEM_PER_PACKET + cpu);
	EXPECT_TRUE(log_identities(&self->log));
}

/* Fails when: memory is counted, or taken, for buffers of CPUs that are not there. */
TEST_F_TIMEOUT(manycpus, memory, 300)
{
	unsigned long long memory = log_stat(&self->log, -1, "memory");

	EXPECT_EQ(memory, self->online * MEM_BUFFER +
		  self->possible * self->m.log->data_offset);
	EXPECT_EQ(self->m.log->data_offset, 4096);
}

/* Fails when: mem cannot be read from one end to the other, or has anything of theirs. */
TEST_F_TIMEOUT(manycpus, mem, 300)
{
	int cpu;

	EXPECT_EQ(self->m.log->nr_cpus, self->possible);
	EXPECT_EQ(self->m.size, 4096 + self->possible * (4096 + MEM_BUFFER));
	for (cpu = 0; cpu < self->possible; cpu++) {
		const struct bpf_relay_ctl *ctl = mem_ctl(&self->m, cpu);
		bool there = cpu < self->online;

		EXPECT_EQ(ctl->cpu, cpu);
		EXPECT_EQ(ctl->abi, BPF_RELAY_ABI);
		EXPECT_EQ(ctl->flags, there ? BPF_RELAY_F_BUFFER : 0);
		EXPECT_EQ(mem_nonzero(&self->m, cpu) > 0, there);
		EXPECT_TRUE(mem_same(&self->log, &self->m, cpu,
				     there ? 3 * MEM_PER_PACKET + cpu : 0));
	}
}

/* Fails when: text speaks of CPUs that are not there, or lacks what the others wrote. */
TEST_F_TIMEOUT(manycpus, text, 300)
{
	const char *dir = self->log.dir;

	EXPECT_EQ(number_of("grep -vc '^#' %s/text", dir), self->records);
	EXPECT_EQ(number_of("sed -n '1s/.* cpus=\\([0-9]*\\).*/\\1/p' %s/text", dir), self->online);
	/* Its head, and nothing behind the records. */
	EXPECT_EQ(number_of("grep -c '^#' %s/text", dir), 3);
}

/* Fails when: a command shows each CPU that is not there, or reads the others wrongly. */
TEST_F_TIMEOUT(manycpus, commands, 300)
{
	__u32 id = self->log.id;

	/* A head, and the log. */
	EXPECT_EQ(number_of("bpfrelay list | wc -l"), 2);
	EXPECT_EQ(number_of("bpfrelay list -j | jq '.[].records'"), self->records);
	/* A head, a line for each CPU, and the sum, which has what they stored. */
	EXPECT_EQ(number_of("bpfrelay stats %u | wc -l", id), self->online + 2);
	EXPECT_EQ(number_of("bpfrelay stats %u | awk '$1 == \"all\" { print $3 }'", id),
		  self->records);
	/* Nothing but records, from memory and from ctf/. */
	EXPECT_EQ(number_of("bpfrelay cat %u 2>&1 | wc -l", id), self->records);
	EXPECT_EQ(number_of("bpfrelay cat --ctf %u 2>&1 | wc -l", id), self->records);
}

/* Fails when: a copy of ctf/ is no trace, or larger than what was recorded. */
TEST_F_TIMEOUT(manycpus, copy, 300)
{
	shell("rm -rf /tmp/manycpus");
	EXPECT_EQ(shell("cp -r %s/ctf /tmp/manycpus", self->log.dir), 0);
	EXPECT_EQ(number_of("babeltrace2 /tmp/manycpus 2>&1 | wc -l"), self->records);
	EXPECT_EQ(number_of("find /tmp/manycpus -name 'cpu*' -size +0 | wc -l"), self->online);
	shell("rm -rf /tmp/manycpus");
	EXPECT_EQ(shell("bpfrelay snapshot %u /tmp/manycpus >/dev/null", self->log.id), 0);
	EXPECT_EQ(number_of("bpfrelay cat /tmp/manycpus 2>&1 | wc -l"), self->records);
	EXPECT_EQ(number_of("find /tmp/manycpus -name 'cpu*' -size +0 | wc -l"), self->online);
	shell("rm -rf /tmp/manycpus");
}

TEST_HARNESS_MAIN
