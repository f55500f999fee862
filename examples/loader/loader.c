// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
/*
 * loader: loads execs.bpf.c from a skeleton, opens its log, attaches it, pins both below
 * /sys/fs/bpf/execs and exits. `rm -r /sys/fs/bpf/execs` ends all of it.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <bpfrelay.h>

#include "execs.skel.h"

#define PINS	"/sys/fs/bpf/execs"

static void say(void *ctx, const char *fmt, va_list args)
{
	vfprintf(stderr, fmt, args);
	fputc('\n', stderr);
}

static int start(struct execs *skel)
{
	LIBBPF_OPTS(bpfrelay_open_opts, opts, .subbuf_size = 64 << 10, .n_subbufs = 4,
		    .print = say);
	int err;

	err = bpfrelay_open(skel->obj, skel->maps.execs, &opts);
	err = err ?: execs__attach(skel);
	if (!err && mkdir(PINS, 0700))
		err = -errno;
	if (err)
		return err;
	/* The log lives as long as its map, the program as long as its link. */
	err = bpf_map__pin(skel->maps.execs, PINS "/map");
	err = err ?: bpf_link__pin(skel->links.on_exec, PINS "/link");
	if (err) {
		remove(PINS "/map");
		remove(PINS);
	}
	return err;
}

int main(void)
{
	struct execs *skel = execs__open_and_load();
	int err;

	if (!skel) {
		fprintf(stderr, "loader: cannot load: %s\n", strerror(errno));
		return 1;
	}
	err = start(skel);
	if (err)
		fprintf(stderr, "loader: %s\n", strerror(-err));
	execs__destroy(skel);
	return err ? 1 : 0;
}
