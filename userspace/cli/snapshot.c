// SPDX-License-Identifier: GPL-2.0-only
/* bpfrelay snapshot: a copy of a log that stays. */
#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "cli.h"
#include "json.h"
#include "names.h"
#include "reading.h"

/* Whether the copy, and not the log, is what we may not do. */
static bool cannot_make(const char *dir)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s", dir);
	return access(dirname(path), W_OK);
}

static int explain(const char *what, const char *dir, int err)
{
	if (err == -EACCES && cannot_make(dir))
		return error("%s: %s", dir, error_text(err));
	switch (-err) {
	case EEXIST:
		return error("%s: exists already", dir);
	case EINTR:
		return error("%s: interrupted, nothing is left of it", dir);
	case ENOENT:
	case ENOTDIR:
	case ENOSPC:
	case EROFS:
	case EFBIG:
	case EDQUOT:
		return error("%s: %s", dir, error_text(err));
	default:
		return reading_error(what, err);
	}
}

/* ---- Progress ------------------------------------------------------------------- */

/* So much is copied in a moment. */
#define LARGE		(8ULL << 20)

struct progress {
	bool shown;
	int percent;
};

static int show_progress(void *ctx, __u64 done, __u64 total)
{
	struct progress *progress = ctx;
	int percent = done * 100 / total;

	/* What was copied goes. */
	if (is_interrupted())
		return -EINTR;
	if (!progress->shown || percent == progress->percent || total < LARGE)
		return 0;
	progress->percent = percent;
	fprintf(stderr, "\r%3d%% of %llu MiB%s", percent, total >> 20,
		done == total ? "\r\033[K" : "");
	return 0;
}

/* ---- The complete window -------------------------------------------------------- */

struct window {
	unsigned long long since;	/* 0: nothing was overwritten */
	unsigned long long until;	/* 0: there are no records */
};

static int read_window(const char *dir, struct window *window)
{
	LIBBPF_OPTS(bpfrelay_reader_opts, opts, .flags = BPFRELAY_READ_COMPLETE);
	struct bpfrelay_reader *reader;
	struct bpfrelay_log *copy;
	char path[4096];
	int err;

	/* A name without a slash could be that of a log. */
	snprintf(path, sizeof(path), "%s%s", *dir == '/' ? "" : "./", dir);
	err = bpfrelay_log_open(path, NULL, &copy);
	if (err)
		return err;
	err = bpfrelay_reader_open(copy, &opts, &reader);
	if (!err) {
		window->since = bpfrelay_reader_since(reader);
		window->until = bpfrelay_log_now(copy);
	}
	bpfrelay_reader_close(reader);
	bpfrelay_log_close(copy);
	return err;
}

static struct json_object *time_or_null(const struct bpfrelay_log *log, unsigned long long ts)
{
	char when[WHEN_SIZE];

	if (!ts)
		return NULL;
	format_when(when, sizeof(when), WHEN_LOCAL, bpfrelay_log_info(log), ts);
	return json_object_new_string(when);
}

static void print_json(const struct bpfrelay_log *log, const char *dir, __u64 records,
		       const struct window *window)
{
	struct json_object *object = json_object_new_object();

	json_add_string(object, "dir", dir);
	json_add_number(object, "records", records);
	json_add(object, "complete_since", time_or_null(log, window->since));
	json_add(object, "complete_until", time_or_null(log, window->until));
	json_print(object);
}

static void print_text(const struct bpfrelay_log *log, const char *dir, __u64 records,
		       const struct window *window)
{
	const struct bpfrelay_log_info *info = bpfrelay_log_info(log);
	char since[WHEN_SIZE] = "the log was opened", until[WHEN_SIZE];

	if (!window->until) {
		printf("%s: no records\n", dir);
		return;
	}
	if (window->since)
		format_when(since, sizeof(since), WHEN_LOCAL, info, window->since);
	format_when(until, sizeof(until), WHEN_LOCAL, info, window->until);
	/* A CPU may have overwritten all that is as old as another one's newest. */
	if (window->since > window->until)
		printf("%s: %llu records, at no time complete\n", dir, records);
	else
		printf("%s: %llu records, complete since %s until %s\n", dir, records, since,
		       until);
}

static int snapshot(const struct bpfrelay_log *log, const char *what, const char *dir, bool json)
{
	struct progress progress = { .shown = is_terminal(STDERR_FILENO), .percent = -1 };
	LIBBPF_OPTS(bpfrelay_snapshot_opts, opts, .progress = show_progress,
		    .progress_ctx = &progress);
	struct window window = {};
	__u64 records;
	int err;

	err = bpfrelay_log_snapshot(log, dir, &opts, &records);
	if (err && progress.percent >= 0)
		fprintf(stderr, "\n");
	if (err)
		return explain(what, dir, err);
	if (names_save(log, dir))
		return -1;
	err = read_window(dir, &window);
	if (err)
		return reading_error(dir, err);
	if (json)
		print_json(log, dir, records, &window);
	else
		print_text(log, dir, records, &window);
	return 0;
}

int cmd_snapshot(int argc, char **argv)
{
	struct args args = {
		.command = "snapshot",
		.help = "Copies LOG to DIR, which is made, and which only you can read: a CTF 1.8 trace, for\n"
			"babeltrace2 and for bpfrelay cat. All CPUs are copied up to the same time.\n",
		.json_text = "say what was copied as an object",
	};
	struct bpfrelay_log *log;
	int status, err;

	status = parse_args(argc, argv, &args);
	if (status >= 0)
		return status;
	if (!*argv[optind + 1])
		return usage_error("snapshot", "DIR is empty: it is the name of what is made");
	if (open_for_reading(argv[optind], &log))
		return CLI_ERROR;
	err = snapshot(log, argv[optind], argv[optind + 1], args.json);
	bpfrelay_log_close(log);
	return err ? CLI_ERROR : CLI_OK;
}
