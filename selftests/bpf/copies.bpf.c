// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes in all ways that there are. Calls are numbered per CPU, whether they are
 * stored or dropped; what is given up has no number.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include "bpf_relay.h"
#include "copies.h"

char _license[] SEC("license") = "GPL";

RELAY_MAP(copies, struct copies_even, struct copies_odd);

struct copies_args args;

static void give_up(void)
{
	struct bpf_relay_record *rec;
	struct copies_even *data = relay_reserve(&copies, struct copies_even, &rec);

	if (!data)
		return;
	data->seq = ~0ULL;
	relay_discard(rec);
}

static int write_one(__u64 i, void *ctx)
{
	__u32 cpu = bpf_get_smp_processor_id();
	__u64 drop_every = args.drop_every;
	struct bpf_relay_record *rec;
	struct copies_even *data;
	__u64 seq;

	if (cpu >= COPIES_CPUS)
		return 1;
	seq = args.next[cpu]++;
	if (drop_every && seq % drop_every == 0) {
		struct copies_even even = { .seq = seq };

		/* There is no such type. */
		if (!bpf_relay_output(&copies, &even, sizeof(even), 77))
			__sync_fetch_and_add(&args.failed, 1);
	} else if (seq % 5 == 0) {
		struct copies_odd odd = {
			.seq = seq, .check = COPIES_CHECK(seq, cpu), .cpu = cpu,
		};

		if (relay_output(&copies, &odd))
			__sync_fetch_and_add(&args.failed, 1);
	} else if (seq % 5 == 1) {
		/* If it begins a packet, no call that is dropped may be next. */
		if (seq % 3 == 0)
			give_up();
		data = relay_reserve(&copies, struct copies_even, &rec);
		if (!data) {
			__sync_fetch_and_add(&args.failed, 1);
			return 0;
		}
		data->seq = seq;
		data->check = COPIES_CHECK(seq, cpu);
		data->cpu = cpu;
		relay_submit(rec);
	} else {
		struct copies_even even = {
			.seq = seq, .check = COPIES_CHECK(seq, cpu), .cpu = cpu,
		};

		if (relay_output(&copies, &even))
			__sync_fetch_and_add(&args.failed, 1);
	}
	return 0;
}

SEC("syscall")
int copies_write(void *ctx)
{
	return bpf_loop(args.count, write_one, NULL, 0);
}
