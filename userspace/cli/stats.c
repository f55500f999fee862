// SPDX-License-Identifier: GPL-2.0-only
/* bpfrelay stats: counters per CPU and in all, and how fast they move. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"
#include "json.h"
#include "reading.h"

/* What is in the table, and how fast what grows; JSON has all of them. */
#define COLUMNS(X)								\
	X(entries, "READABLE")							\
	X(stored, "STORED")							\
	X(overrun, "OVERWRITTEN")						\
	X(discarded, "DISCARDED")						\
	X(open, "OPEN")								\
	X(dropped, "DROPPED")

#define RATES(X)								\
	X(stored, "STORED/S")							\
	X(stored_bytes, "BYTES/S")						\
	X(overrun, "OVERWR./S")							\
	X(dropped, "DROPPED/S")

static double seconds_between(const struct bpfrelay_cpu_stats *before,
			      const struct bpfrelay_cpu_stats *now)
{
	return now->now_ts > before->now_ts ? (now->now_ts - before->now_ts) / 1e9 : 1;
}

/* What the counters were before, if they can be compared. */
static const struct bpfrelay_stats *comparable(const struct bpfrelay_stats *before,
					       const struct bpfrelay_stats *now)
{
	return before && before->n_cpus == now->n_cpus ? before : NULL;
}

/* ---- Text ----------------------------------------------------------------------- */

static void print_row(const char *name, const struct bpfrelay_cpu_stats *now,
		      const struct bpfrelay_cpu_stats *before)
{
	double seconds;

	printf("%-5s", name);
#define COLUMN(member, head) printf(" %11llu", now->member);
	COLUMNS(COLUMN)
#undef COLUMN
	if (before) {
		seconds = seconds_between(before, now);
#define RATE(member, head) printf(" %11.0f", (now->member - before->member) / seconds);
		RATES(RATE)
#undef RATE
	}
	printf("\n");
}

/*
 * rows: of the terminal; 0: all fits. The head, the sum, what is left out and the cursor
 * take four of them.
 */
static void print_table(const struct bpfrelay_stats *now, const struct bpfrelay_stats *before,
			__u32 rows)
{
	struct bpfrelay_cpu_stats sum = sum_of(now), sum_before;
	__u32 i, shown = 0, left_out = 0;
	char name[16];

	printf("%-5s", "CPU");
#define HEAD(member, head) printf(" %11s", head);
	COLUMNS(HEAD)
	if (before) {
		RATES(HEAD)
	}
#undef HEAD
	printf("\n");
	for (i = 0; i < now->n_cpus; i++) {
		if (now->cpus[i].no_buffer)
			continue;
		if (rows && shown + 4 >= rows) {
			left_out++;
			continue;
		}
		snprintf(name, sizeof(name), "%u", now->cpus[i].cpu);
		print_row(name, &now->cpus[i], before ? &before->cpus[i] : NULL);
		shown++;
	}
	if (left_out)
		printf("... and %u more CPUs\n", left_out);
	if (before)
		sum_before = sum_of(before);
	print_row("all", &sum, before ? &sum_before : NULL);
}

/* ---- JSON ----------------------------------------------------------------------- */

static void add_counters(struct json_object *to, const struct bpfrelay_cpu_stats *now,
			 const struct bpfrelay_cpu_stats *before)
{
	struct json_object *rates;
	double seconds;

#define MEMBER(member, word) json_add_number(to, #member, now->member);
	BPFRELAY_STATS(MEMBER)
#undef MEMBER
	if (!before)
		return;
	rates = json_object_new_object();
	seconds = seconds_between(before, now);
#define RATE(member, head) \
	json_add(rates, #member, json_object_new_double((now->member - before->member) / seconds));
	RATES(RATE)
#undef RATE
	json_add(to, "per_second", rates);
}

static void put_json(const struct bpfrelay_log *log, const struct bpfrelay_stats *now,
		     const struct bpfrelay_stats *before)
{
	struct json_object *object = json_object_new_object(), *cpus = json_object_new_array();
	struct bpfrelay_cpu_stats sum = sum_of(now), sum_before;
	struct json_object *cpu, *all = json_object_new_object();
	__u32 i;

	json_add_string(object, "log", bpfrelay_log_info(log)->name);
	for (i = 0; i < now->n_cpus; i++) {
		cpu = json_object_new_object();
		json_add_number(cpu, "cpu", now->cpus[i].cpu);
		add_counters(cpu, &now->cpus[i], before ? &before->cpus[i] : NULL);
		json_object_array_add(cpus, cpu);
	}
	json_add(object, "cpus", cpus);
	if (before)
		sum_before = sum_of(before);
	add_counters(all, &sum, before ? &sum_before : NULL);
	json_add(object, "all", all);
	json_print(object);
}

/* ---- Again and again ------------------------------------------------------------ */

/* Lines of the terminal on which the table is renewed in place; 0: it is not. */
static __u32 terminal_rows(void)
{
	struct winsize size;

	if (!is_terminal(STDOUT_FILENO))
		return 0;
	return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || !size.ws_row ? 24 : size.ws_row;
}

static void put_text(const struct bpfrelay_stats *now, const struct bpfrelay_stats *before,
		     bool again)
{
	__u32 rows = again ? terminal_rows() : 0;

	/* To the top; the rest of the screen is cleared. */
	if (rows)
		printf("\033[H\033[J");
	print_table(now, before, rows);
	if (again && !rows)
		printf("\n");
}

static int show_for_ever(const struct bpfrelay_log *log, const char *what, double interval,
			 bool json)
{
	struct timespec nap = { interval, (interval - (time_t)interval) * 1e9 };
	struct bpfrelay_stats *now = NULL, *last = NULL;
	const struct bpfrelay_stats *before;
	int err;

	for (;;) {
		err = bpfrelay_log_stats(log, &now);
		if (err)
			break;
		before = comparable(last, now);
		if (json)
			put_json(log, now, before);
		else
			put_text(now, before, interval);
		free(last);
		last = now;
		if (!interval || fflush(stdout) || ferror(stdout))
			break;
		nanosleep(&nap, NULL);
	}
	free(last);
	if (err == -ENOENT)
		return error("%s: is a copy, which has no counters", what);
	return err ? reading_error(what, err) : 0;
}

int cmd_stats(int argc, char **argv)
{
	struct args args = {
		.command = "stats",
		.help = "Shows the counters of LOG, of each CPU and in all. With INTERVAL, in seconds, again and\n"
			"again, with what was added per second.\n",
		.json_text = "an object, of all counters; with INTERVAL, a line each time",
	};
	struct bpfrelay_log *log;
	double interval = 0;
	int status, err;
	char *end;

	status = parse_args(argc, argv, &args);
	if (status >= 0)
		return status;
	if (optind + 1 < argc) {
		interval = strtod(argv[optind + 1], &end);
		if (*end || !(interval >= 0.01 && interval <= 86400))
			return usage_error("stats", "INTERVAL %s: must be seconds, 0.01 to 86400",
					   argv[optind + 1]);
	}
	allow_interrupts();
	if (open_for_reading(argv[optind], &log))
		return CLI_ERROR;
	err = show_for_ever(log, argv[optind], interval, args.json);
	bpfrelay_log_close(log);
	return err ? CLI_ERROR : CLI_OK;
}
