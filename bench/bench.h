/* SPDX-License-Identifier: GPL-2.0-only */
/* Between the benchmark's programs and its runner. */
#ifndef _BENCH_H
#define _BENCH_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

#define BENCH_BUFFER	(1 << 20)	/* bytes, of each mechanism that overwrites */
#define BENCH_DRAINED	(32 << 20)	/* of one that does not */

/* What some calls cost. All times are of bench_now(). */
struct bench_cost {
	__u64 calls;
	__u64 sum;
	__u64 min;
	__u64 max;
	__u64 interrupted;	/* calls that an interrupt hit: in none of the above */
	__u64 interrupted_max;
	__u64 errors;		/* calls that recorded nothing */
};

#endif /* _BENCH_H */
