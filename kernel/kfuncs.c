// SPDX-License-Identifier: GPL-2.0-only
/*
 * The functions that BPF programs call; kfuncs.h has their contracts. What the
 * verifier is told of them stands in the two sets below. Nothing that a program
 * passes is believed beyond that.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bpf.h>
#include <linux/btf.h>
#include <linux/btf_ids.h>
#include <linux/cfi.h>
#include <linux/printk.h>

#include "compat.h"
#include "kfuncs.h"
#include "log.h"
#include "records.h"
#include "relay_map.h"

static int drop_error(enum bpf_relay_counter reason, u64 flags)
{
	switch (reason) {
	case BPF_RELAY_dropped_type:
		return flags >> 16 ? -EINVAL : -ENOENT;
	case BPF_RELAY_dropped_size:
		return -EINVAL;
	case BPF_RELAY_dropped_too_big:
		return -E2BIG;
	case BPF_RELAY_dropped_busy:
		return -EBUSY;
	case BPF_RELAY_dropped_full:
	case BPF_RELAY_dropped_no_buffer:
	case BPF_RELAY_dropped_no_record:
		return -ENOSPC;
	case BPF_RELAY_dropped_nested:
	case BPF_RELAY_dropped_contended:
		return -EDEADLK;
	default:
		return 0;
	}
}

/*
 * For bpftool: the element shows what the control area says. Nobody reads it back.
 * `raised` is what was counted besides records, or 0.
 */
static void show(struct log_elem *elem, const struct ring *ring, enum bpf_relay_counter raised)
{
	const struct bpf_relay_counters *c = &ring->ctl->counters;

	WRITE_ONCE(elem->counters.records, READ_ONCE(c->records));
	WRITE_ONCE(elem->counters.bytes, READ_ONCE(c->bytes));
	/* Only a switch changes these. */
	if (READ_ONCE(c->overwritten) != READ_ONCE(elem->counters.overwritten)) {
		WRITE_ONCE(elem->counters.overwritten, READ_ONCE(c->overwritten));
		WRITE_ONCE(elem->counters.overwritten_bytes, READ_ONCE(c->overwritten_bytes));
	}
	if (raised)
		WRITE_ONCE(((u64 *)&elem->counters)[raised], READ_ONCE(((u64 *)c)[raised]));
}

/* What is left to do for a call that was dropped; counted it is. */
static noinline int dropped_call(struct log_cpu *cpu, struct log_elem *elem,
				 enum bpf_relay_counter reason, u64 flags)
{
	log_first_drop(cpu->log, reason);
	show(elem, &cpu->ring, reason);
	return drop_error(reason, flags);
}

/*
 * The rare half of preempt_enable_notrace(): in line, the call in it would have the whole
 * function keep a frame pointer. It is all done again, whatever happened in between.
 */
static noinline notrace void write_resched(void)
{
	preempt_disable_notrace();
	preempt_enable_notrace();
}

static __always_inline void write_end(void)
{
	barrier();
	if (unlikely(__preempt_count_dec_and_test()))
		write_resched();
}

/*
 * Copy a caller's struct, which may be older or newer than ours and may change
 * while we look. The caller's ABI number is its first member.
 */
static int kfunc_struct(void *dst, u32 size, const void *src, u32 src_size)
{
	u32 abi;

	if (src_size < sizeof(abi))
		return -EINVAL;
	abi = READ_ONCE(*(const u32 *)src);
	if (abi != BPF_RELAY_ABI) {
		pr_info("a program was built for ABI %u, this module has ABI %u: rebuild the program\n",
			abi, BPF_RELAY_ABI);
		return -EPROTO;
	}
	if (src_size < size)
		return -EINVAL;
	memcpy(dst, src, size);
	return memchr_inv(src + size, 0, src_size - size) ? -E2BIG : 0;
}

__bpf_kfunc_start_defs();

/* __flatten: the usual case without a call, but of the clock; see write_path.c. */

__bpf_kfunc __flatten int bpf_relay_output(void *p__map, const void *data, u32 data__sz, u64 flags)
{
	enum bpf_relay_counter dropped;
	struct log_elem *elem;
	struct bpf_relay *log;
	struct log_cpu *cpu;
	size_t len = data__sz;
	int err;

	/* One register for it, not one for each of its widths. */
	OPTIMIZER_HIDE_VAR(len);
	if (unlikely(!relay_map(p__map)))
		return -EINVAL;
	preempt_disable_notrace();
	elem = this_cpu_ptr(relay_map_elems(p__map));
	log = log_of(elem);
	if (!log) {
		write_end();
		return -ENODEV;
	}

	cpu = this_cpu_ptr(log->cpu);
	dropped = types_check(&log->types, flags, len);
	if (likely(!dropped))
		dropped = ring_write_record(&cpu->ring, flags, data, len);
	else
		ring_drop(&cpu->ring, dropped);
	if (likely(!dropped)) {
		show(elem, &cpu->ring, 0);
		write_end();
		return 0;
	}
	err = dropped_call(cpu, elem, dropped, flags);
	write_end();
	return err;
}

