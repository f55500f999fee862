// SPDX-License-Identifier: GPL-2.0-only
/*
 * A relay map written by hand whose struct bpf_relay is only declared: the kernel
 * makes the map, but does not know that it holds a pointer.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <linux/bpf_relay.h>
#include "hostile.h"

char _license[] SEC("license") = "GPL";

struct bpf_relay;

/* libbpf wants this one defined. */
struct bpf_relay_record {
	__u64 handle;
};

extern int bpf_relay_output(void *p__map, const void *data, __u32 data__sz,
			    __u64 flags) __ksym;
extern struct bpf_relay_record *bpf_relay_reserve(void *p__map, __u32 size,
						  __u64 flags) __ksym;
extern void bpf_relay_discard(struct bpf_relay_record *rec) __ksym;
extern int bpf_relay_add_type(void *p__map, struct bpf_relay_type *type,
			      __u32 type__sz) __ksym;
extern int bpf_relay_open(void *p__map, struct bpf_relay_opts *opts, __u32 opts__sz) __ksym;

#include "hostile_try.h"

struct declared_value {
	struct bpf_relay __kptr *relay;
	struct bpf_relay_counters counters;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct declared_value);
} declared SEC(".maps");

SEC("?syscall")
int try_declared(void *ctx)
{
	return try_writing(&declared) ?: try_opening(&declared);
}
