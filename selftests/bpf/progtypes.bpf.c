// SPDX-License-Identifier: GPL-2.0-only
/* Tracing, security, iterators, callbacks: a program of each type. */

/* For usdt.bpf.h, which reads registers. */
#define __TARGET_ARCH_x86

#include "progtypes.bpf.h"
#include <bpf/bpf_tracing.h>
#include <bpf/usdt.bpf.h>

char _license[] SEC("license") = "GPL";

/* The same numbers on every 64-bit x86 kernel. */
#define NR_GETPGID	121

/* ---- getpgid(pid) calls security_task_getpgid() once -------------------- */

SEC("fentry/security_task_getpgid")
int on_fentry(void *ctx)
{
	if (is_ours())
		WRITE("fentry");
	return 0;
}

SEC("fexit/security_task_getpgid")
int on_fexit(void *ctx)
{
	if (is_ours())
		WRITE("fexit");
	return 0;
}

SEC("fmod_ret/security_task_getpgid")
int BPF_PROG(on_fmod_ret, struct task_struct *p, int ret)
{
	if (is_ours())
		WRITE("fmod_ret");
	return ret;
}

SEC("kprobe/security_task_getpgid")
int on_kprobe(void *ctx)
{
	if (is_ours())
		WRITE("kprobe");
	return 0;
}

SEC("kretprobe/security_task_getpgid")
int on_kretprobe(void *ctx)
{
	if (is_ours())
		WRITE("kretprobe");
	return 0;
}

SEC("kprobe.multi/security_task_getpgid")
int on_kprobe_multi(void *ctx)
{
	if (is_ours())
		WRITE("kprobe.multi");
	return 0;
}

SEC("kretprobe.multi/security_task_getpgid")
int on_kretprobe_multi(void *ctx)
{
	if (is_ours())
		WRITE("kretprobe.multi");
	return 0;
}

/* Entry and return. */
SEC("kprobe.session/security_task_getpgid")
int on_kprobe_session(void *ctx)
{
	if (is_ours())
		WRITE("kprobe.session");
	return 0;
}

SEC("tracepoint/syscalls/sys_enter_getpgid")
int on_tracepoint(void *ctx)
{
	if (is_ours())
		WRITE("tracepoint");
	return 0;
}

SEC("raw_tp/sys_enter")
int on_raw_tp(struct bpf_raw_tracepoint_args *ctx)
{
	if (is_ours() && ctx->args[1] == NR_GETPGID)
		WRITE("raw_tp");
	return 0;
}

SEC("tp_btf/sys_enter")
int BPF_PROG(on_tp_btf, struct pt_regs *regs, long id)
{
	if (is_ours() && id == NR_GETPGID)
		WRITE("tp_btf");
	return 0;
}

SEC("lsm/task_getpgid")
int BPF_PROG(on_lsm, struct task_struct *p, int ret)
{
	if (is_ours())
		WRITE("lsm");
	return ret;
}

SEC("lsm.s/file_open")
int BPF_PROG(on_lsm_s, struct file *file, int ret)
{
	if (is_ours())
		WRITE("lsm.s");
	return ret;
}

/* ---- A test run calls the kernel's own bpf_fentry_test1() --------------- */

/* Does nothing: it is not attached, only run. */
SEC("fentry/bpf_fentry_test1")
int run_test_functions(void *ctx)
{
	return 0;
}

SEC("fentry.s/bpf_fentry_test1")
int on_fentry_s(void *ctx)
{
	if (is_ours())
		WRITE("fentry.s");
	return 0;
}

SEC("raw_tp.w/bpf_test_finish")
int on_raw_tp_w(void *ctx)
{
	if (is_ours())
		WRITE("raw_tp.w");
	return 0;
}

/* ---- Probes in the test's own program ----------------------------------- */

SEC("uprobe")
int on_uprobe(void *ctx)
{
	if (is_ours())
		WRITE("uprobe");
	return 0;
}

SEC("uprobe.s")
int on_uprobe_s(void *ctx)
{
	if (is_ours())
		WRITE("uprobe.s");
	return 0;
}

