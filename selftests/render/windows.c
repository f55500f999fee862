// SPDX-License-Identifier: GPL-2.0-only
/* A text is the same through windows of any size. */
#include "tables.h"

static const struct bpf_relay_field mixed[] = {
	FIELD(UINT, "a", 0, 8, 1), FIELD(CHAR, "s", 8, 1, 8), FIELD(STRUCT, "t", 16, 8, 3),
	FIELD(ENUM, "e", 0, 4, 1, .depth = 1), ENUMERATOR("WITH_A_NAME", 'x', 2),
	FIELD(BYTES, "b", 4, 1, 4, .depth = 1), FIELD(ARRAY, "v", 40, 4, 2),
	FIELD(UINT, "", 0, 2, 2, .depth = 1), FIELD(UINT, "k", 48, 8, 2,
	.hint = BPF_RELAY_HINT_STACK),
};

static void fill(u8 *payload, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++)
		payload[i] = 1 + i * 37;
	payload[16] = 'x';
	memset(payload + 17, 0, 3);
}

/* Fails when: a byte is stored outside the window, left out, or put twice. */
TEST(windows, "every window of every size")
{
	u8 payload[64];
	struct render_record rec = record(mixed, N(mixed), payload, sizeof(payload));
	char whole[2048], some[2048];
	size_t len, skip, room, i;

	fill(payload, sizeof(payload));
	CHECK(fields_valid(mixed, N(mixed), sizeof(payload), false));
	strcpy(whole, render_whole(&rec));
	len = strlen(whole);
	CHECK(len > 200 && strstr(whole, "WITH_A_NAME"), "%s", whole);
	for (skip = 0; skip <= len + 2; skip++)
		for (room = 0; room <= len + 2; room++) {
			struct render r = { .to = some + 16, .skip = skip, .room = room };
			size_t left = skip < len ? len - skip : 0;
			size_t want = room < left ? room : left;

			memset(some, '#', sizeof(some));
			render_record(&r, &rec);
			CHECK(render_full(&r) == (skip + room < len), "%zu+%zu of %zu", skip,
			      room, len);
			CHECK(render_full(&r) || r.len == len);
			CHECK(!memcmp(some + 16, whole + (want ? skip : 0), want), "%zu+%zu", skip,
			      room);
			for (i = 0; i < sizeof(some); i++)
				CHECK((i >= 16 && i < 16 + want) || some[i] == '#',
				      "byte %zu of window %zu+%zu", i, skip, room);
		}
}

/* Fails when: a line of more than any buffer cannot be had a window at a time. */
TEST(pieces, "a long line, put together from pieces")
{
	static const struct bpf_relay_field table[] = {
		FIELD(STRUCT, "s", 0, 2, 0), FIELD(UINT, "first", 0, 1, 1, .depth = 1),
		FIELD(UINT, "second", 1, 1, 1, .depth = 1),
	};
	static u8 payload[16384];
	struct render_record rec = record(table, N(table), payload, sizeof(payload));
	static char whole[TEXT_MAX], text[TEXT_MAX];
	size_t rooms[] = { 1000, 4096, 8191 }, i;

	fill(payload, sizeof(payload));
	strcpy(whole, render_whole(&rec));
	CHECK(strlen(whole) > 20 * sizeof(payload) / 2);
	for (i = 0; i < N(rooms); i++) {
		struct render r = {};

		do {
			r = (struct render) { .to = text + r.skip, .skip = r.skip, .room = rooms[i] };
			render_record(&r, &rec);
			r.skip += rooms[i];
		} while (r.len > r.skip);
		text[r.len] = 0;
		CHECK(!strcmp(text, whole), "in pieces of %zu", rooms[i]);
	}
}
