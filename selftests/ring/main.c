// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs the tests that are linked in, each in its own process, and prints KTAP.
 *
 *	-l		list the names
 *	-p PREFIX	put PREFIX before every name
 *	-n NUMBER	part of a larger run: number from here, print no plan
 *	-t SECONDS	how long a test may take (60)
 *	NAME...		only these
 */
#include <sys/wait.h>
#include "test.h"

static struct test *first, **last = &first;

void test_add(struct test *t)
{
	*last = t;
	last = &t->next;
}

static bool wanted(const struct test *t, int argc, char **argv)
{
	if (!argc)
		return true;
	while (argc--)
		if (!strcmp(t->name, *argv++))
			return true;
	return false;
}

static bool run(const struct test *t, unsigned int seconds)
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		alarm(seconds);
		t->run();
		exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid) {
		perror("# fork");
		return false;
	}
	if (WIFSIGNALED(status))
		note("%s: killed by signal %d (%s)", t->name, WTERMSIG(status),
		     strsignal(WTERMSIG(status)));
	return status == 0;
}

int main(int argc, char **argv)
{
	unsigned int number = 0, seconds = 60, n = 0, found = 0;
	const char *prefix = "";
	bool failed = false, list = false;
	struct test *t;
	int opt;

	while ((opt = getopt(argc, argv, "lp:n:t:")) != -1) {
		if (opt == 'l')
			list = true;
		else if (opt == 'p')
			prefix = optarg;
		else if (opt == 'n')
			number = atoi(optarg);
		else if (opt == 't')
			seconds = atoi(optarg);
		else
			return 2;
	}
	argc -= optind;
	argv += optind;

	for (t = first; t; t = t->next)
		found += wanted(t, argc, argv);
	if (!found || (argc && found != (unsigned int)argc)) {
		fprintf(stderr, "no such test\n");
		return 2;
	}
	if (!number && !list)
		printf("KTAP version 1\n1..%u\n", found);
	if (!number)
		number = 1;

	for (t = first; t; t = t->next) {
		bool ok;

		if (!wanted(t, argc, argv))
			continue;
		if (list) {
			printf("%s%s\n", prefix, t->name);
			continue;
		}
		ok = run(t, seconds);
		printf("%s %u - %s%s\n", ok ? "ok" : "not ok", number + n++, prefix, t->name);
		failed |= !ok;
	}
	return failed;
}
