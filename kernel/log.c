// SPDX-License-Identifier: GPL-2.0-only
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpu.h>
#include <linux/debugfs.h>
#include <linux/mutex.h>
#include <linux/printk.h>
#include <linux/rcupdate_trace.h>
#include <linux/relay.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/uuid.h>
#include <linux/vmalloc.h>
#include <linux/wait.h>

#include "compat.h"
#include "files.h"
#include "log.h"
#include "mem.h"
#include "wait.h"

/*
 * Held by add_type and open, which run inside rcu_read_lock_trace(): nobody may
 * wait for that grace period, or for a reader of a file, while holding it.
 */
static DEFINE_MUTEX(log_mutex);

/* How long open waits for debugfs. */
#define LOG_FILES_TIMEOUT	(10 * HZ)

static LIST_HEAD(logs);			/* until their memory is gone */
static DECLARE_WAIT_QUEUE_HEAD(logs_gone);
static struct workqueue_struct *log_wq;

/* ---- relay: the only three functions that know it ------------------------ */

/* Never fails: a failure at CPU online would take away CPU 0's live buffer. */
static struct dentry *relay_create_buf_file(const char *name, struct dentry *parent,
					    umode_t mode, struct rchan_buf *buf, int *is_global)
{
	struct bpf_relay *log = buf->chan->private_data;

	return files_dir(log->files);
}

static int relay_remove_buf_file(struct dentry *dentry)
{
	return 0;
}

/*
 * Called once for each buffer that relay makes, at relay_open() and when a CPU
 * comes up for the first time, before anything runs there.
 */
static int relay_attach_cpu(struct rchan_buf *buf, void *subbuf, void *prev_subbuf)
{
	struct bpf_relay *log = buf->chan->private_data;
	struct ring *ring = &per_cpu_ptr(log->cpu, buf->cpu)->ring;

	if (!ring->data) {
		ring_attach(ring, buf->start);
		mem_attached(log, buf->cpu);
	}
	return 1;
}

static int __maybe_unused relay_attach_cpu_4(struct rchan_buf *buf, void *subbuf,
					     void *prev_subbuf, size_t prev_padding)
{
	return relay_attach_cpu(buf, subbuf, prev_subbuf);
}

static const struct rchan_callbacks relay_callbacks = {
	.subbuf_start		= COMPAT_SUBBUF_START(relay_attach_cpu_4, relay_attach_cpu),
	.create_buf_file	= relay_create_buf_file,
	.remove_buf_file	= relay_remove_buf_file,
};

/* With cpus_read_lock held: a CPU on its way up would stay without a buffer. */
static int log_alloc_buffers(struct bpf_relay *log)
{
	log->chan = relay_open(NULL, NULL, log->geometry.subbuf_size, log->geometry.n_subbufs,
			       &relay_callbacks, log);
	return log->chan ? 0 : -ENOMEM;
}

static void log_free_buffers(struct bpf_relay *log)
{
	if (log->chan)
		relay_close(log->chan);
}

/* ---- The rings ----------------------------------------------------------- */

static void log_free_rings(struct bpf_relay *log)
{
	int cpu;

	for_each_possible_cpu(cpu)
		vfree(per_cpu_ptr(log->cpu, cpu)->ring.ctl);
}

/* Control areas of all possible CPUs: bringing one up must not need memory of ours. */
static int log_alloc_rings(struct bpf_relay *log)
{
	const struct geometry *g = &log->geometry;
	int cpu;

	for_each_possible_cpu(cpu) {
		struct log_cpu *lc = per_cpu_ptr(log->cpu, cpu);
		void *ctl = vzalloc_node(PAGE_ALIGN(ring_ctl_size(g->n_subbufs)),
					 cpu_to_node(cpu));

		if (!ctl)
			return -ENOMEM;
		ring_init(&lc->ring, ctl, cpu, g->subbuf_size, g->n_subbufs, log->mode,
			  log->clock, log->uuid);
		lc->log = log;
	}
	return 0;
}

/* ---- Life ---------------------------------------------------------------- */

