// SPDX-License-Identifier: GPL-2.0-only
/* What a reader of ctf/ gets, however it reads; what it may not do; who may read. */
#define _GNU_SOURCE
#include <grp.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "readers.h"

/* NULL, which the compiler need not know. */
static char *volatile nowhere;

/* Fails when: the place of a reader is not its own, as with relay's read(). */
TEST_F_TIMEOUT(idle, two_readers_at_once, TIMEOUT)
{
	int a = open_file(&self->log, "ctf/cpu0", O_RDONLY);
	int b = open_file(&self->log, "ctf/cpu0", O_RDONLY);
	char *other = malloc(2 * BUFFER);
	ssize_t na, nb, got_a = 0, got_b = 0;

	do {
		na = read(a, self->buf + got_a, 97);
		nb = read(b, other + got_b, 1500);
		ASSERT_GE(na, 0);
		ASSERT_GE(nb, 0);
		got_a += na;
		got_b += nb;
	} while (na || nb);
	EXPECT_EQ(got_a, self->len);
	EXPECT_EQ(got_b, self->len);
	EXPECT_EQ(memcmp(self->buf, self->data, self->len), 0);
	EXPECT_EQ(memcmp(other, self->data, self->len), 0);
	free(other);
	close(a);
	close(b);
}

/*
 * Fails when: what is delivered depends on how much is asked for (a packet staged
 * anew in its middle, padding left out, a read that ends at a packet's border).
 */
TEST_F_TIMEOUT(idle, any_size_of_read, TIMEOUT)
{
	static const size_t steps[] = {
		1, 3, 7, 87, 88, 89, 104, 4095, 4096, 4097, 8191, 8192, BUFFER - 1, BUFFER,
		BUFFER + 1, 2 * BUFFER,
	};
	unsigned int i;

	for (i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		int fd = open_file(&self->log, "ctf/cpu0", O_RDONLY);

		memset(self->buf, 0x55, 4 * BUFFER);
		EXPECT_EQ(read_on(fd, self->buf, steps[i]), self->len) {
			TH_LOG("in steps of %zu", steps[i]);
		}
		EXPECT_EQ(memcmp(self->buf, self->data, self->len), 0) {
			TH_LOG("in steps of %zu", steps[i]);
		}
		close(fd);
	}
}

/* Random places, the same in each run; what does not fit self->data is counted. */
static unsigned int pread_random(int fd, unsigned int seed, const char *data, char *buf)
{
	unsigned int wrong = 0;
	int i;

	for (i = 0; i < 2000; i++) {
		size_t at = rand_r(&seed) % (BUFFER + 100);
		size_t count = rand_r(&seed) % (i % 2 ? 64 : 10000);
		size_t left = at < BUFFER ? BUFFER - at : 0;
		ssize_t n = pread(fd, buf, count, at);

		wrong += n != (ssize_t)(count < left ? count : left) ||
			 memcmp(buf, data + (left ? at : 0), n);
	}
	return wrong;
}

/* Fails when: pread() delivers another place's bytes, or moves the place of read(). */
TEST_F_TIMEOUT(idle, pread_anywhere, TIMEOUT)
{
	int fd = open_file(&self->log, "ctf/cpu0", O_RDONLY);

	ASSERT_EQ(read(fd, self->buf, 5000), 5000);
	EXPECT_EQ(pread_random(fd, 1, self->data, self->buf), 0);
	EXPECT_EQ(lseek(fd, 0, SEEK_CUR), 5000);
	EXPECT_EQ(pread(fd, self->buf, 1, -1), -1);
	EXPECT_EQ(errno, EINVAL);
	EXPECT_EQ(pread(fd, self->buf, 1, 1LL << 62), 0);

	/* The comparison does see a byte that differs. */
	self->data[BUFFER / 2] ^= 1;
	EXPECT_NE(pread_random(fd, 1, self->data, self->buf), 0);
	close(fd);
}

struct preader {
	pthread_t thread;
	const char *data;
	char *buf;
	int fd;
	unsigned int seed;
	unsigned int wrong;
};

