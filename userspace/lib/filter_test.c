// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
/* One test of a filter: a field of a record against the values that are written there. */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../kernel/fields.h"
#include "filter.h"

/* What all records have, unless their type has a field of this name. */
static const struct bpf_relay_field of_record[] = {
	{ .kind = BPF_RELAY_CHAR, .size = 1, .count = BPF_RELAY_NAME_MAX, .name = "type" },
	{ .kind = BPF_RELAY_UINT, .size = 4, .count = 1, .name = "cpu",
	  .offset = offsetof(struct bpfrelay_record, cpu) },
	{ .kind = BPF_RELAY_UINT, .size = 8, .count = 1, .name = "ts",
	  .offset = offsetof(struct bpfrelay_record, ts) },
};

#define N_OF_RECORD	(sizeof(of_record) / sizeof(of_record[0]))

static const struct bpfrelay_type record_type = {
	.size = sizeof(struct bpfrelay_record),
	.fields = of_record,
	.n_fields = N_OF_RECORD,
};

static bool is_of_record(const struct bpf_relay_field *f)
{
	return f >= of_record && f < of_record + N_OF_RECORD;
}

/* ---- What can be asked of a field -------------------------------------------------- */

enum value_class { CLASS_NUMBER, CLASS_REAL, CLASS_TEXT, CLASS_ADDRESS, CLASS_NONE };

/* One of several, or of a flexible array. */
static bool is_element(const struct place *p)
{
	return p->count == 1 && p->field->count != 1;
}

static enum value_class class_of(const struct place *p)
{
	const struct bpf_relay_field *f = p->field;

	switch (f->kind) {
	case BPF_RELAY_CHAR:
		return is_element(p) ? CLASS_NUMBER : CLASS_TEXT;
	case BPF_RELAY_BYTES:
		if (!is_element(p) && (f->hint == BPF_RELAY_HINT_IPV4 ||
				       f->hint == BPF_RELAY_HINT_IPV6 ||
				       f->hint == BPF_RELAY_HINT_MAC))
			return CLASS_ADDRESS;
		return p->count == 1 ? CLASS_NUMBER : CLASS_NONE;
	case BPF_RELAY_UINT:
	case BPF_RELAY_INT:
	case BPF_RELAY_BOOL:
	case BPF_RELAY_ENUM:
		if (p->count != 1)
			return CLASS_NONE;
		return f->hint == BPF_RELAY_HINT_IPV4 ? CLASS_ADDRESS : CLASS_NUMBER;
	case BPF_RELAY_FLOAT:
		return p->count == 1 ? CLASS_REAL : CLASS_NONE;
	default:
		return CLASS_NONE;
	}
}

static const char *wants_of_none(const struct place *p)
{
	switch (p->field->kind) {
	case BPF_RELAY_STRUCT:
		if (p->count == 1)
			return "is a struct: name one of its members, as in a.b";
		break;
	case BPF_RELAY_BYTES:
		return "is bytes: name one of them, as in a[0]";
	}
	return "is an array: name one of its elements, as in a[0]";
}

static const struct address *address_of(const struct literal *l, const struct bpf_relay_field *f)
{
	switch (f->hint) {
	case BPF_RELAY_HINT_IPV4:
		return &l->ipv4;
	case BPF_RELAY_HINT_IPV6:
		return &l->ipv6;
	default:
		return &l->mac;
	}
}

/* The low bits of a number that a field can have. */
static struct number extend(__u64 bits, __u32 width, bool is_signed)
{
	struct number n = { .bits = bits << (64 - width) };

	n.bits = is_signed ? (__u64)((__s64)n.bits >> (64 - width)) : n.bits >> (64 - width);
	n.negative = is_signed && (__s64)n.bits < 0;
	return n;
}

/* A literal where a number is meant; false: it is none. */
static bool number_of(const struct literal *l, const struct bpfrelay_type *type,
		      const struct bpf_relay_field *f, struct number *n)
{
	const struct bpf_relay_field *e;

	if (l->is_number) {
		*n = l->number;
		return true;
	}
	if (f->kind != BPF_RELAY_ENUM)
		return false;
	for (e = f + 1; e < type->fields + type->n_fields && e->kind == BPF_RELAY_ENUMERATOR; e++)
		if (!strcmp(e->name, l->text)) {
			*n = extend(e->value, 8 * f->size, value_is_signed(f));
			return true;
		}
	return false;
}

