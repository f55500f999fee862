// SPDX-License-Identifier: GPL-2.0-only
/* Every kind and hint against the text that it must be, letter for letter. */
#include "tables.h"

static void expect(const struct bpf_relay_field *table, u32 n, bool var, const void *payload,
		   u32 len, const char *text)
{
	struct render_record rec = record(table, n, payload, len);

	CHECK(fields_valid(table, n, len, var), "the table of '%s' is not valid", text);
	CHECK(!strcmp(render_whole(&rec), text), "'%s', not '%s'", render_whole(&rec), text);
}

/* One field that is the whole record. */
#define VALUE(text, payload, ...)						\
do {										\
	static const struct bpf_relay_field __f[] = { __VA_ARGS__ };		\
										\
	expect(__f, N(__f), false, payload, sizeof(payload), text);		\
} while (0)

/* The first len bytes of a record that begins with a byte and goes on. */
#define FLEXIBLE(text, len, ...)						\
do {										\
	static const struct bpf_relay_field __f[] = {				\
		FIELD(UINT, "n", 0, 1, 1), __VA_ARGS__				\
	};									\
	static const u8 __bytes[] = { 9, 1, 2, 3, 4, 'x', 0 };			\
	struct render_record __r = record(__f, N(__f), __bytes, len);		\
										\
	CHECK(fields_valid(__f, N(__f), 1, true), "the table of '%s' is not valid", text); \
	CHECK(!strcmp(render_whole(&__r), text), "'%s', not '%s'", render_whole(&__r), text); \
} while (0)

#define BYTES(...)	((const u8[]){ __VA_ARGS__ })

TEST(integers, "integers")
{
	VALUE("v=0", BYTES(0), FIELD(UINT, "v", 0, 1, 1));
	VALUE("v=255", BYTES(0xff), FIELD(UINT, "v", 0, 1, 1));
	VALUE("v=-1", BYTES(0xff), FIELD(INT, "v", 0, 1, 1));
	VALUE("v=-128", BYTES(0x80), FIELD(INT, "v", 0, 1, 1));
	VALUE("v=513", BYTES(1, 2), FIELD(UINT, "v", 0, 2, 1));
	VALUE("v=-2", BYTES(0xfe, 0xff), FIELD(INT, "v", 0, 2, 1));
	VALUE("v=4294967295", BYTES(0xff, 0xff, 0xff, 0xff), FIELD(UINT, "v", 0, 4, 1));
	VALUE("v=-2147483648", BYTES(0, 0, 0, 0x80), FIELD(INT, "v", 0, 4, 1));
	VALUE("v=18446744073709551615", BYTES(255, 255, 255, 255, 255, 255, 255, 255),
	      FIELD(UINT, "v", 0, 8, 1));
	VALUE("v=-9223372036854775808", BYTES(0, 0, 0, 0, 0, 0, 0, 0x80),
	      FIELD(INT, "v", 0, 8, 1));
}

TEST(big_endian, "big-endian numbers")
{
	VALUE("v=443", BYTES(0x01, 0xbb), FIELD(UINT, "v", 0, 2, 1, .flags = BPF_RELAY_FIELD_BE));
	VALUE("v=-2", BYTES(0xff, 0xfe), FIELD(INT, "v", 0, 2, 1, .flags = BPF_RELAY_FIELD_BE));
	VALUE("v=16909060", BYTES(1, 2, 3, 4),
	      FIELD(UINT, "v", 0, 4, 1, .flags = BPF_RELAY_FIELD_BE));
	VALUE("v=[1,256]", BYTES(0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0),
	      FIELD(UINT, "v", 0, 8, 2, .flags = BPF_RELAY_FIELD_BE));
	VALUE("v=0x102", BYTES(1, 2),
	      FIELD(UINT, "v", 0, 2, 1, .flags = BPF_RELAY_FIELD_BE, .hint = BPF_RELAY_HINT_HEX));
}

