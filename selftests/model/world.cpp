// SPDX-License-Identifier: GPL-2.0-only
/* Calls of the ring, and what must be true of it at each of its stores. */
#include <cstdarg>
#include <cstring>

#include "world.h"

World world;

static const u8 uuid[16] = { 0xb1, 0xb2, 0xb3, 0xb4, 0xb5, 0xb6, 0xb7, 0xb8,
			     0xb9, 0xba, 0xbb, 0xbc, 0xbd, 0xbe, 0xbf, 0xc0 };
constexpr u32 CPU = 3, BEFORE = MOST_PROGRAMS - 1;

void fail(const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	std::vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (world.failure.empty())
		world.failure = text;
	/* Over frames of C, and of this file's, which own nothing. */
	std::longjmp(world.failed, 1);
}

std::string world_name(unsigned word)
{
	static const char *const counter[] = {
#define NAME(name) #name,
		BPF_RELAY_COUNTERS(NAME)
	};
	static const char *const field[] = { "committed", "nrec", "nbytes" };
	const unsigned counters = offsetof(bpf_relay_ctl, counters) / 8;
	unsigned w = word - WORD_CTL;

	if (word == WORD_BUFFER_ADDRESS)
		return "ring->data";
	if (word >= WORD_DATA)
		return "data+" + std::to_string((word - WORD_DATA) * 8);
	if (w == offsetof(bpf_relay_ctl, wpos) / 8)
		return "wpos";
	if (w == offsetof(bpf_relay_ctl, published) / 8)
		return "published";
	if (w == offsetof(bpf_relay_ctl, last_ts) / 8)
		return "last_ts";
	if (w >= counters && w < counters + BPF_RELAY_NR_COUNTERS)
		return counter[w - counters];
	if (w >= sizeof(bpf_relay_ctl) / 8) {
		w -= sizeof(bpf_relay_ctl) / 8;
		return "sub[" + std::to_string(w / 3) + "]." + field[w % 3];
	}
	return "ctl+" + std::to_string(w * 8);
}

/* ---- What must be in the buffer -------------------------------------------- */

/* Every byte of it differs from zero, and it is no other record's. */
static u64 payload_word(u32 id, u32 len, u32 i)
{
	const u64 value = 0x0100010001000100ULL * (0x80 | id) | 0x0001000100010001ULL * (0x80 | i);

	return len - i * 8 >= 8 ? value : value & ((1ULL << len % 8 * 8) - 1);
}

static void expect(u64 pos, u64 value)
{
	CHECK(pos / 8 < MOST_WORDS, "the scenario is too long");
	world.s.expected[pos / 8] = { value, true, false };
}

static void await(u64 pos)
{
	world.s.expected[pos / 8] = { 0, false, true };
}

static void expect_packet(u64 start)
{
	bpf_relay_packet p {};
	u64 word[HEADER / 8];

	p.magic = BPF_RELAY_CTF_MAGIC;
	std::memcpy(p.uuid, uuid, sizeof(uuid));
	p.stream_instance_id = p.cpu_id = CPU;
	p.content_size = p.packet_size = world.scenario->size * 8;
	p.packet_seq_num = start / world.scenario->size;
	std::memcpy(word, &p, sizeof(p));
	for (u32 i = 0; i < HEADER / 8; i++)
		expect(start + i * 8, word[i]);
	await(start + offsetof(bpf_relay_packet, timestamp_begin));
	await(start + offsetof(bpf_relay_packet, timestamp_end));
	await(start + offsetof(bpf_relay_packet, events_discarded));
}

void world_took(u64 from, u64 to)
{
	State &s = world.s;
	Call *call = s.call;
	const u64 size = world.scenario->size;

	CHECK(call && call->record < 0 && !call->closing, "a position that nobody asked for");
	const u32 len = call->op->len;
	const u64 bytes = BPF_RELAY_RECORD_SIZE(len);
	const u64 start = (from + size - 1) / size * size;
	const bool next = from == start || from + bytes > start;
	const u64 pos = next ? start + HEADER : from;

	CHECK(to == pos + bytes, "wpos moved from %llu to %llu for %u bytes",
	      static_cast<ull>(from), static_cast<ull>(to), len);
	CHECK(s.n_records < MOST_RECORDS, "the scenario is too long");
	CHECK(!world.scenario->keep || to <= world.buffer, "overwritten in no-overwrite mode");
	call->record = s.n_records++;
	s.record[call->record] = { .from = from, .pos = pos, .to = to, .ts = 0,
				   .taken = s.now + 1000, .len = len,
				   .id = static_cast<u16>(call->id), .state = call->state, .closed = false };
	if (next) {
		for (u64 p = from; p < start; p += 8)
			expect(p, 0);
		expect_packet(start);
		if (start >= world.buffer)
			s.met |= MET_LAPPED;
	}
	await(pos);
	expect(pos + 8, call->id | static_cast<u64>(call->state) << 16 |
		       static_cast<u64>(len) << 32);
	for (u64 i = 0; i < (bytes - 16) / 8; i++)
		expect(pos + 16 + i * 8, call->state == BPF_RELAY_COMMITTED && i * 8 < len ?
					 payload_word(call->id, len, i) : 0);
}

