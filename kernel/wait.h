/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sleeping in poll() on a log's files until there is something newer.
 *
 * A writer looks for sleepers when it enters a sub-buffer, and only if there are any
 * queues an irq_work. What sleepers hang on outlives the log: epoll keeps hold of it
 * for as long as the file is open.
 */
#ifndef _BPF_RELAY_WAIT_H
#define _BPF_RELAY_WAIT_H

#include <linux/poll.h>
#include <linux/types.h>

struct bpf_relay;
struct log_wait;

/* The log's side. log_wait_end() is for when nobody can call log_wake() any more. */
struct log_wait *log_wait_create(void);
void log_wait_end(struct log_wait *wait);

/* Wake whoever sleeps, soon. Any context up to NMI. */
void log_wake(struct log_wait *wait);

/* How often somebody was woken. */
u64 log_wakeups(const struct log_wait *wait);

#define WAITER_ALL_CPUS	(-1)

/* A file's side: what an open file keeps for poll(). */
struct waiter {
	struct log_wait *wait;
	int cpu;	/* or WAITER_ALL_CPUS */
	u64 seen;	/* bytes that could ever be read when its snapshot was taken */
};

/* At open, and when a snapshot is taken again: before it is. */
void waiter_init(struct waiter *w, const struct bpf_relay *log, int cpu);
void waiter_mark(struct waiter *w, const struct bpf_relay *log);

/*
 * EPOLLIN if there is something newer than the snapshot, or some of it is left unread;
 * EPOLLHUP and EPOLLERR if the log is closed.
 */
__poll_t waiter_poll(const struct waiter *w, const struct bpf_relay *log, struct file *file,
		     struct poll_table_struct *table, bool unread);

/* At release; the log may be gone. */
void waiter_exit(struct waiter *w);

#endif /* _BPF_RELAY_WAIT_H */
