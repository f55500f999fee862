/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Inside the library: types of a log from the BTF of its map. */
#ifndef __MAP_TYPES_H__
#define __MAP_TYPES_H__

#include "metadata.h"

/*
 * Replaces what the metadata says of the types by what the map's BTF says, which is the
 * same and more: hints, bools, names that did not fit. A type of another layout stays as
 * it is, and so do all if the map cannot be asked. 0 or -ENOMEM.
 */
int map_types(__u32 map_id, struct metadata *m);

#endif /* __MAP_TYPES_H__ */
