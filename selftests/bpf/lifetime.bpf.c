// SPDX-License-Identifier: GPL-2.0-only
/* One record for each call of a function that nobody but a test run calls. */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#define ANY_PAYLOAD	4096
#include "anylog.bpf.h"

__u64 seq;

SEC("fentry/bpf_fentry_test1")
int BPF_PROG(on_test, int a)
{
	struct any_rec rec = {
		.seq = __sync_fetch_and_add(&seq, 1),
		.cpu = bpf_get_smp_processor_id(),
	};

	any_count(relay_output(&any, &rec));
	return 0;
}
