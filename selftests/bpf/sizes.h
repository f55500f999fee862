/* SPDX-License-Identifier: GPL-2.0-only */
/* Shared by sizes.bpf.c and sizes.c. */
#ifndef _SIZES_H
#define _SIZES_H

#define SIZES_BYTES	64	/* of a record of variable size, at most */

struct sizes_fixed {
	__u32 seq;
	__u8 bytes[9];
};

struct sizes_var {
	__u32 seq;
	__u32 len;
	__u8 bytes[];
};

#endif /* _SIZES_H */
