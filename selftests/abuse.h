/* SPDX-License-Identifier: GPL-2.0-only */
/* What the tests of reserve/submit and of abuse share beyond relay_test.h. */
#ifndef _ABUSE_H
#define _ABUSE_H

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "relay_test.h"

/* Room for what the verifier says of one program. */
#define VERDICT_SIZE	(1 << 20)

static inline struct bpf_object *object_open(const char *object)
{
	const char *build = getenv("BUILD") ?: "../build";
	struct bpf_object *obj;
	char path[512];

	snprintf(path, sizeof(path), "%s/selftests/%s.bpf.o", build, object);
	obj = bpf_object__open_file(path, NULL);
	if (!obj) {
		fprintf(stderr, "# %s: %s\n", path, strerror(errno));
		exit(1);
	}
	return obj;
}

/* log_load() with these programs (NULL at the end), too, which are not loaded by default. */
static inline void log_load_with(struct relay_log *log, const char *object, const char *map,
				 const char * const *progs)
{
	struct bpf_object *obj = object_open(object);
	int err;

	for (; *progs; progs++)
		bpf_program__set_autoload(bpf_object__find_program_by_name(obj, *progs), true);
	err = bpf_object__load(obj);
	if (err) {
		fprintf(stderr, "# %s: cannot be loaded: %s\n", object, strerror(-err));
		exit(1);
	}
	log_of_map(log, obj, map);
}

/* Of all programs of the object load only this. */
static inline void object_only(struct bpf_object *obj, const char *prog)
{
	struct bpf_program *p;

	bpf_object__for_each_program(p, obj)
		bpf_program__set_autoload(p, !strcmp(bpf_program__name(p), prog));
}

/*
 * Load one program of an object and nothing else of it: 0 or -errno; `verdict`, of
 * VERDICT_SIZE bytes, gets the verifier's words, and is empty if it was not asked.
 */
static inline int verify(const char *object, const char *prog, char *verdict)
{
	struct bpf_object *obj = object_open(object);
	struct bpf_program *p = bpf_object__find_program_by_name(obj, prog);
	libbpf_print_fn_t print;
	int err;

	if (!p) {
		fprintf(stderr, "# no program %s in %s\n", prog, object);
		exit(1);
	}
	object_only(obj, prog);
	verdict[0] = 0;
	bpf_program__set_log_buf(p, verdict, VERDICT_SIZE);
	bpf_program__set_log_level(p, 1);
	print = libbpf_set_print(NULL);
	err = bpf_object__load(obj);
	libbpf_set_print(print);
	bpf_object__close(obj);
	return err;
}

/* A program that the verifier must refuse, and its words: one of these is enough. */
struct refused {
	const char *prog;
	const char *words[2];
};

/* How many of them were not refused in these words; says which. */
static inline int refused_wrongly(const char *object, const struct refused *list, int n)
{
	char *verdict = malloc(VERDICT_SIZE);
	int i, wrong = 0;

	for (i = 0; i < n; i++) {
		int err = verify(object, list[i].prog, verdict);

		if (err && (strstr(verdict, list[i].words[0]) ||
			    (list[i].words[1] && strstr(verdict, list[i].words[1]))))
			continue;
		wrong++;
		printf("# %s: expected \"%s\"; %s:\n%s\n", list[i].prog, list[i].words[0],
		       err ? strerror(-err) : "accepted", verdict);
	}
	free(verdict);
	return wrong;
}

/* Test-run a program with a context, on the CPU of the caller: its return value. */
static inline int run_ctx(struct relay_log *log, const char *prog, void *ctx, size_t size)
{
	struct bpf_program *p = bpf_object__find_program_by_name(log->obj, prog);
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = ctx, .ctx_size_in = size);
	int err = p ? bpf_prog_test_run_opts(bpf_program__fd(p), &opts) : -ENOENT;

	if (err) {
		fprintf(stderr, "# %s: test run: %s\n", prog, strerror(-err));
		exit(1);
	}
	return (int)opts.retval;
}

static inline int kernel_major(void)
{
	struct utsname u;

	uname(&u);
	return atoi(u.release);
}

/*
 * Up to 6.x whoever writes an element of a relay map by bpf(2) drops the reference
 * in it; later kernels write the counters and leave the reference alone.
 */
static inline bool update_drops_log(void)
{
	return kernel_major() < 7;
}

/* ---- The host ---------------------------------------------------------------- */

/* vm/run --host selftests/nmi-host listens there. */
static int host = -1;

/* Ask for NMIs for some seconds; harmless where nobody listens. */
static inline void host_ask(void)
{
	const char *path = getenv("HOST");

	if (path && host < 0)
		host = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (host >= 0 && write(host, "3\n", 2) != 2)
		perror("# HOST");
}

/* It sent them, or nobody was asked. */
static inline bool host_done(void)
{
	struct pollfd p = { .fd = host, .events = POLLIN };
	char answer[64];

	if (host < 0)
		return true;
	return poll(&p, 1, 0) > 0 && read(host, answer, sizeof(answer)) > 0;
}

/* ---- CPUs off and on ---------------------------------------------------------- */

#define CPU_FILE	"/sys/devices/system/cpu/cpu%d/online"

/* -EBUSY: somebody else is at it. */
static inline bool cpu_set_online(int cpu, bool online)
{
	char path[64];
	FILE *f;
	int i, err = 0;

	snprintf(path, sizeof(path), CPU_FILE, cpu);
	for (i = 0; i < 100; i++) {
		f = fopen(path, "w");
		if (!f)
			return false;
		fprintf(f, "%d\n", online);
		err = fclose(f) ? errno : 0;
		if (err != EBUSY)
			break;
		usleep(10000);
	}
	if (err)
		printf("# CPU %d: %s\n", cpu, strerror(err));
	return !err;
}

static inline bool cpu_is_online(int cpu)
{
	char path[64], c = '0';
	FILE *f;

	snprintf(path, sizeof(path), CPU_FILE, cpu);
	f = fopen(path, "r");
	if (!f)
		return true;	/* cannot be switched off */
	c = fgetc(f);
	fclose(f);
	return c == '1';
}

/* All of them, even if a test ended in the middle. */
static inline void all_online(void)
{
	int cpu;

	for (cpu = 1; cpu < sysconf(_SC_NPROCESSORS_CONF); cpu++)
		if (!cpu_is_online(cpu))
			cpu_set_online(cpu, true);
}

#endif /* _ABUSE_H */
