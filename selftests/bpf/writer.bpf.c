// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tests' workhorse: writes what it is told to from a test run, on the CPU of
 * the caller, and counts what it was told in return.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include "bpf_relay.h"
#include "writer.h"

char _license[] SEC("license") = "GPL";

RELAY_MAP(writer, struct writer_seq, struct writer_odd);

struct writer_args args;		/* in */
__u64 results[WRITER_RESULTS];		/* out: how often each -errno came back */
char payload[WRITER_PAYLOAD];

static void count(int err)
{
	__u64 i = (__u32)-err;

	/* The last one is for what is no errno of ours. */
	if (i >= WRITER_RESULTS)
		i = WRITER_RESULTS - 1;
	asm volatile ("" : "+r"(i));
	__sync_fetch_and_add(&results[i & (WRITER_RESULTS - 1)], 1);
}

static int write_seq(__u64 i, void *ctx)
{
	struct writer_seq rec = { .cpu = bpf_get_smp_processor_id() };

	rec.seq = args.seq++;
	rec.check = rec.seq * 0x9e3779b97f4a7c15ULL + rec.cpu;
	count(relay_output(&writer, &rec));
	return 0;
}

/* args.count records with sequence numbers from args.seq on. */
SEC("syscall")
int writer_seq(void *ctx)
{
	return bpf_loop(args.count, write_seq, NULL, 0);
}

static int write_bytes(__u64 i, void *ctx)
{
	__u32 size = args.size;
	int err;

	if (size > sizeof(payload))
		return 1;
	*(__u64 *)payload = args.seq++;
	err = bpf_relay_output(&writer, payload, size, args.flags);
	count(err);
	return 0;
}

/* args.count records of args.size bytes of payload[] with args.flags. */
SEC("syscall")
int writer_bytes(void *ctx)
{
	return bpf_loop(args.count, write_bytes, NULL, 0);
}
