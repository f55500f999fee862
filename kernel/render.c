// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#ifdef __KERNEL__
#include <linux/kernel.h>
#else
#include <stdarg.h>
#include <stdio.h>
#endif

#include "fields.h"
#include "render.h"

/* ---- The text ------------------------------------------------------------- */

void render_bytes(struct render *r, const char *s, size_t n)
{
	size_t from = r->len > r->skip ? r->len : r->skip;
	size_t to = r->len + n;

	if (to > r->skip + r->room)
		to = r->skip + r->room;
	if (from < to)
		memcpy(r->to + (from - r->skip), s + (from - r->len), to - from);
	r->len += n;
}

static void put(struct render *r, const char *s)
{
	render_bytes(r, s, strlen(s));
}

void render_printf(struct render *r, const char *fmt, ...)
{
	char piece[RENDER_PIECE];
	va_list args;
	int n;

	va_start(args, fmt);
	n = vsnprintf(piece, sizeof(piece), fmt, args);
	va_end(args);
	render_bytes(r, piece, n < (int)sizeof(piece) ? n : (int)sizeof(piece) - 1);
}

/* ---- The record ------------------------------------------------------------ */

/*
 * The only way to the bytes of a record: *n of them from `at` on, cut down to what
 * is there. Whatever a table says, nothing else of memory is ever read.
 */
static const u8 *record_bytes(const struct render_record *rec, u64 at, u64 *n)
{
	if (at >= rec->have)
		*n = 0;
	else if (*n > rec->have - at)
		*n = rec->have - at;
	return rec->payload + (*n ? at : 0);
}

/* Of a flexible array whole elements up to the end of the record. */
static u64 field_elements(const struct render_record *rec, const struct bpf_relay_field *f, u64 at)
{
	if (f->count)
		return f->count;
	return f->size && at < rec->len ? (rec->len - at) / f->size : 0;
}

static u32 field_bits(const struct bpf_relay_field *f)
{
	return f->bits ? f->bits : 8 * f->size;
}

static bool field_signed(const struct bpf_relay_field *f)
{
	return f->kind == BPF_RELAY_INT ||
	       (f->kind == BPF_RELAY_ENUM && f->flags & BPF_RELAY_FIELD_SIGNED);
}

/* The low `bits` bits of a number, 1 to 64, in 64. */
static u64 extend(u64 value, u32 bits, bool is_signed)
{
	u32 unused = 64 - bits;

	value <<= unused;
	return is_signed ? (u64)((__s64)value >> unused) : value >> unused;
}

/* The number whose first byte is at `at`; false: it is not all there. */
static bool field_number(const struct render_record *rec, const struct bpf_relay_field *f,
			 u64 at, u64 *number)
{
	u32 bits = field_bits(f);
	u64 n = (f->bit_offset + bits + 7) / 8, i, have = n, value = 0;
	const u8 *bytes = record_bytes(rec, at, &have);

	if (!bits || bits > 64 || !f->size || f->size > 8 || f->bit_offset > 7 || have < n)
		return false;
	for (i = 0; i < n; i++) {
		/* A bit-field may begin inside the first of up to nine bytes. */
		int shift = 8 * (int)i - f->bit_offset;

		if (shift < 0)
			value |= bytes[i] >> -shift;
		else
			value |= (u64)bytes[i] << shift;
	}
	if (f->flags & BPF_RELAY_FIELD_BE && !f->bits)
		value = __builtin_bswap64(value) >> (64 - bits);
	*number = extend(value, bits, field_signed(f));
	return true;
}

/* ---- Values ----------------------------------------------------------------- */

static void put_hex(struct render *r, const u8 *bytes, u64 n)
{
	static const char digits[] = "0123456789abcdef";
	u64 i;

	for (i = 0; i < n && !render_full(r); i++) {
		const char hex[] = { digits[bytes[i] >> 4], digits[bytes[i] & 15] };

		render_bytes(r, hex, sizeof(hex));
	}
}

/* Up to a NUL; false: it may go on behind what is there. */
static bool put_string(struct render *r, const u8 *s, u64 n, bool whole)
{
	u64 i;

	put(r, "\"");
	for (i = 0; i < n && s[i] && !render_full(r); i++) {
		if (s[i] == '"' || s[i] == '\\')
			render_printf(r, "\\%c", s[i]);
		else if (s[i] == '\n')
			put(r, "\\n");
		else if (s[i] < ' ' || s[i] > '~')
			render_printf(r, "\\x%02x", s[i]);
		else
			render_bytes(r, (const char *)s + i, 1);
	}
	put(r, "\"");
	return whole || i < n;
}

