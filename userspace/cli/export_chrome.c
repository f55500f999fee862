// SPDX-License-Identifier: GPL-2.0-only
/*
 * export --format chrome: JSON in the "Trace Event Format", for ui.perfetto.dev,
 * chrome://tracing and what else reads it. Each record is an instant on the track of its
 * thread, if its type has a field `pid`, or else of its CPU.
 *
 * Times are those of the log's clock, as in other traces of the same boot: of real time a
 * double has no nanoseconds left.
 */
#include <search.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli.h"
#include "export.h"
#include "json.h"
#include "jsonl.h"

/* CPUs are threads of a process that nobody is: the kernel's PID_MAX_LIMIT. */
#define CPUS_PID	(4ULL << 20)

/* A track that has been named. */
struct track {
	__u64 pid, tid;
};

struct state {
	void *tracks;		/* tsearch()'s */
	bool any;		/* something was put into the array */
};

static int compare_tracks(const void *a, const void *b)
{
	const struct track *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

static void put_comma(struct state *s)
{
	printf(s->any ? ",\n" : "\n");
	s->any = true;
}

/* Names a track: `what` is process_name or thread_name. */
static void put_name(struct state *s, const struct track *t, const char *what, const char *name)
{
	struct json_object *event = json_object_new_object(), *args = json_object_new_object();

	json_add_string(event, "ph", "M");
	json_add_string(event, "name", what);
	/* What is no event has these two as well in Chrome's own traces, and readers want them. */
	json_add_string(event, "cat", "__metadata");
	json_add_number(event, "ts", 0);
	json_add_number(event, "pid", t->pid);
	json_add_number(event, "tid", t->tid);
	json_add_string(args, "name", name);
	json_add(event, "args", args);
	put_comma(s);
	fputs(json_object_to_json_string_ext(event, JSON_C_TO_STRING_PLAIN), stdout);
	json_object_put(event);
}

/* The name of a thread, as the record says it: in JSON it is UTF-8, whatever it was. */
static void name_thread(struct state *s, const struct track *t, const char *fields)
{
	struct json_object *object = json_tokener_parse(fields), *comm;

	if (json_object_object_get_ex(object, "comm", &comm) &&
	    json_object_is_type(comm, json_type_string)) {
		put_name(s, t, "thread_name", json_object_get_string(comm));
		if (t->pid == t->tid)
			put_name(s, t, "process_name", json_object_get_string(comm));
	}
	json_object_put(object);
}

static void name_cpu(struct state *s, const struct track *t, const struct export *e, __u32 cpu)
{
	char name[32];

	snprintf(name, sizeof(name), "CPU %u", cpu);
	put_name(s, t, "process_name", e->info->name);
	put_name(s, t, "thread_name", name);
}

/* 1: it is new; 0; -1: no memory. */
static int add_track(struct state *s, const struct track *track)
{
	struct track *new;

	if (tfind(track, &s->tracks, compare_tracks))
		return 0;
	new = malloc(sizeof(*new));
	if (new)
		*new = *track;
	if (!new || !tsearch(new, &s->tracks, compare_tracks)) {
		free(new);
		return error("out of memory");
	}
	return 1;
}

static int put_event(struct export *e, const struct bpfrelay_record *record, const char *name,
		     const char *args)
{
	struct state *s = e->state;
	struct track t;
	bool thread;
	int new;

	thread = record->type && record_thread(record, &t.pid, &t.tid);
	if (!thread)
		t = (struct track) { CPUS_PID, CPUS_PID + 1 + record->cpu };
	new = add_track(s, &t);
	if (new < 0)
		return -1;
	if (new && thread)
		name_thread(s, &t, args);
	else if (new)
		name_cpu(s, &t, e, record->cpu);
	put_comma(s);
	/* Of the names the library has seen to it that they need no escapes. */
	printf("{\"ph\":\"i\",\"s\":\"t\",\"name\":\"%s\",\"cat\":\"%s\",\"ts\":%llu.%03llu,\"pid\":%llu,\"tid\":%llu,\"args\":%s}",
	       name, e->info->name, record->ts / 1000, record->ts % 1000, t.pid, t.tid, args);
	return 0;
}

static int put_record(struct export *e, const struct bpfrelay_record *record)
{
	char *fields;
	int err;

	if (bpfrelay_record_json(record, &fields) < 0)
		return error("out of memory");
	err = put_event(e, record, record->type->name, fields);
	free(fields);
	return err;
}

static int put_loss(struct export *e, const struct bpfrelay_item *item)
{
	struct bpfrelay_record nothing = { .ts = item->record.ts, .cpu = item->record.cpu };
	char args[64], lost[24];

	snprintf(lost, sizeof(lost), item->lost ? "%llu" : "null", item->lost);
	snprintf(args, sizeof(args), "{\"records\":%s,\"reason\":\"%s\"}", lost,
		 loss_reason(item->reason));
	return put_event(e, &nothing, "lost", args);
}

static int begin(struct export *e)
{
	e->state = calloc(1, sizeof(struct state));
	if (!e->state)
		return error("out of memory");
	printf("{\"displayTimeUnit\":\"ns\",\"otherData\":{\"log\":\"%s\",\"hostname\":\"%s\",\"clock\":\"%s\",\"real_time_offset_ns\":\"%lld\"},\"traceEvents\":[",
	       e->info->name, e->info->host,
	       e->info->clock == BPF_RELAY_CLOCK_MONO ? "monotonic" : "boottime",
	       e->info->real_offset);
	return 0;
}

static int end(struct export *e, bool ok)
{
	struct state *s = e->state;
	struct track *t;

	if (ok)
		printf("\n]}\n");
	while (s->tracks) {
		t = *(struct track **)s->tracks;
		tdelete(t, &s->tracks, compare_tracks);
		free(t);
	}
	free(s);
	return 0;
}

const struct export_format export_chrome = {
	.name = "chrome",
	.text = "JSON for ui.perfetto.dev and chrome://tracing",
	.begin = begin,
	.record = put_record,
	.lost = put_loss,
	.end = end,
};
