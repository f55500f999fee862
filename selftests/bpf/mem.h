/* SPDX-License-Identifier: GPL-2.0-only */
/* Shared by mem.bpf.c and the tests. */
#ifndef _MEM_H
#define _MEM_H

#define MEM_CPUS	256	/* a power of two */

struct mem_rec {
	__u64 seq;	/* of its CPU, from 0 */
	__u64 check;	/* made of the others */
	__u32 cpu;
};

#define MEM_CHECK(rec)	((rec)->seq * 0x9e3779b97f4a7c15ULL + (rec)->cpu)

#endif /* _MEM_H */
