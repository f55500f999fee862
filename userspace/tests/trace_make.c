// SPDX-License-Identifier: GPL-2.0-only
/*
 * trace_make DIR SEED RECORDS FIRST_SEQ: makes a trace, and prints its records as
 * bpfrelay cat --mono should.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace_gen.h"

static void print_typed(const struct gen_event *e)
{
	struct gen_record r;
	__u32 i, more;

	memcpy(&r, e->data, sizeof(r));
	printf("%s n=%llu cpu=%u check=%d", e->id == 1 ? "one" : "more", r.n, r.cpu, r.check);
	if (e->id == 2)
		printf(" more=[");
	for (i = sizeof(r); i < e->len; i += 4) {
		memcpy(&more, e->data + i, 4);
		printf("%s%u", i > sizeof(r) ? "," : "", more);
	}
	printf(e->id == 2 ? "]\n" : "\n");
}

int main(int argc, char **argv)
{
	struct gen g;
	__u32 i;
	int n;

	if (argc != 5)
		return 2;
	gen_make(&g, atoi(argv[2]), atoi(argv[3]), atoi(argv[4]));
	gen_write(&g, argv[1]);
	for (n = 0; n < g.n; n++) {
		const struct gen_event *e = &g.event[n];

		printf("%llu.%09llu cpu%u ", e->ts / 1000000000, e->ts % 1000000000, e->cpu);
		if (e->id) {
			print_typed(e);
			continue;
		}
		printf("raw data=");
		for (i = 0; i < e->len; i++)
			printf("%02x", e->data[i]);
		printf("\n");
	}
	gen_free(&g);
	return 0;
}
