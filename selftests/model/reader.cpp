// SPDX-License-Identifier: GPL-2.0-only
/* Reading: by another CPU, which sees stores late, and when all is quiet. */
#include <cstring>

#include "world.h"

static u64 committed_in(u64 start, u64 end)
{
	const State &s = world.s;
	u64 n = 0;

	for (u32 i = 0; i < s.n_records; i++)
		n += s.record[i].pos >= start && s.record[i].pos < end && s.record[i].closed &&
		     s.record[i].state == BPF_RELAY_COMMITTED;
	return n;
}

/*
 * One execution of a reader: a window, and one sub-buffer of it. Reading others
 * before it, or an older window, only adds to what this CPU has seen, and whoever
 * has seen more can load less: what goes wrong in a longer run goes wrong here.
 */
bool world_read()
{
	static u64 copy[128];
	const u32 size = world.scenario->size;
	struct ring_window w;
	u64 nrec = 0;
	bool valid;

	world.who = READER;
	world.memory.reset_cpu(READER);
	world.view = world.s.ring;
	world.view.data = nullptr;
	world.wrong = world.careless = false;

	ring_window(&world.view, &w);
	CHECK(w.published <= w.end, "wpos is seen below published");
	CHECK(w.first % size == 0 && w.end % size == 0 && w.end - w.first <= world.buffer,
	      "a window of more than the buffer");
	if (w.first == w.end)
		return false;
	world.start = w.first +
		      static_cast<u64>(size) * world.reader.pick((w.end - w.first) / size);
	const u32 len = ring_readable(&world.view, &w, world.start);

	if (!len)
		return false;
	CHECK(len <= size, "more than a sub-buffer");
	CHECK(w.published <= world.start || len >= std::min<u64>(size, w.published - world.start),
	      "less than what is published");
	if (len == size && world.reader.pick(2)) {
		valid = model_look(&world.view, world.start, &nrec);
		CHECK(!valid || !world.wrong, "a packet header is torn, and passes for whole");
		CHECK(!valid || nrec == committed_in(world.start, world.start + size),
		      "a complete sub-buffer of %llu records says it has %llu",
		      static_cast<ull>(committed_in(world.start, world.start + size)),
		      static_cast<ull>(nrec));
	} else {
		valid = ring_copy(&world.view, world.start, copy, len);
		CHECK(!valid || !world.wrong, "a copy is torn, and passes for whole");
	}
	if (world.wrong)
		world.s.met |= MET_REFUSED;
	if (valid && len == size && w.published < world.start + size)
		world.s.met |= MET_BEYOND;
	return valid;
}

/* ---- At rest ------------------------------------------------------------------------ */

/* What the files would deliver of n bytes of the sub-buffer at start. */
static void check_delivered(u8 *copy, u32 n, u64 start)
{
	const State &s = world.s;
	const u32 size = world.scenario->size;
	const u64 *words = reinterpret_cast<const u64 *>(copy);
	struct packet shape;
	u64 at = HEADER;

	for (u32 i = 0; i < n / 8; i++)
		CHECK(s.expected[start / 8 + i].known &&
		      words[i] == s.expected[start / 8 + i].value,
		      "at rest, %u of the sub-buffer at %llu is %#llx, should be %#llx", i * 8,
		      static_cast<ull>(start), static_cast<ull>(words[i]),
		      static_cast<ull>(s.expected[start / 8 + i].value));
	packet_compact(copy, n, size, nullptr, &shape);
	CHECK(!shape.damaged && shape.nrec == committed_in(start, start + n),
	      "%llu of %u records are delivered", static_cast<ull>(shape.nrec),
	      static_cast<u32>(committed_in(start, start + n)));
	for (u32 i = 0; i < s.n_records; i++) {
		const Record &r = s.record[i];
		const auto *h = reinterpret_cast<const bpf_relay_header *>(copy + at);

		if (r.pos < start || r.pos >= start + n || r.state != BPF_RELAY_COMMITTED)
			continue;
		CHECK(h->id == r.id && h->len == r.len && h->ts == r.ts,
		      "another record is delivered instead of the one at %llu",
		      static_cast<ull>(r.pos));
		at += BPF_RELAY_RECORD_SIZE(r.len);
	}
}

