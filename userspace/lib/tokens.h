/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Inside the library: the words of CTF's TSDL. */
#ifndef __TOKENS_H__
#define __TOKENS_H__

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

enum token_kind {
	TOKEN_END,
	TOKEN_WORD,		/* a C identifier, keywords too */
	TOKEN_NUMBER,		/* decimal, perhaps with a minus */
	TOKEN_STRING,		/* s and len are without the quotes */
	TOKEN_SIGN,		/* one character, or := */
	TOKEN_WRONG,		/* none of these, or a string or comment without an end */
};

struct tokens {
	enum token_kind kind;	/* of the current one */
	const char *s;
	size_t len;
	int line;
	const char *comment;	/* between the signs of the last one before it; NULL: none */
	size_t comment_len;
	const char *next;	/* what is behind it */
	const char *end;
};

/* The first one of a text becomes the current one. */
void tokens_init(struct tokens *t, const char *text, size_t len);
void tokens_next(struct tokens *t);

/* Whether the current one is `s`: a word or a sign. */
bool tokens_is(const struct tokens *t, const char *s);

/* Goes past all tokens of `text`, which are the next ones; else stops at the first that differs. */
bool tokens_skip(struct tokens *t, const char *text);

/* The value of the current one; false if it is no number or too large. */
bool tokens_number(const struct tokens *t, __s64 *number);

#endif /* __TOKENS_H__ */
