/* SPDX-License-Identifier: GPL-2.0-only */
/* Shared by the hostile*.bpf.c and their tests. */
#ifndef _HOSTILE_H
#define _HOSTILE_H

#define HOSTILE_RESULTS	128
#define HOSTILE_INNER	64
#define HOSTILE_FOREIGN	120	/* bytes, as many as in a relay map */
#define HOSTILE_CHAIN	10

struct hostile_rec {
	__u64 seq;
	__u64 who;
};

struct hostile_args {
	__u64 count;
	__u64 who;
	__u32 armed;	/* what fires by itself does nothing while this is 0 */
	__u32 at;	/* the only hit that a probe answers */
};

/* What each function said of a wrong map. */
struct hostile_tried {
	int output;
	int reserve;	/* 1: gave a record */
	int add_type;
	int open;
	int runs;
};

#endif /* _HOSTILE_H */
