/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Every access of the ring to memory that somebody else may touch at the same
 * time goes through these few macros: they are the algorithm's memory model.
 * Tests and model checkers supply their own with -DRING_ACCESS_H='"file.h"'.
 *
 *	ring_read, ring_write	one untorn access, unordered
 *	ring_read_acquire	later accesses stay behind it
 *	ring_write_release	earlier accesses stay before it
 *	ring_cmpxchg, ring_add	atomic against interrupts and NMIs of this CPU
 *				only, unordered; ring_cmpxchg returns whether it swapped
 *	ring_wmb, ring_rmb	order stores against stores, loads against loads, as
 *				another CPU sees them
 *	ring_copy_in, ring_zero	into the buffer, which a reader may be copying
 *	ring_copy_out		out of the buffer, which a writer may be overwriting:
 *				what it yields is only good after validation
 *	ring_clock		ns; NMI-safe; may step back
 *	ring_switched		called once for each sub-buffer that is entered
 */
#ifndef _BPF_RELAY_RING_ACCESS_H
#define _BPF_RELAY_RING_ACCESS_H

#include <linux/bpf_relay.h>

#ifdef __KERNEL__

#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/string.h>
#include <linux/timekeeping.h>
#include <linux/unaligned.h>
#include <asm/local.h>

/* A local_t is a long: the ring's words are 64 bits wide. */
static_assert(sizeof(local_t) == sizeof(u64), "bpf_relay needs a 64-bit kernel");

#define ring_read(p)			READ_ONCE(*(p))
#define ring_write(p, v)		WRITE_ONCE(*(p), v)
#define ring_read_acquire(p)		smp_load_acquire(p)
#define ring_write_release(p, v)	smp_store_release(p, v)
#define ring_cmpxchg(p, old, new)						\
({										\
	typeof(*(p)) __old = (old);						\
	try_cmpxchg_local(p, &__old, new);					\
})
#define ring_add(p, v)			local_add(v, (local_t *)(p))
#define ring_wmb()			smp_wmb()
#define ring_rmb()			smp_rmb()
#define ring_copy_in(dst, src, n)	ring_copy_words(dst, src, n)
#define ring_copy_out(dst, src, n)	data_race(memcpy(dst, src, n))
#define ring_zero(dst, n)		ring_zero_words(dst, n)
#define ring_clock(r)								\
	((r)->clock == BPF_RELAY_CLOCK_MONO ? ktime_get_mono_fast_ns()		\
					    : ktime_get_boot_fast_ns())

struct ring;
void ring_switched(struct ring *r);	/* wait.c */

/*
 * Records are short: a call of memcpy() or memset() takes longer than what it does. What
 * is written into begins at a multiple of 8 and is followed by padding up to the next one.
 */
#define RING_WORDS_MAX	256

static __always_inline void ring_copy_word(void *dst, const void *src, size_t at)
{
	WRITE_ONCE(*(u64 *)(dst + at), data_race(get_unaligned((const u64 *)(src + at))));
}

static __always_inline void ring_zero_word(void *dst, size_t at)
{
	WRITE_ONCE(*(u64 *)(dst + at), 0);
}

static __always_inline void ring_copy_words(void *dst, const void *src, size_t n)
{
	size_t last = n - sizeof(u64);
	size_t left = n;

	if (unlikely(last > RING_WORDS_MAX - sizeof(u64))) {
		data_race(memcpy(dst, src, n));
		return;
	}
	/* An odd end: a word, of which the beginning is written again below. */
	if (n % 8)
		ring_copy_word(dst, src, last);
	while (left >= 64) {
		ring_copy_word(dst, src, 0);
		ring_copy_word(dst, src, 8);
		ring_copy_word(dst, src, 16);
		ring_copy_word(dst, src, 24);
		ring_copy_word(dst, src, 32);
		ring_copy_word(dst, src, 40);
		ring_copy_word(dst, src, 48);
		ring_copy_word(dst, src, 56);
		dst += 64;
		src += 64;
		left -= 64;
		/* Else one of them would be worked out of another, and fixed up behind. */
		OPTIMIZER_HIDE_VAR(dst);
		OPTIMIZER_HIDE_VAR(src);
	}
	if (n & 32) {
		ring_copy_word(dst, src, 0);
		ring_copy_word(dst, src, 8);
		ring_copy_word(dst, src, 16);
		ring_copy_word(dst, src, 24);
		dst += 32;
		src += 32;
	}
	if (n & 16) {
		ring_copy_word(dst, src, 0);
		ring_copy_word(dst, src, 8);
		dst += 16;
		src += 16;
	}
	if (n & 8)
		ring_copy_word(dst, src, 0);
}

