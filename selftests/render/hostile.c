// SPDX-License-Identifier: GPL-2.0-only
/* Tables that nobody would write but fields_valid() lets pass, and random bytes. */
#include "tables.h"

#define TABLE_MAX	48
#define RECORD_MAX	512

static u64 seed = 88172645463325252ULL;

static u32 any(u32 n)
{
	return test_random(&seed) % n;
}

struct table {
	struct bpf_relay_field f[TABLE_MAX];
	u32 n;
};

static struct bpf_relay_field *add(struct table *t, u32 depth, bool named, u32 kind)
{
	struct bpf_relay_field *f = &t->f[t->n++];

	*f = (struct bpf_relay_field) { .kind = kind, .depth = depth, .count = 1 };
	if (named)
		sprintf(f->name, "f%u", t->n);
	return f;
}

/* Members that fill `size` bytes; gives up (too long a table) by leaving a hole. */
static void members(struct table *t, u32 size, u32 depth, bool array)
{
	u32 at = 0;

	while (at < size && t->n < TABLE_MAX - 4) {
		u32 left = array ? size : size - at, bytes, kind = 1 + any(11), power = 1u << any(4);
		struct bpf_relay_field *f;

		if (kind == BPF_RELAY_ENUMERATOR || (array && kind == BPF_RELAY_PAD) ||
		    (depth >= FIELDS_DEPTH_MAX - 1 &&
		     (kind == BPF_RELAY_STRUCT || kind == BPF_RELAY_ARRAY)))
			kind = BPF_RELAY_UINT;
		f = add(t, depth, !array && kind != BPF_RELAY_PAD, kind);
		f->offset = at;
		switch (kind) {
		case BPF_RELAY_UINT:
		case BPF_RELAY_INT:
		case BPF_RELAY_ENUM:
		case BPF_RELAY_FLOAT:
			f->size = kind == BPF_RELAY_FLOAT ? 4u << any(2) : power;
			while (left % f->size || f->size > left) {
				f->kind = BPF_RELAY_UINT;
				f->size /= 2;
				if (!f->size)
					f->size = 1;
			}
			f->count = array ? left / f->size : 1 + any(left / f->size);
			if (f->kind == BPF_RELAY_UINT && f->size == 8)
				f->hint = any(2) ? BPF_RELAY_HINT_STACK : BPF_RELAY_HINT_HEX;
			else if (f->kind == BPF_RELAY_UINT && f->size == 4)
				f->hint = any(2) ? BPF_RELAY_HINT_IPV4 : BPF_RELAY_HINT_NS;
			if (f->kind == BPF_RELAY_INT && f->size > 1)
				f->flags = any(2) * BPF_RELAY_FIELD_BE;
			break;
		case BPF_RELAY_STRUCT:
		case BPF_RELAY_ARRAY:
			f->count = array ? 1 : 1 + any(3);
			f->size = left / f->count;
			if (!f->size) {
				f->size = left;
				f->count = 1;
			}
			break;
		default:
			f->size = 1;
			f->count = array ? left : 1 + any(left);
		}
		bytes = f->size * f->count;
		if (f->kind == BPF_RELAY_ENUM && any(2)) {
			struct bpf_relay_field *e = add(t, depth + 1, true, BPF_RELAY_ENUMERATOR);

			e->value = any(4);
		}
		if (f->kind == BPF_RELAY_STRUCT || f->kind == BPF_RELAY_ARRAY)
			members(t, f->size, depth + 1, f->kind == BPF_RELAY_ARRAY);
		/* Bytes in which bit-fields lie. */
		if (!array && f->kind == BPF_RELAY_UINT && any(2)) {
			u32 bits = 1 + any(7);

			f->size = f->count = 1;
			f->hint = 0;
			f->bits = bits;
			f = add(t, depth, true, BPF_RELAY_INT);
			*f = (struct bpf_relay_field) {
				.kind = BPF_RELAY_INT, .depth = depth, .count = 1, .size = 8,
				.offset = at, .bit_offset = bits, .bits = 8 - bits,
			};
			sprintf(f->name, "b%u", t->n);
			bytes = 1;
		}
		at += bytes;
		if (array)
			return;
	}
}

