// SPDX-License-Identifier: GPL-2.0-only
/* After many times the capacity exactly the newest records are readable. */
#include "kselftest_harness.h"
#include "bpf/writer.h"
#include "relay_test.h"

#define COUNT	20000

struct expect {
	__u64 next;
	__u64 wrong;
	__u32 cpu;
};

static bool in_order(const struct record *rec, void *ctx)
{
	const struct writer_seq *seq = rec->payload;
	struct expect *e = ctx;

	if (e->next == ~0ULL)
		e->next = seq->seq;
	e->wrong += rec->header->id != 1 || rec->header->len != sizeof(*seq) ||
		    seq->seq != e->next || seq->cpu != e->cpu ||
		    seq->check != seq->seq * 0x9e3779b97f4a7c15ULL + seq->cpu;
	e->next++;
	return true;
}

static void write_on_all(struct relay_log *log, __u64 count)
{
	struct writer_args *args = log_var(log, ".bss", "args");
	int cpu;

	for (cpu = 0; cpu < n_cpus(); cpu++) {
		args->seq = 0;
		args->count = count;
		log_run(log, "writer_seq", cpu);
	}
}

/* Fails when: a lap loses a record inside, or counts one twice. */
TEST(overwrite_keeps_exactly_the_newest)
{
	struct bpf_relay_opts opts = { .subbuf_size = 4096, .n_subbufs = 4 };
	__u64 *results;
	struct relay_log log;
	int cpu;

	log_load(&log, "writer", "writer");
	ASSERT_EQ(log_open(&log, &opts), 0);
	results = log_var(&log, ".bss", "results");
	write_on_all(&log, COUNT);

	EXPECT_EQ(results[0], (__u64)COUNT * n_cpus());
	for (cpu = 0; cpu < n_cpus(); cpu++) {
		struct expect e = { .next = ~0ULL, .cpu = cpu };
		long n = log_walk(&log, cpu, true, in_order, &e);

		EXPECT_GT(n, 3 * 4096 / 48);
		EXPECT_EQ(e.wrong, 0);
		EXPECT_EQ(e.next, COUNT);
		EXPECT_EQ(log_stat(&log, cpu, "stored events"), COUNT);
		EXPECT_EQ(log_stat(&log, cpu, "overrun"), COUNT - n);
		EXPECT_EQ(log_dropped(&log, cpu), 0);
	}
	EXPECT_TRUE(log_identities(&log));
	log_unload(&log);
	EXPECT_TRUE(log_gone(&log));
}

/* Fails when: no-overwrite mode overwrites, or does not count what it refuses. */
TEST(keep_mode_keeps_exactly_the_first)
{
	struct bpf_relay_opts opts = {
		.mode = BPF_RELAY_KEEP, .subbuf_size = 4096, .n_subbufs = 4,
	};
	struct relay_log log;
	__u64 *results;
	int cpu;

	log_load(&log, "writer", "writer");
	ASSERT_EQ(log_open(&log, &opts), 0);
	results = log_var(&log, ".bss", "results");
	write_on_all(&log, COUNT);

	for (cpu = 0; cpu < n_cpus(); cpu++) {
		struct expect e = { .cpu = cpu };
		long n = log_walk(&log, cpu, true, in_order, &e);

		EXPECT_GT(n, 3 * 4096 / 48);
		EXPECT_EQ(e.wrong, 0);
		EXPECT_EQ(e.next, n);
		EXPECT_EQ(log_stat(&log, cpu, "overrun"), 0);
		EXPECT_EQ(log_stat(&log, cpu, "dropped full"), COUNT - n);
		EXPECT_EQ(log_dropped(&log, cpu), COUNT - n);
		/* Reading consumes nothing: what is full stays full. */
		EXPECT_EQ(log_walk(&log, cpu, true, NULL, NULL), n);
	}
	EXPECT_EQ(results[ENOSPC], log_dropped(&log, -1));
	EXPECT_EQ(results[0] + results[ENOSPC], (__u64)COUNT * n_cpus());
	EXPECT_TRUE(log_identities(&log));
	log_unload(&log);
}

/* Fails when: the walk does not notice a record that is missing or changed. */
TEST(negative_control)
{
	struct bpf_relay_opts opts = { .subbuf_size = 4096, .n_subbufs = 4 };
	struct expect e = { .next = ~0ULL };
	struct relay_log log;
	size_t len;
	char *data;

	log_load(&log, "writer", "writer");
	ASSERT_EQ(log_open(&log, &opts), 0);
	write_on_all(&log, 1000);
	data = log_file(&log, "ctf/cpu0", &len);
	ASSERT_NE(data, NULL);
	ASSERT_GT(ctf_walk(data, len, 4096, in_order, &e), 0);
	EXPECT_EQ(e.wrong, 0);

	e.next = ~0ULL;
	data[len - 4096 + sizeof(struct bpf_relay_packet) + 16]++;	/* a sequence number */
	ctf_walk(data, len, 4096, in_order, &e);
	EXPECT_NE(e.wrong, 0);
	data[4096 - 1] = 1;						/* a pad byte */
	EXPECT_EQ(ctf_walk(data, len, 4096, NULL, NULL), -1);
	free(data);
	log_unload(&log);
}

TEST_HARNESS_MAIN
