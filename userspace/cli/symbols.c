// SPDX-License-Identifier: GPL-2.0-only
/* Functions by their addresses: of this kernel, and of the processes that it runs. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "names.h"

struct symbol {
	__u64 address;
	size_t name;		/* in `names` */
};

struct kallsyms {
	struct symbol *symbol;	/* by address; of one address, only the first */
	size_t n;
	char *names;
	size_t names_len;
};

/* ---- The kernel's ------------------------------------------------------------------ */

static int compare_symbols(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return x->name < y->name ? -1 : x->name > y->name;
}

/* Doubles what `n` elements fill. */
static bool grow(void *array, size_t n, size_t size)
{
	void **p = array, *more;

	if (n & (n - 1))
		return true;
	more = realloc(*p, (n ? 2 * n : 1) * size);
	if (more)
		*p = more;
	return more;
}

static bool add_name(struct kallsyms *k, const char *name)
{
	do {
		if (!grow(&k->names, k->names_len, 1))
			return false;
		k->names[k->names_len++] = *name;
	} while (*name++);
	return true;
}

/* "ffffffff81000000 T name", "... t name\t[module]". */
static bool add_line(struct kallsyms *k, char *line)
{
	char *address = strtok(line, " \t\n"), *type = strtok(NULL, " \t\n");
	char *name = strtok(NULL, " \t\n"), *module = strtok(NULL, " \t\n");
	char text[NAMES_MAX];

	if (!address || !type || !name)
		return true;
	if (!grow(&k->symbol, k->n, sizeof(*k->symbol)))
		return false;
	k->symbol[k->n++] = (struct symbol) { strtoull(address, NULL, 16), k->names_len };
	snprintf(text, sizeof(text), "%s%s%s", name, module ? " " : "", module ?: "");
	return add_name(k, text);
}

/* The kernel takes the first one of an address; those of hidden addresses are all 0. */
static void sort_symbols(struct kallsyms *k)
{
	size_t i, n = 0;

	qsort(k->symbol, k->n, sizeof(*k->symbol), compare_symbols);
	for (i = 0; i < k->n; i++)
		if (!n || k->symbol[n - 1].address != k->symbol[i].address)
			k->symbol[n++] = k->symbol[i];
	k->n = n;
}

struct kallsyms *kallsyms_load(void)
{
	struct kallsyms *k = calloc(1, sizeof(*k));
	FILE *f = fopen("/proc/kallsyms", "re");
	bool good = k && f;
	char *line = NULL;
	size_t size = 0;

	while (good && getline(&line, &size, f) > 0)
		good = add_line(k, line);
	free(line);
	if (f)
		fclose(f);
	if (good && k->n)
		sort_symbols(k);
	if (good && k->n < 2)
		errno = EPERM;
	if (good && k->n >= 2)
		return k;
	kallsyms_free(k);
	return NULL;
}

void kallsyms_free(struct kallsyms *k)
{
	if (!k)
		return;
	free(k->symbol);
	free(k->names);
	free(k);
}

bool kallsyms_find(const struct kallsyms *k, __u64 address, char name[NAMES_MAX])
{
	size_t low = 0, high = k->n, middle, len;
	const struct symbol *found;
	const char *text;

	while (low < high) {
		middle = (low + high) / 2;
		if (k->symbol[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	/* Behind the last one there may be anything. */
	if (!low || low == k->n || !k->symbol[low - 1].address)
		return false;
	found = &k->symbol[low - 1];
	text = k->names + found->name;
	len = strcspn(text, " ");
	snprintf(name, NAMES_MAX, "%.*s+0x%llx/0x%llx%s", (int)len, text,
		 address - found->address, found[1].address - found->address, text + len);
	return true;
}

/* ---- Processes ---------------------------------------------------------------------- */

bool process_start(__u64 tgid, __u64 *start)
{
	char path[64], line[1024] = "", *behind;
	unsigned long long ticks;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%llu/stat", tgid);
	f = fopen(path, "re");
	if (!f)
		return false;
	if (!fgets(line, sizeof(line), f))
		line[0] = '\0';
	fclose(f);
	/* Field 22; the second one is its name, in which there may be anything. */
	behind = strrchr(line, ')');
	if (!behind || sscanf(behind + 1, "%*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
			      "%*s %*s %*s %*s %*s %llu", &ticks) != 1)
		return false;
	*start = ticks * (1000000000ULL / sysconf(_SC_CLK_TCK));
	return true;
}

bool process_find(__u64 tgid, __u64 began, __u64 address, char name[NAMES_MAX])
{
	unsigned long long start, end, offset;
	char path[64], file[512], *line = NULL;
	const char *base;
	bool found = false;
	size_t size = 0;
	__u64 now = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%llu/maps", tgid);
	f = fopen(path, "re");
	if (!f)
		return false;
	/* Once it is open it stays that of one process. */
	if (!process_start(tgid, &now) || now != began) {
		fclose(f);
		return false;
	}
	while (!found && getline(&line, &size, f) > 0) {
		file[0] = '\0';
		if (sscanf(line, "%llx-%llx %*s %llx %*s %*s %511[^\n]", &start, &end, &offset,
			   file) < 3 || address < start || address >= end)
			continue;
		found = file[0];
		base = strrchr(file, '/');
		snprintf(name, NAMES_MAX, "%s+0x%llx", base ? base + 1 : file,
			 address - start + offset);
	}
	free(line);
	fclose(f);
	return found;
}
