// SPDX-License-Identifier: GPL-2.0-only
/* Zero-copy records: what readers see of them, and what the verifier refuses. */
#define _GNU_SOURCE
#include "kselftest_harness.h"

#include <unistd.h>

#include "bpf/reserve.h"
#include "sleepers.h"

#define CPU	1	/* what holds and what writes, where it must be one */
#define SUBBUF	4096
#define N	8	/* sub-buffers */

/* Records of struct reserve_small that a sub-buffer takes. */
#define PER_SUBBUF \
	((SUBBUF - (int)sizeof(struct bpf_relay_packet)) / \
	 (int)BPF_RELAY_RECORD_SIZE(sizeof(struct reserve_small)))

FIXTURE(reserve) {
	struct relay_log log;
	struct reserve_args *args;
	struct reserve_out *out;
};

FIXTURE_SETUP(reserve)
{
	struct bpf_relay_opts opts = { .subbuf_size = SUBBUF, .n_subbufs = N };

	log_load(&self->log, "reserve", "reserve");
	ASSERT_EQ(log_open(&self->log, &opts), 0);
	self->args = log_var(&self->log, ".bss", "args");
	self->out = log_var(&self->log, ".bss", "out");
}

FIXTURE_TEARDOWN(reserve)
{
	log_unload(&self->log);
	EXPECT_TRUE(log_gone(&self->log));
}

struct seen {
	__u64 next;		/* the least sequence number that may come */
	__u64 wrong;
	__u64 held;		/* records with the number of `hold` */
	__u64 hold;
	int discard_every;
};

static bool look(const struct record *rec, void *ctx)
{
	const struct reserve_small *r = rec->payload;
	struct seen *s = ctx;

	if (rec->header->id != 1 || rec->header->len != sizeof(*r) || r->check != ~r->seq) {
		s->wrong++;
		return true;
	}
	if (r->seq == s->hold) {
		s->held++;
		return true;
	}
	s->wrong += r->seq < s->next || (s->discard_every && r->seq % s->discard_every == 0);
	s->next = r->seq + 1;
	return true;
}

/* Fails when: a discarded record is delivered or not counted, a submitted one is lost. */
TEST_F_TIMEOUT(reserve, submit_and_discard, 120)
{
	struct seen s = { .discard_every = 3, .hold = -1 };
	const __u64 count = 3000;
	long n;

	self->args->count = count;
	self->args->discard_every = 3;
	log_run(&self->log, "reserve_submit", CPU);
	EXPECT_EQ(self->out->reserved, count);
	EXPECT_EQ(log_stat(&self->log, CPU, "discarded events"), count / 3);
	EXPECT_EQ(log_stat(&self->log, CPU, "stored events"), count - count / 3);
	EXPECT_EQ(log_stat(&self->log, CPU, "open events"), 0);
	EXPECT_EQ(log_dropped(&self->log, -1), 0);
	n = log_walk(&self->log, CPU, true, look, &s);
	/* Of the records that are there two thirds were submitted. */
	EXPECT_GT(n, (N - 1) * PER_SUBBUF * 2 / 3 - 1);
	EXPECT_EQ(s.wrong, 0);
	EXPECT_EQ(s.next, count);
	EXPECT_TRUE(log_identities(&self->log));

	/* Negative control: the walk does notice numbers that should not be there. */
	s = (struct seen) { .discard_every = 2, .hold = -1 };
	log_walk(&self->log, CPU, true, look, &s);
	EXPECT_GT(s.wrong, 0);

	/* Nothing but discarded ones: the newest number stays what it was. */
	self->args->seq = 0;
	self->args->discard_every = 1;
	log_run(&self->log, "reserve_submit", CPU);
	EXPECT_EQ(log_walk(&self->log, CPU, true, NULL, NULL), 0);
	EXPECT_EQ(log_stat(&self->log, CPU, "discarded events"), count / 3 + count);
	EXPECT_TRUE(log_identities(&self->log));
}

struct filled {
	int fill;
	__u64 wrong;
};

