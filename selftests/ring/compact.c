// SPDX-License-Identifier: GPL-2.0-only
/* packet_compact() on copies that no writer ever made. */
#include <sys/mman.h>
#include "test.h"

#define SIZE	4096U
#define HEAD	((u32)sizeof(struct bpf_relay_packet))
#define RECORD	((u32)sizeof(struct bpf_relay_header))

static u64 seed = 88172645463325252ULL;
static u8 input[SIZE];

/* A buffer that ends where the next page faults. */
static u8 *guarded(u32 size)
{
	long page = sysconf(_SC_PAGESIZE);
	u32 room = (size + page - 1) / page * page;
	u8 *p = mmap(NULL, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		     -1, 0);

	CHECK(p != MAP_FAILED);
	CHECK(!mprotect(p + room, page, PROT_NONE));
	return p + room - size;
}

static struct bpf_relay_header *at(u8 *p, u32 off)
{
	return (struct bpf_relay_header *)(p + off);
}

/* Append a record; returns the offset behind it. */
static u32 add(u32 off, u64 ts, u16 state, u32 len)
{
	CHECK(off + BPF_RELAY_RECORD_SIZE(len) <= SIZE);
	*at(input, off) = (struct bpf_relay_header) {
		.ts = ts, .id = len % 7, .state = state, .len = len,
	};
	memset(input + off + RECORD, 0, BPF_RELAY_RECORD_SIZE(len) - RECORD);
	memset(input + off + RECORD, 1 + len % 255, len);
	return off + BPF_RELAY_RECORD_SIZE(len);
}

/* What any result must be; the input is input[]. Returns the result. */
static struct packet compact(u8 *out, u32 len)
{
	static u8 *other;
	struct packet p, q;
	u32 off, i, n = 0, from = HEAD;
	u64 ts = 0;

	/* What lies behind len does not matter. */
	other = other ? other : guarded(SIZE);
	memcpy(other, input, SIZE);
	memset(other + len, 2, SIZE - len);
	packet_compact(other, len, SIZE, NULL, &q);

	memcpy(out, input, SIZE);
	packet_compact(out, len, SIZE, NULL, &p);
	CHECK(p.nrec == q.nrec && p.content == q.content && p.damaged == q.damaged &&
	      p.timestamp_end == q.timestamp_end, "read behind len %u", len);
	if (len >= HEAD)
		CHECK(!memcmp(out, other, SIZE), "result depends on what is behind len %u", len);
	CHECK(!memcmp(out, input, HEAD < len ? HEAD : len), "the packet header was touched");

	/* All records are committed, in the input too, in this order; then zeroes. */
	CHECK(p.content >= HEAD && p.content <= SIZE);
	for (off = HEAD; n < p.nrec; n++) {
		u64 bytes = BPF_RELAY_RECORD_SIZE(at(out, off)->len);

		CHECK(off + RECORD <= SIZE && bytes <= SIZE - off);
		CHECK(at(out, off)->state == BPF_RELAY_COMMITTED && at(out, off)->ts >= ts);
		ts = at(out, off)->ts;
		while (at(input, from)->state == BPF_RELAY_DISCARDED)
			from += BPF_RELAY_RECORD_SIZE(at(input, from)->len);
		CHECK(!memcmp(input + from, out + off, bytes), "record %u changed", n);
		from += bytes;
		if (n + 1 == p.nrec)
			CHECK(p.content == off + RECORD + at(out, off)->len);
		off += bytes;
	}
	CHECK(p.timestamp_end == ts);
	if (!p.nrec)
		CHECK(p.content == HEAD);
	for (i = off; i < SIZE; i++)
		CHECK(out[i] == 0, "byte %u behind the last record", i);

	/* And once more: nothing to do, nothing damaged. */
	memcpy(other, out, SIZE);
	packet_compact(other, SIZE, SIZE, NULL, &q);
	CHECK(!q.damaged && q.nrec == p.nrec && q.content == p.content &&
	      !memcmp(other, out, SIZE), "not stable");
	return p;
}

