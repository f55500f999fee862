// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include "relay_test.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define die(fmt, ...)								\
do {										\
	fprintf(stderr, "# %s:%d: " fmt "\n", __func__, __LINE__, ##__VA_ARGS__); \
	exit(1);								\
} while (0)

void log_of_map(struct relay_log *log, struct bpf_object *obj, const char *map)
{
	struct bpf_map_info info = {};
	__u32 len = sizeof(info);

	*log = (struct relay_log) { .obj = obj, .name = map };
	log->map = bpf_object__find_map_by_name(obj, map);
	if (!log->map || bpf_map_get_info_by_fd(bpf_map__fd(log->map), &info, &len))
		die("%s: no map %s", bpf_object__name(obj), map);
	log->id = info.id;
	snprintf(log->dir, sizeof(log->dir), DEBUGFS "/%s.%u", info.name, info.id);
}

int slow(void)
{
	const char *factor = getenv("SLOW");

	return factor ? atoi(factor) : 1;
}

/* In place of libc's: the harness limits the time of a test by it, and only by it. */
unsigned int alarm(unsigned int seconds)
{
	struct itimerval timer = { .it_value.tv_sec = (time_t)seconds * slow() };

	setitimer(ITIMER_REAL, &timer, NULL);
	return 0;
}

void log_load(struct relay_log *log, const char *object, const char *map)
{
	const char *build = getenv("BUILD") ?: "../build";
	struct bpf_object *obj;
	char path[512];
	int err;

	snprintf(path, sizeof(path), "%s/selftests/%s.bpf.o", build, object);
	obj = bpf_object__open_file(path, NULL);
	if (!obj)
		die("%s: %s", path, strerror(errno));
	err = bpf_object__load(obj);
	if (err)
		die("%s: cannot be loaded: %s", path, strerror(-err));
	log_of_map(log, obj, map);
}

void log_unload(struct relay_log *log)
{
	bpf_object__close(log->obj);
	log->obj = NULL;
}

bool log_gone(const struct relay_log *log)
{
	struct stat st;
	int i;

	for (i = 0; i < 100 * slow(); i++) {
		if (stat(log->dir, &st) && errno == ENOENT)
			return true;
		usleep(50000);
	}
	return false;
}

int log_run(struct relay_log *log, const char *prog, int cpu)
{
	struct bpf_program *p = bpf_object__find_program_by_name(log->obj, prog);
	LIBBPF_OPTS(bpf_test_run_opts, opts);
	cpu_set_t before;
	int err;

	if (!p)
		die("no program %s", prog);
	if (cpu >= 0) {
		sched_getaffinity(0, sizeof(before), &before);
		run_on(cpu);
	}
	err = bpf_prog_test_run_opts(bpf_program__fd(p), &opts);
	if (cpu >= 0)
		sched_setaffinity(0, sizeof(before), &before);
	if (err)
		die("%s: test run: %s", prog, strerror(-err));
	return (int)opts.retval;
}

/* libbpf maps the sections of global variables; BTF says where a variable is. */
void *log_var(struct relay_log *log, const char *section, const char *var)
{
	const struct btf *btf = bpf_object__btf(log->obj);
	const struct btf_type *sec;
	struct bpf_map *map;
	size_t size;
	void *mem;
	int id, i;

	id = btf__find_by_name_kind(btf, section, BTF_KIND_DATASEC);
	if (id < 0)
		die("no section %s", section);
	bpf_object__for_each_map(map, log->obj) {
		const char *dot = strchr(bpf_map__name(map), '.');

		if (dot && !strcmp(dot, section))
			break;
	}
	mem = map ? bpf_map__initial_value(map, &size) : NULL;
	if (!mem)
		die("section %s is not mapped", section);
	sec = btf__type_by_id(btf, id);
	for (i = 0; i < btf_vlen(sec); i++) {
		const struct btf_var_secinfo *v = btf_var_secinfos(sec) + i;
		const struct btf_type *t = btf__type_by_id(btf, v->type);

		if (!strcmp(btf__name_by_offset(btf, t->name_off), var))
			return mem + v->offset;
	}
	die("no variable %s", var);
}

int log_open(struct relay_log *log, const struct bpf_relay_opts *opts)
{
	char name[64];

	if (opts) {
		struct bpf_relay_setup *setup;

		snprintf(name, sizeof(name), "%s_setup", log->name);
		setup = log_var(log, ".data.relay", name);
		setup->opts.mode = opts->mode;
		setup->opts.clock = opts->clock;
		setup->opts.subbuf_size = opts->subbuf_size;
		setup->opts.n_subbufs = opts->n_subbufs;
	}
	snprintf(name, sizeof(name), "%s_open", log->name);
	return log_run(log, name, -1);
}

void *log_file(const struct relay_log *log, const char *name, size_t *len)
{
	size_t size = 1 << 16, got = 0;
	char path[512];
	char *data;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", log->dir, name);
	fd = open(path, O_RDONLY);
	if (fd < 0)
		return NULL;
	data = malloc(size);
	while ((n = read(fd, data + got, size - got - 1)) > 0) {
		got += n;
		if (size - got < size / 2)
			data = realloc(data, size *= 2);
	}
	close(fd);
	if (n < 0) {
		int err = errno;

		free(data);
		errno = err;
		return NULL;
	}
	data[got] = 0;
	*len = got;
	return data;
}

unsigned long long log_stat(const struct relay_log *log, int cpu, const char *what)
{
	unsigned long long sum = 0, value;
	size_t len, n = strlen(what);
	bool found = false;
	int at = -1;
	char *text = log_file(log, "stats", &len);
	char *line, *save;

	if (!text)
		die("%s/stats: %s", log->dir, strerror(errno));
	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		sscanf(line, "cpu: %d", &at);
		if (strncmp(line, what, n) || line[n] != ':' || (cpu >= 0 && at != cpu))
			continue;
		if (sscanf(line + n + 1, "%llu", &value) != 1)
			die("%s: not a number", line);
		sum += value;
		found = true;
	}
	free(text);
	if (!found)
		die("no '%s' of CPU %d in %s/stats", what, cpu, log->dir);
	return sum;
}

