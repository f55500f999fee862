// SPDX-License-Identifier: GPL-2.0-only
/* Writes one record of each type, some more of those of any length; see written.py. */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_endian.h>
#include "bpf_relay.h"
#include "types.h"

RELAY_MAP(types, struct types_numbers, struct types_bits, struct types_packed,
	  struct types_enums, struct types_structs, struct types_arrays, struct types_be,
	  struct types_hints, RELAY_VAR(struct types_words), RELAY_VAR(struct types_rows),
	  RELAY_VAR(struct types_text), RELAY_VAR(struct types_hops),
	  RELAY_VAR(struct types_tail));

extern const void schedule __ksym;

struct types_numbers numbers;
struct types_bits bits;
struct types_packed packed;
struct types_enums enums;
struct types_structs structs;
struct types_arrays arrays;
struct types_be be;
struct types_hints hints;
__u8 any[128] __attribute__((aligned(8)));

/* Counting up from a byte. */
static __always_inline void fill(void *to, int n, __u8 from)
{
	__u8 *p = to;
	int i;

	for (i = 0; i < n; i++)
		p[i] = from + i;
}

static void write_numbers(void)
{
	struct types_numbers *r = &numbers;
	__u64 bits;
	__u32 half;

	r->a = 255;
	r->b = -128;
	r->c = 65535;
	r->d = -32768;
	r->e = 0xffffffff;
	r->f = -0x7fffffff - 1;
	r->g = ~0ULL;
	r->h = -0x7fffffffffffffff - 1;
	r->letter = 'A';
	r->yes = true;
	r->no[1] = true;
	r->number = 4000000000;
	*(__u32 *)&r->more = 17;
	r->pointer = (void *)0xffff888012345678;
	r->pointers[1] = (void *)1;
	/* BPF has no floating point: 1.5, -0.25 and 1e300 as they are in memory. */
	half = 0x3fc00000;
	__builtin_memcpy(&r->single, &half, sizeof(half));
	bits = 0xbfd0000000000000;
	__builtin_memcpy(&r->real[0], &bits, sizeof(bits));
	bits = 0x7e37e43c8800759c;
	__builtin_memcpy(&r->real[1], &bits, sizeof(bits));
	relay_output(&types, r);
}

static void write_bits(void)
{
	bits.a = 5;
	bits.b = -64;
	bits.c = true;
	bits.d = SIGNED_LOW;
	bits.e = 0xffffffffff;
	bits.f = 0x8001;
	bits.g = 2;
	bits.h = -2;
	bits.i = PLAIN_ONE;
	relay_output(&types, &bits);

	packed.a = 1;
	packed.b = 0x0102030405060708;
	packed.c = 17;
	packed.d = 0x500000000000001;
	packed.e = TINY_B;
	packed.f = -3;
	relay_output(&types, &packed);
}

static void write_enums(void)
{
	enums.a = PLAIN_LARGE;
	enums.unknown = 77;
	enums.b[0] = SIGNED_LOW;
	enums.b[1] = SIGNED_HIGH;
	enums.c = WIDE_MAX;
	enums.d = WIDE_MIN;
	enums.e = TINY_A;
	relay_output(&types, &enums);
}

static void set(struct types_inner *in, __u8 a, __u32 b)
{
	in->a = a;
	in->b = b;
}

static void write_structs(void)
{
	struct types_structs *r = &structs;

	/* What a program leaves in padding is not shown. */
	__builtin_memset(r, 0xff, sizeof(*r));
	r->first = 1;
	set(&r->in, 2, 3);
	set(&r->list[0], 0, 0);
	set(&r->list[1], 0, 4);
	set(&r->table[0][0], 0, 0);
	set(&r->table[0][1], 5, 0);
	set(&r->table[1][0], 0, 6);
	set(&r->table[1][1], 0, 0);
	r->anonymous = 7;
	fill(r->bytes, sizeof(r->bytes), 8);
	fill(r->both, sizeof(r->both), 0xa0);
	fill(&r->wide, sizeof(r->wide), 0xf0);
	relay_output(&types, r);
}

static void write_arrays(void)
{
	struct types_arrays *r = &arrays;

	r->a[0] = 1;
	r->a[2] = 3;
	r->b[0][2] = -1;
	r->b[1][0] = 1000;
	r->c[0][0][1] = 2;
	r->c[1][0][0] = 3;
	__builtin_memcpy(r->text, "a\"b\\c", 6);
	__builtin_memcpy(r->name, "12345678", 8);
	__builtin_memcpy(r->names, "ab\0\0wxyz", 8);
	r->letter[0] = 'Z';
	relay_output(&types, r);
}

static void write_be(void)
{
	be.a = bpf_htons(443);
	be.b = bpf_htonl(0x01020304);
	be.c[0] = bpf_cpu_to_be64(1);
	be.c[1] = bpf_cpu_to_be64(~0ULL);
	be.ports[1] = bpf_htons(80);
	be.d = bpf_htonl(5);
	be.e = bpf_cpu_to_be64(-6);
	relay_output(&types, &be);
}

static void write_hints(void)
{
	struct types_hints *r = &hints;

	r->addr = bpf_htonl(0x0a000001);
	fill(r->addr_bytes, 4, 192);
	r->addrs[1] = bpf_htonl(0x7f000001);
	fill(r->addr6, 16, 0x10);
	r->addrs6[1][3] = bpf_htonl(1);
	fill(r->mac, 6, 0xfa);
	__builtin_memcpy(r->name, "bytes", 5);
	r->flags = 0x1f;
	r->minus = -1;
	r->kind = PLAIN_ONE;
	r->took = 1500;
	r->late = -20;
	r->stack[0] = (__u64)&schedule + 4;
	r->stack[1] = (__u64)&schedule;
	r->where = (__u64)&schedule + 1;
	r->ifindex = 1;
	r->len = 1500;
	fill(r->packet, sizeof(r->packet), 0);
	relay_output(&types, r);
}

static void write_any(void)
{
	struct types_words *words = (void *)any;
	struct types_rows *rows = (void *)any;
	struct types_text *text = (void *)any;
	struct types_hops *hops = (void *)any;
	struct types_tail *tail = (void *)any;

	fill(any, sizeof(any), 1);
	relay_output_var(&types, words, sizeof(*words));
	relay_output_var(&types, words, relay_size(words, words, 5));
	relay_output_var(&types, words, relay_size(words, words, 5) + 1);
	relay_output_var(&types, rows, sizeof(*rows));
	relay_output_var(&types, rows, sizeof(*rows) + 4);
	any[5] = TINY_A;
	__builtin_memcpy(any + 6, "abc", 3);
	any[10] = TINY_B;
	__builtin_memcpy(any + 11, "de", 3);
	relay_output_var(&types, rows, relay_size(rows, rows, 2) + 3);
	__builtin_memcpy(any + 1, "some text", 10);
	relay_output_var(&types, text, relay_size(text, text, 10));
	relay_output_var(&types, text, relay_size(text, text, 4));
	relay_output_var(&types, text, sizeof(*text));
	fill(any, sizeof(any), 1);
	relay_output_var(&types, hops, relay_size(hops, hops, 2));
	relay_output_var(&types, hops, sizeof(*hops) + 15);
	relay_output_var(&types, tail, sizeof(*tail) + 3);
	relay_output_var(&types, tail, sizeof(*tail));
}

SEC("uprobe/busy:busy_tick")
int types_write(struct pt_regs *ctx)
{
	write_numbers();
	write_bits();
	write_enums();
	write_structs();
	write_arrays();
	write_be();
	write_hints();
	write_any();
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
