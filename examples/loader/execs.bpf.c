// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A record for each program that is executed. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf_relay.h>

struct exec {
	__u32 pid;
	__u32 uid;
	char comm[16];
};
RELAY_MAP(execs, struct exec);

SEC("tp/sched/sched_process_exec")
int on_exec(void *ctx)
{
	struct exec e = {
		.pid = bpf_get_current_pid_tgid() >> 32,
		.uid = bpf_get_current_uid_gid(),
	};

	bpf_get_current_comm(e.comm, sizeof(e.comm));
	relay_output(&execs, &e);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
