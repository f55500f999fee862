// SPDX-License-Identifier: GPL-2.0-only
/* Attempts on the reference in a relay map. The verifier must refuse each of them. */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include "bpf_relay.h"

char _license[] SEC("license") = "GPL";

RELAY_MAP(one);
RELAY_MAP(two);

extern void bpf_obj_drop_impl(void *kptr, void *meta) __ksym __weak;

__u64 sink;

#define ELEM(map)								\
({										\
	__u32 __key = 0;							\
	bpf_map_lookup_elem(map, &__key);					\
})

/* Allowed: look at it, write the copy of the counters. */
SEC("?tc")
int right(struct __sk_buff *skb)
{
	struct one_relay *a = ELEM(&one);

	if (!a)
		return 0;
	sink = !!a->relay;
	a->counters.records = 5;
	return 0;
}

SEC("?tc")
int take_out(struct __sk_buff *skb)
{
	struct one_relay *a = ELEM(&one);

	if (a)
		sink = !!bpf_kptr_xchg(&a->relay, NULL);
	return 0;
}

SEC("?tc")
int other_map(struct __sk_buff *skb)
{
	struct one_relay *a = ELEM(&one);
	struct two_relay *b = ELEM(&two);
	struct bpf_relay *p;

	if (!a || !b)
		return 0;
	p = bpf_kptr_xchg(&a->relay, NULL);
	if (p)
		bpf_kptr_xchg(&b->relay, p);
	return 0;
}

SEC("?tc")
int other_cpu(struct __sk_buff *skb)
{
	struct one_relay *a, *b;
	struct bpf_relay *p;
	__u32 key = 0;

	a = bpf_map_lookup_elem(&one, &key);
	b = bpf_map_lookup_percpu_elem(&one, &key, 1);
	if (!a || !b)
		return 0;
	p = bpf_kptr_xchg(&a->relay, NULL);
	if (p)
		bpf_kptr_xchg(&b->relay, p);
	return 0;
}

/* Back where it came from, as far as a program can know. */
SEC("?tc")
int out_and_back(struct __sk_buff *skb)
{
	struct one_relay *a = ELEM(&one);
	struct bpf_relay *p;

	if (!a)
		return 0;
	p = bpf_kptr_xchg(&a->relay, NULL);
	if (p)
		p = bpf_kptr_xchg(&a->relay, p);
	return !!p;
}

SEC("?tc")
int drop_it(struct __sk_buff *skb)
{
	struct one_relay *a = ELEM(&one);
	struct bpf_relay *p;

	if (!a)
		return 0;
	p = bpf_kptr_xchg(&a->relay, NULL);
	if (p)
		bpf_obj_drop_impl(p, NULL);
	return 0;
}

SEC("?tc")
int store_null(struct __sk_buff *skb)
{
	struct one_relay *a = ELEM(&one);

	if (a)
		*(volatile __u64 *)&a->relay = 0;
	return 0;
}

SEC("?tc")
int store_half(struct __sk_buff *skb)
{
	struct one_relay *a = ELEM(&one);

	if (a)
		*((volatile __u32 *)&a->relay + 1) = 0;
	return 0;
}

SEC("?tc")
int put_task(struct __sk_buff *skb)
{
	struct one_relay *a = ELEM(&one);
	struct bpf_relay *p;

	if (!a)
		return 0;
	p = bpf_kptr_xchg(&a->relay, (struct bpf_relay *)bpf_get_current_task_btf());
	return !!p;
}

SEC("?tc")
int put_record(struct __sk_buff *skb)
{
	struct one_relay *a = ELEM(&one);
	struct bpf_relay_record *rec;

	if (!a)
		return 0;
	rec = bpf_relay_reserve(&one, 8, 0);
	if (!rec)
		return 0;
	bpf_kptr_xchg(&a->relay, (struct bpf_relay *)rec);
	return 0;
}

/* Through memory that a helper, or a function of the module, reads or writes. */
SEC("?tc")
int helper_writes(struct __sk_buff *skb)
{
	struct one_relay *a = ELEM(&one);

	if (a)
		bpf_skb_load_bytes(skb, 0, a, 16);
	return 0;
}

SEC("?tc")
int output_reads(struct __sk_buff *skb)
{
	struct one_relay *a = ELEM(&one);

	if (a)
		bpf_relay_output(&one, a, sizeof(*a), 0);
	return 0;
}
