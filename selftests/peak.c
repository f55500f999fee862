// SPDX-License-Identifier: GPL-2.0-only
/*
 * peak FILE COMMAND...: runs it, ends as it does, and writes to FILE how many KiB of memory
 * it had at most, with what it had mapped of others (VmHWM). Of what ran before it is only
 * what this small program had.
 */
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct rusage usage;
	int status;
	pid_t pid;
	FILE *f;

	if (argc < 3)
		return 2;
	pid = fork();
	if (!pid) {
		execvp(argv[2], argv + 2);
		perror(argv[2]);
		_exit(127);
	}
	if (pid < 0 || wait4(pid, &status, 0, &usage) != pid)
		return 126;
	f = fopen(argv[1], "w");
	if (!f || fprintf(f, "%ld\n", usage.ru_maxrss) < 0 || fclose(f))
		return 126;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
