// SPDX-License-Identifier: GPL-2.0-only
/* A log lives as long as its map: after its producer, before its module. */
#define _GNU_SOURCE
#include "kselftest_harness.h"

#include <dirent.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "anylog.h"

#define PINS	"/sys/fs/bpf/lifetime"
#define CALLS	200

enum { PIN_NOTHING = 0, PIN_MAP = 1, PIN_LINK = 2, PIN_OUTER = 4 };

/* Each call of it is one record of the attached program, on this CPU. */
static int call_test_function(int prog_fd)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts);

	return bpf_prog_test_run_opts(prog_fd, &opts);
}

static int call_on_all_cpus(int prog_fd, int calls)
{
	int cpu, i, err = 0;

	for (cpu = 0; cpu < n_cpus(); cpu++) {
		run_on(cpu);
		for (i = 0; i < calls; i++)
			err = err ?: call_test_function(prog_fd);
	}
	return err;
}

/*
 * The producer: plain libbpf, nothing of ours but the object file and the name of
 * the program that opens its log. Returns at the first thing that fails.
 */
static int produce(int pins, __u32 *map_id)
{
	LIBBPF_OPTS(bpf_test_run_opts, run);
	struct bpf_map_info info = {};
	__u32 len = sizeof(info), key = 1;
	struct bpf_program *prog;
	struct bpf_object *obj;
	struct bpf_link *link;
	struct bpf_map *map;
	char path[512];
	int map_fd;

	snprintf(path, sizeof(path), "%s/selftests/lifetime.bpf.o", getenv("BUILD") ?: "../build");
	obj = bpf_object__open_file(path, NULL);
	if (!obj || bpf_object__load(obj))
		return 1;
	prog = bpf_object__find_program_by_name(obj, "any_open");
	if (bpf_prog_test_run_opts(bpf_program__fd(prog), &run) || run.retval)
		return 2;
	prog = bpf_object__find_program_by_name(obj, "on_test");
	link = bpf_program__attach(prog);
	if (!link || call_on_all_cpus(bpf_program__fd(prog), CALLS))
		return 3;
	map_fd = bpf_object__find_map_fd_by_name(obj, "any");
	if (bpf_map_get_info_by_fd(map_fd, &info, &len))
		return 4;
	*map_id = info.id;
	if (pins & PIN_MAP && bpf_obj_pin(map_fd, PINS "/map"))
		return 5;
	if (pins & PIN_LINK && bpf_link__pin(link, PINS "/link"))
		return 6;
	map = bpf_object__find_map_by_name(obj, "any_logs");
	if (pins & PIN_OUTER && (bpf_map_update_elem(bpf_map__fd(map), &key, &map_fd, BPF_ANY) ||
				 bpf_map__pin(map, PINS "/outer")))
		return 7;
	return 0;
}

FIXTURE(lifetime) {
	struct relay_log log;	/* without an object: only its files */
	int result;		/* of produce() */
};

FIXTURE_SETUP(lifetime)
{
	shell("rm -rf " PINS);
	ASSERT_EQ(mkdir(PINS, 0700), 0);
	ASSERT_TRUE(module_insert());
}

FIXTURE_TEARDOWN(lifetime)
{
	shell("rm -rf " PINS);
}

/* Start a producer, and kill it as it sits there with everything still open. */
static void produce_and_die(struct relay_log *log, int *result, int pins)
{
	struct { int result; __u32 map_id; } said = { .result = -1 };
	int fds[2], status;
	pid_t pid;

	if (pipe(fds))
		any_die("pipe: %s", strerror(errno));
	pid = fork();
	if (!pid) {
		said.result = produce(pins, &said.map_id);
		if (write(fds[1], &said, sizeof(said)) != sizeof(said))
			exit(1);
		for (;;)
			pause();
	}
	close(fds[1]);
	if (read(fds[0], &said, sizeof(said)) != sizeof(said))
		said.result = -1;
	close(fds[0]);
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL)
		said.result = -2;
	*log = (struct relay_log) { .name = "any", .id = said.map_id };
	snprintf(log->dir, sizeof(log->dir), DEBUGFS "/any.%u", said.map_id);
	*result = said.result;
}

