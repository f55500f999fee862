// SPDX-License-Identifier: GPL-2.0-only
/* Networking and control groups: a program of each type. */
#include "progtypes.bpf.h"
#include <bpf/bpf_endian.h>
#include <bpf/bpf_tracing.h>

char _license[] SEC("license") = "GPL";

#define TC_ACT_OK	0
#define ALLOW		1	/* what programs of control groups return */

#define is_test_packet(skb)	((skb)->protocol == bpf_htons(PROGTYPES_ETHERTYPE))

/* ---- Packets on an interface -------------------------------------------- */

SEC("xdp")
int on_xdp(struct xdp_md *ctx)
{
	struct ethhdr *eth = (void *)(long)ctx->data;

	if ((void *)(eth + 1) <= (void *)(long)ctx->data_end &&
	    eth->h_proto == bpf_htons(PROGTYPES_ETHERTYPE))
		WRITE("xdp");
	return XDP_PASS;
}

SEC("tc")
int on_tc(struct __sk_buff *skb)
{
	if (is_test_packet(skb))
		WRITE("tc");
	return TC_ACT_OK;
}

SEC("tcx/ingress")
int on_tcx(struct __sk_buff *skb)
{
	if (is_test_packet(skb))
		WRITE("tcx");
	return TCX_NEXT;
}

SEC("netkit/primary")
int on_netkit(struct __sk_buff *skb)
{
	if (is_test_packet(skb))
		WRITE("netkit");
	return NETKIT_PASS;
}

SEC("action")
int on_action(struct __sk_buff *skb)
{
	if (is_test_packet(skb))
		WRITE("action");
	return TC_ACT_OK;
}

SEC("flow_dissector")
int on_flow_dissector(struct __sk_buff *skb)
{
	if (skb->flow_keys->n_proto == bpf_htons(PROGTYPES_ETHERTYPE))
		WRITE("flow_dissector");
	return BPF_FLOW_DISSECTOR_CONTINUE;
}

SEC("netfilter")
int on_netfilter(struct bpf_nf_ctx *ctx)
{
	WRITE("netfilter");
	return 1;	/* NF_ACCEPT */
}

SEC("lwt_in")
int on_lwt_in(struct __sk_buff *skb)
{
	WRITE("lwt_in");
	return BPF_OK;
}

SEC("lwt_out")
int on_lwt_out(struct __sk_buff *skb)
{
	WRITE("lwt_out");
	return BPF_OK;
}

SEC("lwt_xmit")
int on_lwt_xmit(struct __sk_buff *skb)
{
	WRITE("lwt_xmit");
	return BPF_OK;
}

SEC("lwt_seg6local")
int on_lwt_seg6local(struct __sk_buff *skb)
{
	WRITE("lwt_seg6local");
	return BPF_DROP;
}

/* ---- A socket ----------------------------------------------------------- */

SEC("socket")
int on_socket_filter(struct __sk_buff *skb)
{
	WRITE("socket_filter");
	return skb->len;
}

SEC("sk_reuseport")
int on_sk_reuseport(struct sk_reuseport_md *ctx)
{
	WRITE("sk_reuseport");
	return SK_PASS;
}

SEC("sk_lookup")
int on_sk_lookup(struct bpf_sk_lookup *ctx)
{
	WRITE("sk_lookup");
	return SK_PASS;
}

struct {
	__uint(type, BPF_MAP_TYPE_SOCKMAP);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} socks SEC(".maps");

SEC("sk_skb/stream_verdict")
int on_sk_skb(struct __sk_buff *skb)
{
	WRITE("sk_skb");
	return SK_PASS;
}

SEC("sk_msg")
int on_sk_msg(struct sk_msg_md *msg)
{
	WRITE("sk_msg");
	return SK_PASS;
}

/* ---- A control group ---------------------------------------------------- */

SEC("cgroup_skb/egress")
int on_cgroup_skb(struct __sk_buff *skb)
{
	WRITE("cgroup_skb");
	return ALLOW;
}

SEC("cgroup/connect4")
int on_sock_addr(struct bpf_sock_addr *ctx)
{
	WRITE("cgroup/connect4");
	return ALLOW;
}

SEC("sockops")
int on_sockops(struct bpf_sock_ops *ctx)
{
	if (ctx->op == BPF_SOCK_OPS_TCP_CONNECT_CB)
		WRITE("sockops");
	return ALLOW;
}

SEC("cgroup/sock_create")
int on_cgroup_sock(struct bpf_sock *ctx)
{
	WRITE("cgroup/sock_create");
	return ALLOW;
}

SEC("cgroup/dev")
int on_cgroup_dev(struct bpf_cgroup_dev_ctx *ctx)
{
	WRITE("cgroup/dev");
	return ALLOW;
}

SEC("cgroup/sysctl")
int on_cgroup_sysctl(struct bpf_sysctl *ctx)
{
	WRITE("cgroup/sysctl");
	return ALLOW;
}

SEC("cgroup/getsockopt")
int on_getsockopt(struct bpf_sockopt *ctx)
{
	WRITE("cgroup/getsockopt");
	return ALLOW;
}

SEC("cgroup/setsockopt")
int on_setsockopt(struct bpf_sockopt *ctx)
{
	WRITE("cgroup/setsockopt");
	ctx->optlen = -1;	/* the kernel goes on as if we were not here */
	return ALLOW;
}

SEC("lsm_cgroup/socket_create")
int BPF_PROG(on_lsm_cgroup, int family, int type, int protocol, int kern)
{
	WRITE("lsm_cgroup");
	return ALLOW;
}

/* ---- A congestion control of TCP ---------------------------------------- */

SEC("struct_ops")
void BPF_PROG(on_struct_ops, struct sock *sk)
{
	WRITE("struct_ops");
}

SEC("struct_ops")
__u32 BPF_PROG(cc_ssthresh, struct sock *sk)
{
	return 10;
}

SEC("struct_ops")
__u32 BPF_PROG(cc_undo_cwnd, struct sock *sk)
{
	return 10;
}

SEC("struct_ops")
void BPF_PROG(cc_cong_avoid, struct sock *sk, __u32 ack, __u32 acked)
{
}

SEC(".struct_ops.link")
struct tcp_congestion_ops progtypes_cc = {
	.init		= (void *)on_struct_ops,
	.ssthresh	= (void *)cc_ssthresh,
	.undo_cwnd	= (void *)cc_undo_cwnd,
	.cong_avoid	= (void *)cc_cong_avoid,
	.name		= "progtypes",
};

/* ---- Infrared remote controls ------------------------------------------- */

SEC("lirc_mode2")
int on_lirc_mode2(unsigned int *sample)
{
	WRITE("lirc_mode2");
	return 0;
}
