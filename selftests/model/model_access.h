/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The ring's accessors, each a call of the explorer (access.cpp). ring.c is
 * compiled unchanged: -DRING_ACCESS_H='"model_access.h"'.
 */
#ifndef _MODEL_ACCESS_H
#define _MODEL_ACCESS_H

#include "ring_access.h"

#ifdef __cplusplus
extern "C" {
#endif

u64 model_load(const void *p, unsigned int size, bool acquire, int line);
void model_store(void *p, unsigned int size, u64 value, bool release, int line);
bool model_cmpxchg(void *p, unsigned int size, u64 from, u64 to, int line);
void model_add(void *p, u64 n, int line);
void model_wmb(int line);
void model_rmb(int line);
/* src NULL: zeroes. */
void model_copy_in(void *dst, const void *src, size_t n, int line);
/* Before ring_copy_out() works out where from: that needs the buffer's address. */
void model_reach(int line);
void model_copy_out(void *dst, const void *src, size_t n, int line);
u64 model_clock(int line);

#ifdef __cplusplus
}
#endif

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

#define ring_read(p)							\
	((__typeof__(*(p)))model_load(p, sizeof(*(p)), false, __LINE__))
#define ring_read_acquire(p)						\
	((__typeof__(*(p)))model_load(p, sizeof(*(p)), true, __LINE__))
#define ring_write(p, v)						\
	model_store(p, sizeof(*(p)), (u64)(uintptr_t)(v), false, __LINE__)
#define ring_write_release(p, v)					\
	model_store(p, sizeof(*(p)), (u64)(uintptr_t)(v), true, __LINE__)
#define ring_cmpxchg(p, old, new)	model_cmpxchg(p, sizeof(*(p)), old, new, __LINE__)
#define ring_add(p, v)			model_add(p, v, __LINE__)
#define ring_wmb()			model_wmb(__LINE__)
#define ring_rmb()			model_rmb(__LINE__)
#define ring_copy_in(dst, src, n)	model_copy_in(dst, src, n, __LINE__)
#define ring_zero(dst, n)		model_copy_in(dst, NULL, n, __LINE__)
#define ring_copy_out(dst, src, n)					\
	(model_reach(__LINE__), model_copy_out(dst, src, n, __LINE__))
#define ring_clock(r)			((void)(r), model_clock(__LINE__))

#endif /* _MODEL_ACCESS_H */
