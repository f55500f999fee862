/* SPDX-License-Identifier: GPL-2.0-only */
/* Programs asleep: each reads a page of user memory that is not there. */
#ifndef _SLEEPERS_H
#define _SLEEPERS_H

#include <pthread.h>
#include <stdatomic.h>

#include "abuse.h"
#include "missing_pages.h"

#define SLEEPERS_MAX	BPF_RELAY_OPEN_MAX	/* on one CPU each holds a record */

struct sleeper {
	struct relay_log *log;
	const char *prog;
	void *ctx;		/* the caller's; stays until it is woken */
	size_t ctx_size;
	__u64 addr;		/* of its page: the program reads 8 bytes there */
	pthread_t thread;
	int cpu;
	int ret;
	atomic_bool ended;
	bool asleep;
};

struct sleepers {
	struct sleeper sleeper[SLEEPERS_MAX];
	struct missing_pages missing;
};

static inline bool sleepers_init(struct sleepers *s)
{
	int i;

	memset(s, 0, sizeof(*s));
	if (!missing_pages_init(&s->missing, SLEEPERS_MAX))
		return false;
	for (i = 0; i < SLEEPERS_MAX; i++)
		s->sleeper[i].addr = missing_page(&s->missing, i);
	return true;
}

static inline void sleepers_exit(struct sleepers *s)
{
	missing_pages_exit(&s->missing);
}

static inline void *sleeper_thread(void *arg)
{
	struct sleeper *z = arg;

	run_on(z->cpu);
	z->ret = run_ctx(z->log, z->prog, z->ctx, z->ctx_size);
	atomic_store(&z->ended, true);
	return NULL;
}

/*
 * Run number i's program on a CPU: true once it sleeps, false if it ended before (its
 * return value is in `ret`).
 */
static inline bool sleepers_start(struct sleepers *s, int i, struct relay_log *log,
				  const char *prog, int cpu, void *ctx, size_t ctx_size)
{
	struct sleeper *z = &s->sleeper[i];
	__u64 wanted;

	z->log = log;
	z->prog = prog;
	z->cpu = cpu;
	z->ctx = ctx;
	z->ctx_size = ctx_size;
	atomic_store(&z->ended, false);
	if (pthread_create(&z->thread, NULL, sleeper_thread, z))
		return false;
	while (!(wanted = missing_page_wanted(&s->missing, 1)) && !atomic_load(&z->ended))
		;
	z->asleep = wanted == z->addr;
	if (!z->asleep)
		pthread_join(z->thread, NULL);
	return z->asleep;
}

/* Let it go on, and wait for its end: what its program returned. */
static inline int sleepers_wake(struct sleepers *s, int i)
{
	struct sleeper *z = &s->sleeper[i];

	if (!missing_page_comes(&s->missing, z->addr) || pthread_join(z->thread, NULL))
		return -1;
	z->asleep = false;
	/* Missing again, for the next one. */
	missing_page_goes(&s->missing, z->addr);
	return z->ret;
}

#endif /* _SLEEPERS_H */
