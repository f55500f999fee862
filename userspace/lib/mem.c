// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
/*
 * The log's own memory, read as the module itself reads it (kernel/ring.c): copied, and
 * thrown away if a writer was faster. What comes out of here are packets as in ctf/.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../kernel/packet.h"
#include "../../kernel/ring.h"
#include "mem.h"

/* How often a window is taken again because something was overwritten meanwhile. */
#define WINDOW_TRIES	100

struct mem {
	int fd;
	const struct bpf_relay_log_page *page;
	size_t page_size;
	struct packet_type types[BPF_RELAY_TYPES_MAX];
};

/* One CPU's. */
struct mem_cpu {
	struct ring ring;		/* over the mapping; only read */
	void *map;
	size_t size;
	struct ring_window window;
	__u64 lost;			/* records of this snapshot that were overtaken */
	__u64 discarded;		/* what the last packet said, without these */
	__u64 ts;			/* when the last packet ended */
	const struct packet_type *types;
	__u32 nrec[];			/* of each packet, if it was complete */
};

/* ---- The log ----------------------------------------------------------------- */

static bool is_power_of_two(__u64 n)
{
	return n && !(n & (n - 1));
}

/* NULL, or why this memory is not to be read. */
static const char *check_page(const struct mem *mem, const struct bpfrelay_log *log, __u64 size)
{
	const struct bpf_relay_log_page *p = mem->page;

	if (p->abi != BPF_RELAY_ABI)
		return "is of another ABI number than this library";
	if (memcmp(p->uuid, log->metadata.uuid, sizeof(p->uuid)))
		return "is of another log";
	if (p->size < sizeof(*p) || !is_power_of_two(p->subbuf_size) ||
	    p->subbuf_size < BPF_RELAY_SUBBUF_MIN || p->subbuf_size > BPF_RELAY_SUBBUF_MAX ||
	    !is_power_of_two(p->n_subbufs) || p->n_subbufs < BPF_RELAY_N_SUBBUFS_MIN ||
	    p->n_subbufs > BPF_RELAY_N_SUBBUFS_MAX || p->nr_cpus > 1U << 20 ||
	    p->cpu_offset % mem->page_size || p->cpu_stride % mem->page_size ||
	    p->data_offset % mem->page_size || p->cpu_offset > size ||
	    p->data_offset < ring_ctl_size(p->n_subbufs) || p->cpu_stride < p->data_offset ||
	    p->cpu_stride - p->data_offset < (__u64)p->subbuf_size * p->n_subbufs ||
	    p->cpu_stride > size || p->cpu_offset + p->nr_cpus * p->cpu_stride > size)
		return "has a first page that makes no sense";
	return NULL;
}

static int map_page(struct mem *mem, const struct bpfrelay_log *log)
{
	const char *wrong;
	struct stat st;

	if (fstat(mem->fd, &st))
		return -errno;
	mem->page_size = sysconf(_SC_PAGESIZE);
	if ((size_t)st.st_size < mem->page_size)
		return -ENODATA;
	mem->page = mmap(NULL, mem->page_size, PROT_READ, MAP_SHARED, mem->fd, 0);
	if (mem->page == MAP_FAILED) {
		mem->page = NULL;
		return -errno;
	}
	wrong = check_page(mem, log, st.st_size);
	if (!wrong)
		return 0;
	say(&log->say, "%s/../mem %s: reading ctf/", log->dir, wrong);
	return -EPROTO;
}

/* How the module has records in ctf/. */
static void set_types(struct mem *mem, const struct metadata *metadata)
{
	const struct bpfrelay_type *type;
	__u32 id;

	for (id = 1; id < BPF_RELAY_TYPES_MAX; id++) {
		type = metadata->type[id];
		if (type)
			packet_type_init(&mem->types[id], type->size, type->fields, type->n_fields);
	}
}