/* The padding behind it, too. */
static __always_inline void ring_zero_words(void *dst, size_t n)
{
	if (unlikely(n > RING_WORDS_MAX)) {
		data_race(memset(dst, 0, n));
		return;
	}
	n += -n & 7;
	for (; n >= 64; n -= 64, dst += 64) {
		ring_zero_word(dst, 0);
		ring_zero_word(dst, 8);
		ring_zero_word(dst, 16);
		ring_zero_word(dst, 24);
		ring_zero_word(dst, 32);
		ring_zero_word(dst, 40);
		ring_zero_word(dst, 48);
		ring_zero_word(dst, 56);
	}
	if (n & 32) {
		ring_zero_word(dst, 0);
		ring_zero_word(dst, 8);
		ring_zero_word(dst, 16);
		ring_zero_word(dst, 24);
		dst += 32;
	}
	if (n & 16) {
		ring_zero_word(dst, 0);
		ring_zero_word(dst, 8);
		dst += 16;
	}
	if (n & 8)
		ring_zero_word(dst, 0);
}

#else /* user space: tests, and readers of a mapped log */

#include <stddef.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <linux/types.h>

typedef __u64 u64;
typedef __u32 u32;
typedef __u16 u16;
typedef __u8 u8;

#ifndef __always_inline
#define __always_inline	inline __attribute__((always_inline))
#endif
#define noinline	__attribute__((noinline))
#define likely(x)	__builtin_expect(!!(x), 1)
#define unlikely(x)	__builtin_expect(!!(x), 0)

#define ring_read(p)			__atomic_load_n(p, __ATOMIC_RELAXED)
#define ring_write(p, v)		__atomic_store_n(p, v, __ATOMIC_RELAXED)
#define ring_read_acquire(p)		__atomic_load_n(p, __ATOMIC_ACQUIRE)
#define ring_write_release(p, v)	__atomic_store_n(p, v, __ATOMIC_RELEASE)
#define ring_cmpxchg(p, old, new)						\
({										\
	__typeof__(*(p)) __old = (old);						\
	__atomic_compare_exchange_n(p, &__old, new, false,			\
				    __ATOMIC_RELAXED, __ATOMIC_RELAXED);	\
})
#define ring_add(p, v)			__atomic_fetch_add(p, v, __ATOMIC_RELAXED)
#define ring_wmb()			__atomic_thread_fence(__ATOMIC_RELEASE)
#define ring_rmb()			__atomic_thread_fence(__ATOMIC_ACQUIRE)
#define ring_clock(r)			ring_clock_gettime((r)->clock)
#define ring_switched(r)		((void)(r))

static inline u64 ring_clock_gettime(u32 clock)
{
	struct timespec t;

	clock_gettime(clock == BPF_RELAY_CLOCK_MONO ? CLOCK_MONOTONIC : CLOCK_BOOTTIME, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

#ifdef __SANITIZE_THREAD__
/*
 * TSan rightly calls a plain copy beside a writer a race, and does not know
 * fences. Relaxed bytes say what the copy means.
 */
static inline void ring_copy_in(void *dst, const void *src, size_t n)
{
	for (size_t i = 0; i < n; i++)
		__atomic_store_n((u8 *)dst + i, ((const u8 *)src)[i], __ATOMIC_RELAXED);
}

static inline void ring_copy_out(void *dst, const void *src, size_t n)
{
	for (size_t i = 0; i < n; i++)
		((u8 *)dst)[i] = __atomic_load_n((const u8 *)src + i, __ATOMIC_RELAXED);
}

static inline void ring_zero(void *dst, size_t n)
{
	for (size_t i = 0; i < n; i++)
		__atomic_store_n((u8 *)dst + i, 0, __ATOMIC_RELAXED);
}
#else
#define ring_copy_in(dst, src, n)	memcpy(dst, src, n)
#define ring_copy_out(dst, src, n)	memcpy(dst, src, n)
#define ring_zero(dst, n)		memset(dst, 0, n)
#endif

#endif /* __KERNEL__ */
#endif /* _BPF_RELAY_RING_ACCESS_H */
