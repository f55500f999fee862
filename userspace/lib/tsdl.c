// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
/*
 * From the table of fields to the CTF 1.8 text (TSDL) of a record type.
 *
 * Where a field lies is decided by the fields before it and nothing else: all
 * of them are byte-aligned, bit-fields are not aligned at all, and padding is a
 * field of its own. So packed structs need no special case, and no rule of CTF's
 * own about alignment can differ from what the compiler did.
 */
#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../kernel/fields.h"
#include "bpfrelay.h"
#include "comment.h"

#define INDENT_MAX	12
#define NAME_SIZE	64	/* of a field, and what makes one of it that is free */

struct text {
	char *buf;	/* BPF_RELAY_TEXT_MAX bytes and a NUL */
	size_t len;
	int err;	/* sticky; -E2BIG once the text does not fit */
	bool names;	/* enumerators, too */
	bool comments;	/* and what TSDL has no words for */
	const struct bpf_relay_field *fields;
	char length[NAME_SIZE + 1];	/* the field that has the length of the flexible one */
};

static __attribute__((format(printf, 2, 3)))
void put(struct text *t, const char *fmt, ...)
{
	size_t room = BPF_RELAY_TEXT_MAX + 1 - t->len;
	va_list args;
	int n;

	if (t->err)
		return;
	va_start(args, fmt);
	n = vsnprintf(t->buf + t->len, room, fmt, args);
	va_end(args);
	if (n < 0 || (size_t)n >= room)
		t->err = -E2BIG;
	else
		t->len += n;
}

static void indent(struct text *t, int depth)
{
	int tabs = depth + 2;

	put(t, "%.*s", tabs < INDENT_MAX ? tabs : INDENT_MAX, "\t\t\t\t\t\t\t\t\t\t\t\t");
}

/* The fields have names of their own: made longer until none of them has this one. */
static void make_free(struct text *t, char *name, const struct bpf_relay_field *siblings,
		      const struct bpf_relay_field *end)
{
	const struct bpf_relay_field *s;
	size_t len = strlen(name);

	for (s = siblings; s < end && s->depth >= siblings->depth; s++) {
		if (s->depth != siblings->depth || strcmp(s->name, name))
			continue;
		if (len == NAME_SIZE - 1) {
			t->err = -E2BIG;
			return;
		}
		name[len++] = '_';
		name[len] = '\0';
		s = siblings - 1;
	}
}

static void put_padding(struct text *t, const struct bpf_relay_field *siblings,
			const struct bpf_relay_field *f, const struct bpf_relay_field *end)
{
	char name[NAME_SIZE];

	if (f->bit_offset)
		snprintf(name, sizeof(name), "pad_%u_%u", f->offset, f->bit_offset);
	else
		snprintf(name, sizeof(name), "pad_%u", f->offset);
	make_free(t, name, siblings, end);
	/* As one number: it reads better than a list of bytes. */
	if (f->bits)
		put(t, "integer { size = %u; align = 1; signed = false; base = 16; } _%s;\n",
		    f->bits, name);
	else if (f->count <= 8)
		put(t, "integer { size = %u; align = 8; signed = false; base = 16; } _%s;\n",
		    f->count * 8, name);
	else
		put(t, "integer { size = 8; align = 8; signed = false; base = 16; } _%s[%u];\n",
		    name, f->count);
}

static bool is_hex(const struct bpf_relay_field *f)
{
	return f->hint == BPF_RELAY_HINT_HEX || f->hint == BPF_RELAY_HINT_STACK ||
	       f->hint == BPF_RELAY_HINT_KSYM;
}

static void put_integer(struct text *t, const struct bpf_relay_field *f, bool is_signed)
{
	put(t, "integer { size = %u; align = %u; signed = %s; ", f->bits ?: f->size * 8,
	    f->bits ? 1 : 8, is_signed ? "true" : "false");
	if (is_hex(f))
		put(t, "base = 16; ");
	if (f->flags & BPF_RELAY_FIELD_BE && f->kind != BPF_RELAY_ENUM)
		put(t, "byte_order = be; ");
	put(t, "}");
}

static bool has_names(const struct text *t, const struct bpf_relay_field *f,
		      const struct bpf_relay_field *end)
{
	return t->names && f + 1 < end && f[1].kind == BPF_RELAY_ENUMERATOR;
}

