/* SPDX-License-Identifier: GPL-2.0-only */
/* Shared by refused.bpf.c and refused.c. */
#ifndef _REFUSED_H
#define _REFUSED_H

/* What the functions said to maps that are no relay maps; the last one is one. */
#define REFUSED_MAPS	9

struct refused_said {
	int open;
	int add_type;
	int output;
	int reserved;	/* 1: got a record */
};

#endif /* _REFUSED_H */