/* A packet of records as a writer leaves it; returns where they end. */
static u32 whole(u32 *records)
{
	u64 ts = 1000;
	u32 off = HEAD, bytes;

	*records = 0;
	memset(input, 0, SIZE);
	memset(input, 0x77, HEAD);
	while (SIZE - off >= RECORD) {
		bool discard = test_random(&seed) % 4 == 0;

		bytes = test_random(&seed) % (test_random(&seed) % 8 ? 60 : 1000);
		if (off + BPF_RELAY_RECORD_SIZE(bytes) > SIZE)
			break;
		ts += test_random(&seed) % 3;
		off = add(off, ts, discard ? BPF_RELAY_DISCARDED : BPF_RELAY_COMMITTED, bytes);
		*records += !discard;
	}
	return off;
}

TEST(whole_packets, "compact.whole")
{
	u8 *out = guarded(SIZE);
	int i;

	for (i = 0; i < 4000; i++) {
		u32 records, end = whole(&records);
		struct packet p = compact(out, i % 2 ? SIZE : end);

		CHECK(!p.damaged && p.nrec == records, "%u of %u records", p.nrec, records);
	}
}

TEST(discarded, "compact.discarded")
{
	u8 *out = guarded(SIZE);
	struct packet p;
	u32 end;

	end = add(HEAD, 5, BPF_RELAY_DISCARDED, 9);
	p = compact(out, end);
	CHECK(!p.nrec && !p.damaged && p.content == HEAD && p.timestamp_end == 0);

	end = add(end, 6, BPF_RELAY_COMMITTED, 3);
	end = add(end, 6, BPF_RELAY_DISCARDED, 0);
	end = add(end, 8, BPF_RELAY_COMMITTED, 0);
	end = add(end, 9, BPF_RELAY_DISCARDED, 100);
	p = compact(out, end);
	CHECK(p.nrec == 2 && !p.damaged && p.timestamp_end == 8);
	CHECK(p.content == HEAD + RECORD + 8 + RECORD);
	CHECK(at(out, HEAD)->ts == 6 && at(out, HEAD)->len == 3);
}

TEST(damaged, "compact.damaged")
{
	static const u16 bad[] = { BPF_RELAY_OPEN, 4, 0x100, 0xffff };
	u8 *out = guarded(SIZE);
	struct packet p;
	u32 end, i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		end = add(add(HEAD, 7, BPF_RELAY_COMMITTED, 20), 8, bad[i], 20);
		end = add(end, 9, BPF_RELAY_COMMITTED, 20);
		p = compact(out, end);
		CHECK(p.damaged && p.nrec == 1, "state %u", bad[i]);
	}
	/* Time goes back. */
	end = add(add(HEAD, 7, BPF_RELAY_COMMITTED, 20), 6, BPF_RELAY_COMMITTED, 20);
	p = compact(out, end);
	CHECK(p.damaged && p.nrec == 1 && p.timestamp_end == 7);
	/* The same time is none. */
	at(input, HEAD + RECORD + 24)->ts = 7;
	p = compact(out, end);
	CHECK(!p.damaged && p.nrec == 2);
	/* The end of the records: no damage. */
	memset(input + end, 0, SIZE - end);
	p = compact(out, SIZE);
	CHECK(!p.damaged && p.nrec == 2);
}

TEST(length, "compact.length")
{
	u8 *out = guarded(SIZE);
	struct packet p;
	u32 len, end;

	/* Every len, shorter than a header too. */
	end = add(add(HEAD, 7, BPF_RELAY_COMMITTED, 21), 8, BPF_RELAY_COMMITTED, 0);
	for (len = 0; len <= end; len++) {
		bool cut = (len >= HEAD + RECORD && len < end - RECORD);

		p = compact(out, len);
		CHECK(p.nrec == (u32)(len >= end - RECORD) + (len >= end), "len %u", len);
		CHECK(p.damaged == cut, "len %u", len);
	}
	/* A size that does not fit, and those that wrap in 32 bits. */
	for (len = 0; len < 64; len++) {
		end = add(add(HEAD, 7, BPF_RELAY_COMMITTED, 21), 8, BPF_RELAY_COMMITTED, 21);
		at(input, HEAD + RECORD + 24)->len = ~0U - len;
		p = compact(out, end);
		CHECK(p.damaged && p.nrec == 1, "len %#x", ~0U - len);
		at(input, HEAD + RECORD + 24)->len = 25 + len;
		p = compact(out, end);
		CHECK(p.damaged && p.nrec == 1, "len %u", 25 + len);
		/* A discarded record must not lead out either. */
		at(input, HEAD)->state = BPF_RELAY_DISCARDED;
		at(input, HEAD)->len = len % 2 ? ~0U - len : SIZE;
		p = compact(out, end);
		CHECK(p.damaged && !p.nrec);
	}
	/* The largest record, to the last byte. */
	end = add(HEAD, 7, BPF_RELAY_COMMITTED, BPF_RELAY_PAYLOAD_MAX(SIZE));
	p = compact(out, end);
	CHECK(p.nrec == 1 && !p.damaged && p.content == SIZE);
	at(input, HEAD)->len++;
	p = compact(out, end);
	CHECK(p.damaged && !p.nrec && p.content == HEAD);
}

