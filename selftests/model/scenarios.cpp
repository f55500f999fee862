// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sizes. A record of L bytes takes 16 + L, rounded up to 8. Behind its header a
 * sub-buffer of 128 bytes has room for 40: put(24) fills it exactly, put(8) leaves
 * padding, two of put(0) leave 8 bytes, put(0) and put(8) fill it exactly. One of
 * 256 bytes has room for 168: three of put(40) fill it exactly, four of put(24)
 * leave 8 bytes.
 */
#include "scenario.h"

const std::vector<Scenario> &scenarios()
{
	static const std::vector<Scenario> all = {
		/* From the very first record on, and through switches. */
		{ .name = "first", .task = { put(8) },
		  .interrupts = { { put(8) }, { put(0) } }, .quick = true },
		{ .name = "first-full", .task = { put(24) },
		  .interrupts = { { put(24) }, { put(24) } },
		  .met = MET_REFUSED | MET_LAPPED, .quick = true },
		{ .name = "first-four", .task = { put(8) },
		  .interrupts = { { put(8) }, { put(24) }, { put(0) } }, .met = MET_REFUSED },

		/* Several records to a sub-buffer; none switches, one does, all do. */
		{ .name = "room", .size = 256, .before = { put(24) }, .task = { put(24) },
		  .interrupts = { { put(24) }, { put(8) } }, .quick = true },
		{ .name = "room-four", .size = 256, .before = { put(24) }, .task = { put(24) },
		  .interrupts = { { put(24) }, { put(8) }, { put(0) } } },
		{ .name = "padding", .size = 256, .before = { put(40), put(24) },
		  .task = { put(40) }, .interrupts = { { put(40) }, { put(24) } }, .quick = true },
		{ .name = "padding-four", .size = 256, .before = { put(40), put(24) },
		  .task = { put(40) }, .interrupts = { { put(40) }, { put(24) }, { put(0) } } },
		{ .name = "exact", .size = 256, .before = { put(40), put(40) },
		  .task = { put(40), put(40) }, .interrupts = { { put(40) }, { put(24) } },
		  .quick = true },
		{ .name = "odd", .size = 256, .before = { put(40), put(13) },
		  .task = { put(13) }, .interrupts = { { put(29) }, { put(5) } }, .quick = true },

		/* Interrupts that go all the way round while somebody is in the middle. */
		{ .name = "lap", .before = { put(24), put(24), put(24) }, .task = { put(24) },
		  .interrupts = { { put(24), put(24), put(24) }, { put(24) } },
		  .met = MET_REFUSED | MET_LAPPED, .quick = true },
		{ .name = "lap-padding", .before = { put(24), put(0) }, .task = { put(8), put(8) },
		  .interrupts = { { put(8), put(8), put(8) }, { put(0) } },
		  .met = MET_REFUSED | MET_LAPPED },
		{ .name = "lap-quick", .before = { put(24), put(0) }, .task = { put(8) },
		  .interrupts = { { put(8), put(24), put(0) } },
		  .met = MET_REFUSED | MET_LAPPED, .quick = true },
		{ .name = "laps", .before = { put(24) }, .task = { put(8) },
		  .interrupts = { { put(24), put(8), put(24), put(24), put(8), put(24) } },
		  .met = MET_REFUSED | MET_LAPPED, .quick = true },
		{ .name = "four-writers", .before = { put(24), put(24) }, .task = { put(24) },
		  .interrupts = { { put(8) }, { put(24) }, { put(0) } },
		  .met = MET_REFUSED | MET_LAPPED },

		/* A writer stopped between reserve and commit while others go round. */
		{ .name = "held", .before = { put(24) },
		  .task = { reserve(0, 8), put(8), put(24), put(8), commit(0), put(24) },
		  .interrupts = { { put(24), put(24) } },
		  .met = MET_BUSY | MET_REFUSED | MET_LAPPED, .quick = true },
		{ .name = "held-commit", .before = { put(24) },
		  .task = { reserve(0, 8), put(8), put(24), put(8), commit(0), put(24) },
		  .interrupts = { { put(24), put(24) }, { put(8), put(24) } },
		  .met = MET_BUSY | MET_REFUSED | MET_LAPPED },
		{ .name = "held-discard", .before = { put(24) },
		  .task = { reserve(0, 8), put(8), put(24), put(8), discard(0), put(24) },
		  .interrupts = { { put(24), put(24) }, { put(0), put(24) } },
		  .met = MET_BUSY | MET_REFUSED | MET_LAPPED | MET_DISCARDED },
		{ .name = "held-two", .before = { put(24), put(24) },
		  .task = { reserve(0, 0), reserve(1, 8), commit(1), put(8), commit(0) },
		  .interrupts = { { put(24), put(8) }, { put(0) } },
		  .met = MET_BUSY | MET_REFUSED | MET_LAPPED },
		{ .name = "held-nested", .before = { put(24) }, .task = { put(8), put(24) },
		  .interrupts = { { reserve(0, 8), reserve(1, 0), discard(1), commit(0) },
				  { put(24) } },
		  .met = MET_REFUSED | MET_LAPPED | MET_DISCARDED },

		/* Complete sub-buffers beyond one with an open record. */
		{ .name = "beyond", .n = 4, .before = { put(24) },
		  .task = { reserve(0, 8), put(24), put(24), commit(0), put(24) },
		  .interrupts = { { put(24), put(8) } },
		  .met = MET_BEYOND, .quick = true },
		{ .name = "beyond-two", .n = 4, .before = { put(24) },
		  .task = { reserve(0, 8), put(24), reserve(1, 8), put(24), commit(0), commit(1) },
		  .interrupts = { { put(24), put(8) }, { put(24) } },
		  .met = MET_BEYOND },
		{ .name = "beyond-lap", .n = 4, .before = { put(24), put(24) },
		  .task = { reserve(0, 24), put(24), put(24), put(24), discard(0), put(24),
			    put(24) },
		  .interrupts = { { put(24), put(24) } },
		  .met = MET_BEYOND | MET_BUSY | MET_REFUSED | MET_LAPPED | MET_DISCARDED,
		  .quick = true },

		/* Many who all lose in moving published. */
		{ .name = "publish", .before = { put(24) }, .task = { put(24), put(24) },
		  .interrupts = { { put(24) }, { put(24) }, { put(24) }, { put(24) }, { put(24) } },
		  .met = MET_LAPPED, .publish_only = true, .readers = false, .quick = true },
		{ .name = "publish-held", .before = { put(24) },
		  .task = { reserve(0, 0), put(8), put(24), commit(0), put(24) },
		  .interrupts = { { put(24) }, { put(24) }, { put(24) }, { put(24) },
				  { reserve(0, 24), put(24), commit(0), put(24) } },
		  .met = MET_LAPPED | MET_BUSY, .publish_only = true, .readers = false,
		  .quick = true },

		/* Discards. */
		{ .name = "discard", .size = 256, .before = { put(40), put(24) },
		  .task = { reserve(0, 24), discard(0) },
		  .interrupts = { { put(24), put(24) }, { reserve(0, 8), discard(0) } },
		  .met = MET_DISCARDED, .quick = true },

		/* Limits. */
		{ .name = "retries-one", .before = { put(24) }, .task = { put(0) },
		  .interrupts = { { put(0) }, { put(24) } },
		  .met = MET_CONTENDED, .retries = 1, .quick = true },
		{ .name = "retries-here", .before = { put(0) }, .task = { put(0) },
		  .interrupts = { { put(0) }, { put(24) } },
		  .met = MET_CONTENDED, .retries = 1, .quick = true },
		{ .name = "retries", .before = { put(24) }, .task = { put(0) },
		  .interrupts = { { put(0) }, { put(0) }, { put(8) } },
		  .met = MET_CONTENDED, .retries = 2 },
		{ .name = "retries-switch", .before = { put(24) }, .task = { put(24) },
		  .interrupts = { { put(24) }, { put(24) }, { put(24) } },
		  .met = MET_CONTENDED | MET_LAPPED, .retries = 2 },
		{ .name = "depth", .before = { put(24) }, .task = { put(0) },
		  .interrupts = { { put(0) }, { put(8) } },
		  .met = MET_NESTED, .depth_max = 2, .quick = true },
		{ .name = "depth-reserve", .before = { put(24) },
		  .task = { reserve(0, 0), commit(0) },
		  .interrupts = { { reserve(0, 0), commit(0) }, { put(8) }, { put(0) } },
		  .met = MET_NESTED, .depth_max = 2 },

		/* No-overwrite. */
		{ .name = "keep", .before = { put(24) }, .task = { put(8), put(0) },
		  .interrupts = { { put(0), put(0) }, { put(8) } },
		  .met = MET_FULL, .keep = true, .quick = true },
		{ .name = "keep-held", .task = { reserve(0, 24), put(24), commit(0), put(0) },
		  .interrupts = { { put(24), put(0) } },
		  .met = MET_FULL, .keep = true, .quick = true },

		/* The buffer comes while writers are at it. */
		{ .name = "attach", .task = { put(8), put(8) }, .interrupts = { { put(0) } },
		  .met = MET_NO_BUFFER, .attach = true, .quick = true },
		{ .name = "attach-lap", .task = { put(24), put(24), put(24) },
		  .interrupts = { { put(24) }, { put(8) } },
		  .met = MET_NO_BUFFER | MET_REFUSED | MET_LAPPED, .attach = true },

		/* Time. */
		{ .name = "clock-back", .before = { put(24) }, .task = { put(8) },
		  .interrupts = { { put(8), put(0) } },
		  .met = MET_BACK, .clock = Clock::any, .readers = false, .quick = true },
		{ .name = "clock-back-two", .before = { put(24) }, .task = { put(8), put(0) },
		  .interrupts = { { put(8) }, { put(0) } },
		  .met = MET_BACK, .clock = Clock::any, .readers = false },
		{ .name = "clock-back-read", .before = { put(24) }, .task = { put(24) },
		  .interrupts = { { put(24), put(8) } },
		  .met = MET_BACK | MET_REFUSED, .clock = Clock::any, .quick = true },
		{ .name = "clock-exact", .before = { put(24) }, .task = { put(8) },
		  .interrupts = { { put(8) }, { put(0), put(24) } },
		  .clock = Clock::exact, .readers = false, .quick = true },

		/* Within copies, too. */
		{ .name = "fine", .before = { put(24), put(24) }, .task = { put(24) },
		  .interrupts = { { put(24) }, { put(24) } },
		  .met = MET_REFUSED | MET_LAPPED, .fine = true, .quick = true },
	};
	return all;
}