static bool filled_to(const struct record *rec, void *ctx)
{
	const struct reserve_big *r = rec->payload;
	struct filled *f = ctx;
	int i;

	if (rec->header->id != 2 || rec->header->len != sizeof(*r)) {
		f->wrong++;
		return true;
	}
	for (i = 0; i < RESERVE_BIG; i++)
		f->wrong += r->bytes[i] != (i < f->fill ? 0xaa : 0);
	return true;
}

/* Fails when: a record shows bytes of an older one, to the program or to a reader. */
TEST_F_TIMEOUT(reserve, zeroed, 120)
{
	static const int fills[] = { RESERVE_BIG, 0, 500, RESERVE_BIG, 13, 0 };
	int per_lap = SUBBUF / sizeof(struct reserve_big) * N;
	int i;

	self->args->count = 3 * per_lap;
	for (i = 0; i < ARRAY_SIZE(fills); i++) {
		struct filled f = { .fill = fills[i] };

		self->args->fill = fills[i];
		log_run(&self->log, "reserve_fill", CPU);
		EXPECT_GT(log_walk(&self->log, CPU, true, filled_to, &f), 0);
		EXPECT_EQ(f.wrong, 0);
		/* Negative control. */
		f.fill = f.fill ? f.fill - 1 : 1;
		log_walk(&self->log, CPU, true, filled_to, &f);
		EXPECT_GT(f.wrong, 0);
	}
	EXPECT_EQ(self->out->reserved, 3 * per_lap * ARRAY_SIZE(fills));
	EXPECT_EQ(self->out->dirty, 0);
	EXPECT_TRUE(log_identities(&self->log));
}

/* Fails when: record_data() gives more bytes than were reserved, or none of them. */
TEST_F_TIMEOUT(reserve, no_more_than_reserved, 120)
{
	static const char * const more[] = {
		"reserve_one_more", "reserve_page_more", "reserve_huge", "reserve_none",
	};
	int i;

	log_run(&self->log, "reserve_equal", CPU);
	log_run(&self->log, "reserve_less", CPU);
	EXPECT_EQ(self->out->reserved, 2);
	EXPECT_EQ(self->out->enough, 2);
	for (i = 0; i < ARRAY_SIZE(more); i++)
		log_run(&self->log, more[i], CPU);
	EXPECT_EQ(self->out->reserved, 2 + ARRAY_SIZE(more));
	EXPECT_EQ(self->out->enough, 2);
	EXPECT_EQ(self->out->too_much, 0);
	EXPECT_EQ(log_stat(&self->log, CPU, "discarded events"), 2 + ARRAY_SIZE(more));
	EXPECT_TRUE(log_identities(&self->log));
}

static bool size_is_seq(const struct record *rec, void *ctx)
{
	const __u64 *seq = rec->payload;
	const __u8 *bytes = rec->payload;
	__u64 *wrong = ctx;
	__u32 i;

	*wrong += rec->header->id != 3 || rec->header->len != *seq;
	for (i = sizeof(*seq); i < rec->header->len; i++)
		*wrong += bytes[i] != 0;
	return true;
}

/* Fails when: a variable type may be reserved below its least size, or not above it. */
TEST_F_TIMEOUT(reserve, variable_sizes, 120)
{
	const __u32 largest = BPF_RELAY_PAYLOAD_MAX(SUBBUF);
	__u64 wrong = 0;

	/* 0 to 7 are too short, 8 to 207 fit. */
	self->args->size = 0;
	self->args->count = 208;
	log_run(&self->log, "reserve_var", CPU);
	EXPECT_EQ(self->out->refused, 8);
	EXPECT_EQ(self->out->reserved, 200);
	EXPECT_EQ(log_stat(&self->log, CPU, "dropped size"), 8);
	EXPECT_EQ(log_walk(&self->log, CPU, true, size_is_seq, &wrong) +
		  log_stat(&self->log, CPU, "overrun"), 200);
	EXPECT_EQ(wrong, 0);

	/* The largest, and one more. */
	self->args->size = largest;
	self->args->count = 2;
	log_run(&self->log, "reserve_var", CPU);
	EXPECT_EQ(self->out->reserved, 201);
	EXPECT_EQ(log_stat(&self->log, CPU, "dropped too big"), 1);
	/* Sizes that are close to wrapping round. */
	self->args->size = -4;
	self->args->count = 4;
	log_run(&self->log, "reserve_var", CPU);
	EXPECT_EQ(self->out->reserved, 201);
	EXPECT_EQ(log_stat(&self->log, CPU, "dropped too big"), 5);
	log_walk(&self->log, CPU, true, size_is_seq, &wrong);
	EXPECT_EQ(wrong, 0);
	EXPECT_TRUE(log_identities(&self->log));
}