static noinline void put_symbol(struct render *r, u64 addr)
{
	char symbol[RENDER_SYMBOL_MAX];

	render_symbol(r, symbol, addr);
	put(r, symbol);
}

/* False: none of the enumerators, which stand behind the field, has this value. */
static bool put_enumerator(struct render *r, const struct bpf_relay_field *f,
			   const struct bpf_relay_field *end, u64 value)
{
	const struct bpf_relay_field *e;

	for (e = f + 1; e < end && e->kind == BPF_RELAY_ENUMERATOR; e++)
		if (extend(e->value, 8 * f->size, field_signed(f)) == value) {
			put(r, e->name);
			return true;
		}
	return false;
}

static void put_ipv4(struct render *r, const u8 *a)
{
	render_printf(r, "%u.%u.%u.%u", a[0], a[1], a[2], a[3]);
}

static void put_ipv6(struct render *r, const u8 *a)
{
	char text[RENDER_IPV6_MAX];

	render_ipv6(text, a);
	put(r, text);
}

static void put_mac(struct render *r, const u8 *a)
{
	render_printf(r, "%02x:%02x:%02x:%02x:%02x:%02x", a[0], a[1], a[2], a[3], a[4], a[5]);
}

static void put_number(struct render *r, const struct bpf_relay_field *f,
		       const struct bpf_relay_field *end, u64 v)
{
	const char *unit = f->hint == BPF_RELAY_HINT_NS ? "ns" : "";
	/* The bytes of memory again: little-endian, unless it was converted. */
	u32 address = f->flags & BPF_RELAY_FIELD_BE ? __builtin_bswap32(v) : v;

	if (f->kind == BPF_RELAY_ENUM && put_enumerator(r, f, end, v))
		return;
	if (f->hint == BPF_RELAY_HINT_IPV4)
		put_ipv4(r, (const u8 *)&address);
	else if (f->hint == BPF_RELAY_HINT_KSYM || f->hint == BPF_RELAY_HINT_STACK)
		put_symbol(r, v);
	else if (f->hint == BPF_RELAY_HINT_HEX || f->kind == BPF_RELAY_FLOAT)
		render_printf(r, "0x%llx", extend(v, field_bits(f), false));
	else if (f->kind == BPF_RELAY_BOOL && v <= 1)
		put(r, v ? "true" : "false");
	else if (field_signed(f))
		render_printf(r, "%lld%s", v, unit);
	else
		render_printf(r, "%llu%s", v, unit);
}

/* ---- Fields ----------------------------------------------------------------- */

/* One value for all of its bytes, however many. */
static bool is_run(const struct bpf_relay_field *f)
{
	return f->kind == BPF_RELAY_CHAR || f->kind == BPF_RELAY_BYTES ||
	       f->kind == BPF_RELAY_PAD;
}

static bool is_container(const struct bpf_relay_field *f)
{
	return f->kind == BPF_RELAY_STRUCT || f->kind == BPF_RELAY_ARRAY;
}

/* Shown in brackets, as an array is even if it has one element or none. */
static bool is_array(const struct bpf_relay_field *f)
{
	return f->count != 1 || f->kind == BPF_RELAY_ARRAY || f->hint == BPF_RELAY_HINT_STACK;
}

/* Whether enough is there to show anything of a field. */
static bool field_begun(const struct render_record *rec, const struct bpf_relay_field *f, u64 at)
{
	u64 n = 1, number;

	if (!field_elements(rec, f, at))
		return true;
	if (!is_run(f) && !is_container(f))
		return field_number(rec, f, at, &number);
	record_bytes(rec, at, &n);
	return n;
}

/* Each shows a field without members. False: *at is where what is there ends. */
static bool put_run(struct render *r, const struct render_record *rec,
		    const struct bpf_relay_field *f, u64 *at)
{
	u64 want = field_elements(rec, f, *at), n = want;
	const u8 *bytes = record_bytes(rec, *at, &n);

	*at += n;
	if (f->kind == BPF_RELAY_CHAR)
		return put_string(r, bytes, n, n == want);
	if (f->hint == BPF_RELAY_HINT_IPV4 && n == 4)
		put_ipv4(r, bytes);
	else if (f->hint == BPF_RELAY_HINT_IPV6 && n == 16)
		put_ipv6(r, bytes);
	else if (f->hint == BPF_RELAY_HINT_MAC && n == 6)
		put_mac(r, bytes);
	else
		put_hex(r, bytes, n);
	return n == want;
}