/* The second half of a log's end, when nobody maps its memory any more. */
static void log_free_memory_work(struct work_struct *work)
{
	struct bpf_relay *log = container_of(work, struct bpf_relay, free_memory_work);

	log_free_buffers(log);
	log_free_rings(log);
	free_percpu(log->cpu);
	vfree(log->page);
	types_free(&log->types);
	files_free(log->files);

	mutex_lock(&log_mutex);
	if (log->geometry.bytes)
		geometry_uncharge(&log->geometry);
	list_del(&log->list);
	mutex_unlock(&log_mutex);
	kvfree(log);
	/* log_exit() may go on, and unload us, only when this work has returned. */
	wake_up_all(&logs_gone);
}

void log_get_memory(struct bpf_relay *log)
{
	refcount_inc(&log->memory_refs);
}

/* Not at once: relay's mutex is held over debugfs, which may wait for our mmap_lock. */
void log_put_memory(struct bpf_relay *log)
{
	if (refcount_dec_and_test(&log->memory_refs))
		queue_work(log_wq, &log->free_memory_work);
}

/* The first half, when the map has let go of it. */
static void log_free_work(struct work_struct *work)
{
	struct bpf_relay *log = container_of(work, struct bpf_relay, free_work);

	/* May still be on its way out of the handler that brought us here. */
	irq_work_sync(&log->free_irq);

	/* Waits for readers that are inside a read; later ones get -EIO. */
	files_remove(log->files);

	/* Programs that found the log in the map, and stat() in its files. */
	synchronize_rcu_tasks_trace();
	synchronize_rcu();
	/* Queued by such a program: only from here on by nobody any more. */
	irq_work_sync(&log->drop_work);
	log_wait_end(log->wait);

	/* From here on the map may have a new log. */
	mutex_lock(&log_mutex);
	log->map_id = 0;
	mutex_unlock(&log_mutex);
	log_put_memory(log);
}

static void log_free_irq(struct irq_work *work)
{
	struct bpf_relay *log = container_of(work, struct bpf_relay, free_irq);

	queue_work(log_wq, &log->free_work);
}

static void log_put(struct bpf_relay *log)
{
	if (refcount_dec_and_test(&log->refs))
		irq_work_queue(&log->free_irq);
}

void log_release(struct bpf_relay *log)
{
	WRITE_ONCE(log->state, LOG_DEAD);
	WRITE_ONCE(log->page->state, BPF_RELAY_LOG_CLOSED);
	log_wake(log->wait);
	log_put(log);
}

static void log_drop_irq(struct irq_work *work)
{
	static const char * const names[] = {
#define NAME(name) #name,
		BPF_RELAY_COUNTERS(NAME)
#undef NAME
	};
	struct bpf_relay *log = container_of(work, struct bpf_relay, drop_work);
	u32 first = READ_ONCE(log->first_drop);

	pr_info("%s: first dropped record, on CPU %u: %s (see stats)\n", log->name,
		first >> 8, names[first & 0xff]);
}

void log_first_drop(struct bpf_relay *log, enum bpf_relay_counter reason)
{
	if (!READ_ONCE(log->first_drop) &&
	    !cmpxchg(&log->first_drop, 0, smp_processor_id() << 8 | reason))
		irq_work_queue(&log->drop_work);
}

/*
 * debugfs takes the inode lock of bpf_relay/, and whoever lists that directory into
 * memory that faults holds it for as long as he likes. We are inside
 * rcu_read_lock_trace(), on a CPU that we cannot leave, with cpus_read_lock(): let
 * somebody else wait for it, and wait for that with a limit.
 */
static void log_files_work(struct work_struct *work)
{
	struct bpf_relay *log = container_of(work, struct bpf_relay, files_work);

	log->files_err = files_create(log);
	complete(&log->files_made);
	log_put(log);
}

static int log_create_files(struct bpf_relay *log)
{
	refcount_inc(&log->refs);
	queue_work(log_wq, &log->files_work);
	if (!wait_for_completion_timeout(&log->files_made, LOG_FILES_TIMEOUT)) {
		pr_info("%s: somebody holds the directory " KBUILD_MODNAME " in debugfs\n",
			log->name);
		return -EAGAIN;
	}
	return log->files_err;
}

static struct bpf_relay *log_create(const struct bpf_map *map, u32 id)
{
	struct bpf_relay *log = kvzalloc(sizeof(*log), GFP_KERNEL);

