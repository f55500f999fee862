// SPDX-License-Identifier: GPL-2.0-only
/*
 * libFuzzer: reads a trace with whatever metadata and packets the input has. The first two
 * bytes are the length of the metadata, in bytes; 0: a good one.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpfrelay.h"
#include "../tests/trace_gen.h"

static char dir[] = "/dev/shm/fuzz_trace.XXXXXX";

static void leave(void)
{
	gen_remove(dir);
}

static void use(const struct bpfrelay_record *record)
{
	struct bpfrelay_value value;
	char text[128], path[64];
	char *json;
	__u64 n;
	int i;

	bpfrelay_record_text(record, text, sizeof(text));
	if (bpfrelay_record_json(record, &json) >= 0)
		free(json);
	for (i = 0; i < record->type->n_fields; i++) {
		snprintf(path, sizeof(path), "%s[1]", record->type->fields[i].name);
		if (!bpfrelay_record_find(record, path, &value))
			bpfrelay_value_number(&value, &n);
		path[strlen(path) - 3] = '\0';
		if (!bpfrelay_record_find(record, path, &value))
			bpfrelay_value_string(&value, text, sizeof(text));
	}
}

static void read_trace(unsigned int newest)
{
	LIBBPF_OPTS(bpfrelay_reader_opts, opts, .newest = newest);
	struct bpfrelay_reader *reader;
	const struct bpfrelay_item *item;
	struct bpfrelay_log *log;

	if (bpfrelay_log_open(dir, NULL, &log))
		return;
	if (!bpfrelay_reader_open(log, &opts, &reader)) {
		while (bpfrelay_reader_next(reader, &item) > 0)
			if (item->kind == BPFRELAY_RECORD)
				use(&item->record);
		bpfrelay_reader_close(reader);
	}
	bpfrelay_log_close(log);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool made;
	uint16_t len;

	if (!made) {
		if (!mkdtemp(dir))
			abort();
		atexit(leave);
		made = true;
	}
	if (size < sizeof(len))
		return 0;
	memcpy(&len, data, sizeof(len));
	data += sizeof(len);
	size -= sizeof(len);
	if (len > size)
		len = size;
	if (len)
		gen_write_file(dir, "metadata", data, len);
	else
		gen_write_file(dir, "metadata", gen_metadata(), strlen(gen_metadata()));
	gen_write_file(dir, "cpu0", data + len, size - len);
	read_trace(0);
	read_trace(3);
	return 0;
}
