// SPDX-License-Identifier: GPL-2.0-only
/*
 * Exact cost: each call is measured by itself, on one CPU. Before any call counts, the
 * buffer is full: what a call costs in the long run is asked, with all its switches.
 */
#include "cases.h"
#include "mem_reader.h"
#include "parts.h"

#include <linux/bpf.h>
#include <stdio.h>
#include <string.h>

#define CALLS		32768
#define GATE_CALLS	8192
#define WITHIN_CALLS	4096

_Static_assert((CALLS + 100) * (256 + BPF_RINGBUF_HDR_SZ) < BENCH_DRAINED,
	       "what is not overwritten must have room for all calls");

static void print_cost(const char *part, struct bench_case *c, unsigned int calls)
{
	const struct bench_cost *cost = c->cost;

	/* The tests of the harness: everything was recorded, everything was measured. */
	if (cost->errors)
		die("%s_%d: %llu calls recorded nothing", c->mechanism->name, c->size, cost->errors);
	if (cost->calls + cost->interrupted != calls)
		die("%s_%d: %llu calls measured, %u made", c->mechanism->name, c->size,
		    cost->calls + cost->interrupted, calls);
	printf("{\"part\":\"%s\",\"case\":\"%s\",\"size\":%d,\"calls\":%llu,\"sum\":%llu,"
	       "\"min\":%llu,\"max\":%llu,\"interrupted\":%llu,\"interrupted_max\":%llu",
	       part, c->mechanism->name, c->size, cost->calls, cost->sum, cost->min, cost->max,
	       cost->interrupted, cost->interrupted_max);
}

static void measure(struct bench_case *c, unsigned int warm, unsigned int calls)
{
	case_run(c, warm);
	memset(c->cost, 0, sizeof(*c->cost));
	case_run(c, calls);
}

static void exact(const char *part, const struct mechanism *m, int size, unsigned int calls)
{
	struct bench_case c;

	if (!case_open(&c, m, size, true, NULL)) {
		printf("{\"part\":\"%s\",\"case\":\"%s\",\"size\":%d,\"absent\":true}\n", part,
		       m->name, size);
		return;
	}
	/* More than fills the buffer, unless nobody would empty it. */
	measure(&c, m->drained ? 100 : BENCH_BUFFER / size + 100, calls);
	print_cost(part, &c, calls);
	if (m->kept)
		printf(",\"kept\":%ld", m->kept(&c));
	printf("}\n");
	case_close(&c);
}

void exact_all(void)
{
	const struct mechanism *m;
	int i;

	run_on(0);
	for (m = mechanisms; m->name; m++)
		for (i = 0; i < N_SIZES; i++)
			exact("exact", m, sizes[i], CALLS);
}

void exact_gate(void)
{
	static const char * const names[] = { "harness", "relay_write", "output", "reserve" };
	int i, j;

	run_on(0);
	for (i = 0; i < 4; i++)
		for (j = 0; j < N_SIZES; j++)
			exact("exact", mechanism_find(names[i]), sizes[j], GATE_CALLS);
}

/* Also the bytes that a record takes besides its payload, and the packet besides records. */
static void within(struct bench_case *c)
{
	int payload = (c->size + 7) / 8 * 8;
	const struct bpf_relay_ctl *ctl;
	struct mem_reader mem = {};
	__u64 from, record;
	char path[256];

	snprintf(path, sizeof(path), "%s/mem", c->log.dir);
	if (mem_open(&mem, path))
		die("%s cannot be mapped", path);
	ctl = mem_ctl(&mem, 0);
	case_run(c, 1);
	from = ctl->wpos;
	measure(c, 99, WITHIN_CALLS);
	record = (ctl->wpos - from) / (99 + WITHIN_CALLS);
	print_cost("within", c, WITHIN_CALLS);
	printf(",\"overhead\":%llu,\"packet\":%llu}\n", record - payload, from - record);
	mem_close(&mem);
}

/* A sub-buffer that takes all of them, entered before the first that counts. */
void exact_within(void)
{
	const struct bpf_relay_opts large = { .subbuf_size = 4 << 20, .n_subbufs = 2 };
	static const char * const names[] = { "output", "reserve" };
	struct bench_case c;
	int i, j;

	run_on(0);
	for (i = 0; i < 2; i++) {
		for (j = 0; j < N_SIZES; j++) {
			if (!case_open(&c, mechanism_find(names[i]), sizes[j], true, &large))
				die("%s is missing", names[i]);
			within(&c);
			case_close(&c);
		}
	}
}
