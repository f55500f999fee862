// SPDX-License-Identifier: GPL-2.0-only
/* bpfrelay doctor: what is there, what is missing, what to do. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli.h"
#include "doctor.h"
#include "json.h"
#include "reading.h"

static const char *const verdict_names[N_VERDICTS] = {
	[FINE] = "ok", [NOTE] = "note", [PROBLEM] = "problem",
};

static void print_finding(const struct check *check, const struct finding *f)
{
	static const char *const colors[N_VERDICTS] = {
		[FINE] = "\033[32m", [NOTE] = "\033[33m", [PROBLEM] = "\033[31m",
	};
	const char *no_color = getenv("NO_COLOR");
	bool color = is_terminal(STDOUT_FILENO) && !(no_color && *no_color);

	printf("%s%-8s%s %-17s %s\n", color ? colors[f->verdict] : "", verdict_names[f->verdict],
	       color ? "\033[m" : "", check->name, f->found);
	if (*f->todo)
		printf("%26s -> %s\n", "", f->todo);
}

static struct json_object *describe_finding(const struct check *check, const struct finding *f)
{
	struct json_object *object = json_object_new_object();

	json_add_string(object, "check", check->name);
	json_add_string(object, "verdict", verdict_names[f->verdict]);
	json_add_bool(object, "essential", check->essential);
	json_add_string(object, "found", f->found);
	json_add(object, "todo", *f->todo ? json_object_new_string(f->todo) : NULL);
	return object;
}

static int take(int c, const char *value, void *ctx)
{
	struct machine *m = ctx;

	(void)c;
	m->root = value;
	return 0;
}

int cmd_doctor(int argc, char **argv)
{
	static const struct cli_option options[] = {
		{ "root", 256, "DIR", "look at the /proc, /sys and /lib/modules in DIR" },
		{}
	};
	struct machine m = { .root = "" };
	struct args args = {
		.command = "doctor",
		.help = "Checks what bpf_relay needs of this machine, and says what to do. What is a problem\n"
			"keeps logs from being written or read; what is a note does not.\n",
		.json_text = "an array with an object for each check",
		.options = options,
		.take = take,
		.ctx = &m,
	};
	struct json_object *array = NULL;
	int status, missing = 0;
	const struct check *check;

	status = parse_args(argc, argv, &args);
	if (status >= 0)
		return status;
	if (machine_look_at(&m))
		return CLI_ERROR;
	if (args.json)
		array = json_object_new_array();
	for (check = checks; check->name; check++) {
		struct finding f = {};

		check->look(&m, &f);
		missing += check->essential && f.verdict == PROBLEM;
		if (array)
			json_object_array_add(array, describe_finding(check, &f));
		else
			print_finding(check, &f);
	}
	if (array)
		json_print(array);
	if (!missing)
		return CLI_OK;
	error("%d essential check%s failed", missing, missing == 1 ? "" : "s");
	return CLI_ERROR;
}
