// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory that is not there: every allocation of add_type, of open, of a CPU that comes up,
 * of what is done with a log's files fails once, each in turn. Either the call does without
 * or it says -ENOMEM; then nothing is half made, and the same call succeeds afterwards.
 * What leaks is found here, as far as it keeps a log or its memory; else behind this test:
 * the module that cannot be unloaded, and on a debug kernel, at the end of the run, whatever
 * kmemleak finds. `selftests/planted faults` shows that it is.
 *
 * What "every allocation" means is the range of callers of count_within(); see faults.h.
 */
#define _GNU_SOURCE
#include "kselftest_harness.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>

#include "faults.h"
#include "mem_test.h"

#define IN_TURN_MAX	2000
/* So many calls in a row to which nothing happened: there are no more allocations. */
#define QUIET		3
#define ENUMERATORS	200
/* Records of type 1 that go all round: a switch at least. */
#define PER_LAP		(4096 * BPF_RELAY_N_SUBBUFS_MIN / BPF_RELAY_RECORD_SIZE(8))

/* ---- What is called, and what must hold afterwards --------------------------- */

FIXTURE(faults) {
	struct relay_log base;
	struct relay_log log;
	int fd;			/* the map; -1: none */
	int cpu;		/* that comes up */
	const char *name;	/* of the file that is opened */
	int file;		/* open all the time */
};

#define DATA FIXTURE_DATA(faults)

/* A call of which each allocation fails once. */
struct op {
	void (*tasks)(struct tasks *t);		/* who allocates */
	void (*prepare)(DATA *self);
	int (*call)(DATA *self);		/* 0 or -errno */
	/* What must hold after a call that returned err. */
	bool (*check)(DATA *self, int err);
};

static void each_in_turn(struct __test_metadata *_metadata, DATA *self, const struct op *op)
{
	int nth, failed = 0, refused = 0, quiet = 0, err;
	struct tasks tasks;
	bool hit;

	for (nth = 1; quiet < QUIET; nth++) {
		ASSERT_LT(nth, IN_TURN_MAX);
		if (op->prepare)
			op->prepare(self);
		op->tasks(&tasks);
		tasks_arm(&tasks, nth);
		err = op->call(self);
		hit = tasks_disarm(&tasks);
		/* Nothing is refused without a reason. */
		ASSERT_TRUE(!err || (hit && err == -ENOMEM));
		ASSERT_TRUE(op->check(self, err)) {
			TH_LOG("allocation %d%s: the call returned %d", nth,
			       hit ? " failed" : "", err);
		}
		failed += hit;
		refused += !!err;
		quiet = hit ? 0 : quiet + 1;
	}
	printf("# %d allocations failed, %d calls were refused\n", failed, refused);
	EXPECT_GT(failed, 0);
	EXPECT_GT(refused, 0);
}

FIXTURE_SETUP(faults)
{
	self->fd = -1;
	if (access("/proc/self/fail-nth", W_OK) || access(FAULTS "slab/require-start", W_OK) ||
	    access(FAULTS "_page_alloc/require-start", W_OK))
		SKIP(return, "this kernel cannot make allocations fail");
	log_load(&self->base, "lifetime", "any");
	/* Those that may sleep, too, of any size, and without a stack dump for each. */
	fault_set("ignore-gfp-wait", "N");
	fault_set("verbose", "0");
	ASSERT_EQ(shell("cd " FAULTS "_page_alloc && echo N >ignore-gfp-highmem && "
			"echo 0 >min-order"), 0);
	count_in_module();
}

FIXTURE_TEARDOWN(faults)
{
	if (!self->base.obj)
		return;
	fault_set("probability", "0");
	count_within(0, ULONG_MAX);
	if (self->fd >= 0)
		any_close(&self->base, 1, self->fd);
	log_unload(&self->base);
	EXPECT_TRUE(logs_gone());
}

static void map_make(DATA *self)
{
	self->fd = any_create(&self->base, &self->log, "faults", 1);
}

