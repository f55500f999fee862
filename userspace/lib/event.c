// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
/*
 * tsdl.c backwards. A trace may come from anywhere: what is read here is made a table
 * only if the same rules hold as for tables that the module takes (fields_valid()).
 *
 * What TSDL has no words for is in comments (comment.h). Where they make no sense, and in
 * texts that have none, a bool is a number and most hints are gone. Padding is known by
 * its name, which is made of its position.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../kernel/fields.h"
#include "comment.h"
#include "event.h"

#define FIELDS_MAX	(BPF_RELAY_TEXT_MAX / sizeof(struct bpf_relay_field))
#define NAME_LEN_MAX	(sizeof(((struct bpf_relay_field *)0)->name) - 1)
#define DIMS_MAX	FIELDS_DEPTH_MAX

struct parser {
	struct tokens *t;
	const struct say *to;
	bool comments;			/* believed */
	struct bpf_relay_field *fields;	/* FIELDS_MAX of them */
	__u32 n;
	const char *length;		/* name of the flexible array's length; NULL: there is none */
	size_t length_len;
};

/* What is said of an integer. */
struct integer {
	__s64 size, align, base;	/* base 0: not said */
	bool is_signed, is_be, is_text;
};

struct dims {
	__u32 dim[DIMS_MAX];		/* outermost first; 0: flexible */
	int n;
};

int event_unexpected(const struct tokens *t, const struct say *to, const char *wanted)
{
	if (t->kind == TOKEN_END)
		say(to, "metadata, line %d: ends where %s should be", t->line, wanted);
	else
		say(to, "metadata, line %d: '%.*s' where %s should be", t->line,
		    t->len < 40 ? (int)t->len : 40, t->s, wanted);
	return -EINVAL;
}

static int unexpected(const struct parser *p, const char *wanted)
{
	return event_unexpected(p->t, p->to, wanted);
}

static int wrong(const struct parser *p, const char *what)
{
	say(p->to, "metadata, line %d: %s", p->t->line, what);
	return -EINVAL;
}

static int skip(struct parser *p, const char *text)
{
	return tokens_skip(p->t, text) ? 0 : unexpected(p, text);
}

static int number(struct parser *p, __s64 *value)
{
	if (!tokens_number(p->t, value))
		return unexpected(p, "a number");
	tokens_next(p->t);
	return 0;
}

/* ---- Integers --------------------------------------------------------------- */

static int parse_attribute(struct parser *p, struct integer *i)
{
	struct tokens *t = p->t;

	if (tokens_skip(t, "size ="))
		return number(p, &i->size);
	if (tokens_skip(t, "align ="))
		return number(p, &i->align);
	if (tokens_skip(t, "base ="))
		return number(p, &i->base);
	if (tokens_skip(t, "byte_order =")) {
		i->is_be = true;
		return skip(p, "be");
	}
	if (tokens_skip(t, "encoding =")) {
		i->is_text = true;
		return skip(p, "UTF8");
	}
	if (!tokens_skip(t, "signed ="))
		return unexpected(p, "an integer's size, align, signed, base, byte_order or encoding");
	i->is_signed = tokens_is(t, "true");
	if (!i->is_signed && !tokens_is(t, "false"))
		return unexpected(p, "true or false");
	tokens_next(t);
	return 0;
}

static int parse_integer(struct parser *p, struct integer *i)
{
	int err;

	*i = (struct integer) { .align = 1 };
	err = skip(p, "integer {");
	while (!err && !tokens_is(p->t, "}")) {
		err = parse_attribute(p, i);
		err = err ?: skip(p, ";");
	}
	if (err)
		return err;
	tokens_next(p->t);
	if (i->size < 1 || i->size > 64 || (i->align != 1 && (i->align != 8 || i->size % 8)))
		return wrong(p, "no integer of such a size or alignment is ever written");
	return 0;
}

/* ---- The table -------------------------------------------------------------- */

static int add(struct parser *p, const struct bpf_relay_field *field)
{
	if (p->n == FIELDS_MAX)
		return wrong(p, "more fields than a type has");
	p->fields[p->n++] = *field;
	return 0;
}