/* Whoever stores into the buffer stores into what it took and still has. */
void world_stored(u64 offset, u32 n, u64 value)
{
	State &s = world.s;
	const u64 size = world.scenario->size;

	if (world.who == OPENER)
		return;
	CHECK(s.call && s.call->record >= 0, "store to the buffer without a position");
	Record &r = s.record[s.call->record];
	const u64 first = s.call->closing ? r.pos : r.from;
	const u64 pos = first + ((offset - first) & (world.buffer - 1));
	Expected &expected = s.expected[pos / 8];

	CHECK(pos + n <= r.to, "store to offset %llu by the owner of %llu to %llu",
	      static_cast<ull>(offset), static_cast<ull>(r.from), static_cast<ull>(r.to));
	CHECK(world.ctl()->wpos <= pos / size * size + world.buffer,
	      "store to position %llu, which was lapped", static_cast<ull>(pos));
	if (expected.awaited) {
		Packet &packet = s.packet[pos / size];

		expected = { value, true, false };
		if (pos == r.pos) {
			r.ts = value;
			CHECK(world.scenario->clock != Clock::exact || !s.call->record ||
			      value >= s.record[s.call->record - 1].taken,
			      "a record's time is from before the position was free");
		} else if (pos % size == offsetof(bpf_relay_packet, timestamp_begin)) {
			packet.begin = value;
			packet.stored = true;
		} else if (pos % size == offsetof(bpf_relay_packet, events_discarded)) {
			u64 drops = 0;

			for (u64 d : s.drops)
				drops += d;
			packet.discarded = value;
			CHECK(value <= drops + s.level, "events_discarded is %llu of %llu",
			      static_cast<ull>(value), static_cast<ull>(drops));
		}
	}
	if (pos == r.pos + offsetof(bpf_relay_header, state) && n == 2 &&
	    value != BPF_RELAY_OPEN) {
		CHECK(value == r.state && !r.closed, "a record's state became %llu",
		      static_cast<ull>(value));
		r.closed = true;
	}
}

/* ---- The control area -------------------------------------------------------- */

void world_control(const void *p, u64 from, u64 to)
{
	const State &s = world.s;
	const bpf_relay_ctl *ctl = world.ctl();

	if (p == &ctl->wpos || p == &ctl->last_ts || p == &ctl->published)
		CHECK(to >= from, "%s went back from %llu to %llu",
		      p == &ctl->wpos ? "wpos" : p == &ctl->last_ts ? "last_ts" : "published",
		      static_cast<ull>(from), static_cast<ull>(to));
	if (p != &ctl->published)
		return;
	CHECK(to <= ctl->wpos, "published %llu is beyond wpos", static_cast<ull>(to));
	for (u32 i = s.n_records; i-- > 0 && s.record[i].to > from;)
		CHECK(s.record[i].closed || s.record[i].pos >= to,
		      "published moved to %llu over the open record at %llu",
		      static_cast<ull>(to), static_cast<ull>(s.record[i].pos));
}

/* ---- Calls --------------------------------------------------------------------- */

static void enter(Call &call, const Op *op, u32 id, u16 state)
{
	call = { .below = world.s.call, .op = op, .record = -1, .id = id, .state = state,
		 .closing = false, .accesses = 0, .lost = 0 };
	world.s.call = &call;
}

