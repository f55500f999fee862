// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tables of fields from BTF that no compiler writes, and from what is easier to
 * say here than in C. Every table must also pass the module's own check.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "bpfrelay.h"
#include "ktap.h"
#include "../../kernel/fields.h"

#define FUZZ_ROUNDS	1500	/* for each of the tests whose types are fuzzed */
#define FIELDS_MAX	((int)(BPF_RELAY_TEXT_MAX / sizeof(struct bpf_relay_field)))

static struct btf *btf;
static int u8_id, u32_id, u64_id, char_id;

static void new_btf(void)
{
	btf__free(btf);
	btf = btf__new_empty();
	u8_id = btf__add_int(btf, "unsigned char", 1, 0);
	u32_id = btf__add_int(btf, "unsigned int", 4, 0);
	u64_id = btf__add_int(btf, "unsigned long", 8, 0);
	char_id = btf__add_int(btf, "char", 1, BTF_INT_SIGNED);
}

static int array_of(int type, __u32 n)
{
	return btf__add_array(btf, u32_id, type, n);
}

static void member(const char *name, int type, __u32 byte)
{
	btf__add_field(btf, name, type, byte * 8, 0);
}

static void tag(const char *hint, int id, int index)
{
	btf__add_decl_tag(btf, hint, id, index);
}

static char said[256];

static void remember(void *ctx, const char *fmt, va_list args)
{
	(void)ctx;
	vsnprintf(said, sizeof(said), fmt, args);
}

/*
 * "u4:a@0 pad1@4x3": kind, size, name, offset, count; .BIT/BITS of a bit-field, !HINT,
 * [] of a flexible array; in the order of the table.
 */
static const char *describe(int id, __u16 flags, int *n)
{
	static const char *const kinds[] = { "?", "u", "i", "char", "struct", "bytes", "pad",
					     "bool", "enum", "=", "float", "array" };
	static const char *const hints[] = { "", "!hex", "!ipv4", "!ipv6", "!mac", "!string", "!ns",
					     "!stack", "!ksym", "!ifindex", "!packet" };
	static char text[4096];
	struct bpf_relay_field *fields, *f;
	FILE *out = fmemopen(text, sizeof(text), "w");

	said[0] = '\0';
	*n = bpfrelay_type_fields(btf, id, flags, remember, NULL, &fields);
	for (f = fields; f - fields < *n; f++) {
		fprintf(out, "%s%.*s", f == fields ? "" : " ", f->depth, "................");
		if (f->kind == BPF_RELAY_ENUMERATOR) {
			fprintf(out, "%s=%lld", f->name, (long long)f->value);
			continue;
		}
		fprintf(out, "%s%u%s%s%s%s@%u", kinds[f->kind], f->size,
			f->flags & BPF_RELAY_FIELD_SIGNED ? "s" : "",
			f->flags & BPF_RELAY_FIELD_BE ? "be" : "", f->name[0] ? ":" : "", f->name,
			f->offset);
		if (f->bits)
			fprintf(out, ".%u/%u", f->bit_offset, f->bits);
		if (!f->count)
			fprintf(out, "[]");
		else if (f->count != 1)
			fprintf(out, "x%u", f->count);
		fprintf(out, "%s", hints[f->hint]);
		if (f->hint == BPF_RELAY_HINT_PACKET && f->value != BPF_RELAY_NO_FIELD)
			fprintf(out, "(%s)", fields[f->value].name);
	}
	fclose(out);
	if (*n > 0 && !fields_valid(fields, *n, btf__resolve_size(btf, id),
				    flags & BPF_RELAY_TYPE_VAR))
		snprintf(text, sizeof(text), "the module would refuse this");
	free(fields);
	return *n > 0 ? text : "";
}

static void expect_flags(const char *what, int id, __u16 flags, const char *want)
{
	const char *got;
	int n;

	got = describe(id, flags, &n);
	if (!ktap_ok(n >= 0 && !strcmp(got, want), "fields: %s", what))
		printf("# wanted '%s', got %d '%s' %s\n", want, n, got, said);
}

static void expect(const char *what, int id, const char *want)
{
	expect_flags(what, id, 0, want);
}

static void expect_var(const char *what, int id, const char *want)
{
	expect_flags(what, id, BPF_RELAY_TYPE_VAR, want);
}

static void expect_error(const char *what, int id, int err)
{
	int n;

	describe(id, 0, &n);
	if (!ktap_ok(n == err, "fields: %s", what))
		printf("# wanted %d, got %d\n", err, n);
}

