/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * bpf_relay: the binary interface.
 *
 * Used by the module, by BPF programs, by user space (C and C++) and by
 * whoever looks at the memory of a crashed machine. Little-endian 64-bit machines
 * only.
 *
 * BPF_RELAY_ABI changes when, and only when, a layout in this file changes.
 * Two builds that meet through this file compare it for equality.
 *
 * One log is, per possible CPU, a control area (struct bpf_relay_ctl) and a
 * buffer of n_subbufs sub-buffers of subbuf_size bytes. Each sub-buffer is a
 * CTF 1.8 packet: struct bpf_relay_packet, then records, then zeroes. Each
 * record is a CTF event: struct bpf_relay_header, len bytes, zeroes up to the
 * next multiple of 8.
 *
 * Positions (wpos, published) count bytes since the log was opened and never
 * wrap; position p lies in sub-buffer (p / subbuf_size) % n_subbufs, in lap
 * p / (subbuf_size * n_subbufs).
 */
#ifndef _UAPI_LINUX_BPF_RELAY_H
#define _UAPI_LINUX_BPF_RELAY_H

/* A BPF program that includes vmlinux.h already has the __uNN types. */
#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

#if defined(__cplusplus)
#define BPF_RELAY_ASSERT(expr) static_assert(expr, #expr)
#else
#define BPF_RELAY_ASSERT(expr) _Static_assert(expr, #expr)
#endif

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "bpf_relay: little-endian machines only"
#endif

#define BPF_RELAY_ABI		1

/* Limits. Bytes are per CPU. */
#define BPF_RELAY_SUBBUF_MIN	4096U		/* and never below a page */
#define BPF_RELAY_SUBBUF_MAX	(4U << 20)
#define BPF_RELAY_N_SUBBUFS_MIN	2U
#define BPF_RELAY_N_SUBBUFS_MAX	4096U
#define BPF_RELAY_BUFFER_MAX	(1UL << 30)	/* subbuf_size * n_subbufs */
#define BPF_RELAY_TYPES_MAX	256U		/* ids 0 (raw) to 255 */
#define BPF_RELAY_TEXT_MAX	(32U << 10)	/* a type's TSDL; its field table */
#define BPF_RELAY_NAME_MAX	64U		/* a name with its NUL */
#define BPF_RELAY_OPEN_MAX	64U		/* open records per CPU and log */

/* ---- The memory of a sub-buffer ---------------------------------------- */

/*
 * Packet header: CTF 1.8 packet.header, then stream packet.context.
 *
 * Written once, by the CPU's own writer that enters the sub-buffer, before the
 * sub-buffer's first record is published. In memory the end of the records is
 * where state is 0. The copies in ctf/ are closed: timestamp_end, content_size
 * and events_discarded are final there.
 */
struct bpf_relay_packet {
	__u32 magic;			/* BPF_RELAY_CTF_MAGIC */
	__u8  uuid[16];			/* of the log, as in the metadata */
	__u32 stream_id;		/* 0 */
	__u64 stream_instance_id;	/* the CPU */
	__u64 timestamp_begin;		/* ns; no later than the first record's */
	__u64 timestamp_end;		/* ns; in memory = timestamp_begin */
	__u64 content_size;		/* bits; in memory = packet_size */
	__u64 packet_size;		/* bits; subbuf_size * 8 */
	__u64 packet_seq_num;		/* position / subbuf_size */
	__u64 events_discarded;		/* dropped so far; in memory at begin */
	__u64 cpu_id;
};
BPF_RELAY_ASSERT(sizeof(struct bpf_relay_packet) == 88);

#define BPF_RELAY_CTF_MAGIC	0xC1FC1FC1U

/* The state of a record. Zero is no record: padding, the end of a packet. */
enum bpf_relay_state {
	BPF_RELAY_OPEN		= 1,	/* reserved; payload not final */
	BPF_RELAY_COMMITTED	= 2,	/* whole */
	BPF_RELAY_DISCARDED	= 3,	/* given up by its writer; skip it */
};

/*
 * Record header: CTF event.header (ts, id), then two fields that CTF sees only
 * as alignment (typed events) or, for len, as the length of a raw event.
 *
 * A record takes BPF_RELAY_RECORD_SIZE(len) bytes, is 8-aligned and never
 * crosses a sub-buffer. Of one CPU's records ts never goes back.
 */
