/* SPDX-License-Identifier: GPL-2.0-only */
/* The checker of the records that stress.bpf.c writes: every one that a reader delivers. */
#ifndef _STRESS_CHECK_H
#define _STRESS_CHECK_H

#include <stdio.h>
#include <string.h>

#include "bpf/stress.h"
#include "relay_test.h"

#define SUBBUF		16384
#define N_SUBBUFS	32

/* The last record that was seen of a writer. */
struct last {
	__u64 packet;
	__u64 seq;
	bool seen;
};

/* One CPU's file, read again and again. */
struct check {
	__u32 cpu;
	bool quiet;		/* nobody writes: nothing may be missing anywhere */
	struct last last[STRESS_WHO];	/* in this snapshot */
	struct last before[STRESS_WHO];	/* in the one before */
	__u64 records;		/* what follows is of all snapshots */
	__u64 torn;
	__u64 duplicated;
	__u64 disordered;	/* within a snapshot, or from one to the next */
	__u64 missing;
	__u64 malformed;	/* what ctf_walk() said of whole files */
};

static inline bool is_torn(const struct record *rec, __u32 cpu)
{
	const struct stress_rec *r = rec->payload;
	const __u64 *word = (const __u64 *)(r + 1);
	const __u8 *byte = (const __u8 *)(r + 1);
	__u64 sum;
	__u32 i;

	if (rec->header->id != 1 || rec->header->len < sizeof(*r) ||
	    rec->header->len != sizeof(*r) + r->size || r->cpu != cpu || r->who >= STRESS_WHO)
		return true;
	sum = stress_begin(r);
	for (i = 0; i < r->size / 8; i++)
		sum = stress_mix(sum, word[i]);
	for (i *= 8; i < r->size; i++)
		if (byte[i] != (__u8)sum)
			return true;
	return r->check != sum;
}

/*
 * A writer's records are numbered without a gap. Within a packet none may be missing; at
 * its end some may, because a packet behind it was overtaken or hides an open record.
 */
static inline bool check_record(const struct record *rec, void *ctx)
{
	const struct stress_rec *r = rec->payload;
	__u64 packet = rec->packet->packet_seq_num;
	struct check *c = ctx;
	const struct last *before;
	struct last *last;

	c->records++;
	if (is_torn(rec, c->cpu)) {
		c->torn++;
		return true;
	}
	last = &c->last[r->who];
	before = &c->before[r->who];
	if (last->seen) {
		if (r->seq == last->seq)
			c->duplicated++;
		else if (r->seq < last->seq)
			c->disordered++;
		else if (r->seq != last->seq + 1 && (c->quiet || packet == last->packet))
			c->missing++;
	}
	if (before->seen && ((packet > before->packet && r->seq <= before->seq) ||
			     (packet < before->packet && r->seq >= before->seq)))
		c->disordered++;
	*last = (struct last) { .packet = packet, .seq = r->seq, .seen = true };
	return true;
}

static inline void check_begin(struct check *c)
{
	memset(c->last, 0, sizeof(c->last));
}

static inline void check_end(struct check *c)
{
	int who;

	for (who = 0; who < STRESS_WHO; who++)
		if (c->last[who].seen)
			c->before[who] = c->last[who];
}

/* A snapshot of a ctf/cpuN. */
static inline void check_snapshot(struct check *c, const void *data, size_t len)
{
	check_begin(c);
	if (ctf_walk(data, len, SUBBUF, check_record, c) < 0)
		c->malformed++;
	check_end(c);
}

static inline __u64 check_wrong(const struct check *c)
{
	return c->torn + c->duplicated + c->disordered + c->missing + c->malformed;
}

#endif /* _STRESS_CHECK_H */
