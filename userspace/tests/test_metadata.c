// SPDX-License-Identifier: GPL-2.0-only
/*
 * From a table of fields to TSDL and back: what comes back is the same table. The tables
 * are random ones.
 *
 *	test_metadata [SEED [ROUNDS]]
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../../kernel/fields.h"
#include "bpfrelay.h"
#include "event.h"
#include "ktap.h"
#include "metadata.h"
#include "trace_gen.h"

#define FIELDS	300

struct table {
	struct bpf_relay_field f[FIELDS];
	int n;
	bool too_large;		/* to be a record */
	int hints[BPF_RELAY_HINT_PACKET + 1];	/* how many of each */
};

static int rnd(int n)
{
	return rand() / 7 % n;
}

/* ---- Random tables -------------------------------------------------------------- */

static struct bpf_relay_field *add(struct table *t, __u16 kind, int depth, __u64 pos)
{
	struct bpf_relay_field *f = &t->f[t->n++];

	memset(f, 0, sizeof(*f));
	f->kind = kind;
	f->depth = depth;
	f->offset = pos / 8;
	f->bit_offset = pos % 8;
	f->count = f->size = 1;
	return f;
}

static void name_it(struct bpf_relay_field *f, const char *like)
{
	static int counter;
	static const char *const odd[] = { "event", "integer", "struct", "_x", "pad", "enum", "id" };

	if (rnd(10) == 0)
		snprintf(f->name, sizeof(f->name), "%s%d", odd[rnd(7)], counter++);
	else
		snprintf(f->name, sizeof(f->name), "%s%d", like, counter++);
}

static void add_enumerators(struct table *t, int depth, const struct bpf_relay_field *of)
{
	bool is_signed = of->flags & BPF_RELAY_FIELD_SIGNED;
	int i, n = 1 + rnd(4), bits = of->bits ?: of->size * 8;

	for (i = 0; i < n; i++) {
		struct bpf_relay_field *e = add(t, BPF_RELAY_ENUMERATOR, depth, 0);
		__u64 value = ((__u64)rand() << 33 ^ rand()) >> (64 - bits);

		e->size = 0;
		e->value = is_signed ? (__u64)((__s64)(value << (64 - bits)) >> (64 - bits)) : value;
		snprintf(e->name, sizeof(e->name), "V%d", i);
	}
}

static void add_padding(struct table *t, int depth, __u64 *pos)
{
	struct bpf_relay_field *f;

	if (*pos % 8) {
		f = add(t, BPF_RELAY_PAD, depth, *pos);
		f->bits = 8 - *pos % 8;
		*pos += f->bits;
	}
	if (rnd(3) == 0) {
		f = add(t, BPF_RELAY_PAD, depth, *pos);
		f->count = 1 + rnd(12);
		*pos += f->count * 8;
	}
}

/* The last number before `at` that a packet's length can be in. */
static __u64 find_length(const struct table *t, int at)
{
	int i;

	for (i = at - 1; i >= 0 && t->f[i].depth >= t->f[at].depth; i--)
		if (t->f[i].depth == t->f[at].depth && t->f[i].kind == BPF_RELAY_UINT &&
		    !t->f[i].bits && t->f[i].count == 1)
			return i;
	return BPF_RELAY_NO_FIELD;
}

/* One of all that there are for its kind. */
static void add_hint(struct table *t, struct bpf_relay_field *f)
{
	static const __u32 bytes[] = {
		[BPF_RELAY_HINT_IPV4] = 4, [BPF_RELAY_HINT_IPV6] = 16, [BPF_RELAY_HINT_MAC] = 6,
	};
	bool number = f->kind == BPF_RELAY_UINT || f->kind == BPF_RELAY_INT;
	int hint = BPF_RELAY_HINT_HEX + rnd(BPF_RELAY_HINT_PACKET);

	switch (hint) {
	case BPF_RELAY_HINT_HEX:
		if (!number && f->kind != BPF_RELAY_ENUM)
			return;
		break;
	case BPF_RELAY_HINT_IPV4:
	case BPF_RELAY_HINT_IPV6:
	case BPF_RELAY_HINT_MAC:
		if (f->kind == BPF_RELAY_UINT && f->size == 4 && !f->bits &&
		    hint == BPF_RELAY_HINT_IPV4)
			break;
		if (f->kind != BPF_RELAY_BYTES)
			return;
		f->count = bytes[hint];
		break;
	case BPF_RELAY_HINT_STRING:
		if (f->kind != BPF_RELAY_CHAR)
			return;
		break;
	case BPF_RELAY_HINT_NS:
		if (!number)
			return;
		break;
	case BPF_RELAY_HINT_STACK:
	case BPF_RELAY_HINT_KSYM:
		if (f->kind != BPF_RELAY_UINT || f->size != 8 || f->bits)
			return;
		break;
	case BPF_RELAY_HINT_IFINDEX:
		if (!number || f->size != 4 || f->bits)
			return;
		break;
	case BPF_RELAY_HINT_PACKET:
		if (f->kind != BPF_RELAY_BYTES)
			return;
		f->value = rnd(4) ? find_length(t, f - t->f) : BPF_RELAY_NO_FIELD;
		break;
	}
	f->hint = hint;
	t->hints[hint]++;
}

