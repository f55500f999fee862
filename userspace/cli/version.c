// SPDX-License-Identifier: GPL-2.0-only
/* bpfrelay version: of the command, the library, the kernel and the module. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "bpfrelay.h"
#include "cli.h"
#include "json.h"
#include "reading.h"
#include "version.h"

#define MODULE_DIR	"/sys/module/bpf_relay"

int first_line(const char *root, const char *path, char *to, size_t size)
{
	char full[PATH_MAX];
	FILE *f;

	*to = '\0';
	snprintf(full, sizeof(full), "%s%s", root, path);
	f = fopen(full, "re");
	if (!f)
		return -errno;
	if (!fgets(to, size, f))
		*to = '\0';
	fclose(f);
	to[strcspn(to, "\n")] = '\0';
	return 0;
}

/* What a log that is open says of the module that keeps it. */
static int take_abi(const char *name, const char *dir, void *ctx)
{
	struct module_version *to = ctx;
	struct bpfrelay_stats *stats;
	struct bpfrelay_log *log;

	(void)name;
	if (bpfrelay_log_open(dir, NULL, &log))
		return 0;
	if (!bpfrelay_log_stats(log, &stats))
		to->abi = stats->abi;
	free(stats);
	bpfrelay_log_close(log);
	return to->abi;
}

bool module_version(const char *root, struct module_version *to)
{
	char path[PATH_MAX], state[16];

	memset(to, 0, sizeof(*to));
	if (first_line(root, MODULE_DIR "/initstate", state, sizeof(state)) ||
	    strcmp(state, "live"))
		return false;
	first_line(root, MODULE_DIR "/srcversion", to->srcversion, sizeof(to->srcversion));
	/* Its major number is the ABI. */
	if (!first_line(root, MODULE_DIR "/version", to->version, sizeof(to->version)))
		to->abi = strtoul(to->version, NULL, 10);
	snprintf(path, sizeof(path), "%s" BPFRELAY_ROOT, root);
	if (!to->abi)
		bpfrelay_each_log(path, take_abi, to);
	return true;
}

static void print_text(const struct utsname *kernel, const struct module_version *module)
{
	printf("bpfrelay     %s\n", BPFRELAY_VERSION);
	printf("libbpfrelay  %s\n", bpfrelay_version());
	printf("libbpf       %s\n", libbpf_version_string());
	printf("ABI          %u\n", BPF_RELAY_ABI);
	printf("kernel       %s\n", kernel->release);
	if (!module) {
		printf("module       not loaded\n");
		return;
	}
	printf("module       %s", *module->version ? module->version : "loaded");
	if (module->abi)
		printf(", ABI %u", module->abi);
	if (*module->srcversion)
		printf(", srcversion %s", module->srcversion);
	printf("\n");
}

static void print_json(const struct utsname *kernel, const struct module_version *module)
{
	struct json_object *object = json_object_new_object(), *of_module = NULL;

	json_add_string(object, "bpfrelay", BPFRELAY_VERSION);
	json_add_string(object, "libbpfrelay", bpfrelay_version());
	json_add_string(object, "libbpf", libbpf_version_string());
	json_add_number(object, "abi", BPF_RELAY_ABI);
	json_add_string(object, "kernel", kernel->release);
	if (module) {
		of_module = json_object_new_object();
		if (*module->version)
			json_add_string(of_module, "version", module->version);
		if (module->abi)
			json_add_number(of_module, "abi", module->abi);
		if (*module->srcversion)
			json_add_string(of_module, "srcversion", module->srcversion);
	}
	json_add(object, "module", of_module);
	json_print(object);
}

int cmd_version(int argc, char **argv)
{
	struct args args = {
		.command = "version",
		.help = "Shows the versions of this command, of the libraries that it uses, of the kernel, and\n"
			"of the module if it is loaded. Module and command must have the same ABI for load, and\n"
			"for a log's memory to be read.\n",
		.json_text = "as an object",
	};
	struct module_version module;
	struct utsname kernel;
	bool loaded;
	int status;

	status = parse_args(argc, argv, &args);
	if (status >= 0)
		return status;
	uname(&kernel);
	loaded = module_version("", &module);
	(args.json ? print_json : print_text)(&kernel, loaded ? &module : NULL);
	return CLI_OK;
}
