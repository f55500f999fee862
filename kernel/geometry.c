// SPDX-License-Identifier: GPL-2.0-only
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpumask.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/moduleparam.h>
#include <linux/printk.h>
#include <linux/sizes.h>

#include "geometry.h"
#include "ring.h"

#define DEFAULT_SUBBUF_SIZE	SZ_128K
#define DEFAULT_N_SUBBUFS	8
#define DEFAULT_RAM_SHARE	64	/* a default log takes at most 1/64 of RAM */
#define QUOTA_RAM_SHARE		8	/* all logs together, without max_mib */

static unsigned long max_mib;
module_param(max_mib, ulong, 0644);
MODULE_PARM_DESC(max_mib, "MiB that all logs together may take (0: 1/8 of RAM)");

static u64 charged;	/* bytes; under log_mutex */

static u64 ram_bytes(void)
{
	struct sysinfo info;

	si_meminfo(&info);
	return (u64)info.totalram * info.mem_unit;
}

static u64 quota_bytes(void)
{
	unsigned long mib = READ_ONCE(max_mib);

	if (!mib)
		return ram_bytes() / QUOTA_RAM_SHARE;
	return min_t(u64, mib, U64_MAX / SZ_1M) * SZ_1M;
}

/* Buffers exist on online CPUs, control areas on all that may ever be. */
static u64 total_bytes(const struct geometry *g)
{
	return (u64)g->subbuf_size * g->n_subbufs * num_online_cpus() +
	       (u64)PAGE_ALIGN(ring_ctl_size(g->n_subbufs)) * num_possible_cpus();
}

static u32 subbuf_min(void)
{
	return max_t(u32, BPF_RELAY_SUBBUF_MIN, PAGE_SIZE);
}

/* The default: halved while it is too much for this machine, but the types fit. */
static u32 default_subbuf_size(u32 n_subbufs, u32 payload)
{
	struct geometry g = { .subbuf_size = DEFAULT_SUBBUF_SIZE, .n_subbufs = n_subbufs };

	while (payload > BPF_RELAY_PAYLOAD_MAX(g.subbuf_size) &&
	       g.subbuf_size < BPF_RELAY_SUBBUF_MAX)
		g.subbuf_size *= 2;
	while (g.subbuf_size > subbuf_min() &&
	       payload <= BPF_RELAY_PAYLOAD_MAX(g.subbuf_size / 2) &&
	       total_bytes(&g) > ram_bytes() / DEFAULT_RAM_SHARE)
		g.subbuf_size /= 2;
	return g.subbuf_size;
}

static bool legal(u64 value, u64 min, u64 max)
{
	return value >= min && value <= max && is_power_of_2(value);
}

int geometry_resolve(struct geometry *g, const struct bpf_relay_opts *opts, u32 payload,
		     const char *log)
{
	u64 free;

	g->n_subbufs = opts->n_subbufs ?: DEFAULT_N_SUBBUFS;
	if (!legal(g->n_subbufs, BPF_RELAY_N_SUBBUFS_MIN, BPF_RELAY_N_SUBBUFS_MAX)) {
		pr_info("%s: %u sub-buffers: must be a power of two from %u to %u\n", log,
			g->n_subbufs, BPF_RELAY_N_SUBBUFS_MIN, BPF_RELAY_N_SUBBUFS_MAX);
		return -EINVAL;
	}
	g->subbuf_size = opts->subbuf_size ?: default_subbuf_size(g->n_subbufs, payload);
	if (!legal(g->subbuf_size, subbuf_min(), BPF_RELAY_SUBBUF_MAX)) {
		pr_info("%s: sub-buffers of %u bytes: must be a power of two from %u to %u\n",
			log, g->subbuf_size, subbuf_min(), BPF_RELAY_SUBBUF_MAX);
		return -EINVAL;
	}
	if ((u64)g->subbuf_size * g->n_subbufs > BPF_RELAY_BUFFER_MAX) {
		pr_info("%s: %u x %u bytes per CPU: more than %lu\n", log,
			g->n_subbufs, g->subbuf_size, BPF_RELAY_BUFFER_MAX);
		return -EINVAL;
	}
	if (payload > BPF_RELAY_PAYLOAD_MAX(g->subbuf_size)) {
		pr_info("%s: records of %u bytes do not fit sub-buffers of %u bytes\n", log,
			payload, g->subbuf_size);
		return -EINVAL;
	}

	/* relay takes page after page until the OOM killer comes: ask before. */
	g->bytes = total_bytes(g);
	free = (u64)max(si_mem_available(), 0L) * PAGE_SIZE;
	if (g->bytes > free) {
		pr_info("%s: %u x %u KiB x %u CPUs take %llu KiB, %llu KiB are available\n",
			log, g->n_subbufs, g->subbuf_size / SZ_1K, num_online_cpus(),
			g->bytes / SZ_1K, free / SZ_1K);
		return -ENOMEM;
	}
	if (charged + g->bytes > quota_bytes()) {
		pr_info("%s: %u x %u KiB x %u CPUs take %llu KiB: over max_mib, %llu of %llu KiB are taken\n",
			log, g->n_subbufs, g->subbuf_size / SZ_1K, num_online_cpus(),
			g->bytes / SZ_1K, charged / SZ_1K, quota_bytes() / SZ_1K);
		return -EDQUOT;
	}
	return 0;
}

void geometry_charge(const struct geometry *g)
{
	charged += g->bytes;
}

void geometry_uncharge(const struct geometry *g)
{
	charged -= g->bytes;
}
