// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writers nested in writers, as interrupts and NMIs are: before every single
 * access of a call something else runs to its end. Sub-buffers of 256 bytes, so
 * that a nested writer laps the ring in a few records.
 */
#include "world.h"

#define SIZE	256U
#define HEAD	(sizeof(struct bpf_relay_packet))
#define RECORD	(sizeof(struct bpf_relay_header))
#define MOST	((u32)BPF_RELAY_PAYLOAD_MAX(SIZE))

/* ---- What the ring is like before ---------------------------------------- */

static struct held below;	/* open before the call that is interrupted */
static bool below_open;

static void room(u64 base)	{ advance(base + HEAD + 40); }
static void little(u64 base)	{ advance(base + SIZE - 16); }
static void full(u64 base)	{ advance(base + SIZE); }
static void fits(u64 base)	{ advance(base + SIZE - 40); }

static void open_below(u64 base)
{
	room(base);
	CHECK(begin(&below, 24) == 0);
	fill(&below, 9);
	below_open = true;
}

static void open_far_below(u64 base)
{
	open_below(base);
	advance(base + 2 * SIZE - 16);
}

static const struct state {
	const char *name;
	void (*make)(u64 base);
	bool may_drop;	/* an open record may be in the way */
} states[] = {
	{ "room", room, false }, { "padding", little, false },
	{ "full", full, false }, { "exact fit", fits, false },
	{ "open record below", open_below, true },
	{ "open record in the sub-buffer before", open_far_below, true },
};

/* ---- The call that is interrupted ---------------------------------------- */

static bool may_drop;

static bool done(enum bpf_relay_counter dropped)
{
	CHECK(!dropped || (may_drop && dropped == BPF_RELAY_dropped_busy), "dropped: %u", dropped);
	return !dropped;
}

static void out_empty(void)	{ done(put(0)); }
static void out_fit(void)	{ done(put(24)); }
static void out_odd(void)	{ done(put(29)); }
static void out_most(void)	{ done(put(MOST)); }

static void out_reserve(void)
{
	struct held h;

	if (!done(begin(&h, 13)))
		return;
	fill(&h, 11);
	end(&h, BPF_RELAY_COMMITTED);
}

static void out_discard(void)
{
	struct held h;

	if (done(begin(&h, 24)))
		end(&h, BPF_RELAY_DISCARDED);
}

static void out_two(void)
{
	struct held a, b;
	bool two;

	if (!done(begin(&a, 24)))
		return;
	/* With a open and the ring lapped by nested ones, b may find it busy. */
	two = begin(&b, 60) == 0;
	fill(&a, 24);
	end(&a, BPF_RELAY_COMMITTED);
	if (two)
		end(&b, BPF_RELAY_COMMITTED);
}

static void out_two_reverse(void)
{
	struct held a, b;
	bool two;

	if (!done(begin(&a, 8)))
		return;
	two = begin(&b, 8) == 0;
	if (two)
		end(&b, BPF_RELAY_COMMITTED);
	end(&a, BPF_RELAY_COMMITTED);
}

static void out_too_big(void)	{ CHECK(put(MOST + 1) == BPF_RELAY_dropped_too_big); }

static const struct outer {
	const char *name;
	void (*run)(void);
} outers[] = {
	{ "empty", out_empty }, { "24 bytes", out_fit }, { "29 bytes", out_odd },
	{ "largest", out_most }, { "reserve", out_reserve }, { "discard", out_discard },
	{ "two", out_two }, { "two, last first", out_two_reverse }, { "too big", out_too_big },
};

/* ---- What runs nested in it ----------------------------------------------- */

static void in_one(void)	{ put(24); }
static void in_read(void)	{ look(); }
static void in_too_big(void)	{ put(MOST + 1); }

static void in_three(void)
{
	put(0);
	put(24);
	put(7);
}

/* To the end of the sub-buffer, no padding; then one more. */
static void in_exact(void)
{
	u64 left = -world.ctl->wpos & (SIZE - 1);

	if (left < RECORD)
		left = SIZE - HEAD;
	put(left - RECORD);
	put(0);
}

/* As far as it gets: until the ring is lapped, or busy. */
static void lap(u64 bytes)
{
	u64 to = world.ctl->wpos + bytes;

	while (world.ctl->wpos < to && !put(world.n_entries % 2 ? 40 : 100))
		;
}

static void in_lap(void)	{ lap(world.buffer); }
static void in_laps(void)	{ lap(3 * world.buffer + SIZE); }

static void in_full_laps(void)
{
	u64 to = world.ctl->wpos + 2 * world.buffer;
	u64 left = -world.ctl->wpos & (SIZE - 1);

	/* Without any padding; the rest of a sub-buffer first. */
	if (left >= RECORD && put(left - RECORD))
		return;
	while (world.ctl->wpos < to && !put(MOST))
		;
}

