/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What numbers in records are called: functions, interfaces. That can be asked for as long
 * as the kernel that wrote them runs, and the process lives; a snapshot keeps it in a file.
 */
#ifndef __NAMES_H__
#define __NAMES_H__

#include "bpfrelay.h"

/* With its NUL; longer names are cut. */
#define NAMES_MAX	768

/* A hidden file: trace readers take each other one in the directory for a stream. */
#define NAMES_FILE	".names"

struct names;

/* Of the records of this log. Prints the error; 0 or -1. NULL to close is fine. */
int names_open(const struct bpfrelay_log_info *info, struct names **names);
void names_close(struct names *names);

/*
 * Each fills in the name or, if it is not known, a number; false then. A function alone,
 * or as the file `text` has it, with what the address is behind its beginning. Of
 * processes, `ts` is when it was that: the process may be another one by now.
 */
bool names_kernel(struct names *names, __u64 address, char name[NAMES_MAX]);
bool names_symbol(struct names *names, __u64 address, char name[NAMES_MAX]);
bool names_user(struct names *names, __u64 ts, __u64 tgid, __u64 address, char name[NAMES_MAX]);
bool names_interface(struct names *names, __u64 ifindex, char name[NAMES_MAX]);

/* Says so on standard error if kernel addresses could not be named, and why. */
void names_explain(const struct names *names, const char *what);

/* Only if it is something that should not be, and not what is hidden. */
void names_complain(const struct names *names, const char *what);

/* Keeps those that the records of a fresh snapshot of the log need. Prints the error; 0 or -1. */
int names_save(const struct bpfrelay_log *log, const char *dir);

/* ---- symbols.c: what this kernel and its processes say ---- */

struct kallsyms;

/* NULL: none are to be had, and errno says why; EPERM: their addresses are hidden. */
struct kallsyms *kallsyms_load(void);
void kallsyms_free(struct kallsyms *symbols);
/* As the kernel's own %pS: "name+0x1/0x2", in a module "name+0x1/0x2 [module]". */
bool kallsyms_find(const struct kallsyms *symbols, __u64 address, char name[NAMES_MAX]);

/* When a process began, ns of CLOCK_BOOTTIME, at most a tick too early; false: there is none. */
bool process_start(__u64 tgid, __u64 *start);
/* "file+0x1234", by /proc/PID/maps of the one that began then. */
bool process_find(__u64 tgid, __u64 began, __u64 address, char name[NAMES_MAX]);

#endif /* __NAMES_H__ */
