// SPDX-License-Identifier: GPL-2.0-only
/* Where a loaded object's pins and its copy are kept. */
#define _GNU_SOURCE	/* renameat2() */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include <linux/magic.h>

#include "cli.h"

#define LINKS_DIR	"links"
#define PROGS_DIR	"progs"

/* Paths are built from instance's arrays, which are shorter by far. */
#define PATH_SIZE	512

static int copy_bounded(char *to, size_t size, const char *from)
{
	if ((size_t)snprintf(to, size, "%s", from) < size)
		return 0;
	return error("%s: too long a name", from);
}

static int check_name(const char *name)
{
	const char *c;

	for (c = name; *c; c++)
		if (!isalnum((unsigned char)*c) && *c != '_' && *c != '-')
			break;
	if (*name && !*c)
		return 0;
	return error("'%s': not a name (letters, digits, _ and -)", name);
}

int instance_init(struct instance *inst, const char *name, const char *pins)
{
	char usual[PATH_SIZE];
	size_t len;

	if (check_name(name) || copy_bounded(inst->name, sizeof(inst->name), name))
		return -1;
	snprintf(usual, sizeof(usual), PIN_ROOT "/%s", inst->name);
	snprintf(inst->state, sizeof(inst->state), STATE_ROOT "/%s", inst->name);
	if (copy_bounded(inst->pins, sizeof(inst->pins), pins ?: usual))
		return -1;
	for (len = strlen(inst->pins); len > 1 && inst->pins[len - 1] == '/'; len--)
		inst->pins[len - 1] = '\0';
	return 0;
}

int instance_find(struct instance *inst, const char *name)
{
	char link[PATH_SIZE], pins[PATH_SIZE];
	ssize_t len;

	if (instance_init(inst, name, NULL))
		return -1;
	snprintf(link, sizeof(link), "%s/pins", inst->state);
	len = readlink(link, pins, sizeof(pins) - 1);
	if (len > 0) {
		pins[len] = '\0';
		if (copy_bounded(inst->pins, sizeof(inst->pins), pins))
			return -1;
	}
	if (!instance_exists(inst)) {
		if (errno == EACCES)
			return error("%s: not permitted: run as root (CAP_DAC_OVERRIDE)", inst->pins);
		return error("%s is not loaded: nothing in %s", name, inst->pins);
	}
	return 0;
}

/* Cuts the last part off a path: "a/b" -> "a", "/a" -> "/", "a" -> "." */
static void cut_last(char *path)
{
	char *slash = strrchr(path, '/');

	if (!slash)
		slash = strcpy(path, ".");
	slash[slash == path] = '\0';
}

/* Whether the path, or the directory in which it would be made, is on bpffs. */
static bool on_bpffs(const char *path)
{
	char parent[PATH_SIZE];
	struct statfs fs;

	if (statfs(path, &fs)) {
		snprintf(parent, sizeof(parent), "%s", path);
		cut_last(parent);
		if (statfs(parent, &fs))
			return false;
	}
	return (unsigned int)fs.f_type == BPF_FS_MAGIC;
}

bool instance_exists(const struct instance *inst)
{
	return !access(inst->state, F_OK) || !access(inst->pins, F_OK);
}

static int make_dir(const char *path)
{
	return mkdir(path, 0700) ? -errno : 0;
}

static int claim_pins(const struct instance *inst)
{
	char path[PATH_SIZE];
	int err;

	snprintf(path, sizeof(path), "%s", inst->pins);
	cut_last(path);
	if (!on_bpffs(path))
		return error("%s is not on a BPF file system: mount -t bpf bpf /sys/fs/bpf",
			     path);
	if (!strcmp(path, PIN_ROOT)) {
		err = make_dir(path);
		if (err && err != -EEXIST)
			return error("cannot make %s: %s", path, strerror(-err));
	}
	err = make_dir(inst->pins);
	if (!err) {
		snprintf(path, sizeof(path), "%s/" LINKS_DIR, inst->pins);
		err = make_dir(path);
		if (!err)
			return 0;
		rmdir(inst->pins);
	}
	if (err == -EEXIST)
		return error("%s: %s exists already: bpfrelay unload what is pinned there, or --pin another place",
			     inst->name, inst->pins);
	return error("cannot make %s: %s", inst->pins, strerror(-err));
}

