// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE	/* vasprintf() */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "json.h"

bool json_pretty;

void json_print(struct json_object *object)
{
	int flags = JSON_C_TO_STRING_NOSLASHESCAPE;

	flags |= json_pretty ? JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED :
			       JSON_C_TO_STRING_PLAIN;
	puts(json_object_to_json_string_ext(object, flags));
	json_object_put(object);
}

void json_printf(const char *fmt, ...)
{
	char *text = NULL;
	va_list args;

	va_start(args, fmt);
	if (!json_pretty)
		vprintf(fmt, args);
	else if (vasprintf(&text, fmt, args) >= 0)
		json_print(json_tokener_parse(text));
	va_end(args);
	free(text);
}
