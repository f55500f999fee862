// SPDX-License-Identifier: GPL-2.0-only
/* Zero-copy records: filled in place, discarded, held open, asleep. */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include "bpf_relay.h"
#include "reserve.h"

char _license[] SEC("license") = "GPL";

struct reserve_any {
	__u64 seq;
};

RELAY_MAP(reserve, struct reserve_small, struct reserve_big, RELAY_VAR(struct reserve_any));

struct reserve_args args;	/* in */
struct reserve_out out;

static void count(int err)
{
	__u64 i = (__u32)-err;

	/* The last one is for what is no errno of ours. */
	if (i >= RESERVE_RESULTS)
		i = RESERVE_RESULTS - 1;
	asm volatile ("" : "+r"(i));
	__sync_fetch_and_add(&out.results[i & (RESERVE_RESULTS - 1)], 1);
}

static int submit_one(__u64 i, void *ctx)
{
	struct bpf_relay_record *rec;
	struct reserve_small *r = relay_reserve(&reserve, struct reserve_small, &rec);
	__u64 seq = args.seq++;

	if (!r) {
		out.refused++;
		return 0;
	}
	out.reserved++;
	r->seq = seq;
	r->check = ~seq;
	if (args.discard_every && seq % args.discard_every == 0)
		relay_discard(rec);
	else
		relay_submit(rec);
	return 0;
}

/* args.count records; every args.discard_every'th is given up. */
SEC("syscall")
int reserve_submit(void *ctx)
{
	return bpf_loop(args.count, submit_one, NULL, 0);
}

static int output_one(__u64 i, void *ctx)
{
	struct reserve_small r = { .seq = args.seq++ };

	r.check = ~r.seq;
	count(relay_output(&reserve, &r));
	return 0;
}

SEC("syscall")
int reserve_output(void *ctx)
{
	return bpf_loop(args.count, output_one, NULL, 0);
}

static int fill_one(__u64 n, void *ctx)
{
	struct bpf_relay_record *rec;
	struct reserve_big *r = relay_reserve(&reserve, struct reserve_big, &rec);
	__u8 dirty = 0;

	if (!r) {
		out.refused++;
		return 0;
	}
	out.reserved++;
	for (int i = 0; i < RESERVE_BIG; i++) {
		dirty |= r->bytes[i];
		if (i < args.fill)
			r->bytes[i] = 0xaa;
	}
	r->seq = args.seq++;
	out.dirty += !!dirty;
	relay_submit(rec);
	return 0;
}

/* args.count big records of which the first args.fill bytes are filled. */
SEC("syscall")
int reserve_fill(void *ctx)
{
	return bpf_loop(args.count, fill_one, NULL, 0);
}

/* The verifier believes the constant: what is more than was reserved must be NULL. */
#define SIZED(name, has, asks)							\
SEC("syscall")									\
int name(void *ctx)								\
{										\
	struct bpf_relay_record *rec;						\
	char *data;								\
										\
	rec = bpf_relay_reserve(&reserve, has, 0);				\
	if (!rec) {								\
		out.refused++;							\
		return 0;							\
	}									\
	out.reserved++;								\
	data = bpf_relay_record_data(rec, asks);					\
	if (data) {								\
		if ((asks) > (has))						\
			out.too_much++;						\
		else								\
			out.enough++;						\
		data[0] = 1;							\
	}									\
	bpf_relay_discard(rec);							\
	return 0;								\
}

SIZED(reserve_equal, 8, 8)
SIZED(reserve_less, 8, 1)
SIZED(reserve_one_more, 8, 9)
SIZED(reserve_page_more, 8, 4096)
SIZED(reserve_huge, 8, 0x7fffffff)
SIZED(reserve_none, 0, 1)

static int var_one(__u64 i, void *ctx)
{
	__u32 size = args.size + (__u32)i;
	struct bpf_relay_record *rec;
	struct reserve_any *r;

	rec = bpf_relay_reserve(&reserve, size,
				relay_type_id(&reserve, (const struct reserve_any *)0));
	if (!rec) {
		out.refused++;
		return 0;
	}
	out.reserved++;
	r = (struct reserve_any *)bpf_relay_record_data(rec, sizeof(*r));
	if (!r) {
		bpf_relay_discard(rec);
		return 0;
	}
	r->seq = size;
	bpf_relay_submit(rec);
	return 0;
}

/* Records of the variable type of args.size, args.size + 1, ... bytes. */
SEC("syscall")
int reserve_var(void *ctx)
{
	return bpf_loop(args.count, var_one, NULL, 0);
}

/* One record held while args.count others are written; then args.size more. */
SEC("syscall")
int reserve_round(void *ctx)
{
	struct bpf_relay_record *rec;
	struct reserve_small *r = relay_reserve(&reserve, struct reserve_small, &rec);

	if (!r)
		return -1;
	r->seq = args.seq++;
	r->check = ~r->seq;
	bpf_loop(args.count, output_one, NULL, 0);
	relay_submit(rec);
	return bpf_loop(args.size, output_one, NULL, 0);
}

/*
 * Holds a record over a page fault that the test resolves when it likes. Returns 1
 * if there was no record, negative if the page could not be read.
 */
SEC("syscall")
int reserve_hold(struct reserve_hold *ctx)
{
	struct bpf_relay_record *rec;
	struct reserve_small *r = relay_reserve(&reserve, struct reserve_small, &rec);
	__u64 word;
	long err;

	if (!r)
		return 1;
	r->seq = ctx->seq;
	err = bpf_copy_from_user(&word, sizeof(word), (void *)ctx->addr);
	r->check = ~r->seq;
	relay_submit(rec);
	return err;
}
