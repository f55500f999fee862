// SPDX-License-Identifier: GPL-2.0-only
/*
 * export --format openmetrics: the counters of a live log, as text of OpenMetrics 1.0
 * (https://prometheus.io/docs/specs/om/open_metrics_spec/).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli.h"
#include "export.h"
#include "reading.h"

#define PREFIX	"bpf_relay_"

/* What is cumulative is a counter. */
static const struct metric {
	const char *name;	/* behind PREFIX */
	size_t offset;		/* in struct bpfrelay_cpu_stats */
	bool counter;
	const char *unit;
	const char *help;
} metrics[] = {
#define METRIC(member)	offsetof(struct bpfrelay_cpu_stats, member)
	{ "stored_records", METRIC(stored), true, NULL, "Records written." },
	{ "stored_bytes", METRIC(stored_bytes), true, "bytes", "Payload of the records written." },
	{ "overwritten_records", METRIC(overrun), true, NULL, "Records overwritten by newer ones." },
	{ "overwritten_bytes", METRIC(overrun_bytes), true, "bytes",
	  "Payload of the records overwritten by newer ones." },
	{ "discarded_records", METRIC(discarded), true, NULL, "Records reserved, then given up." },
	{ "damaged_packets", METRIC(damaged), true, NULL,
	  "Packets that ended at something that is no record." },
	{ "readable_records", METRIC(entries), false, NULL, "Records that can be read." },
	{ "readable_bytes", METRIC(bytes), false, "bytes", "Payload of the records that can be read." },
	{ "open_records", METRIC(open), false, NULL, "Records reserved, not yet submitted." },
};

static const struct metric dropped = {
	"dropped_records", 0, true, NULL, "Records not written, by reason."
};

static const struct {
	const char *reason;
	size_t offset;
} drops[] = {
#define DROP(reason)	{ #reason, METRIC(dropped_##reason) }
	DROP(type), DROP(size), DROP(too_big), DROP(busy), DROP(full), DROP(nested),
	DROP(contended), DROP(no_buffer), DROP(no_record),
};

#define N(table)	(sizeof(table) / sizeof((table)[0]))

static __u64 value_of(const struct bpfrelay_cpu_stats *cpu, size_t offset)
{
	return *(const __u64 *)((const char *)cpu + offset);
}

static void put_head(const struct metric *m)
{
	printf("# TYPE " PREFIX "%s %s\n", m->name, m->counter ? "counter" : "gauge");
	if (m->unit)
		printf("# UNIT " PREFIX "%s %s\n", m->name, m->unit);
	printf("# HELP " PREFIX "%s %s\n", m->name, m->help);
}

/* NAME{log="...",cpu="...": more labels may follow. */
static void put_sample(const struct metric *m, const char *log, __u32 cpu)
{
	printf(PREFIX "%s%s{log=\"", m->name, m->counter ? "_total" : "");
	for (; *log; log++) {
		if (*log == '"' || *log == '\\')
			putchar('\\');
		putchar(*log);
	}
	printf("\",cpu=\"%u\"", cpu);
}

static void put_metric(const struct metric *m, const char *log, const struct bpfrelay_stats *stats)
{
	__u32 i;

	put_head(m);
	for (i = 0; i < stats->n_cpus; i++) {
		if (stats->cpus[i].no_buffer)
			continue;
		put_sample(m, log, stats->cpus[i].cpu);
		printf("} %llu\n", value_of(&stats->cpus[i], m->offset));
	}
}

static void put_drops(const char *log, const struct bpfrelay_stats *stats)
{
	size_t j;
	__u32 i;

	put_head(&dropped);
	for (i = 0; i < stats->n_cpus; i++)
		for (j = 0; j < N(drops) && !stats->cpus[i].no_buffer; j++) {
			put_sample(&dropped, log, stats->cpus[i].cpu);
			printf(",reason=\"%s\"} %llu\n", drops[j].reason,
			       value_of(&stats->cpus[i], drops[j].offset));
		}
}

static int put_all(struct export *e)
{
	struct bpfrelay_stats *stats;
	size_t i;
	int err;

	err = bpfrelay_log_stats(e->log, &stats);
	if (err == -ENOENT)
		return error("%s: is a copy, which has no counters", e->what);
	if (err)
		return reading_error(e->what, err);
	for (i = 0; i < N(metrics); i++)
		put_metric(&metrics[i], e->info->name, stats);
	put_drops(e->info->name, stats);
	printf("# EOF\n");
	free(stats);
	return 0;
}

const struct export_format export_openmetrics = {
	.name = "openmetrics",
	.text = "the counters, per CPU, for Prometheus; needs a live log",
	.begin = put_all,
};
