/* SPDX-License-Identifier: GPL-2.0-only */
/* What the commands that read logs share. */
#ifndef __READING_H__
#define __READING_H__

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "bpfrelay.h"

int cmd_cat(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_list(int argc, char **argv);
int cmd_show(int argc, char **argv);
int cmd_stats(int argc, char **argv);
int cmd_snapshot(int argc, char **argv);
int cmd_version(int argc, char **argv);
int cmd_doctor(int argc, char **argv);

/* ---- reading.c ---- */

/* Opens what the user calls LOG. Prints the error; 0 or -1. */
int open_for_reading(const char *what, struct bpfrelay_log **log);
/* Says what is wrong with a log; what the library said goes first. Returns -1. */
int reading_error(const char *what, int err);

/* Lets Ctrl-C end us: reading leaves nothing behind. */
void allow_interrupts(void);
/* Whether Ctrl-C, which main() holds back, came. */
bool is_interrupted(void);

/* Whether it goes to people, on what takes control sequences. */
bool is_terminal(int fd);

/* Of all CPUs together; of times, the oldest oldest and the newest newest. */
struct bpfrelay_cpu_stats sum_of(const struct bpfrelay_stats *stats);

/* 4096 as "4 KiB". */
const char *format_size(unsigned long long bytes, char to[24]);

/* A text that grows. */
struct text_buffer {
	char *text;
	size_t size;
};

/* The fields of a record, in the buffer, which is to be freed; NULL, having said so: no memory. */
const char *record_text(struct text_buffer *buffer, const struct bpfrelay_record *record,
			const struct bpfrelay_text_opts *opts);

/* ---- when.c ---- */

enum when_format {
	WHEN_LOCAL,	/* ISO 8601 with the offset */
	WHEN_UTC,	/* with a Z: as in the file `text` */
	WHEN_LOG,	/* seconds of the log's clock */
};

#define WHEN_SIZE	48

/*
 * "5m" ago, or ISO 8601 with a zone, as a time of the log's clock; false if it is neither.
 * Without a log it is only looked at.
 */
bool parse_when(const char *text, const struct bpfrelay_log *log, unsigned long long *ts);
/* Returns the length. */
int format_when(char *to, size_t size, enum when_format format,
		const struct bpfrelay_log_info *info, unsigned long long ts);

#endif /* __READING_H__ */
