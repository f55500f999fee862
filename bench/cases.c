// SPDX-License-Identifier: GPL-2.0-only
#include "cases.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define RB_OVERWRITE	(1U << 19)	/* BPF_F_RB_OVERWRITE */

const int sizes[N_SIZES] = { 8, 64, 256 };

void die(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	fprintf(stderr, "bench: ");
	vfprintf(stderr, fmt, args);
	fprintf(stderr, "\n");
	va_end(args);
	exit(1);
}

unsigned long long now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

static void test_run(int prog_fd, unsigned int calls)
{
	char frame[64] = {};
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = frame, .data_size_in = sizeof(frame),
		    .repeat = calls);
	int err = bpf_prog_test_run_opts(prog_fd, &opts);

	if (err)
		die("test run: %s", strerror(-err));
}

/* ---- What a full buffer holds -------------------------------------------------- */

static int map_fd(struct bench_case *c)
{
	return bpf_object__find_map_fd_by_name(c->log.obj, c->map);
}

static long kept_ours(struct bench_case *c)
{
	return log_stat(&c->log, 0, "entries");
}

/* Pages of positions: the consumer's, the producer's. */
static long kept_ringbuf_over(struct bench_case *c)
{
	unsigned long page = sysconf(_SC_PAGESIZE);
	unsigned long *producer = mmap(NULL, page, PROT_READ, MAP_SHARED, map_fd(c), page);
	long held;

	if (producer == MAP_FAILED)
		die("%s: mmap: %s", c->map, strerror(errno));
	held = producer[0] - producer[2];
	munmap(producer, page);
	return held / (BPF_RINGBUF_HDR_SZ + (c->size + 7) / 8 * 8);
}

/* A backward buffer grows down: its head says what was ever written. */
static long kept_perf(struct bench_case *c)
{
	unsigned long before = -c->perf->data_head;

	case_run(c, 1000);
	return BENCH_BUFFER * 1000UL / (-c->perf->data_head - before);
}

static long kept_queue(struct bench_case *c)
{
	char value[256];
	long n = 0;

	while (!bpf_map_lookup_and_delete_elem(map_fd(c), NULL, value))
		n++;
	return n;
}

static long kept_ftrace(struct bench_case *c)
{
	test_run(bpf_program__fd(bpf_object__find_program_by_name(c->log.obj, "count_ftrace")), 1);
	return *(__u64 *)log_var(&c->log, ".bss", "entries");
}

const struct mechanism mechanisms[] = {
	{ "harness" },
	{ "clock" },
	{ "memcpy" },
	{ "output", "bench", .kept = kept_ours },
	{ "reserve", "bench", .kept = kept_ours },
	{ "relay_write" },
	{ "ringbuf_output", "ringbuf", .drained = true },
	{ "ringbuf_reserve", "ringbuf", .drained = true },
	{ "ringbuf_over_output", "ringbuf_over", RB_OVERWRITE, .kept = kept_ringbuf_over },
	{ "ringbuf_over_reserve", "ringbuf_over", RB_OVERWRITE, .kept = kept_ringbuf_over },
	{ "perf", "perf", .kept = kept_perf },
	{ "queue", "queue_map", .per_size = true, .kept = kept_queue },
	{ "printk", .largest = 64 },
	{ "ftrace", .kept = kept_ftrace },
	{}
};

const struct mechanism *mechanism_find(const char *name)
{
	const struct mechanism *m;

	for (m = mechanisms; m->name; m++)
		if (!strcmp(m->name, name))
			return m;
	die("no mechanism %s", name);
}

/* ---- Opening ----------------------------------------------------------------------- */

static bool kernel_knows(int map_flag)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = map_flag);
	int fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "probe", 0, 0, 4096, &opts);

	if (fd < 0)
		return false;
	close(fd);
	return true;
}

