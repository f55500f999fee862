/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The ring's accessors, each with access_hook() before it: there a test may run
 * a nested writer ("interrupt") or a reader. Copies are cut into words, so that
 * they too can be interrupted half done. Stores into the buffer and moves of
 * wpos are shown to the model (world.c), and the clock is the test's.
 */
#ifndef _RING_HOOK_ACCESS_H
#define _RING_HOOK_ACCESS_H

#include "ring_access.h"

void access_hook(void);
void world_store(const void *dst, size_t n);
void world_swapped(const void *p, u64 from, u64 to);
u64 world_clock(void);

static inline void hook_copy(void *dst, const void *src, size_t n, bool in)
{
	size_t i, step;

	for (i = 0; i < n; i += step) {
		step = n - i < 8 ? n - i : 8;
		access_hook();
		if (in)
			world_store((u8 *)dst + i, step);
		if (src)
			memcpy((u8 *)dst + i, (const u8 *)src + i, step);
		else
			memset((u8 *)dst + i, 0, step);
	}
}

#undef ring_read
#undef ring_write
#undef ring_read_acquire
#undef ring_write_release
#undef ring_cmpxchg
#undef ring_add
#undef ring_wmb
#undef ring_rmb
#undef ring_copy_in
#undef ring_copy_out
#undef ring_zero
#undef ring_clock

/* Arguments first: they may be accesses themselves, with a hook of their own. */
#define ring_read(p)								\
({										\
	__typeof__(p) __p = (p);						\
	access_hook();								\
	__atomic_load_n(__p, __ATOMIC_RELAXED);					\
})
#define ring_write(p, v)							\
({										\
	__typeof__(p) __p = (p);						\
	__typeof__(*(p)) __v = (v);						\
	access_hook();								\
	world_store(__p, sizeof(*__p));						\
	__atomic_store_n(__p, __v, __ATOMIC_RELAXED);				\
})
#define ring_read_acquire(p)		ring_read(p)
#define ring_write_release(p, v)	ring_write(p, v)
#define ring_cmpxchg(p, old, new)						\
({										\
	__typeof__(p) __p = (p);						\
	__typeof__(*(p)) __old = (old), __new = (new);				\
	__typeof__(*(p)) __was = __old;						\
	bool __done;								\
										\
	access_hook();								\
	__done = __atomic_compare_exchange_n(__p, &__was, __new, false,		\
					     __ATOMIC_RELAXED, __ATOMIC_RELAXED); \
	if (__done)								\
		world_swapped(__p, __old, __new);				\
	__done;									\
})
#define ring_add(p, v)								\
({										\
	__typeof__(p) __p = (p);						\
	__typeof__(*(p)) __v = (v);						\
	access_hook();								\
	__atomic_fetch_add(__p, __v, __ATOMIC_RELAXED);				\
})
#define ring_wmb()			access_hook()
#define ring_rmb()			access_hook()
#define ring_copy_in(dst, src, n)	hook_copy(dst, src, n, true)
#define ring_copy_out(dst, src, n)	hook_copy(dst, src, n, false)
#define ring_zero(dst, n)		hook_copy(dst, NULL, n, true)
#define ring_clock(r)			((void)(r), access_hook(), world_clock())

#endif /* _RING_HOOK_ACCESS_H */
