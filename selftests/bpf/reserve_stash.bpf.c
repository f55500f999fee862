// SPDX-License-Identifier: GPL-2.0-only
/*
 * A record kept in a map. In an object of its own: a type that nobody knows how to
 * release makes the kernel refuse all of the object's type information.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include "bpf_relay.h"

char _license[] SEC("license") = "GPL";

struct kept {
	__u64 a;
	__u64 b;
};

RELAY_MAP(kept, struct kept);

struct stash {
	struct bpf_relay_record __kptr *rec;
	struct bpf_relay_record type[0];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct stash);
} stash SEC(".maps");

/* Kept for a later run, or for another CPU. */
SEC("?syscall")
int stash_it(void *ctx)
{
	struct bpf_relay_record *rec = bpf_relay_reserve(&kept, sizeof(struct kept), 1);
	__u32 key = 0;
	struct stash *s;

	if (!rec)
		return 0;
	s = bpf_map_lookup_elem(&stash, &key);
	if (s)
		rec = bpf_kptr_xchg(&s->rec, rec);
	if (rec)
		bpf_relay_submit(rec);
	return 0;
}
