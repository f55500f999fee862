// SPDX-License-Identifier: GPL-2.0-only
/* Very many logs, one after another and at once, and what is left of them: nothing. */
#define _GNU_SOURCE
#include "kselftest_harness.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <sys/stat.h>
#include <unistd.h>

#include "abuse.h"

#define PARAMETERS	"/sys/module/bpf_relay/parameters/"
#define AT_ONCE		200
#define TOTAL		1000

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		perror(path);
	close(fd);
}

/* Entries of the module's directory. */
static int n_dirs(void)
{
	DIR *dir = opendir(DEBUGFS);
	struct dirent *e;
	int n = 0;

	while (dir && (e = readdir(dir)))
		n += strcmp(e->d_name, ".") && strcmp(e->d_name, "..");
	if (dir)
		closedir(dir);
	return n;
}

static bool no_dirs(void)
{
	int i;

	for (i = 0; i < 600 && n_dirs(); i++)
		usleep(50000);
	return !n_dirs();
}

static unsigned long long meminfo(const char *what)
{
	unsigned long long kib = 0;
	char line[128];
	FILE *f = fopen("/proc/meminfo", "r");

	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, what, strlen(what)))
			sscanf(line + strlen(what), ": %llu", &kib);
	if (f)
		fclose(f);
	return kib;
}

FIXTURE(churn) {
	struct relay_log log;		/* the object; its own log stays closed */
	int slot;
	struct bpf_relay_setup *setup;
};

FIXTURE_SETUP(churn)
{
	log_load(&self->log, "churn", "churn");
	self->slot = bpf_object__find_map_fd_by_name(self->log.obj, "slot");
	self->setup = log_var(&self->log, ".data.relay", "churn_setup");
	self->setup->opts.subbuf_size = 4096;
	self->setup->opts.n_subbufs = 2;
	/* Hundreds of grace periods, on a machine that may be emulated. */
	write_file("/sys/kernel/rcu_expedited", "1");
}

FIXTURE_TEARDOWN(churn)
{
	write_file("/sys/kernel/rcu_expedited", "0");
	write_file(PARAMETERS "max_mib", "0");
	log_unload(&self->log);
	EXPECT_TRUE(no_dirs());
}

/* Make a log with this name, open it, write it: its map, or -1; what open said in err. */
static int next_log(struct relay_log *obj, int slot, const char *name, int *err)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts,
		.btf_fd = bpf_object__btf_fd(obj->obj),
		.btf_key_type_id = bpf_map__btf_key_type_id(obj->map),
		.btf_value_type_id = bpf_map__btf_value_type_id(obj->map));
	int fd = bpf_map_create(BPF_MAP_TYPE_PERCPU_ARRAY, name, 4,
				bpf_map__value_size(obj->map), 1, &opts);
	__u32 key = 0;

	if (fd < 0 || bpf_map_update_elem(slot, &key, &fd, BPF_ANY)) {
		perror("# map");
		return -1;
	}
	*err = log_run(obj, "churn_next", -1);
	return fd;
}

static bool has_dir(int fd, const char *name)
{
	struct bpf_map_info info = {};
	__u32 len = sizeof(info);
	char path[128];
	struct stat st;

	if (bpf_map_get_info_by_fd(fd, &info, &len))
		return false;
	snprintf(path, sizeof(path), DEBUGFS "/%s.%u/ctf/metadata", name, info.id);
	return !stat(path, &st);
}

/* Open a log that takes all of max_mib. */
static int open_all(struct relay_log *obj, int slot, struct bpf_relay_setup *setup)
{
	struct bpf_relay_opts before = setup->opts;
	int fd, err;

	setup->opts.subbuf_size = 1 << 20;
	setup->opts.n_subbufs = 4;
	fd = next_log(obj, slot, "all", &err);
	setup->opts = before;
	close(fd);
	return err;
}

/*
 * It can be opened if nothing else is charged any more. (Memory and charge of a log go a
 * grace period later than its directory.)
 */
static int opens_all(struct relay_log *obj, int slot, struct bpf_relay_setup *setup)
{
	int i, err;

	for (i = 0; i < 300; i++) {
		err = open_all(obj, slot, setup);
		if (err != -EDQUOT)
			break;
		usleep(100000);
	}
	return err;
}

