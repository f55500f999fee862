/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Every choice that an execution can make, one execution after the other: depth
 * first, by running from the start again with the last choice changed.
 */
#ifndef _MODEL_CHOICES_H
#define _MODEL_CHOICES_H

#include <cstdio>
#include <cstdlib>
#include <vector>

class Choices {
public:
	/* One of 0 to n - 1; every one of them in some execution. */
	unsigned pick(unsigned n)
	{
		if (n <= 1)
			return 0;
		if (at_ == path_.size())
			path_.push_back({ 0, n });
		if (path_[at_].n != n) {
			/* Then what was run is not a function of its choices. */
			std::fprintf(stderr, "model: an execution did not repeat itself\n");
			std::abort();
		}
		return path_[at_++].taken;
	}

	/* The same execution from its start. */
	void restart() { at_ = 0; }

	/* To the next execution; false: that was the last. */
	bool next()
	{
		path_.resize(at_);
		while (!path_.empty() && ++path_.back().taken == path_.back().n)
			path_.pop_back();
		at_ = 0;
		return !path_.empty();
	}

	void forget()
	{
		path_.clear();
		at_ = 0;
	}

private:
	struct Choice {
		unsigned taken, n;
	};
	std::vector<Choice> path_;
	std::size_t at_ = 0;
};

#endif /* _MODEL_CHOICES_H */