static void test_plain(void)
{
	int id, inner, inners, text, words, texts, un;

	new_btf();
	text = array_of(char_id, 16);
	texts = array_of(array_of(array_of(char_id, 5), 1), 2);
	words = array_of(array_of(u32_id, 2), 3);
	inner = btf__add_struct(btf, "inner", 16);
	member("a", u64_id, 0);
	member("b", u8_id, 8);
	inners = array_of(inner, 2);
	id = btf__add_struct(btf, "outer", 112);
	member("c", u8_id, 0);
	member("in", inners, 8);
	member("comm", text, 40);
	member("w", words, 56);
	expect("padding in, behind and around structs; arrays of two dimensions", id,
	       "u1:c@0 pad1@1x7 struct16:in@8x2 .u8:a@0 .u1:b@8 .pad1@9x7 char1:comm@40x16 "
	       "array8:w@56x3 .u4@0x2 pad1@80x32");

	expect("an integer", btf__add_typedef(btf, "number", u32_id), "u4:value@0");
	expect("an array", words, "array8:value@0x3 .u4@0x2");
	expect("texts", texts, "array5:value@0x2 .char1@0x5");
	expect("dimensions of 1 are none", array_of(array_of(array_of(u8_id, 1), 3), 1),
	       "u1:value@0x3");
	expect("a single char is a number, an array of one is not", char_id, "i1:value@0");
	expect("the same, as an array", array_of(char_id, 1), "char1:value@0");
	expect("texts of one byte", array_of(array_of(char_id, 1), 3), "array1:value@0x3 .char1@0");
	expect("structs in arrays of arrays", array_of(array_of(inner, 2), 3),
	       "array32:value@0x3 .struct16@0x2 ..u8:a@0 ..u1:b@8 ..pad1@9x7");
	expect("a pointer", btf__add_ptr(btf, 0), "u8:value@0!hex");
	un = btf__add_union(btf, "u", 12);
	member("a", u64_id, 0);
	expect("a union", un, "bytes1:value@0x12");
	expect("unions", array_of(array_of(un, 3), 2), "array36:value@0x2 .array12@0x3 ..bytes1@0x12");
	expect("a struct without members", btf__add_struct(btf, "e", 3), "pad1@0x3");
	expect("a struct without size", btf__add_struct(btf, "z", 0), "");
	expect_error("void has no size", 0, -EINVAL);
	expect_error("an id that does not exist", 100000, -EINVAL);
	expect_error("a type that is only declared", btf__add_fwd(btf, "f", BTF_FWD_STRUCT), -EINVAL);
}

static void test_kinds(void)
{
	int id, boolean, be16, be64, cold, warm, wide, minus, tiny, wide_minus;

	new_btf();
	boolean = btf__add_int(btf, "_Bool", 1, BTF_INT_BOOL);
	expect("bool", boolean, "bool1:value@0");
	expect("bools", array_of(boolean, 3), "bool1:value@0x3");
	expect("bool of another size", btf__add_int(btf, "BOOL", 4, BTF_INT_BOOL), "u4:value@0");
	expect("float", btf__add_float(btf, "float", 4), "float4:value@0");
	expect("double", array_of(btf__add_float(btf, "double", 8), 2), "float8:value@0x2");
	expect("long double", btf__add_float(btf, "long double", 16), "bytes1:value@0x16");
	expect("__int128", array_of(btf__add_int(btf, "__int128", 16, BTF_INT_SIGNED), 2),
	       "array16:value@0x2 .bytes1@0x16");

	be16 = btf__add_typedef(btf, "__be16", btf__add_int(btf, "unsigned short", 2, 0));
	expect("__be16", btf__add_const(btf, btf__add_typedef(btf, "port_t", be16)), "u2be:value@0");
	be64 = btf__add_typedef(btf, "__be64", u64_id);
	expect("__be64, in arrays", array_of(array_of(be64, 2), 2), "array16:value@0x2 .u8be@0x2");
	expect("another name", btf__add_typedef(btf, "__le64", u64_id), "u8:value@0");
	expect("__be16 of one byte", btf__add_typedef(btf, "__be16", u8_id), "u1:value@0");

	cold = btf__add_enum(btf, "cold", 4);
	btf__add_enum_value(btf, "ICE", -1);
	btf__add_enum_value(btf, "SNOW", 7);
	expect("enum, signed", cold, "enum4s:value@0 .ICE=-1 .SNOW=7");
	warm = btf__add_enum(btf, "warm", 4);
	btf__add_enum_value(btf, "SUN", 0xfffffffe);
	expect("enum, unsigned, in arrays", array_of(array_of(warm, 3), 2),
	       "array12:value@0x2 .enum4@0x3 ..SUN=4294967294");
	tiny = btf__add_enum(btf, "tiny", 1);
	btf__add_enum_value(btf, "T", 3);
	btf__add_enum_value(btf, "2 U", 4);
	btf__add_enum_value(btf, "T", 5);
	expect("enum of one byte, with odd names", tiny, "enum1:value@0 .T=3 .anon_1=4 .T_1=5");
	wide = btf__add_enum64(btf, "wide", 8, false);
	btf__add_enum64_value(btf, "MAX", ~0ULL);
	expect("enum of 64 bits", wide, "enum8:value@0 .MAX=-1");
	wide_minus = btf__add_enum64(btf, "wide_minus", 8, true);
	btf__add_enum64_value(btf, "MIN", 1ULL << 63);
	expect("enum of 64 bits, signed", wide_minus, "enum8s:value@0 .MIN=-9223372036854775808");
	expect("an enum without names", btf__add_enum(btf, "none", 2), "enum2:value@0");

	id = btf__add_struct(btf, "anon", 16);
	minus = btf__add_struct(btf, NULL, 8);
	member("a", cold, 0);
	member("b", u8_id, 4);
	btf__add_struct(btf, "outer", 12);
	member("x", u8_id, 0);
	member(NULL, minus, 4);
	expect("members of an anonymous struct are its parent's", id + 2,
	       "u1:x@0 pad1@1x3 enum4s:a@4 .ICE=-1 .SNOW=7 u1:b@8 pad1@9x3");
}