struct bpf_relay_header {
	__u64 ts;	/* ns of the log's clock */
	__u16 id;	/* type; 0 is raw bytes */
	__u16 state;	/* enum bpf_relay_state; final once published */
	__u32 len;	/* bytes of payload, without the padding */
};
BPF_RELAY_ASSERT(sizeof(struct bpf_relay_header) == 16);

#define BPF_RELAY_RECORD_SIZE(len) \
	((sizeof(struct bpf_relay_header) + (__u64)(len) + 7) & ~7ULL)

/* The largest payload that fits a sub-buffer. */
#define BPF_RELAY_PAYLOAD_MAX(subbuf_size) \
	((subbuf_size) - sizeof(struct bpf_relay_packet) - sizeof(struct bpf_relay_header))

/* ---- Counters ----------------------------------------------------------- */

/*
 * Per CPU, cumulative, never reset; readers compute deltas. Whenever the CPU's
 * writers are quiet, to the unit:
 *
 *	calls of output and reserve on an open log
 *			== records + discarded + every dropped_* (+ records still open)
 *	records		== overwritten + readable (the sum of bpf_relay_subbuf.nrec)
 *
 * Drop reasons and what the caller got:
 *	dropped_type		-ENOENT		type id unknown, or -EINVAL unknown flags
 *	dropped_size		-EINVAL		not the size of its type
 *	dropped_too_big		-E2BIG		larger than a sub-buffer holds
 *	dropped_busy		-EBUSY		next sub-buffer holds an open record
 *	dropped_full		-ENOSPC		no-overwrite mode, and full
 *	dropped_nested		-EDEADLK	too many nested calls on this CPU
 *	dropped_contended	-EDEADLK	lost too many races to nested calls
 *	dropped_no_buffer	-ENOSPC		this CPU has no buffer (yet)
 *	dropped_no_record	-ENOSPC		BPF_RELAY_OPEN_MAX records open already
 */
#define BPF_RELAY_COUNTERS(X)							\
	X(records)		/* committed */					\
	X(bytes)		/* their payload */				\
	X(discarded)		/* reserved, then given up */			\
	X(overwritten)		/* records lost to newer ones */		\
	X(overwritten_bytes)	/* their payload */				\
	X(dropped_type)								\
	X(dropped_size)								\
	X(dropped_too_big)							\
	X(dropped_busy)								\
	X(dropped_full)								\
	X(dropped_nested)							\
	X(dropped_contended)							\
	X(dropped_no_buffer)							\
	X(dropped_no_record)

#define BPF_RELAY_COUNTER_MEMBER(name)	__u64 name;
#define BPF_RELAY_COUNTER_INDEX(name)	BPF_RELAY_##name,

struct bpf_relay_counters {
	BPF_RELAY_COUNTERS(BPF_RELAY_COUNTER_MEMBER)
};

/* The same as indices: a struct bpf_relay_counters is an array of __u64. */
enum bpf_relay_counter {
	BPF_RELAY_COUNTERS(BPF_RELAY_COUNTER_INDEX)
	BPF_RELAY_NR_COUNTERS,
	BPF_RELAY_FIRST_DROP = BPF_RELAY_dropped_type,
};
BPF_RELAY_ASSERT(sizeof(struct bpf_relay_counters) == BPF_RELAY_NR_COUNTERS * sizeof(__u64));

/* ---- The control area: the state of one CPU's ring ----------------------- */

/* One per sub-buffer. All three are free-running or relative to the buffer. */
struct bpf_relay_subbuf {
	/*
	 * Bytes ever committed: headers, records, padding. Lap L (from 0) of
	 * the sub-buffer is complete, and may be read beyond `published`, when
	 * a load-acquire of this shows >= (L + 1) * subbuf_size.
	 */
	__u64 committed;
	__u64 nrec;		/* readable records; counted before they are committed */
	__u64 nbytes;		/* their payload */
};
BPF_RELAY_ASSERT(sizeof(struct bpf_relay_subbuf) == 24);