static void remove_parents(const struct instance *inst)
{
	/* Ours only while they hold nothing; rmdir leaves the others alone. */
	if (!strncmp(inst->pins, PIN_ROOT "/", strlen(PIN_ROOT "/")))
		rmdir(PIN_ROOT);
	rmdir(STATE_ROOT);
}

/* final: where the pins will be when all is done; NULL: where they are. */
static int claim(const struct instance *inst, const char *final)
{
	char path[PATH_SIZE], real[PATH_MAX];
	int err;

	err = make_dir(STATE_ROOT);
	if (err && err != -EEXIST)
		return error("cannot make " STATE_ROOT ": %s%s", strerror(-err),
			     geteuid() ? ": run as root (CAP_DAC_OVERRIDE)" : "");
	err = make_dir(inst->state);
	if (err == -EEXIST)
		return error("%s is loaded already: --replace it, or load it with another --name",
			     inst->name);
	if (err) {
		error("cannot make %s: %s%s", inst->state, strerror(-err),
		      geteuid() ? ": run as root (CAP_DAC_OVERRIDE)" : "");
		goto err_parents;
	}
	if (claim_pins(inst))
		goto err_state;

	snprintf(path, sizeof(path), "%s/pins", inst->state);
	if ((!final && !realpath(inst->pins, real)) || symlink(final ?: real, path)) {
		error("cannot make %s: %s", path, strerror(errno));
		instance_remove(inst);
		return -1;
	}
	return 0;

err_state:
	rmdir(inst->state);
err_parents:
	remove_parents(inst);
	return -1;
}

int instance_claim(const struct instance *inst)
{
	return claim(inst, NULL);
}

/* Removes what is in a directory, but not directories in it. Returns of how many programs. */
static int empty_dir(const char *path, bool remove)
{
	struct dirent *entry;
	int n = 0;
	DIR *dir;

	dir = opendir(path);
	if (!dir)
		return 0;
	while ((entry = readdir(dir))) {
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		if (remove && unlinkat(dirfd(dir), entry->d_name, 0))
			continue;
		/* "PROGRAM-1" is one more of "PROGRAM". */
		n += !strchr(entry->d_name, '-');
	}
	closedir(dir);
	return n;
}

static void remove_dir(const char *base, const char *sub)
{
	char path[PATH_SIZE];

	snprintf(path, sizeof(path), "%s%s%s", base, *sub ? "/" : "", sub);
	empty_dir(path, true);
	rmdir(path);
}

void instance_remove(const struct instance *inst)
{
	/* Links first: nothing writes to a log that is going. */
	remove_dir(inst->pins, LINKS_DIR);
	remove_dir(inst->pins, PROGS_DIR);
	remove_dir(inst->pins, "");
	remove_dir(inst->state, "");
	remove_parents(inst);
}

/* Where --replace builds what shall come in inst's place. '~' is in no NAME. */
static int next_instance(const struct instance *inst, struct instance *next)
{
	*next = *inst;
	if (strlen(inst->pins) + 1 >= sizeof(next->pins) ||
	    strlen(inst->state) + 1 >= sizeof(next->state))
		return error("%s: too long a name", inst->pins);
	strcat(next->pins, "~");
	strcat(next->state, "~");
	return 0;
}

