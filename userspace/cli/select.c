// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "reading.h"
#include "select.h"

static bool parse_cpus(struct selection *s, const char *list)
{
	unsigned long cpu;
	char *end;

	do {
		if (*list < '0' || *list > '9' || s->opts.n_cpus == SELECT_CPUS_MAX)
			return false;
		cpu = strtoul(list, &end, 10);
		if (cpu > INT32_MAX)
			return false;
		s->cpus[s->opts.n_cpus++] = cpu;
		list = end + 1;
	} while (*end == ',');
	s->opts.cpus = s->cpus;
	return !*end;
}

int select_take(const char *command, struct selection *s, int c, const char *value)
{
	unsigned long long ts;
	char *end;

	switch (c) {
	case 'n':
		errno = 0;
		s->opts.newest = strtoull(value, &end, 10);
		if (errno || *value < '1' || *value > '9' || *end)
			return usage_error(command, "-n %s: must be a number from 1 up", value);
		break;
	case 'e':
		s->expression = value;
		break;
	case SELECT_SINCE:
	case SELECT_UNTIL:
		if (!parse_when(value, NULL, &ts))
			return usage_error(command, "--%s %s: must be so long ago (5m, 10s) or ISO 8601 with a zone (2026-01-31T13:30:00Z)",
					   c == SELECT_SINCE ? "since" : "until", value);
		*(c == SELECT_SINCE ? &s->since : &s->until) = value;
		break;
	case SELECT_CPU:
		if (!parse_cpus(s, value))
			return usage_error(command, "--cpu %s: must be numbers, separated by commas",
					   value);
		break;
	case SELECT_TYPE:
		s->type = value;
		break;
	case SELECT_COMPLETE:
		s->opts.flags |= BPFRELAY_READ_COMPLETE;
		break;
	case SELECT_CTF:
		s->opts.flags |= BPFRELAY_READ_CTF;
		break;
	}
	return 0;
}

static int find_type(const struct bpfrelay_log *log, const char *wanted, const char *what)
{
	const struct bpfrelay_type *type;
	char names[1024] = "";
	size_t len = 0;
	__u32 id;

	for (id = 0; id < BPF_RELAY_TYPES_MAX; id++) {
		type = bpfrelay_log_type(log, id);
		if (!type)
			continue;
		if (!strcmp(type->name, wanted))
			return 0;
		if (len < sizeof(names))
			len += snprintf(names + len, sizeof(names) - len, "%s%s", len ? ", " : "",
					type->name);
	}
	return error("%s: has no type '%s'; it has %s", what, wanted, names);
}

static bool match(void *ctx, const struct bpfrelay_record *record)
{
	const struct selection *s = ctx;

	return (!s->type || !strcmp(record->type->name, s->type)) &&
	       (!s->filter || bpfrelay_filter_match(s->filter, record));
}

int select_from(struct selection *s, const struct bpfrelay_log *log, const char *what)
{
	unsigned long long ts;
	int err;

	s->opts.sz = sizeof(s->opts);
	if (s->since && parse_when(s->since, log, &ts))
		s->opts.since = ts;
	if (s->until && parse_when(s->until, log, &ts))
		s->opts.until = ts;
	if (s->type && find_type(log, s->type, what))
		return -1;
	err = s->expression ? bpfrelay_filter_new(log, s->expression, &s->filter) : 0;
	if (err)
		return reading_error(what, err);
	if (s->type || s->filter) {
		s->opts.match = match;
		s->opts.match_ctx = s;
	}
	return 0;
}

void select_end(struct selection *s)
{
	bpfrelay_filter_free(s->filter);
	s->filter = NULL;
}

int select_open(const struct selection *s, const struct bpfrelay_log *log, const char *what,
		struct bpfrelay_reader **reader)
{
	int err = bpfrelay_reader_open(log, &s->opts, reader);

	if (err == -ENOENT)
		return error("%s: has no such CPU", what);
	return err ? reading_error(what, err) : 0;
}