TEST(random_bytes, "compact.random")
{
	u8 *out = guarded(SIZE);
	u32 i, k;

	for (i = 0; i < 6000; i++) {
		for (k = 0; k < SIZE; k += 8) {
			u64 word = test_random(&seed);

			/* Small numbers look most like headers. */
			if (i % 3)
				word &= i % 3 == 1 ? 0x3f0003000fULL : 0x7f0002ff07ffULL;
			memcpy(input + k, &word, 8);
		}
		compact(out, test_random(&seed) % (SIZE + 1));
	}
}

TEST(mutated, "compact.mutated")
{
	u8 *out = guarded(SIZE);
	u32 damaged = 0, i, k;

	for (i = 0; i < 16000; i++) {
		u32 records, end = whole(&records);
		struct packet p;

		for (k = 1 + test_random(&seed) % 4; k; k--) {
			u32 where = HEAD + test_random(&seed) % (end - HEAD);

			if (i % 4)	/* a header, most often the first few */
				where = HEAD + test_random(&seed) % (i % 4 == 1 ? 64 : 512);
			input[where] ^= 1 << test_random(&seed) % 8;
		}
		p = compact(out, i % 2 ? SIZE : end);
		damaged += p.damaged;
	}
	CHECK(damaged > 2000, "only %u found damaged", damaged);
	note("%u of 16000 found damaged", damaged);
}

/* Records that end in elements: as they must be shown; a part of one is cut off. */
TEST(elements, "compact.elements")
{
	/* The last one is none. */
	struct packet_type types[BPF_RELAY_TYPES_MAX + 1] = {
		[1] = { .least = 5, .offset = 5, .elem = 3 },
		[2] = { .elem = 1 },
		[BPF_RELAY_TYPES_MAX] = { .least = 5, .offset = 5, .elem = 3 },
	};
	u8 *out = guarded(SIZE), *want = guarded(SIZE);
	u32 len, elements, off, bytes, end;
	struct packet p;

	for (len = 5; len <= BPF_RELAY_PAYLOAD_MAX(SIZE) - 2 * RECORD - 8; len++) {
		elements = (len - 5) / 3;
		bytes = RECORD + 5 + elements * 3;
		end = add(HEAD, 3, BPF_RELAY_DISCARDED, 0);
		off = end;
		end = add(add(end, 4, BPF_RELAY_COMMITTED, len), 5, BPF_RELAY_COMMITTED, 8);
		at(input, off)->id = 1;
		at(input, end - RECORD - 8)->id = 2;

		memset(want, 0, SIZE);
		memcpy(want, input, HEAD);
		memcpy(want + HEAD, input + off, bytes);
		at(want, HEAD)->len = elements;
		bytes = HEAD + (bytes + 7) / 8 * 8;
		memcpy(want + bytes, input + end - RECORD - 8, RECORD + 8);

		memcpy(out, input, SIZE);
		packet_compact(out, end, SIZE, types, &p);
		CHECK(p.nrec == 2 && !p.damaged && p.content == bytes + RECORD + 8, "len %u", len);
		CHECK(!memcmp(out, want, SIZE), "len %u", len);
	}
	/* Shorter than its type: somebody else wrote there. */
	end = add(add(HEAD, 3, BPF_RELAY_COMMITTED, 8), 4, BPF_RELAY_COMMITTED, 4);
	at(input, HEAD)->id = 0;
	at(input, HEAD + RECORD + 8)->id = 1;
	memcpy(out, input, SIZE);
	packet_compact(out, end, SIZE, types, &p);
	CHECK(p.nrec == 1 && p.damaged);
	/* An id beyond all types is of none. */
	at(input, HEAD + RECORD + 8)->id = BPF_RELAY_TYPES_MAX;
	memcpy(out, input, SIZE);
	packet_compact(out, end, SIZE, types, &p);
	CHECK(p.nrec == 2 && !p.damaged && at(out, HEAD + RECORD + 8)->len == 4);
}

