// SPDX-License-Identifier: GPL-2.0-only
/*
 * Programs attached to the module itself, and to what it calls, that write to the
 * log whose writing they watch.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "bpf_relay.h"
#include "hostile.h"
#include "hostile_count.h"

char _license[] SEC("license") = "GPL";

RELAY_MAP(recurse, struct hostile_rec);

struct hostile_args args;	/* in */
__u64 fired;			/* out: runs of attached programs that wrote */
__u64 hits;			/* of the probes since the last outer write */
__u32 level;			/* of the chain */

static void output(__u64 seq, __u64 who)
{
	struct hostile_rec rec = { .seq = seq, .who = who };

	count(relay_output(&recurse, &rec));
}

static int write_one(__u64 i, void *ctx)
{
	output(i, 0);
	return 0;
}

/* args.count records of writer 0. */
SEC("syscall")
int recurse_write(void *ctx)
{
	return bpf_loop(args.count, write_one, NULL, 0);
}

/* One reserved record, of writer 0. */
SEC("syscall")
int recurse_reserve(void *ctx)
{
	struct bpf_relay_record *rec;
	struct hostile_rec *r = relay_reserve(&recurse, struct hostile_rec, &rec);

	if (!r)
		return 1;
	relay_submit(rec);
	return 0;
}

/*
 * The same while a record below is open: no write can then publish itself at once, so
 * every one of them comes through ring_publish(), once.
 */
SEC("syscall")
int recurse_write_held(void *ctx)
{
	struct bpf_relay_record *rec;
	struct hostile_rec *r = relay_reserve(&recurse, struct hostile_rec, &rec);

	if (!r)
		return 1;
	args.armed = 1;
	bpf_loop(args.count, write_one, NULL, 0);
	args.armed = 0;
	relay_submit(rec);
	return 0;
}

/* One call that is dropped: there is no such type. */
SEC("syscall")
int recurse_drop(void *ctx)
{
	__u64 word = 0;

	count(bpf_relay_output(&recurse, &word, sizeof(word), 77));
	return 0;
}

char bytes[3000];

/* One record that leaves no room for another in a sub-buffer of 4096 bytes. */
SEC("syscall")
int recurse_switch(void *ctx)
{
	count(relay_output_raw(&recurse, bytes, sizeof(bytes)));
	return 0;
}

/* Reports whoever called them, and only while it is asked for. */
#define WATCH(section, name, id)						\
SEC("?" section)								\
int name(void *ctx)								\
{										\
	if (args.armed) {							\
		__sync_fetch_and_add(&fired, 1);				\
		output(0, id);							\
	}									\
	return 0;								\
}

WATCH("fentry/bpf_relay_output", enter_output, 1)
WATCH("fexit/bpf_relay_output", leave_output, 2)
WATCH("fentry/bpf_relay_reserve", enter_reserve, 3)
WATCH("fexit/bpf_relay_submit", leave_submit, 4)
WATCH("fentry/ring_take_again", enter_ring, 5)
WATCH("fexit/ring_take_again", leave_ring, 6)
WATCH("fentry/ring_switch", enter_switch, 7)
WATCH("fentry/log_first_drop", enter_drop, 8)
WATCH("kprobe/ring_take_next", probe_take, 9)
WATCH("kretprobe/ring_publish", probe_publish, 10)

/*
 * In the middle of a write: each link of the chain writes when the one before it
 * does, and so stands one call deeper.
 */
#define LINK(n)									\
SEC("?fentry/ring_publish")							\
int link_##n(void *ctx)								\
{										\
	if (!args.armed || level != n)						\
		return 0;							\
	level = n + 1;								\
	__sync_fetch_and_add(&fired, 1);					\
	output(0, n + 1);							\
	level = n;								\
	return 0;								\
}

LINK(0) LINK(1) LINK(2) LINK(3) LINK(4) LINK(5) LINK(6) LINK(7) LINK(8) LINK(9)

/* On an instruction of the module: answers hit number args.at, and only that. */
SEC("?kprobe")
int any_instruction(void *ctx)
{
	if (args.armed && __sync_fetch_and_add(&hits, 1) == args.at) {
		__sync_fetch_and_add(&fired, 1);
		output(0, 1);
	}
	return 0;
}
