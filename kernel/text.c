// SPDX-License-Identifier: GPL-2.0-only
/*
 * text: the records of all CPUs in the order of time, a line each, for people.
 * Documentation/format.rst has the syntax.
 *
 * An open file is a snapshot, as in ctf.c: what it will show is fixed at open (and
 * again at lseek to 0). Of each CPU it keeps no more than where it is, the header
 * of the next record there, and which sub-buffers beyond `published` it may read.
 * Everything else is copied out of the rings when its turn comes, a header or a
 * payload at a time, and believed only if it was not overtaken meanwhile. What was
 * overtaken is counted: what the snapshot held, less what was shown.
 */
#include <linux/bitmap.h>
#include <linux/cpumask.h>
#include <linux/fs.h>
#include <linux/kallsyms.h>
#include <linux/mutex.h>
#include <linux/rbtree.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/time64.h>
#include <linux/timekeeping.h>
#include <linux/uaccess.h>

#include "files.h"
#include "log.h"
#include "render.h"
#include "wait.h"

#define NEVER	U64_MAX
/* How far lseek() may go back. */
#define HISTORY	SZ_8K
/* Room for what render_loss() writes of one CPU. */
#define SHORT_LINES	256

/* One CPU of a snapshot. */
struct text_cpu {
	struct rb_node node;	/* in text_reader.order while there is a next record */
	struct log_cpu *cpu;
	u64 first;		/* position of the snapshot's oldest sub-buffer ... */
	u64 end;		/* ... and where its newest one ends */
	u64 published;
	u64 start;		/* the sub-buffer that is being read */
	u64 pos;		/* the next record */
	struct bpf_relay_header next;	/* its header */
	u64 total;		/* records of the snapshot */
	u64 shown;		/* of these, so far */
	u64 shown_before;	/* of these, before this sub-buffer */
	u64 damaged;		/* of these, behind something that is no record */
	u64 begin_ts;		/* every record from then ... */
	u64 end_ts;		/* ... until then is in the snapshot; 0: none is */
	unsigned long whole[];	/* bit n: all of the sub-buffer n behind first */
};

struct text_reader {
	struct mutex lock;
	const struct bpf_relay *log;
	struct waiter waiter;
	struct rb_root_cached order;	/* of text_cpu, by the time of the next record */
	s64 real_offset;	/* from the log's clock to real time */
	struct bpf_relay_header header;	/* of the record whose line is being written ... */
	u32 cpu;		/* ... and its CPU */
	bool line_goes_on;	/* text[] ends inside the line, ... */
	u64 line_done;		/* ... behind so many bytes of it; else 0 */
	u32 loss_cpu;		/* behind the records: the next one to be reported on */
	loff_t text_pos;	/* where text[] is in the file ... */
	u32 text_len;		/* ... and how much there is */
	char text[HISTORY + SZ_4K];
	u8 payload[SZ_16K];
	struct text_cpu *cpus[];	/* nr_cpu_ids; NULL: had no buffer */
};

/* What an open file may take: 64 KiB, and 1 KiB for each possible CPU. */
static_assert(sizeof(struct text_reader) <= SZ_64K);
static_assert(sizeof(struct text_cpu) + BPF_RELAY_N_SUBBUFS_MAX / BITS_PER_BYTE +
	      sizeof(struct text_cpu *) <= SZ_1K);

/* ---- One CPU ----------------------------------------------------------------- */

static const struct ring *text_ring(const struct text_cpu *c)
{
	return &c->cpu->ring;
}

enum found { RECORD_FOUND, RECORD_NONE, RECORD_DAMAGED };

/*
 * Move *pos to the next committed record before `stop`, none of which is older than
 * ts. Neither what it finds nor that it finds nothing is good before ring_valid().
 */
static enum found find_record(const struct ring *ring, const struct relay_types *types,
			      u64 *pos, u64 stop, u64 ts, struct bpf_relay_header *h)
{
	for (; *pos + sizeof(*h) <= stop; *pos += BPF_RELAY_RECORD_SIZE(h->len)) {
		ring_copy_out(h, ring_at(ring, *pos), sizeof(*h));
		if (!h->state)
			break;
		if (BPF_RELAY_RECORD_SIZE(h->len) > stop - *pos || h->ts < ts ||
		    types_check(types, h->id, h->len))
			return RECORD_DAMAGED;
		if (h->state == BPF_RELAY_COMMITTED)
			return RECORD_FOUND;
		if (h->state != BPF_RELAY_DISCARDED)
			return RECORD_DAMAGED;
	}
	return RECORD_NONE;
}