/* Its directories, which --replace moves, are what is locked. */
static int lock(const struct instance *inst)
{
	int fd = open(inst->pins, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		fd = open(inst->state, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return error("%s is not loaded any more", inst->name);
	if (flock(fd, LOCK_EX | LOCK_NB)) {
		close(fd);
		return error("%s: another bpfrelay is at work on it: try again", inst->name);
	}
	return fd;
}

int instance_lock(const struct instance *inst)
{
	struct instance next;
	int fd, left;

	if (next_instance(inst, &next))
		return -1;
	fd = lock(inst);
	if (fd < 0 || !instance_exists(&next))
		return fd;
	/* Left behind by one that was killed; unless it is just being removed. */
	left = lock(&next);
	if (left < 0) {
		close(fd);
		return -1;
	}
	instance_remove(&next);
	close(left);
	return fd;
}

int instance_claim_next(const struct instance *inst, struct instance *next)
{
	if (next_instance(inst, next))
		return -1;
	return claim(next, inst->pins);
}

static int exchange(const char *a, const char *b)
{
	if (renameat2(AT_FDCWD, a, AT_FDCWD, b, RENAME_EXCHANGE))
		return error("cannot exchange %s and %s: %s", a, b, strerror(errno));
	return 0;
}

int instance_exchange(const struct instance *inst, const struct instance *next)
{
	if (exchange(inst->pins, next->pins))
		return -1;
	if (!exchange(inst->state, next->state))
		return 0;
	exchange(inst->pins, next->pins);
	return -1;
}

bool instance_each_link(const struct instance *inst, bool (*fn)(int fd, void *ctx), void *ctx)
{
	char path[PATH_SIZE + NAME_MAX];
	struct dirent *entry;
	bool done = false;
	DIR *dir;
	int fd;

	snprintf(path, sizeof(path), "%s/" LINKS_DIR, inst->pins);
	dir = opendir(path);
	if (!dir)
		return false;
	while (!done && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/" LINKS_DIR "/%s", inst->pins, entry->d_name);
		fd = bpf_obj_get(path);
		if (fd < 0)
			continue;
		done = fn(fd, ctx);
		close(fd);
	}
	closedir(dir);
	return done;
}

int instance_count_links(const struct instance *inst)
{
	char path[PATH_SIZE];

	snprintf(path, sizeof(path), "%s/" LINKS_DIR, inst->pins);
	return empty_dir(path, false);
}

int instance_remove_links(const struct instance *inst)
{
	char path[PATH_SIZE];

	snprintf(path, sizeof(path), "%s/" LINKS_DIR, inst->pins);
	return empty_dir(path, true);
}

int read_file(const char *path, void **data, size_t *size)
{
	size_t len = 0, room = 0;
	char *buf = NULL, *more;
	int fd, err;
	ssize_t n;

	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	do {
		if (len == room) {
			room = room ? room * 2 : 64 << 10;
			more = realloc(buf, room + 1);
			if (!more) {
				err = -ENOMEM;
				goto err_free;
			}
			buf = more;
		}
		n = read(fd, buf + len, room - len);
		if (n < 0) {
			err = -errno;
			goto err_free;
		}
		len += n;
	} while (n);
	close(fd);
	buf[len] = '\0';
	*data = buf;
	*size = len;
	return 0;

err_free:
	free(buf);
	close(fd);
	return err;
}

int instance_save(const struct instance *inst, const char *what, const void *data, size_t size)
{
	char path[PATH_SIZE];
	size_t done = 0;
	ssize_t n = 0;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", inst->state, what);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return error("cannot make %s: %s", path, strerror(errno));
	for (; done < size; done += n) {
		n = write(fd, data + done, size - done);
		if (n < 0)
			break;
	}
	if (close(fd) || n < 0)
		return error("cannot write %s: %s", path, strerror(errno));
	return 0;
}

int instance_read(const struct instance *inst, const char *what, void **data, size_t *size)
{
	char path[PATH_SIZE];
	int err;

	snprintf(path, sizeof(path), "%s/%s", inst->state, what);
	err = read_file(path, data, size);
	if (err)
		return error("%s: cannot read %s (%s): unload it and load it again",
			     inst->name, path, strerror(-err));
	return 0;
}

/* bpffs takes no dots. '-' is in no C name, so that nothing else has the new one. */
void map_pin_path(const struct instance *inst, const struct bpf_map *map, char *path, size_t size)
{
	const char *name = bpf_map__name(map);
	char *c;

	if (*name == '.')
		name++;
	snprintf(path, size, "%s/%s", inst->pins, name);
	for (c = path + strlen(inst->pins); *c; c++)
		if (*c == '.')
			*c = '-';
}

void link_pin_path(const struct instance *inst, const char *prog, int index,
		   char *path, size_t size)
{
	char suffix[16] = "";

	if (index)
		snprintf(suffix, sizeof(suffix), "-%d", index);
	snprintf(path, size, "%s/" LINKS_DIR "/%s%s", inst->pins, prog, suffix);
}

void prog_pin_path(const struct instance *inst, const char *prog, char *path, size_t size)
{
	snprintf(path, size, "%s/" PROGS_DIR "/%s", inst->pins, prog);
}
