// SPDX-License-Identifier: GPL-2.0-only
/* One for interfaces with large frames, which take no other. */
#include "targets.h"

SEC("xdp.frags")
int on_xdp(struct xdp_md *ctx)
{
	__be16 type;

	if (!bpf_xdp_load_bytes(ctx, 12, &type, sizeof(type)) && type == bpf_htons(ETHERTYPE))
		RECORD("xdp");
	return XDP_PASS;
}
