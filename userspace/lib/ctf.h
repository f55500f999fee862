/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Inside the library: the files cpuN. */
#ifndef __CTF_H__
#define __CTF_H__

#include "stream.h"

extern const struct source ctf_source;

/* Of a file at a time: a descriptor or a negative errno; its size, as of the snapshot. */
int ctf_open(const struct bpfrelay_log *log, __u32 cpu);
__s64 ctf_size(int fd);

/* Reads all of it, or to the end of the file: the length or a negative errno. */
ssize_t ctf_read(const struct bpfrelay_log *log, int fd, void *to, size_t size, __u64 at);

#endif /* __CTF_H__ */
