// SPDX-License-Identifier: GPL-2.0-only
/* What readers take: of the writers, and of time. */
#include "cases.h"
#include "parts.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define READER_RUNS	100
#define READER_CALLS	4096
#define SNAPSHOT_BYTES	(64 << 20)

/* A whole file of the log, thrown away: its bytes. */
static size_t read_file(const struct relay_log *log, const char *name)
{
	static char buffer[1 << 17];
	size_t sum = 0;
	char path[256];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", log->dir, name);
	fd = open(path, O_RDONLY);
	if (fd < 0)
		die("%s cannot be opened", path);
	while ((n = read(fd, buffer, sizeof(buffer))) > 0)
		sum += n;
	if (n < 0)
		die("%s cannot be read", path);
	close(fd);
	return sum;
}

/* ---- Writing beside a reader --------------------------------------------------- */

void reading_reader(void)
{
	_Atomic size_t *done = mmap(NULL, sizeof(*done), PROT_READ | PROT_WRITE,
				    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int with_reader, i;

	run_on(0);
	for (with_reader = 0; with_reader < 2; with_reader++) {
		struct bench_case c;
		pid_t reader = 0;

		case_open(&c, mechanism_find("output"), 64, true, NULL);
		case_run(&c, BENCH_BUFFER / 64);
		memset(c.cost, 0, sizeof(*c.cost));
		if (with_reader)
			reader = fork();
		if (with_reader && !reader) {
			for (;;) {
				*done += read_file(&c.log, "ctf/cpu0");
				*done += read_file(&c.log, "text");
			}
		}
		for (i = 0; i < READER_RUNS; i++) {
			case_run(&c, READER_CALLS);
			sched_yield();
		}
		if (with_reader) {
			kill(reader, SIGKILL);
			waitpid(reader, NULL, 0);
		}
		printf("{\"part\":\"reader\",\"reader\":%s,\"read\":%zu,\"calls\":%llu,\"sum\":%llu,"
		       "\"min\":%llu,\"max\":%llu,\"interrupted\":%llu}\n",
		       with_reader ? "true" : "false", (size_t)*done, c.cost->calls, c.cost->sum,
		       c.cost->min, c.cost->max, c.cost->interrupted);
		case_close(&c);
	}
}

/* ---- A snapshot under load -------------------------------------------------------- */

static void write_on(struct bench_case *c, int cpu)
{
	run_on(cpu);
	for (;;)
		case_run(c, READER_CALLS);
}

/* All CPUs but the reader's write. With one CPU nobody can: then it is the bare cost. */
void reading_snapshot(void)
{
	const struct bpf_relay_opts geometry = {
		.subbuf_size = 128 * 1024,
		.n_subbufs = SNAPSHOT_BYTES / n_cpus() / (128 * 1024),
	};
	pid_t writers[n_cpus()];
	struct bench_case c;
	unsigned long long start;
	size_t bytes = 0;
	int cpu;

	case_open(&c, mechanism_find("output"), 64, false, &geometry);
	for (cpu = 0; cpu < n_cpus(); cpu++) {
		run_on(cpu);
		case_run(&c, SNAPSHOT_BYTES / n_cpus() / 64);
	}
	run_on(0);
	for (cpu = 1; cpu < n_cpus(); cpu++) {
		writers[cpu] = fork();
		if (!writers[cpu])
			write_on(&c, cpu);
	}
	start = now_ns();
	for (cpu = 0; cpu < n_cpus(); cpu++) {
		char name[32];

		snprintf(name, sizeof(name), "ctf/cpu%d", cpu);
		bytes += read_file(&c.log, name);
	}
	printf("{\"part\":\"snapshot\",\"cpus\":%d,\"bytes\":%zu,\"ns\":%llu}\n", n_cpus(), bytes,
	       now_ns() - start);
	for (cpu = 1; cpu < n_cpus(); cpu++) {
		kill(writers[cpu], SIGKILL);
		waitpid(writers[cpu], NULL, 0);
	}
	case_close(&c);
}