static bool map_drop(DATA *self)
{
	any_close(&self->base, 1, self->fd);
	self->fd = -1;
	return log_gone(&self->log);
}

/* With a table of fields that takes more than a page. */
static int add_type(DATA *self)
{
	static const char tsdl[] = "event { name = \"t\"; id = 1; stream_id = 0; "
				   "fields := struct { uint64_t x; }; };";
	static struct bpf_relay_field fields[1 + ENUMERATORS] = {
		{ .size = 8, .count = 1, .kind = BPF_RELAY_ENUM, .name = "x" },
	};
	const struct bpf_relay_type type = {
		.abi = BPF_RELAY_ABI, .id = 1, .size = 8, .name = "t",
		.tsdl = (__u64)tsdl, .tsdl_len = sizeof(tsdl) - 1,
		.fields = (__u64)fields, .fields_len = sizeof(fields),
	};
	int i;

	for (i = 1; i <= ENUMERATORS; i++) {
		fields[i] = (struct bpf_relay_field) {
			.value = i, .count = 1, .kind = BPF_RELAY_ENUMERATOR, .depth = 1,
		};
		snprintf(fields[i].name, sizeof(fields[i].name), "e%d", i);
	}
	return any_add_type(&self->base, 1, &type);
}

/* A log that could not be opened goes in its own time, and is in the way until then. */
static int add_type_patiently(DATA *self)
{
	int err = 0, i;

	for (i = 0; i < 1000 && (err = add_type(self)) == -EAGAIN; i++)
		usleep(10000);
	return err;
}

static int open_log(DATA *self)
{
	return any_open(&self->base, 1, (struct bpf_relay_opts) {
		.subbuf_size = 4096, .n_subbufs = BPF_RELAY_N_SUBBUFS_MIN, .n_types = 1 });
}

/* It takes records and yields them. */
static bool log_works(DATA *self, int cpu)
{
	unsigned long long before = log_stat(&self->log, cpu, "stored events");

	any_write(&self->base, 1, cpu, 1, 8, 0, 5);
	return log_stat(&self->log, cpu, "stored events") == before + 5 &&
	       log_walk(&self->log, cpu, true, NULL, NULL) > 0 && log_identities(&self->log);
}

/* ---- add_type and open ------------------------------------------------------- */

static bool check_add_type(DATA *self, int err)
{
	return add_type(self) == (err ? 0 : -EALREADY) && !open_log(self) &&
	       log_works(self, 0) && map_drop(self);
}

/* Fails when: a type that could not be added is there, or cannot be added any more. */
TEST_F_TIMEOUT(faults, add_type, 300)
{
	each_in_turn(_metadata, self, &(struct op) {
		.tasks = tasks_self, .prepare = map_make, .call = add_type,
		.check = check_add_type });
}

static void map_describe(DATA *self)
{
	map_make(self);
	if (add_type(self))
		any_die("add_type fails by itself");
}

/* What open left behind goes, and the map has a log all the same. */
static bool check_open(DATA *self, int err)
{
	if (err && (!log_gone(&self->log) || add_type_patiently(self) || open_log(self)))
		return false;
	return log_works(self, 0) && map_drop(self);
}

/* Fails when: a log that could not be opened stays, or none can be opened after it. */
TEST_F_TIMEOUT(faults, open, 600)
{
	each_in_turn(_metadata, self, &(struct op) {
		.tasks = tasks_self, .prepare = map_describe, .call = open_log,
		.check = check_open });
}

/* The same for the log's files, which a worker makes. */
TEST_F_TIMEOUT(faults, open_files, 600)
{
	each_in_turn(_metadata, self, &(struct op) {
		.tasks = tasks_workers, .prepare = map_describe, .call = open_log,
		.check = check_open });
}

