// SPDX-License-Identifier: GPL-2.0-only
/* One log per key, made at run time: relay maps inside other maps. */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include "bpf_relay.h"
#include "hostile.h"
#include "hostile_count.h"

char _license[] SEC("license") = "GPL";

/* The template: what all inner maps look like. */
RELAY_MAP(inner, struct hostile_rec);

struct inner_template {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct inner_relay);
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH_OF_MAPS);
	__uint(max_entries, HOSTILE_INNER);
	__type(key, __u32);
	__array(values, struct inner_template);
} by_hash SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, HOSTILE_INNER);
	__type(key, __u32);
	__array(values, struct inner_template);
} by_array SEC(".maps");

/* The same to look at, from outside; but no relay maps. */
struct foreign_template {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__uint(key_size, 4);
	__uint(value_size, HOSTILE_FOREIGN);
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, HOSTILE_INNER);
	__type(key, __u32);
	__array(values, struct foreign_template);
} by_foreign SEC(".maps");

struct hostile_args args;	/* in */
__u64 missing;			/* out: keys without a log */
__u64 reserved;			/* out: records that a foreign map gave */

/* Open the log with key args.who. */
SEC("syscall")
int open_one(void *ctx)
{
	__u32 key = args.who;
	void *log;
	int err;

	log = bpf_map_lookup_elem(&by_hash, &key);
	if (!log)
		return -1;
	err = bpf_relay_add_type(log, &inner_setup.type[0], sizeof(inner_setup.type[0]));
	if (err && err != RELAY_EALREADY)
		return err;
	return bpf_relay_open(log, &inner_setup.opts, sizeof(inner_setup.opts));
}

static int write_one(__u64 i, void *ctx)
{
	__u32 key = i % HOSTILE_INNER;
	struct hostile_rec rec = { .seq = i / HOSTILE_INNER, .who = key };
	struct bpf_relay_record *res;
	void *log;

	log = bpf_map_lookup_elem(&by_hash, &key);
	if (!log) {
		__sync_fetch_and_add(&missing, 1);
		return 0;
	}
	count(bpf_relay_output(log, &rec, sizeof(rec), 1));

	/* And one reserved, through the other map. */
	log = bpf_map_lookup_elem(&by_array, &key);
	if (!log) {
		__sync_fetch_and_add(&missing, 1);
		return 0;
	}
	res = bpf_relay_reserve(log, sizeof(rec), 1);
	if (res) {
		struct hostile_rec *r = (void *)bpf_relay_record_data(res, sizeof(*r));

		if (r)
			*r = rec;
		bpf_relay_submit(res);
	}
	return 0;
}

/* args.count rounds over all logs. */
SEC("syscall")
int write_all(void *ctx)
{
	return bpf_loop(args.count * HOSTILE_INNER, write_one, NULL, 0);
}

static int write_one_foreign(__u64 i, void *ctx)
{
	__u32 key = i;
	struct hostile_rec rec = { .seq = i, .who = key };
	struct bpf_relay_record *res;
	void *map;

	map = bpf_map_lookup_elem(&by_foreign, &key);
	if (!map) {
		__sync_fetch_and_add(&missing, 1);
		return 0;
	}
	count(bpf_relay_output(map, &rec, sizeof(rec), 1));
	res = bpf_relay_reserve(map, sizeof(rec), 1);
	if (res) {
		__sync_fetch_and_add(&reserved, 1);
		bpf_relay_discard(res);
	}
	return 0;
}

/* What is no log, once each. */
SEC("syscall")
int write_foreign(void *ctx)
{
	return bpf_loop(HOSTILE_INNER, write_one_foreign, NULL, 0);
}
