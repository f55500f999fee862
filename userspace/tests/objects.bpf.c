// SPDX-License-Identifier: GPL-2.0-only
/*
 * An object with (LOG) or without a log, and with programs that need to be told where
 * they belong (TARGETS), for the tests of the command line.
 */
#include <linux/bpf.h>
#include <stdbool.h>
#include <bpf/bpf_helpers.h>
#include "bpf_relay.h"

enum colour { RED, GREEN = 7 };

const volatile __u16 port = 0;
volatile __s8 small = 0;
volatile bool on = false;
volatile enum colour colour = RED;
volatile char word[4] = "";
volatile struct { int a; } composed = {};

struct event {
	__u32 n;
};

#ifdef LOG
RELAY_MAP(log_of_test, struct event);
#endif

SEC("socket")
int prog(void *ctx)
{
	return port + small + on + colour + word[0] + composed.a;
}

#ifdef TARGETS
SEC("xdp")
int on_xdp(void *ctx)
{
	return 2;
}

SEC("cgroup/connect4")
int on_connect(void *ctx)
{
	return 1;
}

SEC("perf_event")
int on_sample(void *ctx)
{
	return 0;
}
#endif

char LICENSE[] SEC("license") = "GPL";
