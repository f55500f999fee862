/* SPDX-License-Identifier: GPL-2.0-only */
/* Logs that a test makes at run time: shared by anylog.bpf.h and the tests. */
#ifndef _ANYLOG_H
#define _ANYLOG_H

#define ANYLOG_ARG	4096
#define ANYLOG_ERRNOS	128

struct any_rec {
	__u64 seq;
	__u64 cpu;
};

/* What the next program run does; results are counted in any_results[]. */
struct any_call {
	__u32 key;	/* which log */
	__u32 size;	/* bytes of any_arg, or of a record */
	__u64 flags;	/* of a record */
	__u64 count;	/* records */
	__u32 step;	/* added to size after each record */
};

#endif /* _ANYLOG_H */
