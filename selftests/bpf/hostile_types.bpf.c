// SPDX-License-Identifier: GPL-2.0-only
/* The test puts a map of each type in the place of `victim`. */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include "bpf_relay.h"
#include "hostile.h"
#include "hostile_try.h"

char _license[] SEC("license") = "GPL";

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} victim SEC(".maps");

/* Programs that sleep may use few types of maps, others nearly all. */
SEC("?tc")
int from_tc(struct __sk_buff *skb)
{
	return try_writing(&victim);
}

SEC("?syscall")
int from_syscall(void *ctx)
{
	return try_writing(&victim) ?: try_opening(&victim);
}
