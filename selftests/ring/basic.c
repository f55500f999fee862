// SPDX-License-Identifier: GPL-2.0-only
/* What one writer at a time does: no interrupts, real sizes. */
#include "world.h"

#define SIZE	BPF_RELAY_SUBBUF_MIN
#define MOST	((u32)BPF_RELAY_PAYLOAD_MAX(SIZE))
#define HEAD	(sizeof(struct bpf_relay_packet))
#define RECORD	(sizeof(struct bpf_relay_header))

static void start(u32 n, enum bpf_relay_mode mode)
{
	world_open(SIZE, n, mode);
	world_attach();
}

TEST(geometry, "basic.geometry")
{
	u32 size, n;

	for (size = BPF_RELAY_SUBBUF_MIN; size <= BPF_RELAY_SUBBUF_MAX; size *= 2) {
		for (n = BPF_RELAY_N_SUBBUFS_MIN; n <= BPF_RELAY_N_SUBBUFS_MAX; n *= 2) {
			if ((u64)size * n > 16U << 20)
				continue;
			world_open(size, n, BPF_RELAY_OVERWRITE);
			CHECK(world.ctl->abi == BPF_RELAY_ABI && world.ctl->cpu == 3);
			CHECK(world.ctl->flags == 0);
			CHECK(world.ctl->subbuf_size == size && world.ctl->n_subbufs == n);
			CHECK(world.ctl->ctl_size == ring_ctl_size(n));
			CHECK((u8 *)world.ring.sub == (u8 *)world.ctl + world.ctl->subbufs_off);
			CHECK((u8 *)(world.ring.sub + n) == (u8 *)world.ctl + ring_ctl_size(n));
			CHECK(ring_subbuf_size(&world.ring) == size);
			world_attach();
			CHECK(world.ctl->flags == BPF_RELAY_F_BUFFER);
			quiet();
			/* The first, a middle and the last sub-buffer, then the first again. */
			CHECK(put(100) == 0);
			CHECK(put(BPF_RELAY_PAYLOAD_MAX(size)) == 0);
			if (n <= 8)
				advance((u64)size * n);
			CHECK(put(1) == 0);
			quiet();
		}
	}
}

/* The largest buffer of all, without its memory: positions need more than 32 bits. */
TEST(positions, "basic.positions")
{
	const u32 size = BPF_RELAY_SUBBUF_MAX, n = BPF_RELAY_BUFFER_MAX / BPF_RELAY_SUBBUF_MAX;
	const u64 lap = BPF_RELAY_BUFFER_MAX, at = (9ULL << 40) + 255ULL * size;
	struct ring r = { 0 };

	start(2, BPF_RELAY_OVERWRITE);
	ring_init(&r, calloc(1, ring_ctl_size(n)), 0, size, n, BPF_RELAY_OVERWRITE,
		  BPF_RELAY_CLOCK_BOOT, NULL);
	ring_attach(&r, NULL);
	CHECK(r.ctl->subbuf_size == size && r.ctl->n_subbufs == n);
	CHECK(ring_index(&r, at) == 255 && ring_index(&r, at + size - 1) == 255);
	CHECK(ring_index(&r, at + size) == 0);
	CHECK(ring_start(&r, at + 17) == at && ring_start(&r, at) == at);
	CHECK(ring_round_up(&r, at + 1) == at + size && ring_round_up(&r, at) == at);
	CHECK(ring_lap_base(&r, at) == (9ULL << 40) / lap * size);
	CHECK(ring_lap_base(&r, at + size) == ((9ULL << 40) / lap + 1) * size);
	CHECK((u8 *)ring_at(&r, at + 5) - r.data == (ptrdiff_t)(lap - size + 5));
	free(r.ctl);
}

TEST(no_buffer, "basic.no-buffer")
{
	struct held h;

	world_open(SIZE, 2, BPF_RELAY_OVERWRITE);
	CHECK(put(8) == BPF_RELAY_dropped_no_buffer);
	CHECK(begin(&h, 8) == BPF_RELAY_dropped_no_buffer);
	CHECK(world.ctl->counters.dropped_no_buffer == 2);
	quiet();
	world_attach();
	CHECK(put(8) == 0);
	quiet();
}

