// SPDX-License-Identifier: GPL-2.0-only
/*
 * What happens at an access of the ring, by who makes it.
 *
 * The writer CPU. Before each access any interrupt that has not come yet may come,
 * and runs to its end (nested: it can be interrupted in turn). So on this CPU
 * everything is in one order, and a load returns the newest store: this CPU is the
 * only one to store there. The exception is the buffer's address, which the opener
 * stores: that load returns any store that it may.
 *
 * The reader CPU stores nothing, so the writer's executions do not depend on it. It
 * runs when the writer is done, with all the history before it, and each of its
 * loads returns any store that it may: that covers every moment at which it might
 * have run. It need not run beside the writer.
 *
 * Interrupts that come at different words of one copy into the buffer differ in
 * nothing that the copy's owner or the interrupt can see. For a reader they differ
 * in which of the words lie before the interrupt's barriers; as each word is judged
 * by itself (below), what can go wrong with it goes wrong with an interrupt at the
 * copy's beginning or behind its end. Scenarios that are `fine` try all the same.
 *
 * A copy out of the buffer loads each word by itself, and nothing that the reader
 * does depends on the value. What a load does to later ones grows with the store
 * that it returns: newer stores of a word carry larger views, and whoever has seen
 * more can load less. So to find a copy that is wrong and passes for right, it is
 * enough to take one word wrong at a time and the oldest store for every other; and
 * of the wrong ones, those with the least views.
 */
#include <cstdarg>
#include <cstring>

#include "world.h"

namespace {

struct Place {
	bool shared;	/* others see it */
	unsigned word;
	unsigned shift;	/* bits */
	uint8_t mask;
	u64 offset;	/* in the buffer */
	bool buffer;
};

bool within(const void *p, const void *base, u64 size)
{
	const auto a = reinterpret_cast<uintptr_t>(p), b = reinterpret_cast<uintptr_t>(base);

	return a >= b && a < b + size;
}

Place place_of(const void *p, unsigned size)
{
	State &s = world.s;
	Place x { .shared = true, .word = 0, .shift = 0, .mask = 0xff, .offset = 0,
		  .buffer = false };
	const void *base;

	if (within(p, s.ctl, sizeof(s.ctl))) {
		base = s.ctl;
		x.word = WORD_CTL;
	} else if (within(p, s.data, world.buffer)) {
		base = s.data;
		x.word = WORD_DATA;
		x.buffer = true;
	} else if (p == &s.ring.data || p == &world.view.data) {
		x.word = WORD_BUFFER_ADDRESS;
		return x;
	} else {
		CHECK(within(p, &s.ring, sizeof(s.ring)), "access outside of the ring's memory");
		x.shared = false;
		return x;
	}
	x.offset = static_cast<const u8 *>(p) - static_cast<const u8 *>(base);
	CHECK(x.offset % size == 0, "access across words");
	x.word += x.offset / 8;
	x.shift = x.offset % 8 * 8;
	x.mask = ((1u << size) - 1) << x.offset % 8;
	return x;
}

u64 bytes_of(uint8_t mask)
{
	u64 bits = 0;

	for (unsigned i = 0; i < 8; i++)
		if (mask & 1 << i)
			bits |= 0xffULL << i * 8;
	return bits;
}

u64 native(const void *p, unsigned size)
{
	u64 value = 0;

	std::memcpy(&value, p, size);
	return value;
}

void mix(u64 x)
{
	for (u64 &h : world.hash) {
		h = (h ^ x) * 0x9e3779b97f4a7c15ULL;
		h ^= h >> 29;
		x = x * 0xd6e8feb86659fd93ULL + 1;
	}
}

void __attribute__((format(printf, 2, 3))) trace(int line, const char *format, ...)
{
	static const char *const who[] = { "opener", "writer", "reader", "" };
	va_list args;

	std::printf("#   %s%*s ring.c:%-4d", who[world.who], world.s.level * 4, "", line);
	va_start(args, format);
	std::vprintf(format, args);
	va_end(args);
	std::printf("\n");
}

#define TRACE(line, ...)	do { if (world.tracing) trace(line, __VA_ARGS__); } while (0)

/* Interrupts that come here. Equal ones come in one order only. */
void interrupts()
{
	const auto &programs = world.scenario->interrupts;

	while (world.s.pending) {
		u32 which[MOST_PROGRAMS], n = 0;

		for (u32 i = 0; i < programs.size(); i++) {
			bool equal = false;

			if (!(world.s.pending & 1 << i))
				continue;
			for (u32 k = 0; k < n; k++)
				equal |= programs[which[k]] == programs[i];
			if (!equal)
				which[n++] = i;
		}
		const u32 k = world.writer.pick(n + 1);

		if (!k)
			return;
		world.s.pending &= ~(1u << which[k - 1]);
		world_run_program(which[k - 1] + 1);
	}
}

/* Before an access; moves: it is a compare-and-exchange of published. */
void step(bool moves = false)
{
	world.accesses++;
	if (world.who != WRITER)
		return;
	if (moves || !world.scenario->publish_only)
		interrupts();
	world.s.now++;
	if (Call *call = world.s.call; call && ++call->accesses > world.longest) {
		world.longest = call->accesses;
		CHECK(call->accesses <= world.bound, "a call of more than %u accesses",
		      world.bound);
	}
}

/* A load that may return several stores: of the reader, or from another CPU. */
u64 load(const Place &x, bool acquire, int line)
{
	Choices &choices = world.who == READER ? world.reader : world.writer;
	const auto &history = world.memory.history(x.word);
	const unsigned oldest = world.memory.oldest(world.who, x.word, x.mask);
	unsigned which[64], n = 0, at;

	for (at = oldest; at < history.size(); at++)
		if ((history[at].mask & x.mask) == x.mask) {
			CHECK(n < 64, "a history of more than 64 stores");
			which[n++] = at;
		}
	at = which[world.careless ? 0 : choices.pick(n)];
	world.memory.load(world.who, x.word, at, acquire);
	const u64 value = (history[at].value & bytes_of(x.mask)) >> x.shift;

	TRACE(line, "%s %s: %llu%s", acquire ? "load-acquire" : "load",
	      world_name(x.word).c_str(), static_cast<ull>(value),
	      at + 1 == history.size() ? "" : " (there is a newer one)");
	return value;
}

void store(const Place &x, void *p, unsigned size, u64 value, bool release)
{
	const u64 before = native(p, size);

	if (world.who != DIRECT && x.shared) {
		if (world.scenario->attach)
			CHECK(world.memory.first_place(world.who, x.word) ==
			      world.memory.history(x.word).size(),
			      "two CPUs' stores to %s in no order", world_name(x.word).c_str());
		world.memory.store(world.who, x.word, x.mask, value << x.shift, release);
		mix(x.word << 9 | x.mask << 1 | release);
		mix(value);
	}
	std::memcpy(p, &value, size);
	if (x.buffer)
		world_stored(x.offset, size, value);
	else
		world_control(p, before, value);
}

} /* namespace */

