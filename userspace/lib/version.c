// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
#include "bpfrelay.h"

const char *bpfrelay_version(void)
{
	return BPFRELAY_VERSION;
}