/* How many records there are in a sub-buffer up to `stop`, and how old the last is. */
static u64 count_records(const struct ring *ring, const struct relay_types *types, u64 start,
			 u64 stop, u64 *ts)
{
	u64 pos = start + sizeof(struct bpf_relay_packet), n = 0;
	struct bpf_relay_header h;

	for (; find_record(ring, types, &pos, stop, *ts, &h) == RECORD_FOUND; n++) {
		*ts = h.ts;
		pos += BPF_RELAY_RECORD_SIZE(h.len);
	}
	return n;
}

static void cpu_enter(struct text_cpu *c, u64 start)
{
	c->start = start;
	c->pos = start + sizeof(struct bpf_relay_packet);
	c->shown_before = c->shown;
}

/* Where what may be read of the current sub-buffer ends. */
static u64 cpu_stop(const struct text_cpu *c)
{
	const struct ring *ring = text_ring(c);

	if (test_bit((c->start - c->first) >> ring->subbuf_shift, c->whole))
		return c->start + ring_subbuf_size(ring);
	return max(c->start, c->published);
}

static void cpu_snapshot(struct text_cpu *c, const struct relay_types *types)
{
	const struct ring *ring = text_ring(c);
	u32 size = ring_subbuf_size(ring);
	struct bpf_relay_packet packet;
	struct ring_window w;
	u64 start, nrec = 0, ts;
	bool newest;

	ring_window(ring, &w);
	*c = (struct text_cpu) {
		.cpu = c->cpu,
		.first = w.first,
		.end = w.end,
		.published = w.published,
	};
	RB_CLEAR_NODE(&c->node);
	bitmap_zero(c->whole, ring->ctl->n_subbufs);
	cpu_enter(c, w.first);

	for (start = w.first; start < w.end; start += size) {
		u32 len = ring_readable(ring, &w, start);

		if (!len)
			continue;
		if (len == size)
			__set_bit((start - w.first) >> ring->subbuf_shift, c->whole);
		ring_copy_out(&packet, ring_at(ring, start), sizeof(packet));
		ts = packet.timestamp_begin;
		newest = w.published - 1 - start < size;
		if (newest)
			nrec = count_records(ring, types, start, start + len, &ts);
		/* The count in the control area is that of a complete lap. */
		if (len == size)
			nrec = ring_read(&ring_sub(ring, start)->nrec);
		if (!ring_valid(ring, start)) {
			/* Overtaken already: it, and all before it, never were in the snapshot. */
			atomic64_inc(&c->cpu->retries);
			c->total = 0;
			c->begin_ts = 0;
			cpu_enter(c, start + size);
			continue;
		}
		c->total += nrec;
		if (!c->begin_ts)
			c->begin_ts = packet.timestamp_begin;
		if (newest)
			c->end_ts = ts;
	}
}

/* A writer was faster: on to the oldest that is left. */
static void cpu_overtaken(struct text_cpu *c)
{
	const struct ring *ring = text_ring(c);
	struct ring_window w;

	atomic64_inc(&c->cpu->retries);
	ring_window(ring, &w);
	cpu_enter(c, max(w.first, c->start + ring_subbuf_size(ring)));
}

/* What is behind something that is no record cannot be found. */
static void cpu_damaged(struct text_cpu *c)
{
	const struct ring *ring = text_ring(c);
	u64 nrec = ring_read(&ring_sub(ring, c->start)->nrec);

	atomic64_inc(&c->cpu->damaged);
	/* Of a sub-buffer that was not complete only those found before it were counted. */
	if (cpu_stop(c) == c->start + ring_subbuf_size(ring) && ring_valid(ring, c->start))
		c->damaged += nrec - (c->shown - c->shown_before);
}

/* Find the next record of the snapshot; false: there is none. */
static bool cpu_next(struct text_cpu *c, const struct relay_types *types)
{
	const struct ring *ring = text_ring(c);
	u64 ts = c->next.ts;

	while (c->start < c->end) {
		enum found found = find_record(ring, types, &c->pos, cpu_stop(c), ts, &c->next);

		if (!ring_valid(ring, c->start)) {
			cpu_overtaken(c);
			continue;
		}
		if (found == RECORD_FOUND)
			return true;
		if (found == RECORD_DAMAGED)
			cpu_damaged(c);
		cpu_enter(c, c->start + ring_subbuf_size(ring));
		cond_resched();
	}
	return false;
}

/* ---- All of them, merged ------------------------------------------------------ */

