/* SPDX-License-Identifier: GPL-2.0-only */
/* The file `text` against ctf/ of the same log (bpf/copies.bpf.c), line for line. */
#ifndef _TEXT_TEST_H
#define _TEXT_TEST_H

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bpf/copies.h"
#include "relay_test.h"

#define SUBBUF		4096
#define N_SUBBUFS	8
#define TEXT_CPUS	COPIES_CPUS
#define TIMEOUT		600

static const struct bpf_relay_opts small = { .subbuf_size = SUBBUF, .n_subbufs = N_SUBBUFS };

/* ---- The log ----------------------------------------------------------------- */

#define TEXT_FIELD(k, n, at, bytes, elements, ...)				\
	{ .kind = BPF_RELAY_##k, .name = n, .offset = at, .size = bytes,	\
	  .count = elements, ##__VA_ARGS__ }

static const struct bpf_relay_field even_fields[] = {
	TEXT_FIELD(UINT, "seq", 0, 8, 1),
	TEXT_FIELD(UINT, "check", 8, 8, 1, .hint = BPF_RELAY_HINT_HEX),
	TEXT_FIELD(UINT, "cpu", 16, 4, 1), TEXT_FIELD(UINT, "zero", 20, 4, 1),
};

static const struct bpf_relay_field odd_fields[] = {
	TEXT_FIELD(UINT, "seq", 0, 8, 1),
	TEXT_FIELD(UINT, "check", 8, 8, 1, .hint = BPF_RELAY_HINT_HEX),
	TEXT_FIELD(UINT, "cpu", 16, 4, 1), TEXT_FIELD(BYTES, "tail", 20, 1, 3),
};

static inline void text_describe(struct bpf_relay_type *type, const void *fields, __u32 len)
{
	type->fields = (__u64)fields;
	type->fields_len = len;
}

static inline void text_open_log(struct relay_log *log, const struct bpf_relay_opts *opts)
{
	struct bpf_relay_setup *setup;
	int err;

	log_load(log, "copies", "copies");
	setup = log_var(log, ".data.relay", "copies_setup");
	text_describe(&setup->type[0], even_fields, sizeof(even_fields));
	text_describe(&setup->type[1], odd_fields, sizeof(odd_fields));
	err = log_open(log, opts);
	if (err) {
		printf("# cannot open the log: %s\n", strerror(-err));
		exit(1);
	}
}

static inline struct copies_args *text_args(struct relay_log *log)
{
	return log_var(log, ".bss", "args");
}

static inline void text_write(struct relay_log *log, int cpu, __u64 count)
{
	text_args(log)->count = count;
	log_run(log, "copies_write", cpu);
}

/* What must stand behind the time of a record. */
static inline int text_line(char *to, size_t size, int id, __u64 seq, int cpu)
{
	return snprintf(to, size, "cpu%d copies_%s seq=%llu check=0x%llx cpu=%d %s", cpu,
			id == 1 ? "even" : "odd", seq,
			COPIES_CHECK(seq, cpu), cpu, id == 1 ? "zero=0" : "tail=000000");
}

/* ---- What ctf/ holds ------------------------------------------------------------ */

struct entry {
	__u64 ts;
	int cpu;
	unsigned int packet;
	unsigned int order;		/* of its CPU */
	bool gone;			/* not to be shown */
	char line[160];
};

struct entries {
	struct entry *e;
	unsigned int n;
	unsigned int of_cpu;
	int cpu;
	const char *data;
	__u32 subbuf_size;
};

static inline bool take_entry(const struct record *rec, void *ctx)
{
	const struct copies_even *even = rec->payload;
	struct entries *all = ctx;
	struct entry *e;

	if (!(all->n & (all->n - 1)))
		all->e = realloc(all->e, (all->n ? 2 * all->n : 1) * sizeof(*e));
	e = &all->e[all->n++];
	*e = (struct entry) {
		.ts = rec->header->ts, .cpu = all->cpu, .order = all->of_cpu++,
		.packet = ((const char *)rec->packet - all->data) /
			  all->subbuf_size,
	};
	text_line(e->line, sizeof(e->line), rec->header->id, even->seq, all->cpu);
	return true;
}

static inline int entry_compare(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->ts != y->ts)
		return x->ts < y->ts ? -1 : 1;
	if (x->cpu != y->cpu)
		return x->cpu - y->cpu;
	return (int)(x->order - y->order);
}

