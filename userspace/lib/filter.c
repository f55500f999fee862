// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
/*
 * Filters: which records somebody wants to see.
 *
 *	filter	  = and { "||" and }
 *	and	  = not { "&&" not }
 *	not	  = "!" not | "(" filter ")" | test
 *	test	  = field [ "&" value ] [ operator value | "=~" string | "in" "(" list ")" ]
 *	operator  = "==" | "!=" | "<" | "<=" | ">" | ">="
 *	list	  = value { "," value }
 *	field	  = name { "." name | "[" number "]" }
 *	value	  = number | address [ "/" bits ] | name | string
 *	number	  = [ "-" ] digits | [ "-" ] "0x" hexadecimal digits | "true" | "false" | real
 *	real	  = [ "-" ] digits [ "." [ digits ] ] [ "e" [ "+" | "-" ] digits ]
 *	string	  = one in "" or '', with \" \' \\ \n \t \xNN
 *
 * A name as a value is an enumerator. "&" binds before the comparison. What a value may
 * be is decided by the field, of each type for itself: literal.c, filter_test.c.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "filter.h"

/* Nobody types more than that; recursion and memory are bounded. */
#define TEXT_MAX	(64U << 10)
#define DEPTH_MAX	64
#define TESTS_MAX	1024

enum node_kind { NODE_OR, NODE_AND, NODE_NOT, NODE_TEST };

struct node {
	enum node_kind kind;
	struct node *first;		/* all but TEST: what it is made of ... */
	struct node *next;		/* ... one beside the other */
	struct filter_test *test;
};

struct bpfrelay_filter {
	struct node *root;
};

struct parser {
	const struct bpfrelay_log *log;
	const char *text;
	size_t at;			/* the next character */
	int depth;
	int n_tests;
};

/* ---- Errors ---------------------------------------------------------------------- */

int filter_wrong(const struct say *to, size_t at, const char *fmt, ...)
{
	char text[3072];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	say(to, "filter, column %zu: %s", at + 1, text);
	return -EINVAL;
}

static int unexpected(const struct parser *p, const char *wanted)
{
	const char *s = p->text + p->at;
	size_t len = strcspn(s, " \t\n");

	if (!len)
		return filter_wrong(&p->log->say, p->at, "ends where %s should be", wanted);
	return filter_wrong(&p->log->say, p->at, "'%.*s' where %s should be",
			    len < 40 ? (int)len : 40, s, wanted);
}

/* ---- Words ----------------------------------------------------------------------- */

static void skip_blanks(struct parser *p)
{
	while (isspace((unsigned char)p->text[p->at]))
		p->at++;
}

