// SPDX-License-Identifier: GPL-2.0-only
/* What programs are attached to, where their section does not say it. */
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>
#include <linux/magic.h>

#include "cli.h"

/* How a missing option is asked for. */
static const char *const wanted[N_KEPT] = {
	[KEPT_DEV]	= "--dev IF",
	[KEPT_CGROUP]	= "--cgroup PATH",
	[KEPT_FREQ]	= "--freq HZ",
};

enum kept_option program_target(const struct bpf_program *prog)
{
	switch (bpf_program__type(prog)) {
	case BPF_PROG_TYPE_XDP:
		/* Others are for the entries of a map. */
		return bpf_program__expected_attach_type(prog) == BPF_XDP ? KEPT_DEV : N_KEPT;
	case BPF_PROG_TYPE_SCHED_CLS:
		return KEPT_DEV;
	case BPF_PROG_TYPE_CGROUP_SKB:
	case BPF_PROG_TYPE_CGROUP_SOCK:
	case BPF_PROG_TYPE_CGROUP_SOCK_ADDR:
	case BPF_PROG_TYPE_CGROUP_SOCKOPT:
	case BPF_PROG_TYPE_CGROUP_DEVICE:
	case BPF_PROG_TYPE_CGROUP_SYSCTL:
	case BPF_PROG_TYPE_SOCK_OPS:
		return KEPT_CGROUP;
	case BPF_PROG_TYPE_LSM:
		return bpf_program__expected_attach_type(prog) == BPF_LSM_CGROUP ?
			KEPT_CGROUP : N_KEPT;
	case BPF_PROG_TYPE_PERF_EVENT:
		return KEPT_FREQ;
	default:
		return N_KEPT;
	}
}

bool program_uses_pid(const struct bpf_program *prog)
{
	const char *section = bpf_program__section_name(prog);

	if (bpf_program__type(prog) == BPF_PROG_TYPE_PERF_EVENT)
		return true;
	/* Without the file and function it cannot be attached at all. */
	return bpf_program__type(prog) == BPF_PROG_TYPE_KPROBE && strchr(section, '/') &&
	       (!strncmp(section, "uprobe", 6) || !strncmp(section, "uretprobe", 9) ||
		!strncmp(section, "usdt", 4));
}

static bool uses_option(const struct bpf_object *obj, enum kept_option which)
{
	struct bpf_program *prog;

	bpf_object__for_each_program(prog, obj)
		if (bpf_program__autoload(prog) &&
		    (which == KEPT_PID ? program_uses_pid(prog) : program_target(prog) == which))
			return true;
	return false;
}

int targets_check(const struct bpf_object *obj, const struct kept_options *all,
		  const struct kept_options *given)
{
	enum kept_option which;
	struct bpf_program *prog;
	char missing[1024] = "";
	size_t len = 0;

	bpf_object__for_each_program(prog, obj) {
		which = program_target(prog);
		if (!bpf_program__autoload(prog) || which == N_KEPT || all->text[which])
			continue;
		if (len < sizeof(missing))
			len += snprintf(missing + len, sizeof(missing) - len,
					"%sprogram %s (%s) needs %s", len ? ", " : "",
					bpf_program__name(prog), bpf_program__section_name(prog),
					wanted[which]);
	}
	if (len)
		return error("%s", missing);
	for (which = KEPT_DEV; which <= KEPT_FREQ; which++)
		if (given->text[which] && !uses_option(obj, which))
			return error("--%s %s: no program of the object uses it",
				     kept_option_names[which], given->text[which]);
	return 0;
}

static int open_cgroup(const char *path)
{
	struct statfs fs;
	int fd;

	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return error("--cgroup %s: %s", path, strerror(errno));
	if (fstatfs(fd, &fs) || (unsigned int)fs.f_type != CGROUP2_SUPER_MAGIC) {
		close(fd);
		return error("--cgroup %s: not a directory of a cgroup2 file system", path);
	}
	return fd;
}

int targets_open(struct targets *targets, const struct parsed_options *options)
{
	char proc[32];

	*targets = (struct targets){ .cgroup_fd = -1, .pid = -1, .freq = options->freq };
	if (options->dev) {
		targets->ifindex = if_nametoindex(options->dev);
		if (!targets->ifindex)
			return error("--dev %s: no such interface", options->dev);
	}
	if (options->pid) {
		targets->pid = options->pid;
		snprintf(proc, sizeof(proc), "/proc/%d", targets->pid);
		if (access(proc, F_OK))
			return error("--pid %d: no such process", targets->pid);
	}
	if (options->cgroup) {
		targets->cgroup_fd = open_cgroup(options->cgroup);
		if (targets->cgroup_fd < 0)
			return -1;
	}
	return 0;
}

void targets_close(const struct targets *targets)
{
	if (targets->cgroup_fd >= 0)
		close(targets->cgroup_fd);
}
