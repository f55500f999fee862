// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
/* The file `stats`, which is beside a log's ctf/. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trace.h"

static const struct {
	const char *word;
	size_t offset;
} cpu_words[] = {
#define WORD(name, word) { word, offsetof(struct bpfrelay_cpu_stats, name) },
	BPFRELAY_STATS(WORD)
#undef WORD
};

static const struct {
	const char *word;
	size_t offset;
	size_t size;
} log_words[] = {
#define WORD(name) { #name, offsetof(struct bpfrelay_stats, name), \
		     sizeof(((struct bpfrelay_stats *)0)->name) }
	WORD(abi), WORD(types), WORD(subbuf_size), WORD(n_subbufs), WORD(memory),
#undef WORD
};

/* A number, or seconds with nine digits behind the point, which become ns. */
static bool parse_number(const char *text, __u64 *number)
{
	char *end;

	errno = 0;
	*number = strtoull(text, &end, 10);
	if (*end == '.' && strlen(end) == 10)
		*number = *number * 1000000000 + strtoull(end + 1, &end, 10);
	return !*end && *text && !errno;
}

/* Words that are not known yet may come. */
static bool parse_log_line(struct bpfrelay_stats *stats, const char *key, const char *value)
{
	__u64 number;
	size_t i;

	if (!strcmp(key, "mode"))
		stats->mode = strcmp(value, "keep") ? BPF_RELAY_OVERWRITE : BPF_RELAY_KEEP;
	for (i = 0; i < sizeof(log_words) / sizeof(log_words[0]); i++) {
		if (strcmp(key, log_words[i].word))
			continue;
		if (!parse_number(value, &number))
			return false;
		/* Little-endian: the low bytes. */
		memcpy((char *)stats + log_words[i].offset, &number, log_words[i].size);
	}
	return true;
}

static bool parse_cpu_line(struct bpfrelay_cpu_stats *cpu, const char *key, const char *value)
{
	__u64 number;
	size_t i;

	for (i = 0; i < sizeof(cpu_words) / sizeof(cpu_words[0]); i++) {
		if (strcmp(key, cpu_words[i].word))
			continue;
		if (!parse_number(value, &number))
			return false;
		memcpy((char *)cpu + cpu_words[i].offset, &number, sizeof(number));
	}
	return true;
}

/* There is room for max CPUs. */
static bool parse_line(struct bpfrelay_stats *stats, __u32 max, char *line)
{
	char *value = strstr(line, ": ");
	struct bpfrelay_cpu_stats *cpu;

	if (!*line)
		return true;
	if (!value)
		return false;
	*value = '\0';
	value += 2;
	if (!strcmp(line, "cpu")) {
		if (stats->n_cpus == max)
			return false;
		cpu = &stats->cpus[stats->n_cpus++];
		cpu->cpu = strtoul(value, &value, 10);
		cpu->no_buffer = !strcmp(value, " (no buffer)");
		if (!*value || cpu->no_buffer)
			return true;
		/* Several, of which nothing more is said: "5,7-254 (no buffer)". */
		stats->n_cpus--;
		value += strspn(value, "0123456789,-");
		return !strcmp(value, " (no buffer)");
	}
	if (!stats->n_cpus)
		return parse_log_line(stats, line, value);
	return parse_cpu_line(&stats->cpus[stats->n_cpus - 1], line, value);
}

static int parse_stats(char *text, struct bpfrelay_stats **out)
{
	struct bpfrelay_stats *stats;
	char *line, *next;
	__u32 cpus = 0;

	for (line = text; (line = strstr(line, "\ncpu: ")); line++)
		cpus++;
	stats = calloc(1, sizeof(*stats) + cpus * sizeof(*stats->cpus));
	if (!stats)
		return -ENOMEM;
	stats->cpus = (void *)(stats + 1);
	for (line = text; *line; line = next) {
		next = strchr(line, '\n');
		if (!next)
			break;
		*next++ = '\0';
		if (!parse_line(stats, cpus, line))
			break;
	}
	if (*line || !stats->subbuf_size) {
		free(stats);
		return -EBADMSG;
	}
	*out = stats;
	return 0;
}

int bpfrelay_log_stats(const struct bpfrelay_log *log, struct bpfrelay_stats **stats)
{
	const char *slash = strrchr(log->dir, '/');
	size_t size;
	char *text;
	int fd, err;

	*stats = NULL;
	/* Beside a copy that was called otherwise, that name says nothing. */
	if (strcmp(slash ? slash + 1 : log->dir, "ctf"))
		return -ENOENT;
	fd = trace_open_file(log, "../stats");
	if (fd < 0)
		return fd == -ENOENT && log->info.live ? -ENODEV : fd;
	err = trace_read_fd(fd, &text, &size);
	close(fd);
	if (err)
		return err == -EIO && log->info.live ? -ENODEV : err;
	err = strlen(text) == size ? parse_stats(text, stats) : -EBADMSG;
	free(text);
	return err;
}