/* Fails when: what does without one allocation does not notice that it has no other. */
TEST_F_TIMEOUT(faults, no_memory_at_all, 120)
{
	int err;

	map_make(self);
	no_memory(true);
	err = add_type(self);
	no_memory(false);
	EXPECT_EQ(err, -ENOMEM);

	ASSERT_EQ(add_type(self), 0);
	no_memory(true);
	err = open_log(self);
	no_memory(false);
	EXPECT_EQ(err, -ENOMEM);
	EXPECT_TRUE(check_open(self, err));
}

/* ---- CPUs that come up ------------------------------------------------------- */

static int set_online(int cpu, bool online)
{
	char path[64];
	int fd, err;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/online", cpu);
	fd = open(path, O_WRONLY);
	err = write(fd, online ? "1" : "0", 1) == 1 ? 0 : -errno;
	close(fd);
	return err;
}

/* A new log each time: a CPU keeps the buffer that it got once. */
static void open_without_cpu(DATA *self)
{
	map_describe(self);
	if (set_online(self->cpu, false) || open_log(self))
		any_die("CPU %d cannot be switched off, or no log be opened", self->cpu);
}

static int cpu_up(DATA *self)
{
	return set_online(self->cpu, true);
}

static bool check_cpu_up(DATA *self, int err)
{
	return log_works(self, 0) && (!err || !cpu_up(self)) && log_works(self, self->cpu) &&
	       log_works(self, 0) && map_drop(self);
}

/* Fails when: a CPU that did not come up cannot come any more, or took another's buffer. */
TEST_F_TIMEOUT(faults, cpu_online, 600)
{
	self->cpu = get_nprocs() - 1;
	if (!self->cpu || access("/sys/devices/system/cpu/cpu1/online", W_OK))
		SKIP(return, "no CPU can be switched off here");
	/* relay makes the buffer, without a function of the module above it. */
	count_in_function("relay_prepare_cpu");
	each_in_turn(_metadata, self, &(struct op) {
		.tasks = tasks_self, .prepare = open_without_cpu, .call = cpu_up,
		.check = check_cpu_up });
}

/* ---- Files ------------------------------------------------------------------- */

static int read_file(DATA *self)
{
	static char buf[1 << 16];
	struct stat st;
	char path[256];
	int fd, err = 0;
	ssize_t n;

	snprintf(path, sizeof(path), "%s/%s", self->log.dir, self->name);
	fd = open(path, O_RDONLY);
	if (fd < 0)
		return -errno;
	fstat(fd, &st);
	do {
		n = S_ISDIR(st.st_mode) ? getdents64(fd, buf, sizeof(buf)) :
					  read(fd, buf, sizeof(buf));
	} while (n > 0);
	if (n < 0)
		err = -errno;
	close(fd);
	return err;
}

static bool check_file(DATA *self, int err)
{
	return !read_file(self);
}

/* From here on whatever it is that the system calls allocate. */
static void log_with_records(struct __test_metadata *_metadata, DATA *self)
{
	map_describe(self);
	ASSERT_EQ(open_log(self), 0);
	ASSERT_TRUE(log_works(self, 0));
	count_within(0, ULONG_MAX);
}

/* Fails when: a file that could not be opened or read cannot be read at all any more. */
TEST_F_TIMEOUT(faults, file_open, 300)
{
	static const char * const names[] = {
		"", "ctf", "ctf/metadata", "ctf/cpu0", "stats", "text",
	};
	int i;

	log_with_records(_metadata, self);
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		self->name = names[i];
		printf("# %s/%s:\n", self->log.name, names[i]);
		each_in_turn(_metadata, self, &(struct op) {
			.tasks = tasks_self, .call = read_file, .check = check_file });
	}
	EXPECT_TRUE(log_works(self, 0));
	EXPECT_TRUE(map_drop(self));
}

/* To the end of a snapshot: 0 or -errno. */
static int read_on(int fd)
{
	static char buf[1 << 16];
	ssize_t n;

	do {
		n = read(fd, buf, sizeof(buf));
	} while (n > 0);
	return n ? -errno : 0;
}

