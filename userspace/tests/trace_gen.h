/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Traces with records that are known: written here byte by byte, by nothing that the
 * library uses to read them.
 */
#ifndef __TESTS_TRACE_GEN_H__
#define __TESTS_TRACE_GEN_H__

#include <stdbool.h>
#include <stddef.h>
#include <linux/bpf_relay.h>

#define GEN_PACKET	4096U
#define GEN_CPUS	3

/* Type 1; type 2 is the same with `n_more` of __u32 more[] behind it; 0 is raw. */
struct gen_record {
	__u64 n;	/* counts the records of all CPUs, in the order of time */
	__u32 cpu;
	__s16 check;
	__u8 pad[2];
};

struct gen_event {
	__u64 ts;
	__u32 cpu;
	__u16 id;
	__u32 len;
	__u32 packet;		/* index in its file */
	__u8 data[128];
};

struct gen {
	char dir[256];
	struct gen_event *event;	/* in the order of time, then of CPUs */
	int n;
	int built;			/* of these, in the files */
	char *file[GEN_CPUS];		/* what is in cpuN */
	size_t size[GEN_CPUS];
	int n_cpu[GEN_CPUS];		/* records of each CPU */
};

extern const __u8 gen_uuid[16];

/* n records, with packets numbered from first_seq on; fails the process if it cannot. */
void gen_make(struct gen *g, unsigned int seed, int n, __u64 first_seq);
/* The files, of the first n events only. */
void gen_build(struct gen *g, int n, __u64 first_seq);
/* The oldest packets of a CPU are gone: how many records were in them. */
int gen_overwrite(struct gen *g, int cpu, int packets);
/* Writes what is in memory to dir, which is made. */
void gen_write(const struct gen *g, const char *dir);
void gen_write_file(const char *dir, const char *name, const void *data, size_t size);
/* The text of the metadata, static. */
const char *gen_metadata(void);
void gen_free(struct gen *g);
/* Removes a directory with what is in it. */
void gen_remove(const char *dir);

#endif /* __TESTS_TRACE_GEN_H__ */