static bool text_cpu_less(struct rb_node *a, const struct rb_node *b)
{
	const struct text_cpu *ca = rb_entry(a, struct text_cpu, node);
	const struct text_cpu *cb = rb_entry(b, struct text_cpu, node);

	if (ca->next.ts != cb->next.ts)
		return ca->next.ts < cb->next.ts;
	return text_ring(ca)->cpu < text_ring(cb)->cpu;
}

static void reader_queue(struct text_reader *r, struct text_cpu *c)
{
	if (cpu_next(c, &r->log->types))
		rb_add_cached(&c->node, &r->order, text_cpu_less);
}

/* Take the next record of the snapshot out of its ring; false: there is none. */
static bool reader_next(struct text_reader *r)
{
	struct rb_node *node;

	while ((node = rb_first_cached(&r->order))) {
		struct text_cpu *c = rb_entry(node, struct text_cpu, node);
		const struct ring *ring = text_ring(c);
		bool taken;

		rb_erase_cached(node, &r->order);
		r->header = c->next;
		r->cpu = ring->cpu;
		ring_copy_out(r->payload, ring_at(ring, c->pos + sizeof(r->header)),
			      min(r->header.len, sizeof(r->payload)));
		taken = ring_valid(ring, c->start);
		if (taken) {
			c->shown++;
			c->pos += BPF_RELAY_RECORD_SIZE(r->header.len);
		} else {
			cpu_overtaken(c);
		}
		reader_queue(r, c);
		if (taken)
			return true;
	}
	return false;
}

/* ---- Text --------------------------------------------------------------------- */

void render_symbol(const struct render *r, char to[RENDER_SYMBOL_MAX], u64 addr)
{
	char *space;

	static_assert(KSYM_SYMBOL_LEN <= RENDER_SYMBOL_MAX);
	sprint_symbol(to, addr);
	/* Before the name of a module. */
	space = strchr(to, ' ');
	if (space)
		memmove(space, space + 1, strlen(space));
}

void render_ipv6(char to[RENDER_IPV6_MAX], const u8 *addr)
{
	snprintf(to, RENDER_IPV6_MAX, "%pI6c", addr);
}

static void render_time(struct render *out, const struct text_reader *r, u64 ts)
{
	s64 real = ts + r->real_offset;
	s32 ns;
	time64_t seconds = div_s64_rem(real, NSEC_PER_SEC, &ns);
	struct tm tm;

	time64_to_tm(seconds, 0, &tm);
	render_printf(out, "%04ld-%02d-%02dT%02d:%02d:%02d.%09dZ", tm.tm_year + 1900,
		      tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec, ns);
}

static void render_line(struct render *out, const struct text_reader *r)
{
	const struct relay_type *type = r->log->types.type[r->header.id];
	struct render_record rec = {
		.payload = r->payload,
		.have = min(r->header.len, sizeof(r->payload)),
		.len = r->header.len,
	};

	if (type && type->fields) {
		rec.fields = type->fields;
		rec.n_fields = type->desc.fields_len / sizeof(*type->fields);
	}
	render_time(out, r, r->header.ts);
	render_printf(out, " cpu%u %s ", r->cpu, type ? type->desc.name : "raw");
	render_record(out, &rec);
	render_bytes(out, "\n", 1);
}

/*
 * The times of which nothing is missing: from the latest beginning to the earliest
 * end over the CPUs that have overwritten.
 */
static void render_complete(struct render *out, const struct text_reader *r)
{
	u64 begin = 0, end = NEVER;
	u32 cpu;

	for (cpu = 0; cpu < nr_cpu_ids; cpu++) {
		const struct text_cpu *c = r->cpus[cpu];

		if (!c || !c->start)
			continue;
		begin = max(begin, c->begin_ts ?: NEVER);
		end = min(end, c->end_ts);
	}
	render_printf(out, "# complete: ");
	if (!begin) {
		render_printf(out, "everything since the log was opened\n");
	} else if (begin > end) {
		render_printf(out, "at no time\n");
	} else {
		render_printf(out, "from ");
		render_time(out, r, begin);
		render_printf(out, " to ");
		render_time(out, r, end);
		render_printf(out, "\n");
	}
}

