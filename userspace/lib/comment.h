/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Inside the library: what TSDL has no words for, in a comment behind the field, so that
 * a copy says all that the log said. Documentation/format.rst has the words.
 */
#ifndef __COMMENT_H__
#define __COMMENT_H__

#include <stdbool.h>
#include <stddef.h>
#include <linux/bpf_relay.h>

#define COMMENT_MAX	96	/* bytes, with a NUL */

/* What a comment says of a field; all zeroes if it says nothing. */
struct comment {
	__u16 kind;		/* enum bpf_relay_kind; 0: as TSDL has it */
	__u8 hint;		/* enum bpf_relay_hint */
	__u8 size;		/* of a bit-field's C type; 0: the least that holds it */
	bool is_be;
	char length[sizeof(((struct bpf_relay_field *)0)->name)]; /* packet: a field's name */
};

/* Bytes of the smallest integer that holds so many bits. */
__u32 comment_least_size(__u32 bits);

/*
 * What is to be said of a field of the table, which TSDL has with its enumerators or
 * without; "" if nothing.
 */
void comment_format(const struct bpf_relay_field *table, const struct bpf_relay_field *f,
		    bool enumerators, char to[COMMENT_MAX]);

/*
 * Reads what is between the signs of a comment. One that is not ours, or has words that
 * this version does not know, says nothing.
 */
void comment_parse(const char *s, size_t len, struct comment *comment);

#endif /* __COMMENT_H__ */
