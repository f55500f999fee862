/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Inside the library: from an event block of the metadata back to the table of fields. */
#ifndef __EVENT_H__
#define __EVENT_H__

#include "bpfrelay.h"
#include "say.h"
#include "tokens.h"

/*
 * Reads "event { ... };", what bpfrelay_type_tsdl() or the module wrote, from the
 * current token on and goes past it. 0; -EINVAL, having said why; -ENOMEM. *type is to
 * be freed with free().
 */
int event_parse(struct tokens *t, const struct say *to, struct bpfrelay_type **type);

/* A type with copies of fields and name, in one piece; NULL: no memory. */
struct bpfrelay_type *event_type(const struct bpfrelay_type *like,
				 const struct bpf_relay_field *fields, __u32 n,
				 const char *name, size_t name_len);

/* Says that the current token is not what is wanted there. -EINVAL. */
int event_unexpected(const struct tokens *t, const struct say *to, const char *wanted);

#endif /* __EVENT_H__ */