/* Of all CPUs in the order in which text must have them. */
static inline struct entries ctf_entries(const struct relay_log *log)
{
	struct entries all = { .subbuf_size = log_stat(log, -1, "subbuf_size") };
	char name[32];
	size_t len;

	for (all.cpu = 0; all.cpu < n_cpus(); all.cpu++) {
		snprintf(name, sizeof(name), "ctf/cpu%d", all.cpu);
		all.data = log_file(log, name, &len);
		all.of_cpu = 0;
		if (!all.data || ctf_walk(all.data, len, all.subbuf_size, take_entry, &all) < 0) {
			printf("# cannot read %s\n", name);
			exit(1);
		}
		free((void *)all.data);
	}
	qsort(all.e, all.n, sizeof(*all.e), entry_compare);
	return all;
}

/* ---- Reading text ----------------------------------------------------------------- */

static inline int text_open(const struct relay_log *log)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s/text", log->dir);
	fd = open(path, O_RDONLY);
	if (fd < 0) {
		printf("# %s: %s\n", path, strerror(errno));
		exit(1);
	}
	return fd;
}

/* To the end, in steps; to be freed. */
static inline char *text_rest(int fd, size_t step)
{
	size_t size = 1 << 16, got = 0;
	char *text = malloc(size);
	ssize_t n;

	while ((n = read(fd, text + got, step < size - got - 1 ? step : size - got - 1)) > 0) {
		got += n;
		if (size - got < size / 2)
			text = realloc(text, size *= 2);
	}
	if (n < 0)
		printf("# text: %s\n", strerror(errno));
	text[n < 0 ? 0 : got] = 0;
	return text;
}

static inline char *text_read(const struct relay_log *log, size_t step)
{
	int fd = text_open(log);
	char *text = text_rest(fd, step);

	close(fd);
	return text;
}

/* The time of a line, ns, and what is behind it; NULL if it does not begin with one. */
static inline const char *text_time(const char *line, __u64 *ns)
{
	struct tm tm = {};
	int end = 0;
	__u64 frac;

	if (sscanf(line, "%4d-%2d-%2dT%2d:%2d:%2d.%9lluZ%n", &tm.tm_year, &tm.tm_mon,
		   &tm.tm_mday, &tm.tm_hour, &tm.tm_min, &tm.tm_sec, &frac, &end) != 7 ||
	    end != 30)
		return NULL;
	tm.tm_year -= 1900;
	tm.tm_mon--;
	*ns = timegm(&tm) * 1000000000ULL + frac;
	return line + end;
}

/* A number of the head; exits if it is not there. */
static inline __u64 text_head(const char *text, const char *what)
{
	const char *at = strstr(text, what);

	if (!at || (at[-1] != ' ' && at[-1] != '\n')) {
		printf("# no %s in the head\n", what);
		exit(1);
	}
	return strtoull(at + strlen(what), NULL, 10);
}

#define TEXT_HEAD	3	/* lines */

/*
 * Whether a text holds these records but for those gone, with times that all differ
 * by the same from those of ctf/, between its head and exactly this tail. Prints what
 * does not hold.
 */
static inline bool text_is(const char *text, const struct entries *all, const char *tail)
{
	__u64 ns, offset = 0;
	unsigned int i, shown = 0;
	const char *rest;

	for (i = 0; i < TEXT_HEAD; i++) {
		if (*text != '#' || !strchr(text, '\n')) {
			printf("# line %u is none of the head\n", i + 1);
			return false;
		}
		text = strchr(text, '\n') + 1;
	}
	for (i = 0; i < all->n; i++) {
		const struct entry *e = &all->e[i];
		size_t len = strlen(e->line);

		if (e->gone)
			continue;
		rest = text_time(text, &ns);
		if (!shown++)
			offset = ns - e->ts;
		if (!rest || *rest != ' ' || strncmp(rest + 1, e->line, len) ||
		    rest[1 + len] != '\n') {
			printf("# record %u is '%.160s', not '%s'\n", i, text, e->line);
			return false;
		}
		if (ns - e->ts != offset) {
			printf("# record %u: %lld ns off\n", i, ns - e->ts - offset);
			return false;
		}
		text = rest + 1 + len + 1;
	}
	if (strcmp(text, tail)) {
		printf("# ends with '%.300s', not '%s'\n", text, tail);
		return false;
	}
	return true;
}

#endif /* _TEXT_TEST_H */