/* The current word, without the underscore that tsdl.c put before it. */
static int parse_name(struct parser *p, char name[NAME_LEN_MAX + 1])
{
	const struct tokens *t = p->t;
	size_t cut = t->kind == TOKEN_WORD && t->len > 1 && *t->s == '_';

	if (t->kind != TOKEN_WORD)
		return unexpected(p, "a name");
	if (t->len - cut > NAME_LEN_MAX)
		return wrong(p, "a longer name than fields have");
	memset(name, 0, NAME_LEN_MAX + 1);
	memcpy(name, t->s + cut, t->len - cut);
	tokens_next(p->t);
	return 0;
}

static int parse_dims(struct parser *p, struct dims *dims)
{
	__s64 n;
	int err;

	dims->n = 0;
	while (tokens_skip(p->t, "[")) {
		if (dims->n == DIMS_MAX)
			return wrong(p, "more dimensions than an array has");
		if (p->length && !dims->n && p->t->kind == TOKEN_WORD) {
			if (p->t->len != p->length_len ||
			    memcmp(p->t->s, p->length, p->length_len))
				return unexpected(p, "the name of the length before the record");
			tokens_next(p->t);
			n = 0;
		} else {
			err = number(p, &n);
			if (err)
				return err;
			if (n < 1 || n > BPF_RELAY_SUBBUF_MAX)
				return wrong(p, "no array of so many elements");
		}
		dims->dim[dims->n++] = n;
		err = skip(p, "]");
		if (err)
			return err;
	}
	return 0;
}

/* Whether a number at this position is what tsdl.c makes of padding there. */
static bool is_padding(const char *name, __u64 pos)
{
	char made[48];
	int len;

	if (pos % 8)
		len = snprintf(made, sizeof(made), "pad_%llu_%llu", pos / 8, pos % 8);
	else
		len = snprintf(made, sizeof(made), "pad_%llu", pos / 8);
	return !strncmp(name, made, len) && !name[len + strspn(name + len, "_")];
}

/* What TSDL says; the count of the field is still to come from dims. */
static int integer_kind(struct parser *p, const struct integer *i, bool is_enum,
			const struct dims *dims, bool hinted, __u64 pos,
			struct bpf_relay_field *f)
{
	bool byte = i->size == 8 && i->align == 8 && !i->is_signed && !i->is_be && !is_enum;

	f->size = comment_least_size(i->size);
	if (i->is_text) {
		if (!byte || i->base || !dims->n)
			return wrong(p, "text that is no array of bytes");
		f->kind = BPF_RELAY_CHAR;
		return 0;
	}
	if (!is_enum && i->base == 16 && !i->is_signed && !i->is_be && !hinted &&
	    is_padding(f->name, pos) && (i->align == 1 ? !dims->n : byte || !dims->n)) {
		f->kind = BPF_RELAY_PAD;
		f->bits = i->align == 1 ? i->size : 0;
		f->count = i->align == 1 ? 1 : i->size / 8;
		f->size = 1;
		memset(f->name, 0, sizeof(f->name));
		return 0;
	}
	if (byte && dims->n && (i->base == 16 ||
				(i->base == 10 && dims->dim[dims->n - 1] == 4))) {
		f->kind = BPF_RELAY_BYTES;
		f->hint = i->base == 10 ? BPF_RELAY_HINT_IPV4 : 0;
		return 0;
	}
	if ((i->base && i->base != 16) || (i->is_be && (is_enum || i->align == 1 || i->size == 8)))
		return wrong(p, "no integer like this is ever written");
	if (i->align == 1)
		f->bits = i->size;
	else if (i->size != f->size * 8)
		return wrong(p, "an integer of an odd size");
	f->kind = is_enum ? BPF_RELAY_ENUM : i->is_signed ? BPF_RELAY_INT : BPF_RELAY_UINT;
	f->hint = i->base == 16 ? BPF_RELAY_HINT_HEX : 0;
	if (is_enum)
		f->flags = i->is_signed ? BPF_RELAY_FIELD_SIGNED : 0;
	else
		f->flags = i->is_be ? BPF_RELAY_FIELD_BE : 0;
	return 0;
}

