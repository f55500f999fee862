/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef _BPF_RELAY_FIELDS_H
#define _BPF_RELAY_FIELDS_H

#include "ring_access.h"

/* Structs and arrays inside one another; more is no record that anybody could read. */
#define FIELDS_DEPTH_MAX 16

/*
 * Whether a field table describes a record of `size` bytes, or of that many and more
 * (`var`): every field inside its parent, in the order of memory, without holes or
 * overlaps, named by a C identifier, hinted at only what its kind can be. Whoever
 * follows such a table stays inside the record. The table is whatever a caller
 * handed us; it must not change meanwhile. `n` is its number of fields. Pure;
 * compiles in user space.
 */
bool fields_valid(const struct bpf_relay_field *table, u32 n, u32 size, bool var);

/* Of a valid table: the field with which records of any length end, or NULL. */
static inline const struct bpf_relay_field *fields_flexible(const struct bpf_relay_field *table,
							    u32 n)
{
	while (n--)
		if (!table[n].depth)
			return table[n].count ? NULL : &table[n];
	return NULL;
}

/* Whether s is a C identifier that ends with a NUL within max bytes. */
bool fields_identifier(const char *s, u32 max);

#endif /* _BPF_RELAY_FIELDS_H */