int mem_open(const struct bpfrelay_log *log, struct mem **out)
{
	const char *slash = strrchr(log->dir, '/');
	struct mem *mem;
	int err;

	if (strcmp(slash ? slash + 1 : log->dir, "ctf"))
		return -ENOENT;
	mem = calloc(1, sizeof(*mem));
	if (!mem)
		return -ENOMEM;
	mem->fd = trace_open_file(log, "../mem");
	err = mem->fd < 0 ? mem->fd : map_page(mem, log);
	if (!err) {
		set_types(mem, &log->metadata);
		*out = mem;
		return 0;
	}
	/* Under lockdown, for example, files that can be mapped are closed. */
	if (err != -ENOENT && err != -EPROTO)
		say(&log->say, "%s/../mem: %s: reading ctf/", log->dir, strerror(-err));
	mem_close(mem);
	return err;
}

void mem_close(struct mem *mem)
{
	if (!mem)
		return;
	if (mem->page)
		munmap((void *)mem->page, mem->page_size);
	if (mem->fd >= 0)
		close(mem->fd);
	free(mem);
}

int mem_fd(const struct mem *mem)
{
	return mem->fd;
}

bool mem_is_closed(const struct mem *mem)
{
	return ring_read(&mem->page->state) == BPF_RELAY_LOG_CLOSED;
}

/* ---- Snapshots ---------------------------------------------------------------- */

static struct mem_cpu *mem_cpu(const struct stream *s)
{
	return s->private;
}

/* The sub-buffer's records are those of this lap, if it still is and all are committed. */
static __u32 count_records(const struct ring *r, __u64 start)
{
	__u64 nrec = ring_read(&ring_sub(r, start)->nrec);

	return ring_valid(r, start) ? nrec : 0;
}

static int renew(struct stream *s)
{
	struct mem_cpu *m = mem_cpu(s);
	const struct ring *r = &m->ring;
	const __u64 *overwritten = &r->ctl->counters.overwritten;
	__u64 before, behind, start, i;
	int tries;

	for (tries = 0; ; tries++) {
		before = ring_read(overwritten);
		ring_rmb();
		ring_window(r, &m->window);
		ring_rmb();
		behind = ring_read(overwritten);
		if (before == behind || tries == WINDOW_TRIES)
			break;
	}
	m->lost = 0;
	m->ts = 0;
	s->first_record = before == behind ? before : STREAM_NONE;
	s->first_seq = m->window.first >> r->subbuf_shift;
	s->n_packets = (m->window.end - m->window.first) >> r->subbuf_shift;
	for (i = 0; i < s->n_packets; i++) {
		start = m->window.first + (i << r->subbuf_shift);
		m->nrec[i] = count_records(r, start);
		/* An open record hides what is behind it in its sub-buffer: not yet further. */
		if (s->ordered && ring_readable(r, &m->window, start) < ring_subbuf_size(r))
			s->n_packets = i + 1;
	}
	return 0;
}

/* How much had been dropped when a packet ended: when the next one began. */
static __u64 dropped_until(const struct ring *r, const struct ring_window *w, __u64 end)
{
	struct bpf_relay_packet next;

	if (end >= w->end || !ring_readable(r, w, end))
		return ring_dropped(r);
	ring_copy_out(&next, ring_at(r, end), sizeof(next));
	return ring_valid(r, end) ? next.events_discarded : ring_dropped(r);
}