/* The field before `at`, of the same struct, that has a packet's length. */
static __u64 find_length(const struct parser *p, __u32 at, __u16 depth, const char *name)
{
	while (*name && at-- > 0 && p->fields[at].depth >= depth)
		if (p->fields[at].depth == depth && !strcmp(p->fields[at].name, name))
			return at;
	return BPF_RELAY_NO_FIELD;
}

/* What TSDL had no words for. Says nothing else of where the field lies. */
static void apply_comment(const struct parser *p, const struct comment *c, __u32 at,
			  struct dims *dims, struct bpf_relay_field *f)
{
	if (c->kind == BPF_RELAY_UINT && c->hint == BPF_RELAY_HINT_IPV4 &&
	    f->kind == BPF_RELAY_BYTES && dims->dim[dims->n - 1] == 4) {
		f->size = 4;
		dims->n--;
	}
	if (c->hint == BPF_RELAY_HINT_HEX && f->kind == BPF_RELAY_BYTES)
		f->kind = BPF_RELAY_UINT;
	if (c->kind == BPF_RELAY_ENUM && f->kind == BPF_RELAY_INT)
		f->flags = BPF_RELAY_FIELD_SIGNED;
	if (c->kind)
		f->kind = c->kind;
	if (c->hint)
		f->hint = c->hint;
	if (c->is_be)
		f->flags |= BPF_RELAY_FIELD_BE;
	if (c->size && f->bits)
		f->size = c->size;
	if (c->hint == BPF_RELAY_HINT_PACKET)
		f->value = find_length(p, at, f->depth, c->length);
}

/* Puts the arrays around field `at`, which is the innermost one's element. */
static int add_arrays(struct parser *p, __u32 at, const struct dims *dims)
{
	struct bpf_relay_field *f = &p->fields[at];
	int i, outer = dims->n ? dims->n - 1 : 0;
	__u64 bytes;
	__u32 j;

	if (f->kind != BPF_RELAY_PAD)
		f->count = dims->n ? dims->dim[outer] : 1;
	else if (dims->n)
		f->count = dims->dim[outer];
	if (outer) {
		if (f->bits || p->n + outer > FIELDS_MAX)
			return wrong(p, "an array of bit-fields, or more fields than a type has");
		memmove(f + outer, f, (p->n - at) * sizeof(*f));
		p->n += outer;
		for (j = at + outer; j < p->n; j++) {
			p->fields[j].depth += outer;
			if (p->fields[j].hint == BPF_RELAY_HINT_PACKET &&
			    p->fields[j].value != BPF_RELAY_NO_FIELD)
				p->fields[j].value += outer;
		}
		f += outer;
	}
	bytes = (__u64)f->size * f->count;
	for (i = outer - 1; i >= 0 && bytes <= BPF_RELAY_SUBBUF_MAX; i--) {
		p->fields[at + i] = (struct bpf_relay_field) {
			.kind = BPF_RELAY_ARRAY,
			.depth = f->depth - (outer - i),
			.size = bytes,
			.count = dims->dim[i],
		};
		bytes *= dims->dim[i];
	}
	if (bytes > BPF_RELAY_SUBBUF_MAX)
		return wrong(p, "larger than a record can be");
	if (outer) {
		p->fields[at].offset = f->offset;
		memcpy(p->fields[at].name, f->name, sizeof(f->name));
		f->offset = 0;
		memset(f->name, 0, sizeof(f->name));
	}
	return 0;
}

/* ---- Fields ----------------------------------------------------------------- */

static int parse_fields(struct parser *p, __u16 depth, __u64 *pos);

static int parse_enumerators(struct parser *p, __u16 depth)
{
	struct bpf_relay_field e = { .kind = BPF_RELAY_ENUMERATOR, .depth = depth, .count = 1 };
	__s64 value;
	int err;

	do {
		if (p->t->kind != TOKEN_STRING || p->t->len > NAME_LEN_MAX)
			return unexpected(p, "an enumerator");
		memset(e.name, 0, sizeof(e.name));
		memcpy(e.name, p->t->s, p->t->len);
		tokens_next(p->t);
		err = skip(p, "=");
		err = err ?: number(p, &value);
		if (err)
			return err;
		e.value = value;
		err = add(p, &e);
		if (err)
			return err;
	} while (tokens_skip(p->t, ","));
	return skip(p, "}");
}

