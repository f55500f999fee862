/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What differs between the kernels we build for, found by looking at the
 * kernel's own headers while compiling, not by its version number:
 * distributions carry changes back.
 */
#ifndef _BPF_RELAY_COMPAT_H
#define _BPF_RELAY_COMPAT_H

#include <linux/btf.h>
#include <linux/relay.h>

/* Arguments of kfuncs must be trusted: said by a flag, later the default. */
#ifndef KF_TRUSTED_ARGS
#define KF_TRUSTED_ARGS 0
#endif

/* relay's subbuf_start callback lost its last argument, prev_padding. */
typedef int (*compat_subbuf_start_4)(struct rchan_buf *buf, void *subbuf, void *prev_subbuf,
				     size_t prev_padding);

#define COMPAT_SUBBUF_START_4								\
	__builtin_types_compatible_p(typeof(((struct rchan_callbacks *)0)->subbuf_start), \
				     compat_subbuf_start_4)

/* Choose the function that has the kernel's prototype. */
#define COMPAT_SUBBUF_START(four, three)						\
	((typeof(((struct rchan_callbacks *)0)->subbuf_start))				\
	 __builtin_choose_expr(COMPAT_SUBBUF_START_4, four, three))

#endif /* _BPF_RELAY_COMPAT_H */
