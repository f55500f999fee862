/* SPDX-License-Identifier: GPL-2.0-only */
/* Shared by stress.bpf.c and its test. */
#ifndef _STRESS_H
#define _STRESS_H

#define STRESS_CPUS	16	/* a power of two */
#define STRESS_TASKS	64	/* writers that are tasks: each has a number */
#define STRESS_WORDS	32	/* of payload, at most */
#define STRESS_NO_TYPE	200	/* an id that the log does not know */

/* Who writes; what is below STRESS_TASKS is a task's number. */
enum stress_who {
	STRESS_SOFTIRQ = STRESS_TASKS,
	STRESS_HARDIRQ,
	STRESS_NMI,
	STRESS_WHO = 2 * STRESS_TASKS,	/* a power of two */
};

/* What became of a call. */
enum stress_result {
	STRESS_STORED,
	STRESS_DISCARDED,
	STRESS_REFUSED,		/* no record to reserve */
	STRESS_EBUSY,
	STRESS_EDEADLK,
	STRESS_ENOENT,
	STRESS_OTHER,		/* must not be */
	STRESS_RESULTS,
};

/* What a task is doing at the moment. */
enum stress_doing {
	STRESS_NOTHING,
	STRESS_OUTPUT,		/* inside bpf_relay_output() or on its way in or out */
	STRESS_RESERVE,		/* the same, bpf_relay_reserve() */
	STRESS_HOLD,		/* between reserve and submit */
	STRESS_DOING,
};

/*
 * A record: `size` bytes follow, whole words and then equal bytes, the lowest of `check`.
 * Of one writer on one CPU those that are stored are numbered without a gap.
 */
struct stress_rec {
	__u64 seq;
	__u64 check;		/* over the other members and the words */
	__u32 size;
	__u16 cpu;
	__u16 who;
};

static inline __u64 stress_mix(__u64 sum, __u64 word)
{
	sum = (sum ^ word) * 0x9e3779b97f4a7c15ULL;
	return sum ^ sum >> 32;
}

static inline __u64 stress_begin(const struct stress_rec *rec)
{
	return stress_mix(stress_mix(1, rec->seq),
			  (__u64)rec->size << 32 | (__u64)rec->cpu << 16 | rec->who);
}

/* One writer on one CPU, which counts for itself. */
struct stress_writer {
	__u64 seq;			/* of the next record */
	__u64 random;
	__u64 calls;
	__u64 bytes;			/* stored */
	__u64 result[STRESS_RESULTS];
	__u64 in[STRESS_DOING];		/* interrupts that found a task at this */
	__u64 past_preempted;		/* tasks: outputs while another held a record, */
	__u64 past_asleep;		/* preempted or asleep */
	__u64 beside;			/* stored in the log beside */
};

struct stress_cpu {
	__u64 doing;			/* thread id << 32 | enum stress_doing */
	__u64 holding;			/* tasks that hold a record, */
	__u64 asleep;			/* or sleep while they do */
	struct stress_writer writer[STRESS_WHO];
};

/* Context of the tasks' programs. */
struct stress_run {
	__u32 who;
	__u32 rounds;
	__u64 addr;			/* 8 bytes of user memory, to sleep on */
};

#endif /* _STRESS_H */