/* Returns the first field behind the enumerators. */
static const struct bpf_relay_field *put_enum(struct text *t, const struct bpf_relay_field *f,
					      const struct bpf_relay_field *end)
{
	const struct bpf_relay_field *e = f + 1;
	bool is_signed = f->flags & BPF_RELAY_FIELD_SIGNED;
	bool names = has_names(t, f, end);

	if (names)
		put(t, "enum : ");
	put_integer(t, f, is_signed);
	for (; e < end && e->kind == BPF_RELAY_ENUMERATOR; e++) {
		if (!names)
			continue;
		put(t, "%s\"%s\" = ", e == f + 1 ? " { " : ", ", e->name);
		put(t, is_signed ? "%lld" : "%llu", e->value);
	}
	if (names)
		put(t, " }");
	return e;
}

static const struct bpf_relay_field *put_fields(struct text *t,
						const struct bpf_relay_field *f,
						const struct bpf_relay_field *end);

/* One element of a field that is no array of arrays; returns the first field behind it. */
static const struct bpf_relay_field *put_element(struct text *t,
						 const struct bpf_relay_field *f,
						 const struct bpf_relay_field *end)
{
	switch (f->kind) {
	case BPF_RELAY_UINT:
		if (f->hint == BPF_RELAY_HINT_IPV4)
			put(t, "integer { size = 8; align = 8; signed = false; base = 10; }");
		else
			put_integer(t, f, false);
		return f + 1;
	case BPF_RELAY_INT:
		put_integer(t, f, !is_hex(f));
		return f + 1;
	case BPF_RELAY_BOOL:
		put_integer(t, f, false);
		return f + 1;
	case BPF_RELAY_CHAR:
		put(t, "integer { size = 8; align = 8; signed = false; encoding = UTF8; }");
		return f + 1;
	case BPF_RELAY_BYTES:
		put(t, "integer { size = 8; align = 8; signed = false; base = %d; }",
		    f->hint == BPF_RELAY_HINT_IPV4 ? 10 : 16);
		return f + 1;
	case BPF_RELAY_FLOAT:
		put(t, "floating_point { exp_dig = %d; mant_dig = %d; align = 8; }",
		    f->size == 4 ? 8 : 11, f->size == 4 ? 24 : 53);
		return f + 1;
	case BPF_RELAY_ENUM:
		return put_enum(t, f, end);
	case BPF_RELAY_STRUCT: {
		const struct bpf_relay_field *first = f + 1;
		__u16 depth = f->depth;

		put(t, "struct {\n");
		if (first < end && first->depth == depth + 1)
			first = put_fields(t, first, end);
		indent(t, depth);
		put(t, "} align(8)");
		return first;
	}
	default:
		t->err = -EINVAL;
		return f;
	}
}

static void put_count(struct text *t, const struct bpf_relay_field *f)
{
	bool list = f->kind == BPF_RELAY_ARRAY || f->kind == BPF_RELAY_CHAR ||
		    f->kind == BPF_RELAY_BYTES;

	if (!f->count)
		put(t, "[%s]", t->length);
	else if (list || f->count != 1)
		put(t, "[%u]", f->count);
	if (f->kind == BPF_RELAY_UINT && f->hint == BPF_RELAY_HINT_IPV4)
		put(t, "[4]");
}

static void put_comment(struct text *t, const struct bpf_relay_field *f,
			const struct bpf_relay_field *end)
{
	char comment[COMMENT_MAX];

	if (!t->comments)
		return;
	comment_format(t->fields, f, has_names(t, f, end), comment);
	if (*comment)
		put(t, " /* %s */", comment);
}

/* A field with its arrays; returns the first field behind it. */
static const struct bpf_relay_field *put_field(struct text *t, const struct bpf_relay_field *f,
					       const struct bpf_relay_field *end)
{
	const struct bpf_relay_field *outer = f, *next;

	while (f->kind == BPF_RELAY_ARRAY && f + 1 < end && f[1].depth == f->depth + 1)
		f++;
	next = put_element(t, f, end);
	put(t, " _%s", outer->name);
	for (; outer <= f; outer++)
		put_count(t, outer);
	put(t, ";");
	put_comment(t, f, end);
	put(t, "\n");
	return next;
}

