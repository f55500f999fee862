// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random operations on a few logs, with valid, odd and absurd arguments. A seed says
 * all of them: operation n of episode e has random numbers of its own, so that what
 * one of them makes of its numbers does not change another.
 *
 *	FUZZ_SEED	of the random test; printed, to be given again
 *	FUZZ_SECONDS	how long it goes on
 *
 * A model of what is open says what may come back. Behind each batch every log must
 * add up and its packets must be well-formed; behind each episode nothing is left.
 * An operation is one entry in the table `ops`: it draws all its arguments first.
 */
#define _GNU_SOURCE
#include "kselftest_harness.h"

#include <dirent.h>
#include <sys/random.h>
#include <time.h>

#include "fuzz_maps.h"
#include "fuzz_mem.h"
#include "fuzz_ops.h"

#define FIXED_SEED	1
#define EPISODE		600	/* operations; then everything goes, the module too */
#define BATCH		50	/* then everything is checked */
#define WRONG_MAX	20	/* what is wrong by then needs no more words */

/* ---- The machine ------------------------------------------------------------------- */

static void op_cpu(struct fuzz *f)
{
	int cpu = below(f, possible_cpus()), i;
	bool online = one_in(f, 2);

	/* Programs do not leave their CPU, and it waits for them. */
	for (i = 0; i < HOLDERS; i++)
		if (f->sleepers.sleeper[i].asleep && f->sleepers.sleeper[i].cpu == cpu)
			return;
	if (cpu)
		said(f, cpu_set_online(cpu, online) ? 0 : -EBUSY);
}

static void op_rmmod(struct fuzz *f)
{
	said(f, -module_try_remove());
}

/* ---- The table --------------------------------------------------------------------- */

#define MAY(...)	((const int[]) { __VA_ARGS__, END })

/* What a log that goes, or is gone, says to whoever looks into it. */
#define GONE		-EIO, -ENOENT, -ENODEV

static const struct op ops[] = {
	{ "create", 16, op_create, MAY(0) },
	{ "destroy", 3, op_destroy, MAY(0) },
	{ "pin", 3, op_pin, MAY(0, -EEXIST) },
	{ "unpin", 2, op_unpin, MAY(0, -ENOENT) },
	{ "get", 2, op_get, MAY(0, -ENOENT) },
	{ "update", 2, op_update, MAY(0, -E2BIG, -EINVAL, -EEXIST) },
	{ "update from program", 1, op_update_from_program, MAY(0) },
	{ "lookup, delete", 2, op_element, MAY(0, -ENOENT, -EINVAL) },
	{ "add_type", 24, op_add_type, MAY(0, -EPROTO, -EINVAL, -E2BIG, -EFAULT, -ENOMEM,
					   -EALREADY, -ESTALE, -EAGAIN) },
	{ "open", 24, op_open, MAY(0, -EPROTO, -EINVAL, -E2BIG, -EALREADY, -ESTALE, -EAGAIN,
				   -EDQUOT, -ENOMEM) },
	{ "max_mib", 1, op_max_mib, MAY(0) },
	{ "output", 24, op_output, MAY(0, -ENODEV, -ENOENT, -EINVAL, -E2BIG, -EBUSY, -ENOSPC) },
	{ "reserve", 16, op_reserve, MAY(0, -ENOSPC) },
	{ "hold", 8, op_hold, MAY(0, -ENOSPC) },
	{ "wake", 6, op_wake, MAY(0) },
	{ "file open", 14, op_file_open, MAY(0, -EACCES, -EISDIR, GONE) },
	{ "file close", 4, op_file_close, MAY(0) },
	{ "file read", 16, op_file_read, MAY(0, -EFAULT, -EINVAL, -EISDIR, -ESPIPE,
					     GONE) },
	{ "file seek", 12, op_file_seek, MAY(0, -EINVAL, -ESPIPE, GONE) },
	{ "file stat", 4, op_file_stat, MAY(0) },
	{ "file again", 8, op_file_again, MAY(0, GONE) },
	{ "file walk", 12, op_file_walk, MAY(0, GONE) },
	{ "text walk", 6, op_text_walk, MAY(0) },
	{ "file poll", 6, op_file_poll, MAY(0) },
	{ "epoll change", 12, op_epoll_change, MAY(0, -EEXIST, -ENOENT, -EINVAL, -EPERM) },
	{ "epoll wait", 6, op_epoll_wait, MAY(0) },
	{ "mem map", 20, op_mem_map, MAY(0, -EINVAL, -EACCES, -ENODEV, -EOVERFLOW, -ENOMEM, GONE) },
	{ "mem look", 8, op_mem_look, MAY(0) },
	{ "mem protect", 12, op_mem_protect, MAY(0, -EACCES, -EINVAL, -ENOMEM) },
	{ "mem move", 12, op_mem_move, MAY(0, -EFAULT, -EINVAL, -ENOMEM) },
	{ "mem unmap", 6, op_mem_unmap, MAY(0) },
	{ "mem walk", 6, op_mem_walk, MAY(0) },
	{ "cpu", 2, op_cpu, MAY(0) },
	{ "rmmod", 2, op_rmmod, MAY(-EWOULDBLOCK) },
};

