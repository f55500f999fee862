/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One record as text, by the field table of its type: name=value, separated by
 * single spaces. Documentation/format.rst has the syntax. Pure, like ring.c;
 * compiles in user space.
 */
#ifndef _BPF_RELAY_RENDER_H
#define _BPF_RELAY_RENDER_H

#include "ring_access.h"

#ifndef __printf
#define __printf(fmt, args)	__attribute__((format(printf, fmt, args)))
#endif

/*
 * A window on a text of any length. All of the text is counted, and its bytes
 * from skip on are stored, at most room of them: who has little memory renders
 * again with a larger skip. Nothing more is put once it is render_full().
 */
struct render {
	char *to;
	size_t skip;
	size_t room;
	size_t len;	/* of the text so far */
};

/* A record, in memory that nobody else writes to. */
struct render_record {
	const u8 *payload;
	u32 have;	/* bytes of it that are at `payload` ... */
	u32 len;	/* ... and that there are */
	u32 n_fields;	/* 0: a record of bytes */
	const struct bpf_relay_field *fields;	/* fields_valid() */
};

/* Whether there is text behind the window. */
static inline bool render_full(const struct render *r)
{
	return r->len > r->skip + r->room;
}

void render_bytes(struct render *r, const char *s, size_t n);
/* Up to RENDER_PIECE bytes at once. */
__printf(2, 3) void render_printf(struct render *r, const char *fmt, ...);

#define RENDER_PIECE	128

/* What is not shown of it is counted at the end: "...+123 bytes". */
void render_record(struct render *r, const struct render_record *rec);

/* ---- Supplied by whoever links it ---------------------------------------- */

#define RENDER_SYMBOL_MAX	768
#define RENDER_IPV6_MAX		48

/* sym+0x1/0x2 without spaces, or the address as 0x...; with a NUL. The text is r's. */
void render_symbol(const struct render *r, char to[RENDER_SYMBOL_MAX], u64 addr);
/* The 16 bytes of an address as RFC 5952 has it; with a NUL. */
void render_ipv6(char to[RENDER_IPV6_MAX], const u8 *addr);

#endif /* _BPF_RELAY_RENDER_H */