static void bits(const char *name, int type, __u32 bit, __u32 n)
{
	btf__add_field(btf, name, type, bit, n);
}

/* An integer of few bits, which itself says where they are. */
static int old_int(__u32 n_bits, __u32 offset)
{
	int id = btf__add_int(btf, "int", 4, BTF_INT_SIGNED);
	struct btf_type *t = (struct btf_type *)btf__type_by_id(btf, id);

	*(__u32 *)(t + 1) = BTF_INT_SIGNED << 24 | offset << 16 | n_bits;
	return id;
}

static void test_bits(void)
{
	int id, boolean, small, wide, short_id, a, b;

	new_btf();
	boolean = btf__add_int(btf, "_Bool", 1, BTF_INT_BOOL);
	short_id = btf__add_int(btf, "short", 2, BTF_INT_SIGNED);
	wide = btf__add_int(btf, "__int128", 16, 0);
	small = btf__add_enum(btf, "small", 4);
	btf__add_enum_value(btf, "NO", -1);

	id = btf__add_struct(btf, "bits", 16);
	bits("a", u32_id, 0, 3);
	bits("b", short_id, 3, 7);
	bits("c", boolean, 10, 1);
	bits("d", small, 21, 2);
	bits("e", u64_id, 64, 64);
	expect("bit-fields, and the holes between them", id,
	       "u4:a@0.0/3 i2:b@0.3/7 bool1:c@1.2/1 pad1@1.3/5 pad1@2.0/5 enum4s:d@2.5/2 .NO=-1 "
	       "pad1@2.7/1 pad1@3x5 u8:e@8.0/64");
	id = btf__add_struct(btf, "packed", 9);
	bits("a", u8_id, 0, 7);
	bits("b", u64_id, 7, 64);
	expect("a bit-field in nine bytes", id, "u1:a@0.0/7 u8:b@0.7/64 pad1@8.7/1");
	id = btf__add_struct(btf, "narrow", 1);
	bits("a", u64_id, 0, 5);
	expect("a bit-field of an integer that is larger than the struct", id,
	       "u8:a@0.0/5 pad1@0.5/3");
	id = btf__add_struct(btf, "wide", 16);
	bits("a", wide, 0, 64);
	expect("a bit-field of an __int128", id, "u8:a@0.0/64 pad1@8x8");

	a = old_int(5, 0);
	b = old_int(6, 5);
	id = btf__add_struct(btf, "old", 4);
	member("a", a, 0);
	member("b", b, 0);
	member("c", u8_id, 2);
	expect("bit-fields of integers that say their bits", id,
	       "i4:a@0.0/5 i4:b@0.5/6 pad1@1.3/5 u1:c@2 pad1@3");
	expect("an array of such is bytes", array_of(b, 2), "array4:value@0x2 .bytes1@0x4");
}

