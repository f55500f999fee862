/* SPDX-License-Identifier: GPL-2.0-only */
/* fuzz_ops.c: what is there, what was drawn, what came back. */
#ifndef _FUZZ_OPS_TEST_H
#define _FUZZ_OPS_TEST_H

#include "anylog.h"
#include "sleepers.h"
#include "bpf/fuzz_ops.h"

#define PINS		"/sys/fs/bpf/fuzz_ops"
#define SLOTS		4
#define FILES		12
#define MAPPINGS	4
#define HOLDERS		6
#define READ_MAX	(1 << 20)
#define END		1000	/* of a list of errnos */
#define ERRNOS		128

/* A relay map, perhaps with a log. */
struct slot {
	struct relay_log log;
	int fd;			/* -1: not there, or only as a pin */
	bool listed;		/* in any_logs */
	bool pinned;
	bool open;		/* as far as all calls until now say */
	bool partly;		/* not every element has let go of the last log */
	bool odd_types;		/* field tables that we would not understand */
	__u32 n_types;
	__u32 generation;	/* changes when a log is let go of */
	__u64 offered;		/* calls that found it open */
};

/* An open file of a log. */
struct file {
	int fd;
	struct slot *slot;
	__u32 generation;
	bool packets;
	bool text;
};

/* Of a file; outlives it. */
struct mapping {
	char *at;		/* NULL: none */
	size_t len;
	bool holes;		/* parts of it are something else now */
	bool hidden;		/* parts of it may not be read */
};

struct fuzz {
	struct relay_log base;
	struct slot slots[SLOTS];
	struct file files[FILES];
	struct mapping mappings[MAPPINGS];
	int epoll;
	struct sleepers sleepers;
	struct fuzz_hold holds[HOLDERS];
	struct slot *held[HOLDERS];
	struct any_call *call;
	__u64 *results;
	struct fuzz_reserved *reserved;
	__u32 *discard_every;
	char *buf;		/* READ_MAX bytes, then none */
	__u64 seed, rng, hash;
	__u32 episode, number;
	const struct op *op;	/* NULL: none of them */
	__u64 *seen;		/* how often it returned each -errno; the last: none of ours */
	__u64 wrong;
	bool quiet;
	int patience;		/* for what goes by itself, in tenths of a second */
	/* Negative controls: what the checks are told wrongly. */
	int forbid;		/* an errno that nothing may return */
	int miscount;		/* added to what was offered */
};

struct op {
	const char *name;
	int weight;
	void (*run)(struct fuzz *f);
	const int *may;		/* what it may return, up to END */
};

/* ---- Saying what is wrong ---------------------------------------------------- */

#define complain(f, fmt, ...)							\
do {										\
	(f)->wrong++;								\
	if (!(f)->quiet)							\
		printf("# seed %#llx, episode %u, operation %u (%s): " fmt "\n", \
		       (f)->seed, (f)->episode, (f)->number,			\
		       (f)->op ? (f)->op->name : "end", ##__VA_ARGS__);		\
} while (0)

/* The operation returned err, times times. */
static void said_times(struct fuzz *f, int err, __u64 times)
{
	int i = -err < 0 || -err >= ERRNOS ? ERRNOS - 1 : -err;
	const int *may = f->op->may;

	if (!times)
		return;
	f->seen[i] += times;
	while (*may != END && *may != err)
		may++;
	if (*may == END || (err && err == f->forbid))
		complain(f, "returned %d (%s)", err, strerror(-err));
}

static void said(struct fuzz *f, int err)
{
	said_times(f, err, 1);
}

static void said_errno(struct fuzz *f, long ret)
{
	said(f, ret < 0 ? -errno : 0);
}

/* ---- Random numbers ----------------------------------------------------------- */

static __u64 mix(__u64 x)
{
	x += 0x9e3779b97f4a7c15ULL;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
	return x ^ x >> 31;
}

static __u64 any(struct fuzz *f)
{
	__u64 x = mix(f->rng++);

	f->hash = mix(f->hash ^ x);
	return x;
}

static __u32 below(struct fuzz *f, __u32 n)
{
	return (any(f) >> 32) % n;
}

static bool one_in(struct fuzz *f, __u32 n)
{
	return !below(f, n);
}

#define pick(f, list)	((list)[below(f, ARRAY_SIZE(list))])

/* Where programs go wrong. */
static __u64 odd(struct fuzz *f)
{
	static const __u64 numbers[] = {
		0, 1, 2, 3, 7, 8, 15, 16, 63, 64, 65, 255, 256, 4095, 4096, 4097, 32768, 65535,
		65536, 1 << 20, 4 << 20, 0x7fffffff, 0x80000000, 0xfffffff8, 0xffffffff,
		1ULL << 32, 1ULL << 63, 0x8000000000000001ULL, -4096ULL, -8ULL, -1ULL,
	};
	__u64 number = pick(f, numbers);
	__u64 random = any(f);

	return one_in(f, 4) ? random : number;
}

/* None that the caller may use. */
static void *bad_address(struct fuzz *f)
{
	static const unsigned long addresses[] = {
		0, 8, -1, -4096, 0x7ffffffffffff000, 0x8000000000000000, 0xffff888000000000,
		0xffffffff81000000,
	};

	return (void *)pick(f, addresses);
}

static struct slot *any_slot(struct fuzz *f)
{
	return &f->slots[below(f, SLOTS)];
}

static __u32 key_of(const struct fuzz *f, const struct slot *s)
{
	return s - f->slots;
}

static int possible_cpus(void)
{
	return sysconf(_SC_NPROCESSORS_CONF);
}

/* The n-th online CPU, counted in a ring. */
static int online_cpu(__u32 n)
{
	int cpu = n % possible_cpus();

	while (!cpu_is_online(cpu))
		cpu = (cpu + 1) % possible_cpus();
	return cpu;
}

#endif /* _FUZZ_OPS_TEST_H */
