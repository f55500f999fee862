// SPDX-License-Identifier: GPL-2.0-only
/*
 * The reader's side of the ring over any bytes: the control area and the data of a
 * mapped file, or of a machine that has crashed.
 */
#include "check.h"
#include "packet.h"
#include "ring.h"

#define SUBBUF		256
#define N_SUBBUFS	4

struct input {
	uint64_t wpos;
	uint64_t published;
	uint64_t committed[N_SUBBUFS];
	uint8_t data[SUBBUF * N_SUBBUFS];
};

static void read_all(const struct ring *r)
{
	struct ring_window w;
	uint64_t start;
	uint32_t n = 0;

	ring_window(r, &w);
	must(w.first % SUBBUF == 0 && w.end % SUBBUF == 0);
	for (start = w.first; start != w.end; start += SUBBUF) {
		uint32_t len = ring_readable(r, &w, start);
		struct packet p;
		uint8_t *copy;

		must(n++ < N_SUBBUFS);
		must(len <= SUBBUF);
		copy = calloc(1, SUBBUF);
		if (ring_copy(r, start, copy, len)) {
			packet_compact(copy, len, SUBBUF, NULL, &p);
			must(p.content >= sizeof(struct bpf_relay_packet) && p.content <= SUBBUF);
		}
		free(copy);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const uint8_t uuid[16];
	struct input in = {};
	struct bpf_relay_ctl *ctl = calloc(1, ring_ctl_size(N_SUBBUFS));
	struct ring ring;
	uint8_t *bytes;
	int i;

	memcpy(&in, data, len < sizeof(in) ? len : sizeof(in));
	ring_init(&ring, ctl, 0, SUBBUF, N_SUBBUFS, BPF_RELAY_OVERWRITE, BPF_RELAY_CLOCK_BOOT,
		  uuid);
	bytes = copy_of(in.data, sizeof(in.data));
	ring_attach(&ring, bytes);
	ctl->wpos = in.wpos;
	ctl->published = in.published;
	for (i = 0; i < N_SUBBUFS; i++)
		ring.sub[i].committed = in.committed[i];
	read_all(&ring);
	free(bytes);
	free(ctl);
	return 0;
}
