/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _MODEL_EXPLORE_H
#define _MODEL_EXPLORE_H

#include "scenario.h"

/*
 * Every execution of the scenario; prints what it was as comments of KTAP, and of
 * a failure every access that led there. Whether all was right.
 */
bool explore(const Scenario &scenario);

#endif /* _MODEL_EXPLORE_H */
