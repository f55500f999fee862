/* SPDX-License-Identifier: GPL-2.0-only */
/* Shared by progtypes*.bpf.c and progtypes*.c. */
#ifndef _PROGTYPES_H
#define _PROGTYPES_H

enum progtypes_how {
	PROGTYPES_OUTPUT	= 1,	/* relay_output() */
	PROGTYPES_RESERVE	= 2,	/* relay_reserve(), relay_submit() */
};

/* What a program leaves behind: two of these each time it runs. */
struct progtypes_rec {
	char  type[24];		/* the name of its program type */
	__u64 seq;		/* which run, from 0 */
	__u32 how;		/* enum progtypes_how */
	__u32 pid;		/* of the test for which it was loaded */
};

/* To tell the test's own packets from those that the kernel sends by itself. */
#define PROGTYPES_ETHERTYPE	0x88b5	/* IEEE: local experiments */

#endif /* _PROGTYPES_H */
