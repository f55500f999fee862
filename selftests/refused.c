// SPDX-License-Identifier: GPL-2.0-only
/*
 * What add_type and open must not take: refused with the documented errno, said in
 * the kernel log where a number must be compared, and without any effect.
 */
#define _GNU_SOURCE
#include "kselftest_harness.h"

#include <stddef.h>
#include <sys/mman.h>

#include "anylog.h"
#include "bpf/refused.h"

FIXTURE(refused) {
	struct relay_log base;
	struct relay_log log;
	int fd;
	int kmsg;
};

FIXTURE_SETUP(refused)
{
	ASSERT_TRUE(module_insert());
	log_load(&self->base, "refused", "any");
	self->fd = any_create(&self->base, &self->log, "refused", 1);
	self->kmsg = kmsg_open();
}

FIXTURE_TEARDOWN(refused)
{
	any_close(&self->base, 1, self->fd);
	log_unload(&self->base);
	EXPECT_TRUE(logs_gone());
}

/* Fails when: a map that is no relay map is taken for one. */
TEST_F(refused, other_maps)
{
	struct refused_said *said = log_var(&self->base, ".bss", "refused_said");
	int i;

	EXPECT_EQ(log_run(&self->base, "refused_maps", -1), 0);
	for (i = 0; i < REFUSED_MAPS - 1; i++) {
		EXPECT_EQ(said[i].open, -EINVAL);
		EXPECT_EQ(said[i].add_type, -EINVAL);
		EXPECT_EQ(said[i].output, -EINVAL);
		EXPECT_EQ(said[i].reserved, 0);
	}
	/* Negative control. */
	EXPECT_EQ(said[i].open, 0);
	EXPECT_EQ(said[i].add_type, 0);
	EXPECT_EQ(said[i].output, 0);
	EXPECT_EQ(said[i].reserved, 1);
}

static bool says_abi(int kmsg, __u32 theirs)
{
	char want[64];

	snprintf(want, sizeof(want), "ABI %u, this module has ABI %u", theirs, BPF_RELAY_ABI);
	return strstr(kmsg_read(kmsg), want);
}

/* Fails when: a program of another ABI is let in, or not told both numbers. */
TEST_F(refused, another_abi)
{
	static const __u32 abis[] = { 0, BPF_RELAY_ABI - 1, BPF_RELAY_ABI + 1, 4711, ~0U };
	struct bpf_relay_type type = { .id = 1, .size = 8, .name = "t" };
	struct bpf_relay_opts opts = {};
	int i;

	for (i = 0; i < ARRAY_SIZE(abis); i++) {
		opts.abi = type.abi = abis[i];
		kmsg_read(self->kmsg);
		EXPECT_EQ(any_open_sized(&self->base, 1, &opts, sizeof(opts)), -EPROTO);
		EXPECT_TRUE(says_abi(self->kmsg, abis[i]));
		/* Whatever the size: of another ABI nothing else is known. */
		EXPECT_EQ(any_open_sized(&self->base, 1, &opts, sizeof(opts.abi)), -EPROTO);
		EXPECT_TRUE(says_abi(self->kmsg, abis[i]));
		EXPECT_EQ(any_add_type(&self->base, 1, &type), -EPROTO);
		EXPECT_TRUE(says_abi(self->kmsg, abis[i]));
		EXPECT_FALSE(says_abi(self->kmsg, abis[i]));	/* negative control */
	}
	EXPECT_EQ(any_open(&self->base, 1, (struct bpf_relay_opts) {}), 0);
}

/* Fails when: a struct of another size is misread. */
TEST_F(refused, shorter_and_longer_structs)
{
	unsigned char bytes[ANYLOG_ARG] = {};
	struct bpf_relay_type type = {
		.abi = BPF_RELAY_ABI, .id = 1, .size = 8, .name = "t",
	};
	struct bpf_relay_opts opts = { .abi = BPF_RELAY_ABI, .n_types = 1 };
	int i;

	memcpy(bytes, &type, sizeof(type));
	for (i = 0; i < sizeof(type); i++)
		EXPECT_EQ(any_call_with(&self->base, "any_do_add_type", 1, bytes, i), -EINVAL);
	for (i = sizeof(type); i < 400; i += 37) {
		bytes[i] = 1;
		EXPECT_EQ(any_call_with(&self->base, "any_do_add_type", 1, bytes, i + 1),
			  -E2BIG);
		bytes[i] = 0;
	}
	EXPECT_EQ(any_call_with(&self->base, "any_do_add_type", 1, bytes, 400), 0);
	EXPECT_EQ(any_call_with(&self->base, "any_do_add_type", 1, bytes, sizeof(bytes)),
		  -EALREADY);

	memset(bytes, 0, sizeof(bytes));
	memcpy(bytes, &opts, sizeof(opts));
	for (i = 0; i < sizeof(opts); i++)
		EXPECT_EQ(any_open_sized(&self->base, 1, bytes, i), -EINVAL);
	for (i = sizeof(opts); i < 400; i += 37) {
		bytes[i] = 0x80;
		EXPECT_EQ(any_open_sized(&self->base, 1, bytes, i + 1), -E2BIG);
		EXPECT_EQ(any_open_sized(&self->base, 1, bytes, sizeof(bytes)), -E2BIG);
		bytes[i] = 0;
	}
	EXPECT_EQ(access(self->log.dir, F_OK), -1);
	EXPECT_EQ(any_open_sized(&self->base, 1, bytes, sizeof(bytes)), 0);
	EXPECT_EQ(any_open_sized(&self->base, 1, bytes, sizeof(opts)), -EALREADY);
}

