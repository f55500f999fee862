/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Logs made at run time (see bpf/anylog.bpf.h), the module itself, and what it
 * says in the kernel log.
 */
#ifndef _ANYLOG_TEST_H
#define _ANYLOG_TEST_H

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bpf/anylog.h"
#include "relay_test.h"

/* Emulated CPUs are slow; a test that hangs is ended all the same. */
#undef TEST_TIMEOUT_DEFAULT
#define TEST_TIMEOUT_DEFAULT	240

#define any_die(fmt, ...)							\
do {										\
	fprintf(stderr, "# %s:%d: " fmt "\n", __func__, __LINE__, ##__VA_ARGS__); \
	exit(1);								\
} while (0)

/* ---- Logs ------------------------------------------------------------------ */

/* Where the log of a map is in debugfs. */
static inline void any_find(struct relay_log *log, int map_fd)
{
	struct bpf_map_info info = {};
	__u32 len = sizeof(info);

	if (bpf_map_get_info_by_fd(map_fd, &info, &len))
		any_die("map: %s", strerror(errno));
	log->id = info.id;
	snprintf(log->dir, sizeof(log->dir), DEBUGFS "/%s.%u", info.name, info.id);
}

/* A new relay map, `key` in base's any_logs: its descriptor. */
static inline int any_create(struct relay_log *base, struct relay_log *log, const char *name,
			     __u32 key)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts,
		.btf_fd = bpf_object__btf_fd(base->obj),
		.btf_key_type_id = bpf_map__btf_key_type_id(base->map),
		.btf_value_type_id = bpf_map__btf_value_type_id(base->map));
	struct bpf_map *outer = bpf_object__find_map_by_name(base->obj, "any_logs");
	int fd = bpf_map_create(BPF_MAP_TYPE_PERCPU_ARRAY, name, sizeof(__u32),
				bpf_map__value_size(base->map), 1, &opts);

	if (fd < 0)
		any_die("map %s: %s", name, strerror(errno));
	if (bpf_map_update_elem(bpf_map__fd(outer), &key, &fd, BPF_ANY))
		any_die("inner map %s: %s", name, strerror(errno));
	*log = (struct relay_log) { .obj = base->obj, .name = name };
	any_find(log, fd);
	return fd;
}

/* The reverse: the log goes unless it is held elsewhere. */
static inline void any_close(struct relay_log *base, __u32 key, int fd)
{
	struct bpf_map *outer = bpf_object__find_map_by_name(base->obj, "any_logs");

	if (bpf_map_delete_elem(bpf_map__fd(outer), &key))
		any_die("inner map %u: %s", key, strerror(errno));
	close(fd);
}

static inline int any_call_with(struct relay_log *base, const char *prog, __u32 key,
				const void *arg, __u32 size)
{
	struct any_call *call = log_var(base, ".bss", "any_call");

	call->key = key;
	call->size = size;
	if (size > ANYLOG_ARG)
		any_die("argument of %u bytes", size);
	memcpy(log_var(base, ".bss", "any_arg"), arg, size);
	return log_run(base, prog, -1);
}

static inline int any_open_sized(struct relay_log *base, __u32 key, const void *opts, __u32 size)
{
	return any_call_with(base, "any_do_open", key, opts, size);
}

/* With the ABI filled in. */
static inline int any_open(struct relay_log *base, __u32 key, struct bpf_relay_opts opts)
{
	opts.abi = BPF_RELAY_ABI;
	return any_open_sized(base, key, &opts, sizeof(opts));
}

/*
 * What another log was charged comes back a while after its directory is gone: wait
 * for it up to five seconds.
 */
static inline int any_open_patiently(struct relay_log *base, __u32 key,
				     struct bpf_relay_opts opts)
{
	int err = 0, i;

	for (i = 0; i < 100 * slow() && (err = any_open(base, key, opts)) == -EDQUOT; i++)
		usleep(50000);
	return err;
}

static inline int any_add_type(struct relay_log *base, __u32 key, const struct bpf_relay_type *type)
{
	return any_call_with(base, "any_do_add_type", key, type, sizeof(*type));
}

static inline __u64 *any_results(struct relay_log *base)
{
	return log_var(base, ".bss", "any_results");
}

/* Write `count` records of size, size + step, ... bytes on a CPU. */
static inline void any_write(struct relay_log *base, __u32 key, int cpu, __u64 flags, __u32 size,
			     __u32 step, __u64 count)
{
	struct any_call *call = log_var(base, ".bss", "any_call");

	*call = (struct any_call) {
		.key = key, .size = size, .flags = flags, .count = count, .step = step,
	};
	if (log_run(base, "any_write", cpu) != (int)count)
		any_die("not all of %llu records were tried", count);
}

/* ---- The module ------------------------------------------------------------ */

static inline bool module_loaded(void)
{
	struct stat st;

	return !stat("/sys/module/bpf_relay", &st);
}

/* One try, without waiting: 0 or an errno. */
static inline int module_try_remove(void)
{
	return syscall(SYS_delete_module, "bpf_relay", O_NONBLOCK) ? errno : 0;
}

/* Maps go behind a grace period: up to ten seconds. */
static inline bool module_remove(void)
{
	int i;

	for (i = 0; i < 200 * slow(); i++) {
		if (!module_loaded() || !module_try_remove())
			return true;
		usleep(50000);
	}
	return false;
}

static inline bool module_insert(void)
{
	return module_loaded() || !shell("insmod %s", getenv("MODULE"));
}

static inline bool module_set(const char *parameter, const char *value)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "/sys/module/bpf_relay/parameters/%s", parameter);
	f = fopen(path, "w");
	return f && fputs(value, f) >= 0 && !fclose(f);
}

/* No directory of a log is left, within five seconds. */
static inline bool logs_gone(void)
{
	struct stat st;
	int i;

	/* A directory has a link more for each directory in it. */
	for (i = 0; i < 100 * slow(); i++) {
		if (!stat(DEBUGFS, &st) && st.st_nlink == 2)
			return true;
		usleep(50000);
	}
	return false;
}

/* ---- The kernel log -------------------------------------------------------- */

/* What the kernel says from now on. */
static inline int kmsg_open(void)
{
	int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK);

	if (fd < 0 || lseek(fd, 0, SEEK_END) < 0)
		any_die("/dev/kmsg: %s", strerror(errno));
	return fd;
}

/* All of it since then or the last call, up to 64 KiB. */
static inline const char *kmsg_read(int fd)
{
	static char text[1 << 16];
	size_t len = 0;
	ssize_t n;

	while (len < sizeof(text) - 1 &&
	       ((n = read(fd, text + len, sizeof(text) - 1 - len)) > 0 || errno == EPIPE))
		len += n > 0 ? n : 0;
	text[len] = 0;
	return text;
}

#endif /* _ANYLOG_TEST_H */
