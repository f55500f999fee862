// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "event.h"
#include "metadata.h"
#include "tokens.h"

/* What stands in every metadata as it is. */
static const char *const typealiases[] = {
	"integer { size = 8; align = 8; signed = false; } := uint8_t;",
	"integer { size = 16; align = 16; signed = false; } := uint16_t;",
	"integer { size = 32; align = 32; signed = false; } := uint32_t;",
	"integer { size = 64; align = 64; signed = false; } := uint64_t;",
	"integer { size = 64; align = 64; signed = false; map = clock.boottime.value; } := ts_t;",
	"integer { size = 64; align = 64; signed = false; map = clock.monotonic.value; } := ts_t;",
};

static const char packet_header[] =
	"byte_order = le;"
	"packet.header := struct {"
	"	uint32_t magic; uint8_t uuid[16]; uint32_t stream_id; uint64_t stream_instance_id;"
	"}; };";

static const char stream[] =
	"{ id = 0;"
	"packet.context := struct {"
	"	ts_t timestamp_begin; ts_t timestamp_end; uint64_t content_size;"
	"	uint64_t packet_size; uint64_t packet_seq_num; uint64_t events_discarded;"
	"	uint64_t cpu_id;"
	"};"
	"event.header := struct { ts_t timestamp; uint16_t id; } align(64); };";

/* What must have been there, in this order of bits. */
enum { SEEN_TRACE = 1, SEEN_CLOCK = 2, SEEN_STREAM = 4, SEEN_ALL = 7 };

struct parser {
	struct tokens t;
	const struct say *to;
	struct metadata *m;
	int seen;
};

static int unexpected(const struct parser *p, const char *wanted)
{
	return event_unexpected(&p->t, p->to, wanted);
}

static int skip(struct parser *p, const char *text, const char *wanted)
{
	return tokens_skip(&p->t, text) ? 0 : unexpected(p, wanted);
}

static int string(struct parser *p, char *to, size_t size, const char *wanted)
{
	size_t i;

	if (p->t.kind != TOKEN_STRING || p->t.len >= size)
		return unexpected(p, wanted);
	/* It is shown as it is. */
	for (i = 0; i < p->t.len; i++)
		if (p->t.s[i] < ' ' || p->t.s[i] > '~')
			return unexpected(p, wanted);
	memset(to, 0, size);
	memcpy(to, p->t.s, p->t.len);
	tokens_next(&p->t);
	return 0;
}

static int hex_digit(char c)
{
	return isdigit((unsigned char)c) ? c - '0' : tolower((unsigned char)c) - 'a' + 10;
}

static bool uuid_parse(const char *s, __u8 uuid[16])
{
	int i, at;

	if (strlen(s) != 36)
		return false;
	for (i = at = 0; i < 16; i++, at += 2) {
		if (at == 8 || at == 13 || at == 18 || at == 23)
			if (s[at++] != '-')
				return false;
		if (!isxdigit((unsigned char)s[at]) || !isxdigit((unsigned char)s[at + 1]))
			return false;
		uuid[i] = hex_digit(s[at]) << 4 | hex_digit(s[at + 1]);
	}
	return true;
}

static int parse_typealias(struct parser *p)
{
	struct tokens before = p->t;
	size_t i;

	for (i = 0; i < sizeof(typealiases) / sizeof(typealiases[0]); i++) {
		if (tokens_skip(&p->t, typealiases[i]))
			return 0;
		p->t = before;
	}
	return unexpected(p, "a type of bpf_relay's");
}

static int parse_trace(struct parser *p)
{
	char text[37];
	int err;

	err = skip(p, "{ major = 1; minor = 8; uuid =", "trace { major = 1; minor = 8; uuid =");
	err = err ?: string(p, text, sizeof(text), "a uuid");
	if (!err && !uuid_parse(text, p->m->uuid))
		err = unexpected(p, "a uuid before it");
	err = err ?: skip(p, ";", ";");
	return err ?: skip(p, packet_header, "bpf_relay's packet header, of a little-endian machine,");
}

