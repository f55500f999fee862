// SPDX-License-Identifier: GPL-2.0-only
/*
 * Real events: the same work with nothing attached, with an empty program, with a program
 * that records each event by one mechanism, and with ftrace's own event.
 */
#include "cases.h"
#include "parts.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROUNDS		3
#define SWITCHES	5000	/* there, and as many back */
#define SEGMENTS	5000
#define TRACEFS		"/sys/kernel/tracing/"

/* ---- The work -------------------------------------------------------------------- */

static void pass(int from, int to)
{
	char c;

	if (read(from, &c, 1) != 1 || write(to, &c, 1) != 1)
		_exit(1);
}

/* Two processes on one CPU pass each other a byte. */
static unsigned long long storm_of_switches(void)
{
	unsigned long long start;
	int there[2], back[2], i;
	pid_t child;

	if (pipe(there) || pipe(back))
		die("pipe: %s", strerror(errno));
	child = fork();
	if (!child) {
		for (i = 0; i < SWITCHES; i++)
			pass(there[0], back[1]);
		_exit(0);
	}
	start = now_ns();
	for (i = 0; i < SWITCHES; i++) {
		if (write(there[1], "", 1) != 1)
			die("pipe: %s", strerror(errno));
		if (read(back[0], (char[1]) {}, 1) != 1)
			die("pipe: %s", strerror(errno));
	}
	start = now_ns() - start;
	waitpid(child, NULL, 0);
	for (i = 0; i < 2; i++) {
		close(there[i]);
		close(back[i]);
	}
	return start;
}

/* Segments of one byte, each read before the next is sent. */
static unsigned long long train_of_segments(void)
{
	struct sockaddr_in addr = { .sin_family = AF_INET,
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int listener = socket(AF_INET, SOCK_STREAM, 0), from, to, i, on = 1;
	socklen_t len = sizeof(addr);
	unsigned long long start;

	if (bind(listener, (void *)&addr, len) || listen(listener, 1) ||
	    getsockname(listener, (void *)&addr, &len))
		die("listen: %s", strerror(errno));
	from = socket(AF_INET, SOCK_STREAM, 0);
	if (connect(from, (void *)&addr, len))
		die("connect: %s", strerror(errno));
	to = accept(listener, NULL, NULL);
	setsockopt(from, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	start = now_ns();
	for (i = 0; i < SEGMENTS; i++)
		if (write(from, "", 1) != 1 || read(to, (char[1]) {}, 1) != 1)
			die("TCP: %s", strerror(errno));
	start = now_ns() - start;
	close(from);
	close(to);
	close(listener);
	return start;
}

static const struct {
	const char *name;
	const char *ftrace;
	unsigned long long (*work)(void);
} kinds[] = {
	{ "sched_switch", "sched/sched_switch", storm_of_switches },
	{ "tcp_segment", "tcp/tcp_probe", train_of_segments },
};

/* ---- What records it ------------------------------------------------------------- */

static void ftrace_enable(const char *event, const char *on)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), TRACEFS "events/%s/enable", event);
	f = fopen(path, "w");
	if (!f || fputs(on, f) < 0 || fclose(f))
		die("%s: %s", path, strerror(errno));
}

static void print_line(int kind, const char *name, unsigned long long seen, unsigned long long ns)
{
	printf("{\"part\":\"events\",\"event\":\"%s\",\"case\":\"%s\",\"events\":%llu,\"ns\":%llu}\n",
	       kinds[kind].name, name, seen, ns);
}

static void with_program(int kind, const struct mechanism *m, const char *name)
{
	struct bench_case c;
	struct bpf_link *link;
	unsigned long long ns;
	__u64 *seen, *errors;

	if (!events_open(&c, m, kinds[kind].name, name))
		return;
	link = bpf_program__attach(c.prog);
	if (!link)
		die("%s_%s cannot be attached: %s", kinds[kind].name, name, strerror(errno));
	seen = log_var(&c.log, ".bss", "seen");
	errors = log_var(&c.log, ".bss", "errors");
	kinds[kind].work();	/* fills the buffer; warm */
	*seen = 0;
	ns = kinds[kind].work();
	print_line(kind, name, *seen, ns);
	if (*errors)
		die("%s_%s: %llu events were not recorded", kinds[kind].name, name, *errors);
	bpf_link__destroy(link);
	case_close(&c);
}

void events(void)
{
	int kind, round;

	run_on(0);
	for (kind = 0; kind < 2; kind++) {
		for (round = 0; round < ROUNDS; round++) {
			print_line(kind, "none", 0, kinds[kind].work());
			with_program(kind, mechanism_find("harness"), "empty");
			with_program(kind, mechanism_find("output"), "output");
			with_program(kind, mechanism_find("ringbuf_over_output"), "ringbuf_over");
			with_program(kind, mechanism_find("perf"), "perf");
			ftrace_enable(kinds[kind].ftrace, "1");
			print_line(kind, "ftrace", 0, kinds[kind].work());
			ftrace_enable(kinds[kind].ftrace, "0");
		}
	}
}