TEST(bool_float, "bool and float")
{
	VALUE("v=[false,true,2]", BYTES(0, 1, 2), FIELD(BOOL, "v", 0, 1, 3));
	VALUE("v=0x3f800000", BYTES(0, 0, 0x80, 0x3f), FIELD(FLOAT, "v", 0, 4, 1));
	VALUE("v=0x0", BYTES(0, 0, 0, 0), FIELD(FLOAT, "v", 0, 4, 1));
	VALUE("v=0xc000000000000000", BYTES(0, 0, 0, 0, 0, 0, 0, 0xc0),
	      FIELD(FLOAT, "v", 0, 8, 1));
}

TEST(enums, "enums: names, numbers without one, signed, 64 bits, bit-fields")
{
	VALUE("v=TWO", BYTES(2, 0, 0, 0), FIELD(ENUM, "v", 0, 4, 1),
	      ENUMERATOR("ONE", 1, 1), ENUMERATOR("TWO", 2, 1));
	VALUE("v=3", BYTES(3, 0, 0, 0), FIELD(ENUM, "v", 0, 4, 1),
	      ENUMERATOR("ONE", 1, 1), ENUMERATOR("TWO", 2, 1));
	/* Of two names for one value the first. */
	VALUE("v=A w=1", BYTES(1, 1), FIELD(ENUM, "v", 0, 1, 1), ENUMERATOR("A", 1, 1),
	      ENUMERATOR("B", 1, 1), FIELD(UINT, "w", 1, 1, 1));
	VALUE("v=[LOW,-2]", BYTES(0xff, 0xff, 0xff, 0xff, 0xfe, 0xff, 0xff, 0xff),
	      FIELD(ENUM, "v", 0, 4, 2, .flags = BPF_RELAY_FIELD_SIGNED),
	      ENUMERATOR("LOW", -1ULL, 1));
	/* The value of an unsigned one may come sign-extended or not. */
	VALUE("v=TOP", BYTES(0xff, 0xff, 0xff, 0xff), FIELD(ENUM, "v", 0, 4, 1),
	      ENUMERATOR("TOP", -1ULL, 1));
	VALUE("v=TOP", BYTES(0xff, 0xff, 0xff, 0xff), FIELD(ENUM, "v", 0, 4, 1),
	      ENUMERATOR("TOP", 0xffffffff, 1));
	VALUE("v=BIG", BYTES(0, 0, 0, 0, 0, 0, 0, 0x80), FIELD(ENUM, "v", 0, 8, 1),
	      ENUMERATOR("BIG", 1ULL << 63, 1));
	VALUE("v=0x9", BYTES(9), FIELD(ENUM, "v", 0, 1, 1, .hint = BPF_RELAY_HINT_HEX),
	      ENUMERATOR("ONE", 1, 1));
	/* 9 does not fit three bits: it is not 1. */
	VALUE("v=1 w=MINUS x=0", BYTES(0x39), FIELD(ENUM, "v", 0, 4, 1, .bits = 3),
	      ENUMERATOR("NINE", 9, 1),
	      FIELD(ENUM, "w", 0, 4, 1, .bits = 3, .bit_offset = 3,
		    .flags = BPF_RELAY_FIELD_SIGNED),
	      ENUMERATOR("MINUS", -1ULL, 1), FIELD(UINT, "x", 0, 4, 1, .bits = 2, .bit_offset = 6));
}

