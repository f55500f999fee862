// SPDX-License-Identifier: GPL-2.0-only
/* bpfrelay stop, start, unload */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <bpf/bpf.h>

#include "cli.h"
#include "json.h"

/* How long a log's directory may take to go once nothing holds its map. */
#define GONE_TRIES	40
#define GONE_WAIT_US	50000

#define LOGS_MAX	64

/* A command whose only argument is the NAME of what fn is done to. */
static int do_to_named(int argc, char **argv, struct args *args,
		       int (*fn)(const struct instance *inst, bool json))
{
	struct instance inst;
	int status, lock;

	status = parse_args(argc, argv, args);
	if (status >= 0)
		return status;
	if (instance_find(&inst, argv[optind]))
		return CLI_ERROR;
	lock = instance_lock(&inst);
	if (lock < 0)
		return CLI_ERROR;
	status = fn(&inst, args->json) ? CLI_ERROR : CLI_OK;
	close(lock);
	return status;
}

static void print_json(const struct instance *inst, const char *done, int programs)
{
	struct json_object *object = json_object_new_object();

	json_add_string(object, "name", inst->name);
	json_add_number(object, done, programs);
	json_print(object);
}

static int stop(const struct instance *inst, bool json)
{
	int n, left;

	if (!instance_count_links(inst))
		return error("%s: is stopped already", inst->name);
	n = instance_remove_links(inst);
	left = instance_count_links(inst);
	if (left)
		return error("%s: %d links in %s/links cannot be removed", inst->name, left,
			     inst->pins);
	if (json)
		print_json(inst, "detached", n);
	else
		printf("%s: %d program%s detached, the log stays\n", inst->name, n,
		       n == 1 ? "" : "s");
	return 0;
}

int cmd_stop(int argc, char **argv)
{
	struct args args = {
		.command = "stop",
		.help = "Detaches the programs of NAME. Its logs stay and can be read.\n",
		.json_text = "say of how many programs, as an object",
	};

	return do_to_named(argc, argv, &args, stop);
}

/* The maps of the first load, with all that is in them. */
static int reuse_maps(struct bpf_object *obj, const struct instance *inst)
{
	struct bpf_map *map;
	char path[512];
	int fd, err;

	bpf_object__for_each_map(map, obj) {
		if (!bpf_map__autocreate(map))
			continue;
		map_pin_path(inst, map, path, sizeof(path));
		fd = bpf_obj_get(path);
		if (fd < 0)
			return error("%s: its map %s is gone (%s): unload it and load it again",
				     inst->name, path, error_text(fd));
		err = bpf_map__reuse_fd(map, fd);
		close(fd);
		if (err)
			return error("%s: cannot use its map %s: %s", inst->name, path,
				     error_text(err));
	}
	return 0;
}

static int attach_again(struct bpf_object *obj, const struct instance *inst,
			const struct targets *targets, bool json)
{
	struct attachment at = { .inst = inst, .targets = targets, .xdp_link = -1 };
	int err;

	err = reuse_maps(obj, inst);
	if (!err)
		err = load_object(obj, inst->name);
	if (err)
		return err;
	err = attach_programs(obj, &at);
	/* As it was: all of them or none. */
	if (err)
		instance_remove_links(inst);
	else if (json)
		print_json(inst, "attached", at.attached);
	else
		printf("%s: %d program%s attached\n", inst->name, at.attached,
		       at.attached == 1 ? "" : "s");
	return err;
}

