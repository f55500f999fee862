// SPDX-License-Identifier: GPL-2.0-only
#include "targets.h"

static bool is_ours(void *data, void *data_end)
{
	struct ethhdr *eth = data;

	return (void *)(eth + 1) <= data_end && eth->h_proto == bpf_htons(ETHERTYPE);
}

SEC("xdp")
int on_xdp(struct xdp_md *ctx)
{
	if (is_ours((void *)(long)ctx->data, (void *)(long)ctx->data_end))
		RECORD("xdp");
	return XDP_PASS;
}

SEC("tc")
int on_tc(struct __sk_buff *skb)
{
	if (skb->protocol == bpf_htons(ETHERTYPE))
		RECORD("tc");
	return TCX_NEXT;
}

SEC("tcx/egress")
int on_tcx_egress(struct __sk_buff *skb)
{
	if (skb->protocol == bpf_htons(ETHERTYPE))
		RECORD("tcx_egress");
	return TCX_NEXT;
}

SEC("cgroup_skb/egress")
int on_cgroup_skb(struct __sk_buff *skb)
{
	RECORD("cgroup_skb");
	return 1;
}

SEC("cgroup/connect4")
int on_connect4(struct bpf_sock_addr *ctx)
{
	RECORD("connect4");
	return 1;
}

SEC("perf_event")
int on_perf_event(struct bpf_perf_event_data *ctx)
{
	RECORD("perf_event");
	return 0;
}

SEC("uprobe/busy:busy_tick")
int on_uprobe(struct pt_regs *ctx)
{
	RECORD("uprobe");
	return 0;
}

SEC("uretprobe/busy:busy_tick")
int on_uretprobe(struct pt_regs *ctx)
{
	RECORD("uretprobe");
	return 0;
}

SEC("uprobe.multi/busy:busy_t*")
int on_uprobe_multi(struct pt_regs *ctx)
{
	RECORD("uprobe_multi");
	return 0;
}
