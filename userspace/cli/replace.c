// SPDX-License-Identifier: GPL-2.0-only
/*
 * bpfrelay load --replace: the new one is built beside the old one, in every respect
 * but its logs. Then the two change places, and the old one is removed.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <bpf/bpf.h>

#include "bpfrelay.h"
#include "cli.h"

static bool is_log(const struct bpf_object *obj, const struct bpf_map *wanted)
{
	struct bpf_map *map = NULL;

	while ((map = bpfrelay_next_log(obj, map)))
		if (map == wanted)
			return true;
	return false;
}

/* Data that a program of the new object may go on with: nothing that leads to a program. */
static bool is_table(const struct bpf_map *map)
{
	switch (bpf_map__type(map)) {
	case BPF_MAP_TYPE_ARRAY:
	case BPF_MAP_TYPE_PERCPU_ARRAY:
	case BPF_MAP_TYPE_HASH:
	case BPF_MAP_TYPE_PERCPU_HASH:
	case BPF_MAP_TYPE_LRU_HASH:
	case BPF_MAP_TYPE_LRU_PERCPU_HASH:
		/* libbpf's own, of USDT, belong to one object's programs. */
		return !bpf_map__is_internal(map) && strncmp(bpf_map__name(map), "__bpf_", 6);
	default:
		return false;
	}
}

static bool same_shape(int fd, const struct bpf_map *map)
{
	struct bpf_map_info info = {};
	__u32 len = sizeof(info);

	return !bpf_obj_get_info_by_fd(fd, &info, &len) && info.type == bpf_map__type(map) &&
	       info.key_size == bpf_map__key_size(map) &&
	       info.value_size == bpf_map__value_size(map) &&
	       info.max_entries == bpf_map__max_entries(map) &&
	       info.map_flags == bpf_map__map_flags(map);
}

/* Refuses if a log of the old one has no place in the new one. */
static int keep_all_logs(const struct bpf_object *obj, const struct instance *old)
{
	unsigned long long readable;
	const struct bpf_map *map;
	struct dirent *entry;
	char path[512 + 256];
	struct log log;
	int err = 0;
	DIR *dir;

	dir = opendir(old->pins);
	if (!dir)
		return error("%s: %s", old->pins, strerror(errno));
	while (!err && (entry = readdir(dir))) {
		snprintf(path, sizeof(path), "%s/%s", old->pins, entry->d_name);
		if (entry->d_name[0] == '.' || !read_pinned_log(path, &log, &readable))
			continue;
		map = bpf_object__find_map_by_name(obj, entry->d_name);
		if (!map || !is_log(obj, map))
			err = error("%s: has a log %s, which the new object has not: unload it first",
				    old->name, entry->d_name);
	}
	closedir(dir);
	return err;
}

int replace_reuse_maps(struct bpf_object *obj, const struct instance *old)
{
	struct bpf_map *map;
	char path[512];
	int fd, err = 0;
	bool log;

	if (keep_all_logs(obj, old))
		return -1;
	bpf_object__for_each_map(map, obj) {
		log = is_log(obj, map);
		if (!log && !is_table(map))
			continue;
		map_pin_path(old, map, path, sizeof(path));
		fd = bpf_obj_get(path);
		if (fd < 0)
			continue;
		if (same_shape(fd, map))
			err = bpf_map__reuse_fd(map, fd);
		else if (log)
			err = -ESTALE;
		close(fd);
		if (err)
			return error("%s: its map %s cannot be kept: %s", old->name, path,
				     error_text(err));
	}
	return 0;
}

int replace_commit(const struct attachment *at)
{
	int err;

	if (instance_exchange(at->old, at->inst))
		return -1;
	if (at->xdp_link >= 0) {
		err = bpf_link_update(at->xdp_link, at->xdp_prog, NULL);
		if (err) {
			error("%s: its XDP program cannot be replaced: %s", at->old->name,
			      error_text(err));
			instance_exchange(at->old, at->inst);
			return -1;
		}
	}
	/* The old one is there now. */
	instance_remove(at->inst);
	if (instance_exists(at->inst))
		return error("%s: replaced, but %s and %s cannot be removed", at->old->name,
			     at->inst->pins, at->inst->state);
	return 0;
}