struct order {
	__u64 next;
	__u64 wrong;
	__u64 cpu;
};

static bool in_order(const struct record *rec, void *ctx)
{
	const struct any_rec *r = rec->payload;
	struct order *o = ctx;

	o->wrong += rec->header->id != 1 || rec->header->len != sizeof(*r) ||
		    r->seq != o->next++ || r->cpu != o->cpu;
	return true;
}

/* Records first to first + count - 1 of each CPU's turn are its file's, no more. */
static int log_is_whole(const struct relay_log *log)
{
	int cpu, bad = 0;

	for (cpu = 0; cpu < n_cpus(); cpu++) {
		struct order o = { .next = cpu * CALLS, .cpu = cpu };

		bad += log_walk(log, cpu, true, in_order, &o) != CALLS || o.wrong ||
		       log_stat(log, cpu, "stored events") != CALLS;
	}
	return bad + (log_dropped(log, -1) != 0) + !log_identities(log);
}

/*
 * Fails when: the end of the process that opened a log takes away a record, or the
 * whole log; or anything but one test run of any_open is needed to open it.
 */
TEST_F(lifetime, read_after_sigkill)
{
	produce_and_die(&self->log, &self->result, PIN_MAP);
	ASSERT_EQ(self->result, 0);
	EXPECT_EQ(log_is_whole(&self->log), 0);
	/* rmmod, with nothing but a pinned map: no program, no process. */
	EXPECT_EQ(module_try_remove(), EWOULDBLOCK);
	EXPECT_EQ(log_is_whole(&self->log), 0);

	ASSERT_EQ(unlink(PINS "/map"), 0);
	EXPECT_TRUE(log_gone(&self->log));
	EXPECT_TRUE(module_remove());
}

/* Fails when: a log outlives the process though nothing is pinned. */
TEST_F(lifetime, negative_control_nothing_pinned)
{
	produce_and_die(&self->log, &self->result, PIN_NOTHING);
	ASSERT_EQ(self->result, 0);
	EXPECT_TRUE(log_gone(&self->log));
	EXPECT_TRUE(module_remove());
}

/* Fails when: a program that only its pinned link keeps does not write any more. */
TEST_F(lifetime, pinned_link_goes_on_writing)
{
	struct bpf_link_info info = {};
	__u32 len = sizeof(info);
	int link, prog, cpu;

	produce_and_die(&self->log, &self->result, PIN_LINK);
	ASSERT_EQ(self->result, 0);
	EXPECT_EQ(log_is_whole(&self->log), 0);

	link = bpf_obj_get(PINS "/link");
	ASSERT_GE(link, 0);
	ASSERT_EQ(bpf_link_get_info_by_fd(link, &info, &len), 0);
	prog = bpf_prog_get_fd_by_id(info.prog_id);
	ASSERT_GE(prog, 0);
	EXPECT_EQ(call_on_all_cpus(prog, 50), 0);
	close(prog);
	close(link);
	for (cpu = 0; cpu < n_cpus(); cpu++)
		EXPECT_EQ(log_stat(&self->log, cpu, "stored events"), CALLS + 50);
	EXPECT_EQ(log_dropped(&self->log, -1), 0);
	EXPECT_TRUE(log_identities(&self->log));
	EXPECT_EQ(module_try_remove(), EWOULDBLOCK);

	ASSERT_EQ(unlink(PINS "/link"), 0);
	EXPECT_TRUE(log_gone(&self->log));
	EXPECT_TRUE(module_remove());
}

