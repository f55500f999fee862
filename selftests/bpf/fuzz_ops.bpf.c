// SPDX-License-Identifier: GPL-2.0-only
/* What fuzz_ops.c does to logs from programs, with whatever arguments it has drawn. */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include "fuzz_ops.h"
#define ANY_PAYLOAD	FUZZ_PAYLOAD
#include "anylog.bpf.h"

struct fuzz_reserved fuzz_reserved;	/* out */
__u32 fuzz_discard_every;		/* in; 0: none */

/* Tags the record; what record_data() says must agree with the size. */
static void fill(struct bpf_relay_record *rec, __u32 size)
{
	__u64 *tag = (__u64 *)bpf_relay_record_data(rec, sizeof(*tag));

	if (tag)
		*tag = FUZZ_TAG;
	if (!tag != (size < sizeof(*tag)))
		__sync_fetch_and_add(&fuzz_reserved.wrong, 1);
	if (!bpf_relay_record_data(rec, 1000) != (size < 1000))
		__sync_fetch_and_add(&fuzz_reserved.wrong, 1);
}

static int reserve_one(__u64 i, void *ctx)
{
	__u32 size = any_call.size;
	struct bpf_relay_record *rec;
	void *log = any_log();

	if (!log)
		return 1;
	any_call.size = size + any_call.step;
	rec = bpf_relay_reserve(log, size, any_call.flags);
	if (!rec) {
		fuzz_reserved.refused++;
		return 0;
	}
	fuzz_reserved.given++;
	fill(rec, size);
	if (fuzz_discard_every && i % fuzz_discard_every == 0)
		bpf_relay_discard(rec);
	else
		bpf_relay_submit(rec);
	return 0;
}

SEC("syscall")
int fuzz_reserve(void *ctx)
{
	return bpf_loop(any_call.count, reserve_one, NULL, 0);
}

/* 1: no record. Otherwise what bpf_copy_from_user() said: it sleeps there. */
SEC("syscall")
int fuzz_do_hold(struct fuzz_hold *ctx)
{
	struct bpf_relay_record *rec;
	__u32 key = ctx->key;
	void *log = bpf_map_lookup_elem(&any_logs, &key);
	__u64 word;
	long err;

	if (!log)
		return -ANYLOG_ERRNOS;
	rec = bpf_relay_reserve(log, ctx->size, ctx->flags);
	if (!rec)
		return 1;
	fill(rec, ctx->size);
	err = bpf_copy_from_user(&word, sizeof(word), (void *)ctx->addr);
	if (ctx->discard)
		bpf_relay_discard(rec);
	else
		bpf_relay_submit(rec);
	return err;
}

/* Write this CPU's element. */
SEC("syscall")
int fuzz_update(void *ctx)
{
	struct any_relay value = {};
	void *log = any_log();
	__u32 key = 0;

	return log ? bpf_map_update_elem(log, &key, &value, BPF_ANY) : -ANYLOG_ERRNOS;
}
