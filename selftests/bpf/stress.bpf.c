// SPDX-License-Identifier: GPL-2.0-only
/* Writers in every context: random sizes, random ways to write. They count for themselves. */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "bpf_relay.h"
#include "stress.h"

char _license[] SEC("license") = "GPL";

#define ENOENT	2
#define EBUSY	16
#define EDEADLK	35

RELAY_MAP(stress, RELAY_VAR(struct stress_rec));
/* Dropped and made anew all the time. */
RELAY_MAP(beside);

#define TYPE	relay_type_id(&stress, (const struct stress_rec *)0)

struct stress_cpu cpus[STRESS_CPUS];	/* out */

struct buf {
	struct stress_rec rec;
	__u64 word[STRESS_WORDS];
};

static __always_inline struct stress_cpu *this_cpu(void)
{
	return &cpus[bpf_get_smp_processor_id() & (STRESS_CPUS - 1)];
}

static __always_inline struct stress_writer *writer(struct stress_cpu *cpu, __u32 who)
{
	return &cpu->writer[who & (STRESS_WHO - 1)];
}

static __always_inline __u32 roll(struct stress_writer *w)
{
	w->random = w->random * 6364136223846793005ULL + 1442695040888963407ULL;
	return w->random >> 32;
}

/* All but `check` and the bytes behind the last word: returns the one, which gives the other. */
static __always_inline __u64 fill(struct buf *buf, struct stress_writer *w, __u32 who,
				  __u32 size, const __u32 max_words)
{
	__u64 sum;
	__u32 i;

	buf->rec.seq = w->seq;
	buf->rec.size = size;
	buf->rec.cpu = bpf_get_smp_processor_id();
	buf->rec.who = who;
	sum = stress_begin(&buf->rec);
	for (i = 0; i < max_words && i < size / 8; i++) {
		buf->word[i] = w->random * (i + 1);
		sum = stress_mix(sum, buf->word[i]);
	}
	return sum;
}

static __always_inline void mark(struct stress_cpu *cpu, __u32 doing)
{
	*(volatile __u64 *)&cpu->doing = (__u64)(__u32)bpf_get_current_pid_tgid() << 32 | doing;
}

/* One record of 0 to 255 bytes of payload, more often a short one. */
static __noinline int emit(struct stress_writer *w, __u32 who)
{
	__u32 r = roll(w), size = r & (r >> 8) & 0xff;
	/* Now and then one of a type that there is not. */
	__u64 id = r >> 20 ? TYPE : STRESS_NO_TYPE;
	struct buf buf;
	int err;

	buf.rec.check = fill(&buf, w, who, size, STRESS_WORDS - 1);
	buf.word[size / 8 & (STRESS_WORDS - 1)] =
		(buf.rec.check & 0xff) * 0x0101010101010101ULL;
	w->calls++;
	err = bpf_relay_output(&stress, &buf, sizeof(buf.rec) + size, id);
	switch (err) {
	case 0:
		w->seq++;
		w->bytes += sizeof(buf.rec) + size;
		w->result[STRESS_STORED]++;
		break;
	case -EBUSY:
		w->result[STRESS_EBUSY]++;
		break;
	case -EDEADLK:
		w->result[STRESS_EDEADLK]++;
		break;
	case -ENOENT:
		w->result[STRESS_ENOENT]++;
		break;
	default:
		w->result[STRESS_OTHER]++;
	}
	return err;
}

static int idle(__u64 i, void *ctx)
{
	return 0;
}

/* A task is held up while it holds a record: sometimes for long, sometimes by itself. */
static __noinline int linger(struct stress_cpu *cpu, struct stress_writer *w, __u32 who)
{
	__u32 r = roll(w);

	__sync_fetch_and_add(&cpu->holding, 1);
	mark(cpu, STRESS_HOLD);
	bpf_loop(r & 0x3f ? 20 : 5000, idle, NULL, 0);
	if (!(r & 0x300))
		emit(w, who);
	mark(cpu, STRESS_NOTHING);
	__sync_fetch_and_add(&cpu->holding, -1);
	return 0;
}

/*
 * A record of `size` bytes of payload, filled in place; one of eight is given up. It is
 * not whole before the task's pause, which for `addr` is a page fault, is over.
 */
