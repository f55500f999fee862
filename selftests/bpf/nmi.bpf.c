// SPDX-License-Identifier: GPL-2.0-only
/* One writer in each context that a CPU knows: they interrupt one another. */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "bpf_relay.h"
#include "nmi.h"

char _license[] SEC("license") = "GPL";

RELAY_MAP(nmi, struct nmi_rec);

struct nmi_cpu cpus[NMI_CPUS];	/* out */
__u64 count;			/* in: of the thread's rounds */
__u32 armed;			/* in: 1: the next NMI writes the element, once */
__u64 updates;			/* out: how often one did */

static struct nmi_cpu *this_cpu(void)
{
	return &cpus[bpf_get_smp_processor_id() & (NMI_CPUS - 1)];
}

static void fill(struct nmi_rec *rec, struct nmi_writer *w, __u32 who)
{
	rec->seq = w->seq++;
	rec->who = who;
	rec->cpu = bpf_get_smp_processor_id();
	rec->check = rec->seq * 0x9e3779b97f4a7c15ULL + who;
}

static void output(__u32 who)
{
	struct nmi_cpu *cpu = this_cpu();
	struct nmi_writer *w = &cpu->writer[who];
	struct nmi_rec rec = {};

	if (who != NMI_THREAD) {
		w->in_output += cpu->doing == NMI_OUTPUT;
		w->in_hold += cpu->doing == NMI_HOLDING;
	}
	fill(&rec, w, who);
	if (relay_output(&nmi, &rec))
		w->dropped++;
	else
		w->stored++;
}

static int idle(__u64 i, void *ctx)
{
	return 0;
}

static int thread_round(__u64 i, void *ctx)
{
	struct nmi_cpu *cpu = this_cpu();
	struct nmi_writer *w = &cpu->writer[NMI_THREAD];
	struct bpf_relay_record *rec;
	struct nmi_rec *r;

	cpu->doing = NMI_OUTPUT;
	output(NMI_THREAD);
	cpu->doing = NMI_NOTHING;

	r = relay_reserve(&nmi, struct nmi_rec, &rec);
	if (!r) {
		w->seq++;
		w->dropped++;
		return 0;
	}
	cpu->doing = NMI_HOLDING;
	fill(r, w, NMI_THREAD);
	bpf_loop(20, idle, NULL, 0);
	cpu->doing = NMI_NOTHING;
	relay_submit(rec);
	w->stored++;
	return 0;
}

/* `count` rounds of one output and one reserved record, on the caller's CPU. */
SEC("syscall")
int nmi_thread(void *ctx)
{
	return bpf_loop(count, thread_round, NULL, 0);
}

SEC("?tp_btf/softirq_entry")
int BPF_PROG(on_softirq)
{
	output(NMI_SOFTIRQ);
	return 0;
}

SEC("?tp_btf/hrtimer_expire_entry")
int BPF_PROG(on_hardirq)
{
	output(NMI_HARDIRQ);
	return 0;
}

SEC("?raw_tp/nmi_handler")
int on_nmi(void *ctx)
{
	output(NMI_NMI);
	return 0;
}

/* The destructor of the map's reference, in NMI. */
SEC("?raw_tp/nmi_handler")
int on_nmi_update(void *ctx)
{
	struct nmi_relay value = {};
	__u32 key = 0;

	if (__sync_val_compare_and_swap(&armed, 1, 2) == 1 &&
	    !bpf_map_update_elem(&nmi, &key, &value, BPF_ANY))
		__sync_fetch_and_add(&updates, 1);
	return 0;
}
