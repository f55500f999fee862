/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Inside the library: what a filter is made of. */
#ifndef __FILTER_H__
#define __FILTER_H__

#include "trace.h"
#include "value.h"

/* ---- literal.c: a value as it is written in a filter ---- */

struct number {
	bool negative;
	__u64 bits;		/* of a negative one, as an __s64 has them */
};

/* `bits` bits of an address must be these. */
struct address {
	bool valid;
	__u8 bits;
	__u8 bytes[16];
};

/* What may be meant is decided by the field: 10 is a number, or a name, or ... */
struct literal {
	struct literal *next;		/* in a list */
	size_t at;			/* where it begins in the filter */
	bool quoted;
	bool is_number;
	bool is_real;			/* a number, or one with a point or an exponent */
	struct number number;
	double real;
	struct address ipv4, ipv6, mac;
	char text[];			/* without quotes and escapes */
};

/*
 * Reads the one at text + *at, of which *at becomes the end. 0; -ENOMEM; -EINVAL: *wrong
 * says why, and *at is where.
 */
int literal_parse(const char *text, size_t *at, struct literal **literal, const char **wrong);

/* All of a list. */
void literal_free(struct literal *list);

/* ---- glob.c ---- */

bool glob_match(const char *pattern, const char *text, size_t len);

/* ---- filter_test.c: a field, and what is asked of it ---- */

enum filter_op {
	FILTER_TRUE,		/* not 0 */
	FILTER_EQ, FILTER_NE, FILTER_LT, FILTER_LE, FILTER_GT, FILTER_GE,
	FILTER_GLOB,
	FILTER_IN,
};

struct filter_test {
	size_t at;		/* where it begins in the filter */
	char *path;
	struct literal *mask;	/* NULL: none */
	enum filter_op op;
	struct literal *values;
	/* Of each type; without a field, if the test is false for all of its records. */
	struct place place[BPF_RELAY_TYPES_MAX];
};

/*
 * Finds the field in the log's types. 0; -EINVAL, having said so, if the test makes sense
 * for none of them.
 */
int filter_test_resolve(struct filter_test *test, const struct bpfrelay_log *log);

bool filter_test_match(const struct filter_test *test, const struct bpfrelay_record *record);

void filter_test_free(struct filter_test *test);

/* Says what is wrong at a position. -EINVAL. */
int filter_wrong(const struct say *to, size_t at, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif /* __FILTER_H__ */