/* Whoever makes a trace may add to this. */
static int parse_env(struct parser *p)
{
	bool log, host;
	int err;

	err = skip(p, "{", "{");
	while (!err && !tokens_skip(&p->t, "}")) {
		log = tokens_is(&p->t, "log");
		host = tokens_is(&p->t, "hostname");
		if (p->t.kind != TOKEN_WORD)
			return unexpected(p, "a name");
		tokens_next(&p->t);
		err = skip(p, "=", "=");
		if (err)
			return err;
		if (log)
			err = string(p, p->m->log, sizeof(p->m->log), "the name of a log");
		else if (host)
			err = string(p, p->m->host, sizeof(p->m->host), "the name of a machine");
		else if (p->t.kind == TOKEN_STRING || p->t.kind == TOKEN_NUMBER)
			tokens_next(&p->t);
		else
			err = unexpected(p, "a string or a number");
		err = err ?: skip(p, ";", ";");
	}
	return err ?: skip(p, ";", ";");
}

static int parse_clock(struct parser *p)
{
	__u8 uuid[16];
	char name[16];
	int err;

	err = skip(p, "{ name =", "{ name =");
	err = err ?: string(p, name, sizeof(name), "the name of a clock");
	if (err)
		return err;
	if (!strcmp(name, "boottime"))
		p->m->clock = BPF_RELAY_CLOCK_BOOT;
	else if (!strcmp(name, "monotonic"))
		p->m->clock = BPF_RELAY_CLOCK_MONO;
	else
		return unexpected(p, "boottime or monotonic before it");
	err = skip(p, "; uuid =", "; uuid =");
	err = err ?: string(p, p->m->clock_uuid, sizeof(p->m->clock_uuid), "a uuid");
	if (!err && !uuid_parse(p->m->clock_uuid, uuid))
		err = unexpected(p, "a uuid before it");
	err = err ?: skip(p, "; freq = 1000000000; offset =", "a clock of nanoseconds");
	if (err)
		return err;
	if (!tokens_number(&p->t, &p->m->offset))
		return unexpected(p, "a number");
	tokens_next(&p->t);
	return skip(p, "; };", "};");
}

static int parse_event(struct parser *p)
{
	struct bpfrelay_type *type;
	int err;

	if (p->seen != SEEN_ALL)
		return unexpected(p, "trace, clock and stream, before all events,");
	err = event_parse(&p->t, p->to, &type);
	if (err)
		return err;
	if (p->m->type[type->id]) {
		say(p->to, "metadata, line %d: type %u for the second time", p->t.line, type->id);
		free(type);
		return -EINVAL;
	}
	p->m->type[type->id] = type;
	return 0;
}

/* A block that is there once. */
static int once(struct parser *p, int bit, int (*parse)(struct parser *p))
{
	if (p->seen & bit)
		return unexpected(p, "no second one of these");
	p->seen |= bit;
	tokens_next(&p->t);
	return parse(p);
}

static int parse_stream(struct parser *p)
{
	return skip(p, stream, "bpf_relay's stream");
}

static int parse_block(struct parser *p)
{
	if (tokens_is(&p->t, "event"))
		return parse_event(p);
	if (tokens_is(&p->t, "trace"))
		return once(p, SEEN_TRACE, parse_trace);
	if (tokens_is(&p->t, "clock"))
		return once(p, SEEN_CLOCK, parse_clock);
	if (tokens_is(&p->t, "stream"))
		return once(p, SEEN_STREAM, parse_stream);
	if (tokens_skip(&p->t, "typealias"))
		return parse_typealias(p);
	if (tokens_skip(&p->t, "env"))
		return parse_env(p);
	return unexpected(p, "typealias, trace, env, clock, stream or event");
}

int metadata_parse(struct metadata *m, const char *text, size_t len, const struct say *to)
{
	static const char magic[] = "/* CTF 1.8 */";
	struct parser p = { .to = to, .m = m };
	int err = 0;

	memset(m, 0, sizeof(*m));
	if (len < sizeof(magic) - 1 || memcmp(text, magic, sizeof(magic) - 1)) {
		say(to, "metadata: is not CTF 1.8");
		return -EINVAL;
	}
	tokens_init(&p.t, text, len);
	while (!err && p.t.kind != TOKEN_END)
		err = parse_block(&p);
	if (!err && !m->type[0])
		err = unexpected(&p, "the event of type 0");
	return err;
}

void metadata_free(struct metadata *m)
{
	size_t i;

	for (i = 0; i < BPF_RELAY_TYPES_MAX; i++)
		free(m->type[i]);
	memset(m->type, 0, sizeof(m->type));
}