u64 model_load(const void *p, unsigned int size, bool acquire, int line)
{
	const Place x = place_of(p, size);

	step();
	if (world.who == DIRECT)
		return native(p, size);
	if (world.who == READER || x.word == WORD_BUFFER_ADDRESS) {
		if (x.shared) {
			const u64 value = load(x, acquire, line);

			if (world.who == WRITER)
				mix(value);
			return value;
		}
	}
	const u64 value = native(p, size);

	TRACE(line, "load %s: %llu", x.shared ? world_name(x.word).c_str() : "ring->depth",
	      static_cast<ull>(value));
	return value;
}

void model_store(void *p, unsigned int size, u64 value, bool release, int line)
{
	const Place x = place_of(p, size);

	step();
	if (size < 8)
		value &= (1ULL << size * 8) - 1;
	TRACE(line, "%s %s: %llu", release ? "store-release" : "store",
	      x.shared ? world_name(x.word).c_str() : "ring->depth", static_cast<ull>(value));
	store(x, p, size, value, release);
}

bool model_cmpxchg(void *p, unsigned int size, u64 from, u64 to, int line)
{
	const Place x = place_of(p, size);

	step(p == &world.ctl()->published);
	const u64 value = native(p, size);

	TRACE(line, "cmpxchg %s: %llu to %llu%s", world_name(x.word).c_str(),
	      static_cast<ull>(from), static_cast<ull>(to), value == from ? "" : ", lost");
	if (value != from) {
		if (world.s.call && (p == &world.ctl()->wpos || p == &world.ctl()->last_ts))
			CHECK(++world.s.call->lost <= world.scenario->retries,
			      "more than %u tries lost", world.scenario->retries);
		return false;
	}
	store(x, p, size, to, false);
	if (p == &world.ctl()->wpos)
		world_took(from, to);
	return true;
}

void model_add(void *p, u64 n, int line)
{
	const Place x = place_of(p, 8);

	step();
	const u64 value = native(p, 8) + n;

	TRACE(line, "add to %s: %lld, now %llu", world_name(x.word).c_str(),
	      static_cast<long long>(n), static_cast<ull>(value));
	store(x, p, 8, value, false);
}

void model_wmb(int line)
{
	step();
	TRACE(line, "wmb");
	if (world.who == DIRECT)
		return;
	world.memory.wmb(world.who);
	mix(~0ULL);
}

void model_rmb(int line)
{
	step();
	TRACE(line, "rmb");
	if (world.who != DIRECT)
		world.memory.rmb(world.who);
}