TEST(bits, "bit-fields")
{
	VALUE("a=5 b=-1 c=true d=62", BYTES(0xfd, 0xf9),
	      FIELD(UINT, "a", 0, 4, 1, .bits = 3),
	      FIELD(INT, "b", 0, 4, 1, .bits = 4, .bit_offset = 3),
	      FIELD(BOOL, "c", 0, 1, 1, .bits = 1, .bit_offset = 7),
	      FIELD(PAD, "", 1, 1, 1, .bits = 2),
	      FIELD(UINT, "d", 1, 4, 1, .bits = 6, .bit_offset = 2));
	/* Nine bytes. */
	VALUE("p=1 v=18446744073709551615 q=0",
	      BYTES(0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01),
	      FIELD(UINT, "p", 0, 8, 1, .bits = 1),
	      FIELD(UINT, "v", 0, 8, 1, .bits = 64, .bit_offset = 1),
	      FIELD(UINT, "q", 8, 8, 1, .bits = 7, .bit_offset = 1));
	VALUE("v=-1", BYTES(0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff),
	      FIELD(INT, "v", 0, 8, 1, .bits = 64));
}

TEST(strings, "strings and their escapes")
{
	VALUE("v=\"abc\"", BYTES('a', 'b', 'c', 0, 'd'), FIELD(CHAR, "v", 0, 1, 5));
	VALUE("v=\"abcde\"", BYTES('a', 'b', 'c', 'd', 'e'), FIELD(CHAR, "v", 0, 1, 5));
	VALUE("v=\"\" w=\"x\"", BYTES(0, 'b', 'x'), FIELD(CHAR, "v", 0, 1, 2),
	      FIELD(CHAR, "w", 2, 1, 1));
	VALUE("v=\"\\\"\\\\\\n\\x09\\x1b\\x7f\\xc3\\xa4 ~\"",
	      BYTES('"', '\\', '\n', '\t', 27, 127, 0xc3, 0xa4, ' ', '~'),
	      FIELD(CHAR, "v", 0, 1, 10));
	VALUE("v=[\"ab\",\"\",\"c\"]", BYTES('a', 'b', 0, 'x', 'c', 0),
	      FIELD(ARRAY, "v", 0, 2, 3), FIELD(CHAR, "", 0, 1, 2, .depth = 1));
}

TEST(hints, "hints")
{
	VALUE("v=0xff", BYTES(0xff), FIELD(INT, "v", 0, 1, 1, .hint = BPF_RELAY_HINT_HEX));
	VALUE("v=0x0", BYTES(0), FIELD(UINT, "v", 0, 1, 1, .hint = BPF_RELAY_HINT_HEX));
	VALUE("v=192.0.2.1", BYTES(192, 0, 2, 1),
	      FIELD(UINT, "v", 0, 4, 1, .hint = BPF_RELAY_HINT_IPV4));
	VALUE("v=[10.0.0.1,255.255.255.255]", BYTES(10, 0, 0, 1, 255, 255, 255, 255),
	      FIELD(UINT, "v", 0, 4, 2, .hint = BPF_RELAY_HINT_IPV4));
	VALUE("v=192.0.2.1", BYTES(192, 0, 2, 1), FIELD(UINT, "v", 0, 4, 1,
	      .hint = BPF_RELAY_HINT_IPV4, .flags = BPF_RELAY_FIELD_BE));
	VALUE("v=192.0.2.1", BYTES(192, 0, 2, 1),
	      FIELD(BYTES, "v", 0, 1, 4, .hint = BPF_RELAY_HINT_IPV4));
	VALUE("v=2001:db8::1",
	      BYTES(0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1),
	      FIELD(BYTES, "v", 0, 1, 16, .hint = BPF_RELAY_HINT_IPV6));
	VALUE("v=02:00:5e:00:53:ff", BYTES(2, 0, 0x5e, 0, 0x53, 0xff),
	      FIELD(BYTES, "v", 0, 1, 6, .hint = BPF_RELAY_HINT_MAC));
	VALUE("v=1000ns w=-5ns", BYTES(0xe8, 3, 0, 0, 0, 0, 0, 0, 0xfb),
	      FIELD(UINT, "v", 0, 8, 1, .hint = BPF_RELAY_HINT_NS),
	      FIELD(INT, "w", 8, 1, 1, .hint = BPF_RELAY_HINT_NS));
	VALUE("v=7", BYTES(7, 0, 0, 0), FIELD(UINT, "v", 0, 4, 1, .hint = BPF_RELAY_HINT_IFINDEX));
	VALUE("v=f12+0x345/0x1000 w=0x7", BYTES(0x45, 0x23, 1, 0, 0, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0),
	      FIELD(UINT, "v", 0, 8, 1, .hint = BPF_RELAY_HINT_KSYM),
	      FIELD(UINT, "w", 8, 8, 1, .hint = BPF_RELAY_HINT_KSYM));
	VALUE("n=4 p=deadbe", BYTES(4, 0xde, 0xad, 0xbe), FIELD(UINT, "n", 0, 1, 1),
	      FIELD(BYTES, "p", 1, 1, 3, .hint = BPF_RELAY_HINT_PACKET, .value = 0));
}

