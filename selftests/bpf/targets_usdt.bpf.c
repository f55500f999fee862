// SPDX-License-Identifier: GPL-2.0-only
/* Beside nothing else that needs a target, and with libbpf's own maps. */
#define __TARGET_ARCH_x86
#include "targets.h"
#include <bpf/usdt.bpf.h>

SEC("usdt/busy:busy:tick")
int on_usdt(struct pt_regs *ctx)
{
	RECORD("usdt");
	return 0;
}
