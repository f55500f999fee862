// SPDX-License-Identifier: GPL-2.0-only
/* For loader.sh: of its three programs the second cannot be attached. */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include "bpf_relay.h"

struct loader_event {
	__u64 n;
};

RELAY_MAP(loader, struct loader_event);

static int output(void)
{
	struct loader_event e = {};

	relay_output(&loader, &e);
	return 0;
}

SEC("tracepoint/syscalls/sys_enter_openat")
int attaches(void *ctx)
{
	return output();
}

SEC("kprobe/no_function_has_this_name")
int cannot_attach(void *ctx)
{
	return output();
}

SEC("tracepoint/syscalls/sys_exit_openat")
int never_reached(void *ctx)
{
	return output();
}

char LICENSE[] SEC("license") = "GPL";