static void *preader(void *arg)
{
	struct preader *p = arg;

	run_on(p->seed % n_cpus());
	p->wrong = pread_random(p->fd, p->seed, p->data, p->buf);
	return NULL;
}

/* Fails when: the packet staged in an open file is not under its lock. */
TEST_F_TIMEOUT(idle, threads_share_a_file, TIMEOUT)
{
	struct preader p[4];
	int i;

	for (i = 0; i < 4; i++) {
		p[i] = (struct preader) {
			.data = self->data,
			.buf = malloc(BUFFER),
			.fd = i ? p[0].fd : open_file(&self->log, "ctf/cpu0", O_RDONLY),
			.seed = i,
		};
		ASSERT_EQ(pthread_create(&p[i].thread, NULL, preader, &p[i]), 0);
	}
	for (i = 0; i < 4; i++) {
		pthread_join(p[i].thread, NULL);
		EXPECT_EQ(p[i].wrong, 0);
		free(p[i].buf);
	}
	close(p[0].fd);
}

/* Fails when: the end is not the end of the snapshot, or a refused lseek moves. */
TEST_F_TIMEOUT(idle, lseek_to_the_end, TIMEOUT)
{
	int fd = open_file(&self->log, "ctf/cpu0", O_RDONLY);

	EXPECT_EQ(lseek(fd, 0, SEEK_END), self->len);
	EXPECT_EQ(read(fd, self->buf, 1), 0);
	EXPECT_EQ(lseek(fd, 17, SEEK_SET), 17);
	EXPECT_EQ(lseek(fd, -1, SEEK_SET), -1);
	EXPECT_EQ(errno, EINVAL);
	EXPECT_EQ(lseek(fd, -18, SEEK_CUR), -1);
	EXPECT_EQ(errno, EINVAL);
	EXPECT_EQ(lseek(fd, self->len + 1, SEEK_SET), -1);
	EXPECT_EQ(errno, EINVAL);
	/* Not offered; cp and tar then read everything. */
	EXPECT_EQ(lseek(fd, 0, SEEK_DATA), -1);
	EXPECT_EQ(errno, EINVAL);
	EXPECT_EQ(lseek(fd, 0, SEEK_HOLE), -1);
	EXPECT_EQ(errno, EINVAL);
	EXPECT_EQ(lseek(fd, 0, SEEK_CUR), 17);
	EXPECT_EQ(read_on(fd, self->buf, 1000), self->len - 17);
	EXPECT_EQ(memcmp(self->buf, self->data + 17, self->len - 17), 0);
	close(fd);
}

/* Text of stats without what time and readers move. */
static char *stable_stats(const struct relay_log *log)
{
	size_t len;
	char *text = log_file(log, "stats", &len), *to = text, *line, *save = NULL;

	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		if (strncmp(line, "now ts", 6) && strncmp(line, "oldest open age", 15) &&
		    strncmp(line, "read retries", 12)) {
			memmove(to, line, strlen(line) + 1);
			to += strlen(to) + 1;
			to[-1] = '\n';
		}
	*to = 0;
	return text;
}

/* Fails when: reading takes something away, from the log or from what it says of itself. */
TEST_F_TIMEOUT(idle, reading_consumes_nothing, TIMEOUT)
{
	char *before = stable_stats(&self->log), *after;
	size_t len;
	int i;

	for (i = 0; i < 3; i++) {
		char *again = log_file(&self->log, "ctf/cpu0", &len);

		ASSERT_EQ(len, self->len);
		EXPECT_EQ(memcmp(again, self->data, len), 0);
		free(again);
	}
	after = stable_stats(&self->log);
	EXPECT_NE(strstr(before, "\nstored events: "), NULL);
	EXPECT_STREQ(before, after);
	/* The comparison does see a record more. */
	write_records(&self->log, 1);
	free(after);
	after = stable_stats(&self->log);
	EXPECT_STRNE(before, after);
	free(before);
	free(after);
}

