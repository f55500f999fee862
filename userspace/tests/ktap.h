/* SPDX-License-Identifier: GPL-2.0-only */
/* KTAP output of the unit tests. */
#ifndef __TESTS_KTAP_H__
#define __TESTS_KTAP_H__

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

static int ktap_run, ktap_failed;

static inline void ktap_begin(void)
{
	printf("KTAP version 1\n");
	/* Not lost, and in order, if the test crashes. */
	setvbuf(stdout, NULL, _IOLBF, 0);
}

__attribute__((format(printf, 2, 3)))
static inline bool ktap_ok(bool ok, const char *fmt, ...)
{
	va_list args;

	ktap_failed += !ok;
	printf("%sok %d ", ok ? "" : "not ", ++ktap_run);
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	printf("\n");
	return ok;
}

/* Returns an exit status. */
static inline int ktap_end(void)
{
	printf("1..%d\n# %d passed, %d failed\n", ktap_run, ktap_run - ktap_failed, ktap_failed);
	return !!ktap_failed;
}

#endif /* __TESTS_KTAP_H__ */
