/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Inside the library: the records of one CPU, one after the other.
 *
 * A stream is a snapshot: packets, of which it has one at a time in memory. It goes
 * through them once; a new snapshot goes on where the old one ended. Where packets come
 * from is the source's matter.
 */
#ifndef __STREAM_H__
#define __STREAM_H__

#include "packet_check.h"
#include "trace.h"

struct stream;

struct source {
	/*
	 * Takes a new snapshot: fills in n_packets, if there is one first_seq, and, if it
	 * can, first_record and end_record.
	 */
	int (*renew)(struct stream *s);
	/* Copies packet `index` of the snapshot, closed as in ctf/, to s->buf. */
	int (*load)(struct stream *s, __u64 index);
	void (*close)(struct stream *s);
};

#define STREAM_NONE	(~0ULL)

struct stream {
	const struct bpfrelay_log *log;
	const struct source *source;
	int fd;				/* these two are the source's */
	void *private;
	__u32 cpu;
	size_t packet_size;		/* 0: not known yet */
	bool ordered;			/* wait for open records, not only read on behind them */

	/* The snapshot. */
	__u64 n_packets;
	__u64 first_seq;		/* number of its first packet */
	__u64 first_record;		/* how many records came before it; or STREAM_NONE */
	__u64 end_record;		/* the same of its end; or STREAM_NONE */
	__u64 end_before;		/* that of the snapshot before */
	bool truncated;			/* ends inside a packet ... */
	bool told_truncated;		/* ... of which there was an item */

	/* The packet in buf. */
	char *buf;
	__u64 index;			/* in the snapshot; STREAM_NONE: none yet */
	__u64 seq;			/* its number; STREAM_NONE: none yet */
	size_t pos, end;		/* the current record, and the end of its content */
	size_t step;			/* from the current record to the next one */
	__u32 n_passed;			/* records of it that were gone past */

	/* What came before. */
	struct packet_chain chain;
	__u64 discarded;		/* as the last packet said; or STREAM_NONE */
	__u64 overtaken;		/* in this snapshot, as far as `discarded` has it in it */
	/*
	 * Records before the current one, had or lost; or STREAM_NONE. Those that were lost
	 * in gaps of an unknown size are missing from it: they are in the next known loss.
	 */
	__u64 passed;
	bool unknown;			/* there was such a gap */
	bool gap;			/* the snapshot begins behind what was next */

	bool has_item;
	struct bpfrelay_item item;	/* the current one */
};

/* What all sources begin with: nothing was read yet. */
void stream_init(struct stream *s, const struct bpfrelay_log *log, __u32 cpu, size_t packet_size);

/* Opens cpuN and takes a snapshot. packet_size: of the log's other CPUs; 0: not known. */
int stream_open(struct stream *s, const struct bpfrelay_log *log, __u32 cpu, size_t packet_size);
void stream_close(struct stream *s);

/* Goes to the next item. 1; 0: there is none; or a negative errno. */
int stream_next(struct stream *s);

/* The next item is the first one of packet `index`; nothing is said of what is before. */
void stream_seek(struct stream *s, __u64 index);

/*
 * Takes a new snapshot, and goes on in it where the old one ended. If there is no
 * current item behind it, stream_next() finds the next one, which is the same if there
 * was one before; first_record is to be set first.
 */
int stream_renew(struct stream *s);

/* Bytes of a packet, by the first CPU that has one; 0: no CPU has. */
size_t stream_packet_size(const struct bpfrelay_log *log);

/* When the newest record of a log was written; 0: there is none. */
__u64 stream_newest(const struct bpfrelay_log *log);

#endif /* __STREAM_H__ */
