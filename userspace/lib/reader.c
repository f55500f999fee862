// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
/* All CPUs of a log, merged in the order of time. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "reader.h"

/* A log wakes who sleeps on it when a sub-buffer is full: how often to look for the rest. */
#define LOOK_MS		100

/* How often counters are read again that changed while a snapshot was taken. */
#define STATS_TRIES	100

static int compare_items(const struct bpfrelay_item *a, const struct bpfrelay_item *b)
{
	if (a->record.ts != b->record.ts)
		return a->record.ts < b->record.ts ? -1 : 1;
	return a->record.cpu < b->record.cpu ? -1 : a->record.cpu > b->record.cpu;
}

bool reader_wants(const struct bpfrelay_reader *r, const struct bpfrelay_record *record)
{
	const struct bpfrelay_reader_opts *o = &r->opts;

	return record->ts >= o->since && (!o->until || record->ts <= o->until) &&
	       (!o->match || o->match(o->match_ctx, record));
}

/* Losses are for all who read this time. */
static bool wants_item(const struct bpfrelay_reader *r, const struct bpfrelay_item *item)
{
	if (item->kind == BPFRELAY_RECORD)
		return reader_wants(r, &item->record);
	return item->record.ts >= r->opts.since &&
	       (!r->opts.until || item->record.ts <= r->opts.until);
}

/* ---- Snapshots -------------------------------------------------------------- */

static int find_cpu(const struct bpfrelay_stats *stats, __u32 cpu)
{
	__u32 i;

	for (i = 0; i < stats->n_cpus; i++)
		if (stats->cpus[i].cpu == cpu)
			return i;
	return -1;
}

/*
 * How many records of a CPU had been overwritten when its snapshot was taken: known if it
 * was the same before and behind it. How many there were at its end: known if nothing at
 * all came meanwhile, and no open record hides others.
 */
static void set_records(struct stream *s, const struct bpfrelay_stats *before,
			const struct bpfrelay_stats *behind)
{
	const struct bpfrelay_cpu_stats *x, *y;
	int a = find_cpu(before, s->cpu), b = find_cpu(behind, s->cpu);

	if (a < 0 || b < 0)
		return;
	x = &before->cpus[a];
	y = &behind->cpus[b];
	if (x->overrun != y->overrun)
		return;
	s->first_record = y->overrun;
	if (x->stored == y->stored && !x->open && !y->open)
		s->end_record = y->stored;
}

/* Takes a snapshot of each CPU; `again`: only of those of which it is not known where it begins. */
static int renew_all(struct bpfrelay_reader *r, bool again)
{
	int i, err = 0;

	/* Later records may be in the snapshots of some CPUs only. */
	if (!again)
		r->limit = r->mem ? trace_clock(r->log) : bpfrelay_log_now(r->log);
	for (i = 0; i < r->n_streams && !err; i++) {
		struct stream *s = &r->streams[i];

		if (again && s->first_record != STREAM_NONE)
			continue;
		s->ordered = true;
		if (!again)
			s->end_before = s->end_record;
		s->first_record = s->end_record = STREAM_NONE;
		err = stream_renew(s);
	}
	return err;
}

static bool is_known(const struct bpfrelay_reader *r)
{
	int i;

	for (i = 0; i < r->n_streams; i++)
		if (r->streams[i].first_record == STREAM_NONE)
			return false;
	return true;
}

/* The same, with what had been overwritten by then. */
static int renew(struct bpfrelay_reader *r)
{
	struct bpfrelay_stats *before, *behind;
	int i, err, tries;

	/* Memory has these counters beside the data. What comes from now on wakes us. */
	if (r->mem) {
		lseek(mem_fd(r->mem), 0, SEEK_SET);
		return renew_all(r, false);
	}
	err = bpfrelay_log_stats(r->log, &before);
	if (err == -ENOENT)
		return renew_all(r, false);
	if (err)
		return err;
	for (tries = 0; !err && tries < STATS_TRIES && (!tries || !is_known(r)); tries++) {
		err = renew_all(r, tries);
		err = err ?: bpfrelay_log_stats(r->log, &behind);
		if (err)
			break;
		for (i = 0; i < r->n_streams; i++)
			if (r->streams[i].first_record == STREAM_NONE)
				set_records(&r->streams[i], before, behind);
		free(before);
		before = behind;
	}
	free(before);
	return err;
}

