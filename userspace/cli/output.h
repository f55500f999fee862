/* SPDX-License-Identifier: GPL-2.0-only */
/* output.c: standard output, or the file that takes its place. */
#ifndef __OUTPUT_H__
#define __OUTPUT_H__

#include <stdbool.h>

/* Before anything is printed. */
void output_begin(void);

bool output_is_terminal(void);

/*
 * What is printed goes to a file. One that does not exist, or is a regular one, is made
 * or replaced by output_keep(), and by nothing else. Prints the error; 0 or -1.
 */
int output_to(const char *name);
int output_keep(void);

/* Writes what is left; a file that was not kept goes. Returns status, or CLI_ERROR. */
int output_end(int status);

#endif /* __OUTPUT_H__ */
