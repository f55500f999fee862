// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any bytes as a field table: what the module accepts must describe a record, and
 * the library must be able to write it down. So must all that differ in one member
 * of one field from a table that is accepted.
 */
#include "check.h"
#include "fields.h"
#include "packet.h"
#include "tsdl.h"
#include "bpfrelay.h"

/* Fields of a table whose neighbours are looked at. */
#define NEIGHBOURS_MAX	24

/* The size of the record and whether it may be longer, then fields. */
struct input {
	uint32_t size;
	uint32_t var;
	struct bpf_relay_field fields[];
};

static void text_of(const struct bpf_relay_field *fields, int n)
{
	char *text;
	int len = bpfrelay_type_tsdl(fields, n, "fuzz", 1, &text);

	must(len > 0 && len <= (int)BPF_RELAY_TEXT_MAX && strlen(text) == (size_t)len);
	must(tsdl_valid(text, len));
	text_must_hold(text, len);
	free(text);
}

/* A record all of ones goes through the packet code: of its padding nothing is left. */
static void record_of(const struct bpf_relay_field *fields, uint32_t n, uint32_t size, bool var,
		      const uint8_t *marks)
{
	const struct bpf_relay_field *flexible = fields_flexible(fields, n);
	static struct packet_type types[BPF_RELAY_TYPES_MAX];
	uint32_t len = size + (var ? 37 : 0), to = flexible ? flexible->offset : size, i;
	uint32_t bytes = sizeof(struct bpf_relay_packet) + BPF_RELAY_RECORD_SIZE(len);
	uint8_t *copy = calloc(1, bytes), *payload;
	struct bpf_relay_header *header = (void *)(copy + sizeof(struct bpf_relay_packet));
	struct packet p;

	types[1] = (struct packet_type) { .least = size, .n_fields = n, .fields = fields };
	if (flexible) {
		types[1].offset = flexible->offset;
		types[1].elem = flexible->size;
	}
	*header = (struct bpf_relay_header) {
		.ts = 1, .id = 1, .state = BPF_RELAY_COMMITTED, .len = len,
	};
	payload = memset(header + 1, 0xff, len);
	packet_compact(copy, bytes, bytes, types, &p);
	must(p.nrec == 1 && !p.damaged);
	must(header->len == (flexible ? (len - to) / flexible->size : len));
	for (i = 0; i < to * 8; i++)
		must(!(payload[i / 8] >> i % 8 & 1) == (marks[i] == MARK_PAD));
	free(copy);
}

static bool table_is(const struct bpf_relay_field *fields, uint32_t n, uint32_t size, bool var)
{
	uint8_t *marks;

	if (!fields_valid(fields, n, size, var))
		return false;
	marks = table_must_hold(fields, n, size, var, false);
	text_of(fields, n);
	if (marks)
		record_of(fields, n, size, var, marks);
	free(marks);
	return true;
}

static void neighbours(struct bpf_relay_field *fields, uint32_t n, uint32_t size, bool var)
{
	struct bpf_relay_field before;
	uint32_t i, which;

	table_is(fields, n, size + 1, var);
	table_is(fields, n, size - 1, var);
	table_is(fields, n, size, !var);
	for (i = 0; i < n; i++) {
		before = fields[i];
		for (which = 0; change_field(&fields[i], i, which); which++) {
			table_is(fields, n, size, var);
			fields[i] = before;
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct bpf_relay_field *fields;
	struct input in;
	uint32_t n;

	if (len < sizeof(in))
		return 0;
	memcpy(&in, data, sizeof(in));
	in.var &= 1;
	n = (len - sizeof(in)) / sizeof(*fields);
	if (n > BPF_RELAY_TEXT_MAX / sizeof(*fields))
		return 0;
	fields = copy_of(data + sizeof(in), n * sizeof(*fields));
	if (table_is(fields, n, in.size, in.var) && n <= NEIGHBOURS_MAX)
		neighbours(fields, n, in.size, in.var);
	free(fields);
	return 0;
}