	if (!log)
		return NULL;
	log->cpu = alloc_percpu(struct log_cpu);
	if (!log->cpu)
		goto free_log;
	log->page = vzalloc(PAGE_ALIGN(sizeof(*log->page)));
	if (!log->page)
		goto free_cpu;
	log->wait = log_wait_create();
	if (!log->wait)
		goto free_page;
	log->page->state = BPF_RELAY_LOG_OPEN;
	snprintf(log->name, sizeof(log->name), "%s.%u", map->name[0] ? map->name : "map",
		 id);
	log->map_id = id;
	log->state = LOG_NEW;
	types_init(&log->types);
	generate_random_uuid(log->uuid);
	refcount_set(&log->refs, 1);	/* the caller's, while it fills the elements */
	refcount_set(&log->memory_refs, 1);
	init_irq_work(&log->drop_work, log_drop_irq);
	init_irq_work(&log->free_irq, log_free_irq);
	INIT_WORK(&log->files_work, log_files_work);
	init_completion(&log->files_made);
	INIT_WORK(&log->free_work, log_free_work);
	INIT_WORK(&log->free_memory_work, log_free_memory_work);
	list_add(&log->list, &logs);
	return log;

free_page:
	vfree(log->page);
free_cpu:
	free_percpu(log->cpu);
free_log:
	kvfree(log);
	return NULL;
}

/*
 * The map's log with a reference of the caller's, made if there is none. With
 * log_mutex held and inside rcu_read_lock_trace(), which keeps what we find in
 * the elements in memory.
 */
static struct bpf_relay *log_get(struct bpf_map *map)
{
	struct log_elem __percpu *elems;
	/* Of an inner map it goes to 0 when that is taken out of its outer map. */
	u32 id = READ_ONCE(map->id);
	struct bpf_relay *log;
	int cpu;

	if (!relay_map(map) || !id)
		return ERR_PTR(-EINVAL);

	elems = relay_map_elems(map);
	for_each_possible_cpu(cpu) {
		struct bpf_relay **ref = &per_cpu_ptr(elems, cpu)->relay;

		log = READ_ONCE(*ref);
		if (!log)
			continue;
		if (READ_ONCE(log->state) != LOG_DEAD && refcount_inc_not_zero(&log->refs))
			return log;
		/* A part of its elements was dropped: let go of the rest. */
		if (cmpxchg(ref, log, NULL) == log)
			log_release(log);
	}
	list_for_each_entry(log, &logs, list)
		if (log->map_id == id)
			return ERR_PTR(-EAGAIN);

	log = log_create(map, id);
	if (!log)
		return ERR_PTR(-ENOMEM);
	for_each_possible_cpu(cpu) {
		refcount_inc(&log->refs);
		if (cmpxchg(&per_cpu_ptr(elems, cpu)->relay, NULL, log))
			log_put(log);
	}
	return log;
}

int log_add_type(struct bpf_map *map, const struct bpf_relay_type *desc)
{
	struct relay_type *type = type_copy(desc);
	struct bpf_relay *log;
	int err;

	if (IS_ERR(type))
		return PTR_ERR(type);

	mutex_lock(&log_mutex);
	log = log_get(map);
	err = PTR_ERR_OR_ZERO(log);
	if (!err) {
		enum log_state state = READ_ONCE(log->state);

		err = state == LOG_DEAD ? -EAGAIN :
		      types_add(&log->types, type, log->name, state != LOG_NEW);
		log_put(log);
	}
	mutex_unlock(&log_mutex);

	if (err)
		type_free(type);
	return err;
}

/* The log is open already: does the caller want the one that it gets? */
static int log_compare(const struct bpf_relay *log, const struct bpf_relay_opts *opts)
{
	const struct geometry *g = &log->geometry;

	if (opts->n_types == log->types.n && opts->mode == log->mode &&
	    opts->clock == log->clock &&
	    (!opts->subbuf_size || opts->subbuf_size == g->subbuf_size) &&
	    (!opts->n_subbufs || opts->n_subbufs == g->n_subbufs))
		return -EALREADY;
	pr_info("%s: is open with %u types, mode %u, clock %u, %u x %u bytes, not %u types, mode %u, clock %u, %u x %u bytes\n",
		log->name, log->types.n, log->mode, log->clock, g->n_subbufs, g->subbuf_size,
		opts->n_types, opts->mode, opts->clock, opts->n_subbufs, opts->subbuf_size);
	return -ESTALE;
}

