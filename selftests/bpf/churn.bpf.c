// SPDX-License-Identifier: GPL-2.0-only
/* Logs that come and go: whichever map lies in `slot` is opened and written once. */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include "bpf_relay.h"

char _license[] SEC("license") = "GPL";

/* What all of them look like. */
RELAY_MAP(churn);

struct churn_template {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct churn_relay);
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__type(key, __u32);
	__array(values, struct churn_template);
} slot SEC(".maps");

SEC("syscall")
int churn_next(void *ctx)
{
	__u64 word = 0x1234;
	__u32 key = 0;
	void *log;
	int err;

	log = bpf_map_lookup_elem(&slot, &key);
	if (!log)
		return -1;
	err = bpf_relay_open(log, &churn_setup.opts, sizeof(churn_setup.opts));
	return err ?: bpf_relay_output(log, &word, sizeof(word), 0);
}
