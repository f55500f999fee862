// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
/* Copies of logs. */
#define _GNU_SOURCE	/* renameat2() */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stream.h"

struct copy {
	const struct bpfrelay_log *log;
	int fd;			/* of the directory that is made */
	struct stream *streams;	/* each CPU's snapshot */
	int n_streams;
	__u64 records;
	__u64 done, total;	/* bytes of packets */
	struct bpfrelay_snapshot_opts opts;
};

static int write_all(int fd, const char *data, size_t size)
{
	ssize_t n;

	while (size) {
		n = write(fd, data, size);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		data += n;
		size -= n;
	}
	return 0;
}

static int tell_progress(const struct copy *c)
{
	return c->opts.progress ? c->opts.progress(c->opts.progress_ctx, c->done, c->total) : 0;
}

static int create_file(const struct copy *c, const char *name)
{
	int fd = openat(c->fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	return fd < 0 ? -errno : fd;
}

/* Some file systems find out that they are full as late as this. */
static int finish_file(int fd, int err)
{
	if (!err && fsync(fd))
		err = -errno;
	if (close(fd) && !err)
		err = -errno;
	return err;
}

static int copy_metadata(const struct copy *c)
{
	size_t size;
	char *text;
	int in, out, err;

	in = trace_open_file(c->log, "metadata");
	if (in < 0)
		return in;
	err = trace_read_fd(in, &text, &size);
	close(in);
	if (err)
		return err;
	out = create_file(c, "metadata");
	err = out < 0 ? out : finish_file(out, write_all(out, text, size));
	free(text);
	return err;
}

static __u64 count_records(const struct stream *s)
{
	const struct bpf_relay_packet *p = (const void *)s->buf;
	size_t pos = sizeof(*p), end = p->content_size / 8;
	const struct bpf_relay_header *h;
	__u64 n = 0;

	for (; pos < end; n++) {
		h = (const void *)(s->buf + pos);
		pos += BPF_RELAY_RECORD_SIZE(packet_payload(s->log->metadata.type[h->id], h->len));
	}
	return n;
}

static int copy_packets(struct copy *c, struct stream *s, int fd)
{
	const char *wrong;
	__u64 i;
	int err;

	s->buf = malloc(s->packet_size);
	if (!s->buf)
		return -ENOMEM;
	for (i = 0; i < s->n_packets; i++) {
		err = s->source->load(s, i);
		if (err)
			return err;
		wrong = packet_check(&c->log->metadata, s->cpu, s->buf, s->packet_size, &s->chain);
		if (wrong) {
			say(&c->log->say, "%s/cpu%u: packet %llu %s", c->log->dir, s->cpu, i, wrong);
			return -EBADMSG;
		}
		c->records += count_records(s);
		err = write_all(fd, s->buf, s->packet_size);
		c->done += s->packet_size;
		err = err ?: tell_progress(c);
		if (err)
			return err;
	}
	free(s->buf);
	s->buf = NULL;
	return 0;
}

static int copy_cpu(struct copy *c, struct stream *s)
{
	char name[16];
	int fd, err = 0;

	if (s->truncated)
		return -EBADMSG;
	snprintf(name, sizeof(name), "cpu%u", s->cpu);
	fd = create_file(c, name);
	if (fd < 0)
		return fd;
	if (s->n_packets)
		err = copy_packets(c, s, fd);
	return finish_file(fd, err);
}

static int copy_all(struct copy *c)
{
	const struct bpfrelay_log *log = c->log;
	size_t packet_size = stream_packet_size(log);
	int i, err = 0;

	c->streams = calloc(log->n_cpus ?: 1, sizeof(*c->streams));
	if (!c->streams)
		return -ENOMEM;
	/* Where they all end is fixed before the first one is copied. */
	for (i = 0; i < log->n_cpus && !err; i++)
		err = stream_open(&c->streams[c->n_streams++], log, log->cpus[i], packet_size);
	for (i = 0; i < c->n_streams; i++)
		c->total += c->streams[i].n_packets * packet_size;
	err = err ?: copy_metadata(c);
	for (i = 0; i < c->n_streams && !err; i++)
		err = copy_cpu(c, &c->streams[i]);
	if (!err && fsync(c->fd))
		err = -errno;
	for (i = 0; i < c->n_streams; i++)
		stream_close(&c->streams[i]);
	free(c->streams);
	return err;
}

static void remove_all(const struct copy *c, const char *dir)
{
	char name[16];
	int i;

	unlinkat(c->fd, "metadata", 0);
	for (i = 0; i < c->log->n_cpus; i++) {
		snprintf(name, sizeof(name), "cpu%u", c->log->cpus[i]);
		unlinkat(c->fd, name, 0);
	}
	rmdir(dir);
}

int bpfrelay_log_snapshot(const struct bpfrelay_log *log, const char *dir,
			  const struct bpfrelay_snapshot_opts *opts, __u64 *records)
{
	struct copy c = { .log = log };
	char made[PATH_SIZE];
	size_t len = strlen(dir);
	int err;

	err = trace_get_opts(&c.opts, sizeof(c.opts), opts);
	if (err)
		return err;
	if (!len)
		return -ENOENT;
	while (len > 1 && dir[len - 1] == '/')
		len--;
	if (!access(dir, F_OK))
		return -EEXIST;
	if (snprintf(made, sizeof(made), "%.*s.XXXXXX", (int)len, dir) >= (int)sizeof(made))
		return -ENAMETOOLONG;
	/* 0700, whatever the umask; the last step gives it its name. */
	if (!mkdtemp(made))
		return -errno;
	c.fd = open(made, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (c.fd < 0) {
		err = -errno;
		rmdir(made);
		return err;
	}
	err = copy_all(&c);
	if (!err && renameat2(AT_FDCWD, made, AT_FDCWD, dir, RENAME_NOREPLACE))
		err = -errno;
	if (err)
		remove_all(&c, made);
	else if (records)
		*records = c.records;
	close(c.fd);
	return err;
}
