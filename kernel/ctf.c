// SPDX-License-Identifier: GPL-2.0-only
/*
 * ctf/cpuN: one CPU's packets, oldest to newest, each exactly subbuf_size bytes.
 *
 * An open file is a snapshot. What it will deliver is fixed at open (and again
 * at lseek to 0): which packets, how much of each, with which times. The data is
 * copied when it is read, one sub-buffer at a time, validated, closed and only
 * then handed out. What was overwritten meanwhile is handed out as a packet
 * without records that says how many are missing: offsets never shift.
 */
#include <linux/fs.h>
#include <linux/mutex.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/timekeeping.h>
#include <linux/uaccess.h>

#include "files.h"
#include "log.h"
#include "packet.h"
#include "wait.h"

#define NONE	U32_MAX

/* A packet of the snapshot. */
struct ctf_packet {
	u64 ts;		/* not before any earlier record, not after any later one */
	u64 discarded;	/* calls dropped when it began */
	u32 len;	/* bytes that may be read; 0: none */
	u32 nrec;	/* records in them */
	u32 lost;	/* of these, overwritten before they were read */
};

struct ctf_reader {
	struct list_head list;
	const struct inode *inode;
	struct pid *process;	/* that opened the file; held, so never reused */
	struct mutex lock;
	const struct bpf_relay *log;
	struct log_cpu *cpu;
	struct waiter waiter;
	u64 last_ts;		/* when the newest record was written */
	u64 first;		/* position of packets[0] */
	u32 n;
	u32 staged;		/* the packet that is in buf, or NONE */
	struct packet shape;	/* what packet_compact() said of it */
	void *buf;		/* one sub-buffer */
	struct ctf_packet packets[];	/* n_subbufs, and one for the end */
};

/* All open cpuN files; an inode outlives its log, and so may a reader. */
static LIST_HEAD(readers);
static DEFINE_SPINLOCK(readers_lock);

void ctf_stat(const struct log_file *file, const struct inode *inode, struct kstat *stat)
{
	const struct bpf_relay *log = file->log;
	const struct ring *ring = &per_cpu_ptr(log->cpu, file->cpu)->ring;
	u64 last = ring_read(&ring->ctl->last_ts);
	const struct ctf_reader *r;
	struct ring_window w;

	ring_window(ring, &w);
	stat->size = w.end - w.first;
	/*
	 * tar and rsync ask the file that they have opened, put zeroes in place
	 * of what they then cannot read, and complain of a file that changes. So
	 * whoever has opened it is told of nothing that came since.
	 */
	spin_lock(&readers_lock);
	list_for_each_entry(r, &readers, list)
		if (r->inode == inode && r->process == task_tgid(current)) {
			stat->size = min_t(u64, stat->size,
					   (u64)READ_ONCE(r->n) << ring->subbuf_shift);
			last = min(last, READ_ONCE(r->last_ts));
		}
	spin_unlock(&readers_lock);

	/* rsync and make believe that what has the same size and time is the same. */
	if (last)
		stat->mtime = ns_to_timespec64(last + log_real_offset(log));
}

/* Copy packet i; false if a writer was faster. */
static bool reader_copy(struct ctf_reader *r, u32 i)
{
	const struct ring *ring = &r->cpu->ring;
	u32 size = ring_subbuf_size(ring);

	r->staged = NONE;
	if (!ring_copy(ring, r->first + (u64)i * size, r->buf, r->packets[i].len)) {
		atomic64_inc(&r->cpu->retries);
		return false;
	}
	packet_compact(r->buf, r->packets[i].len, size, r->log->types.packet, &r->shape);
	if (r->shape.damaged)
		atomic64_inc(&r->cpu->damaged);
	r->staged = i;
	return true;
}

/* What can be said of packet i now; len is 0 when it is not there any more. */
static void reader_look(struct ctf_reader *r, const struct ring_window *w, u32 i)
{
	const struct ring *ring = &r->cpu->ring;
	u32 size = ring_subbuf_size(ring);
	u64 start = r->first + (u64)i * size;
	struct ctf_packet *p = &r->packets[i];
	struct bpf_relay_packet header;

	*p = (struct ctf_packet) { .len = ring_readable(ring, w, start) };
	if (!p->len)
		return;
	ring_copy_out(&header, ring_at(ring, start), sizeof(header));
	p->ts = header.timestamp_begin;
	p->discarded = header.events_discarded;
	p->nrec = ring_read(&ring_sub(ring, start)->nrec);
	if (!ring_valid(ring, start)) {
		atomic64_inc(&r->cpu->retries);
		p->len = 0;
		p->nrec = 0;
		return;
	}
	/* The count is that of a complete lap: in an open one, count ourselves. */
	if (p->len < size) {
		if (reader_copy(r, i))
			p->nrec = r->shape.nrec;
		else
			*p = (struct ctf_packet) {};
	}
}

static void reader_snapshot(struct ctf_reader *r)
{
	const struct ring *ring = &r->cpu->ring;
	struct ring_window w;
	struct ctf_packet *p;
	u32 i;

	ring_window(ring, &w);
	r->first = w.first;
	WRITE_ONCE(r->n, (w.end - w.first) >> ring->subbuf_shift);
	r->staged = NONE;
	for (i = 0; i < r->n; i++)
		reader_look(r, &w, i);

	/* Behind all that was found. */
	WRITE_ONCE(r->last_ts, ring_read(&ring->ctl->last_ts));
	r->packets[r->n] = (struct ctf_packet) {
		.ts = r->last_ts,
		.discarded = ring_dropped(ring),
	};
	for (i = r->n; i-- > 0; ) {
		p = &r->packets[i];
		/* Nested writers may have counted in either order. */
		if (!p->len || p->discarded > p[1].discarded)
			p->discarded = p[1].discarded;
		if (!p->len)
			p->ts = p[1].ts;
	}
}

