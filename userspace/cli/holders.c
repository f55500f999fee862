// SPDX-License-Identifier: GPL-2.0-only
/* Looks for the holders of maps: at programs, at processes, at the files in bpffs. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <limits.h>
#include <mntent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "holders.h"

/* So many programs, descriptors and pins are looked at: about a second. */
#define LOOKS_MAX	(1 << 18)
/* The verifier allows a program 64. */
#define MAPS_MAX	512
#define MOUNTS_MAX	1024
#define NAMESPACES_MAX	1024

#define MAP_LINK	"anon_inode:bpf-map"

struct search {
	struct holders *to;
	const __u32 *ids;
	int n_ids;
	int looks;
	dev_t seen[MOUNTS_MAX];
	int n_seen;
	ino_t namespace[NAMESPACES_MAX];
	int n_namespaces;
};

static bool look(struct search *s)
{
	if (s->looks++ < LOOKS_MAX)
		return true;
	s->to->err = -E2BIG;
	return false;
}

static void denied(struct search *s)
{
	s->to->err = s->to->err ?: -EPERM;
}

/* Others say how processes and paths are called: nothing for a terminal to obey. */
static void make_printable(char *name)
{
	for (; *name; name++)
		if (*name < ' ' || *name > '~')
			*name = '?';
}

/* If its map is one of those asked for. */
static void add(struct search *s, struct holder holder)
{
	struct holders *to = s->to;
	struct holder *more;
	int i = 0;

	while (i < s->n_ids && s->ids[i] != holder.map_id)
		i++;
	if (i == s->n_ids)
		return;
	more = realloc(to->holder, (to->n + 1) * sizeof(*more));
	if (more)
		to->holder = more;
	holder.name = more ? strdup(holder.name) : NULL;
	if (!holder.name) {
		to->err = -ENOMEM;
		return;
	}
	make_printable(holder.name);
	to->holder[to->n++] = holder;
}

/* ---- Programs ------------------------------------------------------------------- */

static void look_at_program(struct search *s, int fd)
{
	__u32 maps[MAPS_MAX], i, len = sizeof(struct bpf_prog_info);
	struct bpf_prog_info info = { .nr_map_ids = MAPS_MAX, .map_ids = (uintptr_t)maps };
	struct holder holder = { .kind = HOLDER_PROGRAM, .name = info.name };

	if (bpf_prog_get_info_by_fd(fd, &info, &len))
		return;
	holder.id = info.id;
	holder.type = libbpf_bpf_prog_type_str(info.type) ?: "unknown";
	for (i = 0; i < info.nr_map_ids && i < MAPS_MAX; i++) {
		holder.map_id = maps[i];
		add(s, holder);
	}
}

static void look_at_programs(struct search *s)
{
	__u32 id = 0;
	int fd, err;

	while (!(err = bpf_prog_get_next_id(id, &id)) && look(s)) {
		fd = bpf_prog_get_fd_by_id(id);
		if (fd < 0)
			continue;
		look_at_program(s, fd);
		close(fd);
	}
	if (err == -EPERM)
		denied(s);
}

/* ---- Maps of maps --------------------------------------------------------------- */

/* What a lookup in one of these finds is an id. */
static void look_into_map(struct search *s, int fd, const struct bpf_map_info *info)
{
	struct holder holder = {
		.kind = HOLDER_MAP,
		.id = info->id,
		.name = (char *)info->name,
		.type = libbpf_bpf_map_type_str(info->type),
	};
	void *key = calloc(1, info->key_size);
	bool first = true;

	if (!key)
		s->to->err = -ENOMEM;
	while (key && !bpf_map_get_next_key(fd, first ? NULL : key, key) && look(s)) {
		first = false;
		if (!bpf_map_lookup_elem(fd, key, &holder.map_id))
			add(s, holder);
	}
	free(key);
}

static void look_at_maps(struct search *s)
{
	struct bpf_map_info info;
	__u32 id = 0, len;
	int fd, err;

	while (!(err = bpf_map_get_next_id(id, &id)) && look(s)) {
		fd = bpf_map_get_fd_by_id(id);
		if (fd < 0)
			continue;
		len = sizeof(info);
		memset(&info, 0, len);
		if (!bpf_map_get_info_by_fd(fd, &info, &len) &&
		    (info.type == BPF_MAP_TYPE_ARRAY_OF_MAPS ||
		     info.type == BPF_MAP_TYPE_HASH_OF_MAPS))
			look_into_map(s, fd, &info);
		close(fd);
	}
	if (err == -EPERM)
		denied(s);
}

/* ---- Processes ------------------------------------------------------------------ */

/* A file of /proc without its last newline; false if the process is gone. */
static bool read_line(const char *path, char *line, size_t size)
{
	FILE *f = fopen(path, "re");
	bool ok = f && fgets(line, size, f);

	if (f)
		fclose(f);
	if (ok)
		line[strcspn(line, "\n")] = '\0';
	return ok;
}

static bool read_map_id(const char *path, __u32 *id)
{
	bool found = false;
	char line[128];
	FILE *f;

	f = fopen(path, "re");
	if (!f)
		return false;
	while (!found && fgets(line, sizeof(line), f))
		found = sscanf(line, "map_id: %u", id) == 1;
	fclose(f);
	return found;
}

