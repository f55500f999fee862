// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a record passes on its way into the buffer, as one translation unit: so the
 * compiler makes one function of each kfunc's usual case (__flatten), and only the rare
 * ones are called (noinline).
 */
#include "kfuncs.c"
#include "records.c"
#include "ring.c"
