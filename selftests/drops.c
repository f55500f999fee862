// SPDX-License-Identifier: GPL-2.0-only
/*
 * Every reason to drop a record, provoked: it and only it moves, by exactly what was
 * provoked, and the caller gets the documented errno. (dropped no buffer cannot be
 * had while relay's own CPU hotplug works: test nobuffer, and of the ring, basic.)
 */
#define _GNU_SOURCE
#include "kselftest_harness.h"

#include "anylog.h"
#include "bpf/drops.h"

#define CPU		1
#define SUBBUFS		4
#define PER_SUBBUF	((4096 - 88) / 40)
#define CAPACITY	(SUBBUFS * PER_SUBBUF)

static const char * const reasons[] = {
	"type", "size", "too big", "busy", "full", "nested", "contended", "no buffer",
	"no record",
};

FIXTURE(drops) {
	struct relay_log log;
	struct bpf_link *links[DROPS_DEPTH];
	__u64 *results;
	int kmsg;
};

FIXTURE_SETUP(drops)
{
	log_load(&self->log, "drops", "drops");
	self->results = any_results(&self->log);
	self->kmsg = kmsg_open();
}

FIXTURE_TEARDOWN(drops)
{
	int i;

	for (i = 0; i < DROPS_DEPTH; i++)
		bpf_link__destroy(self->links[i]);
	log_unload(&self->log);
	EXPECT_TRUE(log_gone(&self->log));
}

static int open_log(struct relay_log *log, enum bpf_relay_mode mode, __u32 n_subbufs)
{
	return log_open(log, &(struct bpf_relay_opts) {
		.mode = mode, .subbuf_size = 4096, .n_subbufs = n_subbufs });
}

static void set(struct relay_log *log, const char *name, __u64 value)
{
	*(__u64 *)log_var(log, ".bss", name) = value;
}

/*
 * On CPU `offered` calls were made: of them `dropped` for this reason and none for
 * another, `discarded` given up, the rest stored. And the kernel log says once that it
 * began.
 */
static bool balance(struct relay_log *log, int kmsg, __u64 offered, const char *reason,
		    __u64 dropped, __u64 discarded)
{
	const char *text = kmsg_read(kmsg), *said = strstr(text, "first dropped record, on CPU 1: ");
	bool good = true;
	int i;

	for (i = 0; i < ARRAY_SIZE(reasons); i++) {
		__u64 want = strcmp(reason, reasons[i]) ? 0 : dropped, got;
		char name[32];

		snprintf(name, sizeof(name), "dropped %s", reasons[i]);
		got = log_stat(log, CPU, name);
		if (got != want) {
			printf("# %s: %llu, not %llu\n", name, got, want);
			good = false;
		}
	}
	if (log_stat(log, CPU, "discarded events") != discarded ||
	    log_stat(log, CPU, "stored events") + discarded + dropped != offered) {
		printf("# offered %llu != stored %llu + discarded %llu + dropped %llu\n", offered,
		       log_stat(log, CPU, "stored events"),
		       log_stat(log, CPU, "discarded events"), dropped);
		good = false;
	}
	if (dropped != log_dropped(log, -1) || log_stat(log, CPU, "open events"))
		good = false;
	if (!said != !dropped || (said && strstr(said + 1, "first dropped record"))) {
		printf("# the kernel said: %s\n", text);
		good = false;
	}
	return log_identities(log) && good;
}

