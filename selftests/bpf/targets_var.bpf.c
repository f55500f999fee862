// SPDX-License-Identifier: GPL-2.0-only
#define __TARGET_ARCH_x86
#define MEMBER number
#include "targets_var.h"