/* What overwrites is mapped read-only, and written from its end. */
static void open_perf(struct bench_case *c)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_BPF_OUTPUT,
		.sample_type = PERF_SAMPLE_RAW,
		.sample_period = 1,
		.watermark = 1,
		.write_backward = 1,
	};
	int fd = syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
	__u32 cpu = 0;

	if (fd < 0)
		die("perf_event_open: %s", strerror(errno));
	c->perf = mmap(NULL, sysconf(_SC_PAGESIZE) + BENCH_BUFFER, PROT_READ, MAP_SHARED, fd, 0);
	if (c->perf == MAP_FAILED)
		die("perf buffer: mmap: %s", strerror(errno));
	if (bpf_map_update_elem(map_fd(c), &cpu, &fd, BPF_ANY))
		die("perf map: %s", strerror(errno));
	close(fd);
}

/* One program of the object, and its map: to load them all takes an emulated machine long. */
static bool open_program(struct bench_case *c, const char *object, const char *prog_name,
			 const bool *exact, const struct bpf_relay_opts *geometry)
{
	const struct mechanism *m = c->mechanism;
	const struct bpf_relay_opts as_others = { .subbuf_size = BENCH_BUFFER / 8, .n_subbufs = 8 };
	bool ours = m->map && !strcmp(m->map, "bench");
	struct bpf_program *prog;
	struct bpf_object *obj;
	struct bpf_map *map;
	char path[512];
	int err;

	if (m->per_size)
		snprintf(c->map, sizeof(c->map), "%s_%d", m->map, c->size);
	else if (m->map)
		snprintf(c->map, sizeof(c->map), "%s", m->map);
	if (m->needs_map_flag && !kernel_knows(m->needs_map_flag))
		return false;
	snprintf(path, sizeof(path), "%s/bench/%s.bpf.o", getenv("BUILD") ?: "build", object);
	obj = bpf_object__open_file(path, NULL);
	if (!obj)
		die("%s: %s", path, strerror(errno));
	c->log.obj = obj;
	c->prog = bpf_object__find_program_by_name(obj, prog_name);
	if (!c->prog)
		die("%s: no program %s", path, prog_name);
	bpf_object__for_each_program(prog, obj) {
		const char *name = bpf_program__name(prog);

		bpf_program__set_autoload(prog, prog == c->prog || !strcmp(name, "count_ftrace") ||
					  (ours && !strcmp(name, "bench_open")));
	}
	bpf_object__for_each_map(map, obj) {
		const char *name = bpf_map__name(map);

		/* The others are of global variables. */
		bpf_map__set_autocreate(map, !strcmp(name, c->map) || strchr(name, '.'));
	}
	if (exact)
		*(bool *)log_var(&c->log, ".rodata", "exact") = *exact;
	err = bpf_object__load(obj);
	if (err)
		die("%s cannot be loaded: %s", prog_name, strerror(-err));
	if (ours) {
		log_of_map(&c->log, obj, "bench");
		err = log_open(&c->log, geometry ?: &as_others);
		if (err)
			die("the log cannot be opened: %s", strerror(-err));
	}
	if (!strcmp(c->map, "perf"))
		open_perf(c);
	return true;
}

bool case_open(struct bench_case *c, const struct mechanism *mechanism, int size, bool exact,
	       const struct bpf_relay_opts *geometry)
{
	char name[64];

	*c = (struct bench_case) { .mechanism = mechanism, .size = size };
	if (mechanism->largest && size > mechanism->largest)
		return false;
	snprintf(name, sizeof(name), "%s_%d", mechanism->name, size);
	if (!open_program(c, "bench", name, &exact, geometry))
		return false;
	c->cost = log_var(&c->log, ".bss", "cost");
	return true;
}

bool events_open(struct bench_case *c, const struct mechanism *mechanism, const char *event,
		 const char *name)
{
	char prog[64];

	*c = (struct bench_case) { .mechanism = mechanism };
	snprintf(prog, sizeof(prog), "%s_%s", event, name);
	return open_program(c, "events", prog, NULL, NULL);
}

void case_close(struct bench_case *c)
{
	if (c->perf)
		munmap(c->perf, sysconf(_SC_PAGESIZE) + BENCH_BUFFER);
	bpf_object__close(c->log.obj);
}

void case_run(struct bench_case *c, unsigned int calls)
{
	test_run(bpf_program__fd(c->prog), calls);
}
