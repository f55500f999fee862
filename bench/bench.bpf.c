// SPDX-License-Identifier: GPL-2.0-only
/*
 * One program for each mechanism and size of record: <mechanism>_<bytes>, to be run by
 * BPF_PROG_TEST_RUN with repeat. Each makes one record from the same word, on the stack
 * or in place, and records it. Ours is stamped by the module; where nobody else does it, the
 * record's first word is bpf_ktime_get_ns().
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "bpf_relay.h"
#include "bench.h"

#define TC_ACT_OK		0
#define RB_OVERWRITE		(1U << 19)	/* BPF_F_RB_OVERWRITE, since 6.19 */

extern __u64 bench_now(void) __ksym;
extern __u64 bench_interrupts(void) __ksym;
extern int bench_relay_write(const void *data, __u32 data__sz) __ksym;
extern int bench_ftrace_write(const void *data, __u32 data__sz) __ksym;
extern __u64 bench_ftrace_entries(void) __ksym;

#define __maybe_unused		__attribute__((unused))

/* Look at each call by itself. Not where CPUs would fight for `cost`. */
const volatile bool exact = true;

__u64 word = 0x0123456789abcdef;
struct bench_cost cost;
__u64 entries;

struct rec_8 { __u64 word[1]; };
struct rec_64 { __u64 word[8]; };
struct rec_256 { __u64 word[32]; };

struct rec_256 fixed;

/* ---- The mechanisms ------------------------------------------------------------ */

RELAY_MAP(bench, struct rec_8, struct rec_64, struct rec_256);

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, BENCH_DRAINED);
} ringbuf SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, BENCH_BUFFER);
	__uint(map_flags, RB_OVERWRITE);
} ringbuf_over SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__type(key, __u32);
	__type(value, __u32);
} perf SEC(".maps");

#define QUEUE(n)						\
struct {							\
	__uint(type, BPF_MAP_TYPE_QUEUE);			\
	__uint(max_entries, BENCH_BUFFER / (n));		\
	__type(value, struct rec_##n);				\
} queue_map_##n SEC(".maps");
QUEUE(8)
QUEUE(64)
QUEUE(256)

/* ---- Around a call -------------------------------------------------------------- */

struct span {
	__u64 interrupts;
	__u64 start;
};

static __always_inline void begin(struct span *span)
{
	if (!exact)
		return;
	span->interrupts = bench_interrupts();
	span->start = bench_now();
}

static __always_inline void end(const struct span *span, bool failed)
{
	__u64 took;

	if (exact) {
		took = bench_now() - span->start;
		if (bench_interrupts() != span->interrupts) {
			cost.interrupted++;
			if (took > cost.interrupted_max)
				cost.interrupted_max = took;
		} else {
			cost.calls++;
			cost.sum += took;
			if (took < cost.min || !cost.min)
				cost.min = took;
			if (took > cost.max)
				cost.max = took;
		}
	}
	if (failed)
		__sync_fetch_and_add(&cost.errors, 1);
}

/* ---- The cases ------------------------------------------------------------------- */

#define CASE(mechanism, n, ...)						\
SEC("tc") int mechanism##_##n(struct __sk_buff *skb)			\
{									\
	bool failed = false;						\
	__maybe_unused struct rec_##n rec;				\
	struct span span;						\
									\
	begin(&span);							\
	__VA_ARGS__							\
	end(&span, failed);						\
	return TC_ACT_OK;						\
}

#define fill(rec, first)						\
do {									\
	__u64 __word = word;						\
									\
	(rec)->word[0] = (first);					\
	_Pragma("unroll")						\
	for (int i = 1; i < sizeof(*(rec)) / 8; i++)			\
		(rec)->word[i] = __word;				\
} while (0)

/* It is needed, whatever the compiler sees. */
#define keep(rec)	asm volatile("" : : "r"(rec) : "memory")
#define now()		bpf_ktime_get_ns()

#define BASE(n)								\
CASE(harness, n, fill(&rec, word); keep(&rec);)				\
CASE(clock, n, fill(&rec, now()); keep(&rec);)				\
CASE(memcpy, n,								\
	fill(&rec, now());						\
	keep(&rec);							\
	__builtin_memcpy(&fixed, &rec, sizeof(rec));			\
	keep(&fixed);)

#define OURS(n)								\
CASE(output, n,								\
	fill(&rec, word);						\
	failed = relay_output(&bench, &rec);)				\
CASE(reserve, n,							\
	struct bpf_relay_record *r;					\
	struct rec_##n *p = relay_reserve(&bench, struct rec_##n, &r);	\
									\
	if (p) {							\
		fill(p, word);						\
		relay_submit(r);					\
	}								\
	failed = !p;)

#define BARE(n)								\
CASE(relay_write, n,							\
	fill(&rec, now());						\
	failed = bench_relay_write(&rec, sizeof(rec));)			\
CASE(ftrace, n,								\
	fill(&rec, word);						\
	failed = bench_ftrace_write(&rec, sizeof(rec));)

/* Nobody waits: without the look whether somebody is to be woken. */
#define RINGBUF(mechanism, n)						\
CASE(mechanism##_output, n,						\
	fill(&rec, now());						\
	failed = bpf_ringbuf_output(&mechanism, &rec, sizeof(rec), BPF_RB_NO_WAKEUP);) \
CASE(mechanism##_reserve, n,						\
	struct rec_##n *p = bpf_ringbuf_reserve(&mechanism, sizeof(*p), 0); \
									\
	if (p) {							\
		fill(p, now());						\
		bpf_ringbuf_submit(p, BPF_RB_NO_WAKEUP);		\
	}								\
	failed = !p;)

#define MAPS(n)								\
CASE(perf, n,								\
	fill(&rec, now());						\
	failed = bpf_perf_event_output(skb, &perf, BPF_F_CURRENT_CPU, &rec, sizeof(rec));) \
CASE(queue, n,								\
	fill(&rec, now());						\
	failed = bpf_map_push_elem(&queue_map_##n, &rec, BPF_EXIST);)

#define ALL(n)	BASE(n) OURS(n) BARE(n) RINGBUF(ringbuf, n) RINGBUF(ringbuf_over, n) MAPS(n)
ALL(8)
ALL(64)
ALL(256)

/* The words as text; twelve are the most that it takes. */
CASE(printk, 8,
	fill(&rec, word);
	failed = bpf_printk("%llx", rec.word[0]) < 0;)
CASE(printk, 64,
	__u64 *w = rec.word;

	fill(&rec, word);
	failed = bpf_printk("%llx %llx %llx %llx %llx %llx %llx %llx", w[0], w[1], w[2], w[3],
			    w[4], w[5], w[6], w[7]) < 0;)

SEC("tc") int count_ftrace(struct __sk_buff *skb)
{
	entries = bench_ftrace_entries();
	return TC_ACT_OK;
}

char LICENSE[] SEC("license") = "GPL";
