/* SPDX-License-Identifier: GPL-2.0-only */
/* A record that stays open while a test looks at its log. */
#ifndef _HOLD_H
#define _HOLD_H

#include <pthread.h>
#include <stdbool.h>

#include "missing_pages.h"
#include "relay_test.h"

/* A program that sleeps, its record open, until released. */
struct holder {
	pthread_t thread;
	struct relay_log *log;
	const char *prog;
	struct missing_pages missing;
	int ret;
};

static inline void *holder(void *arg)
{
	struct holder *h = arg;

	h->ret = log_run(h->log, h->prog, 0);
	return NULL;
}

/* prog sleeps when it reads where its variable `page` says. */
static inline bool hold(struct holder *h, struct relay_log *log, const char *prog)
{
	h->log = log;
	h->prog = prog;
	h->ret = -1;
	if (!missing_pages_init(&h->missing, 1))
		return false;
	*(__u64 *)log_var(log, ".bss", "page") = missing_page(&h->missing, 0);
	return !pthread_create(&h->thread, NULL, holder, h) &&
	       missing_page_wanted(&h->missing, 60000);
}

static inline bool release(struct holder *h)
{
	if (!missing_page_comes(&h->missing, missing_page(&h->missing, 0)))
		return false;
	pthread_join(h->thread, NULL);
	missing_pages_exit(&h->missing);
	return h->ret == 0;
}

#endif /* _HOLD_H */
