// SPDX-License-Identifier: GPL-2.0-only
/*
 * schedlog: one record per context switch.
 *
 *	bpfrelay load schedlog --set tgid=1234
 *
 * Runs with the runqueue locked. Without a filter, and if nothing was dropped, the
 * prev of a record is the next of the one before on its CPU.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "bpf_relay.h"
#include "own_count.h"
#include "schedlog.h"

/* Record only switches from or to this thread; 0: all. */
const volatile __u32 pid = 0;
/* Record only switches from or to a thread of this process; 0: all. */
const volatile __u32 tgid = 0;

RELAY_MAP(schedlog, struct sched_switch_event);
OWN_COUNT(schedlog_events);

static bool is_wanted(struct task_struct *prev, struct task_struct *next)
{
	if (pid && prev->pid != pid && next->pid != pid)
		return false;
	return !tgid || prev->tgid == tgid || next->tgid == tgid;
}

/* These arguments and their order since 5.18. */
SEC("tp_btf/sched_switch")
int BPF_PROG(schedlog_switch, bool preempt, struct task_struct *prev, struct task_struct *next,
	     unsigned int prev_state)
{
	struct sched_switch_event e = {};

	if (!is_wanted(prev, next))
		return 0;
	own_count_add(&schedlog_events);
	e.prev_pid = prev->pid;
	e.next_pid = next->pid;
	e.prev_prio = prev->prio;
	e.next_prio = next->prio;
	e.prev_state = prev_state;
	e.preempted = preempt;
	bpf_probe_read_kernel(e.prev_comm, sizeof(e.prev_comm), prev->comm);
	bpf_probe_read_kernel(e.next_comm, sizeof(e.next_comm), next->comm);
	relay_output(&schedlog, &e);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