static int parse_float(struct parser *p, struct bpf_relay_field *f)
{
	__s64 exponent, mantissa;
	int err;

	err = skip(p, "floating_point { exp_dig =");
	err = err ?: number(p, &exponent);
	err = err ?: skip(p, "; mant_dig =");
	err = err ?: number(p, &mantissa);
	err = err ?: skip(p, "; align = 8; }");
	if (err)
		return err;
	f->kind = BPF_RELAY_FLOAT;
	if (exponent == 8 && mantissa == 24)
		f->size = 4;
	else if (exponent == 11 && mantissa == 53)
		f->size = 8;
	else
		return wrong(p, "no floating_point like this is ever written");
	return 0;
}

static int parse_struct(struct parser *p, struct bpf_relay_field *f)
{
	__u64 pos = 0;
	int err;

	err = skip(p, "struct {");
	err = err ?: parse_fields(p, f->depth + 1, &pos);
	err = err ?: skip(p, "} align(8)");
	if (err)
		return err;
	f->kind = BPF_RELAY_STRUCT;
	f->size = pos / 8;
	return pos && !(pos % 8) ? 0 : wrong(p, "a struct of no whole number of bytes");
}

/* One field, and where it ends in its struct. */
static int parse_field(struct parser *p, __u16 depth, __u64 *pos)
{
	struct bpf_relay_field f = { .depth = depth };
	struct integer integer = {};
	struct comment comment = {};
	bool is_enum, is_integer;
	__u32 at = p->n;
	struct dims dims;
	int err;

	/* Its place; what is inside of it comes behind. */
	err = add(p, &f);
	if (err)
		return err;
	is_enum = tokens_skip(p->t, "enum :");
	is_integer = tokens_is(p->t, "integer");
	if (is_integer)
		err = parse_integer(p, &integer);
	else if (tokens_skip(p->t, "uint8_t"))
		/* The module's own blocks: bytes. */
		integer = (struct integer) { .size = 8, .align = 8, .base = 16 };
	else if (is_enum)
		err = unexpected(p, "integer");
	else if (tokens_is(p->t, "floating_point"))
		err = parse_float(p, &f);
	else if (tokens_is(p->t, "struct"))
		err = parse_struct(p, &f);
	else
		err = unexpected(p, "integer, enum, floating_point, struct or uint8_t");
	if (!err && is_enum) {
		err = skip(p, "{");
		err = err ?: parse_enumerators(p, depth + 1);
	}
	err = err ?: parse_name(p, f.name);
	err = err ?: parse_dims(p, &dims);
	err = err ?: skip(p, ";");
	if (err)
		return err;
	f.offset = *pos / 8;
	f.bit_offset = *pos % 8;
	if (integer.size) {
		if (p->comments && p->t->comment)
			comment_parse(p->t->comment, p->t->comment_len, &comment);
		err = integer_kind(p, &integer, is_enum, &dims, comment.hint, *pos, &f);
		if (!err)
			apply_comment(p, &comment, at, &dims, &f);
	}
	p->fields[at] = f;
	err = err ?: add_arrays(p, at, &dims);
	if (err)
		return err;
	*pos += f.bits ?: 8ULL * p->fields[at].size * p->fields[at].count;
	return *pos / 8 <= BPF_RELAY_SUBBUF_MAX ? 0 : wrong(p, "larger than a record can be");
}

static int parse_fields(struct parser *p, __u16 depth, __u64 *pos)
{
	int err = 0;

	if (depth >= FIELDS_DEPTH_MAX)
		return wrong(p, "structs inside one another too deeply");
	while (!err && !tokens_is(p->t, "}"))
		err = parse_field(p, depth, pos);
	return err;
}

/* ---- The block -------------------------------------------------------------- */

/* The word in front of a record of any length. */
static int parse_length(struct parser *p)
{
	static const char *const types[] = {
		"uint32_t", "integer { size = 32; align = 32; signed = false; }",
	};
	struct tokens before = *p->t;
	size_t i;

	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (!tokens_skip(p->t, types[i])) {
			*p->t = before;
			continue;
		}
		if (p->t->kind != TOKEN_WORD)
			return unexpected(p, "a name");
		p->length = p->t->s;
		p->length_len = p->t->len;
		tokens_next(p->t);
		return skip(p, ";");
	}
	return 0;
}

