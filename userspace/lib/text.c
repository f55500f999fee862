// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
/* Records as text: as the module's file `text` has them, by the same code. */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "../../kernel/render.h"
#include "trace.h"

/* A text, and who names its addresses. */
struct named_text {
	struct render render;
	struct bpfrelay_text_opts opts;
};

/* By default a number: the log may be of another machine. */
void render_symbol(const struct render *r, char to[RENDER_SYMBOL_MAX], u64 addr)
{
	const struct named_text *t = (const struct named_text *)r;

	if (!t->opts.symbol || !t->opts.symbol(t->opts.symbol_ctx, addr, to, RENDER_SYMBOL_MAX))
		snprintf(to, RENDER_SYMBOL_MAX, "0x%llx", addr);
}

void render_ipv6(char to[RENDER_IPV6_MAX], const u8 *addr)
{
	inet_ntop(AF_INET6, addr, to, RENDER_IPV6_MAX);
}

size_t bpfrelay_record_text_opts(const struct bpfrelay_record *record,
				 const struct bpfrelay_text_opts *opts, char *to, size_t size)
{
	struct named_text out = { .render = { .to = to, .room = size ? size - 1 : 0 } };
	struct render_record rec = {
		.payload = record->data,
		.have = record->len,
		.len = record->len,
		.n_fields = record->type->n_fields,
		.fields = record->type->fields,
	};

	/* What is not known of opts leaves numbers. */
	if (trace_get_opts(&out.opts, sizeof(out.opts), opts))
		out.opts.symbol = NULL;
	render_record(&out.render, &rec);
	if (size)
		to[out.render.len < size ? out.render.len : size - 1] = '\0';
	return out.render.len;
}

size_t bpfrelay_record_text(const struct bpfrelay_record *record, char *to, size_t size)
{
	return bpfrelay_record_text_opts(record, NULL, to, size);
}
