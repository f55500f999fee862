// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
/* rates [SECONDS [TIMES]]: how much each log of this machine records, like top. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <bpfrelay.h>

static struct rate {
	char name[BPF_RELAY_NAME_MAX];
	__u64 stored, bytes, dropped;
} seen[256];

static int seconds = 1;

static int show(const char *name, const char *dir, void *ctx)
{
	struct rate now = {}, *old = seen, *end = seen + sizeof(seen) / sizeof(*seen);
	struct bpfrelay_stats *stats;
	struct bpfrelay_log *log;
	__u32 i;

	/* What cannot be opened went meanwhile, or is not ours to read. */
	if (bpfrelay_log_open(dir, NULL, &log))
		return 0;
	snprintf(now.name, sizeof(now.name), "%s", name);
	if (!bpfrelay_log_stats(log, &stats)) {
		for (i = 0; i < stats->n_cpus; i++) {
			now.stored += stats->cpus[i].stored;
			now.bytes += stats->cpus[i].stored_bytes;
			now.dropped += stats->cpus[i].dropped;
		}
		free(stats);
	}
	bpfrelay_log_close(log);
	while (old < end && old->name[0] && strcmp(old->name, now.name))
		old++;
	if (old < end && old->name[0])
		printf("%-32s %12llu %14llu %12llu\n", name, (now.stored - old->stored) / seconds,
		       (now.bytes - old->bytes) / seconds, (now.dropped - old->dropped) / seconds);
	if (old < end)
		*old = now;
	return 0;
}

int main(int argc, char **argv)
{
	int times = argc > 2 ? atoi(argv[2]) : -1;

	if (argc > 1 && atoi(argv[1]) > 0)
		seconds = atoi(argv[1]);
	bpfrelay_each_log(NULL, show, NULL);
	while (times-- && !sleep(seconds)) {
		printf("%s%-32s %12s %14s %12s\n",
		       isatty(1) ? "\033[H\033[J" : "", "LOG", "RECORDS/S", "BYTES/S", "DROPPED/S");
		if (bpfrelay_each_log(NULL, show, NULL) || fflush(stdout))
			return 1;
	}
	return 0;
}
