/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Inside the library: lines for people, through the caller's print callback. */
#ifndef __SAY_H__
#define __SAY_H__

#include "bpfrelay.h"

struct say {
	bpfrelay_print_fn print;	/* may be NULL */
	void *ctx;
};

static inline __attribute__((format(printf, 2, 3)))
void say(const struct say *to, const char *fmt, ...)
{
	va_list args;

	if (!to->print)
		return;
	va_start(args, fmt);
	to->print(to->ctx, fmt, args);
	va_end(args);
}

#endif /* __SAY_H__ */
