/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The record of stacklog.bpf.c, for the program and for whoever reads its log. */
#ifndef __STACKLOG_H__
#define __STACKLOG_H__

/* A BPF program that includes vmlinux.h already has the __uNN types. */
#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif
#include "bpf_relay_hints.h"

#define STACKLOG_DEPTH_MAX	64

/*
 * One sample: where a CPU was. Frames are addresses of instructions, the innermost
 * first; those of a caller are where it goes on. What is beyond the counts is 0.
 */
struct stack_event {
	__u32 pid;		/* the thread's, in the initial PID namespace */
	__u32 tgid;		/* the process's */
	__u32 cpu;
	__u16 n_kernel;		/* frames in kernel[]; 0: it was in user space */
	__u16 n_user;		/* frames in user[]; 0 for a kernel thread */
	char comm[16];		/* the thread's name */
	__u64 kernel[STACKLOG_DEPTH_MAX] RELAY_STACK;	/* as in /proc/kallsyms */
	__u64 user[STACKLOG_DEPTH_MAX] RELAY_HEX;	/* as in /proc/TGID/maps */
};

#endif /* __STACKLOG_H__ */
