/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Inside the library: from what the user calls a log to its directory ctf/. */
#ifndef __FIND_H__
#define __FIND_H__

#include "say.h"
#include "trace.h"

/* As bpfrelay_log_open() and bpfrelay_log_open_fd() have it. */
int find_log(const char *root, const char *what, char dir[PATH_SIZE], const struct say *to);
int find_log_of_map(const char *root, int map_fd, char dir[PATH_SIZE], const struct say *to);

#endif /* __FIND_H__ */