#define BPF_RELAY_F_BUFFER	(1U << 0)	/* the CPU has a buffer */
#define BPF_RELAY_F_KEEP	(1U << 1)	/* no-overwrite mode */

/*
 * Written only on its own CPU, in whatever context a BPF program runs there; read from
 * anywhere, at any time. Readers store nothing, and writers know nothing of them. This is
 * how the module reads, and how whoever maps `mem` does, without a system call.
 *
 * Loads below are single loads of 64 bits; B = n_subbufs * subbuf_size.
 *	1. P = load-acquire(published), then W = wpos. Behind E = roundup(W, subbuf_size)
 *	   there is nothing, and the oldest sub-buffer starts at max(0, E - B). Then for
 *	   each sub-buffer from there up to E, s being the position where it starts:
 *	2. What is final of it: up to min(P, s + subbuf_size), if P > s; all of it, if a
 *	   load-acquire of its `committed` shows that it is complete; else nothing yet.
 *	3. Copy that from s % B of the data. Look at nothing before step 4: it may be being
 *	   overwritten.
 *	4. Read barrier, then W = wpos again. The copy is whole if, and only if,
 *	   W <= s + B. Otherwise throw it away: it was overtaken.
 *	5. Walk the records in the copy from the packet header on; stop at its end or at a
 *	   record with state 0; skip discarded ones.
 *
 * The acquires of 1 and 2 pair with the writer's barrier between its stores into a record
 * and its move of `published` or `committed`: what is final was stored. The read barrier
 * of 4 pairs with the writer's barrier between its move of wpos and its first store there:
 * who copied a byte of a later lap sees the wpos of that lap. A load-acquire of wpos in
 * place of the barrier is no good, for it orders only what comes behind it.
 *
 * To go on later, keep the position where a copy ended, and begin there. If the oldest
 * sub-buffer starts beyond it, what lies between was overwritten. An open record hides the
 * rest of its own sub-buffer only, so that later ones may be final before it is: who wants
 * all records in order stops at the first sub-buffer that is not final as a whole.
 */
struct bpf_relay_ctl {
	__u32 abi;		/* BPF_RELAY_ABI */
	__u32 ctl_size;		/* bytes of this struct with all sub-buffers */
	__u32 cpu;
	__u32 flags;		/* BPF_RELAY_F_*; F_BUFFER is set once, when there is one */
	__u32 subbuf_size;	/* bytes, a power of two */
	__u32 n_subbufs;	/* a power of two */
	__u64 wpos;		/* where the next record will be reserved */
	__u64 published;	/* every record before it is committed; never goes back */
	__u64 last_ts;		/* ns; the newest record's time */
	struct bpf_relay_counters counters;
	__u64 nested;		/* calls that found another one below them */
	__u32 depth_max;	/* the deepest nesting seen; 1 is none */
	__u32 subbufs_off;	/* bytes from here to struct bpf_relay_subbuf[n_subbufs] */
};
BPF_RELAY_ASSERT(sizeof(struct bpf_relay_ctl) == 48 + 8 * BPF_RELAY_NR_COUNTERS + 16);

/* ---- Opening a log ------------------------------------------------------- */

enum bpf_relay_mode {
	BPF_RELAY_OVERWRITE	= 0,	/* keep the newest records */
	BPF_RELAY_KEEP		= 1,	/* no-overwrite: keep the first, drop the new */
};

enum bpf_relay_clock {
	BPF_RELAY_CLOCK_BOOT	= 0,	/* CLOCK_BOOTTIME: counts through suspend */
	BPF_RELAY_CLOCK_MONO	= 1,	/* CLOCK_MONOTONIC */
};

/* For bpf_relay_open(). May grow at the end; unknown bytes must be zero. */
struct bpf_relay_opts {
	__u32 abi;		/* BPF_RELAY_ABI of the caller */
	__u32 mode;		/* enum bpf_relay_mode */
	__u32 clock;		/* enum bpf_relay_clock */
	__u32 n_types;		/* types the caller added; must be all of the log's */
	__u32 subbuf_size;	/* bytes; 0: default */
	__u32 n_subbufs;	/* 0: default */
};
BPF_RELAY_ASSERT(sizeof(struct bpf_relay_opts) == 24);

