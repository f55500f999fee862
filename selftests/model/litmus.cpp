// SPDX-License-Identifier: GPL-2.0-only
#include <fstream>
#include <map>
#include <regex>
#include <sstream>

#include "choices.h"
#include "litmus.h"
#include "memory.h"

namespace {

struct Statement {
	enum Kind { LOAD, ACQUIRE, STORE, RELEASE, WMB, RMB, MB } kind;
	unsigned word;
	uint64_t value;		/* that is stored */
	std::string reg;	/* that is loaded into */
};

/* A register of a thread, or the last value of a word. */
struct Condition {
	bool in_memory;
	unsigned thread, word;
	std::string reg;
	uint64_t value;
};

struct Test {
	std::vector<std::vector<Statement>> thread;
	std::vector<Condition> exists;
	std::map<std::string, unsigned> words;
	std::vector<std::string> lines;
	bool expected = false;
};

struct Unknown {
	std::string what;
};

unsigned word_of(Test &t, const std::string &name)
{
	return t.words.emplace(name, t.words.size()).first->second;
}

void parse_statement(Test &t, const std::string &text)
{
	static const std::regex
		nothing(R"(\s*|\s*int\s+\w+\s*)"),
		fence(R"(\s*smp_(wmb|rmb|mb)\(\)\s*)"),
		load(R"(\s*(?:int\s+)?(\w+)\s*=\s*(READ_ONCE\(\*|smp_load_acquire\()(\w+)\)\s*)"),
		store(R"(\s*(WRITE_ONCE\(\*|smp_store_release\()(\w+),\s*(\d+)\)\s*)");
	std::smatch m;

	if (std::regex_match(text, nothing))
		return;
	if (std::regex_match(text, m, fence)) {
		const std::string which = m[1];

		t.thread.back().push_back({ which == "wmb" ? Statement::WMB :
					    which == "rmb" ? Statement::RMB : Statement::MB,
					    0, 0, "" });
	} else if (std::regex_match(text, m, load)) {
		t.thread.back().push_back({ m[2].str()[0] == 's' ? Statement::ACQUIRE :
					    Statement::LOAD, word_of(t, m[3]), 0, m[1] });
	} else if (std::regex_match(text, m, store)) {
		t.thread.back().push_back({ m[1].str()[0] == 's' ? Statement::RELEASE :
					    Statement::STORE, word_of(t, m[2]),
					    std::stoull(m[3]), "" });
	} else {
		throw Unknown { text };
	}
}

void parse_exists(Test &t, const std::string &text)
{
	static const std::regex condition(R"(\s*(?:(\d+):)?(\w+)\s*=\s*(\d+)\s*)");
	std::size_t from = 0;

	for (;;) {
		const std::size_t to = text.find("/\\", from);
		const std::string one = text.substr(from, to - from);
		std::smatch m;

		if (!std::regex_match(one, m, condition))
			throw Unknown { one };
		Condition c { !m[1].matched, 0, 0, m[2], std::stoull(m[3]) };
		if (c.in_memory)
			c.word = word_of(t, m[2]);
		else
			c.thread = std::stoul(m[1]);
		t.exists.push_back(c);
		if (to == std::string::npos)
			return;
		from = to + 2;
	}
}

Test parse(const std::string &path)
{
	static const std::regex
		result(R"(Result: (Never|Sometimes))"), comment(R"(\(\*\s[^]*?\*\)|//[^\n]*)"),
		line(R"(\* P\d ring\.c: (.*))"),
		thread(R"(P(\d)\([^)]*\)\s*\{([^}]*)\})"), exists(R"(exists\s*\(([^)]*)\)\s*$)");
	std::ifstream file(path);
	std::stringstream buffer;
	std::smatch m;
	Test t;

	buffer << file.rdbuf();
	std::string text = buffer.str();
	if (!std::regex_search(text, m, result))
		throw Unknown { "no Result" };
	t.expected = m[1] == "Sometimes";
	for (std::sregex_iterator i(text.begin(), text.end(), line), end; i != end; ++i)
		t.lines.push_back((*i)[1]);
	text = std::regex_replace(text, comment, "");

	for (std::sregex_iterator i(text.begin(), text.end(), thread), end; i != end; ++i) {
		std::stringstream statements((*i)[2]);
		std::string statement;

		if (std::stoul((*i)[1]) != t.thread.size() || t.thread.size() == CPUS)
			throw Unknown { "threads" };
		t.thread.emplace_back();
		while (std::getline(statements, statement, ';'))
			parse_statement(t, statement);
	}
	if (!std::regex_search(text, m, exists))
		throw Unknown { "no exists clause" };
	parse_exists(t, m[1]);
	if (t.thread.size() < 2)
		throw Unknown { "threads" };
	return t;
}

/* One execution: who goes next, what a load returns, where a store goes. */
bool execute(const Test &t, Memory &memory, Choices &choices)
{
	std::array<std::map<std::string, uint64_t>, CPUS> regs;
	std::array<std::size_t, CPUS> at {};

	memory.reset();
	for (;;) {
		std::array<unsigned, CPUS> ready {};
		unsigned n = 0;

		for (unsigned cpu = 0; cpu < t.thread.size(); cpu++)
			if (at[cpu] < t.thread[cpu].size())
				ready[n++] = cpu;
		if (!n)
			break;
		const unsigned cpu = ready[choices.pick(n)];
		const Statement &s = t.thread[cpu][at[cpu]++];
		const unsigned size = memory.history(s.word).size();

		switch (s.kind) {
		case Statement::LOAD:
		case Statement::ACQUIRE: {
			const unsigned oldest = memory.oldest(cpu, s.word, 0xff);
			const unsigned which = oldest + choices.pick(size - oldest);

			memory.load(cpu, s.word, which, s.kind == Statement::ACQUIRE);
			regs[cpu][s.reg] = memory.history(s.word)[which].value;
			break;
		}
		case Statement::STORE:
		case Statement::RELEASE: {
			const unsigned first = memory.first_place(cpu, s.word);

			memory.store(cpu, s.word, 0xff, s.value, s.kind == Statement::RELEASE,
				     first + choices.pick(size + 1 - first));
			break;
		}
		case Statement::WMB: memory.wmb(cpu); break;
		case Statement::RMB: memory.rmb(cpu); break;
		case Statement::MB: memory.mb(cpu); break;
		}
	}

	for (const auto &c : t.exists) {
		const uint64_t value = c.in_memory ? memory.newest(c.word)
						   : regs[c.thread][c.reg];
		if (value != c.value)
			return false;
	}
	return true;
}

} /* namespace */

Litmus litmus_run(const std::string &path)
{
	Litmus l { .name = path.substr(path.rfind('/') + 1), .expected = false, .found = false,
		   .executions = 0, .error = "", .lines = {} };

	l.name = l.name.substr(0, l.name.rfind('.'));
	try {
		const Test t = parse(path);
		Choices choices;
		Memory memory;

		memory.resize(t.words.size());
		l.expected = t.expected;
		l.lines = t.lines;
		do {
			l.found |= execute(t, memory, choices);
			l.executions++;
		} while (choices.next());
	} catch (const Unknown &u) {
		l.error = "not understood: " + u.what;
	}
	return l;
}