/* Why a test makes no sense for a field. */
struct misfit {
	const char *wants;	/* NULL: it does */
	const char *what;
	size_t at;
	bool name;		/* one of the field's enumerators is wanted */
};

static struct misfit field_misfit(const struct filter_test *t, const char *wants)
{
	return (struct misfit) { .wants = wants, .what = t->path, .at = t->at };
}

static struct misfit literal_misfit(const struct literal *l, const char *wants)
{
	return (struct misfit) { .wants = wants, .what = l->text, .at = l->at };
}

static struct misfit number_misfit(const struct filter_test *t, const struct bpfrelay_type *type,
				   const struct bpf_relay_field *f)
{
	const struct literal *l = t->mask;
	struct misfit misfit = {};
	struct number n;

	if (t->op == FILTER_GLOB)
		return field_misfit(t, "is a number, and =~ is for text");
	if (!l || number_of(l, type, f, &n))
		for (l = t->values; l && number_of(l, type, f, &n); l = l->next)
			;
	if (!l)
		return misfit;
	misfit = literal_misfit(l, "is no number of 64 bits");
	misfit.name = f->kind == BPF_RELAY_ENUM;
	return misfit;
}

static struct misfit real_misfit(const struct filter_test *t)
{
	const struct literal *l;

	if (t->mask || t->op == FILTER_GLOB)
		return field_misfit(t, "is a floating-point number, for which there is no & and no =~");
	for (l = t->values; l; l = l->next)
		if (!l->is_real)
			return literal_misfit(l, "is no number");
	return (struct misfit) {};
}

static struct misfit text_misfit(const struct filter_test *t)
{
	const struct literal *l;

	if (t->mask || (t->op != FILTER_EQ && t->op != FILTER_NE && t->op != FILTER_GLOB &&
			t->op != FILTER_IN))
		return field_misfit(t, "is text, for which there are ==, !=, =~ and in");
	for (l = t->values; l; l = l->next)
		if (!l->quoted)
			return literal_misfit(l, "is to be compared with text, which wants quotes");
	return (struct misfit) {};
}

static struct misfit address_misfit(const struct filter_test *t, const struct bpf_relay_field *f)
{
	static const char *const wants[] = {
		[BPF_RELAY_HINT_IPV4] = "is no IPv4 address, and none with a prefix",
		[BPF_RELAY_HINT_IPV6] = "is no IPv6 address, and none with a prefix",
		[BPF_RELAY_HINT_MAC] = "is no MAC address",
	};
	const struct literal *l;

	if (t->mask || (t->op != FILTER_EQ && t->op != FILTER_NE && t->op != FILTER_IN))
		return field_misfit(t, "is an address, for which there are ==, != and in");
	for (l = t->values; l; l = l->next)
		if (!address_of(l, f)->valid)
			return literal_misfit(l, wants[f->hint]);
	return (struct misfit) {};
}

static struct misfit misfit_of(const struct filter_test *t, const struct bpfrelay_type *type,
			       const struct place *p)
{
	switch (class_of(p)) {
	case CLASS_NUMBER:
		return number_misfit(t, type, p->field);
	case CLASS_REAL:
		return real_misfit(t);
	case CLASS_TEXT:
		return text_misfit(t);
	case CLASS_ADDRESS:
		return address_misfit(t, p->field);
	default:
		return field_misfit(t, wants_of_none(p));
	}
}

/* ---- Finding it ------------------------------------------------------------------------ */