static void in_reserve(void)
{
	struct held a, b;

	if (!begin(&a, 20)) {
		if (!begin(&b, 5))
			end(&b, BPF_RELAY_DISCARDED);
		fill(&a, 20);
		end(&a, BPF_RELAY_COMMITTED);
	}
}

static const struct inner {
	const char *name;
	void (*run)(void);
} inners[] = {
	{ "one", in_one }, { "three", in_three }, { "exact", in_exact }, { "a lap", in_lap },
	{ "3 laps", in_laps }, { "2 laps without padding", in_full_laps },
	{ "reserve", in_reserve }, { "too big", in_too_big }, { "read", in_read },
};

/* ---- All of them ----------------------------------------------------------- */

#define N(a)	((int)(sizeof(a) / sizeof((a)[0])))

static u64 runs;

static void prepare(const struct state *s, u32 n, u64 base, enum bpf_relay_mode mode)
{
	world_open(SIZE, n, mode);
	world_attach();
	below_open = false;
	may_drop = s->may_drop || mode == BPF_RELAY_KEEP;
	s->make(base * SIZE);
	world_save();
}

static void finish(void)
{
	quiet();
	if (below_open) {
		end(&below, BPF_RELAY_COMMITTED);
		quiet();
	}
	runs++;
}

static void every_access(const struct outer *o, const struct inner *i)
{
	bool reached;
	u64 k;

	for (k = 1, reached = true; reached; k++) {
		world_restore();
		nest_arm(0, k, 0, i->run);
		o->run();
		reached = nest_disarm();
		finish();
	}
	CHECK(k > 10 || o->run == out_too_big, "%s has no accesses", o->name);
}

static void every_state(const struct inner *i, const struct inner *end)
{
	static const u64 bases[] = { 0, 1, 9 };
	int s, o, b;
	u32 n;

	for (; i < end; i++)
		for (n = 2; n <= 4; n *= 2)
			for (b = 0; b < N(bases); b++)
				for (s = 0; s < N(states); s++)
					for (o = 0; o < N(outers); o++) {
						prepare(&states[s], n, bases[b], BPF_RELAY_OVERWRITE);
						every_access(&outers[o], i);
					}
	note("%llu runs", (ull)runs);
}

TEST(nested_one, "nested.one")			{ every_state(&inners[0], &inners[1]); }
TEST(nested_few, "nested.few")			{ every_state(&inners[1], &inners[3]); }
TEST(nested_lap, "nested.lap")			{ every_state(&inners[3], &inners[4]); }
TEST(nested_laps, "nested.laps")		{ every_state(&inners[4], &inners[6]); }
TEST(nested_reserve, "nested.reserve")		{ every_state(&inners[6], &inners[8]); }
TEST(nested_read, "nested.read")		{ every_state(&inners[8], &inners[9]); }

/* The first record of all: nothing was ever written. */
TEST(nested_first, "nested.first-record")
{
	static const struct state fresh = { .name = "fresh" };
	int o, i;

	for (o = 0; o < N(outers); o++) {
		for (i = 0; i < N(inners); i++) {
			world_open(SIZE, 2, BPF_RELAY_OVERWRITE);
			world_attach();
			below_open = false;
			may_drop = fresh.may_drop;
			world_save();
			every_access(&outers[o], &inners[i]);
		}
	}
}

/*
 * The old packet was filled exactly; the switch out of it is interrupted and
 * the sub-buffer lapped. Its header is the nested writer's: world_store() sees
 * every store of the interrupted one.
 */
TEST(nested_exact, "nested.exact-fill")
{
	static const struct inner laps[] = {
		{ "a lap", in_lap }, { "2 laps without padding", in_full_laps },
		{ "exact", in_exact },
	};
	u64 base;
	int i, o;

	for (base = 0; base < 6; base++)
		for (i = 0; i < N(laps); i++)
			for (o = 0; o < N(outers); o++) {
				prepare(&states[2], 2, base, BPF_RELAY_OVERWRITE);
				every_access(&outers[o], &laps[i]);
			}
}

/* ---- No-overwrite mode ------------------------------------------------------ */

static void keep_put(void)
{
	enum bpf_relay_counter dropped = put(24);

	CHECK(!dropped || dropped == BPF_RELAY_dropped_full);
}

TEST(nested_keep, "nested.keep")
{
	static const struct outer outer = { "keep", keep_put };
	int s, i;
	u64 base;

	for (base = 0; base < 2; base++)
		for (s = 0; s < 4; s++)
			for (i = 0; i < N(inners); i++) {
				prepare(&states[s], 2, base, BPF_RELAY_KEEP);
				every_access(&outer, &inners[i]);
				CHECK(world.ctl->counters.overwritten == 0);
			}
}