/* Padding of all kinds, in a struct, in an array of arrays of it, in elements. */
TEST(padding, "compact.padding")
{
	static const struct bpf_relay_field fields[] = {
		{ .kind = BPF_RELAY_UINT, .offset = 0, .size = 1, .count = 1, .bits = 3 },
		{ .kind = BPF_RELAY_PAD, .offset = 0, .bit_offset = 3, .size = 1, .count = 1,
		  .bits = 5 },
		{ .kind = BPF_RELAY_PAD, .offset = 1, .size = 1, .count = 2 },
		{ .kind = BPF_RELAY_ARRAY, .offset = 3, .size = 6, .count = 2 },
		{ .kind = BPF_RELAY_STRUCT, .depth = 1, .size = 3, .count = 2 },
		{ .kind = BPF_RELAY_ENUM, .depth = 2, .size = 1, .count = 1 },
		{ .kind = BPF_RELAY_ENUMERATOR, .depth = 3, .count = 1 },
		{ .kind = BPF_RELAY_PAD, .depth = 2, .offset = 1, .size = 1, .count = 2 },
		{ .kind = BPF_RELAY_UINT, .offset = 15, .size = 1, .count = 1 },
		{ .kind = BPF_RELAY_STRUCT, .offset = 16, .size = 2, .count = 0 },
		{ .kind = BPF_RELAY_PAD, .depth = 1, .offset = 0, .size = 1, .count = 1, .bits = 4 },
		{ .kind = BPF_RELAY_UINT, .depth = 1, .offset = 0, .bit_offset = 4, .size = 1,
		  .count = 1, .bits = 4 },
		{ .kind = BPF_RELAY_UINT, .depth = 1, .offset = 1, .size = 1, .count = 1 },
	};
	static const u8 want[] = {
		0x07, 0, 0, 0xff, 0, 0, 0xff, 0, 0, 0xff, 0, 0, 0xff, 0, 0, 0xff,
		0xf0, 0xff, 0xf0, 0xff, 0xf0, 0xff,
	};
	struct packet_type types[BPF_RELAY_TYPES_MAX] = {
		[5] = { .least = 16, .fields = fields, .n_fields = 13, .offset = 16, .elem = 2 },
		[6] = { .least = 16, .fields = fields, .n_fields = 9 },
	};
	u8 *out = guarded(SIZE);
	struct packet p;
	u32 end, id, n;

	for (id = 5; id <= 6; id++) {
		for (n = 0; n <= (id == 5 ? 3 : 0); n++) {
			end = add(add(HEAD, 1, BPF_RELAY_COMMITTED, 16 + 2 * n), 2,
				  BPF_RELAY_COMMITTED, 8);
			at(input, HEAD)->id = id;
			at(input, end - RECORD - 8)->id = 0;
			memset(input + HEAD + RECORD, 0xff, 16 + 2 * n);
			memcpy(out, input, SIZE);
			packet_compact(out, end, SIZE, types, &p);
			CHECK(p.nrec == 2 && !p.damaged, "%u elements", n);
			CHECK(!memcmp(out + HEAD + RECORD, want, 16 + 2 * n), "%u elements", n);
			CHECK(!memcmp(out + end - 8, input + end - 8, 8));
		}
	}
	/* Too short for what would have to be zeroed. */
	end = add(HEAD, 1, BPF_RELAY_COMMITTED, 15);
	at(input, HEAD)->id = 6;
	memcpy(out, input, SIZE);
	packet_compact(out, end, SIZE, types, &p);
	CHECK(!p.nrec && p.damaged);
}