#define N_OPS	((int)ARRAY_SIZE(ops))

static __u64 seen[N_OPS][ERRNOS];

/* ---- What must hold ---------------------------------------------------------------- */

/* A CPU that never was online and dropped nothing has no words of its own in `stats`. */
static bool in_stats(const struct relay_log *log, int cpu)
{
	char with[32], without[48], *text;
	size_t len;
	bool found;

	text = log_file(log, "stats", &len);
	snprintf(with, sizeof(with), "\ncpu: %d\n", cpu);
	snprintf(without, sizeof(without), "\ncpu: %d (no buffer)\nentries", cpu);
	found = text && (strstr(text, with) || strstr(text, without));
	free(text);
	return found;
}

static void check_log(struct fuzz *f, struct slot *s)
{
	const struct relay_log *log = &s->log;
	__u64 accounted = log_stat(log, -1, "stored events") + log_stat(log, -1, "discarded events") +
			  log_dropped(log, -1) + log_stat(log, -1, "open events");
	int cpu;

	if (accounted != s->offered + f->miscount)
		complain(f, "%s: %llu offered, %llu stored, discarded, dropped or open", log->dir,
			 s->offered + f->miscount, accounted);
	/* An open record hides others, which are counted all the same. */
	if (is_held(f, s) || s->odd_types)
		return;
	for (cpu = 0; cpu < possible_cpus(); cpu++) {
		bool there = in_stats(log, cpu);
		long n = log_walk(log, cpu, there, payload_good, f);

		if (n && !there)
			complain(f, "%s: CPU %d: records, but not in stats", log->dir, cpu);
		if (!there)
			continue;
		if (n < 0)
			complain(f, "%s: CPU %d: not well-formed, or not what stats says",
				 log->dir, cpu);
		else if (log_stat(log, cpu, "stored events") != n + log_stat(log, cpu, "overrun"))
			complain(f, "%s: CPU %d: stored is not readable and overwritten",
				 log->dir, cpu);
		if (log_stat(log, cpu, "damaged packets"))
			complain(f, "%s: CPU %d: damaged packets", log->dir, cpu);
	}
}

static int directories(void)
{
	DIR *root = opendir(DEBUGFS);
	struct dirent *e;
	int n = 0;

	while (root && (e = readdir(root)))
		n += strcmp(e->d_name, ".") && strcmp(e->d_name, "..");
	if (root)
		closedir(root);
	return n;
}

static void check(struct fuzz *f)
{
	int i, n, open = 0, partly = 0;

	for (i = 0; i < SLOTS; i++) {
		open += f->slots[i].open;
		partly += f->slots[i].partly;
		if (f->slots[i].open)
			check_log(f, &f->slots[i]);
	}
	/* A program asleep keeps what it could have found. */
	if (is_held(f, NULL))
		return;
	for (i = 0; (n = directories()) > open + partly && i < f->patience * slow(); i++)
		usleep(100000);
	if (n < open || n > open + partly)
		complain(f, "%d directories of %d logs", n, open);
}

/* ---- Episodes ----------------------------------------------------------------------- */