/* text keeps something of each CPU that there is, and of one more now. */
static void open_text_before_cpu(DATA *self)
{
	open_without_cpu(self);
	self->file = log_open_file(&self->log, "text");
	if (self->file < 0 || cpu_up(self))
		any_die("no text, or CPU %d does not come up", self->cpu);
	any_write(&self->base, 1, 0, 1, 8, 0, 5);
}

static int seek_text(DATA *self)
{
	return lseek(self->file, 0, SEEK_SET) ? -errno : 0;
}

/* It was as if nobody had tried: the old snapshot, which had no records. */
static bool check_seek_text(DATA *self, int err)
{
	char text[4096];
	int n;

	if (err) {
		n = read(self->file, text, sizeof(text) - 1);
		text[n < 0 ? 0 : n] = 0;
		if (!strstr(text, "\n# records=0 ") || strchr(strstr(text, "# records"), '\n')[1] ||
		    read_on(self->file))
			return false;
	}
	if (seek_text(self))
		return false;
	n = read(self->file, text, sizeof(text) - 1);
	text[n < 0 ? 0 : n] = 0;
	close(self->file);
	return strstr(text, "\n# records=5 ") && log_works(self, self->cpu) && map_drop(self);
}

/* Fails when: a snapshot that could not be made spoils the one that there is. */
TEST_F_TIMEOUT(faults, text_seek, 600)
{
	self->cpu = get_nprocs() - 1;
	if (!self->cpu || access("/sys/devices/system/cpu/cpu1/online", W_OK))
		SKIP(return, "no CPU can be switched off here");
	each_in_turn(_metadata, self, &(struct op) {
		.tasks = tasks_self, .prepare = open_text_before_cpu, .call = seek_text,
		.check = check_seek_text });
}

/* ---- Waiting ----------------------------------------------------------------- */

/* So many that poll(2) needs memory of its own to wait for them. */
#define POLLED	400

/* poll() and epoll, when there is nothing to read. */
static int wait_for_file(DATA *self)
{
	struct epoll_event event = { .events = EPOLLIN };
	struct pollfd polled[POLLED];
	int fd = log_open_file(&self->log, self->name), waits, err, i;

	if (fd < 0)
		return -errno;
	err = read_on(fd);
	if (err == -EINVAL)	/* mem has nothing to be read */
		err = 0;
	for (i = 0; i < POLLED; i++)
		polled[i] = (struct pollfd) { .fd = fd, .events = POLLIN };
	err = err ?: poll(polled, POLLED, 1) < 0 ? -errno : 0;
	waits = epoll_create1(0);
	if (waits < 0 || epoll_ctl(waits, EPOLL_CTL_ADD, fd, &event) ||
	    epoll_wait(waits, &event, 1, 0) < 0)
		err = err ?: -errno;
	close(waits);
	close(fd);
	return err;
}

/* Who waits for it now is woken. */
static bool check_wait(DATA *self, int err)
{
	struct epoll_event event = { .events = EPOLLIN };
	int fd = log_open_file(&self->log, self->name), waits = epoll_create1(0), n;

	read_on(fd);
	n = epoll_ctl(waits, EPOLL_CTL_ADD, fd, &event);
	n = n ?: epoll_wait(waits, &event, 1, 0);
	if (!n) {
		any_write(&self->base, 1, 0, 1, 8, 0, PER_LAP);
		n = epoll_wait(waits, &event, 1, -1);
	}
	close(waits);
	close(fd);
	return n == 1 && event.events == EPOLLIN && !wait_for_file(self);
}

/* Fails when: who could not wait for a file leaves something behind, or nobody can any more. */
TEST_F_TIMEOUT(faults, wait, 600)
{
	static const char * const names[] = { "ctf/cpu0", "text", "mem" };
	int i;

	log_with_records(_metadata, self);
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		self->name = names[i];
		printf("# %s/%s:\n", self->log.name, names[i]);
		each_in_turn(_metadata, self, &(struct op) {
			.tasks = tasks_self, .call = wait_for_file, .check = check_wait });
	}
	EXPECT_TRUE(log_works(self, 0));
	EXPECT_TRUE(map_drop(self));
}

