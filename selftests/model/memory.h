/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory that CPUs share, as weak as the Linux kernel memory model (LKMM) lets
 * it be. Each word keeps the history of its stores in coherence order; each CPU
 * knows how many of every CPU's stores it has seen. A load may return any store
 * that is not older than the newest of that word that was seen.
 *
 * What a store carries (its view) is what a reader of it has seen, too, once an
 * acquire or a read barrier says so:
 *	relaxed store	all stores of its own CPU before that CPU's last write barrier
 *	release store	everything that its CPU has stored or seen
 * A write barrier is not cumulative: it passes on the CPU's own stores only.
 * (LKMM: cumul-fence has A-cumul for smp_mb and release, not for smp_wmb.)
 * An acquire takes the view of what it reads at once, a relaxed load at the next
 * read barrier. smp_mb() is both barriers, cumulative, and all of them are in one
 * order that every CPU agrees on.
 *
 * Where this is not exact, it allows more than LKMM, never less: dependencies
 * order nothing, and a release passes on foreign stores that were read by a relaxed
 * load only if all earlier ones of that CPU were seen. What cannot be seen here is
 * a load that returns a store which is made later because of that load (load
 * buffering): litmus tests must not look for it, and in the ring there is no such
 * circle, since no CPU that reads a ring stores into it.
 */
#ifndef _MODEL_MEMORY_H
#define _MODEL_MEMORY_H

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

using std::uint64_t, std::uint32_t, std::uint8_t;

constexpr unsigned CPUS = 4;

/* How many of each CPU's stores; they are numbered from 1, in program order. */
struct View {
	std::array<uint32_t, CPUS> seen {};

	void join(const View &v)
	{
		for (unsigned i = 0; i < CPUS; i++)
			seen[i] = std::max(seen[i], v.seen[i]);
	}
	bool operator==(const View &) const = default;
};

struct Store {
	uint64_t value;		/* bytes outside of mask: 0 */
	uint32_t number;	/* 0: from before everything */
	View view;
	uint8_t mask;		/* bytes of the word that it stores */
	uint8_t cpu;
};

class Memory {
public:
	void resize(unsigned words);
	/* Forget all stores but the first, which everybody has seen. */
	void reset();
	void first(unsigned word, uint64_t value) { word_[word][0].value = value; }
	/* A CPU that has seen nothing yet and stored nothing. */
	void reset_cpu(unsigned cpu);

	const std::vector<Store> &history(unsigned word) const { return word_[word]; }
	uint64_t newest(unsigned word) const { return word_[word].back().value; }
	const View &seen(unsigned cpu) const { return cpu_[cpu].seen; }
	/* What will have been seen after a read barrier. */
	View later(unsigned cpu) const;

	/* The oldest store that may be loaded; all that are newer may be, too. */
	unsigned oldest(unsigned cpu, unsigned word, uint8_t mask) const;
	void load(unsigned cpu, unsigned word, unsigned at, bool acquire);
	/* Not kept for coherence: as if read by a CPU that never reads it again. */
	void glance(unsigned cpu, const View &view) { cpu_[cpu].pending.join(view); }

	/*
	 * Where in the word's history a store may go: from here to its end. More
	 * than one place means that somebody else's store is not ordered with it.
	 */
	unsigned first_place(unsigned cpu, unsigned word) const;
	void store(unsigned cpu, unsigned word, uint8_t mask, uint64_t value, bool release,
		   unsigned place);
	void store(unsigned cpu, unsigned word, uint8_t mask, uint64_t value, bool release)
	{
		store(cpu, word, mask, value, release, word_[word].size());
	}

	void wmb(unsigned cpu) { cpu_[cpu].ordered.seen[cpu] = cpu_[cpu].stores; }
	void rmb(unsigned cpu) { cpu_[cpu].seen.join(cpu_[cpu].pending); }
	void mb(unsigned cpu);

	static View view_of(const Store &s);

private:
	struct Cpu {
		View seen;	/* no load returns anything older */
		View pending;	/* of relaxed loads, until a read barrier */
		View ordered;	/* what the next relaxed stores carry */
		uint32_t stores;
		std::vector<uint32_t> floor;	/* per word: the newest that was loaded */
	};

	std::vector<std::vector<Store>> word_;
	std::array<Cpu, CPUS> cpu_;
	View mb_;	/* what those before it in the order of smp_mb() had seen */
};

#endif /* _MODEL_MEMORY_H */
