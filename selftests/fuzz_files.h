/* SPDX-License-Identifier: GPL-2.0-only */
/* fuzz_ops.c: operations on a log's files. */
#ifndef _FUZZ_FILES_H
#define _FUZZ_FILES_H

#include <poll.h>
#include <sys/epoll.h>

#include "fuzz_ops.h"

/* Of a line of text, its time. */
#define TEXT_TIME	30

/* ---- One call ---------------------------------------------------------------------- */

static bool alive(const struct file *file)
{
	return file->slot->open && file->slot->generation == file->generation;
}

/* Only what is gone may say so. */
static void said_of_file(struct fuzz *f, const struct file *file, long ret)
{
	said_errno(f, ret);
	if (ret < 0 && errno == EIO && alive(file))
		complain(f, "-EIO of a log that is there");
}

static void op_file_open(struct fuzz *f)
{
	static const char * const names[] = {
		"ctf/metadata", "stats", "text", "text", "text", "mem", "mem", "mem",
		"ctf/cpu4711", "ctf", "",
	};
	struct slot *s = any_slot(f);
	int i = below(f, FILES), cpu = below(f, possible_cpus());
	int flags = one_in(f, 8) ? O_RDWR : O_RDONLY;
	bool packets = one_in(f, 2);
	const char *other = pick(f, names);
	char path[256];
	struct file *file = &f->files[i];

	if (file->fd >= 0 || !s->log.dir[0])
		return;
	if (packets)
		snprintf(path, sizeof(path), "%s/ctf/cpu%d", s->log.dir, cpu);
	else
		snprintf(path, sizeof(path), "%s/%s", s->log.dir, other);
	file->fd = open(path, flags);
	said_errno(f, file->fd);
	if (file->fd < 0 && errno == ENOENT && packets && s->open)
		complain(f, "no %s of a log that is open", path);
	file->slot = s;
	file->generation = s->generation;
	file->packets = packets;
	file->text = !packets && !strcmp(other, "text");
}

static struct file *any_file(struct fuzz *f)
{
	return &f->files[below(f, FILES)];
}

static void op_file_close(struct fuzz *f)
{
	struct file *file = any_file(f);

	if (file->fd < 0)
		return;
	said_errno(f, close(file->fd));
	file->fd = -1;
}

static void op_file_read(struct fuzz *f)
{
	struct file *file = any_file(f);
	size_t len = one_in(f, 4) ? odd(f) : below(f, READ_MAX);
	__u64 pos = odd(f);
	bool at = one_in(f, 4);
	char *to = f->buf;
	ssize_t n;

	if (one_in(f, 8))
		to = bad_address(f);
	if (file->fd < 0)
		return;
	n = at ? pread(file->fd, to, len, pos) : read(file->fd, to, len);
	said_of_file(f, file, n);
	if (file->text && at && n >= 0)
		complain(f, "text can be read from anywhere");
}

/* Nobody writes meanwhile: any part of a snapshot is the same, however it is read. */
static void op_file_again(struct fuzz *f)
{
	struct file *file = any_file(f);
	__u64 part = any(f);
	__u32 len = 1 + below(f, READ_MAX / 2);
	char *first = f->buf, *second = f->buf + READ_MAX / 2;
	ssize_t n, again;
	off_t size, pos;

	if (file->fd < 0 || !file->packets)
		return;
	size = lseek(file->fd, 0, SEEK_END);
	if (size <= 1) {
		said_of_file(f, file, size);
		return;
	}
	pos = 1 + part % (size - 1);
	n = pread(file->fd, first, len, pos);
	said_of_file(f, file, n);
	if (n < 0)
		return;
	if (n != (len < size - pos ? len : size - pos))
		complain(f, "%zd bytes of %u at %ld of %ld", n, len, pos, size);
	if (lseek(file->fd, pos, SEEK_SET) != pos)
		complain(f, "no lseek() to %ld of %ld", pos, size);
	again = read(file->fd, second, len);
	if (again != n || memcmp(first, second, n))
		complain(f, "%zd, then %zd bytes at %ld, or others", n, again, pos);
}

static void op_file_seek(struct fuzz *f)
{
	struct file *file = any_file(f);
	int whence = one_in(f, 8) ? odd(f) : below(f, 3);
	__u64 to = one_in(f, 2) ? odd(f) : below(f, 10000);

	if (file->fd >= 0)
		said_of_file(f, file, lseek(file->fd, to, whence));
}

static void op_file_stat(struct fuzz *f)
{
	struct file *file = any_file(f);
	struct stat st;

	if (file->fd >= 0)
		said_errno(f, fstat(file->fd, &st));
}

static void op_file_poll(struct fuzz *f)
{
	struct file *file = any_file(f);
	struct pollfd p = { .fd = file->fd, .events = odd(f) };

	if (file->fd < 0)
		return;
	said_errno(f, poll(&p, 1, 0));
	if (p.revents & POLLHUP && alive(file))
		complain(f, "POLLHUP of a log that is there");
}