static void test_flexible(void)
{
	int id, none, inner, inners, names, rows, un;

	new_btf();
	none = array_of(u8_id, 0);
	names = array_of(array_of(char_id, 8), 0);
	rows = array_of(array_of(array_of(u32_id, 3), 2), 0);
	id = btf__add_struct(btf, "flex", 8);
	member("n", u32_id, 0);
	member("x", u8_id, 4);
	member("data", none, 5);
	expect("a flexible array is left out of a type of one size", id, "u4:n@0 u1:x@4 pad1@5x3");
	expect_var("and is where it is in others, before the end of the struct too", id,
		   "u4:n@0 u1:x@4 u1:data@5[]");
	id = btf__add_struct(btf, "hole", 8);
	member("n", u8_id, 0);
	member("data", none, 4);
	expect_var("behind a hole", id, "u1:n@0 pad1@1x3 u1:data@4[]");
	id = btf__add_struct(btf, "not_last", 4);
	member("first", none, 0);
	member("n", u32_id, 0);
	expect_var("an empty array that is not the last is left out", id, "u4:n@0 bytes1:data@4[]");
	id = btf__add_struct(btf, "taken", 8);
	member("data", u32_id, 0);
	expect_var("without an array: bytes behind the padding, of a name that is free", id,
		   "u4:data@0 pad1@4x4 bytes1:data_1@8[]");
	id = btf__add_struct(btf, "only", 0);
	member("rows", rows, 0);
	expect_var("nothing but a flexible array, of arrays", id,
		   "array24:rows@0[] .array12@0x2 ..u4@0x3");
	id = btf__add_struct(btf, "names", 1);
	member("n", u8_id, 0);
	member("names", names, 1);
	expect_var("of texts", id, "u1:n@0 array8:names@1[] .char1@0x8");
	inner = btf__add_struct(btf, "inner", 8);
	member("x", u32_id, 0);
	inners = array_of(inner, 0);
	id = btf__add_struct(btf, NULL, 4);
	member("n", u32_id, 0);
	member("in", inners, 4);
	btf__add_struct(btf, "outer", 4);
	member(NULL, id, 0);
	expect_var("of structs, out of an anonymous struct", id + 1,
		   "u4:n@0 struct8:in@4[] .u4:x@0 .pad1@4x4");
	un = btf__add_union(btf, "u", 4);
	member("a", u32_id, 0);
	un = array_of(un, 0);
	id = btf__add_struct(btf, "unions", 0);
	member("u", un, 0);
	expect_var("of unions", id, "array4:u@0[] .bytes1@0x4");
	id = btf__add_struct(btf, "beyond", 4);
	member("n", u32_id, 0);
	member("data", none, 5);
	expect_var("one that begins beyond the struct", id, "bytes1:bytes@0[]");
	expect_var("an integer of any length", u32_id, "u4:value@0 bytes1:data@4[]");
}

/* One member m with one hint, behind a number that it may name. */
static int hinted(const char *hint, int type, __u32 n_bits)
{
	int id = btf__add_struct(btf, "s", 8 + btf__resolve_size(btf, type));

	member("len", u32_id, 0);
	btf__add_field(btf, "m", type, 64, n_bits);
	tag(hint, id, 1);
	return id;
}

static void expect_hint(const char *hint, int type, const char *want)
{
	char all[256], what[64];

	snprintf(all, sizeof(all), "u4:len@0 pad1@4x4 %s", want);
	snprintf(what, sizeof(what), "%s: %s", hint, want);
	expect_flags(what, hinted(hint, type, 0),
		     strstr(want, "[]") ? BPF_RELAY_TYPE_VAR : 0, all);
}

/* What is said, is all there is. */
static void expect_misfit(const char *hint, int type, __u32 n_bits, const char *want)
{
	int n, id = hinted(hint, type, n_bits);

	describe(id, BPF_RELAY_TYPE_VAR, &n);
	if (!ktap_ok(n == -EINVAL && !strcmp(said, want), "fields: refused, %s", want))
		printf("# got %d '%s'\n", n, said);
}

