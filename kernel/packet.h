/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From the copy of a sub-buffer to a CTF packet that any reader accepts. Works
 * on private memory only; like ring.c it compiles in user space.
 */
#ifndef _BPF_RELAY_PACKET_H
#define _BPF_RELAY_PACKET_H

#include "ring.h"

struct packet {
	u64 timestamp_end;	/* the last record's; 0 without records */
	u32 nrec;
	u32 content;		/* bytes, up to the last byte of the last record */
	bool damaged;		/* ended at something that is no record */
};

/* What of a type of record decides how it looks in a packet. */
struct packet_type {
	u32 least;	/* bytes that every record has */
	/* Of a valid table that has padding; otherwise NULL. */
	u32 n_fields;
	const struct bpf_relay_field *fields;
	/* The flexible field at the end: bytes before it, bytes of an element; 0: none. */
	u32 offset;
	u32 elem;
};

/* Of records of `size` bytes, or more, with a valid table of n fields, which stays; 0: none. */
void packet_type_init(struct packet_type *type, u32 size, const struct bpf_relay_field *table,
		      u32 n);

/*
 * Walk the records in the first len bytes of a sub-buffer's copy; take the
 * discarded ones out (moving the others down); cut those with a flexible field to
 * whole elements, with their number in bpf_relay_header.len; zero what is padding
 * in them, and everything behind the last. The packet header is left alone. types is
 * by id, BPF_RELAY_TYPES_MAX of them, or NULL.
 */
void packet_compact(void *copy, u32 len, u32 subbuf_size, const struct packet_type *types,
		    struct packet *p);

#endif /* _BPF_RELAY_PACKET_H */
