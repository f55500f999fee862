// SPDX-License-Identifier: GPL-2.0-only
/* Programs that get themselves dropped, each for one reason. */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#define ANY_PAYLOAD	(64 << 10)
#include "anylog.bpf.h"
#include "drops.h"

RELAY_MAP(drops, struct drops_rec);

__u64 drops_seq;
__u64 drops_count;	/* in: records to write */
__u64 drops_nest;	/* in: how many more nested calls to make */
__u32 drops_size;	/* in: of a raw record */
__u64 drops_flags;	/* in: of a reservation */

static int write_one(__u64 i, void *ctx)
{
	struct drops_rec rec = { .seq = __sync_fetch_and_add(&drops_seq, 1) };

	any_count(relay_output(&drops, &rec));
	return 0;
}

SEC("syscall")
int drops_write(void *ctx)
{
	return bpf_loop(drops_count, write_one, NULL, 0);
}

/* Holds one record while it writes others. */
SEC("syscall")
int drops_hold_one(void *ctx)
{
	struct bpf_relay_record *rec;
	struct drops_rec *data = relay_reserve(&drops, struct drops_rec, &rec);

	if (!data)
		return -1;
	data->seq = __sync_fetch_and_add(&drops_seq, 1);
	bpf_loop(drops_count, write_one, NULL, 0);
	relay_submit(rec);
	return 0;
}

/* 1: there was a record, which was given up. */
SEC("syscall")
int drops_reserve(void *ctx)
{
	struct bpf_relay_record *rec = bpf_relay_reserve(&drops, drops_size, drops_flags);

	if (!rec)
		return 0;
	relay_discard(rec);
	return 1;
}

SEC("syscall")
int drops_write_raw(void *ctx)
{
	__u32 size = drops_size;

	if (size > ANY_PAYLOAD)
		return 1;
	any_count(relay_output_raw(&drops, any_payload, size));
	return 0;
}

/*
 * Where a call has begun and has no place in the ring yet. Of one program there is
 * never a second run on a CPU, so it takes one for each level.
 */
static int nest(void)
{
	if (!drops_nest)
		return 0;
	drops_nest--;
	return write_one(0, NULL);
}

#define NEST(n)									\
	SEC("fentry/ring_take_next")						\
	int BPF_PROG(drops_nest##n)						\
	{									\
		return nest();							\
	}

NEST(0)
NEST(1)
NEST(2)
NEST(3)
NEST(4)
NEST(5)
NEST(6)
NEST(7)

/*
 * m(0), m(1) ... and m(31), m(30) ...: what is held must stand on the stack at fixed
 * places for the verifier, so that there is no loop.
 */
#define UP_8(m, i)	m(i##0) m(i##1) m(i##2) m(i##3) m(i##4) m(i##5) m(i##6) m(i##7)
#define DOWN_8(m, i)	m(i##7) m(i##6) m(i##5) m(i##4) m(i##3) m(i##2) m(i##1) m(i##0)
#define UP_32(m)	UP_8(m, 0) UP_8(m, 01) UP_8(m, 02) UP_8(m, 03)
#define DOWN_32(m)	DOWN_8(m, 03) DOWN_8(m, 02) DOWN_8(m, 01) DOWN_8(m, 0)

#define DECLARE(i)	struct bpf_relay_record *rec##i;
#define RESERVE(i)								\
	rec##i = bpf_relay_reserve(&drops, sizeof(struct drops_rec), 1);	\
	if (!rec##i)								\
		goto none##i;							\
	held++;
#define SUBMIT(i)								\
	relay_submit(rec##i);							\
none##i:;
/* Every other one is given up. */
#define CLOSE(i)								\
	if (i % 2)								\
		relay_discard(rec##i);						\
	else									\
		relay_submit(rec##i);						\
none##i:;

__u64 drops_held[2];

/* DROPS_HOLD records, and while they are open one more call. */
SEC("syscall")
int drops_hold_many(void *ctx)
{
	struct drops_rec data = {};
	__u64 held = 0;
	UP_32(DECLARE)

	UP_32(RESERVE)
	any_count(relay_output(&drops, &data));
	DOWN_32(SUBMIT)
	drops_held[0] = held;
	return 0;
}

/* Inside that call: DROPS_HOLD_MORE. */
SEC("fentry/bpf_relay_output")
int BPF_PROG(drops_hold_more)
{
	__u64 held = 0;
	UP_32(DECLARE)
	DECLARE(040)

	UP_32(RESERVE)
	RESERVE(040)
	CLOSE(040)
	DOWN_32(CLOSE)
	drops_held[1] = held;
	return 0;
}