SEC("uretprobe")
int on_uretprobe(void *ctx)
{
	if (is_ours())
		WRITE("uretprobe");
	return 0;
}

SEC("uprobe.multi")
int on_uprobe_multi(void *ctx)
{
	if (is_ours())
		WRITE("uprobe.multi");
	return 0;
}

SEC("usdt")
int on_usdt(void *ctx)
{
	if (is_ours())
		WRITE("usdt");
	return 0;
}

SEC("perf_event")
int on_perf_event(void *ctx)
{
	if (is_ours())
		WRITE("perf_event");
	return 0;
}

/* ---- Iterators: once for the test's own task ---------------------------- */

SEC("iter/task")
int on_iter(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;

	if (task && task->pid == pid)
		WRITE("iter");
	return 0;
}

SEC("iter.s/task")
int on_iter_s(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;

	if (task && task->pid == pid)
		WRITE("iter.s");
	return 0;
}

/* ---- Called by a system call, and what such a program can start --------- */

SEC("syscall")
int on_syscall(void *ctx)
{
	WRITE("syscall");
	return 0;
}

struct timer_elem {
	struct bpf_timer timer;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct timer_elem);
} timers SEC(".maps");

static int timer_callback(void *map, __u32 *key, struct timer_elem *elem)
{
	WRITE("bpf_timer");
	return 0;
}

SEC("syscall")
int on_bpf_timer(void *ctx)
{
	struct timer_elem *elem;
	__u32 key = 0;

	elem = bpf_map_lookup_elem(&timers, &key);
	if (!elem)
		return -1;
	bpf_timer_init(&elem->timer, &timers, 1 /* CLOCK_MONOTONIC */);
	bpf_timer_set_callback(&elem->timer, timer_callback);
	return bpf_timer_start(&elem->timer, 0, 0);
}

struct wq_elem {
	struct bpf_wq wq;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct wq_elem);
} wqs SEC(".maps");

/* 7.x has the second form; there the first one has another last argument. */
extern int bpf_wq_init(struct bpf_wq *wq, void *p__map, unsigned int flags) __ksym __weak;
extern int bpf_wq_start(struct bpf_wq *wq, unsigned int flags) __ksym __weak;
extern int bpf_wq_set_callback_impl(struct bpf_wq *wq,
				    int (callback_fn)(void *map, int *key, void *value),
				    unsigned int flags, void *aux__ign) __ksym __weak;
extern int bpf_wq_set_callback(struct bpf_wq *wq,
			       int (callback_fn)(void *map, int *key, void *value),
			       unsigned int flags) __ksym __weak;

static int wq_callback(void *map, int *key, void *value)
{
	WRITE("bpf_wq");
	return 0;
}

SEC("syscall")
int on_bpf_wq(void *ctx)
{
	struct wq_elem *elem;
	__u32 key = 0;

	elem = bpf_map_lookup_elem(&wqs, &key);
	if (!elem)
		return -1;
	bpf_wq_init(&elem->wq, &wqs, 0);
	if (bpf_ksym_exists(bpf_wq_set_callback))
		bpf_wq_set_callback(&elem->wq, wq_callback, 0);
	else
		bpf_wq_set_callback_impl(&elem->wq, wq_callback, 0, NULL);
	return bpf_wq_start(&elem->wq, 0);
}

/* ---- A program that replaces a function of another one ------------------ */

/* What is replaced, and who calls it. */
__noinline int replaced(int x)
{
	barrier_var(x);
	return x;
}

SEC("syscall")
int call_replaced(void *ctx)
{
	return replaced(1);
}

SEC("freplace")
int on_freplace(int x)
{
	WRITE("freplace");
	return x;
}

/* ---- Refused ------------------------------------------------------------ */

/* What opens a log is for syscall programs only. */
SEC("fentry/security_task_getpgid")
int open_from_fentry(void *ctx)
{
	struct bpf_relay_opts opts = { .abi = BPF_RELAY_ABI };

	return bpf_relay_open(&progs, &opts, sizeof(opts));
}
