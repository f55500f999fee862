/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The records of tcplog.bpf.c, for the program and for whoever reads its log. */
#ifndef __TCPLOG_H__
#define __TCPLOG_H__

/* A BPF program that includes vmlinux.h already has the __uNN types. */
#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif
#include "bpf_relay_hints.h"

/*
 * One TCP segment as it reached its socket. All numbers are in host byte order;
 * addresses and ports are those of the packet: source is the peer.
 */
struct tcp_segment {
	__u16 sport;
	__u16 dport;
	__u32 seq;		/* of the first byte of payload (of SYN, FIN itself) */
	__u32 ack;		/* meaningful if flags has ACK */
	__u32 len;		/* bytes of payload */
	__u32 srtt_us;		/* smoothed round trip before this segment; 0: none yet */
	__u32 cwnd;		/* congestion window, packets; 0: a listening socket's */
	__u16 window;		/* as in the header, not scaled */
	__u16 segs;		/* packets merged into this one (GRO, backlog); 1: none */
	__u16 flags RELAY_HEX;	/* TCPLOG_* */
	__u16 state;		/* the socket's before this segment; TCP_ESTABLISHED is 1 */
};

/* The records, one type per version of IP. */
struct tcp4_event {
	__u8 saddr[4] RELAY_IPV4;
	__u8 daddr[4] RELAY_IPV4;
	struct tcp_segment tcp;
};

struct tcp6_event {
	__u8 saddr[16] RELAY_IPV6;
	__u8 daddr[16] RELAY_IPV6;
	struct tcp_segment tcp;
};

/* The header's flags, as on the wire. */
#define TCPLOG_FIN	0x001
#define TCPLOG_SYN	0x002
#define TCPLOG_RST	0x004
#define TCPLOG_PSH	0x008
#define TCPLOG_ACK	0x010
#define TCPLOG_URG	0x020
#define TCPLOG_ECE	0x040
#define TCPLOG_CWR	0x080
#define TCPLOG_AE	0x100

#endif /* __TCPLOG_H__ */