/* Fails when: the ring laps an open record, loses count of what it refuses, or stays stuck. */
TEST_F_TIMEOUT(reserve, once_round_is_busy, 120)
{
	struct seen s = { .hold = 0, .next = 1 };
	const int others = 2 * N * PER_SUBBUF;
	const int fit = N * PER_SUBBUF - 1;	/* beside the one that is held */

	self->args->count = others;
	self->args->size = 0;
	EXPECT_EQ(log_run(&self->log, "reserve_round", CPU), 0);
	EXPECT_EQ(self->out->results[0], fit);
	EXPECT_EQ(self->out->results[EBUSY], others - fit);
	EXPECT_EQ(log_stat(&self->log, CPU, "dropped busy"), others - fit);
	EXPECT_EQ(log_dropped(&self->log, CPU), others - fit);
	EXPECT_EQ(log_stat(&self->log, CPU, "overrun"), 0);
	EXPECT_EQ(log_walk(&self->log, CPU, true, look, &s), fit + 1);
	EXPECT_EQ(s.wrong, 0);
	EXPECT_EQ(s.held, 1);
	EXPECT_TRUE(log_identities(&self->log));

	/* The log goes on: nothing more is refused, the old is overwritten. */
	self->args->count = 10;
	self->args->size = others;
	s = (struct seen) { .hold = -1 };
	EXPECT_EQ(log_run(&self->log, "reserve_round", CPU), others);
	EXPECT_EQ(log_stat(&self->log, CPU, "dropped busy"), others - fit);
	EXPECT_EQ(self->out->results[EBUSY], others - fit);
	EXPECT_EQ(self->out->results[0], fit + 10 + others);
	EXPECT_GT(log_walk(&self->log, CPU, true, look, &s), (N - 1) * PER_SUBBUF);
	EXPECT_EQ(s.wrong, 0);
	EXPECT_EQ(s.next, self->args->seq);
	EXPECT_TRUE(log_identities(&self->log));
}

/* ---- Programs asleep on a page fault, holding a record --------------------- */

/* Number i: start it, and return when it sleeps. */
static bool start_holder(struct sleepers *s, int i, struct relay_log *log, int cpu, __u64 seq)
{
	static struct reserve_hold ctx[SLEEPERS_MAX];

	ctx[i] = (struct reserve_hold) { .addr = s->sleeper[i].addr, .seq = seq };
	return sleepers_start(s, i, log, "reserve_hold", cpu, &ctx[i], sizeof(ctx[i]));
}

/*
 * Fails when: an open record hides more than the rest of its own sub-buffer, is lapped,
 * or keeps the log from going on after its submit.
 */
