// SPDX-License-Identifier: GPL-2.0-only
/* Programs: into the kernel, onto their hooks, into bpffs. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <bpf/bpf.h>

#include "cli.h"

int load_object(struct bpf_object *obj, const char *what)
{
	struct bpf_program *prog;
	int err;

	/* SEC("tc") does not say of which traffic. */
	bpf_object__for_each_program(prog, obj)
		if (bpf_program__type(prog) == BPF_PROG_TYPE_SCHED_CLS &&
		    !bpf_program__expected_attach_type(prog))
			bpf_program__set_expected_attach_type(prog, BPF_TCX_INGRESS);
	err = bpf_object__load(obj);
	switch (-err) {
	case 0:
		return 0;
	case EPERM:
		return error("%s: not permitted to load BPF programs: needs CAP_BPF, CAP_PERFMON (tracing), CAP_NET_ADMIN (network): run as root",
			     what);
	case EINVAL:
	case EACCES:
		return error("%s: the kernel's verifier refused it: %s", what, error_text(err));
	case ESRCH:
	case ENOENT:
		return error("%s: this kernel lacks something that it attaches to or uses: %s",
			     what, error_text(err));
	default:
		return error("%s: cannot be loaded: %s", what, error_text(err));
	}
}

/* It has been run, by the loader itself: nothing to attach. */
static bool is_opener(const struct bpf_program *prog)
{
	return bpf_program__type(prog) == BPF_PROG_TYPE_SYSCALL;
}

static int pin_program(const struct instance *inst, struct bpf_program *prog)
{
	const char *name = bpf_program__name(prog);
	char path[512];
	int err;

	prog_pin_path(inst, name, path, sizeof(path));
	if (!access(path, F_OK))
		return 0;
	*strrchr(path, '/') = '\0';
	if (mkdir(path, 0700) && errno != EEXIST)
		return error("cannot make %s: %s", path, strerror(errno));
	prog_pin_path(inst, name, path, sizeof(path));
	err = bpf_program__pin(prog, path);
	if (err)
		return error("program %s: cannot be pinned at %s: %s", name, path, error_text(err));
	return 0;
}

/* A program's link that libbpf keeps to itself. A new descriptor, or a negative errno. */
static int link_of_program(const struct bpf_program *prog)
{
	struct bpf_prog_info prog_info = {};
	__u32 id = 0, len = sizeof(prog_info);
	struct bpf_link_info info;
	int fd, err;

	err = bpf_prog_get_info_by_fd(bpf_program__fd(prog), &prog_info, &len);
	if (err)
		return err;
	while (!(err = bpf_link_get_next_id(id, &id))) {
		fd = bpf_link_get_fd_by_id(id);
		if (fd < 0)
			continue;
		memset(&info, 0, sizeof(info));
		len = sizeof(info);
		if (!bpf_link_get_info_by_fd(fd, &info, &len) && info.prog_id == prog_info.id)
			return fd;
		close(fd);
	}
	return err;
}

int pin_link(const struct bpf_program *prog, const struct attachment *at, int index, int fd)
{
	const char *name = bpf_program__name(prog);
	char path[512];
	int err;

	link_pin_path(at->inst, name, index, path, sizeof(path));
	err = bpf_obj_pin(fd, path);
	if (err)
		return error("program %s: its link cannot be pinned at %s: %s", name, path,
			     error_text(err));
	return 0;
}

static int pin_its_link(const struct bpf_program *prog, const struct attachment *at,
			const struct bpf_link *link)
{
	int fd, err;

	/* Of USDT libbpf shows none. */
	if (strncmp(bpf_program__section_name(prog), "usdt", 4))
		return pin_link(prog, at, 0, bpf_link__fd(link));
	fd = link_of_program(prog);
	if (fd < 0)
		return error("program %s: its link is not to be found: %s",
			     bpf_program__name(prog), error_text(fd));
	err = pin_link(prog, at, 0, fd);
	close(fd);
	return err;
}

struct xdp_place {
	int ifindex;
	int link;
};

static bool is_xdp_there(int fd, void *ctx)
{
	struct xdp_place *place = ctx;
	struct bpf_link_info info = {};
	__u32 len = sizeof(info);

	if (bpf_link_get_info_by_fd(fd, &info, &len) || info.type != BPF_LINK_TYPE_XDP ||
	    (int)info.xdp.ifindex != place->ifindex)
		return false;
	place->link = dup(fd);
	return true;
}

/* The place is taken. By the program that we replace? Then its link is handed over. */
static int take_over_xdp(struct bpf_program *prog, struct attachment *at)
{
	struct xdp_place place = { .ifindex = at->targets->ifindex, .link = -1 };

	if (at->old && at->xdp_link < 0)
		instance_each_link(at->old, is_xdp_there, &place);
	if (place.link < 0)
		return error("program %s: the interface has an XDP program already, and takes one only",
			     bpf_program__name(prog));
	at->xdp_link = place.link;
	at->xdp_prog = bpf_program__fd(prog);
	return pin_link(prog, at, 0, place.link);
}

static struct bpf_link *attach(struct bpf_program *prog, const struct targets *targets)
{
	switch (program_target(prog)) {
	case KEPT_DEV:
		switch (bpf_program__expected_attach_type(prog)) {
		case BPF_XDP:
			return bpf_program__attach_xdp(prog, targets->ifindex);
		case BPF_NETKIT_PRIMARY:
		case BPF_NETKIT_PEER:
			return bpf_program__attach_netkit(prog, targets->ifindex, NULL);
		default:
			return bpf_program__attach_tcx(prog, targets->ifindex, NULL);
		}
	case KEPT_CGROUP:
		return bpf_program__attach_cgroup(prog, targets->cgroup_fd);
	default:
		return program_uses_pid(prog) ? attach_user_probe(prog, targets->pid) :
						bpf_program__attach(prog);
	}
}

static int attach_program(struct bpf_program *prog, struct attachment *at)
{
	const char *name = bpf_program__name(prog);
	struct bpf_link *link;
	int err;

	if (program_target(prog) == KEPT_FREQ) {
		err = attach_perf_events(prog, at);
		at->attached += !err;
		return err;
	}
	link = attach(prog, at->targets);
	err = libbpf_get_error(link);
	/* Its section does not say where, or it is of a kind that cannot. */
	if (err == -EOPNOTSUPP)
		return pin_program(at->inst, prog);
	if (err == -EBUSY && bpf_program__type(prog) == BPF_PROG_TYPE_XDP) {
		err = take_over_xdp(prog, at);
		at->attached += !err;
		return err;
	}
	if (err)
		return error("program %s: cannot be attached to %s: %s", name,
			     bpf_program__section_name(prog), error_text(err));
	err = pin_its_link(prog, at, link);
	if (!err) {
		at->attached++;
		/* Or libbpf switches a perf event off, although the pin holds it. */
		bpf_link__disconnect(link);
	}
	bpf_link__destroy(link);
	return err;
}

int attach_programs(struct bpf_object *obj, struct attachment *at)
{
	struct bpf_program *prog;

	bpf_object__for_each_program(prog, obj) {
		if (bpf_program__fd(prog) < 0 || is_opener(prog))
			continue;
		if (attach_program(prog, at))
			return -1;
	}
	return 0;
}
