// SPDX-License-Identifier: GPL-2.0-only
/*
 * Programs on real events: <event>_<mechanism>. All make the same record of 64 bytes;
 * `empty` makes none. Only events of the measured process count, and are counted.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "bpf_relay.h"
#include "bench.h"

#define RB_OVERWRITE		(1U << 19)	/* BPF_F_RB_OVERWRITE, since 6.19 */

__u64 seen;
__u64 errors;

struct event {
	__u64 what[8];
};

RELAY_MAP(bench, struct event);

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

/* Not the clock: ours has it by itself. */
static __always_inline void fill(struct event *e, void *object)
{
	#pragma unroll
	for (int i = 0; i < 8; i++)
		e->what[i] = (__u64)object + i;
}

#define EVENT(name, section, mechanism, ...)			\
SEC(section) int name##_##mechanism(__u64 *ctx)			\
{								\
	void *object = (void *)ctx[1];				\
	struct event e;						\
	long err = 0;						\
								\
	seen++;							\
	__VA_ARGS__						\
	if (err)						\
		errors++;					\
	return 0;						\
}

#define EVENTS(name, section)							\
EVENT(name, section, empty, (void)object; (void)e;)				\
EVENT(name, section, output,							\
	fill(&e, object);							\
	err = relay_output(&bench, &e);)					\
EVENT(name, section, ringbuf_over,						\
	fill(&e, object);							\
	e.what[0] = bpf_ktime_get_ns();						\
	err = bpf_ringbuf_output(&ringbuf_over, &e, sizeof(e), BPF_RB_NO_WAKEUP);) \
EVENT(name, section, perf,							\
	fill(&e, object);							\
	e.what[0] = bpf_ktime_get_ns();						\
	err = bpf_perf_event_output(ctx, &perf, BPF_F_CURRENT_CPU, &e, sizeof(e));)

EVENTS(sched_switch, "tp_btf/sched_switch")
EVENTS(tcp_segment, "tp_btf/tcp_probe")

char LICENSE[] SEC("license") = "GPL";
