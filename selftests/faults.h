/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Allocations that fail when told to, by the kernel's fault injection: the n-th of a task
 * when n is written to its fail-nth; of allocations only those count that have an address of
 * the range set by count_within() among their callers.
 */
#ifndef _FAULTS_H
#define _FAULTS_H

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>

#include "anylog.h"

#define FAULTS		"/sys/kernel/debug/fail"
#define WORKERS_MAX	256

/* ---- Which allocations -------------------------------------------------------- */

static inline void fault_set(const char *file, const char *value)
{
	static const char * const kinds[] = { "slab", "_page_alloc" };
	char path[128];
	FILE *f;
	int i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		snprintf(path, sizeof(path), FAULTS "%s/%s", kinds[i], file);
		f = fopen(path, "w");
		if (!f || fputs(value, f) < 0 || fclose(f))
			any_die("%s: %s", path, strerror(errno));
	}
}

/* Allocations count that were called from there. 0, ULONG_MAX: all. */
static inline void count_within(unsigned long start, unsigned long end)
{
	char text[32];

	snprintf(text, sizeof(text), "%#lx", start);
	fault_set("require-start", text);
	snprintf(text, sizeof(text), "%#lx", end);
	fault_set("require-end", text);
}

static inline void count_in_module(void)
{
	unsigned long start = 0, size = 0;
	FILE *f = fopen("/proc/modules", "r");
	char line[512];

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "bpf_relay %lu %*s %*s %*s %lx", &size, &start) == 2)
			break;
	if (!f || !start)
		any_die("no address of bpf_relay in /proc/modules");
	fclose(f);
	count_within(start, start + size);
}

static inline void count_in_function(const char *name)
{
	unsigned long addr, start = 0, end = ULONG_MAX;
	FILE *f = fopen("/proc/kallsyms", "r");
	char line[512], symbol[256];

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "%lx %*c %255s", &addr, symbol) == 2 && !strcmp(symbol, name))
			start = addr;
	if (!f || !start)
		any_die("no address of %s in /proc/kallsyms", name);
	rewind(f);
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "%lx", &addr) == 1 && addr > start && addr < end)
			end = addr;
	fclose(f);
	count_within(start, end);
}

/* ---- Which of them fails ------------------------------------------------------- */

/* The tasks of which one may allocate. */
struct tasks {
	int fd[WORKERS_MAX];	/* their fail-nth */
	int n;
};

static inline void tasks_add(struct tasks *t, const char *pid)
{
	char path[300];
	int fd;

	snprintf(path, sizeof(path), "/proc/%s/fail-nth", pid);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd >= 0 && t->n < WORKERS_MAX)
		t->fd[t->n++] = fd;
}

static inline void tasks_self(struct tasks *t)
{
	t->n = 0;
	tasks_add(t, "thread-self");
}

/* Whichever may run the work of an unbound queue. */
static inline void tasks_workers(struct tasks *t)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	char path[300], comm[32];

	t->n = 0;
	while ((entry = readdir(proc))) {
		FILE *f;

		snprintf(path, sizeof(path), "/proc/%s/comm", entry->d_name);
		f = fopen(path, "r");
		if (!f)
			continue;
		if (fgets(comm, sizeof(comm), f) && !strncmp(comm, "kworker/u", 9))
			tasks_add(t, entry->d_name);
		fclose(f);
	}
	closedir(proc);
}

/* Nothing here may allocate in the kernel: it might be what fails. */
static inline void tasks_arm(const struct tasks *t, int nth)
{
	char text[16];
	int i, len = snprintf(text, sizeof(text), "%d", nth);

	for (i = 0; i < t->n; i++)
		pwrite(t->fd[i], text, len, 0);
}

/* Whether the allocation came that was to fail. */
static inline bool tasks_disarm(struct tasks *t)
{
	bool failed = false;
	char c;
	int i;

	for (i = 0; i < t->n; i++) {
		failed |= pread(t->fd[i], &c, 1, 0) == 1 && c == '0';
		pwrite(t->fd[i], "0", 1, 0);
	}
	for (i = 0; i < t->n; i++)
		close(t->fd[i]);
	return failed;
}
/* From here on every allocation of this task fails that counts. */
static inline void no_memory(bool none)
{
	if (shell("echo %d >/proc/%d/make-it-fail", none, gettid()))
		any_die("this task's allocations cannot fail");
	fault_set("task-filter", "Y");
	fault_set("times", "-1");
	fault_set("probability", none ? "100" : "0");
}

#endif /* _FAULTS_H */
