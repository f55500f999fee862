// SPDX-License-Identifier: GPL-2.0-only
/*
 * Standard output, and the file that takes its place. A write may fail long before
 * somebody asks for it: why is kept. A file appears when all is in it.
 */
#define _GNU_SOURCE	/* fopencookie() */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "output.h"

static struct {
	int fd;
	int err;		/* of the first write that failed ... */
	bool told;		/* ... which was said */
	const char *name;	/* as the user has it; NULL: standard output */
	char *path;		/* what it gets in the end ... */
	char *made;		/* ... and what it is called until then; NULL: it is there */
} output = { .fd = STDOUT_FILENO };

static ssize_t write_output(void *ctx, const char *data, size_t size)
{
	size_t done = 0;
	ssize_t n;

	(void)ctx;
	while (done < size) {
		n = write(output.fd, data + done, size - done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			output.err = output.err ?: errno;
			return done;
		}
		done += n;
	}
	return done;
}

void output_begin(void)
{
	FILE *f = fopencookie(NULL, "w", (cookie_io_functions_t) { .write = write_output });

	if (!f)
		return;
	stdout = f;
	setvbuf(f, NULL, output_is_terminal() ? _IOLBF : _IOFBF, BUFSIZ);
}

bool output_is_terminal(void)
{
	return isatty(output.fd);
}

/* ---- A file ---------------------------------------------------------------------- */

static int say(const char *name, int err)
{
	return error("%s: %s", name, strerror(err));
}

/* Beside the file, with what the umask leaves of 0666. */
static int make_beside(const char *path)
{
	mode_t mask = umask(0);

	umask(mask);
	if (asprintf(&output.made, "%s.XXXXXX", path) < 0) {
		output.made = NULL;
		return error("out of memory");
	}
	output.fd = mkostemp(output.made, O_CLOEXEC);
	if (output.fd >= 0 && !fchmod(output.fd, 0666 & ~mask))
		return 0;
	if (output.fd >= 0)
		unlink(output.made);
	free(output.made);
	output.made = NULL;
	return say(output.name, errno);
}

int output_to(const char *name)
{
	struct stat st;

	if (!strcmp(name, "-"))
		return 0;
	output.name = name;
	setvbuf(stdout, NULL, _IOFBF, BUFSIZ);
	/* What a link leads to is replaced, not the link. */
	output.path = realpath(name, NULL);
	if (!output.path && errno != ENOENT)
		return say(name, errno);
	if (!output.path)
		output.path = strdup(name);
	if (!output.path)
		return error("out of memory");
	if (!stat(output.path, &st) && S_ISDIR(st.st_mode))
		return say(name, EISDIR);
	if (!stat(output.path, &st) && !S_ISREG(st.st_mode)) {
		/* A device or a pipe is there already. */
		output.fd = open(output.path, O_WRONLY | O_CLOEXEC);
		return output.fd < 0 ? say(name, errno) : 0;
	}
	return make_beside(output.path);
}

static void complain(void)
{
	/* Whoever reads has enough of it. */
	if (output.err != EPIPE && !output.told)
		error("cannot write to %s: %s", output.name ?: "standard output",
		      strerror(output.err));
	output.told = true;
}

/* What was printed may not have been written yet. */
static int flush_output(void)
{
	if (!fflush(stdout) && !ferror(stdout))
		return 0;
	complain();
	return -1;
}

int output_keep(void)
{
	if (!output.made)
		return 0;
	if (flush_output())
		return -1;
	if (fsync(output.fd) || rename(output.made, output.path))
		return say(output.name, errno);
	free(output.made);
	output.made = NULL;
	return 0;
}

int output_end(int status)
{
	/* It is not kept, whatever is still to be written. */
	if (output.made) {
		unlink(output.made);
		if (output.err)
			complain();
	} else if (flush_output()) {
		status = CLI_ERROR;
	}
	return status;
}