static void test_hints(void)
{
	int u8_4, u8_6, u8_16, u8_2_16, u8_any, text, texts, u32_2, u32_any, s64_id, s64_32, s32_id;
	int ptr, be16, be32, en, in6, in6_2_3, in6_any, fl, outer, id;

	new_btf();
	u8_4 = array_of(u8_id, 4);
	u8_6 = array_of(u8_id, 6);
	u8_16 = array_of(u8_id, 16);
	u8_2_16 = array_of(u8_16, 2);
	u8_any = array_of(u8_id, 0);
	text = array_of(char_id, 12);
	texts = array_of(u8_16, 3);
	u32_2 = array_of(u32_id, 2);
	u32_any = array_of(u32_id, 0);
	s32_id = btf__add_int(btf, "int", 4, BTF_INT_SIGNED);
	s64_id = btf__add_int(btf, "long", 8, BTF_INT_SIGNED);
	s64_32 = array_of(s64_id, 32);
	ptr = btf__add_ptr(btf, 0);
	be16 = btf__add_typedef(btf, "__be16", btf__add_int(btf, "unsigned short", 2, 0));
	be32 = btf__add_typedef(btf, "__be32", u32_id);
	en = btf__add_enum(btf, "e", 4);
	btf__add_enum_value(btf, "E", 0);
	fl = btf__add_float(btf, "float", 4);
	id = btf__add_union(btf, NULL, 16);
	member("a", u8_16, 0);
	in6 = btf__add_struct(btf, "in6_addr", 16);
	member("in6_u", id, 0);
	in6_2_3 = array_of(array_of(in6, 3), 2);
	in6_any = array_of(in6, 0);

	expect_hint("bpf_relay:ipv4", u32_id, "u4:m@8!ipv4");
	expect_hint("bpf_relay:ipv4", be32, "u4be:m@8!ipv4");
	expect_hint("bpf_relay:ipv4", u8_4, "bytes1:m@8x4!ipv4");
	expect_hint("bpf_relay:ipv4", u32_2, "u4:m@8x2!ipv4");
	expect_hint("bpf_relay:ipv4", u32_any, "u4:m@8[]!ipv4");
	expect_hint("bpf_relay:ipv6", u8_16, "bytes1:m@8x16!ipv6");
	expect_hint("bpf_relay:ipv6", u8_2_16, "array16:m@8x2 .bytes1@0x16!ipv6");
	expect_hint("bpf_relay:ipv6", in6, "bytes1:m@8x16!ipv6");
	expect_hint("bpf_relay:ipv6", in6_2_3, "array48:m@8x2 .array16@0x3 ..bytes1@0x16!ipv6");
	expect_hint("bpf_relay:ipv6", in6_any, "array16:m@8[] .bytes1@0x16!ipv6");
	expect_hint("bpf_relay:mac", u8_6, "bytes1:m@8x6!mac");
	expect_hint("bpf_relay:be", u32_id, "u4be:m@8");
	expect_hint("bpf_relay:be", s64_32, "i8be:m@8x32");
	expect_hint("bpf_relay:hex", s32_id, "i4:m@8!hex");
	expect_hint("bpf_relay:hex", be16, "u2be:m@8!hex");
	expect_hint("bpf_relay:hex", en, "enum4:m@8!hex .E=0");
	expect_hint("bpf_relay:hex", text, "u1:m@8x12!hex");
	expect_hint("bpf_relay:string", u8_16, "char1:m@8x16!string");
	expect_hint("bpf_relay:string", texts, "array16:m@8x3 .char1@0x16!string");
	expect_hint("bpf_relay:string", u8_any, "char1:m@8[]!string");
	expect_hint("bpf_relay:string", text, "char1:m@8x12!string");
	expect_hint("bpf_relay:ns", s64_id, "i8:m@8!ns");
	expect_hint("bpf_relay:ns", u32_2, "u4:m@8x2!ns");
	expect_hint("bpf_relay:stack", s64_32, "u8:m@8x32!stack");
	expect_hint("bpf_relay:ksym", ptr, "u8:m@8!ksym");
	expect_hint("bpf_relay:ifindex", s32_id, "i4:m@8!ifindex");
	expect_hint("bpf_relay:packet:len", u8_16, "bytes1:m@8x16!packet(len)");
	expect_hint("bpf_relay:packet:len", u8_any, "bytes1:m@8[]!packet(len)");
	expect_hint("bpf_relay:packet:", in6_2_3, "bytes1:m@8x96!packet");
	expect_hint("bpf_relay", u32_id, "u4:m@8");
	expect_hint("other:hex", u32_id, "u4:m@8");

	expect_misfit("bpf_relay:ipv4", s64_id, 0, "s.m: hint ipv4 wants 4 bytes");
	expect_misfit("bpf_relay:ipv4", u8_any, 0, "s.m: hint ipv4 wants 4 bytes");
	expect_misfit("bpf_relay:ipv4", s32_id, 7, "s.m: hint ipv4 is not for bit-fields");
	expect_misfit("bpf_relay:ipv6", u8_6, 0, "s.m: hint ipv6 wants 16 bytes");
	expect_misfit("bpf_relay:mac", u8_16, 0, "s.m: hint mac wants 6 bytes");
	expect_misfit("bpf_relay:be", u8_id, 0, "s.m: hint be wants an integer of 2, 4 or 8 bytes");
	expect_misfit("bpf_relay:be", fl, 0, "s.m: hint be wants an integer of 2, 4 or 8 bytes");
	expect_misfit("bpf_relay:be", u32_id, 9, "s.m: hint be is not for bit-fields");
	expect_misfit("bpf_relay:hex", fl, 0, "s.m: hint hex wants an integer or an enum");
	expect_misfit("bpf_relay:hex", in6, 0, "s.m: hint hex wants an integer or an enum");
	expect_misfit("bpf_relay:string", u32_2, 0, "s.m: hint string wants characters or bytes");
	expect_misfit("bpf_relay:ns", en, 0, "s.m: hint ns wants an integer");
	expect_misfit("bpf_relay:stack", u32_2, 0, "s.m: hint stack wants integers of 8 bytes");
	expect_misfit("bpf_relay:ksym", u32_id, 0, "s.m: hint ksym wants an integer of 8 bytes");
	expect_misfit("bpf_relay:ifindex", be16, 0, "s.m: hint ifindex wants an integer of 4 bytes");
	expect_misfit("bpf_relay:packet:len", u32_any, 0, "s.m: hint packet:len wants bytes");
	expect_misfit("bpf_relay:packet:m", u8_16, 0,
		      "s.m: hint packet:m wants an unsigned integer of that name before it");
	expect_misfit("bpf_relay:rot13", u8_16, 0, "s.m: hint rot13 is no hint of this version");
	expect_misfit("bpf_relay:ipv4:x", u32_id, 0, "s.m: hint ipv4:x is no hint of this version");

	id = hinted("bpf_relay:ns", u32_id, 0);
	tag("bpf_relay:hex", id, 1);
	expect_error("two hints for one member", id, -EINVAL);
	id = hinted("bpf_relay:ns", u32_id, 0);
	tag("bpf_relay:be", id, 1);
	expect("a hint and a byte order", id, "u4:len@0 pad1@4x4 u4be:m@8!ns");
	expect("bit-fields in hex", hinted("bpf_relay:hex", u32_id, 5),
	       "u4:len@0 pad1@4x4 u4:m@8.0/5!hex pad1@8.5/3 pad1@9x3");
	id = hinted("bpf_relay:hex", u32_id, 0);
	outer = btf__add_struct(btf, "outer", 24);
	member("in", id, 0);
	member(NULL, id, 12);
	tag("bpf_relay:ns", outer, 0);
	expect_error("a hint for a struct", outer, -EINVAL);
	btf__add_struct(btf, "outer", 24);
	member("in", id, 0);
	member(NULL, id, 12);
	expect("hints inside of structs, also anonymous ones", outer + 2,
	       "struct12:in@0 .u4:len@0 .pad1@4x4 .u4:m@8!hex u4:len@12 pad1@16x4 u4:m@20!hex");
}

