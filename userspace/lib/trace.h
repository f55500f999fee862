/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Inside the library: a log that is open. */
#ifndef __TRACE_H__
#define __TRACE_H__

#include "bpfrelay.h"
#include "metadata.h"
#include "say.h"

#define PATH_SIZE	4096

struct bpfrelay_log {
	struct say say;
	struct metadata metadata;
	struct bpfrelay_log_info info;
	int dir_fd;		/* of the directory with metadata and cpuN */
	__u32 *cpus;		/* of cpuN, ascending */
	int n_cpus;
	char dir[PATH_SIZE];
	char root[];		/* where live logs are */
};

/* A file beside, or above, cpuN; a descriptor or a negative errno. */
int trace_open_file(const struct bpfrelay_log *log, const char *name);

/* All of a file, with a NUL behind it; *data is to be freed. 0 or a negative errno. */
int trace_read_fd(int fd, char **data, size_t *size);

/* What the clock of a log says now, on the machine that it is written on. */
__u64 trace_clock(const struct bpfrelay_log *log);

/* opts of a caller with an older or newer header; what this library does not know must be 0. */
int trace_get_opts(void *to, size_t size, const void *from);

#endif /* __TRACE_H__ */