static void render_drops(struct render *out, const struct bpf_relay_counters *c)
{
	static const char * const names[] = {
#define NAME(name) #name,
		BPF_RELAY_COUNTERS(NAME)
#undef NAME
	};
	const u64 *counter = (const u64 *)c;
	u64 sum = 0;
	int i;

	for (i = BPF_RELAY_FIRST_DROP; i < BPF_RELAY_NR_COUNTERS; i++)
		sum += counter[i];
	render_printf(out, " dropped=%llu", sum);
	for (i = BPF_RELAY_FIRST_DROP; i < BPF_RELAY_NR_COUNTERS; i++)
		if (counter[i])
			render_printf(out, " %s=%llu", names[i], counter[i]);
}

static void render_head(struct render *out, const struct text_reader *r)
{
	struct bpf_relay_counters sum = {};
	u64 records = 0, damaged = 0, retries = 0;
	u32 cpu, n = 0;

	for_each_possible_cpu(cpu) {
		const struct log_cpu *lc = per_cpu_ptr(r->log->cpu, cpu);
		const u64 *counter = (const u64 *)&lc->ring.ctl->counters;
		int i;

		for (i = 0; i < BPF_RELAY_NR_COUNTERS; i++)
			((u64 *)&sum)[i] += READ_ONCE(counter[i]);
		damaged += atomic64_read(&lc->damaged);
		retries += atomic64_read(&lc->retries);
		if (r->cpus[cpu]) {
			records += r->cpus[cpu]->total;
			n++;
		}
	}
	render_printf(out, "# bpf_relay log=%s cpus=%u\n", r->log->name, n);
	render_complete(out, r);
	render_printf(out, "# records=%llu overwritten=%llu discarded=%llu", records,
		      sum.overwritten, sum.discarded);
	render_drops(out, &sum);
	render_printf(out, " damaged=%llu retries=%llu\n", damaged, retries);
}

/* Of one CPU behind the records; nothing if nothing was lost. */
static void render_loss(struct render *out, u32 cpu, const struct text_cpu *c)
{
	u64 overwritten = c->total - c->shown - c->damaged;

	if (overwritten)
		render_printf(out, "# cpu %u: %llu records overwritten while reading\n", cpu,
			      overwritten);
	if (c->damaged)
		render_printf(out, "# cpu %u: %llu records behind damage\n", cpu, c->damaged);
}

/* ---- The file ------------------------------------------------------------------- */

/* Put more text behind that in text[]; false: there is none. */
static bool reader_fill(struct text_reader *r)
{
	struct render out;
	u32 cpu, n;

	if (r->text_len > sizeof(r->text) - SHORT_LINES) {
		n = r->text_len - HISTORY;
		memmove(r->text, r->text + n, HISTORY);
		r->text_pos += n;
		r->text_len = HISTORY;
	}
	out = (struct render) {
		.to = r->text + r->text_len,
		.room = sizeof(r->text) - r->text_len,
		.skip = r->line_done,
	};
	if (r->line_goes_on || reader_next(r)) {
		render_line(&out, r);
		if (out.len <= out.skip) {
			/* A module went, and the names of its symbols: at least end the line. */
			out.len = out.skip;
			render_bytes(&out, "\n", 1);
		}
	}
	while (!out.len && r->loss_cpu < nr_cpu_ids) {
		cpu = r->loss_cpu++;
		if (r->cpus[cpu])
			render_loss(&out, cpu, r->cpus[cpu]);
	}
	n = min(out.len - out.skip, out.room);
	r->line_goes_on = render_full(&out);
	r->line_done = r->line_goes_on ? out.skip + n : 0;
	r->text_len += n;
	return n;
}

/* Room for each CPU that has a buffer by now; those that never were online cost nothing. */
static int reader_alloc_cpus(struct text_reader *r)
{
	const struct bpf_relay *log = r->log;
	u32 cpu;

	for_each_possible_cpu(cpu) {
		struct log_cpu *lc = per_cpu_ptr(log->cpu, cpu);
		struct text_cpu *c;

		if (r->cpus[cpu] || !ring_read_acquire(&lc->ring.data))
			continue;
		c = kzalloc(sizeof(*c) + bitmap_size(log->geometry.n_subbufs), GFP_KERNEL_ACCOUNT);
		if (!c)
			return -ENOMEM;
		c->cpu = lc;
		r->cpus[cpu] = c;
	}
	return 0;
}