/* Fails when: an unknown type is not counted as that, by output or by reserve. */
TEST_F(drops, type)
{
	const __u64 flags[] = { 2, 255, 256, 0xffff, 1 << 16 | 1, 1ULL << 63 };
	int i;

	ASSERT_EQ(open_log(&self->log, BPF_RELAY_OVERWRITE, SUBBUFS), 0);
	set(&self->log, "drops_count", 5);
	log_run(&self->log, "drops_write", CPU);
	EXPECT_EQ(self->results[0], 5);
	EXPECT_TRUE(balance(&self->log, self->kmsg, 5, "type", 0, 0));
	*(__u32 *)log_var(&self->log, ".bss", "drops_size") = sizeof(struct drops_rec);
	for (i = 0; i < ARRAY_SIZE(flags); i++) {
		set(&self->log, "drops_flags", flags[i]);
		EXPECT_EQ(log_run(&self->log, "drops_reserve", CPU), 0);
	}
	/* Negative control: a type that there is. */
	set(&self->log, "drops_flags", 1);
	EXPECT_EQ(log_run(&self->log, "drops_reserve", CPU), 1);
	EXPECT_TRUE(balance(&self->log, self->kmsg, 5 + i + 1, "type", i, 1));
}

/* Fails when: a wrong size is not counted as that, by reserve (output: test sizes). */
TEST_F(drops, size)
{
	__u32 *size = log_var(&self->log, ".bss", "drops_size");
	__u32 i;

	ASSERT_EQ(open_log(&self->log, BPF_RELAY_OVERWRITE, SUBBUFS), 0);
	set(&self->log, "drops_flags", 1);
	for (i = 0; i < 50; i++) {
		*size = i;
		EXPECT_EQ(log_run(&self->log, "drops_reserve", CPU),
			  i == sizeof(struct drops_rec));
	}
	EXPECT_TRUE(balance(&self->log, self->kmsg, i, "size", i - 1, 1));
}

/* Fails when: what does not fit a sub-buffer is not counted as that. */
TEST_F(drops, too_big)
{
	__u32 *size = log_var(&self->log, ".bss", "drops_size"), max = BPF_RELAY_PAYLOAD_MAX(4096);

	ASSERT_EQ(open_log(&self->log, BPF_RELAY_OVERWRITE, SUBBUFS), 0);
	*size = max;
	log_run(&self->log, "drops_write_raw", CPU);
	EXPECT_EQ(log_run(&self->log, "drops_reserve", CPU), 1);
	EXPECT_EQ(self->results[0], 1);
	*size = max + 1;
	log_run(&self->log, "drops_write_raw", CPU);
	EXPECT_EQ(log_run(&self->log, "drops_reserve", CPU), 0);
	*size = 64 << 10;
	log_run(&self->log, "drops_write_raw", CPU);
	EXPECT_EQ(self->results[E2BIG], 2);
	*size = ~0U;
	EXPECT_EQ(log_run(&self->log, "drops_reserve", CPU), 0);
	EXPECT_TRUE(balance(&self->log, self->kmsg, 6, "too big", 4, 1));
}

/*
 * Fails when: a writer that comes round to an open record overwrites anything, counts
 * what it drops as anything but busy, or the log does not go on once it is closed.
 */
TEST_F(drops, busy)
{
	ASSERT_EQ(open_log(&self->log, BPF_RELAY_OVERWRITE, SUBBUFS), 0);
	set(&self->log, "drops_count", 1000);
	EXPECT_EQ(log_run(&self->log, "drops_hold_one", CPU), 0);
	EXPECT_EQ(self->results[0], CAPACITY - 1);
	EXPECT_EQ(self->results[EBUSY], 1000 - (CAPACITY - 1));
	EXPECT_EQ(log_stat(&self->log, CPU, "overrun"), 0);
	EXPECT_EQ(log_stat(&self->log, CPU, "commit overrun"), self->results[EBUSY]);
	EXPECT_TRUE(balance(&self->log, self->kmsg, 1001, "busy", self->results[EBUSY], 0));
	EXPECT_EQ(log_walk(&self->log, CPU, true, NULL, NULL), CAPACITY);

	/* It goes on: one sub-buffer makes room. */
	set(&self->log, "drops_count", 10);
	log_run(&self->log, "drops_write", CPU);
	EXPECT_EQ(self->results[0], CAPACITY - 1 + 10);
	EXPECT_EQ(log_stat(&self->log, CPU, "overrun"), PER_SUBBUF);
	EXPECT_EQ(log_walk(&self->log, CPU, true, NULL, NULL), CAPACITY - PER_SUBBUF + 10);
}

