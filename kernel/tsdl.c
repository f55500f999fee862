// SPDX-License-Identifier: GPL-2.0-only
#include "tsdl.h"

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

bool tsdl_valid(const char *s, u32 len)
{
	static const char keyword[] = "event";
	u32 i = sizeof(keyword) - 1;
	bool closed = false, string = false;
	u32 comment = 0;	/* where its text begins */
	int depth = 0;

	if (len < i || memcmp(s, keyword, i))
		return false;
	for (; i < len; i++) {
		char c = s[i];

		if (!is_blank(c) && (c < ' ' || c > '~'))
			return false;
		/* No escapes and no character constants: then a quote is a quote. */
		if (c == '\\' || c == '\'')
			return false;
		if (comment) {
			if (i > comment && s[i - 1] == '*' && c == '/')
				comment = 0;
			continue;
		}
		if (string) {
			if (c == '\n' || c == '\r')
				return false;
			string = c != '"';
			continue;
		}
		if (!depth && !is_blank(c) && c != (closed ? ';' : '{'))
			return false;
		switch (c) {
		case '"':
			string = true;
			break;
		case '/':
			if (i + 1 < len && s[i + 1] == '/')
				return false;
			if (i + 1 < len && s[i + 1] == '*')
				comment = i + 2;
			break;
		case '{':
			depth++;
			break;
		case '}':
			closed = !--depth;
			break;
		}
	}
	return closed;
}