TEST_F_TIMEOUT(reserve, open_hides_only_its_subbuffer, 120)
{
	const int before = 10, half = PER_SUBBUF - before - 1 + N / 2 * PER_SUBBUF, partial = 50;
	const int room = N * PER_SUBBUF - before - 1 - half - partial;
	struct seen s = { .hold = -2 };
	static struct sleepers sleepers;

	ASSERT_TRUE(sleepers_init(&sleepers));
	self->args->count = before;
	log_run(&self->log, "reserve_output", CPU);
	ASSERT_TRUE(start_holder(&sleepers, 0, &self->log, CPU, -2));
	EXPECT_EQ(log_walk(&self->log, CPU, false, look, &s), before);
	EXPECT_EQ(log_stat(&self->log, CPU, "open events"), 1);

	self->args->count = half + partial;
	log_run(&self->log, "reserve_output", CPU);
	s = (struct seen) { .hold = -2 };
	EXPECT_EQ(log_walk(&self->log, CPU, false, look, &s), before + N / 2 * PER_SUBBUF);
	EXPECT_EQ(s.wrong, 0);
	EXPECT_EQ(s.held, 0);
	/* Of the newest, partial sub-buffer nothing is seen, of the complete ones all. */
	EXPECT_EQ(s.next, before + half);

	/* Other CPUs are not concerned. */
	self->args->count = 7;
	self->args->seq = 0;
	log_run(&self->log, "reserve_output", 0);
	EXPECT_EQ(log_walk(&self->log, 0, true, NULL, NULL), 7);

	/* Once round. */
	self->args->seq = before + half + partial;
	self->args->count = room + 1000;
	log_run(&self->log, "reserve_output", CPU);
	EXPECT_EQ(self->out->results[0], before + half + partial + 7 + room);
	EXPECT_EQ(self->out->results[EBUSY], 1000);
	EXPECT_EQ(log_stat(&self->log, CPU, "dropped busy"), 1000);
	EXPECT_EQ(log_stat(&self->log, CPU, "overrun"), 0);
	/* The newest sub-buffer is full of records, but only who leaves it completes it. */
	EXPECT_EQ(log_walk(&self->log, CPU, false, NULL, NULL), before + (N - 2) * PER_SUBBUF);

	EXPECT_EQ(sleepers_wake(&sleepers, 0), 0);
	s = (struct seen) { .hold = -2 };
	EXPECT_EQ(log_walk(&self->log, CPU, true, look, &s), N * PER_SUBBUF);
	EXPECT_EQ(s.wrong, 0);
	EXPECT_EQ(s.held, 1);
	EXPECT_EQ(log_stat(&self->log, CPU, "open events"), 0);
	EXPECT_TRUE(log_identities(&self->log));

	self->args->count = 3 * N * PER_SUBBUF;
	log_run(&self->log, "reserve_output", CPU);
	EXPECT_EQ(log_stat(&self->log, CPU, "dropped busy"), 1000);
	EXPECT_EQ(log_stat(&self->log, CPU, "overrun"), 3 * N * PER_SUBBUF);
	EXPECT_TRUE(log_identities(&self->log));
	sleepers_exit(&sleepers);
}

/* Fails when: fewer than 64 records may be open on a CPU, or more; or one gets lost. */
TEST_F_TIMEOUT(reserve, sixty_four_holders, 120)
{
	struct reserve_hold one_more = {};
	static struct sleepers sleepers;
	struct seen s = { .hold = -1 };
	int i;

	ASSERT_TRUE(sleepers_init(&sleepers));
	for (i = 0; i < BPF_RELAY_OPEN_MAX; i++)
		ASSERT_TRUE(start_holder(&sleepers, i, &self->log, CPU, i));
	EXPECT_EQ(log_stat(&self->log, CPU, "open events"), BPF_RELAY_OPEN_MAX);
	EXPECT_EQ(log_dropped(&self->log, -1), 0);
	EXPECT_EQ(log_walk(&self->log, CPU, false, NULL, NULL), 0);

	/* The 65th there, the first elsewhere; plain output needs no handle. */
	one_more.addr = (unsigned long)&one_more;
	run_on(CPU);
	EXPECT_EQ(run_ctx(&self->log, "reserve_hold", &one_more, sizeof(one_more)), 1);
	EXPECT_EQ(log_stat(&self->log, CPU, "dropped no record"), 1);
	run_on(0);
	EXPECT_EQ(run_ctx(&self->log, "reserve_hold", &one_more, sizeof(one_more)), 0);
	self->args->seq = BPF_RELAY_OPEN_MAX;
	self->args->count = 5;
	log_run(&self->log, "reserve_output", CPU);
	EXPECT_EQ(self->out->results[0], 5);
	EXPECT_EQ(log_stat(&self->log, CPU, "open events"), BPF_RELAY_OPEN_MAX);

	/*
	 * From both ends; number 20 last. What was reserved before it but submitted
	 * after is hidden as well: it is the same sub-buffer.
	 */
	for (i = 0; i < BPF_RELAY_OPEN_MAX; i++) {
		int j = i % 2 ? i / 2 : BPF_RELAY_OPEN_MAX - 1 - i / 2;

		if (j != 20)
			EXPECT_EQ(sleepers_wake(&sleepers, j), 0);
	}
	EXPECT_EQ(log_stat(&self->log, CPU, "open events"), 1);
	EXPECT_EQ(log_walk(&self->log, CPU, false, NULL, NULL), 0);
	EXPECT_EQ(sleepers_wake(&sleepers, 20), 0);
	EXPECT_EQ(log_stat(&self->log, CPU, "open events"), 0);
	EXPECT_EQ(log_walk(&self->log, CPU, true, look, &s), BPF_RELAY_OPEN_MAX + 5);
	EXPECT_EQ(s.wrong, 0);
	EXPECT_EQ(s.next, BPF_RELAY_OPEN_MAX + 5);

	/* All handles are back. */
	self->args->count = 2 * BPF_RELAY_OPEN_MAX;
	log_run(&self->log, "reserve_submit", CPU);
	EXPECT_EQ(self->out->refused, 0);
	EXPECT_EQ(log_dropped(&self->log, -1), 1);
	EXPECT_TRUE(log_identities(&self->log));
	sleepers_exit(&sleepers);
}

