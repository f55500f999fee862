/* SPDX-License-Identifier: GPL-2.0-only */
/* Every function of the module, called with one map. */
#ifndef _HOSTILE_TRY_H
#define _HOSTILE_TRY_H

struct hostile_tried tried;

struct bpf_relay_opts opts = { .abi = BPF_RELAY_ABI, .n_types = 1 };
struct bpf_relay_type type = {
	.abi = BPF_RELAY_ABI, .id = 1, .size = sizeof(struct hostile_rec), .name = "hostile_rec",
};

static __always_inline int try_writing(void *map)
{
	struct bpf_relay_record *rec;
	struct hostile_rec r = {};

	tried.runs++;
	tried.output = bpf_relay_output(map, &r, sizeof(r), 0);
	rec = bpf_relay_reserve(map, sizeof(r), 0);
	if (rec) {
		tried.reserve = 1;
		bpf_relay_discard(rec);
	}
	return 0;
}

static __always_inline int try_opening(void *map)
{
	tried.add_type = bpf_relay_add_type(map, &type, sizeof(type));
	tried.open = bpf_relay_open(map, &opts, sizeof(opts));
	return 0;
}

#endif /* _HOSTILE_TRY_H */
