/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Inside the library: a log that is being read. */
#ifndef __READER_H__
#define __READER_H__

#include "mem.h"
#include "stream.h"

struct bpfrelay_reader {
	const struct bpfrelay_log *log;
	struct bpfrelay_reader_opts opts;
	struct mem *mem;		/* NULL: from the files in ctf/ */
	struct stream *streams;		/* in the order of CPUs */
	int n_streams;
	struct stream *current;		/* whose item the caller has */
	struct pollfd *wait;		/* of a follower: what wakes it */
	int n_wait;
	__u64 limit;			/* of a follower: what is newer is for the next snapshot */
};

/* Whether a record is among those asked for. */
bool reader_wants(const struct bpfrelay_reader *r, const struct bpfrelay_record *record);

/* newest.c: starts each stream where the newest records that are wanted begin. */
int reader_seek_newest(struct bpfrelay_reader *r);

#endif /* __READER_H__ */