/* Fails when: the same without an open record drops anything: busy would prove nothing. */
TEST_F(drops, negative_control_not_busy)
{
	ASSERT_EQ(open_log(&self->log, BPF_RELAY_OVERWRITE, SUBBUFS), 0);
	set(&self->log, "drops_count", 1000);
	log_run(&self->log, "drops_write", CPU);
	EXPECT_EQ(self->results[0], 1000);
	EXPECT_TRUE(balance(&self->log, self->kmsg, 1000, "busy", 0, 0));
	EXPECT_GT(log_stat(&self->log, CPU, "overrun"), 0);
}

/* Fails when: no-overwrite mode overwrites, or counts what it refuses as anything but full. */
TEST_F(drops, full)
{
	ASSERT_EQ(open_log(&self->log, BPF_RELAY_KEEP, SUBBUFS), 0);
	set(&self->log, "drops_count", CAPACITY);
	log_run(&self->log, "drops_write", CPU);
	EXPECT_EQ(self->results[0], CAPACITY);
	EXPECT_TRUE(balance(&self->log, self->kmsg, CAPACITY, "full", 0, 0));

	set(&self->log, "drops_count", 7);
	log_run(&self->log, "drops_write", CPU);
	EXPECT_EQ(self->results[ENOSPC], 7);
	/* A reservation, too. */
	*(__u32 *)log_var(&self->log, ".bss", "drops_size") = sizeof(struct drops_rec);
	set(&self->log, "drops_flags", 1);
	EXPECT_EQ(log_run(&self->log, "drops_reserve", CPU), 0);
	EXPECT_EQ(log_stat(&self->log, CPU, "overrun"), 0);
	EXPECT_TRUE(balance(&self->log, self->kmsg, CAPACITY + 8, "full", 8, 0));
}

/*
 * Programs at the entry of ring_take_next(), which a call enters where it begins a
 * sub-buffer: each one's own call is nested in there, and nests the next program's.
 */
static int attach_nest(struct relay_log *log, struct bpf_link **links, int n)
{
	char name[32];
	int i;

	for (i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "drops_nest%d", i);
		links[i] = bpf_program__attach(bpf_object__find_program_by_name(log->obj, name));
		if (!links[i])
			return -1;
	}
	return 0;
}

/* Fails when: one call too many on top of others is let in, or not counted as nested. */
TEST_F(drops, nested)
{
	ASSERT_EQ(open_log(&self->log, BPF_RELAY_OVERWRITE, SUBBUFS), 0);
	ASSERT_EQ(attach_nest(&self->log, self->links, DROPS_DEPTH), 0);
	set(&self->log, "drops_count", 1);

	/* As deep as may be. */
	set(&self->log, "drops_nest", DROPS_DEPTH - 1);
	log_run(&self->log, "drops_write", CPU);
	EXPECT_EQ(self->results[0], DROPS_DEPTH);
	EXPECT_EQ(log_stat(&self->log, CPU, "nesting max"), DROPS_DEPTH);
	EXPECT_EQ(log_stat(&self->log, CPU, "nested calls"), DROPS_DEPTH - 1);
	EXPECT_TRUE(balance(&self->log, self->kmsg, DROPS_DEPTH, "nested", 0, 0));

	/* One more; at the next sub-buffer, to which the others are filled up first. */
	set(&self->log, "drops_count", PER_SUBBUF - DROPS_DEPTH);
	log_run(&self->log, "drops_write", CPU);
	set(&self->log, "drops_count", 1);
	set(&self->log, "drops_nest", DROPS_DEPTH);
	log_run(&self->log, "drops_write", CPU);
	EXPECT_EQ(self->results[EDEADLK], 1);
	EXPECT_EQ(log_stat(&self->log, CPU, "nesting max"), DROPS_DEPTH + 1);
	EXPECT_EQ(log_stat(&self->log, CPU, "nested calls"), 2 * DROPS_DEPTH - 1);
	EXPECT_TRUE(balance(&self->log, self->kmsg, PER_SUBBUF + 1 + DROPS_DEPTH, "nested", 1, 0));
}

