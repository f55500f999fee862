// SPDX-License-Identifier: GPL-2.0-only
/*
 * export --format pcapng: the packets of types with a RELAY_PACKET member, for Wireshark
 * (https://www.ietf.org/archive/id/draft-ietf-opsawg-pcapng-03.html). An interface for
 * each RELAY_IFINDEX; times are those of the wall clock, in ns.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "export.h"
#include "names.h"
#include "output.h"
#include "reading.h"

#define LINKTYPE_ETHERNET	1

enum { BLOCK_INTERFACE = 1, BLOCK_PACKET = 6, BLOCK_SECTION = 0x0A0D0D0A };
enum { OPT_END = 0, OPT_COMMENT = 1, SHB_USERAPPL = 4, IF_NAME = 2, IF_TSRESOL = 9,
       EPB_DROPCOUNT = 4 };

/* Where a type has its packet. */
struct packet_type {
	bool known;		/* what follows was looked for */
	char packet[FIELD_PATH_MAX];	/* "": it has none */
	char length[FIELD_PATH_MAX];	/* "": what is there is all */
	char ifindex[FIELD_PATH_MAX];	/* "": all are of one interface */
};

struct state {
	struct packet_type type[BPF_RELAY_TYPES_MAX];
	__u64 *ifindex;		/* of each interface of the file */
	__u32 n_interfaces;
	__u64 lost;		/* since the last packet */
};

/* ---- Blocks ----------------------------------------------------------------------- */

static void put_u16(__u16 n)
{
	fwrite(&n, sizeof(n), 1, stdout);
}

static void put_u32(__u32 n)
{
	fwrite(&n, sizeof(n), 1, stdout);
}

static __u32 padded(__u32 len)
{
	return (len + 3) & ~3U;
}

static void put_bytes(const void *bytes, __u32 len)
{
	static const char zeroes[4];

	fwrite(bytes, 1, len, stdout);
	fwrite(zeroes, 1, padded(len) - len, stdout);
}

static __u32 option_size(__u32 len)
{
	return 4 + padded(len);
}

static void put_option(__u16 code, const void *value, __u16 len)
{
	put_u16(code);
	put_u16(len);
	put_bytes(value, len);
}

/* Type and length; the length stands behind a block as well. `size` is what is between. */
static __u32 begin_block(__u32 type, __u32 size)
{
	put_u32(type);
	put_u32(size + 12);
	return size + 12;
}

static void put_section(const struct export *e)
{
	static const char app[] = "bpfrelay";
	char comment[256];
	__u32 len, size;

	len = snprintf(comment, sizeof(comment), "log %s of %s", e->info->name, e->info->host);
	size = begin_block(BLOCK_SECTION, 16 + option_size(len) + option_size(sizeof(app) - 1) +
			   option_size(0));
	put_u32(0x1A2B3C4D);
	put_u16(1);
	put_u16(0);
	/* Of the section: not known before it is written. */
	put_u32(~0U);
	put_u32(~0U);
	put_option(OPT_COMMENT, comment, len);
	put_option(SHB_USERAPPL, app, sizeof(app) - 1);
	put_option(OPT_END, "", 0);
	put_u32(size);
}

static void put_interface(const char *name)
{
	__u32 size = begin_block(BLOCK_INTERFACE, 8 + option_size(strlen(name)) + option_size(1) +
				 option_size(0));

	put_u16(LINKTYPE_ETHERNET);
	put_u16(0);
	put_u32(0);		/* no limit; each packet says how much of it there is */
	put_option(IF_NAME, name, strlen(name));
	put_option(IF_TSRESOL, "\x09", 1);
	put_option(OPT_END, "", 0);
	put_u32(size);
}

static void put_packet(__u32 interface, __u64 ns, const void *data, __u32 len, __u32 original,
		       __u64 lost)
{
	__u32 size = begin_block(BLOCK_PACKET, 20 + padded(len) +
				 (lost ? option_size(8) + option_size(0) : 0));

	put_u32(interface);
	put_u32(ns >> 32);
	put_u32(ns);
	put_u32(len);
	put_u32(original);
	put_bytes(data, len);
	if (lost) {
		put_option(EPB_DROPCOUNT, &lost, sizeof(lost));
		put_option(OPT_END, "", 0);
	}
	put_u32(size);
}

