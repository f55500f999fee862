/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The ring of ONE CPU: reserve, commit, sub-buffer switch, validated read.
 * Pure algorithm over memory that somebody else provides; the layout of that
 * memory is <linux/bpf_relay.h>. See Documentation/design.rst for the why.
 *
 * Writers: only on the ring's own CPU, with preemption off for the length of a
 * call, in any context up to NMI, nested in one another at any instruction. No
 * locks, no allocation, bounded work.
 * Readers: anywhere, any number, never seen by the writers.
 */
#ifndef _BPF_RELAY_RING_H
#define _BPF_RELAY_RING_H

#ifdef RING_ACCESS_H
#include RING_ACCESS_H
#else
#include "ring_access.h"
#endif
#include <linux/bpf_relay.h>

/* Writing calls that may be stacked up on one CPU; one more is dropped. */
#define RING_DEPTH_MAX	8
/* Times a reservation may lose to one nested inside it; then it is dropped. */
#define RING_RETRIES	16

struct ring {
	struct bpf_relay_ctl *ctl;
	struct bpf_relay_subbuf *sub;	/* ctl's, n_subbufs of them */
	u8 *data;			/* NULL: no buffer; set once, with release */
	const u8 *uuid;			/* 16 bytes; goes into packet headers */
	u32 cpu;
	u32 clock;			/* enum bpf_relay_clock */
	u64 subbuf_mask;		/* subbuf_size - 1 */
	u64 buffer_mask;		/* subbuf_size * n_subbufs - 1 */
	u32 subbuf_shift;
	u32 buffer_shift;
	u64 depth;			/* writing calls now on this CPU's stack */
	bool keep;			/* no-overwrite mode */
};

/* A reserved record: a handle, outside the memory that readers see. */
struct ring_slot {
	u64 pos;
	struct bpf_relay_subbuf *sub;
	struct bpf_relay_header *header;	/* in the buffer; the payload follows */
	size_t len;				/* of the payload */
};

/* Bytes of a control area for n_subbufs sub-buffers. */
size_t ring_ctl_size(u32 n_subbufs);

/*
 * Lay a ring over zeroed memory: ctl of ring_ctl_size() bytes. Sizes are powers
 * of two within the ABI's limits. The ring drops (no buffer) until
 * ring_attach() gives it subbuf_size * n_subbufs bytes, 8-aligned, once.
 */
void ring_init(struct ring *r, struct bpf_relay_ctl *ctl, u32 cpu, u32 subbuf_size,
	       u32 n_subbufs, enum bpf_relay_mode mode, enum bpf_relay_clock clock,
	       const u8 *uuid);
void ring_attach(struct ring *r, void *data);

/*
 * Writers. What returns enum bpf_relay_counter returns 0 when done, or the drop
 * counter that it raised. ring_reserve_record() leaves a zeroed record open;
 * every reserved slot must go to ring_commit_record() on the same CPU, once. An open record
 * keeps its own sub-buffer from being overwritten.
 */
enum bpf_relay_counter ring_write_record(struct ring *r, u16 id, const void *data, size_t len);
enum bpf_relay_counter ring_reserve_record(struct ring *r, u16 id, size_t len,
					   struct ring_slot *slot);
void ring_commit_record(struct ring *r, const struct ring_slot *slot,
			enum bpf_relay_state state);

/* Count a call that never reached the ring. Returns `reason`. */
enum bpf_relay_counter ring_drop(struct ring *r, enum bpf_relay_counter reason);

/*
 * Readers. A window is what can be read at one moment: sub-buffers from
 * position `first` (a multiple of subbuf_size) up to, but without, `end`.
 */
struct ring_window {
	u64 published;
	u64 first;
	u64 end;	/* wpos rounded up to a sub-buffer */
};

void ring_window(const struct ring *r, struct ring_window *w);

/* Bytes from `start` on that are final in this window; 0: none, or only a header. */
u32 ring_readable(const struct ring *r, const struct ring_window *w, u64 start);

/* Whether nothing read from the sub-buffer at `start` so far was overwritten. */
bool ring_valid(const struct ring *r, u64 start);

/* Copy the first len bytes of the sub-buffer at `start`; false: overtaken, no good. */
bool ring_copy(const struct ring *r, u64 start, void *dst, u32 len);

/* Calls dropped so far, for every reason. */
u64 ring_dropped(const struct ring *r);

static inline u32 ring_subbuf_size(const struct ring *r)
{
	return r->subbuf_mask + 1;
}

/* The sub-buffer that holds a position, and the position where that begins. */
static inline u64 ring_index(const struct ring *r, u64 pos)
{
	return (pos & r->buffer_mask) >> r->subbuf_shift;
}

static inline struct bpf_relay_subbuf *ring_sub(const struct ring *r, u64 pos)
{
	return &r->sub[ring_index(r, pos)];
}

static inline u64 ring_start(const struct ring *r, u64 pos)
{
	return pos & ~r->subbuf_mask;
}

static inline u64 ring_round_up(const struct ring *r, u64 pos)
{
	return ring_start(r, pos + r->subbuf_mask);
}

/* Bytes ever committed to a sub-buffer when the lap of `pos` begins there. */
static inline u64 ring_lap_base(const struct ring *r, u64 pos)
{
	return (pos >> r->buffer_shift) << r->subbuf_shift;
}

static inline void *ring_at(const struct ring *r, u64 pos)
{
	return r->data + (pos & r->buffer_mask);
}

#endif /* _BPF_RELAY_RING_H */