TEST(write_read, "basic.write-read")
{
	struct held h;
	int i;

	start(2, BPF_RELAY_OVERWRITE);
	CHECK(look() == 0);
	for (i = 0; i < 10; i++) {
		CHECK(put(i) == 0);
		CHECK(look() == (u64)i + 1);
		quiet();
	}
	CHECK(begin(&h, 20) == 0);
	CHECK(look() == 10);
	quiet();
	fill(&h, 20);
	CHECK(look() == 10);
	end(&h, BPF_RELAY_COMMITTED);
	CHECK(look() == 11);
	quiet();
}

TEST(sizes, "basic.sizes")
{
	struct held h;
	u32 len;

	start(4, BPF_RELAY_OVERWRITE);
	for (len = 0; len <= MOST; len++) {
		CHECK(put(len) == 0, "%u bytes", len);
		quiet();
	}
	for (len = 0; len <= MOST; len++) {
		CHECK(begin(&h, len) == 0, "%u bytes", len);
		fill(&h, len);
		end(&h, BPF_RELAY_COMMITTED);
	}
	quiet();
	CHECK(put(MOST + 1) == BPF_RELAY_dropped_too_big);
	CHECK(put(~0U) == BPF_RELAY_dropped_too_big);
	CHECK(begin(&h, MOST + 1) == BPF_RELAY_dropped_too_big);
	CHECK(begin(&h, ~0U) == BPF_RELAY_dropped_too_big);
	CHECK(begin(&h, ~0U - 22) == BPF_RELAY_dropped_too_big);
	quiet();
}

/* A record that ends where the sub-buffer ends: no padding, and nothing to mend later. */
TEST(exact_fill, "basic.exact-fill")
{
	static u8 before[SIZE];
	u32 n, lap, left;

	for (n = 2; n <= 4; n *= 2) {
		for (left = 0; left <= 8; left += 8) {
			start(n, BPF_RELAY_OVERWRITE);
			for (lap = 0; lap < 3 * n; lap++) {
				u64 old = (u64)lap * SIZE, end = old + SIZE;

				advance(end - 200);
				CHECK(put(200 - RECORD - left) == 0);
				quiet();
				CHECK(world.ctl->wpos == end - left);
				if (left) {
					/* A header of 16 bytes does not fit any more. */
					CHECK(put(0) == 0);
					CHECK(world.ctl->wpos == end + HEAD + RECORD);
					quiet();
					continue;
				}
				CHECK(world.ctl->published == end);
				memcpy(before, ring_at(&world.ring, old), SIZE);
				CHECK(put(8) == 0);
				CHECK(world.ctl->wpos == end + HEAD + RECORD + 8);
				CHECK(!memcmp(before, ring_at(&world.ring, old), SIZE),
				      "the switch touched a full sub-buffer");
				quiet();
			}
		}
	}
}

TEST(overwrite, "basic.overwrite")
{
	u64 seed = 1;
	u32 n;

	for (n = 2; n <= 8; n *= 2) {
		start(n, BPF_RELAY_OVERWRITE);
		while (world.ctl->wpos < 5 * world.buffer) {
			u64 random = test_random(&seed);
			u32 len = random % 16 ? random / 16 % 300 : random / 16 % (MOST + 1);

			CHECK(put(len) == 0);
			quiet();
		}
		CHECK(world.ctl->counters.overwritten > 0);
		CHECK(world.ctl->counters.overwritten_bytes > 0);
		CHECK(!world.discarded_back);
	}
}