static void add_members(struct table *t, int depth, __u64 *pos, int n);

static void add_bits(struct table *t, int depth, __u64 *pos)
{
	static const __u16 kinds[] = {
		BPF_RELAY_UINT, BPF_RELAY_INT, BPF_RELAY_BOOL, BPF_RELAY_ENUM,
	};
	struct bpf_relay_field *f = add(t, kinds[rnd(4)], depth, *pos);

	f->bits = f->kind == BPF_RELAY_BOOL ? 1 : 1 + rnd(64);
	while (f->bits > f->size * 8 || (f->kind != BPF_RELAY_BOOL && f->size < 8 && rnd(2)))
		f->size *= 2;
	name_it(f, "bits");
	if (f->kind == BPF_RELAY_ENUM) {
		f->flags = rnd(2) ? BPF_RELAY_FIELD_SIGNED : 0;
		add_enumerators(t, depth + 1, f);
	}
	if (rnd(3) == 0)
		add_hint(t, f);
	*pos += f->bits;
}

static void add_field(struct table *t, int depth, __u64 *pos, bool flexible)
{
	int pick = rnd(10), outer = 0, at, i;
	struct bpf_relay_field *f;
	__u64 bytes;

	/* They need no whole byte. */
	if (pick == 0 && !flexible) {
		add_bits(t, depth, pos);
		return;
	}
	add_padding(t, depth, pos);
	at = t->n;
	if (rnd(4) == 0 && depth < 10)
		outer = 1 + rnd(2);
	for (i = 0; i < outer; i++) {
		f = add(t, BPF_RELAY_ARRAY, depth + i, i ? 0 : *pos);
		f->count = 2 + rnd(3);
	}
	f = add(t, BPF_RELAY_UINT, depth + outer, outer ? 0 : *pos);
	f->count = outer || rnd(3) == 0 ? 2 + rnd(3) : 1;
	f->size = 1 << rnd(4);
	switch (pick) {
	case 1:
		f->kind = BPF_RELAY_INT;
		break;
	case 2:
		f->kind = BPF_RELAY_CHAR;
		f->size = 1;
		break;
	case 3:
		f->kind = BPF_RELAY_BYTES;
		f->size = 1;
		break;
	case 4:
		f->kind = BPF_RELAY_FLOAT;
		f->size = 4 << rnd(2);
		break;
	case 5:
		f->kind = BPF_RELAY_ENUM;
		f->flags = rnd(2) ? BPF_RELAY_FIELD_SIGNED : 0;
		if (rnd(4))
			add_enumerators(t, f->depth + 1, f);
		break;
	case 6:
		if (f->size > 1)
			f->flags = BPF_RELAY_FIELD_BE;
		else
			f->kind = BPF_RELAY_BOOL;
		break;
	case 8:
	case 9:
		if (depth + outer < 12 && t->n < FIELDS / 3) {
			__u64 inner = 0;

			f->kind = BPF_RELAY_STRUCT;
			add_members(t, f->depth + 1, &inner, 1 + rnd(4));
			f->size = inner / 8;
		}
		break;
	}
	if (rnd(2))
		add_hint(t, f);
	bytes = (__u64)f->size * f->count;
	for (i = outer - 1; i >= 0; i--) {
		t->f[at + i].size = bytes;
		bytes *= t->f[at + i].count;
	}
	t->too_large |= bytes > 1 << 16;
	if (flexible) {
		t->f[at].count = 0;
		bytes = 0;
		/* Addresses have a length. */
		if (!outer && f->kind == BPF_RELAY_BYTES && f->hint != BPF_RELAY_HINT_PACKET)
			f->hint = BPF_RELAY_HINT_NONE;
	}
	name_it(&t->f[at], "f");
	/* What is padding by its name and its place, but is none. */
	if (f->hint == BPF_RELAY_HINT_HEX && rnd(2)) {
		memset(t->f[at].name, 0, sizeof(t->f[at].name));
		snprintf(t->f[at].name, sizeof(t->f[at].name), "pad_%u", t->f[at].offset);
	}
	*pos += bytes * 8;
}