/* "type: a, b.c, b.d; other: ...", as much as there is room for. */
static void list_fields(const struct bpfrelay_log *log, char *to, size_t size)
{
	const char *path[FIELDS_DEPTH_MAX], *separator = "";
	size_t len = 0;
	__u32 id;
	int i, j;

	for (id = 0; id < BPF_RELAY_TYPES_MAX; id++) {
		const struct bpfrelay_type *type = bpfrelay_log_type(log, id);

		if (!type)
			continue;
		len += snprintf(to + len, size - len, "%s%s has ", separator, type->name);
		separator = "";
		for (i = 0; i < type->n_fields && len < size; i++) {
			const struct bpf_relay_field *f = &type->fields[i];

			path[f->depth] = f->name;
			if (!*f->name || f->kind == BPF_RELAY_ENUMERATOR || f->kind == BPF_RELAY_STRUCT)
				continue;
			len += snprintf(to + len, size - len, "%s", separator);
			for (j = 0; j <= f->depth && len < size; j++)
				len += snprintf(to + len, size - len, "%s%s", j && *path[j] ? "." : "",
						path[j]);
			separator = ", ";
		}
		if (len >= size) {
			strcpy(to + size - 4, "...");
			return;
		}
		separator = "; ";
	}
}

static void list_enumerators(const struct bpfrelay_type *type, const struct bpf_relay_field *f,
			     char *to, size_t size)
{
	const struct bpf_relay_field *e, *end = type->fields + type->n_fields;
	size_t len = 0;

	*to = '\0';
	for (e = f + 1; e < end && e->kind == BPF_RELAY_ENUMERATOR && len < size; e++)
		len += snprintf(to + len, size - len, "%s%s", len ? ", " : "", e->name);
	if (len >= size)
		strcpy(to + size - 4, "...");
}

static int find(const struct bpfrelay_type *type, const char *path, struct place *place)
{
	__u32 more = type->flags & BPF_RELAY_TYPE_VAR ? BPF_RELAY_SUBBUF_MAX : 0;
	int err;

	err = value_place(type, type->size + more, path, place);
	return err == -ENOENT ? value_place(&record_type, record_type.size, path, place) : err;
}

int filter_test_resolve(struct filter_test *t, const struct bpfrelay_log *log)
{
	struct misfit first = {}, misfit;
	bool found = false;
	char names[2048];	/* that there are instead */
	struct place range = {};	/* the array that is too short */
	int err;
	__u32 id;

	for (id = 0; id < BPF_RELAY_TYPES_MAX; id++) {
		const struct bpfrelay_type *type = bpfrelay_log_type(log, id);
		struct place place;

		if (!type)
			continue;
		err = find(type, t->path, &place);
		if (err == -EINVAL)
			return filter_wrong(&log->say, t->at, "'%s' is no field", t->path);
		if (err) {
			if (err == -ERANGE)
				range = place;
			continue;
		}
		misfit = misfit_of(t, type, &place);
		if (!misfit.wants) {
			t->place[id] = place;
			found = true;
		} else if (!first.wants) {
			first = misfit;
			if (first.name)
				list_enumerators(type, place.field, names, sizeof(names));
		}
	}
	if (found)
		return 0;
	if (first.wants)
		return filter_wrong(&log->say, first.at, "'%s' %s%s%s", first.what, first.wants,
				    first.name ? ", and none of " : "", first.name ? names : "");
	if (range.field && range.field->count)
		return filter_wrong(&log->say, t->at, "'%s' is beyond the end of %.*s, which has %u element%s",
				    t->path, (int)range.offset, t->path, range.count,
				    range.count == 1 ? "" : "s");
	if (range.field)
		return filter_wrong(&log->say, t->at, "'%s' is beyond the end of any record", t->path);
	list_fields(log, names, sizeof(names));
	return filter_wrong(&log->say, t->at, "no type has a field '%s'; %s", t->path, names);
}

/* ---- Testing ------------------------------------------------------------------------- */

/* False: the record is too short for it. */
static bool get_value(const struct place *p, const struct bpfrelay_record *record,
		      struct bpfrelay_value *v)
{
	*v = (struct bpfrelay_value) { .field = p->field, .len = p->len, .count = p->count };
	if (is_of_record(p->field)) {
		v->data = (const char *)record + p->offset;
		if (p->field->kind == BPF_RELAY_CHAR) {
			v->data = record->type->name;
			v->len = strlen(v->data);
		}
		return true;
	}
	v->data = (const char *)record->data + p->offset;
	if (p->offset + p->len <= record->len)
		return true;
	/* All of a flexible array, as long as it is here. */
	if (p->field->count || is_element(p))
		return false;
	v->count = value_elements(p->field, record->len - p->offset);
	v->len = v->count * p->field->size;
	return true;
}

