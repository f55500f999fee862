// SPDX-License-Identifier: GPL-2.0-only
/* The same but for a name in the fixed part. */
#define __TARGET_ARCH_x86
#define MEMBER renamed
#include "targets_var.h"