TEST(stacks, "stacks end at a 0")
{
	static const u64 stack[] = { 0x10001, 0x20002, 0, 0x30003 }, none[] = { 0, 1 };
	static const u64 full[] = { 0x10001, 0x20002 }, one[] = { 0x10001 };

	VALUE("v=[f10+0x1/0x1000,f20+0x2/0x1000]", stack,
	      FIELD(UINT, "v", 0, 8, 4, .hint = BPF_RELAY_HINT_STACK));
	VALUE("v=[]", none, FIELD(UINT, "v", 0, 8, 2, .hint = BPF_RELAY_HINT_STACK));
	VALUE("v=[f10+0x1/0x1000,f20+0x2/0x1000]", full,
	      FIELD(UINT, "v", 0, 8, 2, .hint = BPF_RELAY_HINT_STACK));
	VALUE("v=[f10+0x1/0x1000]", one, FIELD(UINT, "v", 0, 8, 1, .hint = BPF_RELAY_HINT_STACK));
}

TEST(bytes, "bytes and padding")
{
	VALUE("v=00ff10", BYTES(0, 255, 16), FIELD(BYTES, "v", 0, 1, 3));
	VALUE("v=[0001,0203]", BYTES(0, 1, 2, 3), FIELD(ARRAY, "v", 0, 2, 2),
	      FIELD(BYTES, "", 0, 1, 2, .depth = 1));
	VALUE("v=2 w=5", BYTES(1, 2, 3, 4, 5, 6), FIELD(PAD, "", 0, 1, 1), FIELD(UINT, "v", 1, 1, 1),
	      FIELD(PAD, "", 2, 1, 2), FIELD(UINT, "w", 4, 1, 1), FIELD(PAD, "", 5, 1, 1));
}

TEST(structs, "structs")
{
	VALUE("s={a=1 b={c=2 d=3} e=4} f=5", BYTES(1, 2, 3, 4, 5),
	      FIELD(STRUCT, "s", 0, 4, 1), FIELD(UINT, "a", 0, 1, 1, .depth = 1),
	      FIELD(STRUCT, "b", 1, 2, 1, .depth = 1), FIELD(UINT, "c", 0, 1, 1, .depth = 2),
	      FIELD(UINT, "d", 1, 1, 1, .depth = 2), FIELD(UINT, "e", 3, 1, 1, .depth = 1),
	      FIELD(UINT, "f", 4, 1, 1));
	VALUE("s=[{a=1 b=2},{a=3 b=4}] f=5", BYTES(1, 0, 2, 3, 0, 4, 5),
	      FIELD(STRUCT, "s", 0, 3, 2), FIELD(UINT, "a", 0, 1, 1, .depth = 1),
	      FIELD(PAD, "", 1, 1, 1, .depth = 1), FIELD(UINT, "b", 2, 1, 1, .depth = 1),
	      FIELD(UINT, "f", 6, 1, 1));
	VALUE("s={} f=5", BYTES(1, 5), FIELD(STRUCT, "s", 0, 1, 1),
	      FIELD(PAD, "", 0, 1, 1, .depth = 1), FIELD(UINT, "f", 1, 1, 1));
}

