/* SPDX-License-Identifier: GPL-2.0-only */
/* Readers of a log's files under stress: a function for each, and its line in readers[]. */
#ifndef _STRESS_READERS_H
#define _STRESS_READERS_H

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "mem_reader.h"
#include "stress_check.h"

struct reader {
	const struct reader_type *type;
	const struct relay_log *log;
	int cpus;
	pthread_t thread;
	atomic_bool *stop;
	__u64 reads;
	__u64 wrong;
	struct check check[STRESS_CPUS];	/* of records: per file */
	char *first;				/* metadata */
	__u64 last[STRESS_CPUS];		/* stats */
};

/* A whole file at once. */
static void read_packets(struct reader *r)
{
	char name[32];
	size_t len;
	void *data;
	int cpu;

	for (cpu = 0; cpu < r->cpus; cpu++) {
		snprintf(name, sizeof(name), "ctf/cpu%d", cpu);
		data = log_file(r->log, name, &len);
		if (data)
			check_snapshot(&r->check[cpu], data, len);
		r->wrong += !data;
		free(data);
	}
}

/* In small steps with pauses: overtaken. */
static void read_slowly(struct reader *r)
{
	static char data[SUBBUF * (N_SUBBUFS + 1)];
	char path[256];
	ssize_t n, got;
	int cpu, fd;

	for (cpu = 0; cpu < r->cpus; cpu++) {
		snprintf(path, sizeof(path), "%s/ctf/cpu%d", r->log->dir, cpu);
		fd = open(path, O_RDONLY);
		for (got = 0; got <= SUBBUF * N_SUBBUFS; got += n) {
			n = read(fd, data + got, 3001);
			if (n <= 0)
				break;
			usleep(300);
		}
		if (n)
			r->wrong++;
		else
			check_snapshot(&r->check[cpu], data, got);
		close(fd);
	}
}

/* Without a system call between the first record and the last. */
static void read_memory(struct reader *r)
{
	const struct bpf_relay_header *h;
	static char copy[SUBBUF];
	struct mem_window w;
	struct mem_reader m = {};
	char path[256];
	__u64 start;
	__u32 from;
	int cpu;
	long len;

	snprintf(path, sizeof(path), "%s/mem", r->log->dir);
	if (mem_open(&m, path)) {
		r->wrong++;
		return;
	}
	for (cpu = 0; cpu < r->cpus; cpu++) {
		check_begin(&r->check[cpu]);
		mem_window(&m, cpu, &w);
		for (start = w.first; start < w.end; start += SUBBUF) {
			len = mem_copy(&m, cpu, &w, start, copy);
			from = 0;
			while (len > 0 && (h = mem_next(copy, len, &from))) {
				const struct record rec = { (void *)copy, h, h + 1 };

				check_record(&rec, &r->check[cpu]);
			}
		}
		check_end(&r->check[cpu]);
	}
	mem_close(&m);
}

/* The bytes of "... cpuN TYPE data=0aff...", from which a record is made: its length or -1. */
static int parse_line(char *line, int *cpu, __u8 *bytes, int max)
{
	char *hex;
	int n;

	if (sscanf(line, "%*s cpu%d", cpu) != 1 || !(hex = strstr(line, " data=")))
		return -1;
	hex += strlen(" data=");
	for (n = 0; n < max && sscanf(hex + 2 * n, "%2hhx", &bytes[n]) == 1; n++)
		;
	return hex[2 * n] == '\n' ? n : -1;
}

/* Merged: the time of a line is not before that of the line above. */
static void read_text(struct reader *r)
{
	static __u8 payload[sizeof(struct stress_rec) + 8 * STRESS_WORDS] __attribute__((aligned(8)));
	struct bpf_relay_header header = { .id = 1 };
	struct bpf_relay_packet line_nr = {};
	char path[256], time[32] = "", *line = NULL;
	size_t size = 0;
	FILE *f;
	int cpu, len;

	snprintf(path, sizeof(path), "%s/text", r->log->dir);
	f = fopen(path, "r");
	if (!f) {
		r->wrong++;
		return;
	}
	for (cpu = 0; cpu < r->cpus; cpu++) {
		check_begin(&r->check[cpu]);
		/* Lines have no number that the next snapshot knows. */
		memset(r->check[cpu].before, 0, sizeof(r->check[cpu].before));
	}
	while (getline(&line, &size, f) > 0) {
		const struct record rec = { &line_nr, &header, payload };

		if (line[0] == '#')
			continue;
		len = parse_line(line, &cpu, payload, sizeof(payload));
		if (len < 0 || cpu < 0 || cpu >= r->cpus || strncmp(line, time, 30) < 0) {
			r->wrong++;
			break;
		}
		snprintf(time, 31, "%s", line);
		header.len = len;
		line_nr.packet_seq_num++;
		check_record(&rec, &r->check[cpu]);
	}
	free(line);
	fclose(f);
}

/* Always the same, but for one line. */
static void read_metadata(struct reader *r)
{
	size_t len;
	char *text = log_file(r->log, "ctf/metadata", &len);
	char *offset = text ? strstr(text, "\toffset = ") : NULL;

	if (!offset) {
		r->wrong++;
		free(text);
		return;
	}
	memset(offset, ' ', strcspn(offset, "\n"));
	if (r->first) {
		r->wrong += !!strcmp(r->first, text);
		free(text);
	} else {
		r->first = text;
	}
}

/* What happened to records of a CPU never gets less. */
static void read_stats(struct reader *r)
{
	int cpu;

	for (cpu = 0; cpu < r->cpus; cpu++) {
		__u64 sum = log_stat(r->log, cpu, "stored events") +
			    log_stat(r->log, cpu, "overrun") +
			    log_stat(r->log, cpu, "discarded events") +
			    log_dropped(r->log, cpu);

		r->wrong += sum < r->last[cpu];
		r->last[cpu] = sum;
	}
}

/* Asleep until a writer, of any context, enters a sub-buffer; or for a while. */
static void read_poll(struct reader *r)
{
	char path[2][256];
	struct pollfd p[2];
	int i, ready;

	snprintf(path[0], sizeof(path[0]), "%s/mem", r->log->dir);
	snprintf(path[1], sizeof(path[1]), "%s/ctf/cpu%llu", r->log->dir, r->reads % r->cpus);
	for (i = 0; i < 2; i++) {
		p[i] = (struct pollfd) { .fd = open(path[i], O_RDONLY), .events = POLLIN };
		/* What the snapshot has is no reason to wake. */
		r->wrong += lseek(p[i].fd, 0, SEEK_END) < 0;
	}
	ready = poll(p, 2, 1000);
	for (i = 0; i < 2; i++) {
		ready -= !!p[i].revents;
		r->wrong += p[i].revents & ~POLLIN || close(p[i].fd);
	}
	r->wrong += !!ready;
}

static const struct reader_type {
	const char *name;
	void (*read)(struct reader *r);
} readers[] = {
	{ "ctf/cpuN", read_packets },
	{ "ctf/cpuN, slowly", read_slowly },
	{ "mem", read_memory },
	{ "text", read_text },
	{ "ctf/metadata", read_metadata },
	{ "stats", read_stats },
	{ "poll", read_poll },
};

static void *read_loop(void *arg)
{
	struct reader *r = arg;

	while (!atomic_load(r->stop)) {
		r->type->read(r);
		r->reads++;
		usleep(50000);
	}
	return NULL;
}

#endif /* _STRESS_READERS_H */
