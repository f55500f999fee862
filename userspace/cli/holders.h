/* SPDX-License-Identifier: GPL-2.0-only */
/* Who holds the maps of logs, and so the logs. */
#ifndef __HOLDERS_H__
#define __HOLDERS_H__

#include <stddef.h>
#include <linux/types.h>

struct json_object;

enum holder_kind {
	HOLDER_PROGRAM,		/* a loaded one that uses the map */
	HOLDER_FD,		/* a process has it open */
	HOLDER_PIN,		/* in a bpffs, of our mount namespace or of a process's */
	HOLDER_MAP,		/* it is an element of another map */
	N_HOLDER_KINDS,
};

struct holder {
	enum holder_kind kind;
	__u32 map_id;
	__u32 id;		/* of the program, the process, or the map that it is in */
	__u32 fd;
	char *name;		/* of the program, process, or map; the path of the pin */
	const char *type;	/* of the program, or the map */
};

struct holders {
	struct holder *holder;
	int n;
	/*
	 * -EPERM: something may not be looked at, as others' processes without
	 * CAP_SYS_PTRACE; -E2BIG: there is too much to look at; -ENOMEM.
	 */
	int err;
};

/* Of the maps with these ids. */
void holders_find(struct holders *to, const __u32 *map_ids, int n_ids);
void holders_free(struct holders *holders);

/* ---- holders_show.c: those of one map ---- */

/* "2 programs, 1 process, 3 pins" */
const char *format_holders(const struct holders *holders, __u32 map_id, char *to, size_t size);
/* A line for each, the first one behind the label. */
void print_holders(const char *label, const struct holders *holders, __u32 map_id);
struct json_object *describe_holders(const struct holders *holders, __u32 map_id);

#endif /* __HOLDERS_H__ */
