// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
/* Opening a log for reading: its directory, its metadata, its CPUs. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>
#include <linux/magic.h>

#include "find.h"
#include "map_types.h"
#include "stream.h"
#include "trace.h"

/* A log has at most 255 types, of at most BPF_RELAY_TEXT_MAX each. */
#define METADATA_MAX	(16U << 20)

int trace_get_opts(void *to, size_t size, const void *from)
{
	size_t sz, i;

	memset(to, 0, size);
	if (!from)
		return 0;
	memcpy(&sz, from, sizeof(sz));
	if (sz < sizeof(sz))
		return -EINVAL;
	for (i = size; i < sz; i++)
		if (((const char *)from)[i])
			return -E2BIG;
	memcpy(to, from, sz < size ? sz : size);
	return 0;
}

int trace_open_file(const struct bpfrelay_log *log, const char *name)
{
	int fd = openat(log->dir_fd, name, O_RDONLY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

int trace_read_fd(int fd, char **data, size_t *size)
{
	size_t room = 0, len = 0;
	char *buf = NULL, *more;
	ssize_t n;
	int err;

	for (;;) {
		if (room - len < 2) {
			room = room ? 2 * room : 16384;
			more = room > 2 * METADATA_MAX ? NULL : realloc(buf, room);
			if (!more) {
				err = room > 2 * METADATA_MAX ? -EFBIG : -ENOMEM;
				goto err_free;
			}
			buf = more;
		}
		n = read(fd, buf + len, room - len - 1);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			err = -errno;
			goto err_free;
		}
		if (!n)
			break;
		len += n;
	}
	buf[len] = '\0';
	*data = buf;
	*size = len;
	return 0;

err_free:
	free(buf);
	return err;
}

static int read_metadata(struct bpfrelay_log *log)
{
	int fd = trace_open_file(log, "metadata");
	size_t size;
	char *text;
	int err;

	if (fd < 0) {
		say(&log->say, "%s/metadata: %s", log->dir, strerror(-fd));
		return fd;
	}
	err = trace_read_fd(fd, &text, &size);
	close(fd);
	if (err) {
		say(&log->say, "%s/metadata: %s", log->dir, strerror(-err));
		return err;
	}
	err = metadata_parse(&log->metadata, text, size, &log->say);
	free(text);
	return err;
}

/* The N of cpuN; -1 if it is no such name. */
static long cpu_of(const char *name)
{
	char *end;
	long cpu;

	if (strncmp(name, "cpu", 3) || name[3] < '0' || name[3] > '9' ||
	    (name[3] == '0' && name[4]))
		return -1;
	cpu = strtol(name + 3, &end, 10);
	return *end || cpu > INT32_MAX ? -1 : cpu;
}

static int compare_cpus(const void *a, const void *b)
{
	__u32 x = *(const __u32 *)a, y = *(const __u32 *)b;

	return x < y ? -1 : x > y;
}

static int find_cpus(struct bpfrelay_log *log)
{
	struct dirent *entry;
	int err = 0, fd;
	__u32 *more;
	long cpu;
	DIR *dir;

	fd = openat(log->dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir) {
		err = -errno;
		if (fd >= 0)
			close(fd);
		return err;
	}
	while (!err && (entry = readdir(dir))) {
		cpu = cpu_of(entry->d_name);
		if (cpu < 0)
			continue;
		/* A power of two is full. */
		if (!(log->n_cpus & (log->n_cpus - 1))) {
			more = realloc(log->cpus, (log->n_cpus ? 2 * log->n_cpus : 1) *
				       sizeof(*more));
			if (!more) {
				err = -ENOMEM;
				break;
			}
			log->cpus = more;
		}
		log->cpus[log->n_cpus++] = cpu;
	}
	closedir(dir);
	if (log->n_cpus)
		qsort(log->cpus, log->n_cpus, sizeof(*log->cpus), compare_cpus);
	return err;
}

/* Live logs' directories are "name.id". */
static __u32 map_id_of(const char *name)
{
	const char *dot = strrchr(name, '.');
	unsigned long id;
	char *end;

	if (!dot || dot[1] < '0' || dot[1] > '9')
		return 0;
	id = strtoul(dot + 1, &end, 10);
	return *end || id > UINT32_MAX ? 0 : id;
}

static void fill_info(struct bpfrelay_log *log)
{
	struct bpfrelay_log_info *info = &log->info;
	const struct metadata *m = &log->metadata;
	struct statfs fs;

	info->name = m->log;
	info->dir = log->dir;
	info->host = m->host;
	info->boot = m->clock_uuid;
	memcpy(info->uuid, m->uuid, sizeof(info->uuid));
	info->live = !fstatfs(log->dir_fd, &fs) && (unsigned int)fs.f_type == DEBUGFS_MAGIC;
	info->map_id = map_id_of(m->log);
	info->clock = m->clock;
	info->real_offset = m->offset;
}

static int open_dir(struct bpfrelay_log *log)
{
	int err;

	log->dir_fd = open(log->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (log->dir_fd < 0) {
		err = -errno;
		say(&log->say, "%s: %s", log->dir, strerror(-err));
		return err;
	}
	err = read_metadata(log);
	err = err ?: find_cpus(log);
	if (err)
		return err;
	fill_info(log);
	/* All that the types say, while their map is there to be asked. */
	return log->info.live && log->info.map_id ? map_types(log->info.map_id, &log->metadata) : 0;
}

static int open_log(const char *what, int map_fd, const struct bpfrelay_log_opts *user_opts,
		    struct bpfrelay_log **out)
{
	struct bpfrelay_log_opts opts;
	struct bpfrelay_log *log;
	const char *root;
	int err;

	*out = NULL;
	err = trace_get_opts(&opts, sizeof(opts), user_opts);
	if (err)
		return err;
	root = opts.root ?: BPFRELAY_ROOT;
	log = calloc(1, sizeof(*log) + strlen(root) + 1);
	if (!log)
		return -ENOMEM;
	strcpy(log->root, root);
	log->say = (struct say) { opts.print, opts.print_ctx };
	log->dir_fd = -1;
	if (what)
		err = find_log(root, what, log->dir, &log->say);
	else
		err = find_log_of_map(root, map_fd, log->dir, &log->say);
	err = err ?: open_dir(log);
	if (err) {
		bpfrelay_log_close(log);
		return err;
	}
	*out = log;
	return 0;
}

int bpfrelay_log_open(const char *what, const struct bpfrelay_log_opts *opts,
		      struct bpfrelay_log **log)
{
	return open_log(what, -1, opts, log);
}

int bpfrelay_log_open_fd(int map_fd, const struct bpfrelay_log_opts *opts,
			 struct bpfrelay_log **log)
{
	return open_log(NULL, map_fd, opts, log);
}

void bpfrelay_log_close(struct bpfrelay_log *log)
{
	if (!log)
		return;
	if (log->dir_fd >= 0)
		close(log->dir_fd);
	metadata_free(&log->metadata);
	free(log->cpus);
	free(log);
}

const struct bpfrelay_log_info *bpfrelay_log_info(const struct bpfrelay_log *log)
{
	return &log->info;
}

const struct bpfrelay_type *bpfrelay_log_type(const struct bpfrelay_log *log, __u32 id)
{
	return id < BPF_RELAY_TYPES_MAX ? log->metadata.type[id] : NULL;
}

__u64 trace_clock(const struct bpfrelay_log *log)
{
	struct timespec now;

	clock_gettime(log->info.clock == BPF_RELAY_CLOCK_MONO ? CLOCK_MONOTONIC : CLOCK_BOOTTIME,
		      &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

__u64 bpfrelay_log_now(const struct bpfrelay_log *log)
{
	return log->info.live ? trace_clock(log) : stream_newest(log);
}
