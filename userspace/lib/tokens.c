// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tokens.h"

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Goes past blanks and comments; false if a comment has no end. */
static bool skip_blanks(struct tokens *t)
{
	const char *s = t->next;

	t->comment = NULL;
	for (; s < t->end; s++) {
		if (t->end - s >= 2 && s[0] == '/' && s[1] == '*') {
			s += 2;
			for (t->comment = s; t->end - s >= 2 && (s[0] != '*' || s[1] != '/'); s++)
				t->line += *s == '\n';
			if (t->end - s < 2)
				return false;
			t->comment_len = s - t->comment;
			s++;
		} else if (!isspace((unsigned char)*s)) {
			break;
		} else {
			t->line += *s == '\n';
		}
	}
	t->next = s;
	return true;
}

void tokens_next(struct tokens *t)
{
	const char *s;
	bool closed;

	closed = skip_blanks(t);
	t->s = s = t->next;
	if (!closed) {
		t->kind = TOKEN_WRONG;
		s = t->end;
	} else if (s == t->end) {
		t->kind = TOKEN_END;
	} else if (*s == '"') {
		t->s = ++s;
		while (s < t->end && *s != '"' && *s != '\\' && *s != '\n')
			s++;
		t->kind = s < t->end && *s == '"' ? TOKEN_STRING : TOKEN_WRONG;
		t->len = s - t->s;
		t->next = t->kind == TOKEN_STRING ? s + 1 : t->end;
		return;
	} else if (isdigit((unsigned char)*s) ||
		   (*s == '-' && t->end - s >= 2 && isdigit((unsigned char)s[1]))) {
		t->kind = TOKEN_NUMBER;
		for (s++; s < t->end && isdigit((unsigned char)*s); s++)
			;
		if (s < t->end && is_word(*s))
			t->kind = TOKEN_WRONG;
	} else if (is_word(*s)) {
		t->kind = TOKEN_WORD;
		while (s < t->end && is_word(*s))
			s++;
	} else if (*s == ':' && t->end - s >= 2 && s[1] == '=') {
		t->kind = TOKEN_SIGN;
		s += 2;
	} else {
		t->kind = *s && strchr("{}()[];:,=.", *s) ? TOKEN_SIGN : TOKEN_WRONG;
		s++;
	}
	t->len = s - t->s;
	t->next = s;
}

void tokens_init(struct tokens *t, const char *text, size_t len)
{
	memset(t, 0, sizeof(*t));
	t->line = 1;
	t->next = text;
	t->end = text + len;
	tokens_next(t);
}

bool tokens_is(const struct tokens *t, const char *s)
{
	return (t->kind == TOKEN_WORD || t->kind == TOKEN_SIGN) && t->len == strlen(s) &&
	       !memcmp(t->s, s, t->len);
}

bool tokens_skip(struct tokens *t, const char *text)
{
	struct tokens want;

	for (tokens_init(&want, text, strlen(text)); want.kind != TOKEN_END; tokens_next(&want)) {
		if (t->kind != want.kind || t->len != want.len || memcmp(t->s, want.s, t->len))
			return false;
		tokens_next(t);
	}
	return true;
}

bool tokens_number(const struct tokens *t, __s64 *number)
{
	char digits[24], *end;

	if (t->kind != TOKEN_NUMBER || t->len >= sizeof(digits))
		return false;
	memcpy(digits, t->s, t->len);
	digits[t->len] = '\0';
	errno = 0;
	/* An enumerator may be an unsigned number of 64 bits. */
	*number = *digits == '-' ? strtoll(digits, &end, 10) : (__s64)strtoull(digits, &end, 10);
	return !errno && !*end;
}
