// SPDX-License-Identifier: GPL-2.0-only
/* Records that are numbered on each CPU, from a test run on that CPU. */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include "bpf_relay.h"
#include "mem.h"

char _license[] SEC("license") = "GPL";

RELAY_MAP(mem, struct mem_rec);

__u64 count;		/* in: records to write, up to 2^23 */
__u64 page;		/* in: an address that is not there until the test fills it */
__u64 seq[MEM_CPUS];
__u64 failed;		/* out */

static void fill(struct mem_rec *rec)
{
	rec->cpu = bpf_get_smp_processor_id();
	rec->seq = seq[rec->cpu & (MEM_CPUS - 1)]++;
	rec->check = MEM_CHECK(rec);
}

static int write_one(__u64 i, void *ctx)
{
	struct mem_rec rec = {};

	fill(&rec);
	if (relay_output(&mem, &rec))
		__sync_fetch_and_add(&failed, 1);
	return 0;
}

SEC("syscall")
int mem_write(void *ctx)
{
	return bpf_loop(count, write_one, NULL, 0);
}

/* Of two records the first is reserved and given up. */
static int discard_one(__u64 i, void *ctx)
{
	struct bpf_relay_record *rec;
	struct mem_rec *data;

	data = relay_reserve(&mem, struct mem_rec, &rec);
	if (data) {
		data->seq = -1;
		relay_discard(rec);
	} else {
		__sync_fetch_and_add(&failed, 1);
	}
	return write_one(i, ctx);
}

SEC("syscall")
int mem_discard(void *ctx)
{
	return bpf_loop(count, discard_one, NULL, 0);
}

/* A record stays open behind which `count` are written, until the test fills the page. */
SEC("syscall")
int mem_hold(void *ctx)
{
	struct bpf_relay_record *rec;
	struct mem_rec *data;
	__u64 unused;

	data = relay_reserve(&mem, struct mem_rec, &rec);
	if (!data)
		return 1;
	fill(data);
	bpf_loop(count, write_one, NULL, 0);
	bpf_copy_from_user(&unused, sizeof(unused), (void *)page);
	relay_submit(rec);
	return 0;
}
