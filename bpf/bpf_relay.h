/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * bpf_relay for BPF programs. Include vmlinux.h (or linux/bpf.h) and
 * bpf/bpf_helpers.h first. Needs clang and a GPL-compatible program licence.
 *
 *	struct event { __u32 pid; __u32 len; };
 *	RELAY_MAP(log, struct event);
 *
 *	SEC("fentry/tcp_rcv_established")
 *	int BPF_PROG(on_segment, struct sock *sk, struct sk_buff *skb)
 *	{
 *		struct event e = { .pid = bpf_get_current_pid_tgid() >> 32, .len = skb->len };
 *
 *		relay_output(&log, &e);
 *		return 0;
 *	}
 *
 * RELAY_MAP(log, ...) also defines
 *	log_open	a SEC("syscall") program: run it once (bpf_prog_test_run_opts
 *			without a context) and the log is open, whatever loader you use.
 *			It returns 0, -EALREADY, or what went wrong: see bpf_relay_open().
 *	log_setup	a global variable in ".data.relay" with the options and types
 *			that log_open uses (struct bpf_relay_setup): a loader may change
 *			sizes and add the text of the types before it runs log_open.
 *
 * Without the module the object loads and runs all the same and records
 * nothing: relay_output() and log_open return -ENOSYS.
 */
#ifndef __BPF_RELAY_H__
#define __BPF_RELAY_H__

#include <linux/bpf_relay.h>
#include "bpf_relay_hints.h"

#ifndef bpf_ksym_exists
#error "bpf_relay.h: include bpf/bpf_helpers.h first, of libbpf 1.2 or newer (bpf_ksym_exists)"
#endif

/* The log. Opaque, but defined: a map needs the struct, not only its name. */
struct bpf_relay {
	__u32 abi;
};

/* A record between reserve and submit or discard. Opaque; libbpf wants it defined. */
struct bpf_relay_record {
	__u64 handle;
};

/* Any context up to NMI. Documentation/kfuncs.rst has the contracts. */
extern int bpf_relay_output(void *p__map, const void *data, __u32 data__sz,
			    __u64 flags) __ksym __weak;
extern struct bpf_relay_record *bpf_relay_reserve(void *p__map, __u32 size,
						  __u64 flags) __ksym __weak;
extern char *bpf_relay_record_data(struct bpf_relay_record *rec,
				   const int rdwr_buf_size) __ksym __weak;
extern void bpf_relay_submit(struct bpf_relay_record *rec) __ksym __weak;
extern void bpf_relay_discard(struct bpf_relay_record *rec) __ksym __weak;

/* Sleepable, SEC("syscall") programs only. */
extern int bpf_relay_add_type(void *p__map, struct bpf_relay_type *type,
			      __u32 type__sz) __ksym __weak;
extern int bpf_relay_open(void *p__map, struct bpf_relay_opts *opts,
			  __u32 opts__sz) __ksym __weak;

#define RELAY_ENOSYS	(-38)
#define RELAY_EALREADY	(-114)