__bpf_kfunc __flatten struct bpf_relay_record *bpf_relay_reserve(void *p__map, u32 size, u64 flags)
{
	struct bpf_relay_record *rec = NULL;
	enum bpf_relay_counter dropped;
	struct ring_slot slot;
	struct log_elem *elem;
	struct bpf_relay *log;
	struct log_cpu *cpu;

	if (unlikely(!relay_map(p__map)))
		return NULL;
	preempt_disable_notrace();
	elem = this_cpu_ptr(relay_map_elems(p__map));
	log = log_of(elem);
	if (!log)
		goto out;

	cpu = this_cpu_ptr(log->cpu);
	dropped = types_check(&log->types, flags, size);
	if (likely(!dropped)) {
		rec = record_get(cpu, elem);
		dropped = likely(rec) ? 0 : BPF_RELAY_dropped_no_record;
	}
	if (unlikely(dropped))
		ring_drop(&cpu->ring, dropped);
	else
		dropped = ring_reserve_record(&cpu->ring, flags, size, &slot);
	if (likely(!dropped)) {
		record_set(rec, &slot);
	} else {
		if (rec)
			record_put(rec);
		rec = NULL;
		dropped_call(cpu, elem, dropped, flags);
	}
out:
	write_end();
	return rec;
}

__bpf_kfunc char *bpf_relay_record_data(struct bpf_relay_record *rec, const int rdwr_buf_size)
{
	if (rdwr_buf_size < 0 || (u32)rdwr_buf_size > rec->slot.len)
		return NULL;
	return (char *)(rec->slot.header + 1);
}

/* On the CPU of the reservation: BPF programs do not migrate. */
static void record_close(struct bpf_relay_record *rec, enum bpf_relay_state state)
{
	preempt_disable_notrace();
	ring_commit_record(&rec->cpu->ring, &rec->slot, state);
	show(rec->elem, &rec->cpu->ring,
	     state == BPF_RELAY_DISCARDED ? BPF_RELAY_discarded : 0);
	record_put(rec);
	write_end();
}

__bpf_kfunc __flatten void bpf_relay_submit(struct bpf_relay_record *rec)
{
	record_close(rec, BPF_RELAY_COMMITTED);
}

__bpf_kfunc __flatten void bpf_relay_discard(struct bpf_relay_record *rec)
{
	record_close(rec, BPF_RELAY_DISCARDED);
}

__bpf_kfunc int bpf_relay_add_type(void *p__map, struct bpf_relay_type *type, u32 type__sz)
{
	struct bpf_relay_type desc;
	int err = kfunc_struct(&desc, sizeof(desc), type, type__sz);

	return err ?: log_add_type(p__map, &desc);
}

__bpf_kfunc int bpf_relay_open(void *p__map, struct bpf_relay_opts *opts, u32 opts__sz)
{
	struct bpf_relay_opts copy;
	int err = kfunc_struct(&copy, sizeof(copy), opts, opts__sz);

	return err ?: log_open(p__map, &copy);
}

__bpf_kfunc void bpf_relay_release_dtor(void *log)
{
	log_release(log);
}
/* It is called by its address only, found by its name: objtool must not seal it. */
CFI_NOSEAL(bpf_relay_release_dtor);

__bpf_kfunc_end_defs();

BTF_KFUNCS_START(write_kfuncs)
BTF_ID_FLAGS(func, bpf_relay_output, KF_TRUSTED_ARGS)
BTF_ID_FLAGS(func, bpf_relay_reserve, KF_ACQUIRE | KF_RET_NULL | KF_TRUSTED_ARGS)
BTF_ID_FLAGS(func, bpf_relay_record_data, KF_RET_NULL | KF_TRUSTED_ARGS)
BTF_ID_FLAGS(func, bpf_relay_submit, KF_RELEASE)
BTF_ID_FLAGS(func, bpf_relay_discard, KF_RELEASE)
BTF_KFUNCS_END(write_kfuncs)

BTF_KFUNCS_START(open_kfuncs)
BTF_ID_FLAGS(func, bpf_relay_add_type, KF_SLEEPABLE | KF_TRUSTED_ARGS)
BTF_ID_FLAGS(func, bpf_relay_open, KF_SLEEPABLE | KF_TRUSTED_ARGS)
BTF_KFUNCS_END(open_kfuncs)

static const struct btf_kfunc_id_set write_set = {
	.owner = THIS_MODULE,
	.set = &write_kfuncs,
};

static const struct btf_kfunc_id_set open_set = {
	.owner = THIS_MODULE,
	.set = &open_kfuncs,
};

BTF_ID_LIST(dtor_ids)
BTF_ID(struct, bpf_relay)
BTF_ID(func, bpf_relay_release_dtor)

int kfuncs_register(void)
{
	const struct btf_id_dtor_kfunc dtor = {
		.btf_id = dtor_ids[0],
		.kfunc_btf_id = dtor_ids[1],
	};
	int err;

	/*
	 * Each hook once. UNSPEC is the hook that every program type looks into;
	 * what sets a log up is for SYSCALL programs alone: elsewhere it could run
	 * with locks held and half-made maps.
	 */
	err = register_btf_kfunc_id_set(BPF_PROG_TYPE_UNSPEC, &write_set);
	err = err ?: register_btf_kfunc_id_set(BPF_PROG_TYPE_SYSCALL, &open_set);
	return err ?: register_btf_id_dtor_kfuncs(&dtor, 1, THIS_MODULE);
}