TEST(keep, "basic.keep")
{
	static u8 before[2 * SIZE];
	struct held h;
	u64 wpos;

	start(2, BPF_RELAY_KEEP);
	CHECK(world.ctl->flags == (BPF_RELAY_F_KEEP | BPF_RELAY_F_BUFFER));
	advance(2 * SIZE - 48);
	quiet();
	CHECK(put(40) == BPF_RELAY_dropped_full);
	quiet();
	CHECK(put(8) == 0);	/* small, after a big one was refused */
	CHECK(begin(&h, 16) == BPF_RELAY_dropped_full);
	CHECK(put(0) == 0);
	CHECK(put(0) == BPF_RELAY_dropped_full);
	quiet();
	wpos = world.ctl->wpos;
	memcpy(before, world.data, sizeof(before));
	while (world.calls < 1000)
		CHECK(put(world.calls % 100) == BPF_RELAY_dropped_full);
	CHECK(put(MOST + 1) == BPF_RELAY_dropped_too_big);
	quiet();
	CHECK(world.ctl->wpos == wpos && !memcmp(before, world.data, sizeof(before)));
	CHECK(world.ctl->counters.overwritten == 0);

	/* Exactly full. */
	start(4, BPF_RELAY_KEEP);
	advance(4 * SIZE);
	CHECK(put(0) == BPF_RELAY_dropped_full);
	CHECK(world.ctl->published == 4 * SIZE);
	quiet();
}

/* Every reason that the ring does not meet itself is counted by ring_drop(). */
TEST(drop, "basic.drop")
{
	int i;

	start(2, BPF_RELAY_OVERWRITE);
	for (i = BPF_RELAY_FIRST_DROP; i < BPF_RELAY_NR_COUNTERS; i++) {
		CHECK(ring_drop(&world.ring, i) == (enum bpf_relay_counter)i);
		world.drops[i]++;
		world.calls++;
		CHECK(ring_dropped(&world.ring) == (u64)i - BPF_RELAY_FIRST_DROP + 1);
	}
	quiet();
	/* Into the next packet's header. */
	advance(SIZE);
	CHECK(put(0) == 0);
	CHECK(((struct bpf_relay_packet *)ring_at(&world.ring, SIZE))->events_discarded == 9);
	quiet();
}

TEST(busy, "basic.busy")
{
	u32 n, i;
	struct held h;

	for (n = 2; n <= 8; n *= 2) {
		start(n, BPF_RELAY_OVERWRITE);
		CHECK(put(10) == 0);
		CHECK(begin(&h, 10) == 0);
		for (i = 0; i < n; i++)
			advance((i + 1) * SIZE);
		CHECK(put(0) == BPF_RELAY_dropped_busy);
		CHECK(put(MOST) == BPF_RELAY_dropped_busy);
		CHECK(world.ctl->counters.dropped_busy == 2);
		quiet();
		fill(&h, 10);
		end(&h, BPF_RELAY_COMMITTED);
		quiet();
		CHECK(put(0) == 0);
		CHECK(put(MOST) == 0);
		quiet();
	}
}

/* A record that does not fit is busy; a smaller one may still fit. */
TEST(busy_small, "basic.busy-small-fits")
{
	struct held h;

	start(2, BPF_RELAY_OVERWRITE);
	CHECK(begin(&h, 0) == 0);
	advance(2 * SIZE - 64);
	CHECK(put(64) == BPF_RELAY_dropped_busy);
	CHECK(put(48) == 0);
	CHECK(put(0) == BPF_RELAY_dropped_busy);
	quiet();
	end(&h, BPF_RELAY_DISCARDED);
	CHECK(put(64) == 0);
	quiet();
}

TEST(open_hides, "basic.open-hides-own-subbuf")
{
	u64 before, later;
	struct held h;
	u32 n;

	for (n = 4; n <= 8; n *= 2) {
		start(n, BPF_RELAY_OVERWRITE);
		advance(world.buffer + SIZE / 2);	/* lap 1 */
		CHECK(put(8) == 0);
		before = look();
		CHECK(begin(&h, 100) == 0);
		CHECK(put(8) == 0 && put(8) == 0);
		CHECK(look() == before);		/* hidden by h */
		advance(world.buffer + SIZE);
		/* That entered nothing; the next one laps the oldest, of one record. */
		CHECK(look() == before);
		CHECK(put(8) == 0 && put(8) == 0);
		later = look();
		CHECK(later == before - 1, "%llu, not %llu", (ull)later, (ull)before - 1);
		advance(world.buffer + 2 * SIZE);	/* complete: readable */
		CHECK(world.ctl->published < world.buffer + SIZE);
		CHECK(look() == later + 3, "%llu, not %llu", (ull)look(), (ull)later + 3);
		quiet();
		CHECK(put(8) == 0);
		quiet();
		end(&h, BPF_RELAY_COMMITTED);
		CHECK(world.ctl->published == world.ctl->wpos);
		quiet();
	}
}

