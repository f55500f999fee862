/* SPDX-License-Identifier: GPL-2.0-only */
/* Shared by drops.bpf.c and drops.c. */
#ifndef _DROPS_H
#define _DROPS_H

#define DROPS_DEPTH	8	/* calls that may be stacked up: RING_DEPTH_MAX */
#define DROPS_RETRIES	16	/* races that a call may lose: RING_RETRIES */

/* Records that two programs hold at once: one more than there may be. */
#define DROPS_HOLD	32
#define DROPS_HOLD_MORE	33

/* 40 bytes with its header. */
struct drops_rec {
	__u64 seq;
	__u64 unused[2];
};

#endif /* _DROPS_H */
