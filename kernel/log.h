/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One log: its rings, its memory, its life.
 *
 * The element of each possible CPU in a relay map holds one reference on the
 * log: the map owns it. When the first of them is dropped the log is dead, for
 * good; when the last is, its files and then its memory go, unless somebody has
 * that mapped: then it goes with the last mapping. A log is made by the first
 * call that describes it (add_type or open) and written once open.
 */
#ifndef _BPF_RELAY_LOG_H
#define _BPF_RELAY_LOG_H

#include <linux/bpf.h>
#include <linux/bpf_relay.h>
#include <linux/completion.h>
#include <linux/irq_work.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/refcount.h>
#include <linux/workqueue.h>

#include "geometry.h"
#include "records.h"
#include "relay_map.h"
#include "ring.h"
#include "types.h"

struct log_files;
struct log_wait;

/* What the writers of one CPU touch. */
struct log_cpu {
	struct ring ring;
	atomic64_t retries;		/* copies that readers threw away */
	atomic64_t damaged;		/* packets that ended at something odd */
	struct bpf_relay *log;
	struct record_pool pool;
};

enum log_state {
	LOG_NEW,	/* types may be added */
	LOG_OPEN,	/* may be written; nothing but the rings changes any more */
	LOG_DEAD,	/* the map let go of it: -ENODEV for everybody */
};

struct bpf_relay {
	enum log_state state;		/* LOG_OPEN is set with release */
	u32 map_id;			/* 0: only memory is left of it */
	struct log_cpu __percpu *cpu;
	struct relay_types types;
	u8 uuid[16];
	enum bpf_relay_mode mode;
	enum bpf_relay_clock clock;
	struct geometry geometry;
	struct rchan *chan;
	struct log_files *files;
	struct log_wait *wait;
	struct bpf_relay_log_page *page;	/* the first of `mem` */
	refcount_t refs;
	refcount_t memory_refs;		/* one of the log, and one of each mapping */
	u32 first_drop;			/* CPU << 8 | enum bpf_relay_counter; 0: none yet */
	struct irq_work drop_work;
	struct irq_work free_irq;
	struct work_struct files_work;
	struct completion files_made;
	int files_err;			/* final with files_made */
	struct work_struct free_work;
	struct work_struct free_memory_work;
	struct list_head list;		/* under log_mutex */
	char name[BPF_OBJ_NAME_LEN + 12];	/* <map name>.<map id> */
};

int log_init(void);
/* Waits until no log is left; then nothing of the module runs any more. */
void log_exit(void);

/* For bpf_relay_add_type() and bpf_relay_open(), whose contracts they have. */
int log_add_type(struct bpf_map *map, const struct bpf_relay_type *desc);
int log_open(struct bpf_map *map, const struct bpf_relay_opts *opts);

/* Drop a reference that an element held. Any context up to NMI. */
void log_release(struct bpf_relay *log);

/*
 * What readers of `mem` see, for as long as somebody maps it; the log and its files may
 * be gone. May be called with mmap_lock held.
 */
void log_get_memory(struct bpf_relay *log);
void log_put_memory(struct bpf_relay *log);

/* The log of an element if it can be written. RCU or preemption off; any context. */
static inline struct bpf_relay *log_of(const struct log_elem *elem)
{
	struct bpf_relay *log = READ_ONCE(elem->relay);

	/* Pairs with the store-release in log_open(). */
	return log && smp_load_acquire(&log->state) == LOG_OPEN ? log : NULL;
}

/* The log's clock, ns. Any context. */
static inline u64 log_now(const struct bpf_relay *log)
{
	return ring_clock(log);
}

/* What wall clock time is ahead of the log's clock, ns: exactly, until it is set again. */
static inline s64 log_real_offset(const struct bpf_relay *log)
{
	s64 offset = ktime_mono_to_any(0, TK_OFFS_REAL);

	if (log->clock == BPF_RELAY_CLOCK_BOOT)
		offset -= ktime_mono_to_any(0, TK_OFFS_BOOT);
	return offset;
}

/* Say once per log, later and from a safe context, that records are dropped. */
void log_first_drop(struct bpf_relay *log, enum bpf_relay_counter reason);

#endif /* _BPF_RELAY_LOG_H */