/*
 * One program, which writes a small record whenever a large one is about to begin a
 * sub-buffer: the large one has to look again, and again.
 * Fails when: a call that loses 16 races goes on, or is not counted as contended.
 */
TEST_F(drops, contended)
{
	ASSERT_EQ(open_log(&self->log, BPF_RELAY_OVERWRITE, SUBBUFS), 0);
	ASSERT_EQ(attach_nest(&self->log, self->links, 1), 0);
	*(__u32 *)log_var(&self->log, ".bss", "drops_size") = BPF_RELAY_PAYLOAD_MAX(4096);

	set(&self->log, "drops_nest", DROPS_RETRIES - 1);
	log_run(&self->log, "drops_write_raw", CPU);
	EXPECT_EQ(self->results[0], DROPS_RETRIES);
	EXPECT_TRUE(balance(&self->log, self->kmsg, DROPS_RETRIES, "contended", 0, 0));

	set(&self->log, "drops_nest", DROPS_RETRIES);
	log_run(&self->log, "drops_write_raw", CPU);
	EXPECT_EQ(self->results[EDEADLK], 1);
	EXPECT_EQ(self->results[0], 2 * DROPS_RETRIES);
	EXPECT_EQ(log_stat(&self->log, CPU, "nesting max"), 2);
	EXPECT_TRUE(balance(&self->log, self->kmsg, 2 * DROPS_RETRIES + 1, "contended", 1, 0));
}

/* Fails when: a 65th open record is given out, or not counted as no record. */
TEST_F(drops, no_record)
{
	struct bpf_program *more = bpf_object__find_program_by_name(self->log.obj,
								     "drops_hold_more");
	__u64 *held = log_var(&self->log, ".bss", "drops_held");
	int round;

	/* The ring takes them all, twice. */
	ASSERT_EQ(open_log(&self->log, BPF_RELAY_OVERWRITE, 64), 0);
	/* Negative control: alone there are enough. */
	log_run(&self->log, "drops_hold_many", CPU);
	EXPECT_EQ(held[0], DROPS_HOLD);
	EXPECT_TRUE(balance(&self->log, self->kmsg, DROPS_HOLD + 1, "no record", 0, 0));

	self->links[0] = bpf_program__attach(more);
	ASSERT_NE(self->links[0], NULL);
	for (round = 1; round <= 2; round++) {
		held[1] = 0;
		log_run(&self->log, "drops_hold_many", CPU);
		EXPECT_EQ(held[0], DROPS_HOLD);
		EXPECT_EQ(held[1], BPF_RELAY_OPEN_MAX - DROPS_HOLD);
		EXPECT_EQ(log_stat(&self->log, CPU, "dropped no record"), round);
		EXPECT_EQ(log_stat(&self->log, CPU, "discarded events"), round * held[1] / 2);
	}
	EXPECT_TRUE(balance(&self->log, self->kmsg, DROPS_HOLD + 1 +
			    2 * (DROPS_HOLD + 1 + DROPS_HOLD_MORE), "no record", 2, held[1]));
}

/* Fails when: calls on a log that is not open are counted anywhere, or return anything else. */
TEST_F(drops, not_open)
{
	set(&self->log, "drops_count", 5);
	log_run(&self->log, "drops_write", CPU);
	EXPECT_EQ(self->results[ENODEV], 5);
	EXPECT_EQ(log_run(&self->log, "drops_reserve", CPU), 0);
	ASSERT_EQ(open_log(&self->log, BPF_RELAY_OVERWRITE, SUBBUFS), 0);
	EXPECT_TRUE(balance(&self->log, self->kmsg, 0, "type", 0, 0));
}

TEST_HARNESS_MAIN