/* Fails when: a map of maps does not hold the log of a map inside it, or for ever. */
TEST_F(lifetime, inner_map_holds_its_log)
{
	__u32 key = 1;
	int outer;

	produce_and_die(&self->log, &self->result, PIN_OUTER);
	ASSERT_EQ(self->result, 0);
	EXPECT_EQ(log_is_whole(&self->log), 0);
	EXPECT_EQ(module_try_remove(), EWOULDBLOCK);

	outer = bpf_obj_get(PINS "/outer");
	ASSERT_GE(outer, 0);
	ASSERT_EQ(bpf_map_delete_elem(outer, &key), 0);
	EXPECT_TRUE(log_gone(&self->log));
	close(outer);
	ASSERT_EQ(unlink(PINS "/outer"), 0);
	EXPECT_TRUE(module_remove());
}

/* Fails when: a log needs more than its last descriptor's close() to go. */
TEST_F(lifetime, closed_without_a_pin)
{
	struct relay_log base, log;
	int fd;

	log_load(&base, "lifetime", "any");
	fd = any_create(&base, &log, "closed", 1);
	EXPECT_EQ(any_open(&base, 1, (struct bpf_relay_opts) {}), 0);
	any_write(&base, 1, 0, 0, 8, 0, 3);
	EXPECT_EQ(log_stat(&log, 0, "stored events"), 3);
	any_close(&base, 1, fd);
	EXPECT_TRUE(log_gone(&log));
	log_unload(&base);
	EXPECT_TRUE(module_remove());
}

static int open_in(const struct relay_log *log, const char *name, int flags)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", log->dir, name);
	return open(path, flags);
}

/* Whatever a system call says of a file whose log is gone, it is one of these. */
static bool reads_nothing(int fd)
{
	char buf[256];
	ssize_t n = pread(fd, buf, sizeof(buf), 0);

	if (n && (n > 0 || errno != EIO)) {
		printf("# read: %zd, %s\n", n, strerror(errno));
		return false;
	}
	n = read(fd, buf, sizeof(buf));
	return !n || (n < 0 && errno == EIO);
}

/*
 * Fails when: an open file holds the log's directory or lets the module go, reads
 * of a log that is gone, or is not what fstat() finds behind an O_PATH descriptor.
 */
TEST_F(lifetime, files_open_when_the_log_goes)
{
	static const char * const names[] = { "ctf/cpu0", "ctf/metadata", "stats", "text" };
	char byte[100], again[64];
	int fds[3], paths[3], dir, i, round;
	struct stat st;
	DIR *ctf;

	produce_and_die(&self->log, &self->result, PIN_MAP);
	ASSERT_EQ(self->result, 0);
	for (i = 0; i < 3; i++) {
		fds[i] = open_in(&self->log, names[i], O_RDONLY);
		paths[i] = open_in(&self->log, names[i], O_PATH);
		ASSERT_GE(fds[i], 0);
		ASSERT_GE(paths[i], 0);
		/* In the middle of it: something is staged. */
		ASSERT_EQ(read(fds[i], byte, sizeof(byte)), sizeof(byte));
		ASSERT_EQ(fstat(paths[i], &st), 0);
		EXPECT_EQ(st.st_size > 0, i < 2);
	}
	dir = open_in(&self->log, "ctf", O_RDONLY | O_DIRECTORY);
	ASSERT_GE(dir, 0);

	ASSERT_EQ(unlink(PINS "/map"), 0);
	EXPECT_TRUE(log_gone(&self->log));
	for (i = 0; i < 3; i++) {
		EXPECT_TRUE(reads_nothing(fds[i]));
		lseek(fds[i], 0, SEEK_SET);
		EXPECT_TRUE(reads_nothing(fds[i]));
		lseek(fds[i], 0, SEEK_END);
		EXPECT_EQ(fstat(fds[i], &st), 0);
	}
	EXPECT_EQ(openat(dir, "cpu0", O_RDONLY), -1);
	ctf = fdopendir(dir);
	ASSERT_NE(ctf, NULL);
	while (readdir(ctf))
		;
	closedir(ctf);

	EXPECT_EQ(module_try_remove(), EWOULDBLOCK);	/* not with files open */
	for (i = 0; i < 3; i++)
		close(fds[i]);

	/* An O_PATH descriptor keeps the inode, and nothing of ours: before and after. */
	for (round = 0; round < 2; round++) {
		for (i = 0; i < 3; i++) {
			EXPECT_EQ(fstat(paths[i], &st), 0);
			snprintf(again, sizeof(again), "/proc/self/fd/%d", paths[i]);
			EXPECT_EQ(open(again, O_RDONLY), -1);
		}
		EXPECT_TRUE(module_remove());
	}
	EXPECT_FALSE(module_loaded());
	for (i = 0; i < 3; i++)
		close(paths[i]);
}

