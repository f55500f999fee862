/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Inside the library: what a trace's metadata says. */
#ifndef __METADATA_H__
#define __METADATA_H__

#include "bpfrelay.h"
#include "say.h"

struct metadata {
	char log[BPF_RELAY_NAME_MAX];
	char host[BPF_RELAY_NAME_MAX + 1];
	char clock_uuid[37];
	__u8 uuid[16];			/* of the trace: in each of its packets */
	__u32 clock;			/* enum bpf_relay_clock */
	__s64 offset;			/* ns from the clock to real time */
	struct bpfrelay_type *type[BPF_RELAY_TYPES_MAX];	/* NULL: no such type */
};

/*
 * Reads the CTF 1.8 text that the module and bpfrelay_type_tsdl() write; nothing
 * else. 0; -EINVAL, having said in which line and why; -ENOMEM. What was made is to
 * be freed also then.
 */
int metadata_parse(struct metadata *m, const char *text, size_t len, const struct say *to);
void metadata_free(struct metadata *m);

#endif /* __METADATA_H__ */
