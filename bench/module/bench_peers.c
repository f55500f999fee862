// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the benchmark needs of the kernel and BPF programs cannot have: the instruction
 * counter and the count of interrupts around a call, and as bare functions two ways to
 * record that have none for BPF: relay_write() and the ftrace ring buffer. Neither of the
 * two is meant for use: relay_write() is not safe in an NMI, and nothing is checked here.
 */
#include <linux/btf.h>
#include <linux/btf_ids.h>
#include <linux/debugfs.h>
#include <linux/hardirq.h>
#include <linux/kernel_stat.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/relay.h>
#include <linux/ring_buffer.h>
#include <asm/tsc.h>

#include "compat.h"

/* As large as the other mechanisms' buffers: 1 MiB per CPU. */
static unsigned int subbuf_size = 128 * 1024;
static unsigned int n_subbufs = 8;

static struct dentry *dir;
static struct rchan *chan;
static struct trace_buffer *ftrace;

/* ---- relay ------------------------------------------------------------------- */

static int overwrite_4(struct rchan_buf *buf, void *subbuf, void *prev_subbuf, size_t padding)
{
	return 1;
}

static int overwrite_3(struct rchan_buf *buf, void *subbuf, void *prev_subbuf)
{
	return 1;
}

static struct dentry *create_file(const char *name, struct dentry *parent, umode_t mode,
				  struct rchan_buf *buf, int *is_global)
{
	return debugfs_create_file(name, mode, parent, buf, &relay_file_operations);
}

static int remove_file(struct dentry *dentry)
{
	debugfs_remove(dentry);
	return 0;
}

static const struct rchan_callbacks callbacks = {
	.subbuf_start		= COMPAT_SUBBUF_START(overwrite_4, overwrite_3),
	.create_buf_file	= create_file,
	.remove_buf_file	= remove_file,
};

/* ---- For the programs ----------------------------------------------------------- */

__bpf_kfunc_start_defs();

/* With QEMU's -icount shift=0: instructions. */
__bpf_kfunc u64 bench_now(void)
{
	return rdtsc();
}

/* Something else whenever this CPU took an interrupt. */
__bpf_kfunc u64 bench_interrupts(void)
{
	const unsigned int *count = (const unsigned int *)this_cpu_ptr(&irq_stat);
	u64 sum = this_cpu_read(kstat.irqs_sum);
	int i;

	for (i = 0; i < sizeof(irq_cpustat_t) / sizeof(*count); i++)
		sum += READ_ONCE(count[i]);
	return sum;
}

__bpf_kfunc int bench_relay_write(const void *data, u32 data__sz)
{
	relay_write(chan, data, data__sz);
	return 0;
}

__bpf_kfunc int bench_ftrace_write(const void *data, u32 data__sz)
{
	struct ring_buffer_event *event = ring_buffer_lock_reserve(ftrace, data__sz);

	if (!event)
		return -EBUSY;
	memcpy(ring_buffer_event_data(event), data, data__sz);
	return ring_buffer_unlock_commit(ftrace);
}

__bpf_kfunc u64 bench_ftrace_entries(void)
{
	return ring_buffer_entries(ftrace);
}

__bpf_kfunc_end_defs();

BTF_KFUNCS_START(bench_kfuncs)
BTF_ID_FLAGS(func, bench_now)
BTF_ID_FLAGS(func, bench_interrupts)
BTF_ID_FLAGS(func, bench_relay_write, KF_TRUSTED_ARGS)
BTF_ID_FLAGS(func, bench_ftrace_write, KF_TRUSTED_ARGS)
BTF_ID_FLAGS(func, bench_ftrace_entries)
BTF_KFUNCS_END(bench_kfuncs)

static const struct btf_kfunc_id_set bench_kfunc_set = {
	.owner	= THIS_MODULE,
	.set	= &bench_kfuncs,
};

static int __init bench_init(void)
{
	int err = -ENOMEM;

	dir = debugfs_create_dir("bpf_relay_bench", NULL);
	chan = relay_open("cpu", dir, subbuf_size, n_subbufs, &callbacks, NULL);
	if (!chan)
		goto remove_dir;
	ftrace = ring_buffer_alloc(subbuf_size * n_subbufs, RB_FL_OVERWRITE);
	if (!ftrace)
		goto close_relay;
	err = register_btf_kfunc_id_set(BPF_PROG_TYPE_UNSPEC, &bench_kfunc_set);
	if (err)
		goto free_ftrace;
	return 0;

free_ftrace:
	ring_buffer_free(ftrace);
close_relay:
	relay_close(chan);
remove_dir:
	debugfs_remove(dir);
	return err;
}

static void __exit bench_exit(void)
{
	ring_buffer_free(ftrace);
	relay_close(chan);
	debugfs_remove(dir);
}

module_init(bench_init);
module_exit(bench_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("bpf_relay: what its benchmark compares with");
