/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Open records: the handles that BPF programs hold between reserve and submit. A
 * fixed pool per CPU and log, outside the memory that readers map.
 */
#ifndef _BPF_RELAY_RECORDS_H
#define _BPF_RELAY_RECORDS_H

#include <linux/bpf_relay.h>
#include <linux/types.h>

#include "ring.h"

struct log_cpu;
struct log_elem;

struct bpf_relay_record {
	struct log_cpu *cpu;
	struct log_elem *elem;	/* of the map, where the counters are shown */
	struct ring_slot slot;
};

struct record_pool {
	u64 used;		/* bitmap; written by its own CPU only */
	struct bpf_relay_record record[BPF_RELAY_OPEN_MAX];
};

/* On the pool's own CPU with preemption off, any context. NULL: all are in use. */
struct bpf_relay_record *record_get(struct log_cpu *cpu, struct log_elem *elem);
void record_set(struct bpf_relay_record *rec, const struct ring_slot *slot);
void record_put(struct bpf_relay_record *rec);

/*
 * How many are open, and the time of the oldest, or `now`. From anywhere; a record
 * that comes or goes meanwhile may be missed.
 */
u32 records_open(const struct log_cpu *cpu, u64 now, u64 *oldest);

#endif /* _BPF_RELAY_RECORDS_H */