/* Is this drop one that there was a reason for? */
static void check_drop(bpf_relay_counter why, u32 records_before, u32 depth)
{
	State &s = world.s;
	static constexpr struct {
		bpf_relay_counter why;
		unsigned met;
	} reasons[] = {
		{ BPF_RELAY_dropped_busy, MET_BUSY }, { BPF_RELAY_dropped_full, MET_FULL },
		{ BPF_RELAY_dropped_nested, MET_NESTED },
		{ BPF_RELAY_dropped_contended, MET_CONTENDED },
		{ BPF_RELAY_dropped_no_buffer, MET_NO_BUFFER },
	};
	bool right = false;

	switch (why) {
	case BPF_RELAY_dropped_busy:
		right = s.open || depth > 1;
		break;
	case BPF_RELAY_dropped_full:
		right = world.scenario->keep &&
			ring_round_up(&s.ring, s.ring.ctl->wpos) >= world.buffer;
		break;
	case BPF_RELAY_dropped_nested:
		right = depth > world.scenario->depth_max;
		break;
	case BPF_RELAY_dropped_contended:
		right = s.n_records - records_before >= world.scenario->retries;
		break;
	case BPF_RELAY_dropped_no_buffer:
		right = world.scenario->attach;
		break;
	default:
		break;
	}
	CHECK(right, "dropped without cause: %u", why);
	s.drops[why]++;
	for (const auto &r : reasons)
		if (r.why == why)
			s.met |= r.met;
}

/*
 * A call that is over, and interrupted none, has published all that is committed
 * without a hole. (One that interrupted others may leave it to them: each has the
 * rounds left that its own commit needs, and if it loses one to a nested commit, that
 * has brought n_subbufs + 1 of its own.)
 */
static void settled()
{
	const State &s = world.s;
	const u64 wpos = s.ring.ctl->wpos, size = world.scenario->size;
	const u64 end = ring_round_up(&s.ring, wpos);

	for (u64 start = end > world.buffer ? end - world.buffer : 0; start < end; start += size)
		if (s.ring.sub[ring_index(&s.ring, start)].committed !=
		    ring_lap_base(&s.ring, start) + std::min(wpos - start, size))
			return;
	CHECK(s.ring.ctl->published == wpos, "all is committed up to %llu, but published is %llu",
	      static_cast<ull>(wpos), static_cast<ull>(s.ring.ctl->published));
}

static void write(const Op &op, u32 id, Call &call, bpf_relay_counter &dropped,
		  struct ring_slot *slot)
{
	State &s = world.s;
	u64 payload[16];
	const u32 before = s.n_records;
	u32 depth = 1;

	CHECK(op.len <= sizeof(payload), "the scenario's records are too long");
	for (const Call *c = call.below; c; c = c->below)
		depth += !c->closing;
	for (u32 i = 0; i * 8 < op.len; i++)
		payload[i] = payload_word(id, op.len, i);
	s.calls++;
	if (op.kind == Op::PUT)
		dropped = ring_write_record(&s.ring, id, payload, op.len);
	else
		dropped = ring_reserve_record(&s.ring, id, op.len, slot);
	s.call = call.below;
	CHECK((call.record < 0) == (dropped != 0), "returned %d, but took %s position", dropped,
	      call.record < 0 ? "no" : "a");
	if (dropped)
		check_drop(dropped, before, depth);
}

static void close(const Op &op, u32 program, Call &call)
{
	State &s = world.s;
	const struct ring_slot &slot = s.slot[program][op.slot];
	const Record &r = s.record[s.slot_record[program][op.slot]];
	u64 payload[16];

	call.record = s.slot_record[program][op.slot];
	call.closing = true;
	if (op.kind == Op::COMMIT) {
		for (u32 i = 0; i * 8 < r.len; i++)
			payload[i] = payload_word(r.id, r.len, i);
		/* As its program does: plain stores, through no accessor. */
		model_copy_in(slot.header + 1, payload, r.len, __LINE__);
	}
	ring_commit_record(&s.ring, &slot, static_cast<bpf_relay_state>(r.state));
	s.call = call.below;
	CHECK(r.closed, "a call is over, its record is open");
}

/* How the record that this op reserves will be closed. */
static u16 state_of(const Program &p, const Op &op)
{
	if (op.kind == Op::PUT)
		return BPF_RELAY_COMMITTED;
	for (const Op &o : p)
		if (o.slot == op.slot && o.kind == Op::COMMIT)
			return BPF_RELAY_COMMITTED;
	return BPF_RELAY_DISCARDED;
}

