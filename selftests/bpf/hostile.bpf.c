// SPDX-License-Identifier: GPL-2.0-only
/* Writes a log, and does to its map what nobody should. */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "bpf_relay.h"
#include "hostile.h"
#include "hostile_count.h"

char _license[] SEC("license") = "GPL";

RELAY_MAP(hostile, struct hostile_rec);

struct hostile_args args;		/* in */
__u64 updates;				/* out: element written by a program */
__u64 failed;				/* or not */

static int write_one(__u64 i, void *ctx)
{
	struct hostile_rec rec = { .seq = i, .who = args.who };

	count(relay_output(&hostile, &rec));
	return 0;
}

/* args.count records. */
SEC("syscall")
int hostile_write(void *ctx)
{
	return bpf_loop(args.count, write_one, NULL, 0);
}

static void update(void)
{
	struct hostile_relay value = {};
	__u32 key = 0;

	if (bpf_map_update_elem(&hostile, &key, &value, BPF_ANY))
		__sync_fetch_and_add(&failed, 1);
	else
		__sync_fetch_and_add(&updates, 1);
}

SEC("syscall")
int hostile_update(void *ctx)
{
	update();
	return 0;
}

/* Under the run queue's lock: once, then writes. */
SEC("?tp_btf/sched_switch")
int BPF_PROG(under_rq_lock)
{
	struct hostile_rec rec = {};

	if (__sync_val_compare_and_swap(&args.armed, 1, 2) == 1)
		update();
	if (args.armed)
		count(relay_output(&hostile, &rec));
	return 0;
}

#define SCRIBBLE(elem)								\
do {										\
	__builtin_memset(&(elem)->counters, 0x5a, sizeof((elem)->counters));	\
} while (0)

static int scribble_cpu(__u64 cpu, void *ctx)
{
	__u32 key = 0;
	struct hostile_relay *elem = bpf_map_lookup_percpu_elem(&hostile, &key, cpu);

	if (elem)
		SCRIBBLE(elem);
	return 0;
}

static int scribble_and_write(__u64 i, void *ctx)
{
	bpf_loop(args.at, scribble_cpu, NULL, 0);
	return write_one(i, ctx);
}

/* args.count records, before each the counters of args.at CPUs are spoilt. */
SEC("syscall")
int hostile_scribble(void *ctx)
{
	bpf_loop(args.count, scribble_and_write, NULL, 0);
	return bpf_loop(args.at, scribble_cpu, NULL, 0);
}