static void add_members(struct table *t, int depth, __u64 *pos, int n)
{
	while (n-- && t->n < FIELDS / 2)
		add_field(t, depth, pos, false);
	if (!*pos) {
		name_it(add(t, BPF_RELAY_UINT, depth, 0), "f");
		*pos = 8;
	}
	add_padding(t, depth, pos);
}

/* The size of what is not flexible. */
static __u32 make_table(struct table *t, bool var)
{
	__u64 pos;

	do {
		pos = 0;
		t->n = 0;
		t->too_large = false;
		add_members(t, 0, &pos, 1 + rnd(8));
		if (var)
			add_field(t, 0, &pos, true);
	} while (t->too_large);
	return pos / 8;
}

/* ---- There and back -------------------------------------------------------------- */

static char said[512];

static void keep(void *ctx, const char *fmt, va_list args)
{
	(void)ctx;
	vsnprintf(said, sizeof(said), fmt, args);
}

static const struct say to = { keep, NULL };

static struct bpfrelay_type *parse(const char *text, size_t len)
{
	struct bpfrelay_type *type = NULL;
	struct tokens tokens;

	said[0] = '\0';
	tokens_init(&tokens, text, len);
	if (event_parse(&tokens, &to, &type) || tokens.kind != TOKEN_END)
		return NULL;
	return type;
}

static bool is_same(const struct bpf_relay_field *a, const struct bpf_relay_field *b)
{
	return !memcmp(a, b, sizeof(*a));
}

static bool there_and_back(struct table *t, __u32 size, bool var)
{
	struct bpfrelay_type *type;
	bool good = true;
	char *text;
	int i, len;

	if (!fields_valid(t->f, t->n, size, var)) {
		printf("# the test's own table is not valid\n");
		return false;
	}
	len = bpfrelay_type_tsdl(t->f, t->n, "round_trip", 77, &text);
	if (len < 0)
		return false;
	type = parse(text, len);
	if (!type || type->id != 77 || strcmp(type->name, "round_trip") || type->size != size ||
	    type->n_fields != t->n || !(type->flags & BPF_RELAY_TYPE_VAR) == var) {
		printf("# %s; size %u for %u, %d fields for %d\n%s\n", said, type ? type->size : 0,
		       size, type ? type->n_fields : 0, t->n, text);
		good = false;
	}
	for (i = 0; good && i < t->n; i++)
		if (!is_same(&t->f[i], &type->fields[i])) {
			printf("# field %d, %s, came back as %s\n%s\n", i, t->f[i].name,
			       type->fields[i].name, text);
			good = false;
		}
	free(type);
	free(text);
	return good;
}

static void test_random(int rounds)
{
	struct table t = {};
	int i, bad = 0, fields = 0;
	__u32 size;

	for (i = 0; i < rounds && !bad; i++) {
		size = make_table(&t, i % 3 == 0);
		bad += !there_and_back(&t, size, i % 3 == 0);
		fields += t.n;
	}
	ktap_ok(!bad, "metadata: %d random tables, %d fields, there and back", rounds, fields);
	for (i = BPF_RELAY_HINT_HEX; i <= BPF_RELAY_HINT_PACKET; i++)
		ktap_ok(t.hints[i], "metadata: %d of them with hint %d", t.hints[i], i);
	/* A field that is not what the text says. */
	make_table(&t, false);
	t.f[0].name[0] ^= 1;
	ktap_ok(!is_same(&t.f[0], &(struct bpf_relay_field) {}), "control: fields are compared");
}

