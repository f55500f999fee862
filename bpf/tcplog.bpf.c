// SPDX-License-Identifier: GPL-2.0-only
/*
 * tcplog: one record per TCP segment that reaches a socket.
 *
 *	bpfrelay load tcplog --set port=443
 *
 * A segment for a socket passes exactly one of two functions: in ESTABLISHED
 * tcp_rcv_established(), in every other state tcp_rcv_state_process(). A SYN is
 * seen with its listener (state LISTEN), the handshake's last ACK with the new
 * child (SYN_RECV), segments that met a busy socket when the backlog is run.
 *
 * Not seen, because they reach neither:
 *  - segments without a socket, of the wrong checksum, refused by a socket
 *    filter, by policy, by MD5/AO or min_ttl, or dropped from a full backlog;
 *  - what a connection request answers without its child: a retransmitted SYN,
 *    a bad ACK (tcp_check_req());
 *  - segments for a socket in TIME_WAIT (tcp_timewait_state_process()), but for
 *    a SYN that opens a new connection;
 *  - a segment that interrupts this very program on the same CPU: the kernel
 *    does not nest a tracing program into itself. Such misses are counted as
 *    recursion_misses of the program (bpftool prog show).
 *
 * Packets that GRO or the backlog merged arrive, and are recorded, as one
 * segment: tcp_segment.segs says how many they were.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_tracing.h>
#include "bpf_relay.h"
#include "own_count.h"
#include "tcplog.h"

#define ETH_P_IPV6	0x86DD

/* Record only segments from or to this port; 0: all. */
const volatile __u16 port = 0;
/* Record only segments with payload. */
const volatile bool data_only = false;

RELAY_MAP(tcplog, struct tcp4_event, struct tcp6_event);
OWN_COUNT(tcplog_events);

/* The start of a TCP header: the wire's layout, which no kernel changes. */
struct tcp_wire {
	__be16 source;
	__be16 dest;
	__be32 seq;
	__be32 ack;
	__be16 doff_flags;	/* 4 bits header length / 4, 12 bits flags */
	__be16 window;
};

/* Returns false if the segment is not to be recorded. */
static bool read_segment(struct tcp_segment *tcp, struct sock *sk, struct sk_buff *skb)
{
	struct skb_shared_info *shared = (void *)(skb->head + skb->end);
	struct tcp_wire th;
	struct tcp_sock *tp;
	__u16 word;

	if (bpf_probe_read_kernel(&th, sizeof(th), skb->data))
		return false;
	tcp->sport = bpf_ntohs(th.source);
	tcp->dport = bpf_ntohs(th.dest);
	if (port && tcp->sport != port && tcp->dport != port)
		return false;

	/* skb->data is the TCP header here, and skb->len counts from there. */
	word = bpf_ntohs(th.doff_flags);
	tcp->len = skb->len - (word >> 12) * 4;
	if (data_only && !tcp->len)
		return false;

	tcp->flags = word & 0xfff;
	tcp->seq = bpf_ntohl(th.seq);
	tcp->ack = bpf_ntohl(th.ack);
	tcp->window = bpf_ntohs(th.window);
	tcp->segs = BPF_CORE_READ(shared, gso_segs) ?: 1;
	tcp->state = sk->__sk_common.skc_state;

	tp = bpf_skc_to_tcp_sock(sk);
	if (tp) {
		tcp->srtt_us = tp->srtt_us >> 3;
		/* A listener's is only what its children start from. */
		tcp->cwnd = tcp->state == TCP_LISTEN ? 0 : tp->snd_cwnd;
	}
	return true;
}

static int log_segment(struct sock *sk, struct sk_buff *skb)
{
	const unsigned char *ip = skb->head + skb->network_header;
	struct tcp_segment tcp = {};

	if (!read_segment(&tcp, sk, skb))
		return 0;
	own_count_add(&tcplog_events);

	/* By the packet, not by the socket: an IPv6 socket may speak IPv4. */
	if (skb->protocol == bpf_htons(ETH_P_IPV6)) {
		struct tcp6_event e = { .tcp = tcp };

		bpf_probe_read_kernel(e.saddr, sizeof(e.saddr), ip + 8);
		bpf_probe_read_kernel(e.daddr, sizeof(e.daddr), ip + 24);
		relay_output(&tcplog, &e);
	} else {
		struct tcp4_event e = { .tcp = tcp };

		bpf_probe_read_kernel(e.saddr, sizeof(e.saddr), ip + 12);
		bpf_probe_read_kernel(e.daddr, sizeof(e.daddr), ip + 16);
		relay_output(&tcplog, &e);
	}
	return 0;
}

SEC("fentry/tcp_rcv_established")
int BPF_PROG(tcplog_established, struct sock *sk, struct sk_buff *skb)
{
	return log_segment(sk, skb);
}

SEC("fentry/tcp_rcv_state_process")
int BPF_PROG(tcplog_state, struct sock *sk, struct sk_buff *skb)
{
	return log_segment(sk, skb);
}

char LICENSE[] SEC("license") = "GPL";