static void begin(struct fuzz *f)
{
	__u8 *payload;
	int i;

	log_load(&f->base, "fuzz_ops", "any");
	f->call = log_var(&f->base, ".bss", "any_call");
	f->results = log_var(&f->base, ".bss", "any_results");
	f->reserved = log_var(&f->base, ".bss", "fuzz_reserved");
	f->discard_every = log_var(&f->base, ".bss", "fuzz_discard_every");
	payload = log_var(&f->base, ".bss.payload", "any_payload");
	for (i = 0; i < FUZZ_PAYLOAD + 256; i++)
		payload[i] = mix(i);
	for (i = 0; i < SLOTS; i++)
		f->slots[i] = (struct slot) { .fd = -1 };
	for (i = 0; i < FILES; i++)
		f->files[i].fd = -1;
	f->hash = 0;
}

static void end(struct fuzz *f)
{
	int i;

	f->op = NULL;
	for (i = 0; i < HOLDERS; i++)
		if (f->sleepers.sleeper[i].asleep && sleepers_wake(&f->sleepers, i))
			complain(f, "a program that slept failed");
	all_online();
	check(f);
	for (i = 0; i < MAPPINGS; i++)
		unmap(&f->mappings[i]);
	for (i = 0; i < FILES; i++)
		if (f->files[i].fd >= 0)
			close(f->files[i].fd);
	for (i = 0; i < SLOTS; i++) {
		if (f->slots[i].pinned)
			unlink(pin_path(f, &f->slots[i]));
		if (f->slots[i].fd >= 0)
			destroy(f, &f->slots[i]);
	}
	log_unload(&f->base);
	if (!logs_gone())
		complain(f, "logs are left");
	if (!module_remove())
		complain(f, "the module is still in use");
	else if (!module_insert())
		complain(f, "the module cannot be loaded");
}

static const struct op *any_op(struct fuzz *f)
{
	int i, sum = 0, at;

	for (i = 0; i < N_OPS; i++)
		sum += ops[i].weight;
	at = below(f, sum);
	for (i = 0; at >= ops[i].weight; i++)
		at -= ops[i].weight;
	return &ops[i];
}

/* One episode of n operations: a hash of all that was drawn. */
static __u64 run_episode(struct fuzz *f, __u64 seed, __u32 episode, __u32 n)
{
	f->seed = seed;
	f->episode = episode;
	begin(f);
	for (f->number = 0; f->number < n && f->wrong < WRONG_MAX; f->number++) {
		f->rng = mix(mix(seed + mix(episode)) + f->number);
		f->op = any_op(f);
		f->seen = seen[f->op - ops];
		f->op->run(f);
		if (f->number % BATCH == BATCH - 1)
			check(f);
	}
	end(f);
	return f->hash;
}

static void print_seen(void)
{
	int i, err;

	for (i = 0; i < N_OPS; i++) {
		printf("# %s:", ops[i].name);
		for (err = 0; err < ERRNOS; err++)
			if (seen[i][err])
				printf(" %s %llu", err ? strerrorname_np(err) ?: "other" : "done",
				       seen[i][err]);
		printf("\n");
	}
}

FIXTURE(fuzz) {
	struct fuzz *f;
};

