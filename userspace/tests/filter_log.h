/* SPDX-License-Identifier: GPL-2.0-only */
/* A log of two types that have a field of each kind, and records of them, for filters. */
#ifndef __TESTS_FILTER_LOG_H__
#define __TESTS_FILTER_LOG_H__

#include <string.h>

#include "trace.h"

struct all_record {
	__u32 pid;
	__s32 prio;
	__u64 big;
	__s64 low;
	__u8 saddr[4];
	__u8 net6[16];
	__u8 mac[6];
	__u8 flag;
	__u8 level;		/* bits 0 to 2, and -1 in bits 3 and 4 */
	char comm[16];
	__u32 verdict;
	__s8 mood;		/* an enum; hexadecimal the next one */
	__s8 mask;
	__u16 port;		/* big-endian */
	struct {
		__u16 sport;
		__u16 flags;
	} tcp[2];
	__u32 grid[2][3];
	float ratio;
	float rates[2];
	double exact;
	double none;		/* a NaN */
	__u8 blob[3];
	__u8 pad;
} __attribute__((packed));

#define FIELD(member, k, s, n, ...)						\
	{ .name = #member, .kind = BPF_RELAY_##k, .size = s, .count = n,	\
	  .offset = offsetof(struct all_record, member), __VA_ARGS__ }
#define ENUMERATOR(n, v) \
	{ .name = n, .kind = BPF_RELAY_ENUMERATOR, .depth = 1, .count = 1, .value = v }

static const struct bpf_relay_field all_fields[] = {
	FIELD(pid, UINT, 4, 1),
	FIELD(prio, INT, 4, 1),
	FIELD(big, UINT, 8, 1),
	FIELD(low, INT, 8, 1),
	FIELD(saddr, BYTES, 1, 4, .hint = BPF_RELAY_HINT_IPV4),
	FIELD(net6, BYTES, 1, 16, .hint = BPF_RELAY_HINT_IPV6),
	FIELD(mac, BYTES, 1, 6, .hint = BPF_RELAY_HINT_MAC),
	FIELD(flag, BOOL, 1, 1),
	FIELD(level, UINT, 1, 1, .bits = 3),
	{ .name = "twist", .kind = BPF_RELAY_INT, .size = 1, .count = 1, .bits = 2,
	  .offset = offsetof(struct all_record, level), .bit_offset = 3 },
	{ .kind = BPF_RELAY_PAD, .size = 1, .count = 1, .bits = 3,
	  .offset = offsetof(struct all_record, level), .bit_offset = 5 },
	FIELD(comm, CHAR, 1, 16),
	FIELD(verdict, ENUM, 4, 1),
	ENUMERATOR("DROP", 1),
	ENUMERATOR("PASS", 2),
	ENUMERATOR("LAST", 0xffffffff),
	FIELD(mood, ENUM, 1, 1, .flags = BPF_RELAY_FIELD_SIGNED),
	ENUMERATOR("SAD", -1),
	FIELD(mask, INT, 1, 1, .hint = BPF_RELAY_HINT_HEX),
	FIELD(port, UINT, 2, 1, .flags = BPF_RELAY_FIELD_BE),
	FIELD(tcp, STRUCT, 4, 2),
	{ .name = "sport", .kind = BPF_RELAY_UINT, .size = 2, .count = 1, .depth = 1 },
	{ .name = "flags", .kind = BPF_RELAY_UINT, .size = 2, .count = 1, .depth = 1,
	  .offset = 2 },
	FIELD(grid, ARRAY, 12, 2),
	{ .kind = BPF_RELAY_UINT, .size = 4, .count = 3, .depth = 1 },
	FIELD(ratio, FLOAT, 4, 1),
	FIELD(rates, FLOAT, 4, 2),
	FIELD(exact, FLOAT, 8, 1),
	FIELD(none, FLOAT, 8, 1),
	FIELD(blob, BYTES, 1, 3),
	{ .kind = BPF_RELAY_PAD, .size = 1, .count = 1, .offset = offsetof(struct all_record, pad) },
};

/* One word, and text of any length behind it. */
static const struct bpf_relay_field more_fields[] = {
	{ .name = "pid", .kind = BPF_RELAY_UINT, .size = 4, .count = 1 },
	{ .name = "cpu", .kind = BPF_RELAY_UINT, .size = 4, .count = 1, .offset = 4 },
	{ .name = "line", .kind = BPF_RELAY_CHAR, .size = 1, .offset = 8 },
};

#define N_FIELDS(table)	(sizeof(table) / sizeof((table)[0]))

static struct bpfrelay_type all_type = {
	.id = 1, .size = sizeof(struct all_record), .name = "all",
	.fields = all_fields, .n_fields = N_FIELDS(all_fields),
};
static struct bpfrelay_type more_type = {
	.id = 2, .flags = BPF_RELAY_TYPE_VAR, .size = 8, .name = "more",
	.fields = more_fields, .n_fields = N_FIELDS(more_fields),
};

static const struct all_record all_data = {
	.pid = 4294967295,
	.prio = -5,
	.big = 18446744073709551615ULL,
	.low = -9223372036854775807LL - 1,
	.saddr = { 192, 0, 2, 77 },
	.net6 = { 0x20, 0x01, 0x0d, 0xb8, [15] = 0x17 },
	.mac = { 0x02, 0x00, 0x5e, 0xff, 0x53, 0x01 },
	.flag = 1,
	.level = 5 | 3 << 3,
	.comm = "ba\"sh",
	.verdict = 2,
	.mood = -1,
	.mask = -1,
	.port = 0x5000,		/* 80 */
	.tcp = { { 1, 0x12 }, { 443, 0 } },
	.grid = { { 1, 2, 3 }, { 4, 5, 6 } },
	.ratio = 0.5,
	.rates = { 0.1f, -3 },
	.exact = 0.1,
	.none = __builtin_nan(""),
	.blob = { 7, 8, 9 },
};
static const char more_data[] __attribute__((aligned(8))) = "\1\0\0\0\7\0\0\0hello";

static const struct bpfrelay_record records[] = {
	{ .ts = 1000, .cpu = 3, .len = sizeof(all_data), .data = &all_data, .type = &all_type },
	{ .ts = 2000, .cpu = 4, .len = sizeof(more_data) - 1, .data = more_data,
	  .type = &more_type },
	{ .ts = 3000, .cpu = 4, .len = 8, .data = more_data, .type = &more_type },
};

static inline void filter_log_init(struct bpfrelay_log *log, bpfrelay_print_fn print)
{
	memset(log, 0, sizeof(*log));
	log->say.print = print;
	log->metadata.type[1] = &all_type;
	log->metadata.type[2] = &more_type;
}

#endif /* __TESTS_FILTER_LOG_H__ */
