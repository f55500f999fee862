/* SPDX-License-Identifier: GPL-2.0-only */
/* Shared by reserve.bpf.c and its test. */
#ifndef _RESERVE_H
#define _RESERVE_H

#define RESERVE_RESULTS	128
#define RESERVE_BIG	1000
#define RESERVE_VAR	2000	/* the most that the variable type is written with */

struct reserve_small {
	__u64 seq;
	__u64 check;
};

struct reserve_big {
	__u64 seq;
	__u8 bytes[RESERVE_BIG];
};

struct reserve_args {
	__u64 count;
	__u64 seq;
	__u32 discard_every;	/* 0: none */
	__u32 size;
	__u32 fill;		/* bytes of reserve_big to fill with 0xaa */
};

struct reserve_out {
	__u64 reserved;		/* records that relay_reserve() gave */
	__u64 refused;		/* NULL came back */
	__u64 dirty;		/* fresh records that were not zero */
	__u64 too_much;		/* record_data() gave more than was reserved */
	__u64 enough;		/* record_data() gave what was */
	__u64 results[RESERVE_RESULTS];	/* of outputs, by -errno */
};

/* Context of the programs that sleep while they hold a record. */
struct reserve_hold {
	__u64 addr;		/* user memory that they read: 8 bytes */
	__u64 seq;
};

#endif /* _RESERVE_H */
