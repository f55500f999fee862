// SPDX-License-Identifier: GPL-2.0-only
/*
 * stacklog: where CPUs are, so many times a second: thread, kernel and user stack.
 *
 *	bpfrelay load stacklog --freq 99
 *	bpfrelay load stacklog --freq 999 --pid 1234
 *
 * Runs in NMI where the machine counts cycles, in a timer's interrupt elsewhere. User
 * stacks are followed by frame pointers, and only through pages that are in memory.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include "bpf_relay.h"
#include "own_count.h"
#include "stacklog.h"

/* Record only this process; 0: all. (--pid does not even interrupt the others.) */
const volatile __u32 tgid = 0;
/* Leave out one of the stacks. */
const volatile bool no_kernel = false;
const volatile bool no_user = false;

RELAY_MAP(stacklog, struct stack_event);
OWN_COUNT(stacklog_events);

SEC("perf_event")
int stacklog_sample(struct bpf_perf_event_data *ctx)
{
	__u64 id = bpf_get_current_pid_tgid();
	struct bpf_relay_record *rec;
	struct stack_event *e;
	long n;

	if (tgid && tgid != id >> 32)
		return 0;
	own_count_add(&stacklog_events);
	e = relay_reserve(&stacklog, struct stack_event, &rec);
	if (!e)
		return 0;
	e->pid = id;
	e->tgid = id >> 32;
	e->cpu = bpf_get_smp_processor_id();
	bpf_get_current_comm(e->comm, sizeof(e->comm));
	if (!no_kernel) {
		n = bpf_get_stack(ctx, e->kernel, sizeof(e->kernel), 0);
		e->n_kernel = n > 0 ? n / sizeof(e->kernel[0]) : 0;
	}
	if (!no_user) {
		n = bpf_get_stack(ctx, e->user, sizeof(e->user), BPF_F_USER_STACK);
		e->n_user = n > 0 ? n / sizeof(e->user[0]) : 0;
	}
	relay_submit(rec);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