/* Fails when: a fault loses bytes, or leaves the file in a state that goes on wrongly. */
TEST_F_TIMEOUT(idle, bad_addresses, TIMEOUT)
{
	char *page = mmap(NULL, 2 * SUBBUF, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd = open_file(&self->log, "ctf/cpu0", O_RDONLY);

	ASSERT_NE(page, MAP_FAILED);
	ASSERT_EQ(mprotect(page + SUBBUF, SUBBUF, PROT_NONE), 0);
	EXPECT_EQ(read(fd, page + SUBBUF, 100), -1);
	EXPECT_EQ(errno, EFAULT);
	EXPECT_EQ(read(fd, nowhere, 2 * BUFFER), -1);
	EXPECT_EQ(errno, EFAULT);
	EXPECT_EQ(lseek(fd, 0, SEEK_CUR), 0);
	ASSERT_EQ(read(fd, self->buf, 100), 100);
	EXPECT_EQ(read(fd, page + SUBBUF, SUBBUF), -1);
	EXPECT_EQ(errno, EFAULT);
	EXPECT_EQ(lseek(fd, 0, SEEK_CUR), 100);
	/* What is left of the packet fits, what follows does not. */
	ASSERT_EQ(read(fd, page + 100, 2 * SUBBUF), SUBBUF - 100);
	memcpy(self->buf + 100, page + 100, SUBBUF - 100);
	EXPECT_EQ(read_on(fd, self->buf + SUBBUF, 1000), self->len - SUBBUF);
	EXPECT_EQ(memcmp(self->buf, self->data, self->len), 0);
	close(fd);
	munmap(page, 2 * SUBBUF);
}

/* Fails when: somebody may believe that he changed a file of ctf/, or may add one. */
TEST_F_TIMEOUT(idle, nothing_may_be_changed, TIMEOUT)
{
	static const char * const names[] = { "ctf/metadata", "ctf/cpu0", "ctf/cpu1", "text" };
	static const int flags[] = {
		O_WRONLY, O_RDWR, O_WRONLY | O_TRUNC, O_RDWR | O_APPEND, O_RDONLY | O_TRUNC,
	};
	struct stat before, after;
	char path[256];
	unsigned int i, j;
	int fd;

	for (i = 0; i < sizeof(names) / sizeof(*names); i++) {
		snprintf(path, sizeof(path), "%s/%s", self->log.dir, names[i]);
		ASSERT_EQ(stat(path, &before), 0);
		for (j = 0; j < sizeof(flags) / sizeof(*flags); j++) {
			fd = open(path, flags[j]);
			EXPECT_EQ(fd, -1) {
				TH_LOG("%s was opened with flags %#o; write() says %zd, errno %d",
				       names[i], flags[j], write(fd, "x", 1), errno);
			}
			if (fd < 0)
				EXPECT_EQ(errno, EACCES);
			close(fd);
		}
		EXPECT_EQ(truncate(path, 0), -1) {
			TH_LOG("%s was truncated", names[i]);
		}
		EXPECT_EQ(errno, EACCES);
		fd = open(path, O_RDONLY);
		ASSERT_GE(fd, 0);
		EXPECT_EQ(write(fd, "x", 1), -1);
		EXPECT_EQ(errno, EBADF);
		EXPECT_EQ(ftruncate(fd, 0), -1);
		EXPECT_EQ(errno, EINVAL);
		EXPECT_EQ(mmap(NULL, SUBBUF, PROT_READ, MAP_PRIVATE, fd, 0), MAP_FAILED);
		EXPECT_EQ(errno, ENODEV);
		EXPECT_EQ(mmap(NULL, SUBBUF, PROT_READ, MAP_SHARED, fd, 0), MAP_FAILED);
		EXPECT_EQ(errno, ENODEV);
		close(fd);
		ASSERT_EQ(stat(path, &after), 0);
		EXPECT_EQ(after.st_size, before.st_size);
		EXPECT_EQ(unlink(path), -1);
	}
	snprintf(path, sizeof(path), "%s/ctf/stray", self->log.dir);
	EXPECT_EQ(open(path, O_CREAT | O_WRONLY, 0600), -1);
	EXPECT_EQ(mkdir(path, 0700), -1);
	fd = open_file(&self->log, "ctf/cpu0", O_RDONLY);
	EXPECT_EQ(read_on(fd, self->buf, 1000), self->len);
	EXPECT_EQ(memcmp(self->buf, self->data, self->len), 0);
	close(fd);
}

/* Fails when: stat() does not say how much there is to read, or says it has holes. */
TEST_F_TIMEOUT(idle, metadata, TIMEOUT)
{
	int a = open_file(&self->log, "ctf/metadata", O_RDONLY);
	struct stat st, open_st;
	char *text, *bytes;
	size_t len, i;

	ASSERT_EQ(stat_file(&self->log, "ctf/metadata", &st), 0);
	ASSERT_EQ(fstat(a, &open_st), 0);
	text = log_file(&self->log, "ctf/metadata", &len);
	EXPECT_GT(len, 1000);
	EXPECT_EQ(st.st_size, len);
	EXPECT_EQ(open_st.st_size, len);
	EXPECT_GE(st.st_blocks * 512, st.st_size);
	EXPECT_EQ(strncmp(text, "/* CTF 1.8 */\n", 14), 0);
	EXPECT_EQ(strlen(text), len);

	/* One open file says the same whatever is asked for (the clock's offset, too). */
	bytes = malloc(2 * len);
	ASSERT_EQ(read_on(a, bytes, 1), len);
	free(text);
	text = malloc(2 * len);
	EXPECT_EQ(lseek(a, 0, SEEK_SET), 0);
	EXPECT_EQ(read_on(a, text, 2 * len), len);
	EXPECT_EQ(memcmp(text, bytes, len), 0);
	for (i = 0; i < len; i += 97) {
		EXPECT_EQ(pread(a, text, 200, i), len - i < 200 ? len - i : 200);
		EXPECT_EQ(memcmp(text, bytes + i, len - i < 200 ? len - i : 200), 0);
	}
	EXPECT_EQ(lseek(a, 0, SEEK_END), len);
	EXPECT_EQ(lseek(a, 0, SEEK_SET), 0);
	EXPECT_EQ(read(a, nowhere, 10), -1);
	EXPECT_EQ(errno, EFAULT);
	EXPECT_EQ(read_on(a, text, 100), len);
	free(text);
	free(bytes);
	close(a);
}

/* Fails when: st_size is not what a reader gets, from an empty log to a lapped one. */
TEST_F_TIMEOUT(empty, sizes, TIMEOUT)
{
	/* Records more, packets then. */
	static const struct { __u64 count; unsigned int packets; } steps[] = {
		{ 0, 0 }, { 1, 1 }, { PER_PACKET - 1, 1 }, { 1, 2 }, { PER_PACKET - 1, 2 },
		{ 5 * PER_PACKET, 7 }, { PER_PACKET, 8 }, { 1, 8 }, { PER_PACKET, 8 },
		{ 100 * PER_PACKET, 8 },
	};
	unsigned int i;
	int cpu;

	for (i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		write_records(&self->log, steps[i].count);
		for (cpu = 0; cpu < n_cpus(); cpu++) {
			size_t want = cpu ? 0 : steps[i].packets * SUBBUF, len;
			struct stat st;
			char name[32];
			char *data;

			snprintf(name, sizeof(name), "ctf/cpu%d", cpu);
			ASSERT_EQ(stat_file(&self->log, name, &st), 0);
			data = log_file(&self->log, name, &len);
			ASSERT_NE(data, NULL);
			EXPECT_EQ(st.st_size, want);
			EXPECT_EQ(len, want);
			EXPECT_GE(st.st_blocks * 512, st.st_size);
			EXPECT_TRUE(S_ISREG(st.st_mode));
			free(data);
		}
	}
}

/* rmmod may have to wait for the last log's end. */
static int reload(const char *options)
{
	shell("for i in $(seq 100); do rmmod bpf_relay 2>/dev/null && break; "
	      "[ -d /sys/module/bpf_relay ] || break; sleep 0.1; done");
	return shell("insmod $MODULE %s 2>/dev/null", options);
}

/* Read `file` in `dir` as a user; 0 or errno. */
static int read_as(const char *dir, const char *file, int flags, int uid, int gid)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		char c;
		int fd;

		/* debugfs itself is closed to users; its root says who may enter. */
		if (chdir(dir) || setgroups(0, NULL) || setresgid(gid, gid, gid) ||
		    setresuid(uid, uid, uid))
			_exit(255);
		fd = open(file, flags);
		_exit(fd < 0 || read(fd, &c, 1) != 1 ? errno : 0);
	}
	waitpid(pid, &status, 0);
	return WEXITSTATUS(status);
}

