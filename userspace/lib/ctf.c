// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
/*
 * The files cpuN, in debugfs or anywhere else. An open one in debugfs is a snapshot,
 * which seeking to 0 renews: so everything else is pread().
 */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "ctf.h"

/* What debugfs says of files whose log is gone. */
static int ctf_error(const struct bpfrelay_log *log)
{
	return log->info.live && errno == EIO ? -ENODEV : -errno;
}

int ctf_open(const struct bpfrelay_log *log, __u32 cpu)
{
	char name[16];

	snprintf(name, sizeof(name), "cpu%u", cpu);
	return trace_open_file(log, name);
}

__s64 ctf_size(int fd)
{
	off_t size = lseek(fd, 0, SEEK_END);

	return size < 0 ? -errno : size;
}

ssize_t ctf_read(const struct bpfrelay_log *log, int fd, void *to, size_t size, __u64 at)
{
	size_t done = 0;
	ssize_t n;

	while (done < size) {
		n = pread(fd, (char *)to + done, size - done, at + done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return ctf_error(log);
		if (!n)
			break;
		done += n;
	}
	return done;
}

static int renew(struct stream *s)
{
	struct bpf_relay_packet header;
	ssize_t n;
	__s64 size;

	if (lseek(s->fd, 0, SEEK_SET))
		return ctf_error(s->log);
	size = ctf_size(s->fd);
	if (size < 0)
		return size;
	s->n_packets = 0;
	s->first_seq = 0;
	s->truncated = size;
	n = ctf_read(s->log, s->fd, &header, sizeof(header), 0);
	if (n < 0)
		return n;
	if (n == sizeof(header)) {
		s->first_seq = header.packet_seq_num;
		if (!s->packet_size)
			packet_size(&s->log->metadata, &header, &s->packet_size);
	}
	if (s->packet_size) {
		s->n_packets = size / s->packet_size;
		s->truncated = size % s->packet_size;
	}
	return 0;
}

static int load(struct stream *s, __u64 index)
{
	ssize_t n = ctf_read(s->log, s->fd, s->buf, s->packet_size, index * s->packet_size);

	if (n < 0)
		return n;
	/* A file that became shorter. */
	return (size_t)n == s->packet_size ? 0 : -EBADMSG;
}

static void close_file(struct stream *s)
{
	if (s->fd >= 0)
		close(s->fd);
}

const struct source ctf_source = {
	.renew = renew,
	.load = load,
	.close = close_file,
};
