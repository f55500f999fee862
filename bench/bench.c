// SPDX-License-Identifier: GPL-2.0-only
/*
 * The benchmark's part in the guest: bench PART...
 *
 *	exact		what each call costs: all mechanisms, all sizes
 *	gate		the few of them that the regression gate looks at
 *	within		our calls inside of a sub-buffer
 *	reader		our calls with and without somebody who reads
 *	snapshot	reading 64 MiB
 *	together	records per second on 1, 2 and 4 CPUs at once
 *	events		real events
 *
 * Prints one JSON object a line. Both modules are loaded: bpf_relay and bench_peers.
 */
#include "parts.h"

#include <stdio.h>
#include <string.h>

static const struct {
	const char *name;
	void (*run)(void);
} parts[] = {
	{ "exact", exact_all },
	{ "gate", exact_gate },
	{ "within", exact_within },
	{ "reader", reading_reader },
	{ "snapshot", reading_snapshot },
	{ "together", together },
	{ "events", events },
};

int main(int argc, char **argv)
{
	unsigned int i, j;

	setlinebuf(stdout);
	for (i = 1; i < argc; i++) {
		for (j = 0; j < sizeof(parts) / sizeof(*parts); j++)
			if (!strcmp(argv[i], parts[j].name))
				break;
		if (j == sizeof(parts) / sizeof(*parts)) {
			fprintf(stderr, "bench: no part %s\n", argv[i]);
			return 2;
		}
		parts[j].run();
	}
	return 0;
}
