/* SPDX-License-Identifier: GPL-2.0-only */
/* fuzz_ops.c: operations on mappings of a log's file mem. */
#ifndef _FUZZ_MEM_H
#define _FUZZ_MEM_H

#include <sys/mman.h>

#include "fuzz_files.h"
#include "mem_test.h"

#define PAGE	4096UL

static struct mapping *any_mapping(struct fuzz *f)
{
	return &f->mappings[below(f, MAPPINGS)];
}

static void unmap(struct mapping *m)
{
	if (m->at)
		munmap(m->at, m->len);
	m->at = NULL;
}

/* By the kernel, whom no signal stops. */
static bool can_be_read(const char *at)
{
	int pipes[2];
	bool can;
	char byte;

	if (pipe(pipes))
		return false;
	can = write(pipes[1], at, 1) == 1 && read(pipes[0], &byte, 1) == 1;
	close(pipes[0]);
	close(pipes[1]);
	return can;
}

/* First and last page of what is all there. */
static void look(struct fuzz *f, const struct mapping *m)
{
	if (!m->holes && !m->hidden && !(can_be_read(m->at) && can_be_read(m->at + m->len - 1)))
		complain(f, "mapped, and not to be read: %s", strerror(errno));
}

/* Any window, of a file that is open or of one that is closed again. */
static void op_mem_map(struct fuzz *f)
{
	struct file *file = any_file(f);
	struct slot *s = any_slot(f);
	struct mapping *m = any_mapping(f);
	bool again = one_in(f, 3);
	__u64 at = one_in(f, 4) ? odd(f) : below(f, one_in(f, 2) ? 4 : 300) * PAGE;
	size_t len = one_in(f, 4) ? odd(f) : (1 + below(f, one_in(f, 2) ? 4 : 100)) * PAGE;
	int prot = one_in(f, 6) ? below(f, 8) : PROT_READ;
	int flags = one_in(f, 3) ? MAP_PRIVATE : MAP_SHARED;
	int fd;

	/* Room for it to be read is not what is tried here. */
	len %= 64 << 20;
	if (m->at || (again ? file->fd < 0 : !s->open))
		return;
	fd = again ? file->fd : log_open_file(&s->log, "mem");
	m->at = mmap(NULL, len, prot, flags, fd, at);
	if (m->at == MAP_FAILED) {
		m->at = NULL;
		if (again)
			said_of_file(f, file, -1);
		else
			said_errno(f, -1);
	} else {
		said(f, 0);
		m->len = len;
		m->holes = false;
		m->hidden = !(prot & PROT_READ);
		if (prot & (PROT_WRITE | PROT_EXEC))
			complain(f, "mapped with protection %d", prot);
		look(f, m);
	}
	if (!again)
		close(fd);
}

/* It is there for as long as it is mapped, whatever happened to the log. */
static void op_mem_look(struct fuzz *f)
{
	struct mapping *m = any_mapping(f);

	if (!m->at)
		return;
	look(f, m);
	said(f, 0);
}

/* Some of its pages. */
static char *draw_part(struct fuzz *f, const struct mapping *m, size_t *len)
{
	__u32 first = any(f) >> 32, n = any(f) >> 32;
	size_t pages = (m->len + PAGE - 1) / PAGE;

	if (!pages)
		return NULL;
	first %= pages;
	*len = (1 + n % (pages - first)) * PAGE;
	return m->at + first * PAGE;
}

static void op_mem_protect(struct fuzz *f)
{
	struct mapping *m = any_mapping(f);
	int prot = one_in(f, 8) ? odd(f) : below(f, 8);
	size_t len;
	char *at = draw_part(f, m, &len);
	int ret;

	if (!m->at)
		return;
	ret = mprotect(at, len, prot);
	said_errno(f, ret);
	if (!ret && !m->holes && prot & (PROT_WRITE | PROT_EXEC))
		complain(f, "may be had with protection %d", prot);
	m->hidden |= !(prot & PROT_READ);
}

/* Elsewhere, shorter or longer. */
static void op_mem_move(struct fuzz *f)
{
	struct mapping *m = any_mapping(f);
	size_t len = one_in(f, 2) ? m->len : one_in(f, 4) ? odd(f) : (1 + below(f, 100)) * PAGE;
	int flags = below(f, 4) & (MREMAP_MAYMOVE | MREMAP_FIXED);
	char *to, *at;

	len %= 64 << 20;
	if (!m->at || m->holes)
		return;
	/* Where nothing else is. */
	to = mmap(NULL, len + PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	munmap(to, len + PAGE);
	at = mremap(m->at, m->len, len, flags, to);
	said_errno(f, at == MAP_FAILED ? -1 : 0);
	if (at == MAP_FAILED) {
		/* Of parts with protections of their own some may have gone. */
		if (m->hidden && flags & MREMAP_FIXED) {
			munmap(to, len);
			unmap(m);
		}
		return;
	}
	if (len > (m->len + PAGE - 1) / PAGE * PAGE)
		complain(f, "%zu bytes have grown to %zu", m->len, len);
	m->at = at;
	m->len = len;
	look(f, m);
}

/* All of it, or a part: something else comes there, so that nobody else is in its place. */
static void op_mem_unmap(struct fuzz *f)
{
	struct mapping *m = any_mapping(f);
	bool all = one_in(f, 2);
	size_t len;
	char *at = draw_part(f, m, &len);

	if (!m->at)
		return;
	if (all)
		unmap(m);
	else if (mmap(at, len, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != at)
		complain(f, "not to be replaced: %s", strerror(errno));
	m->holes = true;
	said(f, 0);
}

/* Of a log: the records of a CPU, as in ctf/. */
static void op_mem_walk(struct fuzz *f)
{
	struct slot *s = any_slot(f);
	int cpu = below(f, possible_cpus()), err;
	struct mem_reader m;
	long n;

	if (!s->open)
		return;
	err = log_map(&s->log, &m);
	said(f, err);
	if (err)
		return;
	n = log_walk(&s->log, cpu, false, NULL, NULL);
	if (!s->odd_types && (n < 0 || !mem_same(&s->log, &m, cpu, n)))
		complain(f, "%s: mem is not what ctf/cpu%d is", s->log.dir, cpu);
	if (m.log->map_id != s->log.id || m.log->state != BPF_RELAY_LOG_OPEN)
		complain(f, "%s: mem is of %u, state %u", s->log.dir, m.log->map_id, m.log->state);
	mem_close(&m);
}

#endif /* _FUZZ_MEM_H */
