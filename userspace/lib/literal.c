// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
/* Values in filters: numbers, addresses, names, text in quotes. */
#define _GNU_SOURCE	/* strtod_l() */
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "filter.h"

static bool parse_number(const char *text, struct number *number)
{
	const char *digits = text + (*text == '-');
	int base = digits[0] == '0' && (digits[1] | 0x20) == 'x' ? 16 : 10;
	char *end;

	if (!strcmp(text, "true") || !strcmp(text, "false")) {
		*number = (struct number) { .bits = *text == 't' };
		return true;
	}
	if (!isdigit((unsigned char)*digits))
		return false;
	errno = 0;
	number->bits = strtoull(digits, &end, base);
	/* The x of 0x alone. */
	if (errno || *end)
		return false;
	number->negative = digits > text && number->bits;
	if (number->negative) {
		if (number->bits > 1ULL << 63)
			return false;
		number->bits = -number->bits;
	}
	return true;
}

/* Decimal: 0.5, -1e-3, 5. With a point, whatever the caller's locale has. */
static bool parse_real(const char *text, double *real)
{
	const char *digits = text + (*text == '-');
	bool good = false;
	locale_t c;
	char *end;

	/* No nan, no infinity, no hexadecimal one. */
	if (!isdigit((unsigned char)*digits) || strpbrk(digits, "xX"))
		return false;
	c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	if (!c)
		return false;
	*real = strtod_l(text, &end, c);
	good = !*end;
	freelocale(c);
	return good;
}

/* "/24", or nothing: all of the address. */
static bool parse_prefix(const char *slash, unsigned int max, __u8 *bits)
{
	unsigned long n;
	char *end;

	if (!slash) {
		*bits = max;
		return true;
	}
	if (!isdigit((unsigned char)slash[1]))
		return false;
	n = strtoul(slash + 1, &end, 10);
	*bits = n;
	return !*end && n <= max;
}

static void parse_ip(const char *text, int family, struct address *address)
{
	const char *slash = strchr(text, '/');
	size_t len = slash ? (size_t)(slash - text) : strlen(text);
	char alone[INET6_ADDRSTRLEN];

	if (len >= sizeof(alone))
		return;
	memcpy(alone, text, len);
	alone[len] = '\0';
	address->valid = inet_pton(family, alone, address->bytes) == 1 &&
			 parse_prefix(slash, family == AF_INET ? 32 : 128, &address->bits);
}

static void parse_mac(const char *text, struct address *address)
{
	__u8 *a = address->bytes;
	int len = 0;

	/* sscanf() would skip blanks and take signs. */
	address->bits = 48;
	address->valid = !text[strspn(text, "0123456789abcdefABCDEF:")] &&
			 sscanf(text, "%2hhx:%2hhx:%2hhx:%2hhx:%2hhx:%2hhx%n", &a[0], &a[1], &a[2],
				&a[3], &a[4], &a[5], &len) == 6 && !text[len];
}

static int hex_digit(char c)
{
	if (!isxdigit((unsigned char)c))
		return -1;
	return isdigit((unsigned char)c) ? c - '0' : (c | 0x20) - 'a' + 10;
}

/* The character behind a backslash at *s, of which *s becomes the last; -1: there is no such. */
static int unescape(const char **s)
{
	int high, low;

	switch (**s) {
	case '"':
	case '\'':
	case '\\':
		return **s;
	case 'n':
		return '\n';
	case 't':
		return '\t';
	case 'x':
		high = hex_digit((*s)[1]);
		low = high < 0 ? -1 : hex_digit((*s)[2]);
		if (low < 0)
			return -1;
		*s += 2;
		/* Text ends there. */
		return high * 16 + low ?: -1;
	default:
		return -1;
	}
}

/* From behind the first quote on; there is room for all of it. */
static int parse_string(const char *text, size_t *at, char *to, const char **wrong)
{
	const char *s = text + *at, quote = *s++;
	int c;

	for (; *s && *s != quote; s++) {
		c = (unsigned char)*s;
		if (c == '\\') {
			s++;
			c = unescape(&s);
			if (c < 0) {
				*wrong = "no such escape: there are \\\" \\' \\\\ \\n \\t and \\x01 to \\xff";
				*at = s - text;
				return -EINVAL;
			}
		}
		*to++ = c;
	}
	*to = '\0';
	if (!*s) {
		*wrong = "a string without its end";
		return -EINVAL;
	}
	*at = s + 1 - text;
	return 0;
}

static size_t word_length(const char *s)
{
	static const char word[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				   "0123456789_.:/";
	size_t sign = *s == '-', len = sign + strspn(s + sign, word);

	/* 1e-5 goes on behind its sign. */
	if (len > sign + 1 && (s[len - 1] | 0x20) == 'e' && (s[len] == '-' || s[len] == '+') &&
	    strspn(s + sign, "0123456789.") == len - sign - 1)
		len += 1 + strspn(s + len + 1, word);
	return len;
}

int literal_parse(const char *text, size_t *at, struct literal **out, const char **wrong)
{
	const char *s = text + *at;
	bool quoted = *s == '"' || *s == '\'';
	size_t len = quoted ? strlen(s) : word_length(s);
	struct literal *l;
	int err;

	*out = NULL;
	if (!len) {
		*wrong = NULL;
		return -EINVAL;
	}
	l = calloc(1, sizeof(*l) + len + 1);
	if (!l)
		return -ENOMEM;
	l->at = *at;
	l->quoted = quoted;
	if (quoted) {
		err = parse_string(text, at, l->text, wrong);
		if (err) {
			free(l);
			return err;
		}
	} else {
		memcpy(l->text, s, len);
		*at += len;
		l->is_number = parse_number(l->text, &l->number);
		l->is_real = l->is_number || parse_real(l->text, &l->real);
		if (l->is_number)
			l->real = l->number.negative ? (double)(__s64)l->number.bits :
						       (double)l->number.bits;
	}
	parse_ip(l->text, AF_INET, &l->ipv4);
	parse_ip(l->text, AF_INET6, &l->ipv6);
	parse_mac(l->text, &l->mac);
	*out = l;
	return 0;
}

void literal_free(struct literal *l)
{
	struct literal *next;

	for (; l; l = next) {
		next = l->next;
		free(l);
	}
}
