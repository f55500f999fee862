// SPDX-License-Identifier: GPL-2.0-only
/* A log of the same name, but another type. */
#define OTHER_TYPE
#include "targets.h"

SEC("uprobe/busy:busy_tick")
int on_uprobe(struct pt_regs *ctx)
{
	RECORD("other");
	return 0;
}
