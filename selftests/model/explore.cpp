// SPDX-License-Identifier: GPL-2.0-only
/*
 * All executions of the writer CPU; for each whose stores and barriers were not
 * seen before, all executions of a reader. (Interrupts on either side of a load
 * that returns the same lead to the same stores. They are recognized by 128 bits
 * of a hash; ten million histories collide with a chance of 10^-25.)
 */
#include <chrono>
#include <cstring>
#include <sys/resource.h>
#include <unordered_set>

#include "explore.h"
#include "world.h"

namespace {

struct Hash {
	u64 a, b;
	bool operator==(const Hash &) const = default;
};

struct HashOf {
	std::size_t operator()(const Hash &h) const { return h.a; }
};

struct Statistics {
	u64 schedules, histories, reads, delivered;
	u32 met;
};

Statistics stat;
bool reading;

std::string program_text(const Program &p)
{
	static const char *const name[] = { "put", "reserve", "commit", "discard" };
	std::string text;

	for (const Op &op : p) {
		text += text.empty() ? "" : " ";
		text += name[op.kind];
		if (op.kind != Op::PUT)
			text += std::string(1, 'A' + op.slot);
		if (op.kind == Op::PUT || op.kind == Op::RESERVE)
			text += ":" + std::to_string(op.len);
	}
	return text.empty() ? "nothing" : text;
}

void print_bound(const Scenario &s)
{
	std::printf("# %s: %u sub-buffers of %u bytes%s%s; before: %s; task: %s", s.name.c_str(),
		    s.n, s.size, s.keep ? ", no-overwrite" : "",
		    s.attach ? ", buffer attached meanwhile" : "",
		    program_text(s.before).c_str(), program_text(s.task).c_str());
	for (const Program &p : s.interrupts)
		std::printf("; interrupt: %s", program_text(p).c_str());
	if (s.retries != 16)
		std::printf("; %u tries", s.retries);
	if (s.depth_max != 8)
		std::printf("; depth %u", s.depth_max);
	std::printf("; %s clock%s%s\n", s.clock == Clock::any ? "any" :
		    s.clock == Clock::exact ? "exact" : "forward",
		    s.fine ? "; interrupts in copies" :
		    s.publish_only ? "; interrupts only where published moves" : "",
		    s.readers ? "" : "; no reader");
}

void run_all(const Scenario &s)
{
	std::unordered_set<Hash, HashOf> known;

	world_open(s);
	do {
		reading = false;
		world_run();
		stat.schedules++;
		if (s.readers && known.insert({ world.hash[0], world.hash[1] }).second) {
			stat.histories++;
			reading = true;
			do {
				stat.delivered += world_read();
				stat.reads++;
			} while (world.reader.next());
			world.reader.forget();
		}
		stat.met |= world.s.met;
	} while (world.writer.next());
}

/* The execution that failed once more, every access of it printed. */
void show()
{
	const std::string failure = world.failure;

	std::printf("# %s\n", failure.c_str());
	world.tracing = true;
	if (!setjmp(world.failed)) {
		world_run();
		if (reading) {
			world.reader.restart();
			world_read();
		}
	}
	std::printf("#   %s\n", failure.c_str());
}

} /* namespace */

bool explore(const Scenario &s)
{
	static const char *const met[] = {
		"a complete sub-buffer beyond published", "a torn copy found out", "busy", "full",
		"nested too deep", "contended", "no buffer", "a clock that steps back",
		"overwritten records", "a discarded record",
	};
	const auto start = std::chrono::steady_clock::now();
	struct rusage usage;

	print_bound(s);
	if (setjmp(world.failed)) {
		show();
		return false;
	}
	run_all(s);
	getrusage(RUSAGE_SELF, &usage);
	const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;

	std::printf("# %s: %llu schedules, %llu histories, %llu executions of a reader "
		    "(%llu delivered), %llu accesses; longest call %u of %u; %.1f s, %ld MiB\n",
		    s.name.c_str(), static_cast<ull>(stat.schedules),
		    static_cast<ull>(stat.histories),
		    static_cast<ull>(stat.reads), static_cast<ull>(stat.delivered),
		    static_cast<ull>(world.accesses), world.longest, world.bound, time.count(),
		    usage.ru_maxrss / 1024);
	bool right = true;

	for (unsigned i = 0; 1u << i < MET_ALL; i++)
		if (s.met & ~stat.met & 1u << i) {
			std::printf("# %s: never met %s\n", s.name.c_str(), met[i]);
			right = false;
		}
	if (s.readers && !stat.delivered) {
		std::printf("# %s: no reader delivered anything\n", s.name.c_str());
		right = false;
	}
	return right;
}
