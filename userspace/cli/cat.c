// SPDX-License-Identifier: GPL-2.0-only
/* bpfrelay cat: records as text or JSON lines. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "jsonl.h"
#include "names.h"
#include "reading.h"
#include "select.h"

#define WAIT_MS		500

struct cat {
	struct bpfrelay_log *log;
	const struct bpfrelay_log_info *info;
	struct selection selection;
	enum when_format format;
	bool json;
	struct text_buffer text;	/* a record's */
	struct bpfrelay_text_opts text_opts;
	bool damaged;
};

/* ---- Output ------------------------------------------------------------------- */

/* Seconds of the log's clock are there anyway. */
static enum when_format json_format(const struct cat *cat)
{
	return cat->format == WHEN_UTC ? WHEN_UTC : WHEN_LOCAL;
}

static bool name_symbol(void *ctx, __u64 address, char *to, size_t size)
{
	char name[NAMES_MAX];

	return names_symbol(ctx, address, name) && snprintf(to, size, "%s", name) > 0;
}

static int put_text(struct cat *cat, const struct bpfrelay_record *record)
{
	const char *text = record_text(&cat->text, record, &cat->text_opts);
	char when[WHEN_SIZE];

	if (!text)
		return -1;
	format_when(when, sizeof(when), cat->format, cat->info, record->ts);
	printf("%s cpu%u %s %s\n", when, record->cpu, record->type->name, text);
	return 0;
}

static void put_loss(struct cat *cat, const struct bpfrelay_item *item)
{
	const char *reason = loss_reason(item->reason);

	cat->damaged |= item->reason == BPFRELAY_DAMAGED;
	if (cat->json)
		jsonl_loss(cat->info, json_format(cat), item);
	else if (item->lost)
		printf("# cpu %u: %llu records %s\n", item->record.cpu, item->lost, reason);
	else if (item->reason == BPFRELAY_DAMAGED)
		printf("# cpu %u: a packet is damaged\n", item->record.cpu);
	else
		/* What comes with a number later has them in it. */
		printf("# cpu %u: records %s, how many is not known yet\n", item->record.cpu, reason);
}

/* ---- Reading ------------------------------------------------------------------ */

/* To the end of what there is. 0; a negative errno; 1: nobody wants more. */
static int put_all(struct cat *cat, struct bpfrelay_reader *reader)
{
	const struct bpfrelay_item *item;
	int ret;

	while ((ret = bpfrelay_reader_next(reader, &item)) > 0) {
		if (item->kind == BPFRELAY_LOST)
			put_loss(cat, item);
		else if (cat->json ? jsonl_record(cat->info, json_format(cat), &item->record) :
				     put_text(cat, &item->record))
			return 1;
		/* main() says why. */
		if (ferror(stdout))
			return 1;
	}
	return ret;
}

static int follow(struct cat *cat, struct bpfrelay_reader *reader)
{
	int ret;

	/* Whoever reads it, reads whole lines. */
	setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
	do {
		ret = put_all(cat, reader);
		if (ret)
			return ret;
		if (cat->selection.opts.until && bpfrelay_log_now(cat->log) > cat->selection.opts.until)
			return 0;
		ret = bpfrelay_reader_wait(reader, WAIT_MS);
	} while (ret >= 0);
	return ret;
}

static int cat_log(struct cat *cat, const char *what)
{
	struct bpfrelay_reader *reader;
	int ret;

	if (select_open(&cat->selection, cat->log, what, &reader))
		return -1;
	if (cat->selection.opts.flags & BPFRELAY_READ_FOLLOW)
		ret = follow(cat, reader);
	else
		ret = put_all(cat, reader);
	bpfrelay_reader_close(reader);
	if (ret < 0)
		return reading_error(what, ret);
	if (ret > 0)
		return -1;
	return cat->damaged ? reading_error(what, -EBADMSG) : 0;
}

/* ---- Arguments ---------------------------------------------------------------- */

enum { OPT_UTC = 256, OPT_MONO };

static int take(int c, const char *value, void *ctx)
{
	struct cat *cat = ctx;

	switch (c) {
	case 'f':
		cat->selection.opts.flags |= BPFRELAY_READ_FOLLOW;
		return 0;
	case OPT_UTC:
		cat->format = WHEN_UTC;
		return 0;
	case OPT_MONO:
		cat->format = WHEN_LOG;
		return 0;
	default:
		return select_take("cat", &cat->selection, c, value);
	}
}

int cmd_cat(int argc, char **argv)
{
	static const struct cli_option options[] = {
		SELECT_OPTIONS,
		{ "follow", 'f', NULL, "go on with what is written from now on" },
		{ "utc", OPT_UTC, NULL, "times in UTC, not in local time" },
		{ "mono", OPT_MONO, NULL, "seconds of the log's clock" },
		{}
	};
	static struct cat cat = {
		.text_opts = { .sz = sizeof(cat.text_opts), .symbol = name_symbol },
	};
	struct args args = {
		.command = "cat",
		.help = "Shows the records of LOG, merged over its CPUs in the order of time. LOG is its name,\n"
			"the id or a pin of its map, or the directory of a copy. What was lost is said in\n"
			"lines that begin with #.\n",
		.json_text = "an object for each record, a line each",
		.options = options,
		.take = take,
		.ctx = &cat,
	};
	struct names *names = NULL;
	const char *what;
	int status, err;

	status = parse_args(argc, argv, &args);
	if (status >= 0)
		return status;
	what = argv[optind];
	cat.json = args.json;
	allow_interrupts();
	if (open_for_reading(what, &cat.log))
		return CLI_ERROR;
	cat.info = bpfrelay_log_info(cat.log);
	err = names_open(cat.info, &names);
	cat.text_opts.symbol_ctx = names;
	err = err ?: select_from(&cat.selection, cat.log, what);
	err = err ?: cat_log(&cat, what);
	if (names)
		names_complain(names, what);
	select_end(&cat.selection);
	names_close(names);
	bpfrelay_log_close(cat.log);
	free(cat.text.text);
	return err ? CLI_ERROR : CLI_OK;
}