/* Comments that lie, or are no comments of ours: each field is what TSDL says it is. */
static void test_comments(void)
{
#define INT(size) "integer { size = " #size "; align = 8; signed = false; } "
#define HEX(size) "integer { size = " #size "; align = 8; signed = false; base = 16; } "
	static const struct {
		const char *field;
		__u16 kind;
		__u8 hint;
	} cases[] = {
		/* The truth, first. */
		{ INT(8) "_x; /* bpf_relay: bool */", BPF_RELAY_BOOL, BPF_RELAY_HINT_NONE },
		{ INT(64) "_x; /* bpf_relay: ns */", BPF_RELAY_UINT, BPF_RELAY_HINT_NS },
		{ HEX(8) "_x[6];/*bpf_relay: mac*/", BPF_RELAY_BYTES, BPF_RELAY_HINT_MAC },
		{ HEX(8) "_x[5]; /* bpf_relay: packet */", BPF_RELAY_BYTES, BPF_RELAY_HINT_PACKET },
		{ HEX(8) "_x[5]; /* bpf_relay: packet len */", BPF_RELAY_BYTES, BPF_RELAY_HINT_PACKET },
		/* Of a wrong kind or size. */
		{ INT(16) "_x; /* bpf_relay: bool */", BPF_RELAY_UINT, BPF_RELAY_HINT_NONE },
		{ HEX(8) "_x[5]; /* bpf_relay: mac */", BPF_RELAY_BYTES, BPF_RELAY_HINT_NONE },
		{ HEX(8) "_x[5]; /* bpf_relay: uint ipv4 */", BPF_RELAY_BYTES, BPF_RELAY_HINT_NONE },
		{ INT(32) "_x; /* bpf_relay: stack */", BPF_RELAY_UINT, BPF_RELAY_HINT_NONE },
		{ INT(64) "_x; /* bpf_relay: packet */", BPF_RELAY_UINT, BPF_RELAY_HINT_NONE },
		{ INT(8) "_x; /* bpf_relay: be ns */", BPF_RELAY_UINT, BPF_RELAY_HINT_NONE },
		{ INT(64) "_x; /* bpf_relay: size 1 */", BPF_RELAY_UINT, BPF_RELAY_HINT_NONE },
		/* Unknown words, nothing, something else. */
		{ INT(64) "_x; /* bpf_relay: ns tomorrow */", BPF_RELAY_UINT, BPF_RELAY_HINT_NONE },
		{ INT(64) "_x; /* bpf_relay: size 3 */", BPF_RELAY_UINT, BPF_RELAY_HINT_NONE },
		{ INT(64) "_x; /* bpf_relay: */", BPF_RELAY_UINT, BPF_RELAY_HINT_NONE },
		{ INT(64) "_x; /**/", BPF_RELAY_UINT, BPF_RELAY_HINT_NONE },
		{ INT(64) "_x; /* ns */", BPF_RELAY_UINT, BPF_RELAY_HINT_NONE },
		{ INT(64) "_x /* bpf_relay: ns */;", BPF_RELAY_UINT, BPF_RELAY_HINT_NONE },
		/* With a NUL, for which @ stands. */
		{ INT(64) "_x; /* bpf_relay: ns@and_so_on */", BPF_RELAY_UINT, BPF_RELAY_HINT_NONE },
		{ INT(64) "_x; /* bpf_relay: size @ ns */", BPF_RELAY_UINT, BPF_RELAY_HINT_NONE },
	};
#undef INT
#undef HEX
	struct bpfrelay_type *type;
	char text[512], *nul;
	size_t i;
	int len;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		len = snprintf(text, sizeof(text), "event { name = \"x\"; id = 1; stream_id = 0; "
			       "fields := struct { %s } align(64); };", cases[i].field);
		nul = strchr(text, '@');
		if (nul)
			*nul = '\0';
		type = parse(text, len);
		ktap_ok(type && type->n_fields == 1 && type->fields[0].kind == cases[i].kind &&
			type->fields[0].hint == cases[i].hint,
			"metadata: %s is of kind %u, with hint %u", strchr(cases[i].field, '_'),
			cases[i].kind, cases[i].hint);
		free(type);
	}
}

/* What is too long for the metadata loses comments first, then the names of its enums. */
static void test_too_long(void)
{
	static struct bpf_relay_field f[400];
	struct bpfrelay_type *type;
	size_t i, n;
	char *text;
	int len;

	for (n = 200; n <= 350; n += 150) {
		for (i = 0; i < n; i++) {
			f[i] = (struct bpf_relay_field) {
				.kind = BPF_RELAY_UINT, .offset = 8 * i, .size = 8, .count = 1,
				.hint = BPF_RELAY_HINT_KSYM,
			};
			snprintf(f[i].name, sizeof(f[i].name), "field_number_%zu", i);
		}
		len = bpfrelay_type_tsdl(f, n, "long", 1, &text);
		type = len < 0 ? NULL : parse(text, len);
		ktap_ok(type && type->fields[0].hint == (n > 200 ? BPF_RELAY_HINT_HEX :
								   BPF_RELAY_HINT_KSYM),
			"metadata: %zu hints %s", n, n > 200 ? "do not fit" : "fit");
		free(type);
		free(text);
	}
}

