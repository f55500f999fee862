/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reading a log through its file `mem`: the algorithm of <linux/bpf_relay.h> (struct
 * bpf_relay_ctl), and nothing else. No system calls but to open and to close.
 */
#ifndef _MEM_READER_H
#define _MEM_READER_H

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf_relay.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct mem_reader {
	int fd;
	size_t size;
	union {
		const char *base;
		const struct bpf_relay_log_page *log;
	};
};

/* What could be read at one moment: positions of sub-buffers from first up to end. */
struct mem_window {
	__u64 published;
	__u64 first;
	__u64 end;
};

/* 0 or -errno; -EPROTO if the log is of another ABI. */
static inline int mem_open(struct mem_reader *m, const char *path)
{
	struct stat st;
	void *base = MAP_FAILED;

	m->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (m->fd < 0)
		return -errno;
	if (!fstat(m->fd, &st))
		base = mmap(NULL, st.st_size, PROT_READ, MAP_SHARED, m->fd, 0);
	if (base == MAP_FAILED) {
		int err = -errno;

		close(m->fd);
		return err;
	}
	m->size = st.st_size;
	m->base = base;
	if (m->log->abi == BPF_RELAY_ABI)
		return 0;
	munmap(base, m->size);
	close(m->fd);
	return -EPROTO;
}

static inline void mem_close(struct mem_reader *m)
{
	munmap((void *)m->base, m->size);
	close(m->fd);
}

/* The control area; all zeroes of a CPU that cannot be. */
static inline const struct bpf_relay_ctl *mem_ctl(const struct mem_reader *m, __u32 cpu)
{
	return (const void *)(m->base + m->log->cpu_offset + cpu * m->log->cpu_stride);
}

static inline const char *mem_data(const struct mem_reader *m, __u32 cpu)
{
	return (const char *)mem_ctl(m, cpu) + m->log->data_offset;
}

/* Bytes of one CPU's data. */
static inline __u64 mem_buffer(const struct mem_reader *m)
{
	return (__u64)m->log->subbuf_size * m->log->n_subbufs;
}

static inline void mem_window(const struct mem_reader *m, __u32 cpu, struct mem_window *w)
{
	const struct bpf_relay_ctl *ctl = mem_ctl(m, cpu);
	__u64 size = m->log->subbuf_size, buffer = mem_buffer(m);

	w->published = __atomic_load_n(&ctl->published, __ATOMIC_ACQUIRE);
	w->end = __atomic_load_n(&ctl->wpos, __ATOMIC_RELAXED);
	w->end = (w->end + size - 1) & ~(size - 1);
	w->first = w->end > buffer ? w->end - buffer : 0;
}

/*
 * Copy what is final of the sub-buffer at `start`, which takes subbuf_size bytes at most:
 * how many bytes; 0 if there is nothing yet, -1 if it was overwritten.
 */
static inline long mem_copy(const struct mem_reader *m, __u32 cpu, const struct mem_window *w,
			    __u64 start, void *to)
{
	const struct bpf_relay_ctl *ctl = mem_ctl(m, cpu);
	const struct bpf_relay_subbuf *sub = (const void *)((const char *)ctl + ctl->subbufs_off);
	__u64 size = m->log->subbuf_size, buffer = mem_buffer(m), len;

	sub += start % buffer / size;
	if (w->published >= start + size ||
	    __atomic_load_n(&sub->committed, __ATOMIC_ACQUIRE) >= (start / buffer + 1) * size)
		len = size;
	else
		len = w->published > start ? w->published - start : 0;
	memcpy(to, mem_data(m, cpu) + start % buffer, len);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return __atomic_load_n(&ctl->wpos, __ATOMIC_RELAXED) <= start + buffer ? (long)len : -1;
}

/* The next record of a copy of len bytes, *from being 0 at first; NULL: no more. */
static inline const struct bpf_relay_header *mem_next(const void *copy, __u32 len, __u32 *from)
{
	const struct bpf_relay_header *h;

	if (!*from)
		*from = sizeof(struct bpf_relay_packet);
	while (*from + sizeof(*h) <= len) {
		h = (const void *)((const char *)copy + *from);
		if (!h->state || BPF_RELAY_RECORD_SIZE(h->len) > len - *from)
			break;
		*from += BPF_RELAY_RECORD_SIZE(h->len);
		if (h->state == BPF_RELAY_COMMITTED)
			return h;
	}
	return NULL;
}

#endif /* _MEM_READER_H */