/* ---- Records ------------------------------------------------------------------------ */

static bool is_field(const struct bpf_relay_field *f, const void *ctx)
{
	return f == ctx;
}

static const struct packet_type *packet_type_of(struct state *s, const struct bpfrelay_type *type)
{
	struct packet_type *t = &s->type[type->id];
	const struct bpf_relay_field *packet;

	if (t->known)
		return t;
	t->known = true;
	packet = find_hinted(type, BPF_RELAY_HINT_PACKET, t->packet);
	if (!packet) {
		t->packet[0] = '\0';
		return t;
	}
	if (!find_hinted(type, BPF_RELAY_HINT_IFINDEX, t->ifindex))
		t->ifindex[0] = '\0';
	if (packet->value >= (__u64)type->n_fields ||
	    !find_field(type, is_field, &type->fields[packet->value], t->length))
		t->length[0] = '\0';
	return t;
}

/* The number of an interface in the file; -1: no memory. */
static long interface_of(struct export *e, __u64 ifindex)
{
	struct state *s = e->state;
	char name[NAMES_MAX];
	__u64 *more;
	__u32 i;

	for (i = 0; i < s->n_interfaces; i++)
		if (s->ifindex[i] == ifindex)
			return i;
	more = realloc(s->ifindex, (s->n_interfaces + 1) * sizeof(*more));
	if (!more)
		return error("out of memory");
	s->ifindex = more;
	s->ifindex[s->n_interfaces++] = ifindex;
	/* 0 is no interface. */
	if (!ifindex)
		snprintf(name, sizeof(name), "%s", e->info->name);
	else
		names_interface(e->names, ifindex, name);
	put_interface(name);
	return i;
}

static int put_record(struct export *e, const struct bpfrelay_record *record)
{
	struct state *s = e->state;
	const struct packet_type *t = packet_type_of(s, record->type);
	struct bpfrelay_value packet;
	__u64 original, ifindex = 0;
	long interface;

	if (!t->packet[0] || bpfrelay_record_find(record, t->packet, &packet)) {
		e->skipped++;
		return 0;
	}
	/* The format has 32 bits; more is no length of a packet. */
	if (!t->length[0] || !record_number(record, t->length, &original) ||
	    original > UINT32_MAX)
		original = packet.len;
	if (t->ifindex[0])
		record_number(record, t->ifindex, &ifindex);
	interface = interface_of(e, ifindex);
	if (interface < 0)
		return -1;
	put_packet(interface, record->ts + e->info->real_offset, packet.data,
		   packet.len < original ? packet.len : original, original, s->lost);
	s->lost = 0;
	return 0;
}

static int put_loss(struct export *e, const struct bpfrelay_item *item)
{
	struct state *s = e->state;

	s->lost += item->lost;
	return 0;
}

static int begin(struct export *e)
{
	if (!log_has_hint(e->log, BPF_RELAY_HINT_PACKET))
		return error("%s: no type of it has a member that is a packet (RELAY_PACKET)", e->what);
	if (output_is_terminal())
		return error("pcapng is not for a terminal: send it to a file, or to tshark -r -");
	e->state = calloc(1, sizeof(struct state));
	if (!e->state)
		return error("out of memory");
	put_section(e);
	return 0;
}

static int end(struct export *e, bool ok)
{
	struct state *s = e->state;

	if (ok && s->lost)
		note("%s: %llu records were overwritten or dropped behind the last packet", e->what,
		     s->lost);
	free(s->ifindex);
	free(s);
	return 0;
}

const struct export_format export_pcapng = {
	.name = "pcapng",
	.text = "packets, of types with RELAY_PACKET, for Wireshark",
	.begin = begin,
	.record = put_record,
	.lost = put_loss,
	.end = end,
};
