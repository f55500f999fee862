// SPDX-License-Identifier: GPL-2.0-only
/* Options of load that `start` and `load --replace` need again: STATE/options. */
#include <errno.h>
#include <limits.h>
#include <net/if.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

const char *const kept_option_names[N_KEPT] = {
	[KEPT_DEV]	= "dev",
	[KEPT_CGROUP]	= "cgroup",
	[KEPT_PID]	= "pid",
	[KEPT_FREQ]	= "freq",
	[KEPT_SIZE]	= "size",
	[KEPT_COUNT]	= "count",
	[KEPT_MODE]	= "mode",
	[KEPT_CLOCK]	= "clock",
};

const char *const kept_option_wants[N_KEPT] = {
	[KEPT_DEV]	= "the name of a network interface",
	[KEPT_CGROUP]	= "a directory of cgroup2",
	[KEPT_PID]	= "the number of a process",
	[KEPT_FREQ]	= "a number, per second",
	[KEPT_SIZE]	= "a number of bytes, or of K or M of them",
	[KEPT_COUNT]	= "a number",
	[KEPT_MODE]	= "overwrite or keep",
	[KEPT_CLOCK]	= "boot or mono",
};

static bool parse_u32(const char *text, bool units, __u32 *value)
{
	unsigned long long n;
	char *end;

	errno = 0;
	n = strtoull(text, &end, 0);
	if (errno || end == text || strchr(text, '-'))
		return false;
	if (units && *end && !end[1]) {
		if (n > UINT32_MAX)
			return false;
		switch (*end) {
		case 'k': case 'K':
			n <<= 10;
			end++;
			break;
		case 'm': case 'M':
			n <<= 20;
			end++;
			break;
		}
	}
	if (*end || !n || n > UINT32_MAX)
		return false;
	*value = n;
	return true;
}

/* The index of text among two words. */
static bool parse_word(const char *text, const char *word0, const char *word1, __u32 *value)
{
	*value = !strcmp(text, word1);
	return *value || !strcmp(text, word0);
}

bool kept_option_parse(enum kept_option which, const char *text, struct parsed_options *to)
{
	switch (which) {
	case KEPT_DEV:
		to->dev = text;
		return *text && strlen(text) < IFNAMSIZ;
	case KEPT_CGROUP:
		to->cgroup = text;
		return *text && !strchr(text, '\n');
	case KEPT_PID:
		return parse_u32(text, false, &to->pid) && to->pid <= INT_MAX;
	case KEPT_FREQ:
		return parse_u32(text, false, &to->freq);
	case KEPT_SIZE:
		return parse_u32(text, true, &to->log.subbuf_size);
	case KEPT_COUNT:
		return parse_u32(text, false, &to->log.n_subbufs);
	case KEPT_MODE:
		return parse_word(text, "overwrite", "keep", &to->log.mode);
	case KEPT_CLOCK:
		return parse_word(text, "boot", "mono", &to->log.clock);
	case N_KEPT:
		break;
	}
	return false;
}

int kept_options_parse(const struct kept_options *kept, struct parsed_options *to)
{
	int i;

	memset(to, 0, sizeof(*to));
	for (i = 0; i < N_KEPT; i++)
		if (kept->text[i] && !kept_option_parse(i, kept->text[i], to))
			return error("--%s %s: must be %s", kept_option_names[i], kept->text[i],
				     kept_option_wants[i]);
	return 0;
}

int kept_options_save(const struct kept_options *kept, const struct instance *inst)
{
	char *text;
	size_t size;
	FILE *f;
	int i, err;

	f = open_memstream(&text, &size);
	if (!f)
		return error("%s", strerror(errno));
	for (i = 0; i < N_KEPT; i++)
		if (kept->text[i])
			fprintf(f, "%s=%s\n", kept_option_names[i], kept->text[i]);
	fclose(f);
	err = instance_save(inst, "options", text, size);
	free(text);
	return err;
}

int kept_options_read(struct kept_options *kept, const struct instance *inst)
{
	char *line, *equals, *rest;
	size_t size;
	int i;

	if (instance_read(inst, "options", (void **)&kept->memory, &size))
		return -1;
	for (line = strtok_r(kept->memory, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest)) {
		equals = strchr(line, '=');
		if (!equals)
			continue;
		*equals = '\0';
		for (i = 0; i < N_KEPT; i++)
			if (!kept->text[i] && !strcmp(line, kept_option_names[i]))
				kept->text[i] = equals + 1;
	}
	return 0;
}
