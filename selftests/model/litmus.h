/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Runs a litmus test, in the C that herd7 reads for the LKMM, on the memory that
 * the ring is explored on. What is understood: READ_ONCE, WRITE_ONCE,
 * smp_load_acquire, smp_store_release, smp_wmb, smp_rmb, smp_mb; constants; an
 * exists clause that is a conjunction; in comments "Result: Never" or "Sometimes",
 * and "P0 ring.c: " before a line of ring.c that a statement of P0 stands for.
 */
#ifndef _MODEL_LITMUS_H
#define _MODEL_LITMUS_H

#include <string>
#include <vector>

struct Litmus {
	std::string name;
	bool expected;		/* that the state of its exists clause can be reached */
	bool found;		/* whether it can */
	unsigned long executions;
	std::string error;	/* not understood */
	std::vector<std::string> lines;	/* of ring.c, that it stands for */
};

Litmus litmus_run(const std::string &path);

#endif /* _MODEL_LITMUS_H */
