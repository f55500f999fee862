/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The record of schedlog.bpf.c, for the program and for whoever reads its log. */
#ifndef __SCHEDLOG_H__
#define __SCHEDLOG_H__

/* A BPF program that includes vmlinux.h already has the __uNN types. */
#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif
#include "bpf_relay_hints.h"

/*
 * One context switch: prev leaves the CPU on which the record is, next gets it. Ids
 * are the kernel's own (the initial PID namespace); pid is the thread's, 0 is idle.
 */
struct sched_switch_event {
	__u32 prev_pid;
	__u32 next_pid;
	__s32 prev_prio;	/* 0 to 99 real time, 100 to 139 nice -20 to 19; -1 deadline */
	__s32 next_prio;
	__u32 prev_state RELAY_HEX;	/* the kernel's TASK_*: 0 can go on, 1 sleeps, 2 uninterruptible */
	__u32 preempted;	/* 1: inside the kernel; can go on, whatever prev_state says */
	char prev_comm[16];	/* the thread's name */
	char next_comm[16];
};

#endif /* __SCHEDLOG_H__ */
