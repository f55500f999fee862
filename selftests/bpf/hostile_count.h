/* SPDX-License-Identifier: GPL-2.0-only */
/* What calls returned, counted; a program's text, not a declaration. */
#ifndef _HOSTILE_COUNT_H
#define _HOSTILE_COUNT_H

__u64 results[HOSTILE_RESULTS];	/* out: how often each -errno came back */

static void count(int err)
{
	__u64 i = (__u32)-err;

	/* The last one is for what is no errno of ours. */
	if (i >= HOSTILE_RESULTS)
		i = HOSTILE_RESULTS - 1;
	asm volatile ("" : "+r"(i));
	__sync_fetch_and_add(&results[i & (HOSTILE_RESULTS - 1)], 1);
}

#endif /* _HOSTILE_COUNT_H */
