// SPDX-License-Identifier: GPL-2.0-only
/* The same program as many others, but for its licence: the verifier refuses it. */
#include "progtypes.bpf.h"

char _license[] SEC("license") = "Proprietary";

SEC("xdp")
int on_xdp_nongpl(void *ctx)
{
	WRITE("xdp");
	return XDP_PASS;
}