/* Writes the fields of one struct; returns the first field behind it. */
static const struct bpf_relay_field *put_fields(struct text *t,
						const struct bpf_relay_field *f,
						const struct bpf_relay_field *end)
{
	const struct bpf_relay_field *siblings = f;

	while (f < end && f->depth == siblings->depth && !t->err) {
		indent(t, f->depth);
		if (f->kind == BPF_RELAY_PAD)
			put_padding(t, siblings, f++, end);
		else
			f = put_field(t, f, end);
	}
	return f;
}

static void put_event(struct text *t, const struct bpf_relay_field *fields, int n_fields,
		      const char *name, __u16 id)
{
	const struct bpf_relay_field *flexible = fields_flexible(fields, n_fields);
	const struct bpf_relay_field *end = fields + n_fields;

	t->fields = fields;
	t->len = 0;
	t->err = 0;
	put(t, "event {\n\tname = \"");
	for (; *name; name++)
		put(t, "%c", isalnum((unsigned char)*name) ? *name : '_');
	put(t, "\";\n\tid = %u;\n\tstream_id = 0;\n\tfields := struct {\n", id);
	if (flexible) {
		/* The word in the record header right before the payload. */
		snprintf(t->length, sizeof(t->length), "_%s_length", flexible->name);
		make_free(t, t->length, fields, end);
		memmove(t->length + 1, t->length, strlen(t->length) + 1);
		t->length[0] = '_';
		put(t, "\t\tinteger { size = 32; align = 32; signed = false; } %s;\n", t->length);
	}
	/* A table that does not end at its end has a depth out of the blue. */
	if (n_fields && put_fields(t, fields, end) != end && !t->err)
		t->err = -EINVAL;
	/* The alignment skips what the record header has behind CTF's own fields. */
	put(t, "\t}%s;\n};\n", flexible ? "" : " align(64)");
}

static __u32 field_end(const struct bpf_relay_field *f)
{
	return f->offset + (f->bits ? (f->bit_offset + f->bits + 7U) / 8 : f->size * f->count);
}

/* The same record with as little said of it as can be. */
static int make_bytes(const struct bpf_relay_field *fields, int n_fields,
		      struct bpf_relay_field bytes[3])
{
	const struct bpf_relay_field *flexible = fields_flexible(fields, n_fields);
	struct bpf_relay_field *b = bytes;
	__u32 size = 0;
	int i;

	memset(bytes, 0, 3 * sizeof(*bytes));
	for (i = 0; i < n_fields; i++)
		if (!fields[i].depth && fields[i].kind != BPF_RELAY_ENUMERATOR)
			size = field_end(&fields[i]);
	if (size)
		*b++ = (struct bpf_relay_field) {
			.kind = BPF_RELAY_BYTES, .size = 1, .count = size, .name = "bytes",
		};
	if (flexible)
		*b++ = (struct bpf_relay_field) {
			.kind = flexible->size > 1 ? BPF_RELAY_ARRAY : BPF_RELAY_BYTES,
			.offset = size, .size = flexible->size, .name = "data",
		};
	if (flexible && flexible->size > 1)
		*b++ = (struct bpf_relay_field) {
			.kind = BPF_RELAY_BYTES, .size = 1, .count = flexible->size, .depth = 1,
		};
	return b - bytes;
}

int bpfrelay_type_tsdl(const struct bpf_relay_field *fields, int n_fields,
		       const char *name, __u16 id, char **text)
{
	struct text t = { .buf = malloc(BPF_RELAY_TEXT_MAX + 1), .err = -E2BIG };
	struct bpf_relay_field bytes[3];
	int less;

	*text = NULL;
	if (!t.buf)
		return -ENOMEM;
	/* What does not fit is said without comments, without names, without both. */
	for (less = 0; less < 4 && t.err == -E2BIG; less++) {
		t.comments = !(less & 1);
		t.names = !(less & 2);
		put_event(&t, fields, n_fields, name, id);
	}
	if (t.err == -E2BIG) {
		n_fields = make_bytes(fields, n_fields, bytes);
		put_event(&t, bytes, n_fields, name, id);
	}
	if (t.err) {
		free(t.buf);
		return t.err;
	}
	*text = t.buf;
	return t.len;
}
