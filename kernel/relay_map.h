/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A relay map, for the kernel an array with one element per CPU. A program may pass us any
 * map, and what is taken for a relay map is written to: so it must be proven to be one,
 * from what the kernel recorded when it was made. None of that changes while the map is
 * there, and its cookie no other map ever has: a proof is good as long as we remember the
 * cookie.
 */
#ifndef _BPF_RELAY_RELAY_MAP_H
#define _BPF_RELAY_RELAY_MAP_H

#include <linux/bpf.h>
#include <linux/bpf_relay.h>
#include <linux/percpu.h>

#include "compat.h"

struct bpf_relay;

/* The value of a relay map, per CPU: the copy of the counters is for bpftool. */
struct log_elem {
	struct bpf_relay *relay;
	struct bpf_relay_counters counters;
};

/* Cookies of maps that were proven on this CPU, by their low bits: several logs in turn. */
#define PROVEN_MAX	16

struct proven {
	u64 cookie[PROVEN_MAX];
};
DECLARE_PER_CPU(struct proven, proven);

/* Whether it is one. Any context. */
bool relay_map_prove(const struct bpf_map *map);

/* The same. */
static __always_inline bool relay_map(const struct bpf_map *map)
{
#ifdef COMPAT_MAP_COOKIE
	/* On whichever CPU: each remembers only what is true. */
	if (likely(raw_cpu_read(proven.cookie[map->cookie % PROVEN_MAX]) == map->cookie))
		return true;
#endif
	return relay_map_prove(map);
}

/* The elements of what is one. */
static __always_inline struct log_elem __percpu *relay_map_elems(const struct bpf_map *map)
{
	return (struct log_elem __percpu *)container_of(map, struct bpf_array, map)->pptrs[0];
}

#endif /* _BPF_RELAY_RELAY_MAP_H */
