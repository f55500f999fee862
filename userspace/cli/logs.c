// SPDX-License-Identifier: GPL-2.0-only
/* Opening logs, and what they say about themselves. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <bpf/bpf.h>

#include "bpfrelay.h"
#include "cli.h"
#include "json.h"
#include "reading.h"

/* How long a log that cannot be opened right now is tried again. */
#define OPEN_TRIES	40
#define OPEN_WAIT_US	50000

/* Which of the module's rules the sizes break; NULL: none of those known here. */
static const char *geometry_problem(const struct log_options *o)
{
	if (o->subbuf_size && (o->subbuf_size & (o->subbuf_size - 1) ||
			       o->subbuf_size < BPF_RELAY_SUBBUF_MIN ||
			       o->subbuf_size > BPF_RELAY_SUBBUF_MAX))
		return "--size must be a power of two from 4K to 4M";
	if (o->n_subbufs && (o->n_subbufs & (o->n_subbufs - 1) ||
			     o->n_subbufs < BPF_RELAY_N_SUBBUFS_MIN ||
			     o->n_subbufs > BPF_RELAY_N_SUBBUFS_MAX))
		return "--count must be a power of two from 2 to 4096";
	if ((unsigned long long)o->subbuf_size * o->n_subbufs > BPF_RELAY_BUFFER_MAX)
		return "--size times --count must be at most 1 GiB";
	return NULL;
}

/* The library's own line about an error. */
struct detail {
	char text[256];
};

static void keep_detail(void *ctx, const char *fmt, va_list args)
{
	struct detail *detail = ctx;

	vsnprintf(detail->text, sizeof(detail->text), fmt, args);
}

static int explain_open(const char *log, int err, const struct log_options *o,
			const struct detail *detail)
{
	const char *problem;

	if (detail->text[0])
		return error("%s", detail->text);
	switch (-err) {
	case ENOSYS:
		return error("%s: the kernel has no bpf_relay: insmod bpf_relay.ko, then load again",
			     log);
	case EPROTO:
		return error("%s: object and module differ in their ABI (dmesg has both numbers): build both from one source",
			     log);
	case EINVAL:
		problem = geometry_problem(o);
		return error("%s: %s", log, problem ?: "the module refused the sizes or types (dmesg says why)");
	case ENOMEM:
		return error("%s: not enough free memory for so large a log on every CPU: smaller --size or --count",
			     log);
	case EDQUOT:
		return error("%s: more than all logs together may take: smaller --size or --count, or raise /sys/module/bpf_relay/parameters/max_mib",
			     log);
	case EOPNOTSUPP:
		return error("%s: debugfs is off, and a log has its files there: boot without debugfs=off",
			     log);
	case ESTALE:
		return error("%s: is open with other types or options (dmesg has both): unload it first",
			     log);
	case EAGAIN:
		return error("%s: cannot be opened now (CPU hotplug, or the map's last log is still going): try again",
			     log);
	case EPERM:
		return error("%s: not permitted: run as root (CAP_BPF, CAP_PERFMON)", log);
	default:
		return error("%s: cannot be opened: %s (dmesg may say why)", log, error_text(err));
	}
}

int open_logs(struct bpf_object *obj, const struct log_options *options)
{
	struct detail detail = {};
	LIBBPF_OPTS(bpfrelay_open_opts, opts,
		.subbuf_size = options->subbuf_size,
		.n_subbufs = options->n_subbufs,
		.mode = options->mode,
		.clock = options->clock,
		.print = keep_detail,
		.print_ctx = &detail,
	);
	struct bpf_map *map = NULL;
	int err = 0, tries;

	while ((map = bpfrelay_next_log(obj, map))) {
		/* The module does not wait, say for a CPU that is coming up; we may. */
		for (tries = 0; tries < OPEN_TRIES; tries++) {
			detail.text[0] = '\0';
			err = bpfrelay_open(obj, map, &opts);
			if (err != -EAGAIN)
				break;
			usleep(OPEN_WAIT_US);
		}
		if (err && err != -EALREADY)
			return explain_open(bpf_map__name(map), err, options, &detail);
	}
	return 0;
}

/* Of the log in this directory, to be freed; NULL if they cannot be read. */
static struct bpfrelay_stats *read_stats(const char *dir)
{
	struct bpfrelay_stats *stats = NULL;
	struct bpfrelay_log *log;

