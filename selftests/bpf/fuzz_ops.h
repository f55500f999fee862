/* SPDX-License-Identifier: GPL-2.0-only */
/* Shared by fuzz_ops.bpf.c and fuzz_ops.c. */
#ifndef _FUZZ_OPS_H
#define _FUZZ_OPS_H

#define FUZZ_PAYLOAD	(64 << 10)

/* The first word of a reserved record that has room for one; the rest is zero. */
#define FUZZ_TAG	0x6b72616d5f7a7566ULL

struct fuzz_reserved {
	__u64 given;	/* records */
	__u64 refused;	/* NULL came back */
	__u64 wrong;	/* record_data() gave too much, or not what was there */
};

/* Context of the program that sleeps while it holds a record. */
struct fuzz_hold {
	__u64 addr;	/* user memory that it reads: 8 bytes */
	__u64 flags;
	__u32 key;
	__u32 size;
	__u32 discard;
};

#endif /* _FUZZ_OPS_H */