static __always_inline int hold(struct stress_cpu *cpu, struct stress_writer *w, __u32 who,
				const __u32 size, const bool sleeps, __u64 addr)
{
	bool task = who < STRESS_TASKS, discard = !(roll(w) & 7);
	struct bpf_relay_record *rec;
	struct buf *buf;
	__u64 sum, word;
	__u32 i;
	int err = 0;

	w->calls++;
	if (task)
		mark(cpu, STRESS_RESERVE);
	rec = bpf_relay_reserve(&stress, sizeof(struct stress_rec) + size, TYPE);
	if (task)
		mark(cpu, STRESS_NOTHING);
	if (!rec) {
		w->result[STRESS_REFUSED]++;
		return -1;
	}
	buf = (struct buf *)bpf_relay_record_data(rec, sizeof(struct stress_rec) + size);
	if (!buf) {
		bpf_relay_discard(rec);
		w->result[STRESS_OTHER]++;
		return -1;
	}
	sum = fill(buf, w, who, size, size / 8);
	if (!discard) {
		w->seq++;
		w->bytes += sizeof(struct stress_rec) + size;
	}
	if (sleeps) {
		__sync_fetch_and_add(&cpu->asleep, 1);
		err = bpf_copy_from_user(&word, sizeof(word), (void *)addr);
		__sync_fetch_and_add(&cpu->asleep, -1);
	} else if (task) {
		linger(cpu, w, who);
	}
	buf->rec.check = sum;
	for (i = size & ~7U; i < size; i++)
		((__u8 *)buf->word)[i] = sum;
	if (discard) {
		bpf_relay_discard(rec);
		w->result[STRESS_DISCARDED]++;
	} else {
		bpf_relay_submit(rec);
		w->result[STRESS_STORED]++;
	}
	return err;
}

static __noinline int hold_any(struct stress_cpu *cpu, struct stress_writer *w, __u32 who)
{
	switch (roll(w) & 3) {
	case 0:
		return hold(cpu, w, who, 0, false, 0);
	case 1:
		return hold(cpu, w, who, 27, false, 0);
	case 2:
		return hold(cpu, w, who, 104, false, 0);
	default:
		return hold(cpu, w, who, 245, false, 0);
	}
}

static __always_inline void write_beside(struct stress_writer *w)
{
	__u64 word = w->calls;

	w->beside += !relay_output_raw(&beside, &word, sizeof(word));
}

static int task_round(__u64 i, void *ctx)
{
	struct stress_run *run = ctx;
	struct stress_cpu *cpu = this_cpu();
	struct stress_writer *w = writer(cpu, run->who);

	w->past_preempted += !!*(volatile __u64 *)&cpu->holding;
	w->past_asleep += !!*(volatile __u64 *)&cpu->asleep;
	mark(cpu, STRESS_OUTPUT);
	emit(w, run->who);
	mark(cpu, STRESS_NOTHING);
	hold_any(cpu, w, run->who);
	if (!(i & 15))
		write_beside(w);
	return 0;
}

/* ctx->rounds of both ways to write. */
SEC("syscall")
int stress_write(struct stress_run *ctx)
{
	struct stress_run run = { .who = ctx->who & (STRESS_TASKS - 1) };

	return bpf_loop(ctx->rounds, task_round, &run, 0);
}

/* One record, held over the page fault at ctx->addr: what reading there said. */
SEC("syscall")
int stress_sleep(struct stress_run *ctx)
{
	__u32 who = ctx->who & (STRESS_TASKS - 1);
	struct stress_cpu *cpu = this_cpu();

	return hold(cpu, writer(cpu, who), who, 64, true, ctx->addr);
}

static __always_inline void interrupt(__u32 who)
{
	struct stress_cpu *cpu = this_cpu();
	struct stress_writer *w = writer(cpu, who);
	__u64 doing = *(volatile __u64 *)&cpu->doing;

	/* If the task that left the mark is the one that is interrupted. */
	if (doing >> 32 == (__u32)bpf_get_current_pid_tgid())
		w->in[doing & (STRESS_DOING - 1)]++;
	emit(w, who);
	hold_any(cpu, w, who);
	write_beside(w);
}

SEC("?tp_btf/softirq_entry")
int BPF_PROG(on_softirq)
{
	interrupt(STRESS_SOFTIRQ);
	return 0;
}

SEC("?tp_btf/hrtimer_expire_entry")
int BPF_PROG(on_hardirq, struct hrtimer *timer)
{
	/* Those are run by a softirq. */
	if (!timer->is_soft)
		interrupt(STRESS_HARDIRQ);
	return 0;
}

SEC("?raw_tp/nmi_handler")
int on_nmi(void *ctx)
{
	interrupt(STRESS_NMI);
	return 0;
}
