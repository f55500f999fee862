/* SPDX-License-Identifier: GPL-2.0-only */
/* Shared by copies.bpf.c and copies.c. */
#ifndef _COPIES_H
#define _COPIES_H

#define COPIES_CPUS	64

/* One type whose size is a multiple of 8, one whose size is no multiple of anything. */
struct copies_even {
	__u64 seq;
	__u64 check;
	__u32 cpu;
	__u32 zero;
};

struct copies_odd {
	__u64 seq;
	__u64 check;
	__u32 cpu;
	__u8 tail[3];
} __attribute__((packed));

#define COPIES_CHECK(seq, cpu)	((seq) * 0x9e3779b97f4a7c15ULL + (cpu))

struct copies_args {
	__u64 count;
	__u64 drop_every;		/* 0: none */
	__u64 next[COPIES_CPUS];	/* the next call's sequence number */
	__u64 failed;			/* calls that should not have failed */
};

#endif /* _COPIES_H */