static void log_say_open(const struct bpf_relay *log)
{
	const struct geometry *g = &log->geometry;
	u64 buffers = (u64)g->subbuf_size * g->n_subbufs * num_online_cpus();
	bool mib = buffers && !(buffers % SZ_1M);

	pr_info("%s: %u x %u KiB x %u CPUs = %llu %s\n", log->name, g->n_subbufs,
		g->subbuf_size / SZ_1K, num_online_cpus(), buffers / (mib ? SZ_1M : SZ_1K),
		mib ? "MiB" : "KiB");
}

/* What can be refused before anything is made: the log stays as it is. */
static int log_check(struct bpf_relay *log, const struct bpf_relay_opts *opts,
		     struct geometry *geometry)
{
	if (opts->n_types != log->types.n) {
		pr_info("%s: has %u types, opened for %u\n", log->name, log->types.n,
			opts->n_types);
		return -EINVAL;
	}
	return geometry_resolve(geometry, opts, types_largest(&log->types), log->name);
}

/* A new log gets its memory and its files. With cpus_read_lock held. */
static int log_set_up(struct bpf_relay *log, const struct bpf_relay_opts *opts,
		      const struct geometry *geometry)
{
	int err;

	log->geometry = *geometry;
	geometry_charge(geometry);
	log->mode = opts->mode;
	log->clock = opts->clock;
	mem_describe(log);

	err = log_alloc_rings(log);
	err = err ?: log_create_files(log);
	err = err ?: log_alloc_buffers(log);
	/* Pairs with log_of(). A log that died meanwhile stays dead. */
	if (!err && cmpxchg_release(&log->state, LOG_NEW, LOG_OPEN) != LOG_NEW)
		err = -ENODEV;
	return err;
}

/*
 * Half made: let go of it, on behalf of the map. What there is of it goes the way
 * of any log, since waiting for whoever looked into its files is not for us.
 */
static void log_abandon(struct bpf_relay *log, struct log_elem __percpu *elems)
{
	int cpu;

	for_each_possible_cpu(cpu)
		if (cmpxchg(&per_cpu_ptr(elems, cpu)->relay, log, NULL) == log)
			log_release(log);
}

int log_open(struct bpf_map *map, const struct bpf_relay_opts *opts)
{
	struct geometry geometry;
	struct bpf_relay *log;
	int err;

	if (!files_supported()) {
		pr_info("debugfs is off (boot parameter debugfs=): logs cannot be opened\n");
		return -EOPNOTSUPP;
	}
	if (opts->mode > BPF_RELAY_KEEP || opts->clock > BPF_RELAY_CLOCK_MONO)
		return -EINVAL;

	/*
	 * Never wait for CPU hotplug: it waits for us, since BPF programs cannot
	 * leave their CPU.
	 */
	if (!cpus_read_trylock())
		return -EAGAIN;
	mutex_lock(&log_mutex);
	log = log_get(map);
	err = PTR_ERR_OR_ZERO(log);
	if (err)
		goto unlock;
	switch (READ_ONCE(log->state)) {
	case LOG_NEW:
		err = log_check(log, opts, &geometry);
		if (err)
			break;
		err = log_set_up(log, opts, &geometry);
		if (err)
			log_abandon(log, relay_map_elems(map));
		else
			log_say_open(log);
		break;
	case LOG_OPEN:
		err = log_compare(log, opts);
		break;
	case LOG_DEAD:
		err = -ENODEV;
		break;
	}
	log_put(log);
unlock:
	mutex_unlock(&log_mutex);
	cpus_read_unlock();
	return err;
}

int log_init(void)
{
	log_wq = alloc_workqueue("bpf_relay", WQ_UNBOUND, 0);
	return log_wq ? 0 : -ENOMEM;
}

void log_exit(void)
{
	/*
	 * The kernel lets us go when no map and no program needs us any more;
	 * logs that such a map has just dropped may still be on their way out.
	 */
	wait_event(logs_gone, list_empty_careful(&logs));
	destroy_workqueue(log_wq);
}