static int start(const struct instance *inst, bool json)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts, .object_name = inst->name);
	struct kept_options kept = {};
	struct parsed_options options;
	struct targets targets;
	struct bpf_object *obj;
	size_t size;
	void *data;
	int err;

	if (instance_count_links(inst))
		return error("%s: is running already", inst->name);
	if (instance_read(inst, "object", &data, &size))
		return -1;
	obj = bpf_object__open_mem(data, size, &opts);
	if (libbpf_get_error(obj)) {
		err = error("%s: its object cannot be read again: %s", inst->name,
			    error_text(libbpf_get_error(obj)));
		goto out_free;
	}
	err = kept_options_read(&kept, inst);
	if (!err)
		err = kept_options_parse(&kept, &options);
	if (!err)
		err = targets_open(&targets, &options);
	if (!err) {
		err = attach_again(obj, inst, &targets, json);
		targets_close(&targets);
	}
	bpf_object__close(obj);
out_free:
	free(kept.memory);
	free(data);
	return err;
}

int cmd_start(int argc, char **argv)
{
	struct args args = {
		.command = "start",
		.help = "Attaches the programs of NAME again, after bpfrelay stop.\n",
		.json_text = "say how many programs, as an object",
	};

	return do_to_named(argc, argv, &args, start);
}

struct unloaded {
	struct log log;
	unsigned long long readable;
	bool gone;
};

/* The logs among the pins, and what is readable in them. */
static int find_logs(const struct instance *inst, struct unloaded *logs)
{
	struct dirent *entry;
	char path[512 + 256];
	int n = 0;
	DIR *dir;

	dir = opendir(inst->pins);
	if (!dir)
		return 0;
	while (n < LOGS_MAX && (entry = readdir(dir))) {
		snprintf(path, sizeof(path), "%s/%s", inst->pins, entry->d_name);
		if (entry->d_name[0] != '.' &&
		    read_pinned_log(path, &logs[n].log, &logs[n].readable))
			n++;
	}
	closedir(dir);
	return n;
}

/* The log goes when the last holder of its map does; we may not be the last. */
static bool is_gone(const struct log *log)
{
	int i;

	for (i = 0; i < GONE_TRIES; i++) {
		if (access(log->dir, F_OK))
			return true;
		usleep(GONE_WAIT_US);
	}
	return false;
}

static void print_unloaded(const struct instance *inst, const struct unloaded *logs, int n)
{
	int i;

	for (i = 0; i < n; i++) {
		if (logs[i].gone)
			printf("%s: removed, with %llu readable records\n", logs[i].log.name,
			       logs[i].readable);
		else
			printf("%s: something else holds its map: the log stays, with %llu readable records\n",
			       logs[i].log.name, logs[i].readable);
	}
	if (!n)
		printf("%s: removed\n", inst->name);
}

static void print_unloaded_json(const struct instance *inst, const struct unloaded *logs, int n)
{
	struct json_object *object = json_object_new_object();
	struct json_object *array = json_object_new_array(), *log;
	int i;

	json_add_string(object, "name", inst->name);
	for (i = 0; i < n; i++) {
		log = json_object_new_object();
		json_add_string(log, "name", logs[i].log.name);
		json_add_bool(log, "removed", logs[i].gone);
		json_add_number(log, "records", logs[i].readable);
		json_object_array_add(array, log);
	}
	json_add(object, "logs", array);
	json_print(object);
}

static int unload(const struct instance *inst, bool json)
{
	static struct unloaded logs[LOGS_MAX];
	int i, n;

	/* Detached first, so that the number is final. */
	instance_remove_links(inst);
	n = find_logs(inst, logs);
	instance_remove(inst);
	if (instance_exists(inst))
		return error("%s: cannot remove all of %s and %s: remove them by hand", inst->name,
			     inst->pins, inst->state);
	for (i = 0; i < n; i++)
		logs[i].gone = is_gone(&logs[i].log);
	if (json)
		print_unloaded_json(inst, logs, n);
	else
		print_unloaded(inst, logs, n);
	return 0;
}

int cmd_unload(int argc, char **argv)
{
	struct args args = {
		.command = "unload",
		.help = "Detaches the programs of NAME and removes its logs with all records.\n",
		.json_text = "say what became of the logs, as an object",
	};

	return do_to_named(argc, argv, &args, unload);
}
