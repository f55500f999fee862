// SPDX-License-Identifier: GPL-2.0-only
/* Perf events, and probes in user space that are kept to one process. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include <linux/perf_event.h>

#include "cli.h"

/* ---- Perf events ---------------------------------------------------------- */

static int open_event(__u32 freq, int pid, int cpu)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.freq = 1,
		.sample_freq = freq,
		/* Threads that the process starts later; not its children. */
		.inherit = pid >= 0,
		.inherit_thread = pid >= 0,
	};
	int fd;

	fd = syscall(SYS_perf_event_open, &attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd >= 0 || (errno != ENOENT && errno != ENODEV && errno != EOPNOTSUPP))
		return fd;
	/* No cycles here, as in most virtual machines: a timer. It ticks in idle, too. */
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_CPU_CLOCK;
	attr.exclude_idle = 1;
	return syscall(SYS_perf_event_open, &attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static int add_event(const struct bpf_program *prog, const struct attachment *at, int pid,
		     int cpu, int *n)
{
	const char *name = bpf_program__name(prog);
	__u32 freq = at->targets->freq;
	struct bpf_link *link;
	int err, fd;

	fd = open_event(freq, pid, cpu);
	/* Came and went while we looked. */
	if (fd < 0 && ((pid >= 0 && errno == ESRCH) || (cpu >= 0 && errno == ENODEV)))
		return 0;
	if (fd < 0 && errno == EINVAL)
		return error("program %s: no perf event of %u Hz: /proc/sys/kernel/perf_event_max_sample_rate is the limit",
			     name, freq);
	if (fd < 0)
		return error("program %s: cannot open a perf event: %s", name, strerror(errno));
	link = bpf_program__attach_perf_event(prog, fd);
	err = libbpf_get_error(link);
	if (err) {
		close(fd);
		return error("program %s: cannot be attached to a perf event: %s", name,
			     error_text(err));
	}
	err = pin_link(prog, at, (*n)++, bpf_link__fd(link));
	/* Or libbpf switches the event off, although the pin holds it. */
	bpf_link__disconnect(link);
	bpf_link__destroy(link);
	return err;
}

/* Calls fn with each number that names of a directory have behind prefix, until it fails. */
static int each_number(const char *dir_path, const char *prefix,
		       int (*fn)(int number, void *ctx), void *ctx)
{
	size_t len = strlen(prefix);
	struct dirent *entry;
	int err = 0;
	DIR *dir;

	dir = opendir(dir_path);
	if (!dir)
		return error("cannot read %s: %s", dir_path, strerror(errno));
	while (!err && (entry = readdir(dir)))
		if (!strncmp(entry->d_name, prefix, len) &&
		    isdigit((unsigned char)entry->d_name[len]))
			err = fn(atoi(entry->d_name + len), ctx);
	closedir(dir);
	return err;
}

struct events {
	const struct bpf_program *prog;
	const struct attachment *at;
	int n;
};

static int add_thread(int tid, void *ctx)
{
	struct events *events = ctx;

	return add_event(events->prog, events->at, tid, -1, &events->n);
}

static int add_cpu(int cpu, void *ctx)
{
	struct events *events = ctx;

	return add_event(events->prog, events->at, -1, cpu, &events->n);
}

int attach_perf_events(const struct bpf_program *prog, const struct attachment *at)
{
	struct events events = { .prog = prog, .at = at };
	char tasks[32];
	int err;

	if (at->targets->pid >= 0) {
		snprintf(tasks, sizeof(tasks), "/proc/%d/task", at->targets->pid);
		err = each_number(tasks, "", add_thread, &events);
	} else {
		err = each_number("/sys/devices/system/cpu", "cpu", add_cpu, &events);
	}
	if (!err && !events.n)
		return error("program %s: no thread or CPU for its perf events",
			     bpf_program__name(prog));
	return err;
}

/* ---- uprobes and USDT ------------------------------------------------------ */

/* FILE:FUNCTION[+OFFSET] */
static struct bpf_link *attach_uprobe(const struct bpf_program *prog, int pid, const char *file,
				      char *function, bool is_return)
{
	LIBBPF_OPTS(bpf_uprobe_opts, opts, .retprobe = is_return, .func_name = function);
	char *plus = strrchr(function, '+'), *end;
	size_t offset = 0;

	if (plus) {
		offset = strtoul(plus + 1, &end, 0);
		if (!plus[1] || *end)
			goto err_inval;
		*plus = '\0';
	} else if (isdigit((unsigned char)*function)) {
		/* An offset in the file. */
		offset = strtoul(function, &end, 0);
		if (*end)
			goto err_inval;
		opts.func_name = NULL;
	}
	return bpf_program__attach_uprobe_opts(prog, pid, file, offset, &opts);

err_inval:
	errno = EINVAL;
	return NULL;
}

/* FILE:PATTERN */
static struct bpf_link *attach_uprobes(const struct bpf_program *prog, int pid, const char *file,
				       const char *pattern, bool is_return)
{
	LIBBPF_OPTS(bpf_uprobe_multi_opts, opts, .retprobe = is_return);

	return bpf_program__attach_uprobe_multi(prog, pid, file, pattern, &opts);
}

struct bpf_link *attach_user_probe(const struct bpf_program *prog, int pid)
{
	char *section = strdup(bpf_program__section_name(prog));
	char *file, *place, *name;
	struct bpf_link *link = NULL;
	bool is_return;

	if (!section)
		return NULL;
	/* KIND/FILE:PLACE; FILE may begin with a slash. */
	file = strchr(section, '/');
	*file++ = '\0';
	place = strchr(file, ':');
	if (!place) {
		errno = EINVAL;
		goto out;
	}
	*place++ = '\0';
	is_return = !strncmp(section, "uretprobe", 9);
	name = strchr(place, ':');
	if (!strncmp(section, "usdt", 4)) {
		if (name) {
			*name++ = '\0';
			link = bpf_program__attach_usdt(prog, pid, file, place, name, NULL);
		} else {
			errno = EINVAL;
		}
	} else if (strstr(section, ".multi")) {
		link = attach_uprobes(prog, pid, file, place, is_return);
	} else {
		link = attach_uprobe(prog, pid, file, place, is_return);
	}
out:
	free(section);
	return link;
}
