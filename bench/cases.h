/* SPDX-License-Identifier: GPL-2.0-only */
/* A case of the benchmark: one mechanism, one size of record, ready to be called. */
#ifndef _BENCH_CASES_H
#define _BENCH_CASES_H

#include "bench.h"
#include "relay_test.h"

struct bench_case;

struct mechanism {
	const char *name;
	const char *map;	/* what it records into; NULL: nothing */
	int needs_map_flag;	/* that not every kernel knows */
	bool per_size;		/* of which there is one for each size, <map>_<size> */
	bool drained;		/* records only while there is room */
	int largest;		/* size of record */
	/* How many records of `size` the full buffer holds; NULL: nobody can say. */
	long (*kept)(struct bench_case *c);
};

struct bench_case {
	const struct mechanism *mechanism;
	int size;
	char map[32];		/* "": none */
	struct relay_log log;	/* the object; where the mechanism is ours, the log, too */
	struct bpf_program *prog;
	struct bench_cost *cost;
	struct perf_event_mmap_page *perf;
};

extern const struct mechanism mechanisms[];	/* up to one without a name */
#define N_SIZES	3
extern const int sizes[N_SIZES];

/*
 * False if this kernel has no such mechanism. What should work and does not ends
 * the process. geometry: of our log; NULL: as large as the others.
 */
bool case_open(struct bench_case *c, const struct mechanism *mechanism, int size, bool exact,
	       const struct bpf_relay_opts *geometry);
/* The same of a program on an event, <event>_<name>, to be attached. */
bool events_open(struct bench_case *c, const struct mechanism *mechanism, const char *event,
		 const char *name);
void case_close(struct bench_case *c);

/* Call it so many times on this CPU. */
void case_run(struct bench_case *c, unsigned int calls);

const struct mechanism *mechanism_find(const char *name);

/* With -icount: instructions. */
unsigned long long now_ns(void);

void die(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));

#endif /* _BENCH_CASES_H */
