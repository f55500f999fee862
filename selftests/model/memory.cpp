// SPDX-License-Identifier: GPL-2.0-only
#include "memory.h"

void Memory::resize(unsigned words)
{
	word_.assign(words, {});
	for (auto &history : word_)
		history.push_back({ .value = 0, .number = 0, .view = {}, .mask = 0xff, .cpu = 0 });
	for (auto &cpu : cpu_)
		cpu.floor.assign(words, 0);
	reset();
}

void Memory::reset()
{
	for (auto &history : word_)
		history.resize(1);
	for (unsigned cpu = 0; cpu < CPUS; cpu++)
		reset_cpu(cpu);
	mb_ = {};
}

void Memory::reset_cpu(unsigned cpu)
{
	Cpu &c = cpu_[cpu];

	c.seen = c.pending = c.ordered = {};
	c.stores = 0;
	std::fill(c.floor.begin(), c.floor.end(), 0);
}

View Memory::later(unsigned cpu) const
{
	View v = cpu_[cpu].seen;

	v.join(cpu_[cpu].pending);
	return v;
}

unsigned Memory::oldest(unsigned cpu, unsigned word, uint8_t mask) const
{
	const auto &history = word_[word];
	const Cpu &c = cpu_[cpu];
	unsigned at = history.size() - 1;

	while (at > c.floor[word] && ((history[at].mask & mask) != mask ||
				      history[at].number > c.seen.seen[history[at].cpu]))
		at--;
	return at;
}

/*
 * What is seen by who has read s. That includes s itself, which can be said in a
 * view if everything before it on its CPU is seen as well.
 */
View Memory::view_of(const Store &s)
{
	View v = s.view;

	if (v.seen[s.cpu] + 1 == s.number)
		v.seen[s.cpu] = s.number;
	return v;
}

void Memory::load(unsigned cpu, unsigned word, unsigned at, bool acquire)
{
	Cpu &c = cpu_[cpu];
	const View v = view_of(word_[word][at]);

	c.floor[word] = at;
	c.pending.join(v);
	if (acquire)
		c.seen.join(v);
}

unsigned Memory::first_place(unsigned cpu, unsigned word) const
{
	return oldest(cpu, word, 0) + 1;
}

void Memory::store(unsigned cpu, unsigned word, uint8_t mask, uint64_t value, bool release,
		   unsigned place)
{
	Cpu &c = cpu_[cpu];
	auto &history = word_[word];
	Store s { .value = value, .number = ++c.stores, .view = c.ordered, .mask = mask,
		  .cpu = static_cast<uint8_t>(cpu) };

	if (release) {
		s.view.join(c.seen);
		s.view.join(c.pending);
		s.view.seen[cpu] = c.stores;
	}
	c.seen.seen[cpu] = c.stores;
	/* A store that goes between others moves those behind it. */
	if (place < history.size())
		for (auto &other : cpu_)
			if (other.floor[word] >= place)
				other.floor[word]++;
	history.insert(history.begin() + place, s);
	c.floor[word] = place;
}

void Memory::mb(unsigned cpu)
{
	Cpu &c = cpu_[cpu];

	c.seen.join(c.pending);
	c.seen.join(mb_);
	mb_ = c.seen;
	c.ordered = c.seen;
}
