/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _MODEL_RING_BUILD_H
#define _MODEL_RING_BUILD_H

#ifdef __cplusplus
extern "C" {
#endif

#include "ring.h"
#include "packet.h"

extern unsigned int model_depth_max, model_retries;
bool model_look(const struct ring *r, u64 start, u64 *nrec);

#ifdef __cplusplus
}
#endif

#endif /* _MODEL_RING_BUILD_H */
