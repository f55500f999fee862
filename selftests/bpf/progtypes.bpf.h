/* SPDX-License-Identifier: GPL-2.0-only */
/* What the programs of all types share: they write the same way and count the same. */
#ifndef _PROGTYPES_BPF_H
#define _PROGTYPES_BPF_H

#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include "bpf_relay.h"
#include "progtypes.h"

RELAY_MAP(progs, struct progtypes_rec);

int pid;		/* in: of the test; others' calls are not its business */

/* Out: what the test compares the log with. */
__u64 started;
__u64 finished;
__u64 failed;

#define is_ours()	((int)(bpf_get_current_pid_tgid() >> 32) == pid)

static __always_inline void write_both(struct progtypes_rec *out)
{
	struct bpf_relay_record *rec;
	struct progtypes_rec *in;

	out->seq = __sync_fetch_and_add(&started, 1);
	out->how = PROGTYPES_OUTPUT;
	out->pid = pid;
	if (relay_output(&progs, out))
		__sync_fetch_and_add(&failed, 1);

	in = relay_reserve(&progs, struct progtypes_rec, &rec);
	if (in) {
		__builtin_memcpy(in->type, out->type, sizeof(in->type));
		in->seq = out->seq;
		in->how = PROGTYPES_RESERVE;
		in->pid = out->pid;
		relay_submit(rec);
	} else {
		__sync_fetch_and_add(&failed, 1);
	}
	__sync_fetch_and_add(&finished, 1);
}

#define WRITE(name)								\
do {										\
	struct progtypes_rec rec_ = { .type = name };				\
										\
	write_both(&rec_);							\
} while (0)

#endif /* _PROGTYPES_BPF_H */
