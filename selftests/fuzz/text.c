// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a lexer of TSDL makes of a text that stands between others: it must begin
 * and end outside of every string, comment and brace, and be one event block. With
 * strings, escapes, character constants and comments as C has them, whether the
 * module allows them or not.
 */
#include "check.h"

enum where { CODE, STRING, CHARACTER, COMMENT, LINE_COMMENT };

void text_must_hold(const char *text, size_t len)
{
	static const char keyword[] = "event";
	enum where where = CODE;
	int depth = 0, blocks = 0;
	size_t i;

	must(len >= sizeof(keyword) - 1 && !memcmp(text, keyword, sizeof(keyword) - 1));
	for (i = sizeof(keyword) - 1; i < len; i++) {
		char c = text[i], next = i + 1 < len ? text[i + 1] : ' ';

		must(c == '\t' || c == '\n' || c == '\r' || (c >= 0x20 && c < 0x7f));
		switch (where) {
		case STRING:
		case CHARACTER:
			if (c == '\\')
				i++;
			else if (c == (where == STRING ? '"' : '\''))
				where = CODE;
			must(c != '\n' && c != '\r');
			continue;
		case COMMENT:
			if (c == '*' && next == '/') {
				where = CODE;
				i++;
			}
			continue;
		case LINE_COMMENT:
			if (c == '\n')
				where = CODE;
			continue;
		case CODE:
			break;
		}
		if (c == '"') {
			where = STRING;
		} else if (c == '\'') {
			where = CHARACTER;
		} else if (c == '/' && next == '*') {
			where = COMMENT;
			i++;
		} else if (c == '/' && next == '/') {
			where = LINE_COMMENT;
		} else if (c == '}') {
			depth--;
		}
		must(depth >= 0);
		if (!depth) {
			/* Outside there is nothing but the block and its semicolon. */
			must(strchr(blocks ? "};\t\n\r " : "{\t\n\r ", c));
			blocks += c == '{';
		}
		if (c == '{')
			depth++;
	}
	must(where == CODE && !depth && blocks == 1);
}
