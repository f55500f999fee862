// SPDX-License-Identifier: GPL-2.0-only
/* Maps that nearly are relay maps, each handed to every function; and one that is. */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include "bpf_relay.h"
#include "hostile.h"
#include "hostile_try.h"

char _license[] SEC("license") = "GPL";

#define MAP(name, kind, entries, ...)						\
	struct name##_value {							\
		__VA_ARGS__							\
		struct bpf_relay type[0];					\
		struct task_struct other_type[0];				\
	};									\
	struct {								\
		__uint(type, BPF_MAP_TYPE_##kind);				\
		__uint(max_entries, entries);					\
		__type(key, __u32);						\
		__type(value, struct name##_value);				\
	} name SEC(".maps");							\
	SEC("?syscall") int try_##name(void *ctx)				\
	{									\
		return try_writing(&name) ?: try_opening(&name);		\
	}

#define KPTR		struct bpf_relay __kptr *relay;
#define WORDS(n)	__u64 words[n];
#define ALL		(sizeof(struct bpf_relay_counters) / 8)

MAP(right, PERCPU_ARRAY, 1, KPTR WORDS(ALL))

MAP(only_kptr, PERCPU_ARRAY, 1, KPTR)
MAP(too_short, PERCPU_ARRAY, 1, KPTR WORDS(ALL - 1))
MAP(too_long, PERCPU_ARRAY, 1, KPTR WORDS(ALL + 1))
MAP(two_entries, PERCPU_ARRAY, 2, KPTR WORDS(ALL))
MAP(no_kptr, PERCPU_ARRAY, 1, WORDS(ALL + 1))
MAP(kptr_second, PERCPU_ARRAY, 1, __u64 first; KPTR WORDS(ALL - 1))
MAP(kptr_untrusted, PERCPU_ARRAY, 1,
    struct bpf_relay __kptr_untrusted *relay; WORDS(ALL))
MAP(task_kptr, PERCPU_ARRAY, 1, struct task_struct __kptr *task; WORDS(ALL))
MAP(two_kptrs, PERCPU_ARRAY, 1, KPTR struct bpf_relay __kptr *second; WORDS(ALL - 1))
MAP(task_behind, PERCPU_ARRAY, 1, KPTR struct task_struct __kptr *task; WORDS(ALL - 1))
MAP(task_before, PERCPU_ARRAY, 1, struct task_struct __kptr *task; KPTR WORDS(ALL - 1))
MAP(timer_percpu, PERCPU_ARRAY, 1, KPTR struct bpf_timer timer; WORDS(ALL - 2))
MAP(lock_percpu, PERCPU_ARRAY, 1, KPTR struct bpf_spin_lock lock; __u32 hole; WORDS(ALL - 1))
MAP(plain_array, ARRAY, 1, KPTR WORDS(ALL))
MAP(timer_array, ARRAY, 1, KPTR struct bpf_timer timer; WORDS(ALL - 2))
MAP(lock_array, ARRAY, 1, KPTR struct bpf_spin_lock lock; __u32 hole; WORDS(ALL - 1))
MAP(hash, HASH, 1, KPTR WORDS(ALL))
MAP(percpu_hash, PERCPU_HASH, 1, KPTR WORDS(ALL))
MAP(lru_hash, LRU_HASH, 1, KPTR WORDS(ALL))

/* What is wrong with these is not their size. */
#define SIZED(name) \
	_Static_assert(sizeof(struct name##_value) == \
		       sizeof(void *) + sizeof(struct bpf_relay_counters), #name)

SIZED(right);
SIZED(two_entries);
SIZED(no_kptr);
SIZED(kptr_second);
SIZED(kptr_untrusted);
SIZED(task_kptr);
SIZED(two_kptrs);
SIZED(task_behind);
SIZED(task_before);
SIZED(timer_percpu);
SIZED(lock_percpu);
SIZED(plain_array);
SIZED(timer_array);
SIZED(lock_array);
SIZED(hash);
SIZED(percpu_hash);
SIZED(lru_hash);
