/* SPDX-License-Identifier: GPL-2.0-only */
/* Field tables as literals, and records rendered whole. */
#ifndef _RENDER_TABLES_H
#define _RENDER_TABLES_H

#include "fields.h"
#include "render.h"
#include "test.h"

#define FIELD(k, n, at, bytes, elements, ...)					\
	{ .kind = BPF_RELAY_##k, .name = n, .offset = at, .size = bytes,	\
	  .count = elements, ##__VA_ARGS__ }
#define ENUMERATOR(n, v, d)	FIELD(ENUMERATOR, n, 0, 0, 1, .value = v, .depth = d)

#define N(table)		(sizeof(table) / sizeof(*(table)))

#define TEXT_MAX	(1 << 20)

static inline struct render_record record(const struct bpf_relay_field *fields, u32 n,
					  const void *payload, u32 len)
{
	return (struct render_record) {
		.payload = payload, .have = len, .len = len, .n_fields = n, .fields = fields,
	};
}

/* All of it, with a NUL; good until the next call. */
static inline const char *render_whole(const struct render_record *rec)
{
	static char text[TEXT_MAX];
	struct render r = { .to = text, .room = TEXT_MAX - 1 };

	render_record(&r, rec);
	CHECK(!render_full(&r), "more than %d bytes", TEXT_MAX);
	text[r.len] = 0;
	return text;
}

#endif /* _RENDER_TABLES_H */
