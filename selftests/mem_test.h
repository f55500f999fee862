/* SPDX-License-Identifier: GPL-2.0-only */
/* Shared by the tests that read a log through its mapping. */
#ifndef _MEM_TEST_H
#define _MEM_TEST_H

#include <stdio.h>
#include <stdlib.h>

#include "bpf/mem.h"
#include "mem_reader.h"
#include "relay_test.h"

#define MEM_SUBBUF	4096
#define MEM_N_SUBBUFS	8
#define MEM_BUFFER	(MEM_SUBBUF * MEM_N_SUBBUFS)
#define MEM_PER_PACKET	((MEM_SUBBUF - sizeof(struct bpf_relay_packet)) / \
			 BPF_RELAY_RECORD_SIZE(sizeof(struct mem_rec)))

static const struct bpf_relay_opts mem_opts = {
	.subbuf_size = MEM_SUBBUF, .n_subbufs = MEM_N_SUBBUFS,
};

static inline void log_path(const struct relay_log *log, const char *name, char path[256])
{
	snprintf(path, 256, "%s/%s", log->dir, name);
}

static inline int log_open_file(const struct relay_log *log, const char *name)
{
	char path[256];

	log_path(log, name, path);
	return open(path, O_RDONLY);
}

static inline int log_map(const struct relay_log *log, struct mem_reader *m)
{
	char path[256];

	log_path(log, "mem", path);
	return mem_open(m, path);
}

/* The next records on a CPU: of mem.bpf.c. */
static inline void mem_write(struct relay_log *log, int cpu, __u64 count)
{
	*(__u64 *)log_var(log, ".bss", "count") = count;
	if (count)
		log_run(log, "mem_write", cpu);
}

/* What was read, one record behind the other. */
struct mem_bytes {
	char *p;
	size_t len, size;
};

static inline void mem_add(struct mem_bytes *b, const struct bpf_relay_header *h,
			   const void *payload)
{
	size_t need = sizeof(h->ts) + sizeof(h->id) + sizeof(h->len) + h->len;

	if (b->size - b->len < need) {
		b->size = 2 * b->size + need;
		b->p = realloc(b->p, b->size);
	}
	memcpy(b->p + b->len, &h->ts, sizeof(h->ts));
	b->len += sizeof(h->ts);
	memcpy(b->p + b->len, &h->id, sizeof(h->id));
	b->len += sizeof(h->id);
	memcpy(b->p + b->len, &h->len, sizeof(h->len));
	b->len += sizeof(h->len);
	memcpy(b->p + b->len, payload, h->len);
	b->len += h->len;
}

static inline bool mem_add_ctf(const struct record *rec, void *ctx)
{
	mem_add(ctx, rec->header, rec->payload);
	return true;
}

/* All that a mapping shows of a CPU whose writers are quiet: how many, or -1. */
static inline long mem_read_all(const struct mem_reader *m, __u32 cpu, struct mem_bytes *b)
{
	char *copy = malloc(m->log->subbuf_size);
	struct mem_window w;
	long n = 0;
	__u64 at;

	mem_window(m, cpu, &w);
	for (at = w.first; at < w.end; at += m->log->subbuf_size) {
		long len = mem_copy(m, cpu, &w, at, copy);
		const struct bpf_relay_header *h;
		__u32 from = 0;

		if (len < 0) {
			printf("# CPU %u: overtaken at %llu\n", cpu, at);
			n = -1;
			break;
		}
		while ((h = mem_next(copy, len, &from))) {
			mem_add(b, h, h + 1);
			n++;
		}
	}
	free(copy);
	return n;
}

/* Whether, with writers quiet, mem and ctf/cpuN have the same `want` records. */
static inline bool mem_same(const struct relay_log *log, const struct mem_reader *m, int cpu,
			    long want)
{
	struct mem_bytes mapped = {}, file = {};
	size_t len;
	char name[32];
	void *data;
	long n, n_file;
	bool same;

	snprintf(name, sizeof(name), "ctf/cpu%d", cpu);
	data = log_file(log, name, &len);
	n_file = data ? ctf_walk(data, len, m->log->subbuf_size, mem_add_ctf, &file) : -1;
	n = mem_read_all(m, cpu, &mapped);
	same = n == want && n_file == want && mapped.len == file.len &&
	       !memcmp(mapped.p ?: "", file.p ?: "", file.len);
	if (!same)
		printf("# CPU %d: %ld records of %zu bytes in mem, %ld of %zu in ctf/, not %ld\n",
		       cpu, n, mapped.len, n_file, file.len, want);
	free(data);
	free(mapped.p);
	free(file.p);
	return same;
}

/* How many bytes of a CPU's data are not 0; every page is touched. */
static inline size_t mem_nonzero(const struct mem_reader *m, __u32 cpu)
{
	const char *data = mem_data(m, cpu);
	size_t i, n = 0;

	for (i = 0; i < mem_buffer(m); i++)
		n += !!data[i];
	return n;
}

#endif /* _MEM_TEST_H */