/* epoll goes on with a file beyond its log. */
static void op_epoll_change(struct fuzz *f)
{
	struct file *file = any_file(f);
	struct epoll_event event = { .events = odd(f), .data.ptr = file };
	int how = one_in(f, 8) ? odd(f) : 1 + below(f, 3);

	if (file->fd >= 0)
		said_errno(f, epoll_ctl(f->epoll, how, file->fd, &event));
}

static void op_epoll_wait(struct fuzz *f)
{
	struct epoll_event events[FILES];
	int most = 1 + below(f, FILES), n, i;

	n = epoll_wait(f->epoll, events, most, 0);
	said_errno(f, n);
	for (i = 0; i < n; i++)
		if (events[i].events & EPOLLHUP && alive(events[i].data.ptr))
			complain(f, "EPOLLHUP of a log that is there");
}

/* ---- Whole files --------------------------------------------------------------------- */

/* What fuzz_ops.bpf.c and any_write_one() put into a record of this size. */
static bool payload_good(const struct record *rec, void *ctx)
{
	__u32 len = rec->header->len, i = 0;
	const __u8 *p = rec->payload;
	struct fuzz *f = ctx;

	while (i < len && p[i] == (__u8)mix((len & 255) + i))
		i++;
	if (i == len)
		return true;
	/* Not an output: then a reservation. */
	i = 0;
	if (len >= sizeof(__u64)) {
		if (*(const __u64 *)p != FUZZ_TAG)
			goto bad;
		i = sizeof(__u64);
	}
	while (i < len && !p[i])
		i++;
	if (i == len)
		return true;
bad:
	complain(f, "%u bytes of type %u that nobody wrote", len, rec->header->id);
	return false;
}

/* From the start in odd steps: a snapshot, taken whenever that is. */
static void op_file_walk(struct fuzz *f)
{
	struct file *file = any_file(f);
	__u32 step = 1 + below(f, 100000);
	size_t got = 0;
	ssize_t n = 0;

	if (file->fd < 0 || !file->packets || file->slot->odd_types)
		return;
	if (lseek(file->fd, 0, SEEK_SET) < 0) {
		said_of_file(f, file, -1);
		return;
	}
	while (got + step <= READ_MAX && (n = read(file->fd, f->buf + got, step)) > 0)
		got += n;
	said_of_file(f, file, n);
	/* Larger than our buffer: no whole packets. */
	if (n || !alive(file))
		return;
	if (ctf_walk(f->buf, got, log_stat(&file->slot->log, -1, "subbuf_size"), payload_good,
		     f) < 0)
		complain(f, "not well-formed packets");
}

/* Readable records of all CPUs, as ctf/ has them; -1: not well-formed. */
static long records_of(const struct slot *s)
{
	long n, sum = 0;
	int cpu;

	for (cpu = 0; cpu < possible_cpus(); cpu++) {
		n = log_walk(&s->log, cpu, false, NULL, NULL);
		if (n < 0)
			return -1;
		sum += n;
	}
	return sum;
}

/* A snapshot in odd steps: its lines are in the order of time, and as many as it says. */
static void op_text_walk(struct fuzz *f)
{
	struct slot *s = any_slot(f);
	__u32 step = 1 + below(f, 100000);
	char path[256], before[32] = "", *line, *save;
	unsigned long long total;
	long lines = 0, records;
	size_t got = 0;
	ssize_t n = 0;
	int fd;

	if (!s->open)
		return;
	snprintf(path, sizeof(path), "%s/text", s->log.dir);
	fd = open(path, O_RDONLY);
	if (fd < 0) {
		said_errno(f, fd);
		return;
	}
	while (got + step < READ_MAX && (n = read(fd, f->buf + got, step)) > 0)
		got += n;
	said_errno(f, n);
	close(fd);
	/* Larger than our buffer: we do not have it all. */
	if (n)
		return;
	f->buf[got] = 0;
	line = strstr(f->buf, "\n# records=");
	if (!line || sscanf(line, "\n# records=%llu ", &total) != 1) {
		complain(f, "text without a head");
		return;
	}
	for (line = strtok_r(f->buf, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		if (line[0] == '#')
			continue;
		lines++;
		if (strncmp(line, before, TEXT_TIME) < 0)
			complain(f, "text: %.*s behind %s", TEXT_TIME, line, before);
		snprintf(before, sizeof(before), "%.*s", TEXT_TIME, line);
	}
	records = s->odd_types ? lines : records_of(s);
	if (lines != (long)total || lines != records)
		complain(f, "text: %ld lines, %llu records by its head, %ld in ctf/", lines, total,
			 records);
}

#endif /* _FUZZ_FILES_H */