unsigned long long log_dropped(const struct relay_log *log, int cpu)
{
	return log_stat(log, cpu, "dropped events");
}

#define bad(fmt, ...)								\
do {										\
	printf("# packet %lu at %lu: " fmt "\n", i, from, ##__VA_ARGS__);	\
	return -1;								\
} while (0)

long ctf_walk(const void *data, size_t len, __u32 subbuf_size,
	      bool (*fn)(const struct record *rec, void *ctx), void *ctx)
{
	__u64 last_ts = 0, seq = 0, discarded = 0;
	bool going = true;
	unsigned long i;
	long n = 0;

	if (len % subbuf_size) {
		printf("# file of %zu bytes, not a multiple of %u\n", len, subbuf_size);
		return -1;
	}
	for (i = 0; i < len / subbuf_size; i++) {
		const struct bpf_relay_packet *p = data + i * subbuf_size;
		const char *bytes = (const char *)p;
		unsigned long from = sizeof(*p), end = from, j;

		if (p->magic != BPF_RELAY_CTF_MAGIC)
			bad("magic %x", p->magic);
		if (p->packet_size != (__u64)subbuf_size * 8)
			bad("packet_size %llu", p->packet_size);
		if (p->content_size % 8 || p->content_size < sizeof(*p) * 8 ||
		    p->content_size > p->packet_size)
			bad("content_size %llu", p->content_size);
		if (i && p->packet_seq_num != seq + 1)
			bad("packet_seq_num %llu behind %llu", p->packet_seq_num, seq);
		if (p->events_discarded < discarded)
			bad("events_discarded %llu behind %llu", p->events_discarded, discarded);
		if (p->timestamp_begin < last_ts || p->timestamp_end < p->timestamp_begin)
			bad("times %llu to %llu behind %llu", p->timestamp_begin,
			    p->timestamp_end, last_ts);
		seq = p->packet_seq_num;
		discarded = p->events_discarded;
		last_ts = p->timestamp_begin;

		while (from < p->content_size / 8) {
			const struct bpf_relay_header *h = (void *)p + from;
			struct record rec = { p, h, h + 1 };

			if (from + sizeof(*h) > p->content_size / 8 ||
			    from + sizeof(*h) + h->len > p->content_size / 8)
				bad("record of %u bytes beyond the content", h->len);
			if (h->state != BPF_RELAY_COMMITTED)
				bad("record in state %u", h->state);
			if (h->ts < last_ts || h->ts > p->timestamp_end)
				bad("record of %llu behind %llu, packet ends %llu", h->ts,
				    last_ts, p->timestamp_end);
			last_ts = h->ts;
			end = from + sizeof(*h) + h->len;
			from += BPF_RELAY_RECORD_SIZE(h->len);
			for (j = end; j < from; j++)
				if (bytes[j])
					bad("padding is %#x, not 0", bytes[j]);
			n++;
			if (going && fn)
				going = fn(&rec, ctx);
		}
		if (end != p->content_size / 8)
			bad("content ends at %llu, not %lu", p->content_size / 8, end);
		for (j = end; j < subbuf_size; j++)
			if (bytes[j])
				bad("byte behind the content is %#x, not 0", bytes[j]);
		last_ts = p->timestamp_end;
	}
	return n;
}

#undef bad

long log_walk(const struct relay_log *log, int cpu, bool quiet,
	      bool (*fn)(const struct record *rec, void *ctx), void *ctx)
{
	unsigned long long entries;
	char name[32];
	size_t len;
	void *data;
	long n;

	snprintf(name, sizeof(name), "ctf/cpu%d", cpu);
	data = log_file(log, name, &len);
	if (!data)
		die("%s/%s: %s", log->dir, name, strerror(errno));
	n = ctf_walk(data, len, log_stat(log, -1, "subbuf_size"), fn, ctx);
	free(data);
	if (n < 0 || !quiet)
		return n;
	entries = log_stat(log, cpu, "entries");
	if (n != (long)entries) {
		printf("# CPU %d: %ld records found, stats says %llu\n", cpu, n, entries);
		return -1;
	}
	return n;
}

static bool add_bytes(const struct record *rec, void *ctx)
{
	*(unsigned long long *)ctx += rec->header->len;
	return true;
}

bool log_identities(const struct relay_log *log)
{
	bool good = true;
	int cpu;

	for (cpu = 0; cpu < n_cpus(); cpu++) {
		unsigned long long bytes = 0;
		long n = log_walk(log, cpu, true, add_bytes, &bytes);

		if (n < 0)
			return false;
		if (log_stat(log, cpu, "stored events") != n + log_stat(log, cpu, "overrun")) {
			printf("# CPU %d: stored %llu != readable %ld + overwritten %llu\n", cpu,
			       log_stat(log, cpu, "stored events"), n,
			       log_stat(log, cpu, "overrun"));
			good = false;
		}
		if (log_stat(log, cpu, "stored bytes") !=
		    bytes + log_stat(log, cpu, "overrun bytes")) {
			printf("# CPU %d: stored %llu bytes != readable %llu + overwritten %llu\n",
			       cpu, log_stat(log, cpu, "stored bytes"), bytes,
			       log_stat(log, cpu, "overrun bytes"));
			good = false;
		}
	}
	return good;
}

void run_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("CPU %d: %s", cpu, strerror(errno));
}

int n_cpus(void)
{
	return get_nprocs();
}

int shell(const char *fmt, ...)
{
	char *cmd;
	va_list args;
	int status;

	va_start(args, fmt);
	if (vasprintf(&cmd, fmt, args) < 0)
		die("out of memory");
	va_end(args);
	fflush(stdout);
	status = system(cmd);
	free(cmd);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}