/* Records of several programs, submitted in any order, over two sub-buffers. */
TEST(open_order, "basic.open-order")
{
	int order[24][4], n = 0, a, b, c, i, k;

	for (a = 0; a < 4; a++)
		for (b = 0; b < 4; b++)
			for (c = 0; c < 4; c++)
				if (a != b && a != c && b != c)
					memcpy(order[n++], (int[]){ a, b, c, 6 - a - b - c },
					       sizeof(order[0]));
	CHECK(n == 24);
	for (k = 0; k < 3 * n; k++) {
		struct held h[4];

		start(k % 2 ? 2 : 4, BPF_RELAY_OVERWRITE);
		advance((k / 24) * world.buffer + SIZE - 104);
		for (i = 0; i < 4; i++) {
			CHECK(begin(&h[i], 20 + i) == 0);
			CHECK(put(i) == 0);
			quiet();
		}
		for (i = 0; i < 4; i++) {
			struct held *which = &h[order[k % 24][i]];

			fill(which, i);
			end(which, i == 2 ? BPF_RELAY_DISCARDED : BPF_RELAY_COMMITTED);
			quiet();
		}
		CHECK(world.ctl->published == world.ctl->wpos);
	}
}

TEST(discard, "basic.discard")
{
	struct held h;
	int i;

	start(2, BPF_RELAY_OVERWRITE);
	for (i = 0; i < 1000; i++) {
		CHECK(begin(&h, i % 90) == 0);
		fill(&h, i % 90);
		end(&h, i % 3 ? BPF_RELAY_DISCARDED : BPF_RELAY_COMMITTED);
		quiet();
	}
	CHECK(world.ctl->counters.discarded == 666 && world.ctl->counters.records == 334);
	/* A packet of discarded records only. */
	for (i = 0; i < 2000; i++) {
		CHECK(begin(&h, 20) == 0);
		end(&h, BPF_RELAY_DISCARDED);
	}
	CHECK(look() == 0);
	quiet();
}

/* Nothing of an older lap shines through: begin(), check_subbuf() look at each byte. */
TEST(no_old_data, "basic.no-old-data")
{
	struct held h;
	u32 i;

	start(2, BPF_RELAY_OVERWRITE);
	advance(3 * world.buffer);
	for (i = 0; i < 3000; i++) {
		CHECK(begin(&h, i * 7 % 600) == 0);
		fill(&h, i % 3 ? 0 : h.slot.len / 2);
		end(&h, BPF_RELAY_COMMITTED);
		CHECK(put(i % 25) == 0);
		quiet();
	}
}

TEST(clock_back, "basic.clock-back")
{
	u64 seed = 7, last;
	int i;

	start(2, BPF_RELAY_OVERWRITE);
	world.clock = 1ULL << 40;
	for (i = 0; i < 2000; i++) {
		last = world.ctl->last_ts;
		world.clock = (1ULL << 40) + test_random(&seed) % 100000;
		world.clock_step = i % 7 ? 0 : -(test_random(&seed) % 50);
		CHECK(put(i % 50) == 0);
		CHECK(world.ctl->last_ts >= last);
		quiet();
	}
	world.clock = world.clock_step = 0;
	last = world.ctl->last_ts;
	CHECK(put(0) == 0);
	CHECK(world.ctl->last_ts == last);
	quiet();
}

TEST(depth, "basic.depth-at-rest")
{
	start(2, BPF_RELAY_OVERWRITE);
	CHECK(put(1) == 0 && put(MOST + 1) != 0);
	CHECK(world.ctl->nested == 0 && world.ctl->depth_max == 1 && world.ring.depth == 0);
}
