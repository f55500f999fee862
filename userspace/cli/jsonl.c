// SPDX-License-Identifier: GPL-2.0-only
/* Records and losses as JSON lines: of cat -j, and of export. */
#include <stdio.h>
#include <stdlib.h>

#include "cli.h"
#include "export.h"
#include "json.h"
#include "jsonl.h"

const char *loss_reason(enum bpfrelay_loss reason)
{
	switch (reason) {
	case BPFRELAY_OVERWRITTEN:
		return "overwritten";
	case BPFRELAY_DROPPED:
		return "dropped";
	default:
		return "damaged";
	}
}

int jsonl_record(const struct bpfrelay_log_info *info, enum when_format format,
		 const struct bpfrelay_record *record)
{
	char when[WHEN_SIZE], *fields;

	if (bpfrelay_record_json(record, &fields) < 0)
		return error("out of memory");
	format_when(when, sizeof(when), format, info, record->ts);
	/* Of a type's name the library has seen to it that it needs no escapes. */
	json_printf("{\"time\":\"%s\",\"ts\":%llu,\"cpu\":%u,\"type\":\"%s\",\"fields\":%s}\n",
		    when, record->ts, record->cpu, record->type->name, fields);
	free(fields);
	return 0;
}

void jsonl_loss(const struct bpfrelay_log_info *info, enum when_format format,
		const struct bpfrelay_item *item)
{
	char when[WHEN_SIZE], lost[24];

	format_when(when, sizeof(when), format, info, item->record.ts);
	snprintf(lost, sizeof(lost), item->lost ? "%llu" : "null", item->lost);
	json_printf("{\"time\":\"%s\",\"ts\":%llu,\"cpu\":%u,\"lost\":%s,\"reason\":\"%s\"}\n",
		    when, item->record.ts, item->record.cpu, lost, loss_reason(item->reason));
}

/* ---- export --format jsonl -------------------------------------------------------- */

static int put_record(struct export *e, const struct bpfrelay_record *record)
{
	return jsonl_record(e->info, WHEN_LOCAL, record);
}

static int put_loss(struct export *e, const struct bpfrelay_item *item)
{
	jsonl_loss(e->info, WHEN_LOCAL, item);
	return 0;
}

const struct export_format export_jsonl = {
	.name = "jsonl",
	.text = "an object for each record, a line each, as cat -j has them",
	.record = put_record,
	.lost = put_loss,
};
