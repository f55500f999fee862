// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include <linux/magic.h>

#include "find.h"

/* The parts of "name.id"; false if it is no such name. */
static bool split_name(const char *name, size_t *len, const char **id)
{
	const char *dot = strrchr(name, '.');

	if (!dot || dot == name || !dot[1] || dot[1 + strspn(dot + 1, "0123456789")])
		return false;
	*len = dot - name;
	*id = dot + 1;
	return true;
}

static int is_log(const struct dirent *entry)
{
	const char *id;
	size_t len;

	return split_name(entry->d_name, &len, &id);
}

static int compare_names(const struct dirent **a, const struct dirent **b)
{
	const char *x = (*a)->d_name, *y = (*b)->d_name, *id_x, *id_y;
	size_t len_x, len_y;
	int order;

	if (!split_name(x, &len_x, &id_x) || !split_name(y, &len_y, &id_y))
		return strcmp(x, y);
	order = strncmp(x, y, len_x < len_y ? len_x : len_y);
	if (order || len_x != len_y)
		return order ?: len_x < len_y ? -1 : 1;
	/* Ids have no zeroes in front. */
	if (strlen(id_x) != strlen(id_y))
		return strlen(id_x) < strlen(id_y) ? -1 : 1;
	return strcmp(id_x, id_y);
}

int bpfrelay_each_log(const char *root, int (*fn)(const char *name, const char *dir, void *ctx),
		      void *ctx)
{
	struct dirent **entries;
	char dir[PATH_SIZE];
	int i, n, ret = 0;

	root = root ?: BPFRELAY_ROOT;
	n = scandir(root, &entries, is_log, compare_names);
	if (n < 0)
		return -errno;
	for (i = 0; i < n; i++) {
		if (!ret && snprintf(dir, sizeof(dir), "%s/%s", root,
				     entries[i]->d_name) < (int)sizeof(dir))
			ret = fn(entries[i]->d_name, dir, ctx);
		free(entries[i]);
	}
	free(entries);
	return ret;
}

/* Which live logs are meant. */
struct search {
	const char *what;
	const struct say *to;	/* NULL: only count them */
	int found;
	char dir[PATH_SIZE];	/* of one of them */
};

static int match(const char *name, const char *dir, void *ctx)
{
	struct search *search = ctx;
	const char *id, *what = search->what;
	size_t len;

	if (!split_name(name, &len, &id))
		return 0;
	if (strcmp(what, name) && strcmp(what, id) &&
	    (strlen(what) != len || strncmp(what, name, len)))
		return 0;
	if (search->to)
		say(search->to, "%s", name);
	search->found++;
	snprintf(search->dir, sizeof(search->dir), "%s", dir);
	return 0;
}

static int join(char to[PATH_SIZE], const char *dir, const char *name)
{
	return snprintf(to, PATH_SIZE, "%s/%s", dir, name) < PATH_SIZE ? 0 : -ENAMETOOLONG;
}

static int find_live(const char *root, const char *what, char dir[PATH_SIZE],
		     const struct say *to)
{
	struct search search = { .what = what };
	int err;

	err = bpfrelay_each_log(root, match, &search);
	if (err)
		return err;
	if (!search.found)
		return -ENOENT;
	if (search.found > 1) {
		say(to, "'%s' is the name of %d logs:", what, search.found);
		search.to = to;
		bpfrelay_each_log(root, match, &search);
		return -ENOTUNIQ;
	}
	return join(dir, search.dir, "ctf");
}

/* Whether a directory is a log's, or its ctf/. */
static int find_in(const char *path, char dir[PATH_SIZE])
{
	static const char *const below[] = { ".", "ctf" };
	char metadata[PATH_SIZE];
	size_t i;
	int err;

	for (i = 0; i < 2; i++) {
		err = join(dir, path, below[i]);
		err = err ?: join(metadata, dir, "metadata");
		if (err)
			return err;
		if (!access(metadata, F_OK)) {
			if (!i)
				strcpy(dir, path);
			return 0;
		}
		if (errno != ENOENT && errno != ENOTDIR)
			return -errno;
	}
	return -ENOENT;
}

int find_log_of_map(const char *root, int map_fd, char dir[PATH_SIZE], const struct say *to)
{
	struct bpf_map_info info = {};
	__u32 len = sizeof(info);
	char id[16];
	int err;

	err = bpf_obj_get_info_by_fd(map_fd, &info, &len);
	if (err)
		return err;
	snprintf(id, sizeof(id), "%u", info.id);
	err = find_live(root, id, dir, to);
	if (err == -ENOENT)
		say(to, "map %u has no log in %s", info.id, root);
	return err;
}

static int find_by_pin(const char *root, const char *path, char dir[PATH_SIZE],
		       const struct say *to)
{
	int err, fd = bpf_obj_get(path);

	if (fd < 0)
		return fd;
	err = find_log_of_map(root, fd, dir, to);
	close(fd);
	return err;
}

static int find_by_path(const char *root, const char *path, char dir[PATH_SIZE],
			const struct say *to)
{
	struct statfs fs;
	struct stat st;
	int err;

	if (stat(path, &st) || statfs(path, &fs)) {
		err = -errno;
		say(to, "%s: %s", path, strerror(errno));
		return err;
	}
	if (S_ISDIR(st.st_mode))
		err = find_in(path, dir);
	else if ((unsigned int)fs.f_type == BPF_FS_MAGIC)
		return find_by_pin(root, path, dir, to);
	else
		err = -ENOENT;
	if (err == -ENOENT)
		say(to, "%s: is no log, no copy of one and no pin of its map", path);
	else if (err)
		say(to, "%s: %s", path, strerror(-err));
	return err;
}

int find_log(const char *root, const char *what, char dir[PATH_SIZE], const struct say *to)
{
	int err;

	if (strchr(what, '/'))
		return find_by_path(root, what, dir, to);
	err = find_live(root, what, dir, to);
	if (!err || err == -ENOTUNIQ)
		return err;
	if (!find_in(what, dir))
		return 0;
	if (err == -ENOENT)
		say(to, "there is no log '%s' in %s", what, root);
	else
		say(to, "%s: %s", root, strerror(-err));
	return err;
}
