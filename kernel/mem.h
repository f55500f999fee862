/* SPDX-License-Identifier: GPL-2.0-only */
/* The file `mem`, as the log sees it. */
#ifndef _BPF_RELAY_MEM_H
#define _BPF_RELAY_MEM_H

#include <linux/types.h>

struct bpf_relay;

/* Fill in the log page, but its state, of a log whose options are known. */
void mem_describe(struct bpf_relay *log);

/*
 * A CPU has got its buffer: take away the zeroes that were mapped in its place. Before
 * anything is recorded there. Cannot fail; may sleep.
 */
void mem_attached(const struct bpf_relay *log, u32 cpu);

#endif /* _BPF_RELAY_MEM_H */