void model_copy_in(void *dst, const void *src, size_t n, int line)
{
	bool first = true;

	while (n) {
		const Place x = place_of(dst, 8);
		const unsigned size = n < 8 ? n : 8;
		u64 value = 0;

		if (src) {
			std::memcpy(&value, src, size);
			src = static_cast<const u8 *>(src) + size;
		}
		if (first || world.scenario->fine)
			step();
		first = false;
		TRACE(line, "copy to %s: %#llx", world_name(x.word).c_str(),
		      static_cast<ull>(value));
		CHECK(x.buffer, "copy outside of the buffer");
		store({ .shared = true, .word = x.word, .shift = 0,
			.mask = static_cast<uint8_t>((1u << size) - 1), .offset = x.offset,
			.buffer = true }, dst, size, value, false);
		dst = static_cast<u8 *>(dst) + size;
		n -= size;
	}
}

void model_reach(int line)
{
	if (world.who != READER)
		return;
	const u64 data = load({ .shared = true, .word = WORD_BUFFER_ADDRESS, .shift = 0,
				.mask = 0xff, .offset = 0, .buffer = false }, false, line);

	CHECK(data, "a reader that sees records does not see the buffer: NULL");
	world.view.data = reinterpret_cast<u8 *>(static_cast<uintptr_t>(data));
}

/* One way for a copy to be wrong, or that it is right. */
struct Way {
	View view;
	unsigned word;
	u64 value, expected;
};

static void add_wrong(std::vector<Way> &ways, const Way &way)
{
	for (const Way &w : ways) {
		View both = w.view;

		both.join(way.view);
		if (both == way.view)
			return;		/* another one has seen no more */
	}
	ways.push_back(way);
}

/* The bytes of a word that were always stored together. */
static unsigned lanes_of(const std::vector<Store> &history, uint8_t *lane)
{
	unsigned n = 1, i;

	lane[0] = 0xff;
	for (const Store &s : history)
		for (i = n; i-- > 0;) {
			const uint8_t in = lane[i] & s.mask, out = lane[i] & ~s.mask;

			if (in && out) {
				lane[i] = in;
				lane[n++] = out;
			}
		}
	return n;
}

void model_copy_out(void *dst, const void *src, size_t n, int line)
{
	static std::vector<Way> ways;

	step();
	if (world.who == DIRECT) {
		std::memcpy(dst, src, n);
		return;
	}
	CHECK(world.who == READER, "a writer that reads the buffer");
	const Place x = place_of(src, 8);
	Way base {};
	bool wrong = false;

	CHECK(x.offset + n <= world.buffer && x.offset == (world.start & (world.buffer - 1)),
	      "copy from outside of the sub-buffer");
	ways.clear();
	for (unsigned i = 0; i < (n + 7) / 8; i++) {
		const auto &history = world.memory.history(x.word + i);
		const Expected &expected = world.s.expected[world.start / 8 + i];
		uint8_t lane[8];
		unsigned lanes = lanes_of(history, lane);

		while (lanes--) {
			const u64 bytes = bytes_of(lane[lanes]);
			const unsigned oldest = world.memory.oldest(READER, x.word + i,
								    lane[lanes]);

			for (unsigned at = oldest; at < history.size(); at++) {
				const Store &s = history[at];
				const bool bad = !expected.known ||
						 ((s.value ^ expected.value) & bytes);
				const Way way { Memory::view_of(s), x.word + i,
						s.value & bytes, expected.value & bytes };

				if (!(s.mask & lane[lanes]))
					continue;
				if (at == oldest) {
					base.view.join(way.view);
					if (bad && !wrong) {
						wrong = true;
						base.word = way.word;
						base.value = way.value;
						base.expected = way.expected;
					}
				} else if (bad) {
					add_wrong(ways, way);
				}
			}
		}
	}
	/* If the one that has seen least is wrong already, no other is better. */
	const unsigned which = wrong ? 0 : world.reader.pick(1 + ways.size());

	world.memory.glance(READER, base.view);
	if (which) {
		wrong = true;
		world.memory.glance(READER, ways[which - 1].view);
	}
	world.wrong |= wrong;
	const Way &way = which ? ways[which - 1] : base;

	if (wrong)
		TRACE(line, "copy %zu bytes at %llu; %s is %#llx, should be %#llx", n,
		      static_cast<ull>(world.start), world_name(way.word).c_str(),
		      static_cast<ull>(way.value), static_cast<ull>(way.expected));
	else
		TRACE(line, "copy %zu bytes at %llu, as they should be", n,
		      static_cast<ull>(world.start));
}

u64 model_clock(int line)
{
	State &s = world.s;
	u64 now = 0;

	step();
	if (world.who == WRITER && world.scenario->clock == Clock::exact) {
		now = s.clock = s.now + 1000;
	} else {
		const unsigned how = world.who == WRITER && world.scenario->clock == Clock::any ?
				     world.writer.pick(3) : 0;

		if (!how)
			s.clock += 10;
		now = how == 2 ? 1 : s.clock;
	}
	if (now < world.ctl()->last_ts)
		s.met |= MET_BACK;
	TRACE(line, "clock: %llu", static_cast<ull>(now));
	return now;
}
