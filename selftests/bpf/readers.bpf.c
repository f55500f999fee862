// SPDX-License-Identifier: GPL-2.0-only
/* Records that are given up, and one that stays open while somebody reads. */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include "bpf_relay.h"
#include "writer.h"

char _license[] SEC("license") = "GPL";

RELAY_MAP(readers, struct writer_seq);

__u64 before, behind;	/* in: records written before and behind the open one */
__u64 page;		/* in: an address that is not there until the test fills it */
__u64 seq;		/* in and out */
__u64 failed;		/* out */

static void fill(struct writer_seq *rec)
{
	rec->seq = seq++;
	rec->cpu = bpf_get_smp_processor_id();
	rec->check = rec->seq * 0x9e3779b97f4a7c15ULL + rec->cpu;
}

static int output(__u64 i, void *ctx)
{
	struct writer_seq rec = {};

	fill(&rec);
	if (relay_output(&readers, &rec))
		failed++;
	return 0;
}

/* Of three records the second is reserved and given up, the third reserved and kept. */
static int mixed(__u64 i, void *ctx)
{
	struct bpf_relay_record *rec;
	struct writer_seq *data;

	if (seq % 3 == 0)
		return output(i, ctx);
	data = relay_reserve(&readers, struct writer_seq, &rec);
	if (!data) {
		failed++;
		return 0;
	}
	fill(data);
	if (data->seq % 3 == 1)
		relay_discard(rec);
	else
		relay_submit(rec);
	return 0;
}

SEC("syscall")
int readers_mixed(void *ctx)
{
	return bpf_loop(before, mixed, NULL, 0);
}

/* Give up `before` records. */
static int discard(__u64 i, void *ctx)
{
	struct bpf_relay_record *rec;
	struct writer_seq *data = relay_reserve(&readers, struct writer_seq, &rec);

	if (!data) {
		failed++;
		return 0;
	}
	fill(data);
	relay_discard(rec);
	return 0;
}

SEC("syscall")
int readers_discard(void *ctx)
{
	return bpf_loop(before, discard, NULL, 0);
}

SEC("syscall")
int readers_hold(void *ctx)
{
	struct bpf_relay_record *rec;
	struct writer_seq *data;
	__u64 unused;

	bpf_loop(before, output, NULL, 0);
	data = relay_reserve(&readers, struct writer_seq, &rec);
	if (!data)
		return 1;
	fill(data);
	bpf_loop(behind, output, NULL, 0);
	/* Sleeps until the test lets it go on. */
	bpf_copy_from_user(&unused, sizeof(unused), (void *)page);
	relay_submit(rec);
	return 0;
}