static bool put_numbers(struct render *r, const struct render_record *rec,
			const struct bpf_relay_field *f, u64 *at)
{
	u64 n = field_elements(rec, f, *at), i, value;
	bool all = true;

	if (is_array(f))
		put(r, "[");
	for (i = 0; i < n && !render_full(r); i++, *at += f->size) {
		all = field_number(rec, f, *at, &value);
		if (!all || (f->hint == BPF_RELAY_HINT_STACK && !value))
			break;
		if (i)
			put(r, ",");
		put_number(r, f, rec->fields + rec->n_fields, value);
	}
	if (is_array(f))
		put(r, "]");
	return all;
}

static bool put_value(struct render *r, const struct render_record *rec,
		      const struct bpf_relay_field *f, u64 *at)
{
	return is_run(f) ? put_run(r, rec, f, at) : put_numbers(r, rec, f, at);
}

/* Where the bytes of a field of the record itself end. */
static u64 field_end(const struct render_record *rec, const struct bpf_relay_field *f)
{
	if (!f->count)
		return rec->len;
	if (f->bits)
		return f->offset + (f->bit_offset + f->bits + 7) / 8;
	return f->offset + (u64)f->size * f->count;
}

/* A struct or array whose members are being shown. */
struct level {
	u32 field;
	u64 at;		/* its current element */
	u64 left;	/* elements, with the current one */
};

static void put_open(struct render *r, const struct bpf_relay_field *f)
{
	if (f->kind == BPF_RELAY_STRUCT)
		put(r, "{");
}

static void put_close(struct render *r, const struct bpf_relay_field *f)
{
	if (f->kind == BPF_RELAY_STRUCT)
		put(r, "}");
}

/* Returns where what was shown ends. No recursion: a kernel stack is small. */
static u64 put_fields(struct render *r, const struct render_record *rec)
{
	const struct bpf_relay_field *fields = rec->fields, *f;
	struct level level[FIELDS_DEPTH_MAX], *in;
	u32 depth = 0, i = 0;
	bool first = true;	/* in its struct */
	u64 at, end = 0;

	while (!render_full(r)) {
		in = depth ? &level[depth - 1] : NULL;
		if (in && (i == rec->n_fields || fields[i].depth <= fields[in->field].depth)) {
			/* Behind an element's last member. */
			f = &fields[in->field];
			put_close(r, f);
			if (--in->left) {
				put(r, ",");
				put_open(r, f);
				in->at += f->size;
				i = in->field + 1;
				first = true;
				continue;
			}
			if (is_array(f))
				put(r, "]");
			depth--;
			first = false;
			continue;
		}
		if (i == rec->n_fields)
			return end;

		f = &fields[i++];
		if (f->kind == BPF_RELAY_ENUMERATOR)
			continue;
		at = f->offset + (in ? in->at : 0);
		if (!field_begun(rec, f, at))
			goto cut;
		if (!in)
			end = field_end(rec, f);
		if (f->kind == BPF_RELAY_PAD)
			continue;

		if (f->name[0]) {
			if (!first)
				put(r, " ");
			put(r, f->name);
			put(r, "=");
		}
		first = false;
		if (!is_container(f)) {
			if (!put_value(r, rec, f, &at))
				goto cut;
			continue;
		}
		if (is_array(f))
			put(r, "[");
		if (!field_elements(rec, f, at)) {
			put(r, "]");
			while (i < rec->n_fields && fields[i].depth > f->depth)
				i++;
			continue;
		}
		if (depth == FIELDS_DEPTH_MAX)
			goto cut;
		level[depth++] = (struct level) { i - 1, at, field_elements(rec, f, at) };
		put_open(r, f);
		first = true;
	}
	return end;
cut:
	while (depth) {
		f = &fields[level[--depth].field];
		put_close(r, f);
		if (is_array(f))
			put(r, "]");
	}
	return at;
}

void render_record(struct render *r, const struct render_record *rec)
{
	size_t before = r->len;
	u64 end = rec->have;

	if (rec->n_fields) {
		end = put_fields(r, rec);
	} else {
		put(r, "data=");
		put_hex(r, rec->payload, rec->have);
	}
	if (end < rec->len)
		render_printf(r, "%s...+%llu bytes", r->len > before ? " " : "", rec->len - end);
}