static void test_names(void)
{
#define LONG "a_name_of_which_the_first_forty_three_characters_are_no_different"
	int id;

	new_btf();
	id = btf__add_struct(btf, "names", 20);
	member(LONG "_1", u32_id, 0);
	member(LONG "_2", u32_id, 4);
	member("same", u32_id, 8);
	member("same", u32_id, 12);
	member("3 words", u32_id, 16);
	expect("long, equal and odd names", id,
	       "u4:a_name_of_which_the_first_forty_three_cha_1@0 "
	       "u4:a_name_of_which_the_first_forty_three_cha_2@4 "
	       "u4:same@8 u4:same_1@12 u4:anon_16@16");
}

/* n members of 4 bytes, and one more of another type, unless that is 0. */
static int add_numbers(const char *struct_name, int n, int last)
{
	int i, id = btf__add_struct(btf, struct_name, (n + !!last) * 4);
	char name[64];

	for (i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "a_name_of_a_member_of_rather_many_bytes_%d", i);
		member(name, u32_id, i * 4);
	}
	if (last)
		member("last", last, n * 4);
	return id;
}

static void test_hostile(void)
{
	char name[16];
	int i, id, level, prev;

	new_btf();
	id = btf__add_struct(btf, "self", 8);
	member("a", u32_id, 0);
	member("me", id, 0);
	expect("members that overlap", id, "bytes1:bytes@0x8");

	id = btf__add_struct(btf, "self2", 8);
	member("me", id, 0);
	describe(id, 0, &i);
	ktap_ok(i > 0 && i <= 17, "fields: a struct in itself ends (%d fields)", i);

	id = btf__add_struct(btf, "beyond", 8);
	member("a", u64_id, 4);
	expect("a member beyond the end", id, "bytes1:bytes@0x8");
	id = btf__add_struct(btf, "far", 8);
	btf__add_field(btf, "a", u32_id, 0xfffffff8, 0);
	expect("an offset near 2^32", id, "bytes1:bytes@0x8");
	id = btf__add_struct(btf, "back", 8);
	member("a", u32_id, 4);
	member("b", u32_id, 0);
	expect("members out of order", id, "bytes1:bytes@0x8");
	id = btf__add_struct(btf, "inside", 12);
	member("ok", u32_id, 0);
	member("in", btf__find_by_name(btf, "back"), 4);
	expect("a struct that makes no sense, in one that does", id,
	       "u4:ok@0 bytes1:in@4x8");

	expect_error("an array too large for any size",
		     array_of(array_of(u64_id, 0xffffffff), 0xffffffff), -EINVAL);
	id = btf__type_cnt(btf);
	btf__add_typedef(btf, "a", id + 1);
	btf__add_typedef(btf, "b", id);
	expect_error("typedefs in a circle", id, -EINVAL);

	/* 17 levels of 200 unnamed members: more paths than could ever be walked. */
	prev = btf__add_struct(btf, "leaf", 4);
	for (level = 0; level < 17; level++) {
		id = btf__add_struct(btf, "tree", 4);
		for (i = 0; i < 200; i++)
			member("", prev, 0);
		prev = id;
	}
	expect("more paths than can be walked", prev, "bytes1:bytes@0x4");

	id = add_numbers("many", FIELDS_MAX + 1, 0);
	expect("one field more than a table holds", id, "bytes1:bytes@0x1824");
	expect_var("the same, and more", id, "bytes1:bytes@0[]");
	id = add_numbers("most", FIELDS_MAX, 0);
	describe(id, 0, &i);
	ktap_ok(i == FIELDS_MAX, "fields: as many fields as a table holds");
	expect_var("not of a type that gets one more", id, "bytes1:bytes@0[]");

	prev = btf__add_enum(btf, "few", 4);
	for (i = 0; i < 5; i++) {
		snprintf(name, sizeof(name), "E%d", i);
		btf__add_enum_value(btf, name, i);
	}
	describe(add_numbers("fits", FIELDS_MAX - 1 - 5, prev), 0, &i);
	ktap_ok(i == FIELDS_MAX, "fields: enumerators that just fit");
	describe(add_numbers("fits_not", FIELDS_MAX - 5, prev), 0, &i);
	ktap_ok(i == FIELDS_MAX - 4, "fields: enumerators that do not, are left out");
}

