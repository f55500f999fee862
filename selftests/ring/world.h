/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A ring and a model of what must be in it. The model learns positions from
 * the moves of wpos that succeed, everything else from the calls.
 */
#ifndef _RING_WORLD_H
#define _RING_WORLD_H

#include "test.h"

/* A record that took a position, in the order of positions. */
struct entry {
	u64 pos;
	u64 from, to;		/* wpos before and after */
	u32 len, filled;	/* payload; how much of it was written */
	u32 seed;
	u16 id;
	u16 state;		/* as its writer meant it; final once its call is over */
};

/* A record between reserve and submit. */
struct held {
	struct ring_slot slot;
	int entry;
};

struct world {
	struct ring ring;
	struct bpf_relay_ctl *ctl;
	u8 *data;
	u32 size, n;			/* sub-buffers */
	u64 buffer;

	u64 clock, clock_step;
	u64 calls, open, records, bytes, discarded;
	u64 drops[BPF_RELAY_NR_COUNTERS];
	struct entry *entry;
	int n_entries, room;

	u64 wpos, published, last_ts;	/* none goes back */
	u64 overtaken;			/* copies that a reader threw away */
	u64 discarded_back;	/* packets seen whose events_discarded went back */
};

extern struct world world;

/* Sizes below the ABI's least are fine for the algorithm, and lap sooner. */
void world_open(u32 subbuf_size, u32 n_subbufs, enum bpf_relay_mode mode);
void world_attach(void);
void world_save(void);
void world_restore(void);

/* Calls of the ring; each returns what the ring returned. */
enum bpf_relay_counter put(u32 len);
enum bpf_relay_counter begin(struct held *h, u32 len);
void fill(struct held *h, u32 len);
void end(struct held *h, enum bpf_relay_state state);

/* Write records so that wpos becomes exactly pos (a multiple of 8). */
void advance(u64 pos);

/* A reader, at any moment: all that it accepts is right. Returns records seen. */
u64 look(void);
/* All properties that hold when no call is under way; records may be open. */
void quiet(void);

/* When access_hook() runs something, at one level of nesting. */
struct nest {
	u64 n;			/* accesses so far at this level */
	u64 at;			/* fire before this one; 0: never */
	u64 every;		/* and again after so many; 0: once */
	void (*fire)(void);
};

#define NEST_LEVELS	16
extern struct nest nest[NEST_LEVELS];
extern int nest_level;
extern bool nest_off;

void nest_arm(int level, u64 at, u64 every, void (*fire)(void));
/* Disarm all; whether level 0 got as far as `at`. */
bool nest_disarm(void);

#endif /* _RING_WORLD_H */