struct tally {
	unsigned long files;	/* that were read */
	unsigned long vanished;	/* of these, under our eyes */
	unsigned long odd;
};

static void read_one(int at, const char *name, struct tally *tally)
{
	char buf[512];
	struct stat st;
	ssize_t n;
	int fd;

	fstatat(at, name, &st, 0);
	fd = openat(at, name, O_RDONLY);
	if (fd < 0) {
		tally->odd += errno != ENOENT && errno != EIO && errno != ENODEV;
		return;
	}
	tally->files++;
	while ((n = read(fd, buf, sizeof(buf))) > 0)
		;
	if (n < 0) {
		tally->vanished++;
		tally->odd += errno != EIO;
	}
	fstat(fd, &st);
	lseek(fd, 0, SEEK_SET);
	close(fd);
}

static void read_all_logs_forever(struct tally *tally)
{
	for (;;) {
		DIR *root = opendir(DEBUGFS);
		struct dirent *e;

		while (root && (e = readdir(root))) {
			int at = e->d_name[0] == '.' ? -1 :
				 openat(dirfd(root), e->d_name, O_RDONLY | O_DIRECTORY);

			if (at < 0)
				continue;
			read_one(at, "ctf/cpu0", tally);
			read_one(at, "ctf/metadata", tally);
			read_one(at, "stats", tally);
			read_one(at, "text", tally);
			close(at);
		}
		if (root)
			closedir(root);
	}
}

