/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The record types of one log. They grow until the log is opened, then they are
 * frozen. types_add() and types_largest() are called with log_mutex held;
 * type_copy() is not: it reads the caller's memory.
 */
#ifndef _BPF_RELAY_TYPES_H
#define _BPF_RELAY_TYPES_H

#include <linux/bpf_relay.h>
#include <linux/types.h>

#include "packet.h"

struct relay_type {
	struct bpf_relay_type desc;	/* without the addresses in user space */
	char *tsdl;			/* desc.tsdl_len bytes, or NULL */
	struct bpf_relay_field *fields;	/* desc.fields_len bytes, or NULL */
};

/* A type as the write path sees it: its size; with TYPE_VAR, its least; or none. */
#define TYPE_VAR	(1ULL << 32)
#define TYPE_NONE	(1ULL << 33)

struct relay_types {
	u32 n;
	u64 rule[BPF_RELAY_TYPES_MAX];
	struct packet_type packet[BPF_RELAY_TYPES_MAX];
	struct relay_type *type[BPF_RELAY_TYPES_MAX];
};

void types_init(struct relay_types *t);
void types_free(struct relay_types *t);

/* Check and copy what a caller described; may sleep. Free with type_free(). */
struct relay_type *type_copy(const struct bpf_relay_type *desc);
void type_free(struct relay_type *type);

/* Takes the type over on success. -EALREADY: an equal one is there; -ESTALE: another. */
int types_add(struct relay_types *t, struct relay_type *type, const char *log, bool frozen);

/* Bytes of payload that every type must find room for in a sub-buffer. */
u32 types_largest(const struct relay_types *t);

/* 0, or the drop counter for a record of len bytes. Any context. */
static inline enum bpf_relay_counter types_check(const struct relay_types *t, u64 id, size_t len)
{
	u64 rule;

	if (unlikely(id >= BPF_RELAY_TYPES_MAX))
		return BPF_RELAY_dropped_type;
	rule = t->rule[id];
	if (likely(rule == len))
		return 0;
	if (rule == TYPE_NONE)
		return BPF_RELAY_dropped_type;
	return rule & TYPE_VAR && len >= (u32)rule ? 0 : BPF_RELAY_dropped_size;
}

#endif /* _BPF_RELAY_TYPES_H */