static int compare(const struct number *a, const struct number *b)
{
	if (a->negative != b->negative)
		return a->negative ? -1 : 1;
	return a->bits < b->bits ? -1 : a->bits > b->bits;
}

static bool match_number(const struct filter_test *t, const struct bpfrelay_record *record,
			 const struct bpfrelay_value *v)
{
	const struct bpf_relay_field *f = v->field;
	struct number is, shown, wanted;
	const struct literal *l;
	int order;

	bpfrelay_value_number(v, &is.bits);
	is.negative = value_is_signed(f) && (__s64)is.bits < 0;
	if (t->mask && number_of(t->mask, record->type, f, &wanted))
		is = (struct number) { .bits = is.bits & wanted.bits };
	if (t->op == FILTER_TRUE)
		return is.bits;
	for (l = t->values; l && number_of(l, record->type, f, &wanted); l = l->next) {
		/* As it is shown: 0xffff is the -1 of a hexadecimal field. */
		shown = is;
		if (is.negative && f->hint == BPF_RELAY_HINT_HEX && !wanted.negative)
			shown = extend(is.bits, f->bits ?: 8 * f->size, false);
		order = compare(&shown, &wanted);
		switch (t->op) {
		case FILTER_NE:
			return order;
		case FILTER_LT:
			return order < 0;
		case FILTER_LE:
			return order <= 0;
		case FILTER_GT:
			return order > 0;
		case FILTER_GE:
			return order >= 0;
		default:
			if (!order)
				return true;
		}
	}
	return false;
}

/* As C compares them: what is no number differs from all, and is neither less nor more. */
static bool match_real(const struct filter_test *t, const struct bpfrelay_value *v)
{
	double is = value_read_double(v->field, v->data), wanted;
	const struct literal *l;

	if (t->op == FILTER_TRUE)
		return is != 0;
	for (l = t->values; l; l = l->next) {
		/* Of a float 0.1 is the float that is closest to it. */
		wanted = v->field->size == sizeof(float) ? (float)l->real : l->real;
		switch (t->op) {
		case FILTER_NE:
			return is != wanted;
		case FILTER_LT:
			return is < wanted;
		case FILTER_LE:
			return is <= wanted;
		case FILTER_GT:
			return is > wanted;
		case FILTER_GE:
			return is >= wanted;
		default:
			if (is == wanted)
				return true;
		}
	}
	return false;
}

static bool match_text(const struct filter_test *t, const struct bpfrelay_value *v)
{
	size_t len = strnlen(v->data, v->len);
	const struct literal *l;

	if (t->op == FILTER_GLOB)
		return glob_match(t->values->text, v->data, len);
	for (l = t->values; l; l = l->next)
		if (strlen(l->text) == len && !memcmp(l->text, v->data, len))
			return t->op != FILTER_NE;
	return t->op == FILTER_NE;
}

static bool is_in(const __u8 *bytes, const struct address *a)
{
	int n = a->bits / 8, rest = a->bits % 8;

	return !memcmp(bytes, a->bytes, n) &&
	       (!rest || !((bytes[n] ^ a->bytes[n]) >> (8 - rest)));
}

static bool match_address(const struct filter_test *t, const struct bpfrelay_value *v)
{
	const struct literal *l;

	for (l = t->values; l; l = l->next)
		if (is_in(v->data, address_of(l, v->field)))
			return t->op != FILTER_NE;
	return t->op == FILTER_NE;
}

bool filter_test_match(const struct filter_test *t, const struct bpfrelay_record *record)
{
	const struct place *p = &t->place[record->type->id];
	struct bpfrelay_value v;

	if (!p->field || !get_value(p, record, &v))
		return false;
	switch (class_of(p)) {
	case CLASS_REAL:
		return match_real(t, &v);
	case CLASS_TEXT:
		return match_text(t, &v);
	case CLASS_ADDRESS:
		return match_address(t, &v);
	default:
		return match_number(t, record, &v);
	}
}

void filter_test_free(struct filter_test *t)
{
	if (!t)
		return;
	literal_free(t->mask);
	literal_free(t->values);
	free(t->path);
	free(t);
}
