/* SPDX-License-Identifier: GPL-2.0-only */
/* Which records of a log: the options that all commands that go through them have. */
#ifndef __SELECT_H__
#define __SELECT_H__

#include "bpfrelay.h"

#define SELECT_CPUS_MAX	4096

struct selection {
	struct bpfrelay_reader_opts opts;
	const char *since, *until;	/* as given */
	const char *type;
	const char *expression;
	struct bpfrelay_filter *filter;
	__u32 cpus[SELECT_CPUS_MAX];
};

enum { SELECT_SINCE = 512, SELECT_UNTIL, SELECT_CPU, SELECT_TYPE, SELECT_COMPLETE, SELECT_CTF };

/* For the table of options of a command. */
#define SELECT_OPTIONS									\
	{ "newest", 'n', "N", "only the newest N records" },				\
	{ "since", SELECT_SINCE, "TIME",						\
	  "from then on: so long ago (5m, 10s, 1.5h), or ISO 8601 with a zone" },	\
	{ "until", SELECT_UNTIL, "TIME", "up to then" },				\
	{ "cpu", SELECT_CPU, "N[,N...]", "only of these CPUs" },			\
	{ "type", SELECT_TYPE, "NAME", "only of this type" },				\
	{ "filter", 'e', "FILTER", "only those of which it is true: 'pid == 1 && comm =~ \"ba*\"'" }, \
	{ "complete", SELECT_COMPLETE, NULL,						\
	  "only the time of which no CPU has overwritten anything" },			\
	{ "ctf", SELECT_CTF, NULL,							\
	  "from the files in ctf/, even if the log's memory can be mapped" }

/* An option of the table: 0, or an exit code. */
int select_take(const char *command, struct selection *s, int c, const char *value);

/*
 * Makes s->opts what the options say of this log, to be ended by select_end(). Prints the
 * error; 0 or -1. `what` is what the user calls the log.
 */
int select_from(struct selection *s, const struct bpfrelay_log *log, const char *what);
void select_end(struct selection *s);

/* bpfrelay_reader_open(), with the error printed: 0 or -1. */
int select_open(const struct selection *s, const struct bpfrelay_log *log, const char *what,
		struct bpfrelay_reader **reader);

#endif /* __SELECT_H__ */