/* Fails when: a log that goes and one who reads it are not kept apart. */
TEST_F(lifetime, readers_race_with_the_end)
{
	struct tally *tally = mmap(NULL, 2 * sizeof(*tally), PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct bpf_relay_opts opts = { .subbuf_size = 4096, .n_subbufs = 64 };
	int i, fd, status, alive = 0;
	struct relay_log base, log;
	pid_t pids[2];

	ASSERT_NE(tally, MAP_FAILED);
	for (i = 0; i < 2; i++) {
		pids[i] = fork();
		if (!pids[i])
			read_all_logs_forever(&tally[i]);
	}
	log_load(&base, "lifetime", "any");
	/* Until at least one was read while it went, and 40 times in any case. */
	for (i = 0; i < 40 || (i < 400 && !(tally[0].files && tally[1].files)); i++) {
		fd = any_create(&base, &log, "race", i);
		ASSERT_EQ(any_open(&base, i, opts), 0);
		any_write(&base, i, 0, 0, 200, 0, 500);
		any_close(&base, i, fd);
	}
	EXPECT_TRUE(logs_gone());
	for (i = 0; i < 2; i++) {
		kill(pids[i], SIGKILL);
		waitpid(pids[i], &status, 0);
		alive += WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
		printf("# reader %d: %lu files, %lu went while they were read\n", i,
		       tally[i].files, tally[i].vanished);
		EXPECT_GT(tally[i].files, 0);
		EXPECT_EQ(tally[i].odd, 0);
	}
	EXPECT_EQ(alive, 2);
	log_unload(&base);
	EXPECT_TRUE(module_remove());
}

/* Fails when: the object needs the module to load or run, or does not use it later. */
TEST_F(lifetime, without_the_module)
{
	struct relay_log log;
	struct bpf_link *link;
	struct bpf_program *prog;
	int round;

	for (round = 0; round < 3; round++) {
		bool with = round == 1;

		ASSERT_TRUE(with ? module_insert() : module_remove());
		log_load(&log, "lifetime", "any");
		EXPECT_EQ(log_open(&log, NULL), with ? 0 : -ENOSYS);
		prog = bpf_object__find_program_by_name(log.obj, "on_test");
		link = bpf_program__attach(prog);
		ASSERT_NE(link, NULL);
		EXPECT_EQ(call_on_all_cpus(bpf_program__fd(prog), 10), 0);
		EXPECT_EQ(any_results(&log)[0], with ? 10 * n_cpus() : 0);
		EXPECT_EQ(any_results(&log)[ENOSYS], with ? 0 : 10 * n_cpus());
		if (with) {
			EXPECT_EQ(log_stat(&log, -1, "stored events"), 10 * n_cpus());
		}
		/* What was loaded without the module stays as it is when that comes. */
		if (!with && !round) {
			ASSERT_TRUE(module_insert());
			EXPECT_EQ(log_open(&log, NULL), -ENOSYS);
			EXPECT_EQ(access(log.dir, F_OK), -1);
		}
		bpf_link__destroy(link);
		log_unload(&log);
	}
}

static unsigned long available_kib(void)
{
	FILE *f = popen("awk '/^MemAvailable/ { print $2 }' /proc/meminfo", "r");
	unsigned long kib;

	if (fscanf(f, "%lu", &kib) != 1)
		kib = 0;
	pclose(f);
	return kib;
}

/*
 * Fails when: of 200 logs one leaves a directory or a byte of its quota behind, or most
 * of them their memory (200 MiB in all).
 */
TEST_F(lifetime, open_and_close_200_times)
{
	struct bpf_relay_opts small = { .subbuf_size = 65536, .n_subbufs = 4 };
	struct bpf_relay_opts large = { .subbuf_size = 262144, .n_subbufs = 4 };
	struct bpf_relay_opts tiny = { .subbuf_size = 4096, .n_subbufs = 2 };
	unsigned long before, after;
	unsigned long long left, each = 0;
	struct relay_log base, log;
	int fds[255], fd, i, n;
	char mib[32];

	log_load(&base, "lifetime", "any");
	before = available_kib();
	for (i = 0; i < 200; i++) {
		fd = any_create(&base, &log, "cycle", 1);
		ASSERT_EQ(any_open_patiently(&base, 1, small), 0);
		any_write(&base, 1, i % n_cpus(), 0, 4000, 0, 10);
		any_close(&base, 1, fd);
	}
	EXPECT_TRUE(logs_gone());

	/* One large log, and into the rest of the quota as many tiny ones as there must. */
	snprintf(mib, sizeof(mib), "%d", n_cpus() + 1);
	ASSERT_TRUE(module_set("max_mib", mib));
	fd = any_create(&base, &log, "large", 1);
	EXPECT_EQ(any_open_patiently(&base, 1, large), 0);
	left = ((n_cpus() + 1ULL) << 20) - log_stat(&log, -1, "memory");
	for (n = 0; n < ARRAY_SIZE(fds) - 1 && (!n || n < left / each); n++) {
		fds[n] = any_create(&base, &log, "tiny", 2 + n);
		ASSERT_EQ(any_open_patiently(&base, 2 + n, tiny), 0);
		each = log_stat(&log, -1, "memory");
	}
	printf("# %d logs of %llu bytes into %llu\n", n, each, left);
	/* Negative control: not one more. */
	fds[n] = any_create(&base, &log, "tiny", 2 + n);
	EXPECT_EQ(any_open(&base, 2 + n, tiny), -EDQUOT);
	for (; n >= 0; n--)
		any_close(&base, 2 + n, fds[n]);
	any_close(&base, 1, fd);
	log_unload(&base);
	EXPECT_TRUE(logs_gone());
	EXPECT_TRUE(module_remove());

	after = available_kib();
	printf("# MemAvailable: %lu KiB before, %lu KiB after\n", before, after);
	EXPECT_GT(after + 64 * 1024, before);
}

TEST_HARNESS_MAIN
