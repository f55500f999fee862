// SPDX-License-Identifier: GPL-2.0-only
/* What the verifier must refuse, each program for one reason; and one that is right. */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include "bpf_relay.h"

char _license[] SEC("license") = "GPL";

struct bad {
	__u64 a;
	__u64 b;
};

RELAY_MAP(bad, struct bad);

__u64 sink;

SEC("?syscall")
int right(void *ctx)
{
	struct bpf_relay_record *rec;
	struct bad *r = relay_reserve(&bad, struct bad, &rec);

	if (!r)
		return 0;
	r->b = 1;
	relay_submit(rec);
	return 0;
}

/* Neither submitted nor discarded. */
SEC("?syscall")
int leak(void *ctx)
{
	struct bpf_relay_record *rec;
	struct bad *r = relay_reserve(&bad, struct bad, &rec);

	if (r)
		r->a = 1;
	return 0;
}

/* On one of two paths only. */
SEC("?syscall")
int leak_one_path(void *ctx)
{
	struct bpf_relay_record *rec;
	struct bad *r = relay_reserve(&bad, struct bad, &rec);

	if (!r)
		return 0;
	r->a = 1;
	if (bpf_get_prandom_u32() & 1)
		relay_submit(rec);
	return 0;
}

/* In a bpf_loop() callback, which must give back what it took. */
static int leak_callback(__u64 i, void *ctx)
{
	struct bpf_relay_record *rec = bpf_relay_reserve(&bad, sizeof(struct bad), 1);

	if (rec)
		sink++;
	return 0;
}

SEC("?syscall")
int leak_in_loop(void *ctx)
{
	return bpf_loop(10, leak_callback, NULL, 0);
}

/* The handle that reserve gave was not tested. */
SEC("?syscall")
int not_tested(void *ctx)
{
	struct bpf_relay_record *rec = bpf_relay_reserve(&bad, sizeof(struct bad), 1);

	bpf_relay_submit(rec);
	return 0;
}

SEC("?syscall")
int overrun(void *ctx)
{
	struct bpf_relay_record *rec;
	char *r = (char *)relay_reserve(&bad, struct bad, &rec);

	if (!r)
		return 0;
	r[sizeof(struct bad)] = 1;
	relay_submit(rec);
	return 0;
}

SEC("?syscall")
int underrun(void *ctx)
{
	struct bpf_relay_record *rec;
	char *r = (char *)relay_reserve(&bad, struct bad, &rec);

	if (!r)
		return 0;
	r[-1] = 1;
	relay_submit(rec);
	return 0;
}

SEC("?syscall")
int overrun_variable(void *ctx)
{
	struct bpf_relay_record *rec;
	char *r = (char *)relay_reserve(&bad, struct bad, &rec);
	__u64 at = bpf_get_prandom_u32() & 31;

	if (!r)
		return 0;
	asm volatile ("" : "+r"(at));
	r[at & 31] = 1;
	relay_submit(rec);
	return 0;
}

SEC("?syscall")
int after_submit(void *ctx)
{
	struct bpf_relay_record *rec;
	struct bad *r = relay_reserve(&bad, struct bad, &rec);

	if (!r)
		return 0;
	relay_submit(rec);
	r->a = 1;
	return 0;
}

SEC("?syscall")
int read_after_discard(void *ctx)
{
	struct bpf_relay_record *rec;
	struct bad *r = relay_reserve(&bad, struct bad, &rec);

	if (!r)
		return 0;
	relay_discard(rec);
	sink = *(volatile __u64 *)&r->a;
	return 0;
}

SEC("?syscall")
int twice(void *ctx)
{
	struct bpf_relay_record *rec;
	struct bad *r = relay_reserve(&bad, struct bad, &rec);

	if (!r)
		return 0;
	relay_submit(rec);
	relay_discard(rec);
	return 0;
}

SEC("?syscall")
int data_of_closed(void *ctx)
{
	struct bpf_relay_record *rec = bpf_relay_reserve(&bad, sizeof(struct bad), 1);

	if (!rec)
		return 0;
	bpf_relay_submit(rec);
	if (bpf_relay_record_data(rec, sizeof(struct bad)))
		sink++;
	return 0;
}

/* The handle written itself. */
SEC("?syscall")
int write_handle(void *ctx)
{
	struct bpf_relay_record *rec = bpf_relay_reserve(&bad, sizeof(struct bad), 1);

	if (!rec)
		return 0;
	*(volatile __u64 *)rec = 0;
	bpf_relay_submit(rec);
	return 0;
}

SEC("?syscall")
int submit_task(void *ctx)
{
	bpf_relay_submit((void *)bpf_get_current_task_btf());
	return 0;
}

SEC("?syscall")
int submit_map(void *ctx)
{
	bpf_relay_submit((void *)&bad);
	return 0;
}

SEC("?syscall")
int submit_element(void *ctx)
{
	__u32 key = 0;
	void *elem = bpf_map_lookup_elem(&bad, &key);

	if (elem)
		bpf_relay_submit(elem);
	return 0;
}

/* The record's bytes instead of its handle. */
SEC("?syscall")
int submit_data(void *ctx)
{
	struct bpf_relay_record *rec;
	struct bad *r = relay_reserve(&bad, struct bad, &rec);

	if (!r)
		return 0;
	bpf_relay_submit((void *)r);
	return 0;
}

/* The log itself, read from its element. */
SEC("?syscall")
int submit_log(void *ctx)
{
	struct bpf_relay_record *rec = bpf_relay_reserve(&bad, sizeof(struct bad), 1);
	__u32 key = 0;
	struct bad_relay *elem;
	struct bpf_relay *log;

	if (!rec)
		return 0;
	elem = bpf_map_lookup_elem(&bad, &key);
	if (elem) {
		log = elem->relay;
		if (log)
			bpf_relay_submit((void *)log);
	}
	bpf_relay_discard(rec);
	return 0;
}
