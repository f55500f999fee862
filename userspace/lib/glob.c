// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
/*
 * Patterns, as fnmatch(3) has them in the C locale, but for [:classes:]. Whatever the
 * pattern, a text takes at most its length times the pattern's: of several "*" only the
 * last one is ever tried again, for what is before it matches as little as it can.
 */
#include "filter.h"

/*
 * Behind the "]" of the set that begins behind the "[" at `p`; NULL: it has no end, and
 * the "[" is one like others. *in is whether c is in it.
 */
static const char *match_set(const char *p, unsigned char c, bool *in)
{
	bool inverted = *p == '!' || *p == '^';
	unsigned char from, to;
	const char *first;

	*in = false;
	p += inverted;
	for (first = p; *p != ']' || p == first; ) {
		if (*p == '\\' && p[1])
			p++;
		if (!*p)
			return NULL;
		from = to = *p++;
		if (*p == '-' && p[1] && p[1] != ']') {
			p++;
			if (*p == '\\' && p[1])
				p++;
			to = *p++;
		}
		*in |= from <= c && c <= to;
	}
	*in ^= inverted;
	return p + 1;
}

/* Behind the piece of the pattern at `p`, which is no "*", if c matches it; or NULL. */
static const char *match_one(const char *p, unsigned char c)
{
	const char *behind;
	bool in;

	if (*p == '?')
		return p + 1;
	if (*p == '[') {
		behind = match_set(p + 1, c, &in);
		if (behind)
			return in ? behind : NULL;
	}
	if (*p == '\\' && !*++p)
		return NULL;
	return (unsigned char)*p == c ? p + 1 : NULL;
}

bool glob_match(const char *pattern, const char *text, size_t len)
{
	const char *p = pattern, *star = NULL, *behind;
	size_t at = 0, from = 0;	/* what the last "*" leaves begins there */

	while (at < len) {
		if (*p == '*') {
			star = ++p;
			from = at;
			continue;
		}
		behind = *p ? match_one(p, text[at]) : NULL;
		if (behind) {
			p = behind;
			at++;
		} else if (star) {
			p = star;
			at = ++from;
		} else {
			return false;
		}
	}
	while (*p == '*')
		p++;
	return !*p;
}