static char *tsdl_of(int id, __u16 flags, int *len)
{
	struct bpf_relay_field *fields;
	char *text;
	int n;

	n = bpfrelay_type_fields(btf, id, flags, NULL, NULL, &fields);
	*len = bpfrelay_type_tsdl(fields, n, "struct odd-name", 7, &text);
	free(fields);
	return text;
}

static void test_tsdl_names(void)
{
	int id, none, len;
	char *text;

	new_btf();
	none = array_of(u8_id, 0);
	id = btf__add_struct(btf, "s", 8);
	member("pad_1", u8_id, 0);
	member("a", u32_id, 4);
	text = tsdl_of(id, 0, &len);
	ktap_ok(len > 0 && strlen(text) == (size_t)len && strstr(text, "_pad_1;") &&
		strstr(text, "_pad_1_;") && strstr(text, "name = \"struct_odd_name\"") &&
		strstr(text, "id = 7;"),
		"tsdl: padding and event get names that are free and legal");
	free(text);

	id = btf__add_struct(btf, "flexible", 4);
	member("_data_length", u32_id, 0);
	member("data", none, 4);
	text = tsdl_of(id, BPF_RELAY_TYPE_VAR, &len);
	ktap_ok(len > 0 && strstr(text, " __data_length;") && strstr(text, " __data_length_;") &&
		strstr(text, " _data[__data_length_];"), "tsdl: so does the length of a flexible array");
	free(text);
}

static void test_tsdl_long(void)
{
	int i, id, numbers, len;
	char name[64], *text;

	new_btf();
	text = tsdl_of(btf__add_struct(btf, "z", 0), 0, &len);
	ktap_ok(len > 0, "tsdl: a record without bytes");
	free(text);

	numbers = add_numbers("long", FIELDS_MAX - 2, 0);
	text = tsdl_of(numbers, 0, &len);
	ktap_ok(len > 0 && len <= (int)BPF_RELAY_TEXT_MAX && strstr(text, "_bytes[1812];"),
		"tsdl: what would be too long a text says bytes");
	free(text);
	text = tsdl_of(numbers, BPF_RELAY_TYPE_VAR, &len);
	ktap_ok(len > 0 && strstr(text, "_bytes[1812];") && strstr(text, "_data[__data_length];"),
		"tsdl: and more bytes");
	free(text);
	numbers = array_of(numbers, 0);
	id = btf__add_struct(btf, "rows", 4);
	member("n", u32_id, 0);
	member("rows", numbers, 4);
	text = tsdl_of(id, BPF_RELAY_TYPE_VAR, &len);
	ktap_ok(len > 0 && strstr(text, "_bytes[4];") && strstr(text, "_data[__data_length][1812];"),
		"tsdl: as many elements as the table says");
	free(text);

	id = btf__add_enum(btf, "e", 4);
	for (i = 0; i < 200; i++) {
		snprintf(name, sizeof(name), "a_name_of_a_value_of_rather_many_bytes_%d", i);
		btf__add_enum_value(btf, name, i);
	}
	text = tsdl_of(add_numbers("names", 200, id), 0, &len);
	ktap_ok(len > 0 && strstr(text, "\"a_name_of_a_value_of_rather_many_bytes_199\" = 199"),
		"tsdl: enumerators");
	free(text);
	text = tsdl_of(add_numbers("more_names", 250, id), 0, &len);
	ktap_ok(len > 0 && strstr(text, "_last;") && !strstr(text, "enum :"),
		"tsdl: enumerators go first if the text is too long");
	free(text);
}

