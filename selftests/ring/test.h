/* SPDX-License-Identifier: GPL-2.0-only */
/* KTAP in one page: every test runs in its own process and ends at its first failed CHECK. */
#ifndef _RING_TEST_H
#define _RING_TEST_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "ring.h"
#include "packet.h"

struct test {
	const char *name;
	void (*run)(void);
	struct test *next;
};

void test_add(struct test *t);

#define TEST(id, title)								\
	static void id(void);							\
	static struct test id##_test = { .name = title, .run = id };		\
	__attribute__((constructor)) static void id##_add(void)			\
	{									\
		test_add(&id##_test);						\
	}									\
	static void id(void)

#define CHECK(cond, ...)							\
	do {									\
		if (!(cond)) {							\
			printf("# %s:%d: %s:", __FILE__, __LINE__, #cond);	\
			printf(" " __VA_ARGS__);					\
			printf("\n");						\
			fflush(stdout);						\
			_exit(1);						\
		}								\
	} while (0)

#define note(...)								\
	do {									\
		printf("# " __VA_ARGS__);					\
		printf("\n");							\
	} while (0)

typedef unsigned long long ull;

/* The same sequence in every run; never 0. */
static inline u64 test_random(u64 *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

#endif /* _RING_TEST_H */