TEST(arrays, "arrays of arrays")
{
	VALUE("v=[1,2,3]", BYTES(1, 2, 3), FIELD(UINT, "v", 0, 1, 3));
	VALUE("v=[[1,2],[3,4],[5,6]] w=7", BYTES(1, 2, 3, 4, 5, 6, 7), FIELD(ARRAY, "v", 0, 2, 3),
	      FIELD(UINT, "", 0, 1, 2, .depth = 1), FIELD(UINT, "w", 6, 1, 1));
	VALUE("v=[[[1],[2]],[[3],[4]]]", BYTES(1, 2, 3, 4), FIELD(ARRAY, "v", 0, 2, 2),
	      FIELD(ARRAY, "", 0, 1, 2, .depth = 1), FIELD(ARRAY, "", 0, 1, 1, .depth = 2),
	      FIELD(UINT, "", 0, 1, 1, .depth = 3));
	VALUE("v=[[{a=1},{a=2}],[{a=3},{a=4}]]", BYTES(1, 2, 3, 4), FIELD(ARRAY, "v", 0, 2, 2),
	      FIELD(STRUCT, "", 0, 1, 2, .depth = 1), FIELD(UINT, "a", 0, 1, 1, .depth = 2));
	VALUE("s=[{v=[[1,2],[3,4]] w=5},{v=[[6,7],[8,9]] w=10}]",
	      BYTES(1, 2, 3, 4, 5, 6, 7, 8, 9, 10), FIELD(STRUCT, "s", 0, 5, 2),
	      FIELD(ARRAY, "v", 0, 2, 2, .depth = 1), FIELD(UINT, "", 0, 1, 2, .depth = 2),
	      FIELD(UINT, "w", 4, 1, 1, .depth = 1));
	VALUE("v=[{e=ON},{e=2}]", BYTES(1, 2), FIELD(ARRAY, "v", 0, 1, 2),
	      FIELD(STRUCT, "", 0, 1, 1, .depth = 1), FIELD(ENUM, "e", 0, 1, 1, .depth = 2),
	      ENUMERATOR("ON", 1, 3));
}

/* As deep as a valid table can be. */
TEST(deep, "the deepest table")
{
	struct bpf_relay_field table[FIELDS_DEPTH_MAX] = {};
	struct render_record rec;
	char text[256] = "";
	static const u8 byte = 7;
	int i;

	for (i = 0; i < FIELDS_DEPTH_MAX - 1; i++) {
		table[i] = (struct bpf_relay_field) FIELD(STRUCT, "s", 0, 1, 1, .depth = i);
		strcat(text, "s={");
	}
	table[i] = (struct bpf_relay_field) FIELD(UINT, "v", 0, 1, 1, .depth = i);
	strcat(text, "v=7");
	while (i--)
		strcat(text, "}");
	CHECK(fields_valid(table, FIELDS_DEPTH_MAX, 1, false));
	rec = record(table, FIELDS_DEPTH_MAX, &byte, 1);
	CHECK(!strcmp(render_whole(&rec), text), "%s", render_whole(&rec));
}

