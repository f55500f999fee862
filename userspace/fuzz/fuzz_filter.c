// SPDX-License-Identifier: GPL-2.0-only
/* libFuzzer: the input is a filter, of records of every kind of field. */
#include <stdint.h>
#include <stdlib.h>

#include "../tests/filter_log.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bpfrelay_filter *filter;
	static struct bpfrelay_log log;
	char *text = malloc(size + 1);
	size_t i;

	if (!text)
		abort();
	memcpy(text, data, size);
	text[size] = '\0';
	filter_log_init(&log, NULL);
	if (!bpfrelay_filter_new(&log, text, &filter)) {
		for (i = 0; i < sizeof(records) / sizeof(records[0]); i++)
			bpfrelay_filter_match(filter, &records[i]);
		bpfrelay_filter_free(filter);
	}
	free(text);
	return 0;
}