/* The first item of each stream that has none. */
static int fill(struct bpfrelay_reader *r)
{
	int i, ret;

	for (i = 0; i < r->n_streams; i++) {
		if (r->streams[i].has_item)
			continue;
		ret = stream_next(&r->streams[i]);
		if (ret < 0)
			return ret;
	}
	return 0;
}

/* ---- Opening ------------------------------------------------------------------ */

static bool is_wanted_cpu(const struct bpfrelay_reader_opts *o, __u32 cpu)
{
	__u32 i;

	for (i = 0; i < o->n_cpus; i++)
		if (o->cpus[i] == cpu)
			return true;
	return !o->n_cpus;
}

/*
 * From when on each CPU has everything: those that have overwritten, from behind the time
 * when their oldest packet begins, which may be the time of records before it, too.
 */
static void set_complete(struct bpfrelay_reader *r)
{
	const struct bpf_relay_packet *p;
	int i;

	for (i = 0; i < r->n_streams; i++) {
		struct stream *s = &r->streams[i];

		p = (const void *)s->buf;
		if (s->first_seq && s->seq != STREAM_NONE && p->timestamp_begin >= r->opts.since)
			r->opts.since = p->timestamp_begin + 1;
	}
}

static int open_streams(struct bpfrelay_reader *r)
{
	const struct bpfrelay_log *log = r->log;
	size_t packet_size = r->mem ? 0 : stream_packet_size(log);
	struct stream *s;
	int i, err;

	r->streams = calloc(log->n_cpus ?: 1, sizeof(*r->streams));
	if (!r->streams)
		return -ENOMEM;
	for (i = 0; i < log->n_cpus; i++) {
		if (!is_wanted_cpu(&r->opts, log->cpus[i]))
			continue;
		s = &r->streams[r->n_streams++];
		if (r->mem)
			err = mem_stream_open(s, r->mem, log, log->cpus[i]);
		else
			err = stream_open(s, log, log->cpus[i], packet_size);
		if (err)
			return err;
	}
	return r->n_streams || !r->opts.n_cpus ? 0 : -ENOENT;
}

static void close_streams(struct bpfrelay_reader *r)
{
	int i;

	for (i = 0; i < r->n_streams; i++)
		stream_close(&r->streams[i]);
	free(r->streams);
	mem_close(r->mem);
	r->streams = NULL;
	r->n_streams = 0;
	r->mem = NULL;
}

/* From memory if that can be; in ctf/ there is the same. */
static int open_source(struct bpfrelay_reader *r)
{
	int err;

	if (r->opts.flags & BPFRELAY_READ_CTF || mem_open(r->log, &r->mem))
		return open_streams(r);
	say(&r->log->say, "%s: reading its memory", r->log->dir);
	err = open_streams(r);
	if (err && err != -ENOENT && err != -ENOMEM) {
		say(&r->log->say, "%s/../mem: %s: reading ctf/", r->log->dir, strerror(-err));
		close_streams(r);
		err = open_streams(r);
	}
	return err;
}

/* What to sleep on: the log's memory, or its files. Of copies nobody says that they grew. */
static int open_wait(struct bpfrelay_reader *r)
{
	int i;

	if (!r->log->info.live)
		return 0;
	r->n_wait = r->mem ? 1 : r->n_streams;
	r->wait = calloc(r->n_wait, sizeof(*r->wait));
	if (!r->wait)
		return -ENOMEM;
	for (i = 0; i < r->n_wait; i++) {
		r->wait[i].fd = r->mem ? mem_fd(r->mem) : r->streams[i].fd;
		r->wait[i].events = POLLIN;
	}
	return 0;
}

