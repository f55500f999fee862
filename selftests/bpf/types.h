/* SPDX-License-Identifier: GPL-2.0-only */
/* Records of everything that C and BTF know. written.py has what is written in them. */
#ifndef _TYPES_H
#define _TYPES_H

#include "bpf_relay_hints.h"

typedef __u32 number_t;
typedef const number_t more_t;
typedef char name_t[8];
typedef __be16 port_t;

enum types_plain { PLAIN_ZERO, PLAIN_ONE, PLAIN_LARGE = 0xfffffffe };
enum types_signed { SIGNED_LOW = -7, SIGNED_HIGH = 7 };
enum types_wide { WIDE_ONE = 1, WIDE_MAX = 0xffffffffffffffff };
enum types_wide_signed { WIDE_MIN = -0x7fffffffffffffff - 1, WIDE_ZERO = 0 };
enum __attribute__((packed)) types_tiny { TINY_A = 1, TINY_B = 200 };

struct types_numbers {
	__u8 a;
	__s8 b;
	__u16 c;
	__s16 d;
	__u32 e;
	__s32 f;
	__u64 g;
	__s64 h;
	char letter;
	_Bool yes;
	_Bool no[2];
	number_t number;
	volatile more_t more;
	void *pointer;
	const char *pointers[2];
	float single;
	double real[2];
};

struct types_bits {
	__u32 a : 3;
	__s32 b : 7;
	_Bool c : 1;
	enum types_signed d : 4;
	__u64 e : 40;
	__u16 f : 16;
	__u8 : 0;
	__u8 g : 2;
	__s64 h : 64;
	enum types_plain i : 2;
};

struct types_packed {
	__u8 a;
	__u64 b;
	__u16 c : 5;
	__u64 d : 59;
	enum types_tiny e;
	__s32 f;
} __attribute__((packed));

struct types_enums {
	enum types_plain a;
	enum types_plain unknown;
	enum types_signed b[2];
	enum types_wide c;
	enum types_wide_signed d;
	enum types_tiny e;
};

struct types_inner {
	__u8 a;
	__u32 b;
};

struct types_structs {
	__u8 first;
	struct types_inner in;
	struct types_inner list[2];
	struct types_inner table[2][2];
	struct {
		__u16 anonymous;
		union {
			__u32 word;
			__u8 bytes[6];
		};
	};
	union {
		__u64 word;
		__u8 bytes[8];
	} both[2];
	unsigned __int128 wide __attribute__((packed, aligned(8)));
	struct types_inner none[0];
};

struct types_arrays {
	__u32 a[3];
	__s16 b[2][3];
	__u8 c[2][1][2];
	char text[12];
	name_t name;
	char names[2][4];
	char letter[1];
};

struct types_be {
	__be16 a;
	__be32 b;
	__be64 c[2];
	port_t ports[2];
	__u32 d RELAY_BE;
	__s64 e RELAY_BE;
};

struct types_hints {
	__be32 addr RELAY_IPV4;
	__u8 addr_bytes[4] RELAY_IPV4;
	__u32 addrs[2] RELAY_IPV4;
	__u8 addr6[16] RELAY_IPV6;
	__u32 addrs6[2][4] RELAY_IPV6;
	__u8 mac[6] RELAY_MAC;
	__u8 name[10] RELAY_STRING;
	__u32 flags RELAY_HEX;
	__s32 minus RELAY_HEX;
	enum types_plain kind RELAY_HEX;
	__u64 took RELAY_NS;
	__s64 late RELAY_NS;
	__u64 stack[4] RELAY_STACK;
	__u64 where RELAY_KSYM;
	__u32 ifindex RELAY_IFINDEX;
	__u32 len;
	__u8 packet[20] RELAY_PACKET(len);
};

/* Of any length. The first one's array begins before the end of the struct. */
struct types_words {
	__u64 a;
	__u16 b;
	__u16 words[];
};

struct types_rows {
	__u32 n;
	struct {
		__u8 a;
		enum types_tiny b;
		char c[3];
	} rows[];
};

struct types_text {
	__u8 a;
	char text[];
};

struct types_hops {
	__u8 a;
	__u8 hops[][16] RELAY_IPV6;
};

struct types_tail {
	__u16 a;
};

#endif /* _TYPES_H */
