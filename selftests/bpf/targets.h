/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For targets.sh: an object with a program for each kind of target, which
 * records nothing but who it is. Included by objects that differ a little.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_tracing.h>
#include "bpf_relay.h"

#define ETHERTYPE	0x88b5	/* for local experiments */

struct target_event {
	char prog[16];
	__u32 round;
	__u32 tgid;
#ifdef OTHER_TYPE
	__u64 more;
#endif
};

RELAY_MAP(targets, struct target_event);

/* Tells the records of two loads apart. */
const volatile __u32 round = 1;

static __always_inline void record(const char *prog, int size)
{
	struct target_event e = {
		.round = round,
		.tgid = bpf_get_current_pid_tgid() >> 32,
	};

	__builtin_memcpy(e.prog, prog, size);
	relay_output(&targets, &e);
}

#define RECORD(prog)	record(prog, sizeof(prog))

char LICENSE[] SEC("license") = "GPL";