static void run(const Program &p, u32 index)
{
	State &s = world.s;

	for (u32 i = 0; i < p.size(); i++) {
		const Op &op = p[i];
		const u32 id = index * 16 + i + 1;
		bpf_relay_counter dropped {};
		Call call;

		if (op.kind == Op::PUT || op.kind == Op::RESERVE) {
			enter(call, &op, id, state_of(p, op));
			write(op, id, call, dropped, &s.slot[index][op.slot]);
			if (op.kind == Op::RESERVE) {
				s.slot_record[index][op.slot] = call.record;
				s.open += !dropped;
			} else if (!dropped) {
				s.records++;
				s.bytes += op.len;
			}
		} else if (s.slot_record[index][op.slot] >= 0) {
			enter(call, &op, id, 0);
			close(op, index, call);
			const Record &r = s.record[call.record];

			s.open--;
			if (r.state == BPF_RELAY_COMMITTED) {
				s.records++;
				s.bytes += r.len;
			} else {
				s.discarded++;
				s.met |= MET_DISCARDED;
			}
		} else {
			continue;
		}
		if (!s.call)
			settled();
		if (!s.level)
			world_quiet();
	}
}

void world_run_program(u32 index)
{
	world.s.level++;
	run(world.scenario->interrupts[index - 1], index);
	world.s.level--;
}

/* ---- Executions ------------------------------------------------------------------ */

/* Of records in the order of positions, and of the packets that hold them. */
static void check_order()
{
	const State &s = world.s;
	const u64 size = world.scenario->size;
	u64 ts = 0, discarded = 0;

	for (u32 i = 0; i < s.n_records; i++) {
		const Record &r = s.record[i];

		if (r.pos % size == HEADER) {
			const Packet &p = s.packet[r.pos / size];

			CHECK(p.stored, "a packet without a header");
			CHECK(p.begin >= ts, "a packet begins before the last record");
			CHECK(p.discarded >= discarded, "events_discarded went back");
			ts = p.begin;
			discarded = p.discarded;
		}
		CHECK(r.ts >= ts, "time went back from %llu to %llu at %llu",
		      static_cast<ull>(ts), static_cast<ull>(r.ts), static_cast<ull>(r.pos));
		ts = r.ts;
		if (!r.closed)
			for (u64 p = r.pos; p < r.to; p += 8)
				world.s.expected[p / 8].known = false;
	}
}

void world_open(const Scenario &scenario)
{
	State &s = world.s;

	world.scenario = &scenario;
	model_depth_max = scenario.depth_max;
	model_retries = scenario.retries;
	world.buffer = static_cast<u64>(scenario.size) * scenario.n;
	world.bound = 60 + 20 * scenario.retries + 10 * (scenario.n + 1) +
		      (scenario.fine ? scenario.size / 8 * 3 : 0);
	world.longest = 0;
	world.who = DIRECT;
	s = {};
	CHECK(world.buffer <= sizeof(s.data) && ring_ctl_size(scenario.n) <= sizeof(s.ctl) &&
	      scenario.interrupts.size() < BEFORE, "the scenario is too large");
	std::memset(s.data, 0xa5, sizeof(s.data));
	ring_init(&s.ring, world.ctl(), CPU, scenario.size, scenario.n,
		  scenario.keep ? BPF_RELAY_KEEP : BPF_RELAY_OVERWRITE, BPF_RELAY_CLOCK_BOOT, uuid);
	if (!scenario.attach)
		ring_attach(&s.ring, s.data);
	run(scenario.before, BEFORE);

	world.memory.resize(WORDS);
	world.memory.first(WORD_BUFFER_ADDRESS, reinterpret_cast<uintptr_t>(s.ring.data));
	for (u32 i = 0; i < std::size(s.ctl); i++)
		world.memory.first(WORD_CTL + i, s.ctl[i]);
	for (u32 i = 0; i < std::size(s.data); i++)
		world.memory.first(WORD_DATA + i, s.data[i]);
	world.saved = s;
}

void world_run()
{
	State &s = world.s;
	static const u64 zero[64] = {};

	s = world.saved;
	s.pending = (1u << world.scenario->interrupts.size()) - 1;
	s.call = nullptr;
	world.memory.reset();
	world.hash[0] = 1;
	world.hash[1] = 2;
	world.careless = false;
	world.writer.restart();
	if (world.scenario->attach) {
		world.who = OPENER;
		model_copy_in(s.data, zero, world.buffer, __LINE__);
		ring_attach(&s.ring, s.data);
	}
	world.who = WRITER;
	run(world.scenario->task, 0);
	world_quiet();
	check_order();
}
