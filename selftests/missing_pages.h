/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory of which every page is missing until the test lets it come (userfaultfd): what a
 * program sleeps on that reads it.
 */
#ifndef _MISSING_PAGES_H
#define _MISSING_PAGES_H

#include <fcntl.h>
#include <linux/types.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <stdbool.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

struct missing_pages {
	char *pages;
	long page;	/* bytes of one */
	int n;
	int uffd;
};

static inline bool missing_pages_init(struct missing_pages *m, int n)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg = { .mode = UFFDIO_REGISTER_MODE_MISSING };

	m->n = n;
	m->page = sysconf(_SC_PAGESIZE);
	m->pages = mmap(NULL, n * m->page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			-1, 0);
	m->uffd = syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);
	reg.range.start = (unsigned long)m->pages;
	reg.range.len = n * m->page;
	return m->pages != MAP_FAILED && m->uffd >= 0 && !ioctl(m->uffd, UFFDIO_API, &api) &&
	       !ioctl(m->uffd, UFFDIO_REGISTER, &reg);
}

static inline void missing_pages_exit(struct missing_pages *m)
{
	close(m->uffd);
	munmap(m->pages, m->n * m->page);
}

static inline __u64 missing_page(const struct missing_pages *m, int i)
{
	return (unsigned long)m->pages + i * m->page;
}

/* The page that somebody has come to and sleeps on, within ms; 0: none. */
static inline __u64 missing_page_wanted(struct missing_pages *m, int ms)
{
	struct pollfd p = { .fd = m->uffd, .events = POLLIN };
	struct uffd_msg msg;

	if (poll(&p, 1, ms) <= 0 || read(m->uffd, &msg, sizeof(msg)) != sizeof(msg) ||
	    msg.event != UFFD_EVENT_PAGEFAULT)
		return 0;
	return msg.arg.pagefault.address & -m->page;
}

/* Zeroes: who sleeps on it goes on. */
static inline bool missing_page_comes(struct missing_pages *m, __u64 addr)
{
	struct uffdio_zeropage zero = { .range = { .start = addr, .len = m->page } };

	return !ioctl(m->uffd, UFFDIO_ZEROPAGE, &zero);
}

/* Missing again. */
static inline bool missing_page_goes(struct missing_pages *m, __u64 addr)
{
	return !madvise((void *)addr, m->page, MADV_DONTNEED);
}

#endif /* _MISSING_PAGES_H */