static void look_at_process(struct search *s, int pid)
{
	struct holder holder = { .kind = HOLDER_FD, .id = pid };
	char path[64], link[64], comm[64] = "";
	struct dirent *entry;
	ssize_t len;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	dir = opendir(path);
	if (!dir) {
		if (errno == EACCES)
			denied(s);
		return;
	}
	while ((entry = readdir(dir)) && look(s)) {
		len = readlinkat(dirfd(dir), entry->d_name, link, sizeof(link));
		if (len != (ssize_t)strlen(MAP_LINK) || memcmp(link, MAP_LINK, len))
			continue;
		holder.fd = atoi(entry->d_name);
		snprintf(path, sizeof(path), "/proc/%d/fdinfo/%u", pid, holder.fd);
		if (!read_map_id(path, &holder.map_id))
			continue;
		snprintf(path, sizeof(path), "/proc/%d/comm", pid);
		if (!*comm && !read_line(path, comm, sizeof(comm)))
			continue;
		holder.name = comm;
		add(s, holder);
	}
	closedir(dir);
}

/* ---- Pins ----------------------------------------------------------------------- */

static bool is_map(int fd)
{
	char path[32], link[64];
	ssize_t len;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	len = readlink(path, link, sizeof(link));
	return len == (ssize_t)strlen(MAP_LINK) && !memcmp(link, MAP_LINK, len);
}

static void look_at_pin(struct search *s, const char *path)
{
	struct holder holder = { .kind = HOLDER_PIN, .name = (char *)path };
	struct bpf_map_info info = {};
	__u32 len = sizeof(info);
	int fd;

	fd = bpf_obj_get(path);
	if (fd < 0) {
		if (fd == -EPERM || fd == -EACCES)
			denied(s);
		return;
	}
	if (is_map(fd) && !bpf_map_get_info_by_fd(fd, &info, &len)) {
		holder.map_id = info.id;
		add(s, holder);
	}
	close(fd);
}

static void look_below(struct search *s, const char *mount)
{
	char *paths[] = { (char *)mount, NULL };
	FTSENT *entry;
	FTS *fts;

	fts = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV, NULL);
	if (!fts)
		return;
	while ((entry = fts_read(fts)) && look(s)) {
		if (entry->fts_info == FTS_DNR)
			denied(s);
		else if (entry->fts_info == FTS_F)
			look_at_pin(s, entry->fts_path);
	}
	fts_close(fts);
}

/* One that is mounted more than once is looked at once. */
static bool is_new(struct search *s, const char *mount)
{
	struct stat st;
	int i;

	if (stat(mount, &st))
		return false;
	for (i = 0; i < s->n_seen; i++)
		if (s->seen[i] == st.st_dev)
			return false;
	if (s->n_seen == MOUNTS_MAX) {
		s->to->err = -E2BIG;
		return false;
	}
	s->seen[s->n_seen++] = st.st_dev;
	return true;
}

/* As a process sees its files: "/proc/self" and "", or "/proc/7" and "/proc/7/root". */
static void look_at_pins(struct search *s, const char *process, const char *root)
{
	struct mntent *mount;
	char path[PATH_MAX];
	FILE *f;

	snprintf(path, sizeof(path), "%s/mounts", process);
	f = setmntent(path, "re");
	if (!f) {
		if (errno == EACCES)
			denied(s);
		return;
	}
	while ((mount = getmntent(f))) {
		if (strcmp(mount->mnt_type, "bpf") ||
		    snprintf(path, sizeof(path), "%s%s", root, mount->mnt_dir) >= (int)sizeof(path))
			continue;
		if (is_new(s, path))
			look_below(s, path);
	}
	endmntent(f);
}

/* Whether nobody of its mount namespace was looked at; nor can be, if that is not known. */
static bool is_in_new_namespace(struct search *s, const char *process)
{
	char path[64];
	struct stat st;
	int i;

	snprintf(path, sizeof(path), "%s/ns/mnt", process);
	if (stat(path, &st)) {
		if (errno == EACCES)
			denied(s);
		return false;
	}
	for (i = 0; i < s->n_namespaces; i++)
		if (s->namespace[i] == st.st_ino)
			return false;
	if (s->n_namespaces == NAMESPACES_MAX) {
		s->to->err = -E2BIG;
		return false;
	}
	s->namespace[s->n_namespaces++] = st.st_ino;
	return true;
}

/* ---- All of them ---------------------------------------------------------------- */

static void look_at_processes(struct search *s)
{
	char process[32], root[40];
	struct dirent *entry;
	DIR *dir;

	dir = opendir("/proc");
	if (!dir) {
		denied(s);
		return;
	}
	is_in_new_namespace(s, "/proc/self");
	look_at_pins(s, "/proc/self", "");
	while ((entry = readdir(dir))) {
		if (*entry->d_name < '0' || *entry->d_name > '9')
			continue;
		look_at_process(s, atoi(entry->d_name));
		snprintf(process, sizeof(process), "/proc/%.20s", entry->d_name);
		snprintf(root, sizeof(root), "%s/root", process);
		if (is_in_new_namespace(s, process))
			look_at_pins(s, process, root);
	}
	closedir(dir);
}

void holders_find(struct holders *to, const __u32 *map_ids, int n_ids)
{
	struct search s = { .to = to, .ids = map_ids, .n_ids = n_ids };

	memset(to, 0, sizeof(*to));
	look_at_programs(&s);
	look_at_maps(&s);
	look_at_processes(&s);
}

void holders_free(struct holders *holders)
{
	while (holders->n)
		free(holders->holder[--holders->n].name);
	free(holders->holder);
	holders->holder = NULL;
}