/* Every byte of a record is an end of memory once. */
static void render_all(const struct table *t, u32 len)
{
	struct render_record rec = record(t->f, t->n, NULL, len);
	u32 have;

	for (have = 0; have <= len; have++) {
		u8 *payload = malloc(have ? have : 1);
		const char *text;
		u32 i;
		int braces = 0, brackets = 0;
		bool quoted = false;

		for (i = 0; i < have; i++)
			payload[i] = any(4) ? any(256) : 0;
		rec.payload = payload;
		rec.have = have;
		text = render_whole(&rec);
		for (; *text; text++) {
			CHECK(*text >= ' ' && *text <= '~', "character %#x", (unsigned char)*text);
			if (quoted && *text == '\\')
				text++;
			else if (*text == '"')
				quoted = !quoted;
			else if (!quoted) {
				braces += (*text == '{') - (*text == '}');
				brackets += (*text == '[') - (*text == ']');
			}
		}
		CHECK(!quoted && !braces && !brackets, "%s", render_whole(&rec));
		free(payload);
		if (have > 64 && have + 64 < len)
			have += any(40);
	}
}

/*
 * Fails when: anything outside a record is read (under ASan), brackets or quotes are
 * left open, or a character is not printable, whatever a table says.
 */
TEST(hostile_tables, "random tables that are valid")
{
	u32 kinds[16] = {}, i, j, valid = 0, mutated = 0;
	struct table t;

	for (i = 0; i < 6000; i++) {
		u32 size = 1 + any(i % 10 ? 64 : RECORD_MAX), len = size;
		bool var = any(4) == 0;

		t.n = 0;
		members(&t, size, 0, false);
		if (var) {
			struct bpf_relay_field *f = add(&t, 0, true, 1 + any(3));

			f->count = 0;
			f->offset = size;
			f->size = f->kind == BPF_RELAY_CHAR ? 1 : 1 << any(4);
			len += any(40);
		}
		/* One in three gets something else somewhere: some of these are valid, too. */
		if (any(3) == 0) {
			((u8 *)&t.f[any(t.n)])[any(28)] = any(2) ? any(16) : any(256);
			mutated += fields_valid(t.f, t.n, size, var);
		}
		if (!fields_valid(t.f, t.n, size, var))
			continue;
		valid++;
		for (j = 0; j < t.n; j++)
			kinds[t.f[j].kind]++;
		render_all(&t, len);
	}
	note("%u tables, %u of them mutated", valid, mutated);
	CHECK(valid > 1000 && mutated > 20);
	for (i = BPF_RELAY_UINT; i <= BPF_RELAY_ARRAY; i++)
		CHECK(kinds[i] > 100, "kind %u: %u times", i, kinds[i]);
}

/*
 * Not even of tables that are not valid: the accessor looks at nothing but the record.
 * Counts are small, or it would take long.
 */
TEST(invalid_tables, "random tables that are not")
{
	struct table t;
	u32 i, j, invalid = 0;

	for (i = 0; i < 20000; i++) {
		u32 size = 1 + any(32);

		t.n = 0;
		members(&t, size, 0, false);
		for (j = 0; j < 3; j++) {
			u8 *byte = &((u8 *)&t.f[any(t.n)])[any(28)];

			*byte = any(2) ? any(12) : 1u << any(8);
		}
		for (j = 0; j < t.n; j++)
			t.f[j].count &= 0xff;
		if (fields_valid(t.f, t.n, size, false))
			continue;
		invalid++;
		render_all(&t, size);
	}
	note("%u tables", invalid);
	CHECK(invalid > 5000);
}