	if (bpfrelay_log_open(dir, NULL, &log))
		return NULL;
	bpfrelay_log_stats(log, &stats);
	bpfrelay_log_close(log);
	return stats;
}

static bool log_of_map(int fd, struct log *log, struct bpf_map_info *info)
{
	__u32 len = sizeof(*info);

	memset(info, 0, sizeof(*info));
	if (bpf_obj_get_info_by_fd(fd, info, &len))
		return false;
	snprintf(log->name, sizeof(log->name), "%s", info->name[0] ? info->name : "map");
	snprintf(log->dir, sizeof(log->dir), BPFRELAY_ROOT "/%s.%u", log->name, info->id);
	return true;
}

/* Of a log that has just been opened; NULL: they cannot be read, the rest can. */
static struct bpfrelay_stats *look_at(const struct bpf_map *map, struct log *log, __u32 *id)
{
	struct bpf_map_info info;

	if (!log_of_map(bpf_map__fd(map), log, &info))
		return NULL;
	*id = info.id;
	return read_stats(log->dir);
}

void print_logs(const struct bpf_object *obj)
{
	unsigned long long size, count, cpus = sysconf(_SC_NPROCESSORS_ONLN);
	struct bpf_map *map = NULL;
	struct bpfrelay_stats *stats;
	struct log log = {};
	__u32 id = 0;
	bool mib;

	while ((map = bpfrelay_next_log(obj, map))) {
		stats = look_at(map, &log, &id);
		if (!stats) {
			printf("%s: open\n%s\n", bpf_map__name(map), log.dir);
			continue;
		}
		size = stats->subbuf_size;
		count = stats->n_subbufs;
		free(stats);
		/* As the module says it in the kernel log. */
		mib = !(size * count * cpus % (1 << 20));
		printf("%s: %llu x %llu KiB x %llu CPUs = %llu %s\n%s\n", bpf_map__name(map),
		       count, size >> 10, cpus, size * count * cpus >> (mib ? 20 : 10),
		       mib ? "MiB" : "KiB", log.dir);
	}
}

struct json_object *describe_logs(const struct bpf_object *obj)
{
	struct json_object *array = json_object_new_array(), *object;
	struct bpf_map *map = NULL;
	struct bpfrelay_stats *stats;
	struct log log = {};
	__u32 id = 0;

	while ((map = bpfrelay_next_log(obj, map))) {
		stats = look_at(map, &log, &id);
		object = json_object_new_object();
		json_add_string(object, "name", bpf_map__name(map));
		json_add_number(object, "map_id", id);
		json_add_string(object, "dir", log.dir);
		if (stats) {
			json_add_number(object, "subbuf_size", stats->subbuf_size);
			json_add_number(object, "n_subbufs", stats->n_subbufs);
			json_add_number(object, "memory", stats->memory);
		}
		json_object_array_add(array, object);
		free(stats);
	}
	return array;
}

/* From the copy of the counters in the map, for when debugfs cannot be read. */
static unsigned long long readable_by_map(int fd)
{
	size_t stride = sizeof(__u64) + sizeof(struct bpf_relay_counters);
	int i, cpus = libbpf_num_possible_cpus();
	const struct bpf_relay_counters *c;
	unsigned long long readable = 0;
	__u32 zero = 0;
	char *values;

	values = cpus > 0 ? calloc(cpus, stride) : NULL;
	if (values && !bpf_map_lookup_elem(fd, &zero, values)) {
		for (i = 0; i < cpus; i++) {
			c = (const void *)(values + i * stride + sizeof(__u64));
			readable += c->records - c->overwritten;
		}
	}
	free(values);
	return readable;
}

bool read_pinned_log(const char *path, struct log *log, unsigned long long *readable)
{
	struct bpfrelay_stats *stats;
	struct bpf_map_info info;
	bool is_log;
	int fd;

	fd = bpf_obj_get(path);
	if (fd < 0)
		return false;
	is_log = log_of_map(fd, log, &info) && info.type == BPF_MAP_TYPE_PERCPU_ARRAY &&
		 info.max_entries == 1 &&
		 info.value_size == sizeof(__u64) + sizeof(struct bpf_relay_counters);
	if (is_log) {
		stats = read_stats(log->dir);
		*readable = stats ? sum_of(stats).entries : readable_by_map(fd);
		free(stats);
	}
	close(fd);
	return is_log;
}
