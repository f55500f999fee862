// SPDX-License-Identifier: GPL-2.0-only
#include <linux/cpumask.h>
#include <linux/irq_work.h>
#include <linux/kref.h>
#include <linux/slab.h>
#include <linux/wait.h>

#include "log.h"
#include "wait.h"

struct log_wait {
	struct kref kref;	/* the log's, and one of each open file */
	wait_queue_head_t queue;
	struct irq_work wake;
	atomic64_t wakeups;
};

/* ---- The log ------------------------------------------------------------- */

static void log_wake_irq(struct irq_work *work)
{
	struct log_wait *wait = container_of(work, struct log_wait, wake);

	atomic64_inc(&wait->wakeups);
	wake_up_all(&wait->queue);
}

struct log_wait *log_wait_create(void)
{
	struct log_wait *wait = kzalloc(sizeof(*wait), GFP_KERNEL);

	if (!wait)
		return NULL;
	kref_init(&wait->kref);
	init_waitqueue_head(&wait->queue);
	init_irq_work(&wait->wake, log_wake_irq);
	return wait;
}

static void log_wait_free(struct kref *kref)
{
	kfree(container_of(kref, struct log_wait, kref));
}

void log_wait_end(struct log_wait *wait)
{
	irq_work_sync(&wait->wake);
	kref_put(&wait->kref, log_wait_free);
}

void log_wake(struct log_wait *wait)
{
	/*
	 * A full barrier, then a look. Pairs with waiter_poll(), which queues itself and
	 * then looks: what was stored before this is seen there, or the sleeper here.
	 */
	if (wq_has_sleeper(&wait->queue))
		irq_work_queue(&wait->wake);
}

void ring_switched(struct ring *ring)
{
	log_wake(container_of(ring, struct log_cpu, ring)->log->wait);
}

u64 log_wakeups(const struct log_wait *wait)
{
	return atomic64_read(&wait->wakeups);
}

/* ---- A file -------------------------------------------------------------- */

/* Bytes that could be read, ever. */
static u64 ring_progress(const struct ring *ring)
{
	struct ring_window w;
	u64 start, bytes;

	ring_window(ring, &w);
	bytes = w.published;
	/* Beyond an open record, which keeps `published` where it is. */
	for (start = ring_round_up(ring, w.published); start < w.end;
	     start += ring_subbuf_size(ring))
		bytes += ring_readable(ring, &w, start);
	return bytes;
}

static u64 waiter_progress(const struct waiter *w, const struct bpf_relay *log)
{
	u64 bytes = 0;
	int cpu;

	if (w->cpu != WAITER_ALL_CPUS)
		return ring_progress(&per_cpu_ptr(log->cpu, w->cpu)->ring);
	for_each_possible_cpu(cpu)
		bytes += ring_progress(&per_cpu_ptr(log->cpu, cpu)->ring);
	return bytes;
}

void waiter_mark(struct waiter *w, const struct bpf_relay *log)
{
	WRITE_ONCE(w->seen, waiter_progress(w, log));
}

void waiter_init(struct waiter *w, const struct bpf_relay *log, int cpu)
{
	kref_get(&log->wait->kref);
	w->wait = log->wait;
	w->cpu = cpu;
	waiter_mark(w, log);
}

__poll_t waiter_poll(const struct waiter *w, const struct bpf_relay *log, struct file *file,
		     struct poll_table_struct *table, bool unread)
{
	poll_wait(file, &w->wait->queue, table);
	/* Pairs with log_wake(). */
	smp_mb();
	if (READ_ONCE(log->state) == LOG_DEAD)
		return EPOLLHUP | EPOLLERR;
	if (unread || waiter_progress(w, log) != READ_ONCE(w->seen))
		return EPOLLIN | EPOLLRDNORM;
	return 0;
}

void waiter_exit(struct waiter *w)
{
	kref_put(&w->wait->kref, log_wait_free);
}