FIXTURE_SETUP(fuzz)
{
	size_t room = READ_MAX + (64UL << 20);

	setlinebuf(stdout);
	shell("rm -rf " PINS);
	ASSERT_EQ(mkdir(PINS, 0700), 0);
	ASSERT_TRUE(module_insert());
	self->f = calloc(1, sizeof(*self->f));
	self->f->patience = 100;
	memset(seen, 0, sizeof(seen));
	ASSERT_TRUE(sleepers_init(&self->f->sleepers));
	self->f->epoll = epoll_create1(EPOLL_CLOEXEC);
	ASSERT_GE(self->f->epoll, 0);
	/* Reads of absurd lengths end at what is not mapped, and hit nothing. */
	self->f->buf = mmap(NULL, room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(self->f->buf, MAP_FAILED);
	ASSERT_EQ(mprotect(self->f->buf, READ_MAX, PROT_READ | PROT_WRITE), 0);
}

FIXTURE_TEARDOWN(fuzz)
{
	sleepers_exit(&self->f->sleepers);
	close(self->f->epoll);
	free(self->f);
	shell("rm -rf " PINS);
}

/*
 * Fails when: anything that the fixed seed does breaks a rule; a seed does not say all;
 * or an operation is never done, or never refused.
 */
TEST_F_TIMEOUT(fuzz, fixed_seed, 600)
{
	/* Others are refused when something else is slow, or not at all. */
	static const char * const refused[] = {
		"pin", "unpin", "get", "lookup, delete", "add_type", "open", "output", "reserve",
		"hold", "file open", "file read", "file seek", "epoll change", "mem map",
		"mem protect", "mem move", "rmmod",
	};
	struct fuzz *f = self->f;
	int i, j, err;
	__u64 hash;

	hash = run_episode(f, FIXED_SEED, 0, EPISODE);
	EXPECT_EQ(run_episode(f, FIXED_SEED, 0, EPISODE), hash);
	/* Negative control. */
	EXPECT_NE(run_episode(f, FIXED_SEED, 1, EPISODE), hash);
	/* What is seldom drawn. */
	run_episode(f, FIXED_SEED, 2, EPISODE);
	print_seen();
	EXPECT_EQ(f->wrong, 0);

	for (i = 0; i < N_OPS; i++) {
		__u64 times = 0;

		EXPECT_TRUE(seen[i][0] || ops[i].run == op_rmmod) {
			TH_LOG("%s: never done", ops[i].name);
		}
		for (j = 0; j < ARRAY_SIZE(refused); j++)
			if (!strcmp(ops[i].name, refused[j]))
				break;
		for (err = 1; err < ERRNOS; err++)
			times += seen[i][err];
		EXPECT_TRUE(times || j == ARRAY_SIZE(refused)) {
			TH_LOG("%s: never refused", ops[i].name);
		}
	}
}

/* Fails when: it would not have noticed. */
TEST_F_TIMEOUT(fuzz, checks_notice, 600)
{
	struct fuzz *f = self->f;
	struct slot *slot;
	int kept;

	f->quiet = true;
	f->forbid = -EALREADY;
	run_episode(f, FIXED_SEED, 0, EPISODE);
	EXPECT_GT(f->wrong, 0);

	f->forbid = 0;
	f->wrong = 0;
	f->miscount = 1;
	run_episode(f, FIXED_SEED, 0, BATCH * 2);
	EXPECT_GT(f->wrong, 0);

	/* Something keeps a log. */
	f->miscount = 0;
	f->wrong = 0;
	begin(f);
	slot = &f->slots[0];
	slot->fd = any_create(&f->base, &slot->log, "left", 0);
	ASSERT_EQ(any_open(&f->base, 0, (struct bpf_relay_opts) { .subbuf_size = 4096 }), 0);
	kept = dup(slot->fd);
	f->patience = 10;
	destroy(f, slot);
	check(f);
	EXPECT_EQ(f->wrong, 1);
	close(kept);
	end(f);
	EXPECT_EQ(f->wrong, 1);
}

/* Fails when: anything that a random seed does breaks a rule. */
TEST_F_TIMEOUT(fuzz, random_seed, 4000)
{
	const char *seed_text = getenv("FUZZ_SEED"), *seconds_text = getenv("FUZZ_SECONDS");
	time_t until = time(NULL) + (seconds_text ? atoi(seconds_text) : 8);
	struct fuzz *f = self->f;
	__u64 seed;
	__u32 episode = 0;

	if (seed_text && *seed_text)
		seed = strtoull(seed_text, NULL, 0);
	else
		ASSERT_EQ(getrandom(&seed, sizeof(seed), 0), sizeof(seed));
	printf("# seed %#llx (FUZZ_SEED=%#llx does the same again)\n", seed, seed);
	do {
		run_episode(f, seed, episode++, EPISODE);
	} while (!f->wrong && time(NULL) < until);
	print_seen();
	printf("# seed %#llx: %u episodes of %d operations\n", seed, episode, EPISODE);
	EXPECT_EQ(f->wrong, 0);
}

TEST_HARNESS_MAIN
