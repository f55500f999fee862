/* SPDX-License-Identifier: GPL-2.0-only */
/* Shared by readers.c and snapshots.c; includes the harness. */
#ifndef _READERS_H
#define _READERS_H

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "bpf/writer.h"
#include "relay_test.h"

#define SUBBUF		4096
#define N_SUBBUFS	8
#define BUFFER		(SUBBUF * N_SUBBUFS)
#define HEADER		sizeof(struct bpf_relay_packet)
/* Records in a packet, all of one size. */
#define PER_PACKET	((SUBBUF - HEADER) / BPF_RELAY_RECORD_SIZE(sizeof(struct writer_seq)))
/* Where the tests below leave the last packet: half full. */
#define HALF		(PER_PACKET / 2)
#define TIMEOUT		240

static const struct bpf_relay_opts small = { .subbuf_size = SUBBUF, .n_subbufs = N_SUBBUFS };

static inline int open_file(const struct relay_log *log, const char *name, int flags)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", log->dir, name);
	return open(path, flags);
}

static inline int stat_file(const struct relay_log *log, const char *name,
			     struct stat *st)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", log->dir, name);
	return stat(path, st);
}

/* The next records on CPU 0. */
static inline void write_records(struct relay_log *log, __u64 count)
{
	struct writer_args *args = log_var(log, ".bss", "args");

	args->count = count;
	if (count)
		log_run(log, "writer_seq", 0);
}

/* Calls on CPU 0 that are refused, and counted as dropped. */
static inline void drop_records(struct relay_log *log, __u64 count)
{
	struct writer_args *args = log_var(log, ".bss", "args");
	__u64 seq = args->seq;

	args->count = count;
	args->size = 8;
	args->flags = 200;
	log_run(log, "writer_bytes", 0);
	args->seq = seq;
}

/* To the end in steps; what came, or -1. One more read must give 0 again. */
static inline ssize_t read_on(int fd, char *to, size_t step)
{
	ssize_t got = 0, n;

	while ((n = read(fd, to + got, step)) > 0)
		got += n;
	return n || read(fd, to + got, step) ? -1 : got;
}

FIXTURE(idle) {
	struct relay_log log;
	char *data;		/* ctf/cpu0, read at once */
	size_t len;
	char *buf;		/* for what a test reads */
};

/* Three laps and a bit; a few calls were dropped before and behind. */
FIXTURE_SETUP(idle)
{
	log_load(&self->log, "writer", "writer");
	ASSERT_EQ(log_open(&self->log, &small), 0);
	drop_records(&self->log, 7);
	write_records(&self->log, 3 * N_SUBBUFS * PER_PACKET + HALF);
	drop_records(&self->log, 5);
	self->data = log_file(&self->log, "ctf/cpu0", &self->len);
	ASSERT_NE(self->data, NULL);
	ASSERT_EQ(self->len, BUFFER);
	ASSERT_EQ(ctf_walk(self->data, self->len, SUBBUF, NULL, NULL),
		  (N_SUBBUFS - 1) * PER_PACKET + HALF);
	self->buf = malloc(4 * BUFFER);
}

FIXTURE_TEARDOWN(idle)
{
	free(self->buf);
	free(self->data);
	log_unload(&self->log);
	EXPECT_TRUE(log_gone(&self->log));
}

FIXTURE(empty) {
	struct relay_log log;
};

FIXTURE_SETUP(empty)
{
	log_load(&self->log, "writer", "writer");
	ASSERT_EQ(log_open(&self->log, &small), 0);
}

FIXTURE_TEARDOWN(empty)
{
	log_unload(&self->log);
	EXPECT_TRUE(log_gone(&self->log));
}

#endif /* _READERS_H */
