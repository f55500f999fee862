// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "comment.h"
#include "shape.h"

#define MARK	"bpf_relay:"

/* Kinds that TSDL has as something else. */
static const struct {
	const char *name;
	__u16 kind;
} kinds[] = {
	{ "bool", BPF_RELAY_BOOL },
	{ "enum", BPF_RELAY_ENUM },	/* without names it is a number */
	{ "int", BPF_RELAY_INT },	/* hexadecimal numbers have no sign */
	{ "uint", BPF_RELAY_UINT },	/* an IPv4 address is bytes */
};

#define N_KINDS	(sizeof(kinds) / sizeof(kinds[0]))

__u32 comment_least_size(__u32 bits)
{
	return bits <= 8 ? 1 : bits <= 16 ? 2 : bits <= 32 ? 4 : 8;
}

/* ---- Writing ---------------------------------------------------------------------- */

/* A comment in the making: begins with the mark, and is none without a word behind it. */
struct making {
	char *to;
	size_t len;
};

static __attribute__((format(printf, 2, 3)))
void put(struct making *m, const char *fmt, ...)
{
	size_t room = COMMENT_MAX - m->len;
	va_list args;
	int n;

	va_start(args, fmt);
	n = vsnprintf(m->to + m->len, room, fmt, args);
	va_end(args);
	if (n > 0)
		m->len += (size_t)n < room ? (size_t)n : room - 1;
}

static bool is_disguised(const struct bpf_relay_field *f, bool enumerators)
{
	switch (f->kind) {
	case BPF_RELAY_BOOL:
		return true;
	case BPF_RELAY_ENUM:
		return !enumerators;
	case BPF_RELAY_INT:
		return f->hint == BPF_RELAY_HINT_HEX;
	case BPF_RELAY_UINT:
		return f->hint == BPF_RELAY_HINT_IPV4;
	default:
		return false;
	}
}

void comment_format(const struct bpf_relay_field *table, const struct bpf_relay_field *f,
		    bool enumerators, char to[COMMENT_MAX])
{
	struct making m = { .to = to };
	size_t i, mark;

	put(&m, MARK);
	mark = m.len;
	for (i = 0; i < N_KINDS && is_disguised(f, enumerators); i++)
		if (kinds[i].kind == f->kind)
			put(&m, " %s", kinds[i].name);
	if (f->flags & BPF_RELAY_FIELD_BE && f->hint == BPF_RELAY_HINT_IPV4)
		put(&m, " be");
	if (f->bits && f->size != comment_least_size(f->bits))
		put(&m, " size %u", f->size);
	if (f->hint)
		put(&m, " %s", hint_name(f->hint));
	if (f->hint == BPF_RELAY_HINT_PACKET && f->value < (__u64)(f - table))
		put(&m, " %s", table[f->value].name);
	if (m.len == mark)
		to[0] = '\0';
}

/* ---- Reading ---------------------------------------------------------------------- */

struct words {
	const char *next, *end;
	const char *s;
	size_t len;
};

static bool next_word(struct words *w)
{
	while (w->next < w->end && (*w->next == ' ' || *w->next == '\t'))
		w->next++;
	w->s = w->next;
	while (w->next < w->end && *w->next != ' ' && *w->next != '\t')
		w->next++;
	w->len = w->next - w->s;
	return w->len;
}

static bool is_word(const struct words *w, const char *s)
{
	return w->len == strlen(s) && !memcmp(w->s, s, w->len);
}

static bool parse_word(struct words *w, struct comment *c)
{
	size_t i;

	for (i = 0; i < N_KINDS; i++) {
		if (is_word(w, kinds[i].name)) {
			c->kind = kinds[i].kind;
			return true;
		}
	}
	if (is_word(w, "be")) {
		c->is_be = true;
		return true;
	}
	if (is_word(w, "size")) {
		if (!next_word(w) || w->len != 1 || !memchr("1248", *w->s, 4))
			return false;
		c->size = *w->s - '0';
		return true;
	}
	c->hint = hint_by_name(w->s, w->len);
	if (c->hint == BPF_RELAY_HINT_PACKET && next_word(w)) {
		if (w->len >= sizeof(c->length))
			return false;
		memcpy(c->length, w->s, w->len);
	}
	return c->hint;
}

void comment_parse(const char *s, size_t len, struct comment *c)
{
	struct words w = { .next = s, .end = s + len };

	memset(c, 0, sizeof(*c));
	if (!next_word(&w) || !is_word(&w, MARK))
		return;
	while (next_word(&w)) {
		if (!parse_word(&w, c)) {
			memset(c, 0, sizeof(*c));
			return;
		}
	}
}
