/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Inside the library: the file `mem`, from which records are read without system calls. */
#ifndef __MEM_H__
#define __MEM_H__

#include "stream.h"

struct mem;

/*
 * Maps the first page. 0; -ENOENT if the log has no such file, as copies have none; or
 * why it cannot be used, which is said.
 */
int mem_open(const struct bpfrelay_log *log, struct mem **mem);
void mem_close(struct mem *mem);

/* To sleep on: it can be read when something came since it was last sought to 0. */
int mem_fd(const struct mem *mem);

/* The log's map is gone: nothing is written any more. */
bool mem_is_closed(const struct mem *mem);

/* As stream_open(), of a CPU's memory. */
int mem_stream_open(struct stream *s, const struct mem *mem, const struct bpfrelay_log *log,
		    __u32 cpu);

#endif /* __MEM_H__ */
