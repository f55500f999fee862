// SPDX-License-Identifier: GPL-2.0-only
/*
 * seeds DIR BTF...: the corpora that the fuzzers begin with, one directory for each
 * target below DIR. From BTF come BTF, the tables of its structs and their texts; from
 * the ring sub-buffers as they are written.
 */
#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <bpf/btf.h>

#include "ring.h"
#include "bpfrelay.h"

#define SUBBUF		256
#define N_SUBBUFS	4

static const char *dir;

/* One seed of two parts. */
static void seed(const char *target, const char *name, unsigned int number, const void *head,
		 size_t head_len, const void *body, size_t body_len)
{
	char path[512];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, target);
	mkdir(path, 0777);
	snprintf(path, sizeof(path), "%s/%s/%s.%u", dir, target, name, number);
	f = fopen(path, "w");
	if (!f || fwrite(head, 1, head_len, f) != head_len ||
	    fwrite(body, 1, body_len, f) != body_len || fclose(f)) {
		perror(path);
		exit(1);
	}
}

static void seeds_of_type(const struct btf *btf, const char *name, __u32 id)
{
	__u32 head[2] = { btf__resolve_size(btf, id), 1 };
	struct bpf_relay_field *fields;
	char *text;
	int n, len;

	n = bpfrelay_type_fields(btf, id, BPF_RELAY_TYPE_VAR, NULL, NULL, &fields);
	if (n <= 0)
		return;
	seed("fields", name, id, head, sizeof(head), fields, n * sizeof(*fields));
	len = bpfrelay_type_tsdl(fields, n, name, id, &text);
	if (len > 0) {
		seed("tsdl", name, id, NULL, 0, text, len);
		free(text);
	}
	free(fields);
}

static void seeds_of_btf(const char *path)
{
	struct btf *btf = btf__parse_raw(path);
	const struct btf_header *header;
	const void *raw;
	char name[64];
	__u32 size, id;
	__u8 head[2];

	if (!btf) {
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
		exit(1);
	}
	snprintf(name, sizeof(name), "%s", strrchr(path, '/') ? strrchr(path, '/') + 1 : path);
	raw = btf__raw_data(btf, &size);
	header = raw;
	head[0] = header->type_len;
	head[1] = header->type_len >> 8;
	seed("btf", name, 0, head, sizeof(head), raw + header->hdr_len, size - header->hdr_len);
	for (id = 1; id < btf__type_cnt(btf); id++)
		if (btf_is_composite(btf__type_by_id(btf, id)))
			seeds_of_type(btf, name, id);
	btf__free(btf);
}

/* A ring after `records` records, every third of them discarded, and one left open. */
static void seeds_of_ring(int records)
{
	static __u64 data[SUBBUF * N_SUBBUFS / 8];
	static const __u8 uuid[16] = { 1, 2, 3 };
	struct bpf_relay_ctl *ctl = calloc(1, ring_ctl_size(N_SUBBUFS));
	__u64 head[2 + N_SUBBUFS];
	__u8 payload[64] = "payload";
	struct ring_slot slot;
	struct ring ring;
	__u8 len[6] = { SUBBUF & 0xff, SUBBUF >> 8, 8, 4, 0, 3 };
	int i;

	memset(data, 0, sizeof(data));
	ring_init(&ring, ctl, 1, SUBBUF, N_SUBBUFS, BPF_RELAY_OVERWRITE, BPF_RELAY_CLOCK_MONO,
		  uuid);
	ring_attach(&ring, data);
	for (i = 0; i < records; i++) {
		if (i % 3) {
			ring_write_record(&ring, i % 4, payload, i % (sizeof(payload) + 1));
		} else if (!ring_reserve_record(&ring, 1, 13, &slot)) {
			if (i < records - 1)
				ring_commit_record(&ring, &slot, BPF_RELAY_DISCARDED);
		}
	}
	head[0] = ctl->wpos;
	head[1] = ctl->published;
	for (i = 0; i < N_SUBBUFS; i++) {
		head[2 + i] = ring.sub[i].committed;
		seed("packet", "ring", records * N_SUBBUFS + i, len, sizeof(len),
		     (__u8 *)data + i * SUBBUF, SUBBUF);
	}
	seed("reader", "ring", records, head, sizeof(head), data, sizeof(data));
	free(ctl);
}

int main(int argc, char **argv)
{
	static const char text[] = "event { name = \"a\"; id = 1; };\n";
	int i;

	dir = argv[1];
	mkdir(dir, 0777);
	for (i = 2; i < argc; i++)
		seeds_of_btf(argv[i]);
	seed("tsdl", "short", 0, NULL, 0, text, sizeof(text) - 1);
	for (i = 0; i < 40; i += 3)
		seeds_of_ring(i);
	return 0;
}