/* ---- Mapping ----------------------------------------------------------------- */

/* Far from everything that has page tables. */
#define ALONE	((char *)(1UL << 44))
#define PAGE	4096UL

/* A munmap() in the middle may fail; then there is memory the next time. */
static int unmap(void *at, size_t len)
{
	int err = munmap(at, len) ? -errno : 0;

	if (err && munmap(at, len))
		any_die("munmap: %s", strerror(errno));
	return err;
}

/* The kernel reads it for us. A fault cannot say -ENOMEM: it has one errno only. */
static int fault_in(const char *at)
{
	if (!prctl(PR_SET_NAME, at))
		return 0;
	return errno == EFAULT ? -ENOMEM : -errno;
}

/* Map all of it; look into the last page, and into the others ourselves; split and move it. */
static int map_file(DATA *self)
{
	char *elsewhere = ALONE + (1UL << 32);
	int fd = log_open_file(&self->log, "mem"), err = 0, unmapped;
	size_t size, at;
	char *p;

	if (fd < 0)
		return -errno;
	size = lseek(fd, 0, SEEK_END);
	p = mmap(ALONE, size, PROT_READ, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		err = -errno;
	close(fd);
	if (err)
		return err;
	if (p != ALONE || ((struct bpf_relay_log_page *)p)->file_size != size)
		any_die("mem of %zu bytes is not what was mapped at %p", size, p);
	/* Whoever faults by himself is not told: the kernel tries again. */
	for (at = 0; at < size - PAGE; at += PAGE)
		*(volatile char *)(p + at);
	err = fault_in(p + size - PAGE);
	unmapped = unmap(p + PAGE, PAGE);
	err = err ?: unmapped;
	if (!err && mremap(p, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, elsewhere) != elsewhere)
		err = -errno;
	err = err ?: fault_in(elsewhere);
	unmapped = unmap(p, size);
	err = err ?: unmapped;
	unmapped = unmap(elsewhere, PAGE);
	return err ?: unmapped;
}

static bool check_map(DATA *self, int err)
{
	return !map_file(self);
}

/* A child gets the mapping, too. */
static int fork_with_mapping(DATA *self)
{
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	return pid < 0 ? -errno : waitpid(pid, NULL, 0) == pid ? 0 : -ECHILD;
}

static bool check_fork(DATA *self, int err)
{
	return !fork_with_mapping(self);
}

/* Fails when: a mapping that could not be made, split or moved keeps the log's memory. */
TEST_F_TIMEOUT(faults, map, 600)
{
	/* Of 1 MiB for all logs more than half. */
	const struct bpf_relay_opts large = {
		.n_subbufs = 2, .subbuf_size = (512 << 10) / 2 / get_nprocs(),
	};
	struct relay_log second;
	struct mem_reader m;
	int fd;

	ASSERT_TRUE(module_set("max_mib", "1"));
	self->fd = any_create(&self->base, &self->log, "faults", 1);
	ASSERT_EQ(any_open(&self->base, 1, large), 0);
	count_within(0, ULONG_MAX);
	each_in_turn(_metadata, self, &(struct op) {
		.tasks = tasks_self, .call = map_file, .check = check_map });
	ASSERT_EQ(log_map(&self->log, &m), 0);
	each_in_turn(_metadata, self, &(struct op) {
		.tasks = tasks_self, .call = fork_with_mapping, .check = check_fork });

	fd = any_create(&self->base, &second, "second", 2);
	EXPECT_EQ(any_open(&self->base, 2, large), -EDQUOT);
	EXPECT_TRUE(map_drop(self));
	EXPECT_EQ(any_open(&self->base, 2, large), -EDQUOT);
	mem_close(&m);
	EXPECT_EQ(any_open_patiently(&self->base, 2, large), 0);
	any_close(&self->base, 2, fd);
	module_set("max_mib", "0");
}

TEST_HARNESS_MAIN