/*
 * Any length from `size` up: for a struct that ends in a flexible array, or whose
 * records have more bytes behind it. If the field table ends in a flexible field
 * (count 0), records are cut down to whole elements of it wherever they are shown,
 * and in the copies in ctf/ bpf_relay_header.len is the number of elements: CTF
 * reads it as the length of a sequence. Without one, CTF sees the record as its
 * length and bytes, and the type has no tsdl of its own.
 */
#define BPF_RELAY_TYPE_VAR	(1U << 0)

/*
 * A type of record, for bpf_relay_add_type(). May grow at the end; unknown
 * bytes must be zero.
 *
 * tsdl is the CTF 1.8 "event { ... };" block with this id and stream_id 0. It
 * is put into ctf/metadata as it is. Without one the module writes a block that
 * shows the payload as bytes. fields is an array of struct bpf_relay_field.
 * Both are addresses in the calling process.
 */
struct bpf_relay_type {
	__u32 abi;		/* BPF_RELAY_ABI of the caller */
	__u16 id;		/* 1 to BPF_RELAY_TYPES_MAX - 1 */
	__u16 flags;		/* BPF_RELAY_TYPE_* */
	__u32 size;		/* bytes of payload; of a VAR type: the least */
	__u32 tsdl_len;		/* bytes without NUL; 0: none */
	__u32 fields_len;	/* bytes; 0: none */
	__u32 reserved;		/* 0 */
	__u64 tsdl;
	__u64 fields;
	char  name[BPF_RELAY_NAME_MAX];	/* C identifier; "const ", "struct " before it go */
};
BPF_RELAY_ASSERT(sizeof(struct bpf_relay_type) == 104);

/*
 * What a loader may fill in before it runs the program that opens a log
 * (bpf_relay.h: RELAY_MAP): a global variable of the BPF object, in section
 * ".data.relay". opts.n_types says how many types follow.
 */
struct bpf_relay_setup {
	struct bpf_relay_opts opts;
	struct bpf_relay_type type[];
};

enum bpf_relay_kind {
	BPF_RELAY_UINT		= 1,	/* 1, 2, 4 or 8 bytes, or a bit-field */
	BPF_RELAY_INT		= 2,	/* the same, signed */
	BPF_RELAY_CHAR		= 3,	/* text: count bytes, ends at a NUL if there is one */
	BPF_RELAY_STRUCT	= 4,	/* its members follow at depth + 1 */
	BPF_RELAY_BYTES		= 5,	/* unions, and anything else: count bytes */
	BPF_RELAY_PAD		= 6,	/* padding of C: count bytes, or bits; no name */
	BPF_RELAY_BOOL		= 7,	/* 1 byte, or a bit-field */
	BPF_RELAY_ENUM		= 8,	/* as UINT; or as INT, see flags; enumerators follow */
	BPF_RELAY_ENUMERATOR	= 9,	/* of the ENUM before it, at depth + 1: name, value */
	BPF_RELAY_FLOAT		= 10,	/* 4 or 8 bytes, IEEE 754 */
	BPF_RELAY_ARRAY		= 11,	/* of arrays: the inner one follows at depth + 1, no name */
};

/* How a value is meant, for those who show it. */
enum bpf_relay_hint {
	BPF_RELAY_HINT_NONE	= 0,
	BPF_RELAY_HINT_HEX	= 1,	/* UINT, INT, ENUM; pointers have it by themselves */
	BPF_RELAY_HINT_IPV4	= 2,	/* UINT of 4 bytes as on the wire, or BYTES of 4 */
	BPF_RELAY_HINT_IPV6	= 3,	/* BYTES of 16 */
	BPF_RELAY_HINT_MAC	= 4,	/* BYTES of 6 */
	BPF_RELAY_HINT_STRING	= 5,	/* CHAR, of whatever C type */
	BPF_RELAY_HINT_NS	= 6,	/* UINT or INT: nanoseconds */
	BPF_RELAY_HINT_STACK	= 7,	/* UINT of 8 bytes: kernel addresses, up to a 0 */
	BPF_RELAY_HINT_KSYM	= 8,	/* UINT of 8 bytes: a kernel address */
	BPF_RELAY_HINT_IFINDEX	= 9,	/* UINT or INT of 4 bytes: a network interface */
	BPF_RELAY_HINT_PACKET	= 10,	/* BYTES: a packet from its link layer header on */
};

