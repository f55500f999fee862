/* SPDX-License-Identifier: GPL-2.0-only */
/* What the fuzz targets share. */
#ifndef _FUZZ_CHECK_H
#define _FUZZ_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/bpf_relay.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* A property. libFuzzer keeps the input of a process that ends like this. */
#define must(cond)								\
do {										\
	if (!(cond)) {								\
		fprintf(stderr, "%s:%d: property does not hold: %s\n", __FILE__, \
			__LINE__, #cond);					\
		abort();							\
	}									\
} while (0)

/* A copy of its own, exactly as large: one byte beyond it is noticed. */
static inline void *copy_of(const void *bytes, size_t len)
{
	void *copy = malloc(len);

	must(copy || !len);
	if (len)
		memcpy(copy, bytes, len);
	return copy;
}

/*
 * table.c: what <linux/bpf_relay.h> promises of a table that describes a record of
 * `size` bytes, or of more (`var`); of one that we made also that its names differ.
 * Returns what each bit of the record belongs to, to be freed; NULL if it is too large.
 */
enum { MARK_NONE, MARK_FIELD, MARK_PAD };

uint8_t *table_must_hold(const struct bpf_relay_field *fields, uint32_t n, uint32_t size, bool var,
			 bool ours);

/*
 * mutate_fields.c: one of many ways for field number i to be another; false if there are
 * fewer ways than that.
 */
bool change_field(struct bpf_relay_field *f, uint32_t i, uint32_t which);

/* text.c: what keeps a block of TSDL from saying anything about others. */
void text_must_hold(const char *text, size_t len);

#endif /* _FUZZ_CHECK_H */
