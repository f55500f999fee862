/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A program's own count of the records that it offered to its log, per CPU, so that
 * the log's counters can be checked. Include behind bpf_helpers.h.
 */
#ifndef __OWN_COUNT_H__
#define __OWN_COUNT_H__

#define OWN_COUNT(name)					\
	struct {					\
		__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);\
		__uint(max_entries, 1);			\
		__type(key, __u32);			\
		__type(value, __u64);			\
	} name SEC(".maps")

static inline void own_count_add(void *map)
{
	__u32 zero = 0;
	__u64 *count = bpf_map_lookup_elem(map, &zero);

	/* Atomic: another program of the object may interrupt this one. */
	if (count)
		__sync_fetch_and_add(count, 1);
}

#endif /* __OWN_COUNT_H__ */