TEST(flexible, "flexible arrays: whole elements")
{
	FLEXIBLE("n=9 v=[]", 1, FIELD(UINT, "v", 1, 2, 0));
	FLEXIBLE("n=9 v=[]", 2, FIELD(UINT, "v", 1, 2, 0));
	FLEXIBLE("n=9 v=[513]", 3, FIELD(UINT, "v", 1, 2, 0));
	FLEXIBLE("n=9 v=[513]", 4, FIELD(UINT, "v", 1, 2, 0));
	FLEXIBLE("n=9 v=[513,1027]", 5, FIELD(UINT, "v", 1, 2, 0));
	FLEXIBLE("n=9 v=", 1, FIELD(BYTES, "v", 1, 1, 0));
	FLEXIBLE("n=9 v=010203", 4, FIELD(BYTES, "v", 1, 1, 0));
	FLEXIBLE("n=9 v=\"\"", 1, FIELD(CHAR, "v", 1, 1, 0));
	FLEXIBLE("n=9 v=\"\\x01\\x02\\x03\\x04x\"", 7, FIELD(CHAR, "v", 1, 1, 0));
	FLEXIBLE("n=9 v=[]", 2, FIELD(STRUCT, "v", 1, 2, 0),
		 FIELD(UINT, "a", 0, 1, 1, .depth = 1), FIELD(UINT, "b", 1, 1, 1, .depth = 1));
	FLEXIBLE("n=9 v=[{a=1 b=2},{a=3 b=4}]", 6, FIELD(STRUCT, "v", 1, 2, 0),
		 FIELD(UINT, "a", 0, 1, 1, .depth = 1), FIELD(UINT, "b", 1, 1, 1, .depth = 1));
	FLEXIBLE("n=9 v=[[1,2],[3,4]]", 5, FIELD(ARRAY, "v", 1, 2, 0),
		 FIELD(UINT, "", 0, 1, 2, .depth = 1));
}

TEST(no_table, "records without a table")
{
	struct render_record rec = record(NULL, 0, "\x00\x7f\xff", 3);

	CHECK(!strcmp(render_whole(&rec), "data=007fff"), "%s", render_whole(&rec));
	rec.have = rec.len = 0;
	CHECK(!strcmp(render_whole(&rec), "data="), "%s", render_whole(&rec));
}

/* What is not there, or has no field, is counted. */
static void expect_cut(const struct bpf_relay_field *table, u32 n, u32 have, u32 len,
		       const char *text)
{
	static const u8 payload[] = { 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h' };
	struct render_record rec = record(table, n, payload, len);

	rec.have = have;
	CHECK(!strcmp(render_whole(&rec), text), "'%s', not '%s'", render_whole(&rec), text);
}

TEST(cut, "long records: what is not shown is counted")
{
	static const struct bpf_relay_field words[] = {
		FIELD(UINT, "n", 0, 1, 1), FIELD(UINT, "v", 1, 2, 0),
	};
	static const struct bpf_relay_field string[] = { FIELD(CHAR, "s", 0, 1, 8) };
	static const struct bpf_relay_field nested[] = {
		FIELD(STRUCT, "s", 0, 4, 2), FIELD(UINT, "a", 0, 2, 1, .depth = 1),
		FIELD(UINT, "b", 2, 1, 2, .depth = 1),
	};
	static const struct bpf_relay_field one[] = { FIELD(UINT, "n", 0, 1, 1) };

	expect_cut(words, 2, 8, 1000, "n=97 v=[25442,25956,26470] ...+993 bytes");
	expect_cut(words, 2, 1, 1000, "n=97 ...+999 bytes");
	expect_cut(words, 2, 2, 1000, "n=97 ...+999 bytes");
	expect_cut(words, 2, 3, 1000, "n=97 v=[25442] ...+997 bytes");
	expect_cut(words, 2, 0, 1000, "...+1000 bytes");
	expect_cut(string, 1, 3, 8, "s=\"abc\" ...+5 bytes");
	expect_cut(nested, 3, 8, 8, "s=[{a=25185 b=[99,100]},{a=26213 b=[103,104]}]");
	expect_cut(nested, 3, 7, 8, "s=[{a=25185 b=[99,100]},{a=26213 b=[103]}] ...+1 bytes");
	expect_cut(nested, 3, 5, 8, "s=[{a=25185 b=[99,100]},{}] ...+4 bytes");
	expect_cut(nested, 3, 3, 8, "s=[{a=25185 b=[99]}] ...+5 bytes");
	expect_cut(NULL, 0, 2, 8, "data=6162 ...+6 bytes");
	expect_cut(one, 1, 4, 4, "n=97 ...+3 bytes");
}
