// SPDX-License-Identifier: GPL-2.0-only
/*
 * The command lines: one table for each command, from which come what getopt_long()
 * wants, --help, and, by way of --help, the completion.
 */
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "json.h"

#define OPTIONS_MAX	32

/* What all commands have. -j says for each of them what it prints. */
static const struct cli_option common_options[] = {
	{ "json", 'j', NULL, NULL },
	{ "pretty", 'p', NULL, "JSON, in indented lines" },
	{ "verbose", 'v', NULL, "say more: what is read, or what libbpf said of an error" },
	{ "help", 'h', NULL, "this text" },
	{}
};

static const struct cli_option *const no_options = &(const struct cli_option){};

/* ---- Help ----------------------------------------------------------------------- */

static void print_option(const struct cli_option *o, const char *text)
{
	char left[64];
	int len = 0;

	if (o->c < 256)
		len = snprintf(left, sizeof(left), "-%c, ", o->c);
	snprintf(left + len, sizeof(left) - len, "--%s%s%s", o->name, o->value ? " " : "",
		 o->value ?: "");
	printf("  %-24s %s\n", left, text);
}

static void print_help(const struct args *args)
{
	const struct command *c = find_command(args->command);
	const struct cli_option *o;

	printf("usage: bpfrelay %s %s%s[OPTION...]\n\n%s\n", c->name, c->synopsis,
	       *c->synopsis ? " " : "", args->help);
	for (o = args->options ?: no_options; o->name; o++)
		print_option(o, o->text);
	for (o = common_options; o->name; o++)
		print_option(o, o->text ?: args->json_text);
}

/* ---- Parsing -------------------------------------------------------------------- */

/* What getopt_long() takes, made from the tables. */
struct getopt_tables {
	struct option longs[OPTIONS_MAX + 1];
	char shorts[2 * OPTIONS_MAX + 2];
	int n;
};

static void add_options(struct getopt_tables *to, const struct cli_option *o)
{
	for (; o->name && to->n < OPTIONS_MAX; o++) {
		to->longs[to->n++] = (struct option){ .name = o->name, .val = o->c,
			.has_arg = o->value ? required_argument : no_argument };
		if (o->c < 256)
			sprintf(to->shorts + strlen(to->shorts), "%c%s", o->c,
				o->value ? ":" : "");
	}
}

/* Against the synopsis, in which [WORDS] may be missing. An exit code, or -1: go on. */
static int check_count(const struct args *args, int n)
{
	const char *word = find_command(args->command)->synopsis;
	size_t len;

	for (; *word; n--, word += len + strspn(word + len, " ")) {
		len = strcspn(word, " ");
		if (n <= 0 && *word != '[')
			return usage_error(args->command, "which %.*s?", (int)len, word);
	}
	return n > 0 ? usage_error(args->command, "too many arguments") : -1;
}

/* getopt_long() only has a letter of what is in a group, like the x of -xj. */
static int wrong_option(const struct args *args, const char *shorts, const char *last)
{
	if (!optopt)
		return usage_error(args->command, "unknown option %s", last);
	if (optopt == ':' || !strchr(shorts, optopt))
		return usage_error(args->command, "unknown option -%c", optopt);
	return usage_error(args->command, "%.*s takes no value", (int)strcspn(last, "="), last);
}

int parse_args(int argc, char **argv, struct args *args)
{
	struct getopt_tables tables = { .shorts = ":" };
	int c, status;

	add_options(&tables, args->options ?: no_options);
	add_options(&tables, common_options);
	while ((c = getopt_long(argc, argv, tables.shorts, tables.longs, NULL)) != -1) {
		switch (c) {
		case 'h':
			print_help(args);
			return CLI_OK;
		case 'v':
			verbose = true;
			break;
		case 'p':
			json_pretty = true;
			/* fallthrough */
		case 'j':
			args->json = true;
			break;
		case ':':
			return usage_error(args->command, "%s needs a value", argv[optind - 1]);
		case '?':
			return wrong_option(args, tables.shorts, argv[optind - 1]);
		default:
			status = args->take(c, optarg, args->ctx);
			if (status)
				return status;
		}
	}
	return check_count(args, argc - optind);
}
