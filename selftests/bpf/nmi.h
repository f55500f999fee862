/* SPDX-License-Identifier: GPL-2.0-only */
/* Shared by nmi.bpf.c and its test. */
#ifndef _NMI_H
#define _NMI_H

#define NMI_CPUS	64

enum nmi_who {
	NMI_THREAD,
	NMI_SOFTIRQ,
	NMI_HARDIRQ,
	NMI_NMI,
	NMI_WHO,
};

/* What the thread's program is doing at the moment. */
enum nmi_doing {
	NMI_NOTHING,
	NMI_OUTPUT,	/* inside bpf_relay_output() or on its way in or out */
	NMI_HOLDING,	/* between reserve and submit */
};

struct nmi_rec {
	__u64 seq;
	__u32 who;
	__u32 cpu;
	__u64 check;
};

/* Counted by the programs themselves, each on its own CPU. */
struct nmi_cpu {
	__u32 doing;
	__u32 pad;
	struct nmi_writer {
		__u64 seq;		/* calls made */
		__u64 stored;
		__u64 dropped;
		__u64 in_output;	/* of the calls, while the thread was there */
		__u64 in_hold;
	} writer[NMI_WHO];
};

#endif /* _NMI_H */
