// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The ring of one CPU. Positions are bytes since the log was opened, never
 * wrapping; a sub-buffer is a packet, entered and left once per lap.
 *
 *	 lap L of sub-buffer i                   n_subbufs of them
 *	+--------+--------+--------+-----+-----+
 *	| packet | record | record | ... | pad |  ... committed[i] counts all of it
 *	+--------+--------+--------+-----+-----+
 *	^ start           ^ published    ^ wpos
 *	                    every record before it is committed
 *
 * Barriers. A writer's stores into the buffer lie between
 *	(A) ring_wmb() after it took its position by moving wpos, and
 *	(B) ring_wmb() before it adds to `committed` or moves `published`.
 * A reader's copy lies between
 *	(B') the load-acquire of `published` or `committed`, pairs with (B): what
 *	     it may read was stored, and
 *	(A') ring_rmb() before it reads wpos again, pairs with (A): if it saw
 *	     anything of a later lap, it sees the wpos of that lap.
 */
#include "ring.h"

static u64 *ring_counter(const struct ring *r, enum bpf_relay_counter which)
{
	return (u64 *)&r->ctl->counters + which;
}

static void ring_count(struct ring *r, enum bpf_relay_counter which, u64 n)
{
	ring_add(ring_counter(r, which), n);
}

enum bpf_relay_counter ring_drop(struct ring *r, enum bpf_relay_counter reason)
{
	ring_count(r, reason, 1);
	return reason;
}

/* A call nested in another one: rare, so apart. */
static noinline enum bpf_relay_counter ring_nest(struct ring *r, u64 depth)
{
	struct bpf_relay_ctl *ctl = r->ctl;
	u32 max;

	ring_add(&ctl->nested, 1);
	while (depth > (max = ring_read(&ctl->depth_max)))
		if (ring_cmpxchg(&ctl->depth_max, max, depth))
			break;
	return depth > RING_DEPTH_MAX ? ring_drop(r, BPF_RELAY_dropped_nested) : 0;
}

static __always_inline enum bpf_relay_counter ring_enter(struct ring *r)
{
	u64 depth;

	/* A nested call puts back what it found. */
	ring_add(&r->depth, 1);
	depth = ring_read(&r->depth);
	return unlikely(depth > 1) ? ring_nest(r, depth) : 0;
}

static __always_inline void ring_leave(struct ring *r)
{
	ring_add(&r->depth, -1);
}

u64 ring_dropped(const struct ring *r)
{
	u64 sum = 0;
	int i;

	for (i = BPF_RELAY_FIRST_DROP; i < BPF_RELAY_NR_COUNTERS; i++)
		sum += ring_read(ring_counter(r, i));
	return sum;
}

/*
 * Move `published` over everything that is committed without a hole. Whoever
 * commits last does it for all. `committed` is read before wpos: the other way
 * round, a record reserved and committed in between would hide one below it
 * that is still open.
 */
static noinline void ring_publish(struct ring *r)
{
	struct bpf_relay_ctl *ctl = r->ctl;
	u32 rounds = (r->buffer_mask >> r->subbuf_shift) + 2;	/* n_subbufs + 1 */

	while (rounds--) {
		u64 p = ring_read(&ctl->published);
		u64 start = ring_start(r, p);
		u64 end = start + r->subbuf_mask + 1;
		u64 committed = ring_read(&ring_sub(r, p)->committed) - ring_lap_base(r, p);
		u64 wpos = ring_read(&ctl->wpos);

		if (wpos < end) {
			if (committed != wpos - start || wpos == p)
				return;
			end = wpos;
		} else if (committed < end - start) {
			return;		/* (more than full: lapped in between) */
		}
		ring_wmb();	/* (B) */
		/*
		 * Losing means that a nested commit moved it: look again. Having
		 * moved it to wpos, no need to: whoever commits later does.
		 */
		if (ring_cmpxchg(&ctl->published, p, end) && end == wpos)
			return;
	}
}

static __always_inline void ring_commit(struct bpf_relay_subbuf *sub, u64 bytes)
{
	ring_wmb();	/* (B) */
	ring_add(&sub->committed, bytes);
}

/*
 * What the winner of a switch from `pos` to the sub-buffer at `start` does,
 * alone. Nobody can lap either sub-buffer before it is done with it: the old one
 * is not complete without its padding, the new one not without its header. The
 * old header is not touched: an old sub-buffer without padding may be lapped, and
 * the new one may be left, by writers nested in here.
 */
static void ring_switch(struct ring *r, u64 pos, u64 start, u64 ts,
			const struct bpf_relay_subbuf *saved, u64 discarded)
{
	struct bpf_relay_subbuf *sub = ring_sub(r, start);
	u64 size = ring_subbuf_size(r);
	struct bpf_relay_packet packet = {
		.magic			= BPF_RELAY_CTF_MAGIC,
		.stream_instance_id	= r->cpu,
		.timestamp_begin	= ts,
		.timestamp_end		= ts,
		.content_size		= size * 8,
		.packet_size		= size * 8,
		.packet_seq_num		= start >> r->subbuf_shift,
		.events_discarded	= discarded,
		.cpu_id			= r->cpu,
	};

	/* Subtract, never zero: records nested in here may be counted already. */
	if (saved->nrec) {
		ring_count(r, BPF_RELAY_overwritten, saved->nrec);
		ring_count(r, BPF_RELAY_overwritten_bytes, saved->nbytes);
		ring_add(&sub->nrec, -saved->nrec);
		ring_add(&sub->nbytes, -saved->nbytes);
	}
	if (pos != start) {
		ring_zero(ring_at(r, pos), start - pos);
		ring_commit(ring_sub(r, pos), start - pos);
		ring_publish(r);
	}
	memcpy(packet.uuid, r->uuid, sizeof(packet.uuid));
	ring_copy_in(ring_at(r, start), &packet, sizeof(packet));
	ring_commit(sub, sizeof(packet));
	ring_switched(r);
}

static __always_inline bool ring_take(struct ring *r, u64 last_ts, u64 ts, u64 pos, u64 next)
{
	struct bpf_relay_ctl *ctl = r->ctl;

	/*
	 * Time first. Whoever takes a position has moved last_ts to its own
	 * time while wpos was still below it, so time follows position.
	 */
	if (!ring_cmpxchg(&ctl->last_ts, last_ts, ts) ||
	    !ring_cmpxchg(&ctl->wpos, pos, next))
		return false;
	/* On every reservation, not only at a switch: any store may be seen first. */
	ring_wmb();	/* (A) */
	return true;
}

/*
 * Whether what begins at pos ends in the sub-buffer of the byte before it: at the start
 * of a sub-buffer its header comes first.
 */
static __always_inline bool ring_fits(const struct ring *r, u64 pos, u64 bytes)
{
	return ((pos - 1) ^ (pos + bytes - 1)) <= r->subbuf_mask;
}

/*
 * Reserve at the beginning of the next sub-buffer. 0 with *taken, 0 without it (try
 * again), or the drop counter that applies. The first record of a ring comes through
 * here, and any that is too big: what keeps these out need not be asked elsewhere.
 */
static noinline enum bpf_relay_counter
ring_take_next(struct ring *r, u64 last_ts, u64 ts, u64 pos, u64 bytes, u64 *taken)
{
	u64 start = ring_round_up(r, pos);
	const struct bpf_relay_subbuf *sub = ring_sub(r, start);
	struct bpf_relay_subbuf saved;
	u64 discarded;
	u64 first = start + sizeof(struct bpf_relay_packet);

	if (!ring_read_acquire(&r->data))
		return BPF_RELAY_dropped_no_buffer;
	if (sizeof(struct bpf_relay_packet) + bytes > ring_subbuf_size(r))
		return BPF_RELAY_dropped_too_big;
	if (r->keep && start > r->buffer_mask)
		return BPF_RELAY_dropped_full;
	/* Of the old lap, every record and the header must be committed. */
	if (ring_read(&sub->committed) != ring_lap_base(r, start))
		/* Unless that is a nested writer's doing, who is there already. */
		return ring_read(&r->ctl->wpos) == pos ? BPF_RELAY_dropped_busy : 0;
	/* Before the switch; after it nested writers count there too. */
	saved.nrec = ring_read(&sub->nrec);
	saved.nbytes = ring_read(&sub->nbytes);
	/* Before it, too: else a later packet, of a nested writer, says less. */
	discarded = ring_dropped(r);
	if (ring_take(r, last_ts, ts, pos, first + bytes)) {
		ring_switch(r, pos, start, ts, &saved, discarded);
		*taken = first;
	}
	return 0;
}

static __always_inline u64 ring_now(struct ring *r, u64 last_ts)
{
	u64 now = ring_clock(r);

	return now > last_ts ? now : last_ts;
}

/*
 * Not at `seen`: it does not fit there, or another call took it. Returns the position
 * that was taken, at *ts; or 0, and *drop is the counter that was raised.
 */
static noinline u64 ring_take_again(struct ring *r, u64 bytes, u64 seen, u64 *ts,
				    enum bpf_relay_counter *drop)
{
	struct bpf_relay_ctl *ctl = r->ctl;
	u64 pos, last_ts, taken = 0;
	int tries = ring_fits(r, seen, bytes);	/* lost so far */

	for (; tries < RING_RETRIES; tries++) {
		pos = ring_read(&ctl->wpos);
		last_ts = ring_read(&ctl->last_ts);
		*ts = ring_now(r, last_ts);

		if (ring_fits(r, pos, bytes)) {
			if (ring_take(r, last_ts, *ts, pos, pos + bytes))
				return pos;
			continue;
		}
		*drop = ring_take_next(r, last_ts, *ts, pos, bytes, &taken);
		if (*drop) {
			ring_drop(r, *drop);
			return 0;
		}
		if (taken)
			return taken;
	}
	*drop = ring_drop(r, BPF_RELAY_dropped_contended);
	return 0;
}

/*
 * Whether there is a slot; else why not is in *dropped. `state` is nobody's business
 * before the record is published.
 */
static __always_inline bool
ring_reserve(struct ring *r, u16 id, size_t len, enum bpf_relay_state state,
	     struct ring_slot *slot, enum bpf_relay_counter *dropped)
{
	u64 pos = ring_read(&r->ctl->wpos);
	u64 last_ts = ring_read(&r->ctl->last_ts);
	u64 ts = ring_now(r, last_ts);
	u64 bytes = BPF_RELAY_RECORD_SIZE(len);
	struct bpf_relay_header *header;
	u64 off;

	if (unlikely(!ring_fits(r, pos, bytes) ||
		     !ring_take(r, last_ts, ts, pos, pos + bytes))) {
		/* Variables of its own: what has an address is not kept in registers. */
		enum bpf_relay_counter drop;
		u64 later;

		pos = ring_take_again(r, bytes, pos, &later, &drop);
		if (!pos) {
			*dropped = drop;
			return false;
		}
		ts = later;
	}
	off = pos & r->buffer_mask;
	header = (void *)(r->data + off);
	*slot = (struct ring_slot) {
		.pos = pos, .sub = &r->sub[off >> r->subbuf_shift], .header = header, .len = len,
	};
	ring_write(&header->ts, ts);
	ring_write(&header->id, id);
	ring_write(&header->state, state);
	ring_write(&header->len, len);
	/* The padding of the record, beginning with the end of its payload. */
	if (len % 8)
		ring_zero((void *)header + bytes - 8, 8);
	return true;
}

static __always_inline void ring_close(struct ring *r, const struct ring_slot *slot,
				       enum bpf_relay_state state)
{
	struct bpf_relay_ctl *ctl = r->ctl;
	struct bpf_relay_subbuf *sub = slot->sub;
	u64 end = slot->pos + BPF_RELAY_RECORD_SIZE(slot->len);

	/* Counted before it is committed: a lap that is complete is counted whole. */
	if (state == BPF_RELAY_COMMITTED) {
		ring_add(&sub->nrec, 1);
		ring_add(&sub->nbytes, slot->len);
		ring_add(&ctl->counters.records, 1);
		ring_add(&ctl->counters.bytes, slot->len);
	} else {
		ring_add(&ctl->counters.discarded, 1);
	}
	ring_commit(sub, end - slot->pos);
	/*
	 * The usual case: nothing open below this record, nobody beyond it. The
	 * barrier before the commit orders this store, too.
	 */
	if (unlikely(!ring_cmpxchg(&ctl->published, slot->pos, end) ||
		     ring_read(&ctl->wpos) != end))
		ring_publish(r);
}

enum bpf_relay_counter ring_write_record(struct ring *r, u16 id, const void *data, size_t len)
{
	enum bpf_relay_counter dropped = ring_enter(r);
	struct ring_slot slot;

	if (unlikely(dropped ||
		     !ring_reserve(r, id, len, BPF_RELAY_COMMITTED, &slot, &dropped))) {
		ring_leave(r);
		return dropped;
	}
	ring_copy_in(slot.header + 1, data, len);
	ring_close(r, &slot, BPF_RELAY_COMMITTED);
	ring_leave(r);
	return 0;
}

enum bpf_relay_counter ring_reserve_record(struct ring *r, u16 id, size_t len,
					   struct ring_slot *slot)
{
	enum bpf_relay_counter dropped = ring_enter(r);

	if (unlikely(dropped || !ring_reserve(r, id, len, BPF_RELAY_OPEN, slot, &dropped))) {
		ring_leave(r);
		return dropped;
	}
	ring_zero(slot->header + 1, len);
	ring_leave(r);
	return 0;
}

void ring_commit_record(struct ring *r, const struct ring_slot *slot,
			enum bpf_relay_state state)
{
	ring_write(&slot->header->state, state);
	ring_close(r, slot, state);
}

void ring_window(const struct ring *r, struct ring_window *w)
{
	u64 buffer = r->buffer_mask + 1;

	/*
	 * A writer's barriers pass on its own stores, not those of whoever attached
	 * the buffer: a reader that sees records must look for it by itself.
	 */
	if (!ring_read_acquire(&r->data)) {
		*w = (struct ring_window) {};
		return;
	}
	/* In this order: wpos is then never below published. */
	w->published = ring_read_acquire(&r->ctl->published);	/* (B') */
	w->end = ring_round_up(r, ring_read(&r->ctl->wpos));
	w->first = w->end > buffer ? w->end - buffer : 0;
}

u32 ring_readable(const struct ring *r, const struct ring_window *w, u64 start)
{
	u32 size = ring_subbuf_size(r);

	if (w->published >= start + size)
		return size;
	/* An open record hides the rest of its own sub-buffer, no other. */
	if (ring_read_acquire(&ring_sub(r, start)->committed) >=	/* (B') */
	    ring_lap_base(r, start) + size)
		return size;
	return w->published > start ? w->published - start : 0;
}

bool ring_valid(const struct ring *r, u64 start)
{
	ring_rmb();	/* (A') */
	return ring_read(&r->ctl->wpos) <= start + r->buffer_mask + 1;
}

bool ring_copy(const struct ring *r, u64 start, void *dst, u32 len)
{
	ring_copy_out(dst, ring_at(r, start), len);
	return ring_valid(r, start);
}

size_t ring_ctl_size(u32 n_subbufs)
{
	return sizeof(struct bpf_relay_ctl) + n_subbufs * sizeof(struct bpf_relay_subbuf);
}

void ring_init(struct ring *r, struct bpf_relay_ctl *ctl, u32 cpu, u32 subbuf_size,
	       u32 n_subbufs, enum bpf_relay_mode mode, enum bpf_relay_clock clock,
	       const u8 *uuid)
{
	ctl->abi = BPF_RELAY_ABI;
	ctl->ctl_size = ring_ctl_size(n_subbufs);
	ctl->cpu = cpu;
	ctl->flags = mode == BPF_RELAY_KEEP ? BPF_RELAY_F_KEEP : 0;
	ctl->subbuf_size = subbuf_size;
	ctl->n_subbufs = n_subbufs;
	ctl->subbufs_off = sizeof(*ctl);
	ctl->depth_max = 1;

	r->ctl = ctl;
	r->sub = (struct bpf_relay_subbuf *)(ctl + 1);
	r->data = NULL;
	r->clock = clock;
	r->uuid = uuid;
	r->cpu = cpu;
	r->subbuf_shift = __builtin_ctz(subbuf_size);
	r->buffer_shift = r->subbuf_shift + __builtin_ctz(n_subbufs);
	r->subbuf_mask = subbuf_size - 1;
	r->buffer_mask = (u64)subbuf_size * n_subbufs - 1;
	r->depth = 0;
	r->keep = mode == BPF_RELAY_KEEP;
}

void ring_attach(struct ring *r, void *data)
{
	/* Pairs with the load-acquire in ring_take_next(). */
	ring_write_release(&r->data, data);
	ring_write(&r->ctl->flags, r->ctl->flags | BPF_RELAY_F_BUFFER);
}