/* Take what is in the slot out of it. */
static void empty(int slot)
{
	__u32 key = 0;

	bpf_map_delete_elem(slot, &key);
}

/* Fails when: a log leaves memory, a directory or its charge behind. */
TEST_F_TIMEOUT(churn, thousand_logs, 300)
{
	unsigned long long available, slab, mib;
	int fds[AT_ONCE], i, err, wrong = 0, fd;
	char text[32];

	/* Buffers and a page of control area per CPU; then the least that holds them. */
	mib = 4ULL * n_cpus() + 1;
	snprintf(text, sizeof(text), "%llu", mib);
	write_file(PARAMETERS "max_mib", text);
	EXPECT_EQ(opens_all(&self->log, self->slot, self->setup), 0);
	empty(self->slot);
	EXPECT_TRUE(no_dirs());
	/* Negative control: beside enough small ones it cannot. */
	for (i = 0; i < 40; i++) {
		fds[i] = next_log(&self->log, self->slot, "small", &err);
		wrong += !!err;
	}
	EXPECT_EQ(wrong, 0);
	EXPECT_EQ(open_all(&self->log, self->slot, self->setup), -EDQUOT);
	for (i = 0; i < 40; i++)
		close(fds[i]);
	empty(self->slot);
	EXPECT_TRUE(no_dirs());
	write_file(PARAMETERS "max_mib", "0");
	available = meminfo("MemAvailable");
	slab = meminfo("SUnreclaim");

	for (i = 0; i < TOTAL - AT_ONCE; i++) {
		fd = next_log(&self->log, self->slot, "churn", &err);
		wrong += !!err;
		close(fd);
	}
	EXPECT_EQ(wrong, 0);
	for (i = 0; i < AT_ONCE; i++) {
		fds[i] = next_log(&self->log, self->slot, "churn", &err);
		wrong += !!err;
	}
	EXPECT_EQ(wrong, 0);
	/* All of them have the same name, and a directory. */
	for (i = 0; i < AT_ONCE; i++)
		wrong += !has_dir(fds[i], "churn");
	EXPECT_EQ(wrong, 0);
	EXPECT_GE(n_dirs(), AT_ONCE);
	for (i = 0; i < AT_ONCE; i++)
		close(fds[i]);
	empty(self->slot);
	EXPECT_TRUE(no_dirs());

	snprintf(text, sizeof(text), "%llu", mib);
	write_file(PARAMETERS "max_mib", text);
	EXPECT_EQ(opens_all(&self->log, self->slot, self->setup), 0);
	empty(self->slot);
	EXPECT_TRUE(no_dirs());
	/* Roughly: 1,000 of these logs had taken more than 64 MiB. */
	printf("# MemAvailable %llu -> %llu KiB, SUnreclaim %llu -> %llu KiB\n", available,
	       meminfo("MemAvailable"), slab, meminfo("SUnreclaim"));
	EXPECT_GT(meminfo("MemAvailable") + (48 << 10), available);
	EXPECT_LT(meminfo("SUnreclaim"), slab + (24 << 10));
}

/* Fails when: a name makes a directory that cannot be, or that is another's. */
TEST_F_TIMEOUT(churn, names, 120)
{
	static const char * const names[][2] = {
		{ "", "map" }, { "map", "map" }, { ".", "." }, { "..", ".." }, { "...", "..." },
		{ "12", "12" }, { "1.2", "1.2" }, { "1", "1" }, { "ctf", "ctf" },
		{ "fifteen_letters", "fifteen_letters" },
	};
	int fds[2 * ARRAY_SIZE(names)], i, err;

	for (i = 0; i < ARRAY_SIZE(fds); i++) {
		const char * const *name = names[i % ARRAY_SIZE(names)];

		fds[i] = next_log(&self->log, self->slot, name[0], &err);
		EXPECT_EQ(err, 0) {
			TH_LOG("'%s': %d", name[0], err);
		}
		EXPECT_TRUE(has_dir(fds[i], name[1])) {
			TH_LOG("'%s'", name[0]);
		}
	}
	EXPECT_EQ(n_dirs(), ARRAY_SIZE(fds));
	for (i = 0; i < ARRAY_SIZE(fds); i++)
		close(fds[i]);
	empty(self->slot);
}

TEST_HARNESS_MAIN
