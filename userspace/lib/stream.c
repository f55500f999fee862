// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ctf.h"
#include "stream.h"

void stream_init(struct stream *s, const struct bpfrelay_log *log, __u32 cpu, size_t packet_size)
{
	memset(s, 0, sizeof(*s));
	s->log = log;
	s->cpu = cpu;
	s->packet_size = packet_size;
	s->fd = -1;
	s->first_record = s->end_record = s->end_before = s->passed = STREAM_NONE;
	stream_seek(s, 0);
}

int stream_open(struct stream *s, const struct bpfrelay_log *log, __u32 cpu, size_t packet_size)
{
	stream_init(s, log, cpu, packet_size);
	s->source = &ctf_source;
	s->fd = ctf_open(log, cpu);
	if (s->fd < 0)
		return s->fd;
	return s->source->renew(s);
}

void stream_close(struct stream *s)
{
	if (s->source)
		s->source->close(s);
	free(s->buf);
	s->source = NULL;
	s->buf = NULL;
}

void stream_seek(struct stream *s, __u64 index)
{
	s->index = index - 1;
	s->seq = STREAM_NONE;
	s->pos = s->end = s->step = 0;
	s->n_passed = 0;
	s->chain = (struct packet_chain) {};
	s->discarded = STREAM_NONE;
	s->overtaken = 0;
	s->gap = false;
	s->told_truncated = false;
	s->has_item = false;
}

static void go_past(struct stream *s, __u64 records)
{
	if (s->passed != STREAM_NONE)
		s->passed += records;
}

/* Always returns 1. */
static int lose(struct stream *s, enum bpfrelay_loss reason, __u64 lost, __u64 ts)
{
	s->item = (struct bpfrelay_item) {
		.kind = BPFRELAY_LOST,
		.record = { .ts = ts, .cpu = s->cpu },
		.reason = reason,
		.lost = lost,
	};
	s->has_item = true;
	return 1;
}

static int damaged(struct stream *s, const char *what)
{
	say(&s->log->say, "%s/cpu%u: packet %llu %s", s->log->dir, s->cpu, s->index, what);
	s->end = s->pos;
	return lose(s, BPFRELAY_DAMAGED, 0, s->chain.ts);
}

/*
 * Between the snapshots: what was next is not there any more. If it is not known how much
 * that was, it is part of what is found missing as soon as that is known.
 */
static int lose_gap(struct stream *s)
{
	bool known = s->first_record != STREAM_NONE && s->passed != STREAM_NONE;
	__u64 lost;

	s->gap = false;
	if (!known) {
		s->unknown = true;
		if (s->passed == STREAM_NONE)
			s->passed = s->first_record;
		return lose(s, BPFRELAY_OVERWRITTEN, 0, s->item.record.ts);
	}
	s->unknown = false;
	/* Nothing but discarded records. */
	if (s->first_record <= s->passed)
		return 0;
	lost = s->first_record - s->passed;
	s->passed = s->first_record;
	return lose(s, BPFRELAY_OVERWRITTEN, lost, s->item.record.ts);
}

/*
 * At the end of a snapshot: what is missing was lost in the gaps of an unknown size. A
 * record is counted a moment before it can be read, but not two snapshots before.
 */
static int lose_unknown(struct stream *s)
{
	__u64 lost;

	if (!s->unknown || s->passed == STREAM_NONE || s->end_record == STREAM_NONE ||
	    s->end_record != s->end_before)
		return 0;
	s->unknown = false;
	if (s->end_record <= s->passed)
		return 0;
	lost = s->end_record - s->passed;
	s->passed = s->end_record;
	return lose(s, BPFRELAY_OVERWRITTEN, lost, s->item.record.ts);
}

/* What the packet in buf says of losses, if it is not known yet. 1: it is an item. */
static int lose_discarded(struct stream *s)
{
	const struct bpf_relay_packet *p = (const void *)s->buf;
	__u64 before = s->discarded, lost, ts = p->timestamp_begin;

	if (before == STREAM_NONE)
		before = p->packet_seq_num ? p->events_discarded : 0;
	s->discarded = p->events_discarded;
	if (p->events_discarded <= before)
		return 0;
	lost = p->events_discarded - before;
	if (s->item.record.ts > ts)
		ts = s->item.record.ts;
	if (s->end > sizeof(*p))
		return lose(s, BPFRELAY_DROPPED, lost, ts);
	/* Overtaken: what it held, with what we have had of it. */
	s->overtaken += lost;
	lost -= lost < s->n_passed ? lost : s->n_passed;
	go_past(s, lost);
	return lost ? lose(s, BPFRELAY_OVERWRITTEN, lost, ts) : 0;
}

