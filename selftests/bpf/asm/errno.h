/* SPDX-License-Identifier: GPL-2.0-only */
/* Of libbpf's usdt.bpf.h: where the target is bpf, no machine has this header. */
#include <asm-generic/errno.h>
