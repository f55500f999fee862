/* SPDX-License-Identifier: GPL-2.0-only */
/* How large a log is, and whether there is room for it. */
#ifndef _BPF_RELAY_GEOMETRY_H
#define _BPF_RELAY_GEOMETRY_H

#include <linux/bpf_relay.h>
#include <linux/types.h>

struct geometry {
	u32 subbuf_size;	/* bytes, a power of two */
	u32 n_subbufs;		/* a power of two */
	u64 bytes;		/* of all CPUs together, as charged */
};

/*
 * Fill in defaults (zeroes in opts) and check. `payload` must fit a sub-buffer.
 * Called with log_mutex and cpus_read_lock held. Says in the kernel log what is
 * wrong, with the log's name.
 * -EINVAL: not a legal size; -ENOMEM: more than is available now; -EDQUOT: more
 * than the module parameter max_mib lets all logs have. Charges nothing.
 */
int geometry_resolve(struct geometry *g, const struct bpf_relay_opts *opts, u32 payload,
		     const char *log);

/* All logs together; under log_mutex. */
void geometry_charge(const struct geometry *g);
void geometry_uncharge(const struct geometry *g);

#endif /* _BPF_RELAY_GEOMETRY_H */
