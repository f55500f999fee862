/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Any number of logs, made at run time as inner maps, and programs that hand
 * add_type and open whatever bytes the test has put into any_arg. ANY_PAYLOAD is
 * the size of the largest record.
 */
#ifndef _ANYLOG_BPF_H
#define _ANYLOG_BPF_H

#include "bpf_relay.h"
#include "anylog.h"

char _license[] SEC("license") = "GPL";

RELAY_MAP(any, struct any_rec);

struct {
	__uint(type, BPF_MAP_TYPE_HASH_OF_MAPS);
	__uint(max_entries, 256);
	__type(key, __u32);
	__array(values, typeof(any));
} any_logs SEC(".maps");

struct any_call any_call;
char any_arg[ANYLOG_ARG];
__u64 any_results[ANYLOG_ERRNOS];	/* how often each -errno came back */
char any_payload[ANY_PAYLOAD + 256] SEC(".bss.payload");

static void any_count(int err)
{
	__u64 i = (__u32)-err;

	/* The last one is for what is no errno of ours. */
	if (i >= ANYLOG_ERRNOS)
		i = ANYLOG_ERRNOS - 1;
	asm volatile ("" : "+r"(i));
	__sync_fetch_and_add(&any_results[i & (ANYLOG_ERRNOS - 1)], 1);
}

static void *any_log(void)
{
	__u32 key = any_call.key;

	return bpf_map_lookup_elem(&any_logs, &key);
}

SEC("syscall")
int any_do_open(void *ctx)
{
	__u32 size = any_call.size;
	void *log = any_log();

	if (!bpf_ksym_exists(bpf_relay_open))
		return RELAY_ENOSYS;
	if (!log || size > sizeof(any_arg))
		return -ANYLOG_ERRNOS;
	return bpf_relay_open(log, (struct bpf_relay_opts *)any_arg, size);
}

SEC("syscall")
int any_do_add_type(void *ctx)
{
	__u32 size = any_call.size;
	void *log = any_log();

	if (!bpf_ksym_exists(bpf_relay_add_type))
		return RELAY_ENOSYS;
	if (!log || size > sizeof(any_arg))
		return -ANYLOG_ERRNOS;
	return bpf_relay_add_type(log, (struct bpf_relay_type *)any_arg, size);
}

static int any_write_one(__u64 i, void *ctx)
{
	__u32 size = any_call.size;
	void *log = any_log();
	/* Every size begins elsewhere in the pattern: what is shifted is seen. */
	__u32 from = size & 255;

	if (!log || size > ANY_PAYLOAD)
		return 1;
	any_call.size = size + any_call.step;
	any_count(bpf_relay_output(log, any_payload + from, size, any_call.flags));
	return 0;
}

/* count records of size, size + step, ... bytes with flags. */
SEC("syscall")
int any_write(void *ctx)
{
	if (!bpf_ksym_exists(bpf_relay_output))
		return RELAY_ENOSYS;
	return bpf_loop(any_call.count, any_write_one, NULL, 0);
}

#endif /* _ANYLOG_BPF_H */
