// SPDX-License-Identifier: GPL-2.0-only
/*
 * stats: what happened to every record, per CPU, in the words of ftrace's
 * per_cpu/cpuN/stats where they fit. Numbers are cumulative but for what is
 * readable or open at the moment. Times are seconds of the log's clock.
 */
#include <linux/cpumask.h>
#include <linux/seq_file.h>
#include <linux/timekeeping.h>

#include "files.h"
#include "log.h"
#include "wait.h"

static void show_time(struct seq_file *m, const char *what, u64 ns)
{
	seq_printf(m, "%s: %llu.%09llu\n", what, ns / NSEC_PER_SEC, ns % NSEC_PER_SEC);
}

static void show_cpu(struct seq_file *m, const struct log_cpu *lc, u64 now)
{
	static const char * const drops[] = {
		"type", "size", "too big", "busy", "full", "nested", "contended", "no buffer",
		"no record",
	};
	const struct ring *ring = &lc->ring;
	const struct bpf_relay_ctl *ctl = ring->ctl;
	const struct bpf_relay_counters *c = &ctl->counters;
	u64 entries = 0, bytes = 0, oldest = 0;
	struct ring_window w;
	u64 start, oldest_open;
	u32 open = records_open(lc, now, &oldest_open);
	int i;

	static_assert(ARRAY_SIZE(drops) == BPF_RELAY_NR_COUNTERS - BPF_RELAY_FIRST_DROP);

	for (i = 0; i < ctl->n_subbufs; i++) {
		entries += READ_ONCE(ring->sub[i].nrec);
		bytes += READ_ONCE(ring->sub[i].nbytes);
	}
	ring_window(ring, &w);
	for (start = w.first; start < w.end && !oldest; start += ring_subbuf_size(ring)) {
		const struct bpf_relay_packet *packet = ring_at(ring, start);
		u64 ts;

		if (!ring_readable(ring, &w, start))
			continue;
		ts = READ_ONCE(packet->timestamp_begin);
		if (ring_valid(ring, start))
			oldest = ts;
	}

	seq_printf(m, "\ncpu: %u%s\n", ring->cpu, ring_read(&ring->data) ? "" : " (no buffer)");
	seq_printf(m, "entries: %llu\n", entries);
	seq_printf(m, "overrun: %llu\n", READ_ONCE(c->overwritten));
	seq_printf(m, "commit overrun: %llu\n", READ_ONCE(c->dropped_busy));
	seq_printf(m, "bytes: %llu\n", bytes);
	show_time(m, "oldest event ts", oldest);
	show_time(m, "newest event ts", READ_ONCE(ctl->last_ts));
	show_time(m, "now ts", now);
	seq_printf(m, "dropped events: %llu\n", ring_dropped(ring));
	for (i = 0; i < ARRAY_SIZE(drops); i++)
		seq_printf(m, "dropped %s: %llu\n", drops[i],
			   READ_ONCE(((u64 *)c)[BPF_RELAY_FIRST_DROP + i]));
	seq_printf(m, "stored events: %llu\n", READ_ONCE(c->records));
	seq_printf(m, "stored bytes: %llu\n", READ_ONCE(c->bytes));
	seq_printf(m, "overrun bytes: %llu\n", READ_ONCE(c->overwritten_bytes));
	seq_printf(m, "discarded events: %llu\n", READ_ONCE(c->discarded));
	seq_printf(m, "open events: %u\n", open);
	show_time(m, "oldest open age", now - oldest_open);
	seq_printf(m, "nesting max: %u\n", READ_ONCE(ctl->depth_max));
	seq_printf(m, "nested calls: %llu\n", READ_ONCE(ctl->nested));
	seq_printf(m, "read retries: %lld\n", atomic64_read(&lc->retries));
	seq_printf(m, "damaged packets: %lld\n", atomic64_read(&lc->damaged));
}

static int stats_show(struct seq_file *m, void *v)
{
	const struct log_file *f = m->private;
	const struct bpf_relay *log = f->log;
	const struct geometry *g = &log->geometry;
	bool mono = log->clock == BPF_RELAY_CLOCK_MONO;
	u64 now = log_now(log);
	cpumask_var_t absent;
	int cpu;

	if (!zalloc_cpumask_var(&absent, GFP_KERNEL))
		return -ENOMEM;
	seq_printf(m, "log: %s\n", log->name);
	seq_printf(m, "abi: %u\n", BPF_RELAY_ABI);
	seq_printf(m, "mode: %s\n", log->mode == BPF_RELAY_KEEP ? "keep" : "overwrite");
	seq_printf(m, "clock: %s\n", mono ? "mono" : "boot");
	seq_printf(m, "types: %u\n", log->types.n);
	seq_printf(m, "subbuf_size: %u\n", g->subbuf_size);
	seq_printf(m, "n_subbufs: %u\n", g->n_subbufs);
	seq_printf(m, "memory: %llu\n", g->bytes);
	seq_printf(m, "wakeups: %llu\n", log_wakeups(log->wait));
	for_each_possible_cpu(cpu) {
		const struct log_cpu *lc = per_cpu_ptr(log->cpu, cpu);

		if (ring_read(&lc->ring.data) || ring_dropped(&lc->ring))
			show_cpu(m, lc, now);
		else
			cpumask_set_cpu(cpu, absent);
	}
	/* Hundreds, on a machine that could have been larger: nothing to say of each. */
	if (!cpumask_empty(absent))
		seq_printf(m, "\ncpu: %*pbl (no buffer)\n", cpumask_pr_args(absent));
	free_cpumask_var(absent);
	return 0;
}

static int stats_open(struct inode *inode, struct file *file)
{
	const struct log_file *f = file_open(inode, file);

	return IS_ERR(f) ? PTR_ERR(f) : single_open(file, stats_show, (void *)f);
}

const struct file_operations stats_fops = {
	.owner		= THIS_MODULE,
	.open		= stats_open,
	.read		= seq_read,
	.llseek		= seq_lseek,
	.release	= single_release,
};