static int load(struct stream *s, __u64 index)
{
	struct mem_cpu *m = mem_cpu(s);
	const struct ring *r = &m->ring;
	__u64 start = m->window.first + (index << r->subbuf_shift), discarded;
	__u32 size = ring_subbuf_size(r), len = ring_readable(r, &m->window, start);
	struct bpf_relay_packet *header = (void *)s->buf;
	struct packet shape = { .content = sizeof(*header) };
	__u64 begin = m->ts;
	bool copied;

	discarded = dropped_until(r, &m->window, start + size);
	copied = len && ring_copy(r, start, s->buf, len);
	if (copied) {
		begin = header->timestamp_begin;
		packet_compact(s->buf, len, size, m->types, &shape);
		if (shape.damaged)
			say(&s->log->say, "%s/../mem: CPU %u, packet %llu ends at something that is no record",
			    s->log->dir, s->cpu, index);
	} else {
		/* Not there yet, or not any more. */
		memset(s->buf, 0, size);
		if (!ring_valid(r, start))
			m->lost += m->nrec[index];
	}
	if (begin < m->ts)
		begin = m->ts;
	if (discarded > m->discarded)
		m->discarded = discarded;
	*header = (struct bpf_relay_packet) {
		.magic			= BPF_RELAY_CTF_MAGIC,
		.stream_instance_id	= s->cpu,
		.timestamp_begin	= begin,
		.timestamp_end		= shape.nrec ? shape.timestamp_end : begin,
		.content_size		= (__u64)shape.content * 8,
		.packet_size		= (__u64)size * 8,
		.packet_seq_num		= start >> r->subbuf_shift,
		.events_discarded	= m->discarded + m->lost,
		.cpu_id			= s->cpu,
	};
	memcpy(header->uuid, s->log->metadata.uuid, sizeof(header->uuid));
	m->ts = header->timestamp_end;
	return 0;
}

static void unmap_cpu(struct stream *s)
{
	struct mem_cpu *m = mem_cpu(s);

	if (m && m->map)
		munmap(m->map, m->size);
	free(m);
	s->private = NULL;
}

static const struct source mem_source = {
	.renew = renew,
	.load = load,
	.close = unmap_cpu,
};

/* ---- One CPU ------------------------------------------------------------------ */

static bool lay_ring(struct mem_cpu *m, const struct bpf_relay_log_page *page, __u32 cpu)
{
	struct bpf_relay_ctl *ctl = m->map;
	struct ring *r = &m->ring;

	if (ctl->abi != BPF_RELAY_ABI || ctl->cpu != cpu || ctl->subbuf_size != page->subbuf_size ||
	    ctl->n_subbufs != page->n_subbufs || ctl->subbufs_off % 8 ||
	    ctl->subbufs_off > page->data_offset ||
	    page->n_subbufs * sizeof(struct bpf_relay_subbuf) >
		    page->data_offset - ctl->subbufs_off)
		return false;
	r->ctl = ctl;
	r->sub = m->map + ctl->subbufs_off;
	r->data = m->map + page->data_offset;
	r->cpu = cpu;
	r->subbuf_shift = __builtin_ctz(page->subbuf_size);
	r->buffer_shift = r->subbuf_shift + __builtin_ctz(page->n_subbufs);
	r->subbuf_mask = page->subbuf_size - 1;
	r->buffer_mask = (__u64)page->subbuf_size * page->n_subbufs - 1;
	return true;
}

int mem_stream_open(struct stream *s, const struct mem *mem, const struct bpfrelay_log *log,
		    __u32 cpu)
{
	const struct bpf_relay_log_page *page = mem->page;
	struct mem_cpu *m;

	stream_init(s, log, cpu, page->subbuf_size);
	if (cpu >= page->nr_cpus)
		return -EPROTO;
	m = calloc(1, sizeof(*m) + page->n_subbufs * sizeof(*m->nrec));
	if (!m)
		return -ENOMEM;
	s->private = m;
	s->source = &mem_source;
	m->size = page->data_offset + (__u64)page->subbuf_size * page->n_subbufs;
	m->map = mmap(NULL, m->size, PROT_READ, MAP_SHARED, mem->fd,
		      page->cpu_offset + cpu * page->cpu_stride);
	if (m->map == MAP_FAILED) {
		m->map = NULL;
		return -errno;
	}
	m->types = mem->types;
	/* A CPU without a buffer has nothing, and its window says so. */
	return lay_ring(m, page, cpu) ? renew(s) : -EPROTO;
}
