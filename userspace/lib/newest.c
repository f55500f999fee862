// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
/*
 * Where the newest N records begin: each CPU is gone through backwards, a packet at a
 * time, until N of its records are found that are wanted; of all those, the newest N
 * are chosen.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "reader.h"

/* A record that is wanted. */
struct place {
	__u64 ts;
	__u64 index;	/* of its packet */
	__u32 nth;	/* of the packet's records that are wanted */
};

/* Of one CPU: the newest first. */
struct places {
	struct place *place;
	size_t n, room;
	size_t chosen;
};

static int add_place(struct places *p, const struct place *place)
{
	struct place *more;

	if (p->n == p->room) {
		p->room = p->room ? 2 * p->room : 64;
		more = realloc(p->place, p->room * sizeof(*more));
		if (!more)
			return -ENOMEM;
		p->place = more;
	}
	p->place[p->n++] = *place;
	return 0;
}

static void reverse(struct place *from, struct place *to)
{
	struct place tmp;

	while (from < --to) {
		tmp = *from;
		*from++ = *to;
		*to = tmp;
	}
}

/* The records of one packet that are wanted, behind those that are newer. */
static int find_in_packet(const struct bpfrelay_reader *r, struct stream *s, __u64 index,
			  struct places *p)
{
	size_t before = p->n;
	__u32 nth = 0;
	int ret;

	stream_seek(s, index);
	while ((ret = stream_next(s)) > 0 && s->index == index) {
		struct place place = { s->item.record.ts, index, nth };

		if (s->item.kind != BPFRELAY_RECORD || !reader_wants(r, &s->item.record))
			continue;
		ret = add_place(p, &place);
		if (ret)
			return ret;
		nth++;
	}
	if (nth)
		reverse(p->place + before, p->place + p->n);
	return ret < 0 ? ret : 0;
}

static int find_places(const struct bpfrelay_reader *r, struct stream *s, struct places *p)
{
	__u64 index = s->n_packets;
	int err = 0;

	while (!err && index-- > 0 && p->n < r->opts.newest)
		err = find_in_packet(r, s, index, p);
	return err;
}

/* Takes the newest one that is left until there are enough, or none. */
static void choose(const struct bpfrelay_reader *r, struct places *places)
{
	__u64 left = r->opts.newest;
	struct places *best;
	int i;

	for (; left; left--) {
		best = NULL;
		for (i = 0; i < r->n_streams; i++) {
			struct places *p = &places[i];

			/* Of the same time, the higher CPU is the later one. */
			if (p->chosen < p->n &&
			    (!best || p->place[p->chosen].ts >= best->place[best->chosen].ts))
				best = p;
		}
		if (!best)
			return;
		best->chosen++;
	}
}

/* Goes to the oldest one that was chosen, or to the end. */
static int go_to(const struct bpfrelay_reader *r, struct stream *s, const struct places *p)
{
	const struct place *first = p->chosen ? &p->place[p->chosen - 1] : NULL;
	__u32 left = first ? first->nth : 0;
	int ret;

	stream_seek(s, first ? first->index : s->n_packets);
	while ((ret = stream_next(s)) > 0) {
		if (!first || s->index != first->index || s->item.kind != BPFRELAY_RECORD)
			break;
		if (!reader_wants(r, &s->item.record))
			continue;
		if (!left--)
			break;
	}
	return ret < 0 ? ret : 0;
}

int reader_seek_newest(struct bpfrelay_reader *r)
{
	struct places *places = calloc(r->n_streams ?: 1, sizeof(*places));
	int i, err = 0;

	if (!places)
		return -ENOMEM;
	for (i = 0; i < r->n_streams && !err; i++)
		err = find_places(r, &r->streams[i], &places[i]);
	choose(r, places);
	for (i = 0; i < r->n_streams && !err; i++)
		err = go_to(r, &r->streams[i], &places[i]);
	for (i = 0; i < r->n_streams; i++)
		free(places[i].place);
	free(places);
	return err;
}