/* Whether a field has a name like one before it of the same parent. */
static bool is_twice(const struct parser *p, __u32 at)
{
	const struct bpf_relay_field *f = &p->fields[at], *other = f;

	if (!f->name[0])
		return false;
	while (other > p->fields && (--other)->depth >= f->depth)
		if (other->depth == f->depth && !strcmp(other->name, f->name))
			return true;
	return false;
}

struct bpfrelay_type *event_type(const struct bpfrelay_type *like,
				 const struct bpf_relay_field *fields, __u32 n,
				 const char *name, size_t name_len)
{
	size_t size = n * sizeof(*fields);
	struct bpfrelay_type *type = malloc(sizeof(*type) + size + name_len + 1);
	char *behind = (char *)(type + 1);

	if (!type)
		return NULL;
	*type = *like;
	type->fields = memcpy(behind, fields, size);
	type->n_fields = n;
	type->name = memcpy(behind + size, name, name_len);
	behind[size + name_len] = '\0';
	return type;
}

static int make_type(struct parser *p, const struct bpfrelay_type *like, const char *name,
		     size_t name_len, struct bpfrelay_type **type)
{
	__u32 i;

	for (i = 0; i < p->n; i++)
		if (is_twice(p, i))
			return wrong(p, "an event with a name that is there twice");
	if (!fields_valid(p->fields, p->n, like->size, like->flags & BPF_RELAY_TYPE_VAR))
		return wrong(p, "an event that describes no record");
	*type = event_type(like, p->fields, p->n, name, name_len);
	return *type ? 0 : -ENOMEM;
}

/* It is shown as it is: nothing but printable ASCII. */
static bool is_printable(const char *s, size_t len)
{
	for (; len; s++, len--)
		if (*s < ' ' || *s > '~')
			return false;
	return true;
}

static int parse_event(struct parser *p, struct bpfrelay_type **type)
{
	struct bpfrelay_type like = {};
	const char *name;
	size_t name_len;
	__u64 pos = 0;
	__s64 id;
	int err;

	err = skip(p, "event { name =");
	if (err)
		return err;
	name = p->t->s;
	name_len = p->t->len;
	if (p->t->kind != TOKEN_STRING || !name_len || name_len >= BPF_RELAY_NAME_MAX ||
	    !is_printable(name, name_len))
		return unexpected(p, "the name of a type");
	tokens_next(p->t);
	err = skip(p, "; id =");
	err = err ?: number(p, &id);
	err = err ?: skip(p, "; stream_id = 0; fields := struct {");
	if (!err && (id < 0 || id >= BPF_RELAY_TYPES_MAX))
		err = wrong(p, "no type has this id");
	err = err ?: parse_length(p);
	err = err ?: parse_fields(p, 0, &pos);
	err = err ?: skip(p, p->length ? "}; };" : "} align(64); };");
	if (err)
		return err;
	if (pos % 8)
		return wrong(p, "an event of no whole number of bytes");
	like.id = id;
	like.size = pos / 8;
	like.flags = p->length ? BPF_RELAY_TYPE_VAR : 0;
	if (p->length && !fields_flexible(p->fields, p->n))
		return wrong(p, "an event with a length of nothing");
	return make_type(p, &like, name, name_len, type);
}

static int try_event(struct tokens *t, const struct say *to, bool comments,
		     struct bpfrelay_type **type)
{
	struct parser p = {
		.t = t,
		.to = to,
		.comments = comments,
		.fields = malloc(FIELDS_MAX * sizeof(*p.fields)),
	};
	int err;

	if (!p.fields)
		return -ENOMEM;
	err = parse_event(&p, type);
	free(p.fields);
	return err;
}

int event_parse(struct tokens *t, const struct say *to, struct bpfrelay_type **type)
{
	static const struct say quiet;
	struct tokens before = *t;
	int err;

	err = try_event(t, &quiet, true, type);
	if (err != -EINVAL)
		return err;
	*t = before;
	return try_event(t, to, false, type);
}