static void mode_and_gid(struct __test_metadata *_metadata, unsigned int mode, unsigned int gid)
{
	static const char * const names[] = {
		"ctf/metadata", "ctf/cpu0", "ctf/cpu1", "stats", "text",
	};
	struct relay_log log;
	struct stat st;
	int i;

	log_load(&log, "writer", "writer");
	ASSERT_EQ(log_open(&log, &small), 0);
	write_records(&log, 1);
	for (i = 0; i < sizeof(names) / sizeof(*names); i++) {
		ASSERT_EQ(stat_file(&log, names[i], &st), 0);
		EXPECT_EQ(st.st_mode & 07777, mode);
		EXPECT_EQ(st.st_uid, 0);
		EXPECT_EQ(st.st_gid, gid);
	}
	for (i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (i == 2)
			continue;	/* nothing was written there */
		EXPECT_EQ(read_as(log.dir, names[i], O_RDONLY, 0, 0), 0);
		EXPECT_EQ(read_as(log.dir, names[i], O_RDONLY, 1000, 1000), EACCES);
		EXPECT_EQ(read_as(log.dir, names[i], O_RDONLY, 1000, gid ?: 1000),
			  mode == 0440 ? 0 : EACCES);
		EXPECT_EQ(read_as(log.dir, names[i], O_RDWR, 1000, gid ?: 1000), EACCES);
	}
	log_unload(&log);
	EXPECT_TRUE(log_gone(&log));
}

