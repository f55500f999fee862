// SPDX-License-Identifier: GPL-2.0-only
#include <linux/err.h>
#include <linux/module.h>

#include "relay_map.h"

/* The kernel counts cookies up from 1, and down from the largest: not to here. */
#define COOKIE_NONE	(1ULL << 63)

DEFINE_PER_CPU(struct proven, proven) = { .cookie = { [0 ... PROVEN_MAX - 1] = COOKIE_NONE } };

static void remember(const struct bpf_map *map)
{
#ifdef COMPAT_MAP_COOKIE
	raw_cpu_write(proven.cookie[map->cookie % PROVEN_MAX], map->cookie);
#endif
}

bool relay_map_prove(const struct bpf_map *map)
{
	const struct btf_record *record = map->record;

	if (map->map_type != BPF_MAP_TYPE_PERCPU_ARRAY || map->max_entries != 1 ||
	    map->value_size != sizeof(struct log_elem) || IS_ERR_OR_NULL(record) ||
	    record->cnt != 1)
		return false;
	/*
	 * The module registers one destructor, so a referenced pointer to a type
	 * of ours is a log. (BTF ids cannot be compared: ours are relocated.)
	 */
	if (record->fields[0].type != BPF_KPTR_REF || record->fields[0].offset ||
	    record->fields[0].kptr.module != THIS_MODULE)
		return false;
	remember(map);
	return true;
}
