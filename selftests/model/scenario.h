/* SPDX-License-Identifier: GPL-2.0-only */
/* What is explored: a geometry, what the CPU's task does, what interrupts it. */
#ifndef _MODEL_SCENARIO_H
#define _MODEL_SCENARIO_H

#include <string>
#include <vector>

#include "ring_build.h"

struct Op {
	enum Kind { PUT, RESERVE, COMMIT, DISCARD } kind;
	u32 len;	/* of the payload */
	u32 slot;	/* of a reserved record, in its program */
	bool operator==(const Op &) const = default;
};

using Program = std::vector<Op>;

inline Op put(u32 len)			{ return { Op::PUT, len, 0 }; }
inline Op reserve(u32 slot, u32 len)	{ return { Op::RESERVE, len, slot }; }
inline Op commit(u32 slot)		{ return { Op::COMMIT, 0, slot }; }
inline Op discard(u32 slot)		{ return { Op::DISCARD, 0, slot }; }

/* What the clock returns. */
enum class Clock {
	forward,	/* one more each time */
	any,		/* more, the same, or less than ever before */
	exact,		/* one more with every access: the time it is */
};

/* What a scenario must have met, or it shows nothing. */
enum Met {
	MET_BEYOND	= 1 << 0,	/* a complete sub-buffer beyond published was read */
	MET_REFUSED	= 1 << 1,	/* a copy that is not whole was found out */
	MET_BUSY	= 1 << 2,
	MET_FULL	= 1 << 3,
	MET_NESTED	= 1 << 4,	/* dropped: nested too deep */
	MET_CONTENDED	= 1 << 5,
	MET_NO_BUFFER	= 1 << 6,
	MET_BACK	= 1 << 7,	/* the clock was behind last_ts */
	MET_LAPPED	= 1 << 8,	/* records were overwritten */
	MET_DISCARDED	= 1 << 9,
	MET_ALL		= 1 << 10,
};

struct Scenario {
	std::string name;
	u32 size = 128, n = 2;		/* sub-buffers */
	Program before {};		/* done, and seen by everybody */
	Program task {};
	std::vector<Program> interrupts {};	/* each once, at any access of anything */
	unsigned met = 0;
	Clock clock = Clock::forward;
	bool keep = false;
	bool fine = false;		/* interrupts within copies, too */
	bool publish_only = false;	/* interrupts only where published is moved */
	bool attach = false;		/* the buffer comes meanwhile, from another CPU */
	bool readers = true;
	unsigned depth_max = 8, retries = 16;
	bool quick = false;		/* part of the short run */
};

const std::vector<Scenario> &scenarios();

#endif /* _MODEL_SCENARIO_H */