/* What 6.x and what later kernels say of a pointer that is no record, or not any more. */
#define NOT_A_RECORD	"pointer type STRUCT bpf_relay_record must point to scalar"
#define NOT_ACQUIRED	"expects referenced PTR_TO_BTF_ID passed to R1"

/* Fails when: the verifier lets through a program that misuses a record. */
TEST(verifier_refuses)
{
	static const struct refused list[] = {
		{ "leak", { "Unreleased reference" } },
		{ "leak_one_path", { "Unreleased reference" } },
		{ "leak_in_loop", { "Unreleased reference" } },
		{ "not_tested", { "Possibly NULL pointer passed to trusted" } },
		{ "overrun", { "invalid access to memory, mem_size=16 off=16 size=1" } },
		{ "underrun", { "invalid access to memory, mem_size=16 off=-1 size=1" } },
		{ "overrun_variable", { "invalid access to memory, mem_size=16 off=31 size=1" } },
		{ "after_submit", { "invalid mem access 'scalar'" } },
		{ "read_after_discard", { "invalid mem access 'scalar'" } },
		{ "twice", { "arg#0 " NOT_A_RECORD, "bpf_relay_discard " NOT_ACQUIRED } },
		{ "data_of_closed", { "arg#0 " NOT_A_RECORD,
				      "R1 is scalar expected STRUCT bpf_relay_record" } },
		{ "write_handle", { "only read is supported" } },
		{ "submit_task", { "R1 has a pointer to STRUCT task_struct",
				   "bpf_relay_submit " NOT_ACQUIRED } },
		{ "submit_map", { "R1 has a pointer to STRUCT bpf_map",
				  "bpf_relay_submit " NOT_ACQUIRED } },
		{ "submit_element", { "arg#0 " NOT_A_RECORD, "bpf_relay_submit " NOT_ACQUIRED } },
		{ "submit_data", { "arg#0 " NOT_A_RECORD, "bpf_relay_submit " NOT_ACQUIRED } },
		{ "submit_log", { "R1 must be referenced or trusted",
				  "bpf_relay_submit " NOT_ACQUIRED } },
	};
	static const struct refused stash[] = {
		{ "stash_it", { "map 'stash' has to have BTF in order to use bpf_kptr_xchg" } },
	};
	char *verdict = malloc(VERDICT_SIZE);

	EXPECT_EQ(refused_wrongly("reserve_bad", list, ARRAY_SIZE(list)), 0);
	EXPECT_EQ(refused_wrongly("reserve_stash", stash, ARRAY_SIZE(stash)), 0);
	/* Negative control: what is right is accepted, and so is not "refused". */
	EXPECT_EQ(verify("reserve_bad", "right", verdict), 0);
	free(verdict);
}

TEST_HARNESS_MAIN
