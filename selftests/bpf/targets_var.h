/* SPDX-License-Identifier: GPL-2.0-only */
/* For targets.sh: records of variable length. MEMBER is the last of the fixed part. */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "bpf_relay.h"

struct var_event {
	__u32 size;
	__u32 MEMBER;
};

RELAY_MAP(var, RELAY_VAR(struct var_event));

/* Records of 8, 9, 10 ... bytes. */
SEC("uprobe/busy:busy_tick")
int BPF_KPROBE(on_tick, int i)
{
	struct {
		struct var_event e;
		__u8 tail[16];
	} rec = { .e.size = sizeof(rec.e) + (i & 15), .e.MEMBER = i };

	__builtin_memset(rec.tail, 0xab, sizeof(rec.tail));
	relay_output_var(&var, &rec.e, sizeof(rec.e) + (i & 15));
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
