// SPDX-License-Identifier: GPL-2.0-only
/* How values are meant: declaration tags, right ones and wrong ones; big-endian numbers. */
#define tag(text) __attribute__((btf_decl_tag("bpf_relay:" text)))

typedef unsigned short __be16;
typedef unsigned int __be32;
typedef unsigned long __be64;

struct hints {
	unsigned int address tag("ipv4");
	unsigned char address6[16] tag("ipv6");
	unsigned char mac[6] tag("mac");
	char name[8] tag("string");
	unsigned long time tag("ns");
	unsigned long stack[4] tag("stack");
	unsigned long ip tag("ksym");
	int ifindex tag("ifindex");
	int flags tag("hex");
	unsigned short port tag("be");
	__be16 be16;
	__be32 be32;
	__be64 be64[2];
	unsigned int len;
	unsigned char bytes[32] tag("packet:len");
	unsigned int after;
	unsigned char rest[] tag("packet");
} hints;

struct wrong {
	char small tag("ipv4");
} wrong;

struct twice {
	int value tag("hex") tag("ns");
} twice;

struct unknown {
	int value tag("unknown") tag("packet:nothing");
} unknown;