/* The old one stays if there is no memory for the new one. */
static int reader_snapshot(struct text_reader *r)
{
	const struct bpf_relay *log = r->log;
	struct render out = { .to = r->text, .room = sizeof(r->text) };
	int err = reader_alloc_cpus(r);
	u32 cpu;

	if (err)
		return err;
	waiter_mark(&r->waiter, log);
	r->order = RB_ROOT_CACHED;
	r->line_goes_on = false;
	r->line_done = 0;
	r->text_pos = 0;
	r->text_len = 0;
	r->loss_cpu = 0;
	for_each_possible_cpu(cpu) {
		if (r->cpus[cpu]) {
			cpu_snapshot(r->cpus[cpu], &log->types);
			cond_resched();
		}
	}
	r->real_offset = log_real_offset(log);
	render_head(&out, r);
	r->text_len = out.len;
	for_each_possible_cpu(cpu)
		if (r->cpus[cpu])
			reader_queue(r, r->cpus[cpu]);
	return 0;
}

/* The log may be gone by now: only what is the reader's own. */
static void reader_free(struct text_reader *r)
{
	u32 cpu;

	waiter_exit(&r->waiter);
	for (cpu = 0; cpu < nr_cpu_ids; cpu++)
		kfree(r->cpus[cpu]);
	kvfree(r);
}

static int text_open(struct inode *inode, struct file *file)
{
	const struct log_file *f = file_open(inode, file);
	struct text_reader *r;
	int err;

	if (IS_ERR(f))
		return PTR_ERR(f);
	r = kvzalloc(struct_size(r, cpus, nr_cpu_ids), GFP_KERNEL_ACCOUNT);
	if (!r)
		return -ENOMEM;
	mutex_init(&r->lock);
	r->log = f->log;
	waiter_init(&r->waiter, r->log, WAITER_ALL_CPUS);
	err = reader_snapshot(r);
	if (err) {
		reader_free(r);
		return err;
	}
	file->private_data = r;
	/* A line is where the one before it ended, nowhere else: no pread(). */
	file->f_mode &= ~FMODE_PREAD;
	return 0;
}

static ssize_t text_read(struct file *file, char __user *to, size_t count, loff_t *pos)
{
	struct text_reader *r = file->private_data;
	ssize_t done = 0;
	int err = 0;

	mutex_lock(&r->lock);
	while (count) {
		u64 at = *pos - r->text_pos;
		u32 len = min_t(u64, count, r->text_len - at);

		if (at > r->text_len) {
			err = -ESPIPE;
			break;
		}
		if (!len) {
			if (!reader_fill(r) || fatal_signal_pending(current))
				break;
			cond_resched();
			continue;
		}
		if (copy_to_user(to + done, r->text + at, len)) {
			err = -EFAULT;
			break;
		}
		*pos += len;
		done += len;
		count -= len;
	}
	mutex_unlock(&r->lock);
	return done ?: err;
}

/*
 * To 0: a new snapshot. Back a little: head and the shell read more than they want, and
 * give it back. Anything else would need all of the text.
 */
static loff_t text_llseek(struct file *file, loff_t offset, int whence)
{
	struct text_reader *r = file->private_data;
	loff_t pos = -ESPIPE;

	mutex_lock(&r->lock);
	if (whence == SEEK_CUR)
		offset += file->f_pos;
	if (whence == SEEK_SET && !offset)
		pos = reader_snapshot(r);
	else if (whence <= SEEK_CUR && offset >= r->text_pos && offset <= file->f_pos)
		pos = offset;
	if (pos >= 0)
		pos = vfs_setpos(file, pos, MAX_LFS_FILESIZE);
	mutex_unlock(&r->lock);
	return pos;
}

/* Whether there is text behind pos in the snapshot. */
static bool reader_unread(const struct text_reader *r, loff_t pos)
{
	u32 cpu;

	if (pos < r->text_pos + r->text_len || r->line_goes_on ||
	    !RB_EMPTY_ROOT(&r->order.rb_root))
		return true;
	for (cpu = r->loss_cpu; cpu < nr_cpu_ids; cpu++)
		if (r->cpus[cpu] && r->cpus[cpu]->shown != r->cpus[cpu]->total)
			return true;
	return false;
}

static __poll_t text_poll(struct file *file, struct poll_table_struct *table)
{
	struct text_reader *r = file->private_data;
	bool unread;

	mutex_lock(&r->lock);
	/* The VFS moves it, unmarked; then there was something to be read. */
	unread = reader_unread(r, data_race(file->f_pos));
	mutex_unlock(&r->lock);
	return waiter_poll(&r->waiter, r->log, file, table, unread);
}

static int text_release(struct inode *inode, struct file *file)
{
	reader_free(file->private_data);
	return 0;
}

const struct file_operations text_fops = {
	.owner		= THIS_MODULE,
	.open		= text_open,
	.read		= text_read,
	.llseek		= text_llseek,
	.poll		= text_poll,
	.release	= text_release,
};
