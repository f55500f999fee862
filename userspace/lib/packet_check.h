/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Inside the library: whether bytes are a packet of a log. */
#ifndef __PACKET_CHECK_H__
#define __PACKET_CHECK_H__

#include "bpfrelay.h"
#include "metadata.h"

/* What a packet is compared with: those before it, of the same CPU. */
struct packet_chain {
	bool begun;		/* there was one */
	bool broken;		/* what came behind it was none */
	__u64 seq;
	__u64 discarded;
	__u64 ts;
};

/*
 * NULL, or what is wrong with the packet at buf, as strict as the module's own tests:
 * what this lets through has nothing but whole records of known types in it, in the
 * order of time, and zeroes. If it is good it joins the chain.
 */
const char *packet_check(const struct metadata *m, __u32 cpu, const void *buf, size_t size,
			 struct packet_chain *chain);

/* Whether a header may be that of the first packet: then *size is the size of all. */
bool packet_size(const struct metadata *m, const struct bpf_relay_packet *header, size_t *size);

/*
 * Bytes of payload behind a header in ctf/, where records that end in a flexible array
 * are said to have so many elements.
 */
__u64 packet_payload(const struct bpfrelay_type *type, __u32 len);

#endif /* __PACKET_CHECK_H__ */
