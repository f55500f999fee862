// SPDX-License-Identifier: GPL-2.0-only
/*
 * ring.c as it is; only its two limits are variables, so that small scenarios
 * reach them. And the one thing that readers do beside ring.h's functions.
 */
#include "ring.h"
#include "ring_build.h"

unsigned int model_depth_max = RING_DEPTH_MAX, model_retries = RING_RETRIES;

#undef RING_DEPTH_MAX
#undef RING_RETRIES
#define RING_DEPTH_MAX	model_depth_max
#define RING_RETRIES	((int)model_retries)

#include "ring.c"

/* As reader_look() in ctf.c: what opening a file finds out of a sub-buffer. */
bool model_look(const struct ring *r, u64 start, u64 *nrec)
{
	struct bpf_relay_packet header;

	ring_copy_out(&header, ring_at(r, start), sizeof(header));
	*nrec = ring_read(&ring_sub(r, start)->nrec);
	return ring_valid(r, start);
}
