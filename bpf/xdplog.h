/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The record of xdplog.bpf.c, for the program and for whoever reads its log. */
#ifndef __XDPLOG_H__
#define __XDPLOG_H__

/* A BPF program that includes vmlinux.h already has the types. */
#ifndef __VMLINUX_H__
#include <linux/bpf.h>
#include <linux/types.h>
#endif
#include "bpf_relay_hints.h"

#define XDPLOG_DATA_MAX	128

/* One frame, as the interface received it: from the Ethernet header on. */
struct xdp_event {
	__u32 ifindex RELAY_IFINDEX;
	__u32 queue;
	enum xdp_action verdict;	/* what became of it */
	__u32 len;		/* bytes of the frame, all buffers of it */
	__u32 data_len;		/* bytes of data[] that are the frame's; the others are 0 */
	__u8 data[XDPLOG_DATA_MAX] RELAY_PACKET(len);
};

#endif /* __XDPLOG_H__ */