/* RELAY_EACH(m, arg, a, b, ...): m(arg, 1, a) m(arg, 2, b) ...; up to 16 of them. */
#define RELAY_EACH(m, arg, ...) __VA_OPT__(RELAY_EACH_1(m, arg, __VA_ARGS__))
#define RELAY_EACH_1(m, arg, t, ...)  m(arg, 1, t)  __VA_OPT__(RELAY_EACH_2(m, arg, __VA_ARGS__))
#define RELAY_EACH_2(m, arg, t, ...)  m(arg, 2, t)  __VA_OPT__(RELAY_EACH_3(m, arg, __VA_ARGS__))
#define RELAY_EACH_3(m, arg, t, ...)  m(arg, 3, t)  __VA_OPT__(RELAY_EACH_4(m, arg, __VA_ARGS__))
#define RELAY_EACH_4(m, arg, t, ...)  m(arg, 4, t)  __VA_OPT__(RELAY_EACH_5(m, arg, __VA_ARGS__))
#define RELAY_EACH_5(m, arg, t, ...)  m(arg, 5, t)  __VA_OPT__(RELAY_EACH_6(m, arg, __VA_ARGS__))
#define RELAY_EACH_6(m, arg, t, ...)  m(arg, 6, t)  __VA_OPT__(RELAY_EACH_7(m, arg, __VA_ARGS__))
#define RELAY_EACH_7(m, arg, t, ...)  m(arg, 7, t)  __VA_OPT__(RELAY_EACH_8(m, arg, __VA_ARGS__))
#define RELAY_EACH_8(m, arg, t, ...)  m(arg, 8, t)  __VA_OPT__(RELAY_EACH_9(m, arg, __VA_ARGS__))
#define RELAY_EACH_9(m, arg, t, ...)  m(arg, 9, t)  __VA_OPT__(RELAY_EACH_10(m, arg, __VA_ARGS__))
#define RELAY_EACH_10(m, arg, t, ...) m(arg, 10, t) __VA_OPT__(RELAY_EACH_11(m, arg, __VA_ARGS__))
#define RELAY_EACH_11(m, arg, t, ...) m(arg, 11, t) __VA_OPT__(RELAY_EACH_12(m, arg, __VA_ARGS__))
#define RELAY_EACH_12(m, arg, t, ...) m(arg, 12, t) __VA_OPT__(RELAY_EACH_13(m, arg, __VA_ARGS__))
#define RELAY_EACH_13(m, arg, t, ...) m(arg, 13, t) __VA_OPT__(RELAY_EACH_14(m, arg, __VA_ARGS__))
#define RELAY_EACH_14(m, arg, t, ...) m(arg, 14, t) __VA_OPT__(RELAY_EACH_15(m, arg, __VA_ARGS__))
#define RELAY_EACH_15(m, arg, t, ...) m(arg, 15, t) __VA_OPT__(RELAY_EACH_16(m, arg, __VA_ARGS__))
#define RELAY_EACH_16(m, arg, t)      m(arg, 16, t)

/* The record types stand in the map's own BTF, as arrays without elements. */
#define RELAY_TYPE_MEMBER(name, n, t)	t type##n[0];

/*
 * One overload per declared type, never called: the size of what it would
 * return is the type's id. For a type that was not declared there is none.
 */
