/* SPDX-License-Identifier: GPL-2.0-only */
/* What bench.c runs, by the name of its files. Each prints its results. */
#ifndef _BENCH_PARTS_H
#define _BENCH_PARTS_H

void exact_all(void);
void exact_gate(void);
void exact_within(void);
void reading_reader(void);
void reading_snapshot(void);
void together(void);
void events(void);

#endif /* _BENCH_PARTS_H */