FIXTURE(module) {
};

FIXTURE_SETUP(module)
{
	ASSERT_EQ(reload(""), 0);
}

/* As it was for whoever comes next. */
FIXTURE_TEARDOWN(module)
{
	EXPECT_EQ(reload(""), 0);
}

/* Fails when: a log is open to more, or fewer, than the parameters say. */
TEST_F_TIMEOUT(module, mode_and_gid, TIMEOUT)
{
	mode_and_gid(_metadata, 0400, 0);
	ASSERT_EQ(reload("mode=0440 gid=1234"), 0);
	mode_and_gid(_metadata, 0440, 1234);
	/* For logs opened from now on. */
	ASSERT_EQ(shell("echo 0400 >/sys/module/bpf_relay/parameters/mode"), 0);
	mode_and_gid(_metadata, 0400, 1234);
	ASSERT_EQ(shell("echo 440 >/sys/module/bpf_relay/parameters/mode"), 0);
	EXPECT_NE(shell("echo 0666 2>/dev/null >/sys/module/bpf_relay/parameters/mode"), 0);
	mode_and_gid(_metadata, 0440, 1234);
}

/* Fails when: another mode is accepted, or silently replaced. */
TEST_F_TIMEOUT(module, other_modes_are_refused, TIMEOUT)
{
	static const char * const bad[] = {
		"mode=0444", "mode=0600", "mode=0640", "mode=0000", "mode=0404", "mode=04440",
		"mode=0", "mode=", "mode=rw", "mode=400x", "gid=-1", "gid=root",
	};
	unsigned int i;

	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		const char *options = bad[i];

		EXPECT_NE(reload(options), 0) {
			TH_LOG("insmod with %s", options);
		}
	}
	EXPECT_EQ(reload("mode=0400 gid=0"), 0);
}

TEST_HARNESS_MAIN