static void test_tsdl_bad(void)
{
	struct bpf_relay_field bad[2] = {
		{ .size = 4, .count = 1, .kind = BPF_RELAY_UINT, .name = "a" },
		{ .size = 4, .count = 1, .kind = BPF_RELAY_UINT, .name = "b" },
	};
	char *text;
	int len;

	bad[0].kind = BPF_RELAY_ARRAY + 1;
	len = bpfrelay_type_tsdl(bad, 1, "bad", 1, &text);
	ktap_ok(len == -EINVAL && !text, "tsdl: an unknown kind is refused");
	bad[0].kind = BPF_RELAY_UINT;
	bad[1].depth = 1;
	len = bpfrelay_type_tsdl(bad, 2, "bad", 1, &text);
	ktap_ok(len == -EINVAL && !text, "tsdl: a depth out of the blue is refused");
	bad[0].kind = BPF_RELAY_ARRAY;
	bad[1].depth = 0;
	len = bpfrelay_type_tsdl(bad, 2, "bad", 1, &text);
	ktap_ok(len == -EINVAL && !text, "tsdl: an array of nothing is refused");
	bad[0].kind = BPF_RELAY_ENUMERATOR;
	len = bpfrelay_type_tsdl(bad, 1, "bad", 1, &text);
	ktap_ok(len == -EINVAL && !text, "tsdl: an enumerator of nothing is refused");
}

/* Types described, and (in *bad) those described in a way that the module would refuse. */
static int describe_all(const struct btf *fuzzed, __u16 flags, int *bad)
{
	struct bpf_relay_field *fields;
	int id, n, types = 0;
	char *text;

	for (id = 1; id < (int)btf__type_cnt(fuzzed); id++) {
		n = bpfrelay_type_fields(fuzzed, id, flags, NULL, NULL, &fields);
		types += n > 0;
		if (n > 0) {
			*bad += !fields_valid(fields, n, btf__resolve_size(fuzzed, id), flags);
			if (bpfrelay_type_tsdl(fields, n, "x", 1, &text) > 0)
				free(text);
			else
				++*bad;
		}
		free(fields);
	}
	return types;
}

/* Of the BTF of a test with random bytes changed, every type that libbpf takes. */
static void test_fuzz(const char *what, void (*test)(void))
{
	int i, j, types = 0, bad = 0;
	const void *good;
	__u32 size;
	char *raw;

	test();
	good = btf__raw_data(btf, &size);
	raw = malloc(size);
	srand(1);
	for (i = 0; i < FUZZ_ROUNDS; i++) {
		struct btf *fuzzed;

		memcpy(raw, good, size);
		for (j = rand() / 7 % 4; j >= 0; j--)
			raw[24 + rand() / 7 % (size - 24)] = rand() / 7;
		fuzzed = btf__new(raw, size);
		if (libbpf_get_error(fuzzed))
			continue;
		types += describe_all(fuzzed, 0, &bad);
		types += describe_all(fuzzed, BPF_RELAY_TYPE_VAR, &bad);
		btf__free(fuzzed);
	}
	free(raw);
	ktap_ok(types > FUZZ_ROUNDS && !bad,
		"fields: fuzzed %s, %d types described, %d of them wrong", what, types, bad);
}

/* The check that the others rely on is able to refuse. */
static void test_control(void)
{
	struct bpf_relay_field fields[2] = {
		{ .offset = 0, .size = 4, .count = 1, .kind = BPF_RELAY_UINT, .name = "a" },
		{ .offset = 8, .size = 4, .count = 1, .kind = BPF_RELAY_UINT, .name = "b" },
	};

	ktap_ok(!fields_valid(fields, 2, 12, false), "fields: control, a hole is refused by the module's check");
	fields[1].offset = 4;
	ktap_ok(fields_valid(fields, 2, 8, false), "fields: control, the same without the hole is not");
}

static int quiet(enum libbpf_print_level level, const char *fmt, va_list args)
{
	(void)level;
	(void)fmt;
	(void)args;
	return 0;
}

int main(void)
{
	libbpf_set_print(quiet);
	ktap_begin();
	test_control();
	test_names();
	test_hostile();
	test_tsdl_names();
	test_tsdl_long();
	test_tsdl_bad();
	test_fuzz("structs", test_plain);
	test_fuzz("kinds", test_kinds);
	test_fuzz("bit-fields", test_bits);
	test_fuzz("flexible arrays", test_flexible);
	test_fuzz("hints", test_hints);
	btf__free(btf);
	return ktap_end();
}
