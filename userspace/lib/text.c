// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
/* Records as text: as the module's file `text` has them, by the same code. */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "../../kernel/render.h"
#include "bpfrelay.h"

/* Names of the machine that wrote the log, which may be another one. */
void render_symbol(char to[RENDER_SYMBOL_MAX], u64 addr)
{
	snprintf(to, RENDER_SYMBOL_MAX, "0x%llx", addr);
}

void render_ipv6(char to[RENDER_IPV6_MAX], const u8 *addr)
{
	inet_ntop(AF_INET6, addr, to, RENDER_IPV6_MAX);
}

size_t bpfrelay_record_text(const struct bpfrelay_record *record, char *to, size_t size)
{
	struct render out = { .to = to, .room = size ? size - 1 : 0 };
	struct render_record rec = {
		.payload = record->data,
		.have = record->len,
		.len = record->len,
		.n_fields = record->type->n_fields,
		.fields = record->type->fields,
	};

	render_record(&out, &rec);
	if (size)
		to[out.len < size ? out.len : size - 1] = '\0';
	return out.len;
}