#define BPF_RELAY_FIELD_SIGNED	(1U << 0)	/* of an ENUM */
#define BPF_RELAY_FIELD_BE	(1U << 1)	/* UINT, INT of 2, 4, 8 bytes: big-endian */

/*
 * One field of a type, in the order of memory, members of a struct right behind
 * it. Fields of one parent neither overlap nor leave holes: each begins at the bit
 * where the one before it ends, and all but bit-fields at a whole byte. Enumerators
 * take no room. A name is a C identifier, unlike its siblings'.
 *
 * count is 1 unless an array. 0 is a flexible array: whole elements up to the end
 * of the record; only at depth 0, only the last field, only of a BPF_RELAY_TYPE_VAR.
 * BYTES, CHAR and PAD have size 1. ARRAY has the size of its inner array.
 */
struct bpf_relay_field {
	__u64 value;		/* ENUMERATOR: its value, sign-extended. HINT_PACKET: the
				 * index in the table of the field with the length that
				 * the packet had, or BPF_RELAY_NO_FIELD. Else 0
				 */
	__u32 offset;		/* bytes from the start of the parent (record or element) */
	__u32 size;		/* bytes of one element; of a bit-field, of its C type */
	__u32 count;		/* elements */
	__u16 kind;		/* enum bpf_relay_kind */
	__u16 depth;		/* 0: a member of the record itself */
	__u8  hint;		/* enum bpf_relay_hint */
	__u8  flags;		/* BPF_RELAY_FIELD_* */
	__u8  bits;		/* of a bit-field or of padding between them: 1 to 64; else 0 */
	__u8  bit_offset;	/* where it begins in the byte at offset: 0, the lowest, to 7 */
	char  name[44];		/* with its NUL; of padding and inner arrays, empty */
};
BPF_RELAY_ASSERT(sizeof(struct bpf_relay_field) == 72);

#define BPF_RELAY_NO_FIELD	(~0ULL)

/* ---- The file `mem` ------------------------------------------------------ */

enum bpf_relay_log_state {
	BPF_RELAY_LOG_OPEN	= 1,
	BPF_RELAY_LOG_CLOSED	= 2,	/* its map is gone: nothing is written any more */
};

/*
 * The first page of `mem`, a file to be mapped with PROT_READ. All but state is constant
 * once it can be opened.
 *
 * The control area of CPU n, 0 <= n < nr_cpus, lies at cpu_offset + n * cpu_stride
 * of the file, its data data_offset bytes behind it. All three are multiples of
 * the page size, and any window of whole pages may be mapped. The data of a CPU without a
 * buffer (no BPF_RELAY_F_BUFFER) reads as zeroes until it gets one, which shows in
 * mappings that are there already, before its first record; a CPU number that is not
 * possible reads as zeroes altogether.
 *
 * A mapping stays as it is when the log ends: state is CLOSED then, and what was recorded
 * can still be read. How to read is said at struct bpf_relay_ctl.
 */
struct bpf_relay_log_page {
	__u32 abi;		/* BPF_RELAY_ABI */
	__u32 size;		/* bytes of this struct */
	__u32 state;		/* enum bpf_relay_log_state */
	__u32 nr_cpus;		/* the highest possible CPU number, and 1 */
	__u32 subbuf_size;	/* bytes */
	__u32 n_subbufs;
	__u32 mode;		/* enum bpf_relay_mode */
	__u32 clock;		/* enum bpf_relay_clock */
	__u64 cpu_offset;	/* bytes */
	__u64 cpu_stride;	/* bytes */
	__u64 data_offset;	/* bytes */
	__u64 file_size;	/* bytes of `mem` */
	__u32 map_id;
	__u32 n_types;
	__u8  uuid[16];		/* of the log, as in the metadata */
	char  name[BPF_RELAY_NAME_MAX];	/* of its directory */
};
BPF_RELAY_ASSERT(sizeof(struct bpf_relay_log_page) == 152);

#endif /* _UAPI_LINUX_BPF_RELAY_H */
