/* SPDX-License-Identifier: GPL-2.0-only */
/* What is at work: for version and doctor. */
#ifndef __VERSION_H__
#define __VERSION_H__

#include <stddef.h>

/* The module as it is loaded; what is not known is empty, or 0. */
struct module_version {
	char version[64];
	char srcversion[64];
	unsigned int abi;
};

/* From /sys below root, which is "" for this machine; false if no module is loaded. */
bool module_version(const char *root, struct module_version *to);

/* The first line of a file below root, without its newline; a negative errno. */
int first_line(const char *root, const char *path, char *to, size_t size);

#endif /* __VERSION_H__ */