/* Make packet i, closed, in buf. */
static void reader_stage(struct ctf_reader *r, u32 i)
{
	const struct ring *ring = &r->cpu->ring;
	u32 size = ring_subbuf_size(ring);
	struct ctf_packet *p = &r->packets[i];
	struct bpf_relay_packet *header = r->buf;
	u64 lost = 0;
	u32 j;

	if (r->staged != i && (!p->len || p->lost || !reader_copy(r, i))) {
		memset(r->buf, 0, size);
		r->shape = (struct packet) { .content = sizeof(*header) };
		r->staged = i;
	}
	p->lost = p->nrec - r->shape.nrec;
	for (j = 0; j <= i; j++)
		lost += r->packets[j].lost;

	*header = (struct bpf_relay_packet) {
		.magic			= BPF_RELAY_CTF_MAGIC,
		.stream_instance_id	= ring->cpu,
		.timestamp_begin	= p->ts,
		.timestamp_end		= r->shape.nrec ? r->shape.timestamp_end : p->ts,
		.content_size		= (u64)r->shape.content * 8,
		.packet_size		= (u64)size * 8,
		.packet_seq_num		= (r->first >> ring->subbuf_shift) + i,
		.events_discarded	= p[1].discarded + lost,
		.cpu_id			= ring->cpu,
	};
	memcpy(header->uuid, r->log->uuid, sizeof(header->uuid));
}

static int ctf_open(struct inode *inode, struct file *file)
{
	const struct log_file *f = file_open(inode, file);
	struct ctf_reader *r;
	const struct ring *ring;

	if (IS_ERR(f))
		return PTR_ERR(f);
	ring = &per_cpu_ptr(f->log->cpu, f->cpu)->ring;
	r = kvzalloc(struct_size(r, packets, f->log->geometry.n_subbufs + 1),
		     GFP_KERNEL_ACCOUNT);
	if (!r)
		return -ENOMEM;
	r->buf = kvmalloc(ring_subbuf_size(ring), GFP_KERNEL_ACCOUNT);
	if (!r->buf) {
		kvfree(r);
		return -ENOMEM;
	}
	mutex_init(&r->lock);
	r->log = f->log;
	r->cpu = per_cpu_ptr(f->log->cpu, f->cpu);
	waiter_init(&r->waiter, r->log, f->cpu);
	reader_snapshot(r);
	r->inode = inode;
	r->process = get_pid(task_tgid(current));
	spin_lock(&readers_lock);
	list_add(&r->list, &readers);
	spin_unlock(&readers_lock);
	file->private_data = r;
	return 0;
}

static ssize_t ctf_read(struct file *file, char __user *to, size_t count, loff_t *pos)
{
	struct ctf_reader *r = file->private_data;
	u32 size = ring_subbuf_size(&r->cpu->ring);
	ssize_t done = 0;
	int err = 0;

	mutex_lock(&r->lock);
	while (count && *pos >= 0 && *pos < (u64)r->n * size) {
		u32 offset = *pos % size;
		u32 len = min_t(size_t, count, size - offset);

		reader_stage(r, *pos / size);
		if (copy_to_user(to + done, r->buf + offset, len)) {
			err = -EFAULT;
			break;
		}
		*pos += len;
		done += len;
		count -= len;
		if (fatal_signal_pending(current))
			break;
		cond_resched();
	}
	mutex_unlock(&r->lock);
	return done ?: err;
}

static loff_t ctf_llseek(struct file *file, loff_t offset, int whence)
{
	struct ctf_reader *r = file->private_data;
	loff_t pos;

	mutex_lock(&r->lock);
	if (!offset && whence == SEEK_SET) {
		waiter_mark(&r->waiter, r->log);
		reader_snapshot(r);
	}
	pos = fixed_size_llseek(file, offset, whence, (u64)r->n * ring_subbuf_size(&r->cpu->ring));
	mutex_unlock(&r->lock);
	return pos;
}

static __poll_t ctf_poll(struct file *file, struct poll_table_struct *table)
{
	const struct ctf_reader *r = file->private_data;
	u64 size = (u64)READ_ONCE(r->n) * ring_subbuf_size(&r->cpu->ring);

	/* The VFS moves it, unmarked; then there was something to be read. */
	return waiter_poll(&r->waiter, r->log, file, table, data_race(file->f_pos) < size);
}

static int ctf_release(struct inode *inode, struct file *file)
{
	struct ctf_reader *r = file->private_data;

	/* The log may be gone by now: only what is the reader's own. */
	spin_lock(&readers_lock);
	list_del(&r->list);
	spin_unlock(&readers_lock);
	waiter_exit(&r->waiter);
	put_pid(r->process);
	kvfree(r->buf);
	kvfree(r);
	return 0;
}

const struct file_operations ctf_fops = {
	.owner		= THIS_MODULE,
	.open		= ctf_open,
	.read		= ctf_read,
	.llseek		= ctf_llseek,
	.poll		= ctf_poll,
	.release	= ctf_release,
};