int bpfrelay_reader_open(const struct bpfrelay_log *log, const struct bpfrelay_reader_opts *opts,
			 struct bpfrelay_reader **out)
{
	const __u32 known = BPFRELAY_READ_COMPLETE | BPFRELAY_READ_FOLLOW | BPFRELAY_READ_CTF;
	struct bpfrelay_reader *r;
	int err, i;

	*out = NULL;
	r = calloc(1, sizeof(*r));
	if (!r)
		return -ENOMEM;
	r->log = log;
	r->limit = ~0ULL;
	err = trace_get_opts(&r->opts, sizeof(r->opts), opts);
	if (!err && (r->opts.flags & ~known || (r->opts.n_cpus && !r->opts.cpus)))
		err = -EINVAL;
	err = err ?: open_source(r);
	/* Once more: of all CPUs at once, and with the counters. */
	if (!err && r->opts.flags & BPFRELAY_READ_FOLLOW) {
		err = open_wait(r) ?: renew(r);
		for (i = 0; i < r->n_streams; i++) {
			r->streams[i].gap = false;
			r->streams[i].passed = r->streams[i].first_record;
		}
	}
	err = err ?: fill(r);
	if (!err && r->opts.flags & BPFRELAY_READ_COMPLETE)
		set_complete(r);
	if (!err && r->opts.newest)
		err = reader_seek_newest(r);
	if (err) {
		bpfrelay_reader_close(r);
		return err;
	}
	*out = r;
	return 0;
}

void bpfrelay_reader_close(struct bpfrelay_reader *r)
{
	if (!r)
		return;
	close_streams(r);
	free(r->wait);
	free(r);
}

/* ---- Reading ------------------------------------------------------------------ */

int bpfrelay_reader_next(struct bpfrelay_reader *r, const struct bpfrelay_item **item)
{
	struct stream *first;
	int i, ret;

	for (;;) {
		/* Its item was the caller's until now. */
		if (r->current) {
			ret = stream_next(r->current);
			r->current = NULL;
			if (ret < 0)
				return ret;
		}
		first = NULL;
		for (i = 0; i < r->n_streams; i++) {
			struct stream *s = &r->streams[i];

			if (s->has_item &&
			    (!first || compare_items(&s->item, &first->item) < 0))
				first = s;
		}
		if (!first)
			return 0;
		if (r->opts.flags & BPFRELAY_READ_FOLLOW && first->item.record.ts > r->limit)
			return 0;
		r->current = first;
		if (wants_item(r, &first->item)) {
			*item = &first->item;
			return 1;
		}
	}
}

static int renew_and_look(struct bpfrelay_reader *r)
{
	int i, err;

	err = renew(r);
	err = err ?: fill(r);
	if (err)
		return err;
	for (i = 0; i < r->n_streams; i++)
		if (r->streams[i].has_item && r->streams[i].item.record.ts <= r->limit)
			return 1;
	return 0;
}

static __s64 now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000LL + t.tv_nsec / 1000000;
}

int bpfrelay_reader_wait(struct bpfrelay_reader *r, int timeout_ms)
{
	__s64 end = now_ms() + timeout_ms, left;
	bool in_vain = false;
	int ret;

	if (!(r->opts.flags & BPFRELAY_READ_FOLLOW))
		return -EINVAL;
	/* The caller is done with the last item. */
	if (r->current) {
		ret = stream_next(r->current);
		r->current = NULL;
		if (ret < 0)
			return ret;
	}
	for (;;) {
		ret = renew_and_look(r);
		left = end - now_ms();
		/* Memory stays after its log is closed; but nothing comes any more. */
		if (!ret && r->mem && mem_is_closed(r->mem))
			return -ENODEV;
		if (ret || left <= 0)
			return ret;
		/* What it was woken for may be behind an open record: not again at once. */
		ret = poll(r->wait, in_vain ? 0 : r->n_wait, left < LOOK_MS ? left : LOOK_MS);
		if (ret < 0)
			return -errno;
		in_vain = ret;
	}
}

__u64 bpfrelay_reader_since(const struct bpfrelay_reader *r)
{
	return r->opts.since;
}
