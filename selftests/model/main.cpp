// SPDX-License-Identifier: GPL-2.0-only
/*
 * Explores scenarios, each in a process of its own, and prints KTAP.
 *
 *	-l		list the scenarios
 *	-q		only those of the short run
 *	-f		those that fail only: nothing about the others; stop at the first
 *	-j N		so many at a time (1)
 *	-t SECONDS	a scenario that takes longer has failed (1800)
 *	-s FILE		ring.c, in which the lines that litmus tests name must be
 *	-L FILE		a litmus test, before the scenarios; may be repeated
 *	NAME...		only these scenarios; none: -
 */
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "explore.h"
#include "litmus.h"

namespace {

unsigned number, failed;

void result(bool ok, const std::string &name)
{
	std::printf("%s %u - %s\n", ok ? "ok" : "not ok", ++number, name.c_str());
	std::fflush(stdout);
	failed += !ok;
}

void run_litmus(const std::string &path, const std::string &source)
{
	const Litmus l = litmus_run(path);
	bool ok = l.error.empty() && l.found == l.expected;

	std::printf("# %s: %s in %lu executions%s%s\n", l.name.c_str(),
		    l.found ? "Sometimes" : "Never", l.executions,
		    l.error.empty() ? "" : "; ", l.error.c_str());
	for (const std::string &line : l.lines)
		if (source.find(line) == std::string::npos) {
			std::printf("# %s: ring.c does not have: %s\n", l.name.c_str(),
				    line.c_str());
			ok = false;
		}
	result(ok, "litmus." + l.name);
}

struct Running {
	const Scenario *scenario;
	FILE *output;
};

pid_t start(const Scenario &s, unsigned seconds, Running &r)
{
	static const struct rlimit memory = { 8ULL << 30, 8ULL << 30 };

	r.scenario = &s;
	r.output = std::tmpfile();
	std::fflush(stdout);
	const pid_t pid = fork();

	if (pid)
		return pid;
	dup2(fileno(r.output), STDOUT_FILENO);
	setrlimit(RLIMIT_AS, &memory);
	alarm(seconds);
	const bool ok = explore(s);
	std::fflush(stdout);
	_exit(!ok);
}

void finish(const Running &r, int status, bool failures_only)
{
	const bool ok = WIFEXITED(status) && !WEXITSTATUS(status);
	char line[4096];

	std::rewind(r.output);
	while ((!ok || !failures_only) && std::fgets(line, sizeof(line), r.output))
		std::fputs(line, stdout);
	std::fclose(r.output);
	if (WIFSIGNALED(status))
		std::printf("# %s: %s\n", r.scenario->name.c_str(), WTERMSIG(status) == SIGALRM ?
			    "cut short" : strsignal(WTERMSIG(status)));
	if (!ok || !failures_only)
		result(ok, "model." + r.scenario->name);
}

std::string read_file(const char *path)
{
	std::ifstream file(path);
	std::stringstream text;

	text << file.rdbuf();
	return text.str();
}

} /* namespace */

int main(int argc, char **argv)
{
	bool quick = false, failures_only = false, list = false;
	unsigned jobs = 1, seconds = 1800;
	std::vector<const Scenario *> wanted;
	std::vector<std::string> litmus;
	std::map<pid_t, Running> running;
	std::string source;
	int opt;

	while ((opt = getopt(argc, argv, "lqfj:t:s:L:")) != -1) {
		switch (opt) {
		case 'l': list = true; break;
		case 'q': quick = true; break;
		case 'f': failures_only = true; break;
		case 'j': jobs = std::stoul(optarg); break;
		case 't': seconds = std::stoul(optarg); break;
		case 's': source = read_file(optarg); break;
		case 'L': litmus.push_back(optarg); break;
		default: return 2;
		}
	}
	for (const Scenario &s : scenarios()) {
		bool named = optind == argc;

		for (int i = optind; i < argc; i++)
			named |= s.name == argv[i];
		if (named && (!quick || s.quick))
			wanted.push_back(&s);
	}
	if (list) {
		for (const Scenario *s : wanted)
			std::printf("%s\n", s->name.c_str());
		return 0;
	}
	if (wanted.empty() && litmus.empty()) {
		std::fprintf(stderr, "model: no such scenario\n");
		return 2;
	}

	if (!failures_only)
		std::printf("KTAP version 1\n1..%zu\n", litmus.size() + wanted.size());
	for (const std::string &path : litmus)
		run_litmus(path, source);
	for (std::size_t next = 0; next < wanted.size() || !running.empty();) {
		while (next < wanted.size() && running.size() < jobs &&
		       !(failures_only && failed)) {
			Running r;
			const pid_t pid = start(*wanted[next++], seconds, r);

			if (pid < 0) {
				std::perror("model: fork");
				return 1;
			}
			running[pid] = r;
		}
		if (running.empty())
			break;
		int status;
		const pid_t pid = wait(&status);

		if (!running.count(pid))
			continue;
		finish(running[pid], status, failures_only);
		running.erase(pid);
	}
	if (!failures_only)
		std::printf("# %u passed, %u failed\n", number - failed, failed);
	return failed != 0;
}
