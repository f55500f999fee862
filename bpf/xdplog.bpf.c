// SPDX-License-Identifier: GPL-2.0-only
/*
 * xdplog: one record per frame that an interface receives, with its first bytes.
 *
 *	bpfrelay load xdplog --dev eth0
 *	bpfrelay load xdplog --dev eth0 --set ethertype=0x88cc --set verdict=XDP_DROP
 *
 * Frames that are not recorded pass. Those in several buffers (jumbo frames, or what
 * a veth got in one piece from its peer) are one record with their whole length.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_endian.h>
#include "bpf_relay.h"
#include "own_count.h"
#include "xdplog.h"

#define ETHERTYPE_OFFSET	12

/* Record only frames of this Ethernet type, tags not looked into; 0: all. */
const volatile __u16 ethertype = 0;
/* What becomes of the frames that are recorded. */
const volatile enum xdp_action verdict = XDP_PASS;

RELAY_MAP(xdplog, struct xdp_event);
OWN_COUNT(xdplog_events);

static bool is_wanted(struct xdp_md *ctx)
{
	__be16 type;

	return !ethertype || (!bpf_xdp_load_bytes(ctx, ETHERTYPE_OFFSET, &type, sizeof(type)) &&
			      bpf_ntohs(type) == ethertype);
}

static void log_frame(struct xdp_md *ctx)
{
	__u64 len = bpf_xdp_get_buff_len(ctx);
	__u32 data_len = len < XDPLOG_DATA_MAX ? len : XDPLOG_DATA_MAX;
	struct bpf_relay_record *rec;
	struct xdp_event *e;

	own_count_add(&xdplog_events);
	e = relay_reserve(&xdplog, struct xdp_event, &rec);
	if (!e)
		return;
	e->ifindex = ctx->ingress_ifindex;
	e->queue = ctx->rx_queue_index;
	e->verdict = verdict;
	e->len = len;
	/* As it was, but the verifier sees that it is 1 to XDPLOG_DATA_MAX. */
	barrier_var(data_len);
	data_len = ((data_len - 1) & (XDPLOG_DATA_MAX - 1)) + 1;
	if (!bpf_xdp_load_bytes(ctx, 0, e->data, data_len))
		e->data_len = data_len;
	relay_submit(rec);
}

SEC("xdp.frags")
int xdplog_frame(struct xdp_md *ctx)
{
	if (!is_wanted(ctx))
		return XDP_PASS;
	log_frame(ctx);
	return verdict;
}

char LICENSE[] SEC("license") = "GPL";
