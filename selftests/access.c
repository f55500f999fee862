// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who may read a log: the group of gid=, and everybody who may anyway, also when the kernel
 * is locked down. Lockdown cannot be taken back and keeps modules out that are not signed:
 * this is the last test that a machine runs.
 */
#define _GNU_SOURCE
#include "kselftest_harness.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "abuse.h"
#include "bpf/hostile.h"
#include "mem_reader.h"

#define PARAMETERS	"/sys/module/bpf_relay/parameters/"
#define LOCKDOWN	"/sys/kernel/security/lockdown"
#define GROUP		4711
#define USER		4712

static const char * const files[] = { "ctf/metadata", "ctf/cpu0", "stats", "text", "mem" };

static int write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY), err = 0;

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		err = -errno;
	close(fd);
	return err;
}

/* What a user of this group gets who reads a file of the log: 0 or an errno. */
static int read_as(const struct relay_log *log, const char *file, gid_t gid)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		char path[256], buf[256];
		int fd;

		snprintf(path, sizeof(path), "%s/%s", log->dir, file);
		if (setgroups(0, NULL) || setresgid(gid, gid, gid) ||
		    setresuid(USER, USER, USER))
			_exit(255);
		fd = open(path, O_RDONLY);
		_exit(fd < 0 || (read(fd, buf, sizeof(buf)) < 0 && strcmp(file, "mem")) ?
		      errno : 0);
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

FIXTURE(access) {
	struct relay_log log;
	struct hostile_args *args;
	__u64 *results;
};

FIXTURE_SETUP(access)
{
	char gid[16];

	snprintf(gid, sizeof(gid), "%d", GROUP);
	ASSERT_EQ(write_file(PARAMETERS "gid", gid), 0);
	ASSERT_EQ(write_file(PARAMETERS "mode", "0440"), 0);
	log_load(&self->log, "hostile", "hostile");
	ASSERT_EQ(log_open(&self->log, NULL), 0);
	self->args = log_var(&self->log, ".bss", "args");
	self->results = log_var(&self->log, ".bss", "results");
	self->args->count = 10;
	log_run(&self->log, "hostile_write", 0);
}

FIXTURE_TEARDOWN(access)
{
	write_file(PARAMETERS "gid", "0");
	write_file(PARAMETERS "mode", "0400");
	log_unload(&self->log);
	EXPECT_TRUE(log_gone(&self->log));
}

/* Fails when: gid= and mode= do not say who may read, on their own or too generously. */
TEST_F_TIMEOUT(access, group, 120)
{
	struct stat st, debugfs;
	struct relay_log other;
	char path[256];
	int i;

	/* Debugfs itself is closed: that is the administrator's to open. */
	ASSERT_EQ(stat("/sys/kernel/debug", &debugfs), 0);
	if (!(debugfs.st_mode & 0055))
		EXPECT_EQ(read_as(&self->log, "stats", GROUP), EACCES);
	ASSERT_EQ(chmod("/sys/kernel/debug", 0755), 0);
	for (i = 0; i < ARRAY_SIZE(files); i++) {
		EXPECT_EQ(read_as(&self->log, files[i], GROUP), 0);
		EXPECT_EQ(read_as(&self->log, files[i], GROUP + 1), EACCES);
		snprintf(path, sizeof(path), "%s/%s", self->log.dir, files[i]);
		ASSERT_EQ(stat(path, &st), 0);
		EXPECT_EQ(st.st_gid, GROUP);
		EXPECT_EQ(st.st_mode & 07777, 0440);
	}

	/* Parameters are for new logs: 0400 keeps the group out of those. */
	EXPECT_EQ(write_file(PARAMETERS "mode", "0400"), 0);
	log_load(&other, "hostile", "hostile");
	EXPECT_EQ(log_open(&other, NULL), 0);
	for (i = 0; i < ARRAY_SIZE(files); i++) {
		EXPECT_EQ(read_as(&other, files[i], GROUP), EACCES);
		EXPECT_EQ(read_as(&self->log, files[i], GROUP), 0);
	}
	log_unload(&other);
	EXPECT_TRUE(log_gone(&other));
	/* Nobody may write, nor is any other mode taken. */
	EXPECT_EQ(write_file(PARAMETERS "mode", "0444"), -EINVAL);
	EXPECT_EQ(write_file(PARAMETERS "mode", "0640"), -EINVAL);
	EXPECT_EQ(write_file(PARAMETERS "mode", "x"), -EINVAL);
	chmod("/sys/kernel/debug", debugfs.st_mode & 07777);
}

/* All of it is there: what was written before, and what is written now. */
static bool works(struct relay_log *log, __u64 *results)
{
	__u64 before = results[0];
	size_t len;
	char *metadata = log_file(log, "ctf/metadata", &len);
	bool good = metadata && strstr(metadata, "trace {");

	free(metadata);
	log_run(log, "hostile_write", 0);
	return good && results[0] == before + 10 && log_identities(log) &&
	       log_walk(log, 0, true, NULL, NULL) == results[0];
}

/* What opening mem gives: 0 or an errno. */
static int open_mem(const struct relay_log *log)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s/mem", log->dir);
	fd = open(path, O_RDONLY);
	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

/*
 * Fails when: a locked down kernel does not let the files be read, or mem be opened all the
 * same. Debugfs asks lockdown only for files that can be written, mapped or controlled
 * (fs/debugfs/file.c, debugfs_locked_down()); "confidentiality" adds reasons of others, but
 * none of debugfs's. What was mapped before stays.
 */
TEST_F_TIMEOUT(access, lockdown, 120)
{
	static const char * const levels[] = { "integrity", "confidentiality" };
	char path[256], state[128] = {};
	struct relay_log other;
	struct mem_reader m;
	int i, fd;

	mount("securityfs", "/sys/kernel/security", "securityfs", 0, NULL);
	if (access(LOCKDOWN, W_OK))
		SKIP(return, "this kernel has no lockdown");
	EXPECT_TRUE(works(&self->log, self->results));
	EXPECT_EQ(open_mem(&self->log), 0);
	snprintf(path, sizeof(path), "%s/mem", self->log.dir);
	ASSERT_EQ(mem_open(&m, path), 0);
	for (i = 0; i < ARRAY_SIZE(levels); i++) {
		ASSERT_EQ(write_file(LOCKDOWN, levels[i]), 0);
		fd = open(LOCKDOWN, O_RDONLY);
		EXPECT_GT(read(fd, state, sizeof(state) - 1), 0);
		close(fd);
		snprintf(path, sizeof(path), "[%s]", levels[i]);
		EXPECT_NE(strstr(state, path), NULL);

		EXPECT_TRUE(works(&self->log, self->results));
		EXPECT_EQ(open_mem(&self->log), EPERM);
		EXPECT_EQ(mem_ctl(&m, 0)->counters.records, self->results[0]);
		/* A new log, too. */
		log_load(&other, "hostile", "hostile");
		EXPECT_EQ(log_open(&other, NULL), 0);
		log_run(&other, "hostile_write", 0);
		EXPECT_TRUE(log_identities(&other));
		EXPECT_EQ(open_mem(&other), EPERM);
		log_unload(&other);
		EXPECT_TRUE(log_gone(&other));
		/* Negative control: it is in force; debugfs files cannot be given away. */
		snprintf(path, sizeof(path), "%s/stats", self->log.dir);
		EXPECT_EQ(chmod(path, 0444) ? errno : 0, EPERM);
	}
	mem_close(&m);
}

TEST_HARNESS_MAIN
