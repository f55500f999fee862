/* SPDX-License-Identifier: GPL-2.0-only */
/* What doctor looks at. */
#ifndef __DOCTOR_H__
#define __DOCTOR_H__

#include <limits.h>
#include <stdbool.h>

#include "version.h"

enum verdict {
	FINE,
	NOTE,		/* works, but */
	PROBLEM,
	N_VERDICTS,
};

struct finding {
	enum verdict verdict;
	char found[256];
	char todo[256];		/* empty: nothing */
};

/* What several checks ask for: see machine_look_at(). */
struct machine {
	const char *root;	/* "" or where /proc and /sys are below */
	char release[128];
	bool loaded;
	struct module_version module;
	char installed[PATH_MAX];	/* the module's file, without the root; or empty */
	char installed_version[64];	/* what it says of itself; empty: not known */
	char installed_srcversion[64];
};

struct check {
	const char *name;
	bool essential;
	void (*look)(const struct machine *m, struct finding *f);
};

extern const struct check checks[];	/* ends with a NULL name */

/* root is set; fills in the rest. Prints the error if there is no such root; 0 or -1. */
int machine_look_at(struct machine *m);

#endif /* __DOCTOR_H__ */