static void check_counters()
{
	const State &s = world.s;
	const u64 *counter = reinterpret_cast<const u64 *>(&world.ctl()->counters);
	u64 drops = 0;

	for (u32 i = BPF_RELAY_FIRST_DROP; i < BPF_RELAY_NR_COUNTERS; i++) {
		CHECK(counter[i] == s.drops[i],
		      "drop %u is counted %llu times, was returned %llu times", i,
		      static_cast<ull>(counter[i]), static_cast<ull>(s.drops[i]));
		drops += counter[i];
	}
	CHECK(ring_dropped(&s.ring) == drops, "the sum of drops");
	CHECK(counter[BPF_RELAY_records] == s.records && counter[BPF_RELAY_bytes] == s.bytes &&
	      counter[BPF_RELAY_discarded] == s.discarded, "records, bytes or discarded");
	CHECK(s.calls == s.records + s.discarded + drops + s.open,
	      "calls are not records + discarded + dropped + open");
	CHECK(s.ring.depth == 0, "depth is %llu at rest", s.ring.depth);
}

/* The sub-buffer of the first open record; without one, all of it. */
static u64 without_a_hole()
{
	const State &s = world.s;

	for (u32 i = 0; i < s.n_records; i++)
		if (!s.record[i].closed)
			return ring_start(&s.ring, s.record[i].pos);
	return s.ring.ctl->wpos;
}

static bool any_open(u64 start, u64 end)
{
	const State &s = world.s;

	for (u32 i = 0; i < s.n_records; i++)
		if (s.record[i].pos >= start && s.record[i].pos < end && !s.record[i].closed)
			return true;
	return false;
}

/* No call is under way; records may be open. */
void world_quiet()
{
	static u64 copy[128];
	State &s = world.s;
	const Who who = world.who;
	const u32 size = world.scenario->size;
	const u64 *counter = reinterpret_cast<const u64 *>(&world.ctl()->counters);
	u64 readable = 0, bytes = 0;
	struct ring_window w;

	world.who = DIRECT;
	check_counters();
	CHECK(world.ctl()->wpos == (s.n_records ? s.record[s.n_records - 1].to : 0), "wpos");
	CHECK(world.ctl()->published >= without_a_hole(), "at rest %llu is published, not %llu",
	      static_cast<ull>(world.ctl()->published), static_cast<ull>(without_a_hole()));

	ring_window(&s.ring, &w);
	for (u64 start = w.first; start < w.end; start += size) {
		const bpf_relay_subbuf &sub = s.ring.sub[ring_index(&s.ring, start)];
		const bool last = start + size == w.end;
		const u32 n = ring_readable(&s.ring, &w, start);

		readable += sub.nrec;
		bytes += sub.nbytes;
		CHECK(sub.nrec == committed_in(start, start + size),
		      "the sub-buffer at %llu has %llu records and says %llu",
		      static_cast<ull>(start), static_cast<ull>(committed_in(start, start + size)),
		      static_cast<ull>(sub.nrec));
		if (!any_open(start, start + size)) {
			if (!last || world.ctl()->wpos == w.end)
				CHECK(n == size, "%u bytes of a complete sub-buffer are readable",
				      n);
			else if (!s.open)
				CHECK(n == world.ctl()->wpos - start, "%u bytes are readable", n);
		}
		if (!n)
			continue;
		CHECK(ring_copy(&s.ring, start, copy, n), "overtaken at rest");
		check_delivered(reinterpret_cast<u8 *>(copy), n, start);
	}
	CHECK(s.records == counter[BPF_RELAY_overwritten] + readable,
	      "%llu records are not %llu overwritten and %llu readable",
	      static_cast<ull>(s.records), static_cast<ull>(counter[BPF_RELAY_overwritten]),
	      static_cast<ull>(readable));
	CHECK(s.bytes == counter[BPF_RELAY_overwritten_bytes] + bytes, "bytes overwritten");
	world.who = who;
}