/* A type that is accepted; the tests change one thing about it. */
static struct bpf_relay_type good_type(void)
{
	return (struct bpf_relay_type) {
		.abi = BPF_RELAY_ABI, .id = 1, .size = 24, .name = "good",
	};
}

/* Fails when: a type is taken that no reader could make sense of. */
TEST_F(refused, types)
{
	static const char * const bad_names[] = {
		"", "1x", "a b", "a-b", "a;", "a\"", "\xc3\xbc", "struct ", "const struct ",
		"struct struct x", "struct const x", " x", "x ", "union x", "a.b", "x\n",
	};
	static const struct {
		const char *given, *is;
	} good_names[] = {
		{ "x", "x" }, { "_1", "_1" }, { "struct x", "x" }, { "const struct x", "x" },
		{ "const y_t", "y_t" }, { "structure", "structure" },
	};
	struct bpf_relay_type type;
	size_t len;
	char *text;
	int i;

#define REFUSED(...)								\
do {										\
	type = good_type();							\
	__VA_ARGS__;								\
	EXPECT_EQ(any_add_type(&self->base, 1, &type), -EINVAL) {		\
		printf("# accepted: %s (%.20s)\n", #__VA_ARGS__, type.name);	\
	}									\
} while (0)

	REFUSED(type.id = 0);
	REFUSED(type.id = BPF_RELAY_TYPES_MAX);
	REFUSED(type.id = 0xffff);
	REFUSED(type.flags = 2);
	REFUSED(type.flags = BPF_RELAY_TYPE_VAR | 0x8000);
	REFUSED(type.reserved = 1);
	REFUSED(type.size = 0);
	REFUSED(type.size = BPF_RELAY_PAYLOAD_MAX(BPF_RELAY_SUBBUF_MAX) + 1);
	REFUSED(type.size = ~0U);
	REFUSED(memset(type.name, 'a', sizeof(type.name)));
	for (i = 0; i < ARRAY_SIZE(bad_names); i++) {
		REFUSED(memset(type.name, 0, sizeof(type.name));
			strcpy(type.name, bad_names[i]));
	}

	/* Negative control: the same but for what was wrong. */
	for (i = 0; i < ARRAY_SIZE(good_names); i++) {
		type = good_type();
		type.id = 2 + i;
		strcpy(type.name, good_names[i].given);
		EXPECT_EQ(any_add_type(&self->base, 1, &type), 0);
		/* What was before the identifier does not make it another type. */
		memset(type.name, 'x', sizeof(type.name));
		strcpy(type.name, good_names[i].is);
		EXPECT_EQ(any_add_type(&self->base, 1, &type), -EALREADY);
	}
	type = good_type();
	type.id = BPF_RELAY_TYPES_MAX - 1;
	memset(type.name, 'a', sizeof(type.name) - 1);
	EXPECT_EQ(any_add_type(&self->base, 1, &type), 0);
	type = good_type();
	type.flags = BPF_RELAY_TYPE_VAR;
	type.size = 0;
	EXPECT_EQ(any_add_type(&self->base, 1, &type), 0);

	EXPECT_EQ(any_open(&self->base, 1, (struct bpf_relay_opts) { .n_types = i + 2 }), 0);
	text = log_file(&self->log, "ctf/metadata", &len);
	ASSERT_NE(text, NULL);
	for (i = 0; i < ARRAY_SIZE(good_names); i++) {
		char want[64];

		snprintf(want, sizeof(want), "\tname = \"%s\";\n\tid = %d;\n",
			 good_names[i].is, 2 + i);
		EXPECT_NE(strstr(text, want), NULL);
	}
	free(text);
}

static int add_tsdl(struct relay_log *base, __u16 id, const void *tsdl, __u32 len)
{
	struct bpf_relay_type type = good_type();

	type.id = id;
	type.tsdl = (unsigned long)tsdl;
	type.tsdl_len = len;
	return any_add_type(base, 1, &type);
}

/*
 * Fails when: a type's text can say something about anything but its own event: then
 * one program could make everybody's records unreadable.
 */
TEST_F(refused, tsdl)
{
#define TSDL(text) { text, sizeof(text) - 1 }
	static const struct {
		const char *text;
		__u32 len;
	} bad[] = {
		TSDL("x"), TSDL("event"), TSDL("event "), TSDL("stream {};"), TSDL(" event {};"),
		TSDL("Event {};"),
		/* braces */
		TSDL("event {"), TSDL("event {{}"), TSDL("event }"), TSDL("event }{"),
		TSDL("event {}}"), TSDL("event {};};"), TSDL("event {{}}}{"),
		/* something behind the block, or before it */
		TSDL("event {}; event {};"), TSDL("event {} x"), TSDL("event {}; stream {};"),
		TSDL("event ; env { a = 1; };"), TSDL("eventual {};"), TSDL("event x {};"),
		/* comments that would swallow what follows */
		TSDL("event { /* };"), TSDL("event { /*/ };"), TSDL("event { // };\n };"),
		TSDL("event { /* \1 */ };"), TSDL("event {}; //"), TSDL("event {}; /* x */"),
		TSDL("event /* x */ {};"), TSDL("event { /* x */ /* };"),
		/* no text */
		TSDL("event { \1 };"), TSDL("event { \0 };"), TSDL("event { \x80 };"),
		TSDL("event { \x7f };"), TSDL("event {};\0"), TSDL("event { \xc3\xbc };"),
		/* strings: one that does not end, braces that are none */
		TSDL("event { name = \"x; };"), TSDL("event { name = \"x\\\"; };"),
		TSDL("event { name = \"{\"; }; };"), TSDL("event { name = \"}\"; "),
		TSDL("event { name = \"a\nb\"; };"), TSDL("event { name = '\"'; };"),
	}, good[] = {
		TSDL("event {}"), TSDL("event{};"), TSDL("event {\n\tname = \"x\";\n};\n"),
		TSDL("event\t{ fields := struct { uint8_t a; } align(64); } ;\n"),
		TSDL("event { fields := struct { enum : uint8_t { \"A\" = 0, \"B, C\" = -1 } _e; }; };"),
		TSDL("event { /* } \" { */ /**/ };"),
	};
	static char large[BPF_RELAY_TEXT_MAX + 1];
	struct bpf_relay_field bytes = {
		.size = 1, .count = 24, .kind = BPF_RELAY_BYTES, .name = "bytes",
	};
	struct bpf_relay_type type;
	int i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		EXPECT_EQ(add_tsdl(&self->base, 50 + i, bad[i].text, bad[i].len), -EINVAL) {
			printf("# accepted: %.*s\n", (int)bad[i].len, bad[i].text);
		}
	}
	/* Of any length: only with a field that says of what. */
	type = good_type();
	type.flags = BPF_RELAY_TYPE_VAR;
	type.tsdl = (unsigned long)good[0].text;
	type.tsdl_len = good[0].len;
	EXPECT_EQ(any_add_type(&self->base, 1, &type), -EINVAL);
	type.fields = (unsigned long)&bytes;
	type.fields_len = sizeof(bytes);
	EXPECT_EQ(any_add_type(&self->base, 1, &type), -EINVAL);
	type.id = 40;
	bytes.count = 0;
	EXPECT_EQ(any_add_type(&self->base, 1, &type), 0);
	memset(large, ' ', sizeof(large));
	memcpy(large, "event {}", 8);
	EXPECT_EQ(add_tsdl(&self->base, 1, large, sizeof(large)), -E2BIG);
	EXPECT_EQ(add_tsdl(&self->base, 1, large, ~0U), -E2BIG);

	EXPECT_EQ(add_tsdl(&self->base, 1, large, sizeof(large) - 1), 0);
	for (i = 0; i < ARRAY_SIZE(good); i++)
		EXPECT_EQ(add_tsdl(&self->base, 2 + i, good[i].text, good[i].len), 0);
}