/* Goes past a sign, if it is the next thing. */
static bool take(struct parser *p, const char *sign)
{
	size_t len = strlen(sign);

	skip_blanks(p);
	if (strncmp(p->text + p->at, sign, len))
		return false;
	p->at += len;
	return true;
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static bool take_word(struct parser *p, const char *word)
{
	if (!take(p, word))
		return false;
	if (!is_word(p->text[p->at]))
		return true;
	p->at -= strlen(word);
	return false;
}

static int parse_value(struct parser *p, struct literal **value)
{
	const char *wrong;
	int err;

	skip_blanks(p);
	err = literal_parse(p->text, &p->at, value, &wrong);
	if (err == -EINVAL)
		return wrong ? filter_wrong(&p->log->say, p->at, "%s", wrong) :
			       unexpected(p, "a number, an address, a name or a \"string\"");
	return err;
}

/* ---- Tests ----------------------------------------------------------------------- */

static int parse_field(struct parser *p, struct filter_test *t)
{
	const char *s;
	size_t len = 0;

	skip_blanks(p);
	t->at = p->at;
	s = p->text + p->at;
	if (!isalpha((unsigned char)*s) && *s != '_')
		return unexpected(p, "a field");
	while (is_word(s[len]) || (s[len] && strchr(".[]", s[len])))
		len++;
	t->path = strndup(s, len);
	p->at += len;
	return t->path ? 0 : -ENOMEM;
}

static int parse_list(struct parser *p, struct filter_test *t)
{
	struct literal **last = &t->values;
	int err;

	if (!take(p, "("))
		return unexpected(p, "(");
	do {
		err = parse_value(p, last);
		if (err)
			return err;
		last = &(*last)->next;
	} while (take(p, ","));
	return take(p, ")") ? 0 : unexpected(p, ", or )");
}

static int parse_operator(struct parser *p, struct filter_test *t)
{
	static const struct {
		const char *sign;
		enum filter_op op;
	} signs[] = {
		{ "==", FILTER_EQ }, { "!=", FILTER_NE }, { "=~", FILTER_GLOB },
		{ "<=", FILTER_LE }, { ">=", FILTER_GE }, { "<", FILTER_LT }, { ">", FILTER_GT },
	};
	size_t i;

	for (i = 0; i < sizeof(signs) / sizeof(signs[0]); i++)
		if (take(p, signs[i].sign)) {
			t->op = signs[i].op;
			return parse_value(p, &t->values);
		}
	if (take_word(p, "in")) {
		t->op = FILTER_IN;
		return parse_list(p, t);
	}
	/* Alone it asks for what is not 0. */
	if (!p->text[p->at] || p->text[p->at] == ')' || !strncmp(p->text + p->at, "&&", 2) ||
	    !strncmp(p->text + p->at, "||", 2))
		return 0;
	return unexpected(p, "==, !=, <, <=, >, >=, =~, in, &, && or ||");
}

static int parse_test(struct parser *p, struct filter_test *t)
{
	int err;

	err = parse_field(p, t);
	skip_blanks(p);
	if (!err && p->text[p->at] == '&' && p->text[p->at + 1] != '&') {
		p->at++;
		err = parse_value(p, &t->mask);
	}
	err = err ?: parse_operator(p, t);
	return err ?: filter_test_resolve(t, p->log);
}

/* ---- Expressions: what was made is in *out, also if it failed ----------------------- */

static int parse_or(struct parser *p, struct node **out);

static struct node *make_node(enum node_kind kind, struct node **out)
{
	*out = calloc(1, sizeof(**out));
	if (*out)
		(*out)->kind = kind;
	return *out;
}

static int parse_not(struct parser *p, struct node **out)
{
	int err;

	if (p->depth == DEPTH_MAX)
		return filter_wrong(&p->log->say, p->at, "more than %d of ! and ( inside one another",
				    DEPTH_MAX);
	if (take(p, "!")) {
		if (!make_node(NODE_NOT, out))
			return -ENOMEM;
		p->depth++;
		err = parse_not(p, &(*out)->first);
		p->depth--;
		return err;
	}
	if (take(p, "(")) {
		p->depth++;
		err = parse_or(p, out);
		p->depth--;
		return err ?: take(p, ")") ? 0 : unexpected(p, "&&, || or )");
	}
	if (p->n_tests++ == TESTS_MAX)
		return filter_wrong(&p->log->say, p->at, "more than %d tests", TESTS_MAX);
	if (!make_node(NODE_TEST, out))
		return -ENOMEM;
	(*out)->test = calloc(1, sizeof(*(*out)->test));
	return (*out)->test ? parse_test(p, (*out)->test) : -ENOMEM;
}

/* One part, or several with a sign between them, which then are side by side. */
static int parse_parts(struct parser *p, const char *sign, enum node_kind kind,
		       int (*parse)(struct parser *p, struct node **out), struct node **out)
{
	struct node *first, **next;
	int err;

	err = parse(p, out);
	if (err || !take(p, sign))
		return err;
	first = *out;
	if (!make_node(kind, out)) {
		*out = first;
		return -ENOMEM;
	}
	(*out)->first = first;
	next = &first->next;
	do {
		err = parse(p, next);
		if (err)
			return err;
		next = &(*next)->next;
	} while (take(p, sign));
	return 0;
}

static int parse_and(struct parser *p, struct node **out)
{
	return parse_parts(p, "&&", NODE_AND, parse_not, out);
}

static int parse_or(struct parser *p, struct node **out)
{
	return parse_parts(p, "||", NODE_OR, parse_and, out);
}

/* ---- Matching ---------------------------------------------------------------------- */

static bool match(const struct node *node, const struct bpfrelay_record *record)
{
	const struct node *part;

	switch (node->kind) {
	case NODE_NOT:
		return !match(node->first, record);
	case NODE_TEST:
		return filter_test_match(node->test, record);
	default:
		/* The first part that decides: one that is true of an OR, false of an AND. */
		for (part = node->first; part; part = part->next)
			if (match(part, record) == (node->kind == NODE_OR))
				return node->kind == NODE_OR;
		return node->kind == NODE_AND;
	}
}

static void free_nodes(struct node *node)
{
	struct node *next;

	for (; node; node = next) {
		next = node->next;
		free_nodes(node->first);
		filter_test_free(node->test);
		free(node);
	}
}

int bpfrelay_filter_new(const struct bpfrelay_log *log, const char *text,
			struct bpfrelay_filter **out)
{
	struct parser p = { .log = log, .text = text };
	struct bpfrelay_filter *filter;
	int err = 0;

	*out = NULL;
	if (strlen(text) > TEXT_MAX)
		return filter_wrong(&log->say, TEXT_MAX, "longer than %u bytes", TEXT_MAX);
	filter = calloc(1, sizeof(*filter));
	if (!filter)
		return -ENOMEM;
	err = parse_or(&p, &filter->root);
	/* The last take() went past the blanks. */
	if (!err && p.text[p.at])
		err = unexpected(&p, "&& or ||");
	if (err) {
		bpfrelay_filter_free(filter);
		return err;
	}
	*out = filter;
	return 0;
}

bool bpfrelay_filter_match(const struct bpfrelay_filter *filter,
			   const struct bpfrelay_record *record)
{
	return match(filter->root, record);
}

void bpfrelay_filter_free(struct bpfrelay_filter *filter)
{
	if (!filter)
		return;
	free_nodes(filter->root);
	free(filter);
}