/* Whether a record begins at pos, or nothing is there any more. */
static bool is_record(const struct stream *s)
{
	const struct bpf_relay_header *h;
	size_t pos = sizeof(struct bpf_relay_packet);

	while (pos < s->end && pos < s->pos) {
		h = (const void *)(s->buf + pos);
		pos += BPF_RELAY_RECORD_SIZE(packet_payload(s->log->metadata.type[h->id], h->len));
	}
	return pos <= s->pos;
}

/* 1: it is an item that it is none, or that it tells of a loss; 0: its records are next. */
static int load_packet(struct stream *s, __u64 index)
{
	const struct bpf_relay_packet *p;
	const char *wrong;
	int err;

	if (!s->buf) {
		s->buf = malloc(s->packet_size);
		if (!s->buf)
			return -ENOMEM;
	}
	err = s->source->load(s, index);
	s->index = index;
	if (err == -EBADMSG)
		return damaged(s, "is cut off");
	if (err)
		return err;
	wrong = packet_check(&s->log->metadata, s->cpu, s->buf, s->packet_size, &s->chain);
	if (wrong)
		return damaged(s, wrong);
	p = (const void *)s->buf;
	if (p->packet_seq_num != s->seq) {
		s->seq = p->packet_seq_num;
		s->pos = sizeof(*p);
		s->n_passed = 0;
	}
	s->end = p->content_size / 8;
	if (!is_record(s))
		return damaged(s, "has other records than before");
	return lose_discarded(s);
}

static void take_record(struct stream *s)
{
	const struct bpf_relay_header *h = (const void *)(s->buf + s->pos);
	const struct bpfrelay_type *type = s->log->metadata.type[h->id];
	__u64 len = packet_payload(type, h->len);

	s->item = (struct bpfrelay_item) {
		.kind = BPFRELAY_RECORD,
		.record = {
			.ts = h->ts,
			.cpu = s->cpu,
			.len = len,
			.data = h + 1,
			.type = type,
		},
	};
	s->step = BPF_RELAY_RECORD_SIZE(len);
	s->has_item = true;
}

int stream_next(struct stream *s)
{
	int ret = 0;

	s->has_item = false;
	if (s->step) {
		s->pos += s->step;
		s->step = 0;
		s->n_passed++;
		go_past(s, 1);
	}
	while (!ret) {
		if (s->pos < s->end) {
			take_record(s);
			return 1;
		}
		if (s->gap)
			ret = lose_gap(s);
		else if (s->index + 1 < s->n_packets)
			ret = load_packet(s, s->index + 1);
		else
			break;
	}
	ret = ret ?: lose_unknown(s);
	if (!ret && s->truncated && !s->told_truncated) {
		s->told_truncated = true;
		s->index++;
		return damaged(s, "is cut off");
	}
	return ret;
}

int stream_renew(struct stream *s)
{
	int err;

	/* What is in the newest packet of a snapshot may be overwritten in the next. */
	if (s->discarded != STREAM_NONE)
		s->discarded -= s->overtaken;
	s->overtaken = 0;
	err = s->source->renew(s);
	if (err)
		return err;
	s->chain = (struct packet_chain) {};
	if (!s->n_packets)
		return 0;
	if (s->seq == STREAM_NONE || s->seq < s->first_seq) {
		/* What is in buf is good, and still to be had. */
		s->gap = s->seq == STREAM_NONE ? s->first_seq : true;
		s->index = -1;
		return 0;
	}
	/* That packet may be longer now: it is the next one, once more. */
	s->index = s->seq - s->first_seq - 1;
	s->end = s->pos;
	s->step = 0;
	if (s->has_item && s->item.kind == BPFRELAY_RECORD)
		s->has_item = false;
	return 0;
}

size_t stream_packet_size(const struct bpfrelay_log *log)
{
	struct bpf_relay_packet header;
	size_t size = 0;
	int i, fd;

	for (i = 0; i < log->n_cpus && !size; i++) {
		fd = ctf_open(log, log->cpus[i]);
		if (fd < 0)
			continue;
		if (ctf_read(log, fd, &header, sizeof(header), 0) == sizeof(header))
			packet_size(&log->metadata, &header, &size);
		close(fd);
	}
	return size;
}

__u64 stream_newest(const struct bpfrelay_log *log)
{
	size_t packet = stream_packet_size(log);
	struct bpf_relay_packet header;
	__u64 newest = 0;
	__s64 size;
	int i, fd;

	for (i = 0; i < log->n_cpus && packet; i++) {
		fd = ctf_open(log, log->cpus[i]);
		if (fd < 0)
			continue;
		size = ctf_size(fd);
		if (size >= (__s64)packet &&
		    ctf_read(log, fd, &header, sizeof(header), size - size % packet - packet) ==
			    sizeof(header) &&
		    header.magic == BPF_RELAY_CTF_MAGIC && header.timestamp_end > newest)
			newest = header.timestamp_end;
		close(fd);
	}
	return newest;
}
