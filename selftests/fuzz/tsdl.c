// SPDX-License-Identifier: GPL-2.0-only
/* Any bytes as the text of a type: what the module accepts must stay within its bounds. */
#include "check.h"
#include "tsdl.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	char *text = copy_of(data, len);

	if (tsdl_valid(text, len))
		text_must_hold(text, len);
	free(text);
	return 0;
}
