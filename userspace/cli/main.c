// SPDX-License-Identifier: GPL-2.0-only
/* bpfrelay: loads BPF programs that write to bpf_relay logs, and reads these. */
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "output.h"
#include "reading.h"

static const struct command commands[] = {
	{ "load", cmd_load, "WHAT", "load an object, open its logs, attach its programs" },
	{ "stop", cmd_stop, "NAME", "detach the programs; the logs stay" },
	{ "start", cmd_start, "NAME", "attach the programs again" },
	{ "unload", cmd_unload, "NAME", "detach the programs and remove the logs" },
	{ "list", cmd_list, "", "which logs there are" },
	{ "show", cmd_show, "LOG", "what a log is, and its types" },
	{ "cat", cmd_cat, "LOG", "the records, as text or JSON lines" },
	{ "stats", cmd_stats, "LOG [INTERVAL]", "what was stored, overwritten, dropped" },
	{ "export", cmd_export, "LOG", "the records in the formats of other tools" },
	{ "snapshot", cmd_snapshot, "LOG DIR", "copy a log: a CTF trace" },
	{ "version", cmd_version, "", "of command, library, kernel and module" },
	{ "doctor", cmd_doctor, "", "what this machine lacks, and what to do" },
	{}
};

bool verbose;

/* What libbpf says goes here, and to the user only with -v behind an error. */
static struct {
	char text[64 << 10];
	size_t len;
} chatter;

static int keep_chatter(enum libbpf_print_level level, const char *fmt, va_list args)
{
	size_t room = sizeof(chatter.text) - chatter.len;
	int n;

	if (level == LIBBPF_DEBUG || room <= 1)
		return 0;
	n = vsnprintf(chatter.text + chatter.len, room, fmt, args);
	if (n > 0)
		chatter.len += (size_t)n < room ? (size_t)n : room - 1;
	return 0;
}

int error(const char *fmt, ...)
{
	va_list args;

	if (verbose && chatter.len)
		fwrite(chatter.text, 1, chatter.len, stderr);
	fprintf(stderr, "bpfrelay: ");
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fprintf(stderr, "%s\n", !verbose && chatter.len ? " (-v shows what libbpf said)" : "");
	return -1;
}

void note(const char *fmt, ...)
{
	va_list args;

	fprintf(stderr, "bpfrelay: ");
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fprintf(stderr, "\n");
}

const char *error_text(int err)
{
	static char text[128];

	libbpf_strerror(err, text, sizeof(text));
	return text;
}

int usage_error(const char *command, const char *fmt, ...)
{
	va_list args;

	fprintf(stderr, "bpfrelay%s%s: ", *command ? " " : "", command);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fprintf(stderr, " (see bpfrelay%s%s --help)\n", *command ? " " : "", command);
	return CLI_USAGE;
}

const struct command *find_command(const char *name)
{
	const struct command *c;

	for (c = commands; c->name; c++)
		if (!strcmp(c->name, name))
			return c;
	return NULL;
}

static void help(FILE *to)
{
	const struct command *c;

	fprintf(to, "usage: bpfrelay COMMAND [ARGUMENT...] [OPTION...]\n\n");
	for (c = commands; c->name; c++)
		fprintf(to, "  %-8s %-16s %s\n", c->name, c->synopsis, c->summary);
	fprintf(to, "\nbpfrelay COMMAND --help says more. Exit status: 0 done, 1 failed, 2 usage.\n");
}

/* Commands are short, and half of one is worse than a late answer to Ctrl-C. */
static void hold_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

static bool is_help(const char *arg)
{
	return !strcmp(arg, "help") || !strcmp(arg, "--help") || !strcmp(arg, "-h");
}

int main(int argc, char **argv)
{
	const struct command *c;

	libbpf_set_print(keep_chatter);
	output_begin();
	if (argc < 2) {
		help(stderr);
		return CLI_USAGE;
	}
	if (is_help(argv[1]) && argc == 2) {
		help(stdout);
		return output_end(CLI_OK);
	}
	/* "help COMMAND" is "COMMAND --help". */
	if (is_help(argv[1])) {
		argv[1] = argv[2];
		argv[2] = "--help";
	}
	c = find_command(strcmp(argv[1], "--version") ? argv[1] : "version");
	if (!c)
		return usage_error("", "no command '%s'", argv[1]);
	hold_signals();
	return output_end(c->run(argc - 1, argv + 1));
}
