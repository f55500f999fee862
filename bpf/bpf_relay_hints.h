/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How members of a record are meant, for those who show it. Put behind the member:
 *
 *	struct event {
 *		__be32 saddr RELAY_IPV4;
 *		__u32 len;
 *		__u8 frame[64] RELAY_PACKET(len);
 *	};
 *
 * A hint changes neither size nor layout. One that does not fit its member is refused
 * by the loader, with the names of both. For BPF programs (bpf_relay.h includes this)
 * and for whoever shares the struct with them; compilers that write no BTF tags see
 * nothing of it.
 *
 * By themselves, without a hint: pointers are hexadecimal, __be16, __be32 and __be64
 * are big-endian, enums have names, arrays of char are text.
 */
#ifndef __BPF_RELAY_HINTS_H__
#define __BPF_RELAY_HINTS_H__

#if defined(__has_attribute)
#if __has_attribute(btf_decl_tag)
#define RELAY_HINT(hint)	__attribute__((btf_decl_tag("bpf_relay:" hint)))
#endif
#endif
#ifndef RELAY_HINT
#define RELAY_HINT(hint)
#endif

/* Addresses: bytes as on the wire, of any C type of that size, or arrays of them. */
#define RELAY_IPV4	RELAY_HINT("ipv4")	/* 4 bytes */
#define RELAY_IPV6	RELAY_HINT("ipv6")	/* 16 bytes */
#define RELAY_MAC	RELAY_HINT("mac")	/* 6 bytes */

/* Integers of 2, 4 or 8 bytes that are big-endian; may stand beside another hint. */
#define RELAY_BE	RELAY_HINT("be")

/* Integers and enums, hexadecimal. */
#define RELAY_HEX	RELAY_HINT("hex")

/* Text in bytes that are not called char; it ends at a NUL if there is one. */
#define RELAY_STRING	RELAY_HINT("string")

/* An integer: nanoseconds. */
#define RELAY_NS	RELAY_HINT("ns")

/* Integers of 8 bytes: kernel addresses, up to a 0 (bpf_get_stack()); one of them. */
#define RELAY_STACK	RELAY_HINT("stack")
#define RELAY_KSYM	RELAY_HINT("ksym")

/* An integer of 4 bytes: the index of a network interface. */
#define RELAY_IFINDEX	RELAY_HINT("ifindex")

/*
 * The first bytes of a packet, from its link layer header on. `length` is the member
 * before it, in the same struct, that has the length which the whole packet had; none
 * if what is there is all.
 */
#define RELAY_PACKET(length)	RELAY_HINT("packet:" #length)

#endif /* __BPF_RELAY_HINTS_H__ */