static void test_refused(void)
{
	static const struct {
		const char *fields, *why;
	} cases[] = {
#define INT "integer { size = 32; align = 8; signed = false; } "
		{ INT "_a; " INT "_a; } align(64); };", "there twice" },
		{ INT "a[0]; } align(64); };", "so many elements" },
		{ INT "a[4194305]; } align(64); };", "so many elements" },
		{ INT "a[4194304][4194304][4194304]; } align(64); };", "larger than a record" },
		{ INT "a[n]; } align(64); };", "'n' where a number" },
		{ INT "_a; } align(32); };", "'32' where" },
		{ "integer { size = 65; align = 1; signed = false; } a; } align(64); };", "such a size" },
		{ "integer { size = 24; align = 8; signed = false; } a; } align(64); };", "odd size" },
		{ "integer { size = 8; align = 8; signed = maybe; } a; } align(64); };", "true or false" },
		{ "integer { size = 3; align = 1; signed = false; } a; } align(64); };", "whole number of bytes" },
		{ "integer { size = 3; align = 1; signed = false; } a[2]; } align(64); };", NULL },
		{ "string a; } align(64); };", "'string' where" },
		{ "variant { } a; } align(64); };", "'variant' where" },
		{ "struct { } align(8) a; } align(64); };", "whole number of bytes" },
		{ "uint32_t n; " INT "_a; }; };", "a length of nothing" },
		{ "uint32_t n; " INT "_a[m]; }; };", "'m' where" },
		{ "floating_point { exp_dig = 5; mant_dig = 11; align = 8; } a; } align(64); };", "floating_point like this" },
#undef INT
	};
	char text[1024];
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct bpfrelay_type *type;

		snprintf(text, sizeof(text), "event { name = \"x\"; id = 1; stream_id = 0; fields := struct { %s",
			 cases[i].fields);
		type = parse(text, strlen(text));
		ktap_ok(!type && (cases[i].why ? strstr(said, cases[i].why) != NULL : *said),
			"metadata: refused: %s", said);
		free(type);
	}
	/* As deep as text can be. */
	{
		char *deep = malloc(1 << 20);
		size_t len = sprintf(deep, "event { name = \"x\"; id = 1; stream_id = 0; fields := struct { ");

		for (i = 0; i < 50000; i++)
			len += sprintf(deep + len, "struct { ");
		ktap_ok(!parse(deep, len) && strstr(said, "too deeply"), "metadata: refused: %s", said);
		free(deep);
	}
}

static void test_head(void)
{
	const char *text = gen_metadata(), *at;
	struct metadata m;
	char *changed = strdup(text);
	int err;

	err = metadata_parse(&m, text, strlen(text), &to);
	ktap_ok(!err && !strcmp(m.log, "gen.7") && !strcmp(m.host, "box") &&
		m.clock == BPF_RELAY_CLOCK_BOOT && m.offset == 1700000000000000000 &&
		!memcmp(m.uuid, gen_uuid, 16) && m.type[0] && m.type[1] && m.type[2] && !m.type[3],
		"metadata: what the head says");
	metadata_free(&m);

	at = strstr(text, "byte_order = le");
	memcpy(changed + (at - text), "byte_order = be", 15);
	err = metadata_parse(&m, changed, strlen(changed), &to);
	ktap_ok(err == -EINVAL && strstr(said, "line 12: 'be'") , "metadata: refused: %s", said);
	metadata_free(&m);
	strcpy(changed, text);
	at = strstr(text, "id = 2;");
	changed[at - text + 5] = '1';
	err = metadata_parse(&m, changed, strlen(changed), &to);
	ktap_ok(err == -EINVAL && strstr(said, "second time"), "metadata: refused: %s", said);
	metadata_free(&m);
	free(changed);
}

int main(int argc, char **argv)
{
	srand(argc > 1 ? strtoul(argv[1], NULL, 0) : 1);
	ktap_begin();
	test_random(argc > 2 ? atoi(argv[2]) : 2000);
	test_comments();
	test_too_long();
	test_refused();
	test_head();
	return ktap_end();
}