/* ---- Two deep ----------------------------------------------------------------- */

static const struct inner *inner1;

static void every_pair(const struct outer *o, const struct inner *a, const struct inner *b)
{
	u64 k, j;
	bool reached;

	inner1 = a;
	for (k = 1, reached = true; reached; k++) {
		bool deeper = true;

		for (j = 1; deeper && reached; j++) {
			world_restore();
			nest_arm(1, j, 0, b->run);
			nest_arm(0, k, 0, a->run);
			o->run();
			deeper = nest[1].n >= j;
			reached = nest_disarm();
			finish();
		}
	}
}

/* ASan is slow, and what it could find in pairs of four sub-buffers it finds in two. */
#ifdef __SANITIZE_ADDRESS__
#define PAIRS_N		2
#define PAIRS_CALLS	1
#else
#define PAIRS_N		4
#define PAIRS_CALLS	3
#endif

static void every_pair_state(const struct inner *b)
{
	static const int calls[] = { 1, 4, 7 }, first[] = { 0, 2, 4, 6 };
	int s, a, o;
	u32 n;

	for (n = 2; n <= PAIRS_N; n *= 2)
		for (s = 0; s < N(states); s++)
			for (o = 0; o < PAIRS_CALLS; o++)
				for (a = 0; a < N(first); a++) {
					/* Laps are long: only in plain writes. */
					if (first[a] == 4 && (o || n > 2))
						continue;
					prepare(&states[s], n, 3, BPF_RELAY_OVERWRITE);
					every_pair(&outers[calls[o]], &inners[first[a]], b);
				}
	note("%llu runs", (ull)runs);
}

TEST(nested_pairs, "nested.pairs")		{ every_pair_state(&inners[0]); }
TEST(nested_pairs_lap, "nested.pairs-lap")	{ every_pair_state(&inners[3]); }
TEST(nested_pairs_read, "nested.pairs-read")	{ every_pair_state(&inners[8]); }

/* ---- Readers, interrupted ----------------------------------------------------- */

static void read_all(void)	{ look(); }

/* Somebody writes between any two accesses of a reader, in the middle of a copy too. */
TEST(reader, "nested.reader-overtaken")
{
	static const struct outer outer = { "reader", read_all };
	u64 thrown = 0;
	int s, i;
	u32 n;

	for (n = 2; n <= 4; n *= 2)
		for (s = 0; s < N(states); s++)
			for (i = 0; i < N(inners) - 1; i++) {
				bool reached = true;
				u64 k;

				prepare(&states[s], n, 9, BPF_RELAY_OVERWRITE);
				for (k = 1; reached; k++) {
					world_restore();
					nest_arm(0, k, 0, inners[i].run);
					outer.run();
					reached = nest_disarm();
					thrown += world.overtaken;
					world.overtaken = 0;
					finish();
				}
			}
	CHECK(thrown > 1000, "no reader was overtaken");
	note("%llu runs, %llu copies thrown away", (ull)runs, (ull)thrown);
}

/* ---- Bounds ------------------------------------------------------------------- */

static void in_empty(void)	{ put(0); }

/* Interrupted by a writer again and again: gives up, and counts that. */
TEST(contended, "nested.contended")
{
	enum bpf_relay_counter dropped = 0;
	u64 first;

	/* From any access on; the last is the first that comes too late to matter. */
	for (first = 1; !dropped; first++) {
		u64 n;

		world_open(SIZE, 4, BPF_RELAY_OVERWRITE);
		world_attach();
		advance(HEAD + 40);
		nest_arm(0, first, 1, in_empty);
		dropped = put(24);
		n = nest[0].n;
		nest_disarm();
		if (!dropped)
			break;
		CHECK(dropped == BPF_RELAY_dropped_contended, "%u", dropped);
		CHECK(n < RING_RETRIES * 9 + 20, "%llu accesses", (ull)n);
		dropped = 0;
		quiet();
	}
	quiet();
	CHECK(first > 5 && first < 20, "%llu", (ull)first);
	/* With a retry to spare it does not. */
	world_open(SIZE, 4, BPF_RELAY_OVERWRITE);
	world_attach();
	advance(HEAD + 40);
	nest_arm(0, 10, 20, in_empty);
	CHECK(put(24) == 0);
	nest_disarm();
	quiet();
}

static u64 nested_ok, nested_dropped;

static void in_deeper(void)
{
	if (nest_level + 1 < 12)
		nest_arm(nest_level, 4, 0, in_deeper);
	if (put(8))
		nested_dropped++;
	else
		nested_ok++;
}