static int add_fields(struct relay_log *base, __u16 id, __u32 size, const void *fields, __u32 len)
{
	struct bpf_relay_type type = good_type();

	type.id = id;
	type.size = size;
	type.fields = (unsigned long)fields;
	type.fields_len = len;
	return any_add_type(base, 1, &type);
}

/* Structs in one another, the innermost of them one byte. */
static int add_deep(struct relay_log *base, int levels)
{
	struct bpf_relay_field *f = calloc(levels + 1, sizeof(*f));
	int i, err;

	for (i = 0; i <= levels; i++)
		f[i] = (struct bpf_relay_field) {
			.size = 1, .count = 1, .kind = BPF_RELAY_STRUCT, .depth = i, .name = "s",
		};
	f[levels].kind = BPF_RELAY_UINT;
	err = add_fields(base, 9, 1, f, (levels + 1) * sizeof(*f));
	free(f);
	return err;
}

/* Fails when: a table of fields is taken that would lead a reader out of the record. */
TEST_F(refused, fields)
{
	static const struct bpf_relay_field good[] = {
		{ .offset = 0, .size = 8, .count = 1, .kind = BPF_RELAY_UINT, .name = "a" },
		{ .offset = 8, .size = 4, .count = 2, .kind = BPF_RELAY_STRUCT, .name = "s" },
		{ .offset = 0, .size = 2, .count = 1, .kind = BPF_RELAY_INT, .depth = 1,
		  .name = "x" },
		{ .offset = 2, .size = 1, .count = 2, .kind = BPF_RELAY_CHAR, .depth = 1,
		  .name = "y" },
		{ .offset = 16, .size = 1, .count = 5, .kind = BPF_RELAY_BYTES, .name = "b" },
		{ .offset = 21, .size = 1, .count = 3, .kind = BPF_RELAY_PAD },
	};
	static struct bpf_relay_field many[BPF_RELAY_TEXT_MAX / sizeof(good[0]) + 1];
	struct bpf_relay_field f[ARRAY_SIZE(good)];
	int i;

#define BAD_FIELDS(...)								\
do {										\
	memcpy(f, good, sizeof(f));						\
	__VA_ARGS__;								\
	EXPECT_EQ(add_fields(&self->base, 1, 24, f, sizeof(f)), -EINVAL) {	\
		printf("# accepted: %s\n", #__VA_ARGS__);			\
	}									\
} while (0)

	/* Holes and overlaps, also inside a struct; beyond the record, and short of it. */
	BAD_FIELDS(f[0].offset = 1);
	BAD_FIELDS(f[0].size = 4);
	BAD_FIELDS(f[4].offset = 17);
	BAD_FIELDS(f[4].offset = 15);
	BAD_FIELDS(f[4].count = 4);
	BAD_FIELDS(f[4].count = 6);
	BAD_FIELDS(f[5].count = 2);
	BAD_FIELDS(f[5].count = 4);
	BAD_FIELDS(f[5].offset = ~0U);
	BAD_FIELDS(f[3].offset = 1);
	BAD_FIELDS(f[3].offset = 3);
	BAD_FIELDS(f[3].count = 1);
	BAD_FIELDS(f[3].count = 3);
	BAD_FIELDS(f[1].size = 3);
	BAD_FIELDS(f[1].size = 8);
	BAD_FIELDS(f[1].count = 3);
	/* Sizes that wrap around in 32 bits, in 64 bits with nothing to spare. */
	BAD_FIELDS(f[4].count = ~0U);
	BAD_FIELDS(f[0].count = 1U << 29 | 1);
	BAD_FIELDS(f[1].size = 1U << 31; f[1].count = 2);
	BAD_FIELDS(f[1].size = ~0U; f[1].count = ~0U);
	/* Kinds, and sizes that they do not have. */
	BAD_FIELDS(f[0].kind = 0);
	BAD_FIELDS(f[0].kind = BPF_RELAY_ARRAY + 1);
	BAD_FIELDS(f[0].kind = 0xffff);
	BAD_FIELDS(f[0].kind = BPF_RELAY_BOOL);
	BAD_FIELDS(f[0].kind = BPF_RELAY_FLOAT; f[0].size = 2; f[0].count = 4);
	BAD_FIELDS(f[0].kind = BPF_RELAY_ENUM; f[0].size = 3);
	BAD_FIELDS(f[0].kind = BPF_RELAY_ENUMERATOR);
	BAD_FIELDS(f[0].size = 3);
	BAD_FIELDS(f[0].size = 16);
	BAD_FIELDS(f[0].size = 0);
	BAD_FIELDS(f[0].count = 0);
	BAD_FIELDS(f[3].size = 2; f[3].count = 1);
	BAD_FIELDS(f[5].size = 3; f[5].count = 1);
	BAD_FIELDS(f[1].size = 0);
	BAD_FIELDS(f[1].kind = BPF_RELAY_UINT);
	/* Depths. */
	BAD_FIELDS(f[0].depth = 1);
	BAD_FIELDS(f[2].depth = 0);
	BAD_FIELDS(f[2].depth = 2);
	BAD_FIELDS(f[4].depth = 1);
	BAD_FIELDS(f[4].depth = 0xffff);
	/* Names. */
	BAD_FIELDS(f[0].name[0] = 0);
	BAD_FIELDS(f[0].name[0] = '1');
	BAD_FIELDS(strcpy(f[0].name, "a b"));
	BAD_FIELDS(strcpy(f[0].name, "a;"));
	BAD_FIELDS(memset(f[0].name, 'a', sizeof(f[0].name)));
	BAD_FIELDS(strcpy(f[5].name, "pad"));

	/* Lengths: no whole number of fields, too many. */
	memcpy(f, good, sizeof(f));
	for (i = 1; i < sizeof(f); i += 21)
		EXPECT_EQ(add_fields(&self->base, 1, 24, f, i), -EINVAL);
	for (i = 0; i < ARRAY_SIZE(many); i++)
		many[i] = (struct bpf_relay_field) {
			.offset = i, .size = 1, .count = 1, .kind = BPF_RELAY_UINT, .name = "m",
		};
	EXPECT_EQ(add_fields(&self->base, 2, ARRAY_SIZE(many), many, sizeof(many)), -E2BIG);
	EXPECT_EQ(add_fields(&self->base, 2, 24, many, ~0U), -E2BIG);

	/* Deeper than anybody reads, and deeper than fits. */
	EXPECT_EQ(add_deep(&self->base, 16), -EINVAL);
	EXPECT_EQ(add_deep(&self->base, 400), -EINVAL);
	EXPECT_EQ(add_deep(&self->base, 1000), -E2BIG);
	EXPECT_EQ(add_deep(&self->base, 15), 0);

	/* Negative control: the table that all of it began with. */
	EXPECT_EQ(add_fields(&self->base, 1, 24, f, sizeof(f)), 0);
	EXPECT_EQ(add_fields(&self->base, 2, ARRAY_SIZE(many) - 1, many,
			     sizeof(many) - sizeof(many[0])), 0);
}

/* Everything else that a table may say: one of each, of a record of any length. */
static const struct bpf_relay_field rich[] = {
	/* 0: bit-fields, and the padding between them */
	{ .offset = 0, .size = 4, .count = 1, .kind = BPF_RELAY_UINT, .bits = 3, .name = "a" },
	{ .offset = 0, .bit_offset = 3, .size = 4, .count = 1, .kind = BPF_RELAY_ENUM, .bits = 2,
	  .flags = BPF_RELAY_FIELD_SIGNED, .name = "b" },
	{ .kind = BPF_RELAY_ENUMERATOR, .count = 1, .depth = 1, .value = -1ULL, .name = "MINUS" },
	{ .kind = BPF_RELAY_ENUMERATOR, .count = 1, .depth = 1, .value = 1, .name = "PLUS" },
	{ .offset = 0, .bit_offset = 5, .size = 1, .count = 1, .kind = BPF_RELAY_PAD, .bits = 3 },
	/* 5: a number, and an array of arrays of addresses */
	{ .offset = 1, .size = 2, .count = 1, .kind = BPF_RELAY_UINT,
	  .flags = BPF_RELAY_FIELD_BE, .name = "len" },
	{ .offset = 3, .size = 12, .count = 2, .kind = BPF_RELAY_ARRAY, .name = "addrs" },
	{ .size = 6, .count = 2, .kind = BPF_RELAY_ARRAY, .depth = 1 },
	{ .size = 1, .count = 6, .kind = BPF_RELAY_BYTES, .depth = 2, .hint = BPF_RELAY_HINT_MAC },
	/* 9: stacks, an interface, a float, a bool */
	{ .offset = 27, .size = 8, .count = 2, .kind = BPF_RELAY_UINT,
	  .hint = BPF_RELAY_HINT_STACK, .name = "stack" },
	{ .offset = 43, .size = 4, .count = 1, .kind = BPF_RELAY_INT,
	  .hint = BPF_RELAY_HINT_IFINDEX, .name = "dev" },
	{ .offset = 47, .size = 8, .count = 1, .kind = BPF_RELAY_FLOAT, .name = "f" },
	{ .offset = 55, .size = 1, .count = 1, .kind = BPF_RELAY_BOOL, .name = "yes" },
	/* 13: a struct, and packets of any length */
	{ .offset = 56, .size = 1, .count = 1, .kind = BPF_RELAY_STRUCT, .name = "s" },
	{ .size = 1, .count = 1, .kind = BPF_RELAY_UINT, .depth = 1, .name = "inner" },
	{ .offset = 57, .size = 1, .count = 0, .kind = BPF_RELAY_BYTES,
	  .hint = BPF_RELAY_HINT_PACKET, .value = 5, .name = "packet" },
};

static int add_rich(struct relay_log *base, __u16 id, __u16 flags,
		    const struct bpf_relay_field *fields, __u32 n)
{
	struct bpf_relay_type type = good_type();

	type.id = id;
	type.flags = flags;
	type.size = 57;
	type.fields = (unsigned long)fields;
	type.fields_len = n * sizeof(*fields);
	return any_add_type(base, 1, &type);
}

/* Fails when: the same, by what bit-fields, enumerators, arrays and hints say. */
TEST_F(refused, rich_fields)
{
	struct bpf_relay_field f[ARRAY_SIZE(rich) + 1];
	__u32 n;

#define BAD_RICH(...)								\
do {										\
	memcpy(f, rich, sizeof(rich));						\
	f[ARRAY_SIZE(rich)] = (struct bpf_relay_field) {};			\
	n = ARRAY_SIZE(rich);							\
	__VA_ARGS__;								\
	EXPECT_EQ(add_rich(&self->base, 1, BPF_RELAY_TYPE_VAR, f, n), -EINVAL) { \
		printf("# accepted: %s\n", #__VA_ARGS__);			\
	}									\
} while (0)

	/* Bit-fields: place, width, count, kind. */
	BAD_RICH(f[0].bits = 2);
	BAD_RICH(f[0].bits = 4);
	BAD_RICH(f[0].bits = 33; f[1].offset = 4; f[1].bit_offset = 1);
	BAD_RICH(f[0].bits = 255);
	BAD_RICH(f[0].count = 2);
	BAD_RICH(f[0].count = 0);
	BAD_RICH(f[0].bit_offset = 1);
	BAD_RICH(f[1].bit_offset = 8);
	BAD_RICH(f[1].bit_offset = 11);
	BAD_RICH(f[1].offset = 1);
	BAD_RICH(f[4].bits = 2);
	BAD_RICH(f[4].bits = 4);
	BAD_RICH(f[4].bits = 65);
	BAD_RICH(f[4].bits = 0);
	BAD_RICH(f[5].bit_offset = 1);
	BAD_RICH(f[0].kind = BPF_RELAY_CHAR; f[0].size = 1);
	BAD_RICH(f[0].kind = BPF_RELAY_FLOAT);
	BAD_RICH(f[0].kind = BPF_RELAY_STRUCT);
	BAD_RICH(f[12].bits = 9);
	/* The byte behind bits that are not filled up. */
	BAD_RICH(memmove(&f[4], &f[5], sizeof(f) - 5 * sizeof(f[0])); n--);
	/* Enumerators: only of an enum right before them, and of no extent. */
	BAD_RICH(f[1].kind = BPF_RELAY_INT; f[1].flags = 0);
	BAD_RICH(f[2].depth = 0);
	BAD_RICH(f[2].depth = 2);
	BAD_RICH(f[2].size = 1);
	BAD_RICH(f[2].offset = 1);
	BAD_RICH(f[2].count = 0);
	BAD_RICH(f[2].bits = 1);
	BAD_RICH(f[2].hint = BPF_RELAY_HINT_HEX);
	BAD_RICH(f[2].flags = BPF_RELAY_FIELD_SIGNED);
	BAD_RICH(f[2].name[0] = 0);
	BAD_RICH(strcpy(f[2].name, "a b"));
	BAD_RICH(f[3] = f[4]; f[4] = rich[3]);
	BAD_RICH(memmove(&f[1], &f[2], sizeof(f) - 2 * sizeof(f[0])); n--);
	BAD_RICH(f[n] = f[2]; n++);
	/* Flags. */
	BAD_RICH(f[1].flags = BPF_RELAY_FIELD_BE);
	BAD_RICH(f[1].flags = 4);
	BAD_RICH(f[0].flags = BPF_RELAY_FIELD_BE);
	BAD_RICH(f[5].flags = BPF_RELAY_FIELD_SIGNED);
	BAD_RICH(f[11].flags = BPF_RELAY_FIELD_BE);
	BAD_RICH(f[14].flags = BPF_RELAY_FIELD_BE);
	/* Arrays: one child without a name that fills an element. */
	BAD_RICH(f[6].size = 11);
	BAD_RICH(f[6].size = 0);
	BAD_RICH(f[7].size = 12; f[7].count = 1);
	BAD_RICH(f[7].count = 1);
	BAD_RICH(f[7].count = 0);
	BAD_RICH(f[7].offset = 1);
	BAD_RICH(f[7].depth = 0);
	BAD_RICH(f[8].depth = 1);
	BAD_RICH(f[8].count = 3);
	BAD_RICH(f[8].count = 7);
	BAD_RICH(f[8].count = 0);
	BAD_RICH(strcpy(f[7].name, "inner"));
	BAD_RICH(strcpy(f[8].name, "inner"));
	BAD_RICH(f[6].name[0] = 0);
	BAD_RICH(f[8].kind = BPF_RELAY_PAD; f[8].hint = 0);
	BAD_RICH(f[8].kind = BPF_RELAY_UINT; f[8].bits = 8; f[8].count = 1; f[8].hint = 0;
		 f[7].size = 1; f[7].count = 12);
	/* Two of them. */
	BAD_RICH(memmove(&f[9], &f[8], sizeof(f) - 9 * sizeof(f[0])); n++; f[8].hint = 0;
		 f[8].count = 3; f[9].offset = 3; f[9].hint = 0; f[9].count = 3);
	/* Hints on what they cannot be said of. */
	BAD_RICH(f[8].hint = BPF_RELAY_HINT_IPV4);
	BAD_RICH(f[8].hint = BPF_RELAY_HINT_IPV6);
	BAD_RICH(f[8].hint = BPF_RELAY_HINT_STRING);
	BAD_RICH(f[5].hint = BPF_RELAY_HINT_IPV4);
	BAD_RICH(f[5].hint = BPF_RELAY_HINT_MAC);
	BAD_RICH(f[5].hint = BPF_RELAY_HINT_KSYM);
	BAD_RICH(f[5].hint = BPF_RELAY_HINT_STACK);
	BAD_RICH(f[5].hint = BPF_RELAY_HINT_IFINDEX);
	BAD_RICH(f[5].hint = BPF_RELAY_HINT_PACKET);
	BAD_RICH(f[5].hint = BPF_RELAY_HINT_PACKET + 1);
	BAD_RICH(f[5].hint = 255);
	BAD_RICH(f[9].kind = BPF_RELAY_INT);
	BAD_RICH(f[11].hint = BPF_RELAY_HINT_HEX);
	BAD_RICH(f[12].hint = BPF_RELAY_HINT_NS);
	BAD_RICH(f[13].hint = BPF_RELAY_HINT_HEX);
	BAD_RICH(f[6].hint = BPF_RELAY_HINT_MAC);
	BAD_RICH(f[4].hint = BPF_RELAY_HINT_HEX);
	/* Values: of nobody but a packet, and there a number that is before it. */
	BAD_RICH(f[0].value = 1);
	BAD_RICH(f[5].value = BPF_RELAY_NO_FIELD);
	BAD_RICH(f[15].value = 0);	/* a bit-field */
	BAD_RICH(f[15].value = 2);	/* an enumerator */
	BAD_RICH(f[15].value = 9);	/* an array */
	BAD_RICH(f[15].value = 10);	/* signed */
	BAD_RICH(f[15].value = 14);	/* in another struct */
	BAD_RICH(f[15].value = 15);
	BAD_RICH(f[15].value = 16);
	BAD_RICH(f[15].value = 1ULL << 32 | 5);
	BAD_RICH(f[15].value = BPF_RELAY_NO_FIELD - 1);
	/* Flexible: nothing but the last, within the least that there is. */
	BAD_RICH(f[12].count = 0);
	BAD_RICH(f[14].count = 0);
	BAD_RICH(f[13].count = 0);
	BAD_RICH(f[15].offset = 58);
	BAD_RICH(f[15].offset = 56);
	BAD_RICH(f[15].kind = BPF_RELAY_PAD; f[15].hint = 0; f[15].value = 0; f[15].name[0] = 0);
	BAD_RICH(f[n] = f[15]; n++);
	BAD_RICH(f[n] = f[14]; f[n].depth = 0; f[n].offset = 57; n++);
	BAD_RICH(f[15].kind = BPF_RELAY_STRUCT; f[15].hint = 0; f[15].value = 0);
	BAD_RICH(f[15].kind = BPF_RELAY_UINT; f[15].size = 3; f[15].hint = 0; f[15].value = 0);
	/* And only of a type of any length. */
	EXPECT_EQ(add_rich(&self->base, 1, 0, rich, ARRAY_SIZE(rich)), -EINVAL);

	/* Negative controls: the table as it is, without the last, with a shorter start. */
	EXPECT_EQ(add_rich(&self->base, 1, BPF_RELAY_TYPE_VAR, rich, ARRAY_SIZE(rich)), 0);
	EXPECT_EQ(add_rich(&self->base, 2, BPF_RELAY_TYPE_VAR, rich, ARRAY_SIZE(rich) - 1), 0);
	EXPECT_EQ(add_rich(&self->base, 3, 0, rich, ARRAY_SIZE(rich) - 1), 0);
	memcpy(f, rich, sizeof(rich));
	f[13] = f[15];
	f[13].offset = 56;
	EXPECT_EQ(add_rich(&self->base, 4, BPF_RELAY_TYPE_VAR, f, 14), 0);
	f[13].value = BPF_RELAY_NO_FIELD;
	EXPECT_EQ(add_rich(&self->base, 5, BPF_RELAY_TYPE_VAR, f, 14), 0);
	/* Bit-fields of an integer that is larger than the record. */
	memcpy(f, rich, sizeof(rich));
	f[0].size = f[1].size = 8;
	EXPECT_EQ(add_fields(&self->base, 6, 1, f, 5 * sizeof(f[0])), 0);
}

/* Fails when: an address that is not the caller's own is read. */
TEST_F(refused, bad_addresses)
{
	char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const char *bad[] = {
		NULL, (char *)8, (char *)-1L, (char *)-4096L, (char *)0xffff888000000000,
		(char *)0xffffffff81000000, (char *)0x8000000000000000, NULL, NULL,
	};
	char *end = page + 4096;
	int i;

	ASSERT_NE(page, MAP_FAILED);
	ASSERT_EQ(mprotect(end, 4096, PROT_NONE), 0);
	memcpy(end - 8, "event {}", 8);
	bad[ARRAY_SIZE(bad) - 2] = end;
	bad[ARRAY_SIZE(bad) - 1] = end - 7;	/* its last byte is not there */
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		EXPECT_EQ(add_tsdl(&self->base, 1, bad[i], 8), -EFAULT);
		EXPECT_EQ(add_fields(&self->base, 1, 24, bad[i], 64), -EFAULT);
	}
	/* Negative control: one byte before. */
	EXPECT_EQ(add_tsdl(&self->base, 1, end - 8, 8), 0);
}

/* Two hashes in what the kernel said, and not the same one. */
static bool says_two_hashes(int kmsg)
{
	const char *text = kmsg_read(kmsg), *a = strstr(text, "hash "), *b;

	b = a ? strstr(a + 1, "hash ") : NULL;
	if (b && strncmp(a, b, strlen("hash ") + 8))
		return true;
	printf("# the kernel said: %s\n", text);
	return false;
}

/* Fails when: two programs that disagree about a type can write to one log. */
TEST_F(refused, another_type)
{
	static const char tsdl[] = "event { name = \"good\"; };";
	static const char other_tsdl[] = "event { name = \"evil\"; };";
	struct bpf_relay_field field = {
		.size = 1, .count = 24, .kind = BPF_RELAY_BYTES, .name = "b",
	};
	struct bpf_relay_field other_field = field;
	struct bpf_relay_type type = good_type(), full, other;
	int open;

	strcpy(other_field.name, "c");
	full = type;
	full.tsdl = (unsigned long)tsdl;
	full.tsdl_len = sizeof(tsdl) - 1;
	full.fields = (unsigned long)&field;
	full.fields_len = sizeof(field);
	ASSERT_EQ(any_add_type(&self->base, 1, &full), 0);

	for (open = 0; open < 2; open++) {
		EXPECT_EQ(any_add_type(&self->base, 1, &full), -EALREADY);
		EXPECT_EQ(any_add_type(&self->base, 1, &type), -EALREADY);	/* no text */
#define DIFFERENT(...)								\
do {										\
	other = full;								\
	__VA_ARGS__;								\
	kmsg_read(self->kmsg);							\
	EXPECT_EQ(any_add_type(&self->base, 1, &other), -ESTALE);		\
	EXPECT_TRUE(says_two_hashes(self->kmsg)) {				\
		printf("# %s\n", #__VA_ARGS__);					\
	}									\
} while (0)
		DIFFERENT(other.size = 25; other.fields_len = 0);
		DIFFERENT(other.flags = BPF_RELAY_TYPE_VAR; other.tsdl_len = 0);
		DIFFERENT(strcpy(other.name, "evil"));
		DIFFERENT(other.tsdl = (unsigned long)other_tsdl);
		DIFFERENT(other.fields = (unsigned long)&other_field);
		if (open)
			break;
		EXPECT_EQ(any_open(&self->base, 1, (struct bpf_relay_opts) { .n_types = 1 }), 0);
		/* Opened: no more types. */
		other = good_type();
		other.id = 2;
		EXPECT_EQ(any_add_type(&self->base, 1, &other), -ESTALE);
		EXPECT_NE(strstr(kmsg_read(self->kmsg), "is open without type 2"), NULL);
	}
	EXPECT_EQ(log_stat(&self->log, -1, "types"), 1);
}

/*
 * The same by the program that RELAY_MAP() defines.
 * Fails when: that program hides what add_type or open said.
 */
TEST_F(refused, another_type_in_the_setup)
{
	struct bpf_relay_setup *setup;
	struct relay_log log;

	log_load(&log, "refused", "any");
	ASSERT_EQ(log_open(&log, NULL), 0);
	EXPECT_EQ(log_open(&log, NULL), -EALREADY);
	setup = log_var(&log, ".data.relay", "any_setup");
	setup->type[0].size++;
	kmsg_read(self->kmsg);
	EXPECT_EQ(log_open(&log, NULL), -ESTALE);
	EXPECT_TRUE(says_two_hashes(self->kmsg));
	setup->type[0].size--;
	setup->opts.abi++;
	EXPECT_EQ(log_open(&log, NULL), -EPROTO);
	setup->opts.abi--;
	EXPECT_EQ(log_open(&log, NULL), -EALREADY);
	log_unload(&log);
}

/* Fails when: who opens a log that is open is not told whether it is the wanted one. */
TEST_F(refused, open_twice)
{
	const struct bpf_relay_opts opts = { .subbuf_size = 8192, .n_subbufs = 4,
					     .clock = BPF_RELAY_CLOCK_MONO };
	struct bpf_relay_opts other;

	EXPECT_EQ(any_open(&self->base, 1, (struct bpf_relay_opts) { .n_types = 1 }), -EINVAL);
	EXPECT_NE(strstr(kmsg_read(self->kmsg), "has 0 types, opened for 1"), NULL);
	ASSERT_EQ(any_open(&self->base, 1, opts), 0);
	EXPECT_EQ(any_open(&self->base, 1, opts), -EALREADY);
	other = opts;
	other.subbuf_size = other.n_subbufs = 0;	/* whatever they are */
	EXPECT_EQ(any_open(&self->base, 1, other), -EALREADY);
#define OTHER(...)								\
do {										\
	other = opts;								\
	__VA_ARGS__;								\
	kmsg_read(self->kmsg);							\
	EXPECT_EQ(any_open(&self->base, 1, other), -ESTALE);			\
	EXPECT_NE(strstr(kmsg_read(self->kmsg), "is open with 0 types, "), NULL); \
} while (0)
	OTHER(other.subbuf_size = 4096);
	OTHER(other.n_subbufs = 8);
	OTHER(other.mode = BPF_RELAY_KEEP);
	OTHER(other.clock = BPF_RELAY_CLOCK_BOOT);
	OTHER(other.n_types = 1);
	any_write(&self->base, 1, 0, 0, 8, 0, 1);
	EXPECT_EQ(log_walk(&self->log, 0, true, NULL, NULL), 1);
}

static int insert_copy(const char *objcopy_options)
{
	int fd, err;

	if (shell("objcopy %s %s /tmp/refused.ko", objcopy_options, getenv("MODULE")))
		return -1;
	fd = open("/tmp/refused.ko", O_RDONLY);
	err = syscall(SYS_finit_module, fd, "", 0) ? errno : 0;
	close(fd);
	unlink("/tmp/refused.ko");
	return err;
}

/* Fails when: a module loads though no program will ever be able to call it. */
TEST(module_without_btf)
{
	const char *text;
	int kmsg;

	ASSERT_TRUE(module_remove());
	kmsg = kmsg_open();
	EXPECT_EQ(insert_copy("--remove-section .BTF"), ENOEXEC);
	text = kmsg_read(kmsg);
	/* With the command that mends it. */
	EXPECT_NE(strstr(text, "cp /sys/kernel/btf/vmlinux /lib/modules/"), NULL) {
		printf("# the kernel said: %s\n", text);
	}
	EXPECT_FALSE(module_loaded());

	/* Negative control: a copy of all of it. */
	EXPECT_EQ(insert_copy(""), 0);
	EXPECT_EQ(strstr(kmsg_read(kmsg), "cp /sys/kernel/btf/vmlinux"), NULL);
}

TEST_HARNESS_MAIN
