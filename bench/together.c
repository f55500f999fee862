// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records per second of 1, 2 and 4 CPUs into one log. The machine is shared and noisy: so
 * rounds, in each of which every mechanism has its turn, for later division by its own
 * figure on one CPU.
 */
#include "cases.h"
#include "parts.h"

#include <pthread.h>
#include <stdio.h>

#define ROUNDS		10
#define TURN_NS		200000000
#define CALLS		1000
#define SIZE		64

struct writer {
	pthread_t thread;
	struct bench_case *c;
	pthread_barrier_t *start;
	int cpu;
	unsigned long calls;
	double rate;
};

static void *write_records(void *arg)
{
	struct writer *w = arg;
	unsigned long long start;

	run_on(w->cpu);
	case_run(w->c, CALLS);
	pthread_barrier_wait(w->start);
	start = now_ns();
	do {
		case_run(w->c, CALLS);
		w->calls += CALLS;
	} while (now_ns() - start < TURN_NS);
	w->rate = w->calls * 1e9 / (now_ns() - start);
	return NULL;
}

/*
 * Records per second; *lost is how many of a thousand calls stored none. (CPUs that fight
 * for a lock with a limit of time may give up.)
 */
static double rate_of(struct bench_case *c, int cpus, double *lost)
{
	__u64 errors = c->cost->errors;
	struct writer writers[cpus];
	pthread_barrier_t start;
	unsigned long calls = 0;
	double rate = 0;
	int i;

	pthread_barrier_init(&start, NULL, cpus);
	for (i = 0; i < cpus; i++) {
		writers[i] = (struct writer) { .c = c, .start = &start, .cpu = i };
		pthread_create(&writers[i].thread, NULL, write_records, &writers[i]);
	}
	for (i = 0; i < cpus; i++) {
		pthread_join(writers[i].thread, NULL);
		rate += writers[i].rate;
		calls += CALLS + writers[i].calls;
	}
	pthread_barrier_destroy(&start);
	*lost = 1000.0 * (c->cost->errors - errors) / calls;
	return rate * (1 - *lost / 1000);
}

void together(void)
{
	static const char * const names[] = { "harness", "clock", "output", "relay_write",
					      "ringbuf_over_output", "queue" };
	static const int cpus[] = { 1, 2, 4 };
	int round, i, j;

	for (round = 0; round < ROUNDS; round++) {
		for (i = 0; i < 6; i++) {
			struct bench_case c;

			if (!case_open(&c, mechanism_find(names[i]), SIZE, false, NULL))
				continue;
			for (j = 0; j < 3; j++) {
				double lost, rate = rate_of(&c, cpus[j], &lost);

				printf("{\"part\":\"together\",\"round\":%d,\"case\":\"%s\","
				       "\"cpus\":%d,\"rate\":%.0f,\"lost\":%.3f}\n", round,
				       names[i], cpus[j], rate, lost);
			}
			case_close(&c);
		}
	}
}
