// SPDX-License-Identifier: GPL-2.0-only
/* Maps of all kinds, handed to functions that want a relay map. */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#define ANY_PAYLOAD	4096
#include "anylog.bpf.h"
#include "refused.h"

struct refused_short {
	struct bpf_relay __kptr *relay;
};

struct refused_plain {
	char bytes[sizeof(struct any_relay)];
};

#define MAP(name, kind, entries, v)						\
	struct {								\
		__uint(type, BPF_MAP_TYPE_##kind);				\
		__uint(max_entries, entries);					\
		__type(key, __u32);						\
		__type(value, v);						\
	} name SEC(".maps")

MAP(hash, HASH, 1, __u64);
MAP(array, ARRAY, 1, __u64);
MAP(plain, PERCPU_ARRAY, 1, struct refused_plain);
MAP(two, PERCPU_ARRAY, 2, struct any_relay);
MAP(short_value, PERCPU_ARRAY, 1, struct refused_short);
MAP(array_of_logs, ARRAY, 1, struct any_relay);
MAP(hash_of_logs, HASH, 1, struct any_relay);
MAP(percpu_hash, PERCPU_HASH, 1, struct any_relay);

struct refused_said refused_said[REFUSED_MAPS];

#define TRY(i, map)								\
do {										\
	struct bpf_relay_record *rec;						\
										\
	refused_said[i].add_type = bpf_relay_add_type(&map, &type, sizeof(type)); \
	refused_said[i].open = bpf_relay_open(&map, &opts, sizeof(opts));	\
	refused_said[i].output = bpf_relay_output(&map, &data, sizeof(data), 0); \
	rec = bpf_relay_reserve(&map, sizeof(data), 0);				\
	refused_said[i].reserved = !!rec;					\
	if (rec)								\
		bpf_relay_submit(rec);						\
} while (0)

SEC("syscall")
int refused_maps(void *ctx)
{
	struct bpf_relay_opts opts = { .abi = BPF_RELAY_ABI, .n_types = 1 };
	struct bpf_relay_type type = { .abi = BPF_RELAY_ABI, .id = 1, .size = 8, .name = "t" };
	__u64 data = 1;

	TRY(0, hash);
	TRY(1, array);
	TRY(2, plain);
	TRY(3, two);
	TRY(4, short_value);
	TRY(5, array_of_logs);
	TRY(6, hash_of_logs);
	TRY(7, percpu_hash);
	TRY(8, any);
	return 0;
}
