/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _BPF_RELAY_KFUNCS_H
#define _BPF_RELAY_KFUNCS_H

#include <linux/bpf_relay.h>
#include <linux/types.h>

struct bpf_relay_record;

/* Make the functions known to the verifier. There is no way back but unloading. */
int kfuncs_register(void);

/*
 * The functions themselves. p__map is any map for the verifier; what is no relay
 * map gets -EINVAL (or NULL) and is not touched.
 *
 * Written from any context up to NMI, with bounded work, no lock, no allocation
 * and nobody woken. The low 16 bits of flags are the id of the record's type, the
 * others must be zero.
 */

/*
 * Write a record of data__sz bytes. 0, or why there is none: -ENODEV (the log is
 * not open), or a drop reason, which is counted: -ENOENT, -EINVAL, -E2BIG, -EBUSY,
 * -ENOSPC, -EDEADLK (see BPF_RELAY_COUNTERS in <linux/bpf_relay.h>).
 */
int bpf_relay_output(void *p__map, const void *data, u32 data__sz, u64 flags);

/*
 * Reserve a record of size bytes, all zero, or NULL, for the same reasons. It is
 * open until it is submitted or discarded, on this CPU; up to BPF_RELAY_OPEN_MAX
 * per CPU and log may be. An open record hides from readers what is not
 * yet published in its sub-buffer, and keeps the sub-buffer from being overwritten.
 */
struct bpf_relay_record *bpf_relay_reserve(void *p__map, u32 size, u64 flags);

/* The record's bytes; NULL if rdwr_buf_size, a constant, is more than was reserved. */
char *bpf_relay_record_data(struct bpf_relay_record *rec, const int rdwr_buf_size);

/* Publish the record; or let no reader ever see it, and count it as discarded. */
void bpf_relay_submit(struct bpf_relay_record *rec);
void bpf_relay_discard(struct bpf_relay_record *rec);

/*
 * Describe a type of record before the log is opened. May sleep; SYSCALL programs
 * only. 0, -EPROTO (built for another ABI), -EINVAL, -E2BIG (text too long; fields
 * that this version does not know), -EFAULT, -ENOMEM, -EALREADY (there, and equal),
 * -ESTALE (there, but different; or the log is open without it), -EAGAIN (the
 * map's old log is still being removed).
 */
int bpf_relay_add_type(void *p__map, struct bpf_relay_type *type, u32 type__sz);

/*
 * Open the log. May sleep; SYSCALL programs only. 0, -EPROTO, -EINVAL (not a relay
 * map; an illegal size or option; not the number of types that were added), -E2BIG,
 * -EALREADY (open, with the same types and options), -ESTALE (open, with others),
 * -EAGAIN (the map's old log is still being removed, a CPU is on its way up or down,
 * or somebody holds the directory in debugfs for ten seconds), -ENODEV (the map
 * dropped the log meanwhile), -EDQUOT (max_mib), -ENOMEM, -EOPNOTSUPP (no debugfs).
 * The kernel log has the details. Behind -ENOMEM or -EAGAIN the types may be gone:
 * add them again.
 */
int bpf_relay_open(void *p__map, struct bpf_relay_opts *opts, u32 opts__sz);

/* What a relay map does with its reference when it lets go of it. Any context. */
void bpf_relay_release_dtor(void *log);

#endif /* _BPF_RELAY_KFUNCS_H */