#define RELAY_TYPE_ID(name, n, t)						\
	extern __attribute__((overloadable))					\
	char (*relay_declared_type(struct name##_relay, t))[n];

#define RELAY_TYPE_SETUP(arg, n, t)						\
	{									\
		.abi = BPF_RELAY_ABI,						\
		.id = (n),							\
		.flags = __builtin_types_compatible_p(t *, const __typeof__(t) *) * BPF_RELAY_TYPE_VAR, \
		.size = sizeof(t),						\
		.name = #t,							\
	},

/*
 * In the list of types: records of this type may be longer than it, by any number
 * of bytes; never shorter. What comes behind it is shown as elements of the flexible
 * array that it ends in, or else as bytes. (The mark is the const: it changes neither
 * size nor layout.)
 */
#define RELAY_VAR(t)	const t

#define RELAY_COUNT(arg, n, t)	+ 1

/*
 * RELAY_MAP(name, type...): a log called `name` with records of these types
 * (structs or typedefs, at most 16), besides raw bytes, which need no type.
 */
#define RELAY_MAP(name, ...)							\
	struct name##_relay {							\
		struct bpf_relay __kptr *relay;					\
		struct bpf_relay_counters counters;				\
		struct bpf_relay type0[0];					\
		RELAY_EACH(RELAY_TYPE_MEMBER, name, __VA_ARGS__)		\
	};									\
	_Static_assert(sizeof(struct name##_relay) ==				\
		       sizeof(void *) + sizeof(struct bpf_relay_counters),	\
		       "a record type of " #name " asks for too large an alignment"); \
	RELAY_EACH(RELAY_TYPE_ID, name, __VA_ARGS__)				\
	struct {								\
		__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);			\
		__uint(max_entries, 1);						\
		__type(key, __u32);						\
		__type(value, struct name##_relay);				\
	} name SEC(".maps");							\
	struct {								\
		struct bpf_relay_opts opts;					\
		struct bpf_relay_type type[0 RELAY_EACH(RELAY_COUNT, name, __VA_ARGS__)]; \
	} name##_setup SEC(".data.relay") = {					\
		.opts = {							\
			.abi = BPF_RELAY_ABI,					\
			.n_types = 0 RELAY_EACH(RELAY_COUNT, name, __VA_ARGS__), \
		},								\
		.type = { RELAY_EACH(RELAY_TYPE_SETUP, name, __VA_ARGS__) },	\
	};									\
	SEC("syscall") int name##_open(void *ctx __attribute__((unused)))	\
	{									\
		int err;							\
										\
		if (!bpf_ksym_exists(bpf_relay_open))				\
			return RELAY_ENOSYS;					\
		for (int i = 0; i < 0 RELAY_EACH(RELAY_COUNT, name, __VA_ARGS__); i++) { \
			err = bpf_relay_add_type(&name, &name##_setup.type[i],	\
						 sizeof(name##_setup.type[i]));	\
			if (err && err != RELAY_EALREADY)			\
				return err;					\
		}								\
		return bpf_relay_open(&name, &name##_setup.opts,		\
				      sizeof(name##_setup.opts));		\
	}									\
	struct name##_relay

/* The id of *(rec)'s type in a log; a compile-time constant. */
#define relay_type_id(map, rec)	sizeof(*relay_declared_type(*(map)->value, *(rec)))

/* Write *(rec), of one of the map's types. Returns 0 or bpf_relay_output()'s error. */
#define relay_output(map, rec)							\
	(bpf_ksym_exists(bpf_relay_output)					\
	 ? bpf_relay_output(map, rec, sizeof(*(rec)), relay_type_id(map, rec))	\
	 : RELAY_ENOSYS)

/*
 * The same with `size` bytes, for a type that is declared with RELAY_VAR():
 *
 *	struct path_event { __u32 pid; __u32 n; __u64 inode[]; };
 *	RELAY_MAP(paths, RELAY_VAR(struct path_event));
 *
 *	relay_output_var(&paths, e, relay_size(e, inode, e->n));
 */
#define relay_output_var(map, rec, size)					\
	(bpf_ksym_exists(bpf_relay_output)					\
	 ? bpf_relay_output(map, rec, size, relay_type_id(map, rec))		\
	 : RELAY_ENOSYS)

/*
 * Bytes of *(rec) with n elements in its flexible array. (Where the array begins in the
 * padding at the struct's end, a few elements may be less than the struct, which is
 * refused: fill such padding with a member.)
 */
#define relay_size(rec, array, n)						\
	(__builtin_offsetof(__typeof__(*(rec)), array) + sizeof(*(rec)->array) * (n))

/*
 * A record to be filled in place, zeroed, or NULL if there is none:
 *
 *	struct bpf_relay_record *rec;
 *	struct event *e = relay_reserve(&events, struct event, &rec);
 *
 *	if (!e)
 *		return 0;
 *	e->pid = ...;
 *	relay_submit(rec);
 *
 * Every path must end in relay_submit(rec) or relay_discard(rec), or the verifier
 * refuses the program. (The handle is apart because C cannot hide it behind `e`,
 * and the verifier wants to see it again.)
 */
#define relay_reserve(map, t, rec)						\
({										\
	t *__data = (void *)0;							\
										\
	*(rec) = (void *)0;							\
	if (bpf_ksym_exists(bpf_relay_reserve))					\
		*(rec) = bpf_relay_reserve(map, sizeof(t),			\
					   relay_type_id(map, (t *)0));		\
	if (*(rec)) {								\
		__data = (t *)bpf_relay_record_data(*(rec), sizeof(t));		\
		if (!__data)							\
			bpf_relay_discard(*(rec));				\
	}									\
	__data;									\
})

#define relay_submit(rec)	bpf_relay_submit(rec)
#define relay_discard(rec)	bpf_relay_discard(rec)

/*
 * Write `size` raw bytes: type 0. `data` must be memory that the program may write,
 * too (the stack, a map's value, packet data): not a string constant.
 */
#define relay_output_raw(map, data, size)					\
	(bpf_ksym_exists(bpf_relay_output)					\
	 ? bpf_relay_output(map, data, size, 0)					\
	 : RELAY_ENOSYS)

#endif /* __BPF_RELAY_H__ */
