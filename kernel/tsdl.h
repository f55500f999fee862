/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _BPF_RELAY_TSDL_H
#define _BPF_RELAY_TSDL_H

#include "ring_access.h"

/*
 * Whether len bytes are one "event { ... };" that can stand in the metadata among
 * others: text that does not reach beyond its own braces, not by a string or a
 * comment either that does not end there. What it says inside them is the owner's
 * affair. Pure; compiles in user space.
 */
bool tsdl_valid(const char *s, u32 len);

#endif /* _BPF_RELAY_TSDL_H */
