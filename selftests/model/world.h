/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One CPU's ring, the memory it shares, and what must be in it. Positions are
 * learned from the moves of wpos that succeed, everything else from the calls.
 */
#ifndef _MODEL_WORLD_H
#define _MODEL_WORLD_H

#include <csetjmp>

#include "choices.h"
#include "memory.h"
#include "scenario.h"

/* The model's CPUs. DIRECT is nobody: it sees all stores, and is not explored. */
enum Who : unsigned { OPENER, WRITER, READER, DIRECT };

/* A record that took a position, in the order of positions. */
struct Record {
	u64 from, pos, to;	/* wpos before; the record; wpos after */
	u64 ts;
	u64 taken;		/* when, by the exact clock */
	u32 len;
	u16 id;
	u16 state;		/* as its writer will leave it */
	bool closed;		/* has it done so? */
};

/* A call that is under way. */
struct Call {
	Call *below;
	const Op *op;
	int record;		/* -1: has no position (yet) */
	u32 id;
	u16 state;		/* that its record will have in the end */
	bool closing;		/* may store into its record alone */
	unsigned accesses, lost;	/* its own, not those of calls nested in it */
};

/* What must be in a word of the buffer, for good. */
struct Expected {
	u64 value;
	bool known;		/* false: nobody ever may read it */
	bool awaited;		/* the value comes with the first store */
};

constexpr u32 MOST_WORDS = 1024, MOST_RECORDS = 64, MOST_PROGRAMS = 7, MOST_SLOTS = 4;
constexpr u32 HEADER = sizeof(struct bpf_relay_packet);

struct Packet {
	u64 begin, discarded;
	bool stored;
};

/* Everything that an execution changes, to be put back for the next. */
struct State {
	struct ring ring;
	u64 ctl[48];
	u64 data[128];
	u64 clock, now;		/* last returned; accesses so far */
	u64 calls, open, records, bytes, discarded;
	u64 drops[BPF_RELAY_NR_COUNTERS];
	u32 n_records;
	u32 met;
	u32 pending;		/* interrupts that have not come yet: bits */
	u32 level;
	Record record[MOST_RECORDS];
	Packet packet[MOST_RECORDS];
	Expected expected[MOST_WORDS];
	struct ring_slot slot[MOST_PROGRAMS][MOST_SLOTS];
	int slot_record[MOST_PROGRAMS][MOST_SLOTS];
	Call *call;
};

struct World {
	State s, saved;
	const Scenario *scenario;
	Memory memory;
	Choices writer, reader;	/* choices of */
	Who who;
	u64 buffer;		/* bytes */
	unsigned bound;		/* accesses of one call */
	unsigned longest;	/* seen */
	u64 hash[2];		/* of all that a reader's executions depend on */

	/* The reader's execution. */
	struct ring view;	/* the ring as this CPU sees it */
	u64 start;
	bool wrong;		/* what was copied is not what it should be */
	bool careless;		/* nothing depends on what is loaded from now on */

	u64 accesses;
	bool tracing;
	jmp_buf failed;
	std::string failure;

	bpf_relay_ctl *ctl() { return reinterpret_cast<bpf_relay_ctl *>(s.ctl); }
	bpf_relay_subbuf *sub() { return s.ring.sub; }
};

extern World world;

[[noreturn]] __attribute__((format(printf, 1, 2))) void fail(const char *format, ...);
#define CHECK(cond, ...)	do { if (!(cond)) fail(__VA_ARGS__); } while (0)

/* Words of the model's memory. */
constexpr unsigned WORD_BUFFER_ADDRESS = 0, WORD_CTL = 1, WORD_DATA = WORD_CTL + 48,
	WORDS = WORD_DATA + 128;

void world_open(const Scenario &s);
/* Back to what `before` left; the writer CPU runs until it is quiet again. */
void world_run();
/* A reader, at any moment: one execution of it. Whether it delivered anything. */
bool world_read();

/* From the accessors: the ring's own events. */
void world_took(u64 from, u64 to);
void world_stored(u64 offset, u32 n, u64 value);
void world_control(const void *p, u64 from, u64 to);
/* At rest: no call is under way, records may be open. */
void world_quiet();
void world_run_program(u32 index);
std::string world_name(unsigned word);

typedef unsigned long long ull;

#endif /* _MODEL_WORLD_H */
