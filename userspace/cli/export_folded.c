// SPDX-License-Identifier: GPL-2.0-only
/*
 * export --format folded: stacks, outermost function first, one line for each that there
 * is with how often it was there; for flame graphs, speedscope, Perfetto. First the name of
 * the thread (`comm`), then the user stack (`user` or `ustack`), then RELAY_STACK.
 */
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "export.h"
#include "names.h"

/* Frames that are shown of one stack. */
#define FRAMES_MAX	1024

struct stack {
	unsigned long long count;
	char text[];
};

struct state {
	void *stacks;		/* tsearch()'s */
};

static int compare_stacks(const void *a, const void *b)
{
	const struct stack *x = a, *y = b;

	return strcmp(x->text, y->text);
}

/* ';' stands between frames, and a line is a stack. */
static void put_frame(FILE *to, const char *name)
{
	if (ftell(to))
		putc(';', to);
	for (; *name; name++)
		putc(*name == ';' ? ':' : (unsigned char)*name < ' ' ? '?' : *name, to);
}

/* The outermost is the last. */
static void put_stack(struct export *e, FILE *to, const struct bpfrelay_record *record,
		      const struct bpfrelay_value *stack, bool kernel)
{
	__u64 tgid = 0, pid, address;
	char name[NAMES_MAX];
	__u32 n = 0;

	record_thread(record, &tgid, &pid);
	while (n < FRAMES_MAX && stack_frame(stack, n, &address))
		n++;
	while (n--) {
		stack_frame(stack, n, &address);
		if (kernel)
			names_kernel(e->names, address, name);
		else
			names_user(e->names, record->ts, tgid, address, name);
		put_frame(to, name);
	}
}

static void put_line(struct export *e, FILE *to, const struct bpfrelay_record *record,
		     const struct bpfrelay_value *kernel)
{
	struct bpfrelay_value value;
	char comm[64];

	if (!bpfrelay_record_find(record, "comm", &value) &&
	    bpfrelay_value_string(&value, comm, sizeof(comm)) > 0)
		put_frame(to, comm);
	if (record_user_stack(record, &value))
		put_stack(e, to, record, &value, false);
	put_stack(e, to, record, kernel, true);
}

static int count_stack(struct state *s, const char *text)
{
	struct stack *new = malloc(sizeof(*new) + strlen(text) + 1), **found;

	if (!new)
		return error("out of memory");
	new->count = 0;
	strcpy(new->text, text);
	found = tsearch(new, &s->stacks, compare_stacks);
	if (!found || *found != new)
		free(new);
	if (!found)
		return error("out of memory");
	(*found)->count++;
	return 0;
}

static int put_record(struct export *e, const struct bpfrelay_record *record)
{
	char path[FIELD_PATH_MAX], *text = NULL;
	struct bpfrelay_value kernel;
	size_t size;
	FILE *to;
	int err;

	if (!find_hinted(record->type, BPF_RELAY_HINT_STACK, path) ||
	    bpfrelay_record_find(record, path, &kernel)) {
		e->skipped++;
		return 0;
	}
	to = open_memstream(&text, &size);
	if (!to)
		return error("out of memory");
	put_line(e, to, record, &kernel);
	if (fclose(to))
		err = error("out of memory");
	else
		err = size ? count_stack(e->state, text) : 0;
	free(text);
	return err;
}

static int begin(struct export *e)
{
	if (!log_has_hint(e->log, BPF_RELAY_HINT_STACK))
		return error("%s: no type of it has a member that is a stack (RELAY_STACK)", e->what);
	e->state = calloc(1, sizeof(struct state));
	return e->state ? 0 : error("out of memory");
}

static void print_stack(const void *node, VISIT visit, int depth)
{
	const struct stack *s = *(const struct stack *const *)node;

	(void)depth;
	if (visit == postorder || visit == leaf)
		printf("%s %llu\n", s->text, s->count);
}

static int end(struct export *e, bool ok)
{
	struct state *s = e->state;
	struct stack *stack;

	if (ok) {
		twalk(s->stacks, print_stack);
		names_explain(e->names, e->what);
	}
	while (s->stacks) {
		stack = *(struct stack **)s->stacks;
		tdelete(stack, &s->stacks, compare_stacks);
		free(stack);
	}
	free(s);
	return 0;
}

const struct export_format export_folded = {
	.name = "folded",
	.text = "stacks with their counts, of types with RELAY_STACK, for flame graphs",
	.begin = begin,
	.record = put_record,
	.end = end,
};
