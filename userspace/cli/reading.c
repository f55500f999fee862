// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "reading.h"

/* What the library said, for the error that follows. */
static struct {
	char text[4096];
	size_t len;
} said;

static void keep_said(void *ctx, const char *fmt, va_list args)
{
	size_t room = sizeof(said.text) - said.len;
	int n;

	(void)ctx;
	if (verbose) {
		va_list copy;

		va_copy(copy, args);
		fprintf(stderr, "bpfrelay: ");
		vfprintf(stderr, fmt, copy);
		fprintf(stderr, "\n");
		va_end(copy);
	}
	n = snprintf(said.text + said.len, room, said.len ? "\n          " : "");
	if ((size_t)n >= room)
		return;
	said.len += n;
	room -= n;
	n = vsnprintf(said.text + said.len, room, fmt, args);
	said.len += n < 0 ? 0 : (size_t)n < room ? (size_t)n : room - 1;
}

int reading_error(const char *what, int err)
{
	if (err == -EACCES)
		return error("%s: not permitted: run as root (CAP_DAC_READ_SEARCH), or as a member of the log's group (module parameter gid)",
			     what);
	if (err == -EPERM)
		return error("%s: not permitted: run as root (CAP_BPF)", what);
	if (err == -ENODEV)
		return error("%s: the log was closed", what);
	if (said.len)
		return error("%s", said.text);
	return error("%s: %s", what, error_text(err));
}

int open_for_reading(const char *what, struct bpfrelay_log **log)
{
	LIBBPF_OPTS(bpfrelay_log_opts, opts, .print = keep_said);
	int err;

	said.len = 0;
	err = bpfrelay_log_open(what, &opts, log);
	if (err)
		return reading_error(what, err);
	said.len = 0;
	return 0;
}

void allow_interrupts(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigprocmask(SIG_SETMASK, &set, NULL);
}

bool is_interrupted(void)
{
	sigset_t set;

	return !sigpending(&set) && (sigismember(&set, SIGINT) || sigismember(&set, SIGTERM) ||
				     sigismember(&set, SIGHUP));
}

bool is_terminal(int fd)
{
	const char *term = getenv("TERM");

	return isatty(fd) && term && *term && strcmp(term, "dumb");
}

const char *record_text(struct text_buffer *b, const struct bpfrelay_record *record,
			const struct bpfrelay_text_opts *opts)
{
	size_t len;
	char *more;

	while ((len = bpfrelay_record_text_opts(record, opts, b->text, b->size)) >= b->size) {
		more = realloc(b->text, 2 * len + 256);
		if (!more) {
			error("out of memory");
			return NULL;
		}
		b->text = more;
		b->size = 2 * len + 256;
	}
	return b->text;
}

static unsigned long long greater(unsigned long long a, unsigned long long b)
{
	return a > b ? a : b;
}

struct bpfrelay_cpu_stats sum_of(const struct bpfrelay_stats *stats)
{
	struct bpfrelay_cpu_stats sum = {}, ends = {};
	const struct bpfrelay_cpu_stats *cpu;

	for (cpu = stats->cpus; cpu < stats->cpus + stats->n_cpus; cpu++) {
#define ADD(member, word) sum.member += cpu->member;
		BPFRELAY_STATS(ADD)
#undef ADD
		if (cpu->oldest_ts && (!ends.oldest_ts || cpu->oldest_ts < ends.oldest_ts))
			ends.oldest_ts = cpu->oldest_ts;
		ends.newest_ts = greater(ends.newest_ts, cpu->newest_ts);
		ends.now_ts = greater(ends.now_ts, cpu->now_ts);
		ends.oldest_open_age = greater(ends.oldest_open_age, cpu->oldest_open_age);
		ends.nesting_max = greater(ends.nesting_max, cpu->nesting_max);
	}
	sum.oldest_ts = ends.oldest_ts;
	sum.newest_ts = ends.newest_ts;
	sum.now_ts = ends.now_ts;
	sum.oldest_open_age = ends.oldest_open_age;
	sum.nesting_max = ends.nesting_max;
	return sum;
}

const char *format_size(unsigned long long bytes, char to[24])
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB" };
	int i = 0;

	while (i < 3 && bytes >= 1024 && !(bytes % 1024)) {
		bytes /= 1024;
		i++;
	}
	snprintf(to, 24, "%llu %s", bytes, units[i]);
	return to;
}