TEST(depth, "nested.depth")
{
	world_open(SIZE, 8, BPF_RELAY_OVERWRITE);
	world_attach();
	nest_arm(0, 4, 0, in_deeper);
	CHECK(put(8) == 0);
	nest_disarm();
	CHECK(nested_ok == RING_DEPTH_MAX - 1 && nested_dropped == 12 - RING_DEPTH_MAX,
	      "%llu written, %llu dropped", (ull)nested_ok, (ull)nested_dropped);
	CHECK(world.ctl->counters.dropped_nested == nested_dropped);
	CHECK(world.ctl->depth_max == 12 && world.ctl->nested == 11);
	quiet();
}

/* ---- Packet headers ------------------------------------------------------------- */

static void in_fill_and_drop(void)
{
	lap(SIZE);
	put(MOST + 1);
}

/* Interrupted by one that fills the sub-buffer, goes on to the next, and drops. */
static void headers(u64 *wrong, const char *what)
{
	static const struct outer outer = { "29 bytes", out_odd };
	int s, i;

	for (s = 0; s < 4; s++) {
		for (i = 0; i < 6; i++) {
			bool reached = true;
			u64 k;

			prepare(&states[s], 4, 9, BPF_RELAY_OVERWRITE);
			for (k = 1; reached; k++) {
				world_restore();
				nest_arm(0, k, 0, i < 5 ? inners[i].run : in_fill_and_drop);
				outer.run();
				reached = nest_disarm();
				finish();
				CHECK(!*wrong, "%s; state %s, interrupted before access %llu by "
				      "%s", what, states[s].name, (ull)k,
				      i < 5 ? inners[i].name : "fill and drop");
			}
		}
	}
}

/* A tool that takes the difference of two packets must not get 2^64 - 1. */
TEST(events_discarded, "nested.events-discarded")
{
	headers(&world.discarded_back, "events_discarded went back");
}

/* ---- And at random --------------------------------------------------------------- */

static u64 seed;
static int budget;	/* nested calls in one outermost */

static void at_random(void)
{
	struct held h;
	u64 random = test_random(&seed);

	/* The next interrupt in this one. */
	if (nest_level + 2 < NEST_LEVELS && --budget > 0)
		nest_arm(nest_level, 1 + random % 64, 1 + random / 1024 % 300, at_random);
	else
		nest_arm(nest_level, 0, 0, NULL);
	random = test_random(&seed);
	switch (random % 8) {
	case 0:
		put(MOST + 1);
		break;
	case 1:
		nest_off = true;
		look();
		nest_off = false;
		break;
	case 2:
		if (!begin(&h, random / 8 % 120)) {
			fill(&h, random / 1024 % (h.slot.len + 1));
			put(random / 1024 % 50);
			end(&h, random / 65536 % 2 ? BPF_RELAY_COMMITTED : BPF_RELAY_DISCARDED);
		}
		break;
	case 3:
		lap(random / 8 % (2 * world.buffer));
		break;
	default:
		put(random / 8 % (random & 64 ? MOST + 1 : 40));
	}
}

TEST(random_nesting, "nested.random")
{
	u64 nested = 0, drops[BPF_RELAY_NR_COUNTERS] = { 0 };
	int i, k;

	for (seed = 1, k = 0; k < 300; k++) {
		struct held held[3];
		int open = 0;

		seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
		world_open(SIZE, 2 << k % 3, BPF_RELAY_OVERWRITE);
		world_attach();
		for (i = 0; i < 200; i++) {
			u64 random = test_random(&seed);

			world.clock_step = random % 16 - 4;
			if (open < 3 && random / 16 % 16 == 0)
				open += !begin(&held[open], random / 256 % 50);
			else if (open && random / 16 % 8 == 1)
				end(&held[--open], BPF_RELAY_COMMITTED);
			budget = 1 + random / 65536 % 64;
			nest_arm(0, 1 + random / 4096 % 60, 1 + random / 65536 % 100, at_random);
			put(random / 1024 % 64);
			nest_disarm();
			quiet();
		}
		while (open)
			end(&held[--open], BPF_RELAY_DISCARDED);
		quiet();
		nested += world.ctl->nested;
		for (i = 0; i < BPF_RELAY_NR_COUNTERS; i++)
			drops[i] += world.drops[i];
	}
	CHECK(nested > 10000 && drops[BPF_RELAY_dropped_busy] && drops[BPF_RELAY_dropped_nested]);
	note("%llu nested calls; dropped: %llu busy, %llu nested, %llu contended", (ull)nested,
	     (ull)drops[BPF_RELAY_dropped_busy], (ull)drops[BPF_RELAY_dropped_nested],
	     (ull)drops[BPF_RELAY_dropped_contended]);
}
