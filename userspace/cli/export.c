// SPDX-License-Identifier: GPL-2.0-only
/* bpfrelay export: a log in the formats of other tools. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "export.h"
#include "names.h"
#include "output.h"
#include "reading.h"
#include "select.h"

static const struct export_format *const formats[] = {
	&export_jsonl, &export_chrome, &export_openmetrics, &export_pcapng, &export_folded,
};

#define N_FORMATS	(sizeof(formats) / sizeof(formats[0]))

/* What was given on the command line. */
struct request {
	struct selection selection;
	const struct export_format *format;
	const char *file;	/* NULL: standard output */
	const char *selects;	/* an option that does; NULL: none was given */
};

static int interrupted(const struct request *r)
{
	return r->file && is_interrupted() ? error("%s: interrupted", r->file) : 0;
}

static int export_records(struct export *e, const struct request *r, unsigned long long *lost,
			  bool *damaged)
{
	struct bpfrelay_reader *reader;
	const struct bpfrelay_item *item;
	int ret, err = 0;

	if (select_open(&r->selection, e->log, e->what, &reader))
		return -1;
	while (!err && (ret = bpfrelay_reader_next(reader, &item)) > 0) {
		if (item->kind == BPFRELAY_RECORD) {
			err = r->format->record(e, &item->record);
		} else {
			*damaged |= item->reason == BPFRELAY_DAMAGED;
			if (r->format->lost)
				err = r->format->lost(e, item);
			else
				*lost += item->lost;
		}
		/* Why is said where it ends. */
		if (ferror(stdout))
			err = -1;
		err = err ?: interrupted(r);
	}
	bpfrelay_reader_close(reader);
	if (err)
		return err;
	return ret < 0 ? reading_error(e->what, ret) : 0;
}

static int export_log(struct export *e, const struct request *r)
{
	unsigned long long lost = 0;
	bool damaged = false;
	int err;

	if (r->format->begin && r->format->begin(e))
		return -1;
	err = r->format->record ? export_records(e, r, &lost, &damaged) : 0;
	if (r->format->end && r->format->end(e, !err))
		err = -1;
	err = err ?: output_keep();
	if (err)
		return err;
	if (e->skipped)
		note("%s: %llu records left out, of types that have no place in %s", e->what,
		     e->skipped, r->format->name);
	if (lost)
		note("%s: %llu records were overwritten or dropped", e->what, lost);
	return damaged ? reading_error(e->what, -EBADMSG) : 0;
}

/* ---- Arguments ---------------------------------------------------------------- */

/* "jsonl, chrome, ...": static. */
static const char *format_names(void)
{
	static char names[128];
	size_t i, len = 0;

	for (i = 0; i < N_FORMATS; i++)
		len += snprintf(names + len, sizeof(names) - len, "%s%s", i ? ", " : "",
				formats[i]->name);
	return names;
}

static const struct cli_option options[] = {
	{ "format", 'F', "jsonl|chrome|openmetrics|pcapng|folded", "which of these" },
	{ "output", 'o', "FILE", "write it to FILE, which appears, or is replaced, when it is whole" },
	SELECT_OPTIONS,
	{}
};

static const char *option_name(int c)
{
	const struct cli_option *o = options;

	while (o->c != c)
		o++;
	return o->name;
}

static int take(int c, const char *value, void *ctx)
{
	struct request *r = ctx;
	size_t i;

	if (c == 'o') {
		r->file = value;
		return 0;
	}
	if (c != 'F') {
		r->selects = option_name(c);
		return select_take("export", &r->selection, c, value);
	}
	for (i = 0; i < N_FORMATS; i++)
		if (!strcmp(value, formats[i]->name)) {
			r->format = formats[i];
			return 0;
		}
	return usage_error("export", "--format %s: must be one of %s", value, format_names());
}

int cmd_export(int argc, char **argv)
{
	static struct request request;
	static char help[1024];
	struct args args = {
		.command = "export",
		.help = help,
		.json_text = "the same as --format jsonl",
		.options = options,
		.take = take,
		.ctx = &request,
	};
	struct export e = {};
	struct bpfrelay_log *log;
	size_t i, len;
	int status, err;

	len = snprintf(help, sizeof(help), "Writes the records of LOG to standard output, or to FILE, as FORMAT:\n");
	for (i = 0; i < N_FORMATS; i++)
		len += snprintf(help + len, sizeof(help) - len, "  %-12s %s\n", formats[i]->name,
				formats[i]->text);
	status = parse_args(argc, argv, &args);
	if (status >= 0)
		return status;
	if (!request.format && args.json)
		request.format = &export_jsonl;
	if (!request.format)
		return usage_error("export", "--format is missing: one of %s", format_names());
	/* It would change nothing. */
	if (!request.format->record && request.selects)
		return usage_error("export", "--%s selects records, of which %s has none",
				   request.selects, request.format->name);
	e.what = argv[optind];
	if (!request.file)
		allow_interrupts();
	else if (output_to(request.file))
		return CLI_ERROR;
	if (open_for_reading(e.what, &log))
		return CLI_ERROR;
	e.log = log;
	e.info = bpfrelay_log_info(log);
	err = names_open(e.info, &e.names);
	err = err ?: select_from(&request.selection, log, e.what);
	err = err ?: export_log(&e, &request);
	select_end(&request.selection);
	names_close(e.names);
	bpfrelay_log_close(log);
	return err ? CLI_ERROR : CLI_OK;
}
