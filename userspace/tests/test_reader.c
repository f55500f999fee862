// SPDX-License-Identifier: GPL-2.0-only
/* The reader on traces whose records are known. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bpfrelay.h"
#include "ktap.h"
#include "trace_gen.h"

static char top[] = "/tmp/test_reader.XXXXXX";
static char said[4096];		/* by the library; lines */

static void keep(void *ctx, const char *fmt, va_list args)
{
	size_t len = strlen(said);

	(void)ctx;
	len += vsnprintf(said + len, sizeof(said) - len, fmt, args);
	if (len < sizeof(said) - 1)
		strcpy(said + len, "\n");
	else
		said[sizeof(said) - 1] = '\0';
}

static char *path(const char *name)
{
	static char paths[4][512];
	static int next;
	char *p = paths[next++ % 4];

	snprintf(p, 512, "%s/%s", top, name);
	return p;
}

static struct bpfrelay_log *open_log(const char *what, int *err)
{
	LIBBPF_OPTS(bpfrelay_log_opts, opts, .print = keep, .root = path("root"));
	struct bpfrelay_log *log = NULL;
	int e;

	said[0] = '\0';
	e = bpfrelay_log_open(what, &opts, &log);
	if (err)
		*err = e;
	return log;
}

/* What a reader delivered, compared with what is known. */
struct seen {
	int records;		/* which were those expected, in their order */
	int losses;
	__u64 lost[4];		/* by reason */
	bool good;
	int err;		/* how it ended; 0 */
};

static bool is_event(const struct bpfrelay_record *r, const struct gen_event *e)
{
	return r->ts == e->ts && r->cpu == e->cpu && r->type->id == e->id && r->len == e->len &&
	       !memcmp(r->data, e->data, e->len) && !((unsigned long)r->data & 7);
}

/* Goes to the end; events of the generator may be missing if `gaps`, as none else. */
static struct seen read_on(struct bpfrelay_reader *reader, const struct gen *g, int *at, bool gaps,
			   bool (*expected)(const struct gen_event *e))
{
	const struct bpfrelay_item *item;
	struct seen seen = { .good = true };
	int ret;

	while ((ret = bpfrelay_reader_next(reader, &item)) > 0) {
		if (item->kind == BPFRELAY_LOST) {
			seen.losses++;
			seen.lost[item->reason] += item->lost;
			continue;
		}
		while (*at < g->n && ((expected && !expected(&g->event[*at])) ||
				      (gaps && !is_event(&item->record, &g->event[*at]))))
			++*at;
		if (*at == g->n || !is_event(&item->record, &g->event[*at])) {
			seen.good = false;
			break;
		}
		++*at;
		seen.records++;
	}
	while (expected && *at < g->n && !expected(&g->event[*at]))
		++*at;
	seen.err = ret < 0 ? ret : 0;
	return seen;
}

static struct seen read_all(const struct bpfrelay_log *log, const struct gen *g, int from,
			    const struct bpfrelay_reader_opts *opts,
			    bool (*expected)(const struct gen_event *e))
{
	struct seen seen = {};
	struct bpfrelay_reader *reader;
	int at = from;

	seen.err = bpfrelay_reader_open(log, opts, &reader);
	if (seen.err)
		return seen;
	seen = read_on(reader, g, &at, false, expected);
	seen.good &= at == g->n;
	bpfrelay_reader_close(reader);
	return seen;
}

/* ---- Order and selection -------------------------------------------------------- */

static __u32 only_cpu;
static __u64 only_since, only_until;

static bool on_cpu(const struct gen_event *e)
{
	return e->cpu == only_cpu;
}

static bool in_time(const struct gen_event *e)
{
	return e->ts >= only_since && e->ts <= only_until;
}

static bool is_typed(const struct gen_event *e)
{
	return e->id == 1;
}

static bool match_typed(void *ctx, const struct bpfrelay_record *record)
{
	(void)ctx;
	return record->type->id == 1;
}

static void test_order(const struct gen *g, struct bpfrelay_log *log)
{
	LIBBPF_OPTS(bpfrelay_reader_opts, opts);
	struct seen seen;
	int i, typed = 0;

	seen = read_all(log, g, 0, NULL, NULL);
	ktap_ok(seen.good && seen.records == g->n && !seen.losses && !seen.err,
		"reader: all %d records, in the order of time, then of CPUs", g->n);
	seen = read_all(log, g, 1, NULL, NULL);
	ktap_ok(!seen.good, "control: another order is found out");

	for (only_cpu = 0; only_cpu < GEN_CPUS; only_cpu++) {
		opts.cpus = &only_cpu;
		opts.n_cpus = 1;
		seen = read_all(log, g, 0, &opts, on_cpu);
		ktap_ok(seen.good && seen.records == g->n_cpu[only_cpu], "reader: only CPU %u",
			only_cpu);
	}
	opts.cpus = (__u32 []) { 17 };
	ktap_ok(read_all(log, g, 0, &opts, NULL).err == -ENOENT, "reader: no such CPU");
	opts.n_cpus = 0;

	only_since = opts.since = g->event[g->n / 3].ts;
	only_until = opts.until = g->event[2 * g->n / 3].ts;
	seen = read_all(log, g, 0, &opts, in_time);
	ktap_ok(seen.good && seen.records > g->n / 4 && seen.records < g->n / 2,
		"reader: since and until, %d records", seen.records);
	opts.since = opts.until = 0;

	for (i = 0; i < g->n; i++)
		typed += g->event[i].id == 1;
	opts.match = match_typed;
	seen = read_all(log, g, 0, &opts, is_typed);
	ktap_ok(seen.good && seen.records == typed, "reader: only those that match");
	opts.match = NULL;

	for (i = 1; i <= g->n + 1; i = i < 5 ? i + 1 : 3 * i + 1) {
		opts.newest = i;
		seen = read_all(log, g, i < g->n ? g->n - i : 0, &opts, NULL);
		ktap_ok(seen.good && seen.records == (i < g->n ? i : g->n) && !seen.losses,
			"reader: the newest %d", i);
	}
	opts.match = match_typed;
	opts.newest = 7;
	for (i = g->n, typed = 0; typed < 7; )
		typed += g->event[--i].id == 1;
	seen = read_all(log, g, i, &opts, is_typed);
	ktap_ok(seen.good && seen.records == 7, "reader: the newest 7 that match");
}

static void test_complete(void)
{
	LIBBPF_OPTS(bpfrelay_reader_opts, opts, .flags = BPFRELAY_READ_COMPLETE);
	struct bpfrelay_log *log;
	struct seen seen;
	struct gen g;
	__u64 begin = 0;
	int i;

	gen_make(&g, 5, 900, 40);
	/* CPU 1 has lost nothing yet. */
	for (i = 0; i < GEN_CPUS; i++) {
		struct bpf_relay_packet *p = (void *)g.file[i];
		size_t at;

		for (at = 0; i == 1 && at < g.size[i]; at += GEN_PACKET)
			((struct bpf_relay_packet *)(g.file[i] + at))->packet_seq_num -= 40;
		/* CPU 2 lacks its first two packets. */
		if (i == 2) {
			g.size[i] -= 2 * GEN_PACKET;
			memmove(g.file[i], g.file[i] + 2 * GEN_PACKET, g.size[i]);
		}
		if (i != 1 && p->timestamp_begin > begin)
			begin = p->timestamp_begin;
	}
	gen_write(&g, path("complete"));
	log = open_log(path("complete"), NULL);
	only_since = begin + 1;
	only_until = ~0ULL;
	seen = read_all(log, &g, 0, &opts, in_time);
	ktap_ok(seen.good && seen.records && seen.records < 900,
		"reader: complete begins where each CPU has everything");
	bpfrelay_log_close(log);
	gen_free(&g);
}

/* ---- Losses --------------------------------------------------------------------- */

static void test_losses(void)
{
	struct bpf_relay_packet *p;
	struct bpfrelay_log *log;
	struct bpfrelay_reader *reader;
	struct seen seen;
	struct gen g;
	size_t at;
	int gone, at_event = 0, i;

	gen_make(&g, 6, 900, 0);
	/* CPU 0 dropped 5 while it wrote its third packet. Packet 1 of CPU 2 was overtaken. */
	for (at = 2 * GEN_PACKET; at < g.size[0]; at += GEN_PACKET)
		((struct bpf_relay_packet *)(g.file[0] + at))->events_discarded = 5;
	for (gone = i = 0; i < g.n; i++)
		gone += g.event[i].cpu == 2 && g.event[i].packet == 1;
	p = (void *)(g.file[2] + GEN_PACKET);
	p->timestamp_end = p->timestamp_begin;
	p->content_size = sizeof(*p) * 8;
	memset(p + 1, 0, GEN_PACKET - sizeof(*p));
	for (at = GEN_PACKET; at < g.size[2]; at += GEN_PACKET)
		((struct bpf_relay_packet *)(g.file[2] + at))->events_discarded = gone;
	gen_write(&g, path("losses"));
	log = open_log(path("losses"), NULL);
	bpfrelay_reader_open(log, NULL, &reader);
	seen = read_on(reader, &g, &at_event, true, NULL);
	ktap_ok(seen.good && seen.losses == 2 && seen.records == g.n - gone,
		"reader: goes on behind what was lost");
	ktap_ok(seen.lost[BPFRELAY_OVERWRITTEN] == (__u64)gone && seen.lost[BPFRELAY_DROPPED] == 5,
		"reader: says that %d were overwritten and 5 dropped", gone);
	bpfrelay_reader_close(reader);
	bpfrelay_log_close(log);
	gen_free(&g);
}

/*
 * Beside the files: how many records of each CPU are gone by now. A CPU that is left out
 * is as one whose counters never stand still.
 */
static void write_stats(const struct gen *g, const int overrun[GEN_CPUS], bool blind)
{
	char text[512];
	int i, len;

	len = sprintf(text, "subbuf_size: %u\n", GEN_PACKET);
	for (i = 0; i < GEN_CPUS && !blind; i++)
		len += sprintf(text + len, "\ncpu: %d\noverrun: %d\nstored events: %d\n", i, overrun[i],
			       g->n_cpu[i]);
	gen_write_file(path("root/gen.7"), "stats", text, len);
}

/*
 * A trace that grows, as the snapshot of a live log that is renewed. With keep > 0 it has
 * room for that many packets of each CPU. Of `blind` snapshots in a row it is not known what
 * was overwritten before; of the last one it is in the end, when nothing comes any more.
 */
static void test_follow(int steps, int keep, int blind)
{
	LIBBPF_OPTS(bpfrelay_reader_opts, opts, .flags = BPFRELAY_READ_FOLLOW);
	int step, cpu, at = 0, records = 0, overrun[GEN_CPUS] = {}, grown = 0;
	struct bpfrelay_reader *reader = NULL;
	struct bpfrelay_log *log = NULL;
	struct seen seen = {};
	bool good = true, is_blind = false;
	__u64 lost = 0, before = 0;
	int uncounted = 0, i;
	struct gen g;

	gen_make(&g, 8, 1500, 0);
	for (step = 1; step <= steps && good; step++) {
		gen_build(&g, g.n * step / steps, 0);
		for (cpu = 0; cpu < GEN_CPUS; cpu++) {
			int packets = g.size[cpu] / GEN_PACKET;

			if (keep && packets > keep)
				overrun[cpu] = gen_overwrite(&g, cpu, packets - keep);
		}
		gen_write(&g, path("root/gen.7/ctf"));
		is_blind = blind && step % (blind + 1) != 1;
		write_stats(&g, overrun, is_blind);
		if (step == 1) {
			log = open_log("gen.7", NULL);
			good = log && !bpfrelay_reader_open(log, &opts, &reader);
			/* What went before that is nobody's loss. */
			for (cpu = 0; cpu < GEN_CPUS; cpu++)
				before += overrun[cpu];
		} else {
			grown += bpfrelay_reader_wait(reader, 0);
		}
		if (!good)
			break;
		seen = read_on(reader, &g, &at, keep, NULL);
		good = seen.good && !seen.err && (keep || (at == g.built && !seen.losses));
		records += seen.records;
		lost += seen.lost[BPFRELAY_OVERWRITTEN];
		uncounted += is_blind && seen.losses && !seen.lost[BPFRELAY_OVERWRITTEN];
	}
	/* Told when two snapshots say the same. */
	write_stats(&g, overrun, false);
	for (i = 0; i < 2 && good && is_blind; i++) {
		bpfrelay_reader_wait(reader, 0);
		seen = read_on(reader, &g, &at, keep, NULL);
		good = !seen.err && !seen.records && (i || !seen.losses);
		lost += seen.lost[BPFRELAY_OVERWRITTEN];
	}
	if (blind)
		ktap_ok(uncounted, "follow: %d times it is not known how many, until later", uncounted);
	if (keep) {
		ktap_ok(good && records < g.n, "follow: %d snapshots of the newest %d packets",
			steps, keep);
		ktap_ok(before + records + lost == (__u64)g.n, "follow: %d records, %llu counted as lost",
			records, lost);
	} else {
		ktap_ok(good && records == g.n && grown == steps - 1,
			"follow: %d records in %d snapshots, each once", records, steps);
	}
	ktap_ok(!bpfrelay_reader_wait(reader, 0), "follow: nothing new");
	bpfrelay_reader_close(reader);
	bpfrelay_log_close(log);
	gen_free(&g);
}

/* ---- Finding -------------------------------------------------------------------- */

static void finds(const char *what, const char *dir)
{
	struct bpfrelay_log *log = open_log(what, NULL);

	ktap_ok(log && !strcmp(bpfrelay_log_info(log)->dir, path(dir)), "find: %s", what);
	bpfrelay_log_close(log);
}

static void test_find(void)
{
	struct bpfrelay_log *log;
	struct gen g;
	int err;

	gen_make(&g, 9, 10, 0);
	mkdir(path("root"), 0700);
	mkdir(path("root/gen.7"), 0700);
	mkdir(path("root/gen.12"), 0700);
	mkdir(path("root/other.3"), 0700);
	gen_write(&g, path("root/gen.7/ctf"));
	gen_write(&g, path("root/gen.12/ctf"));
	gen_write(&g, path("root/other.3/ctf"));
	gen_write(&g, path("copy"));

	finds("other", "root/other.3/ctf");
	finds("3", "root/other.3/ctf");
	finds("gen.12", "root/gen.12/ctf");
	log = open_log(path("copy"), &err);
	ktap_ok(log && !bpfrelay_log_info(log)->live && !strcmp(bpfrelay_log_info(log)->name, "gen.7"),
		"find: a copy by its path");
	bpfrelay_log_close(log);
	log = open_log(path("root/gen.7"), &err);
	ktap_ok(log && !strcmp(bpfrelay_log_info(log)->dir, path("root/gen.7/ctf")),
		"find: a log's directory by its path");
	bpfrelay_log_close(log);
	log = open_log("gen", &err);
	ktap_ok(err == -ENOTUNIQ && !log && strstr(said, "gen.7\ngen.12\n"),
		"find: an ambiguous name lists the candidates");
	log = open_log("nosuch", &err);
	ktap_ok(err == -ENOENT && !log && strstr(said, "no log 'nosuch'"), "find: no such log");
	log = open_log(top, &err);
	ktap_ok(err == -ENOENT && !log && strstr(said, "is no log"), "find: no log there");
	gen_free(&g);
}

/* ---- Values --------------------------------------------------------------------- */

static void test_values(const struct gen *g, struct bpfrelay_log *log)
{
	bool text = true, json = true, find = true, range = true;
	const struct bpfrelay_item *item;
	struct bpfrelay_reader *reader;
	char want[2048], got[2048], elem[32];
	struct bpfrelay_value value;
	struct gen_record r;
	__u64 number;
	char *made;
	__u32 i, n, more;
	int len, e;

	bpfrelay_reader_open(log, NULL, &reader);
	for (e = 0; bpfrelay_reader_next(reader, &item) > 0; e++) {
		const struct gen_event *event = &g->event[e];

		if (!event->id)
			continue;
		memcpy(&r, event->data, sizeof(r));
		n = (event->len - sizeof(r)) / 4;
		find &= !bpfrelay_record_find(&item->record, "n", &value) &&
			!bpfrelay_value_number(&value, &number) && number == r.n;
		find &= !bpfrelay_record_find(&item->record, "check", &value) &&
			!bpfrelay_value_number(&value, &number) && (__s64)number == r.check;
		range &= bpfrelay_record_find(&item->record, "nosuch", &value) == -ENOENT &&
			 bpfrelay_record_find(&item->record, "n[0]", &value) == -ENOENT &&
			 bpfrelay_record_find(&item->record, "n.x", &value) == -ENOENT &&
			 bpfrelay_record_find(&item->record, "n]", &value) == -EINVAL;
		len = sprintf(want, "n=%llu cpu=%u check=%d", r.n, r.cpu, r.check);
		for (i = 0; event->id == 2 && i < n; i++) {
			memcpy(&more, event->data + sizeof(r) + 4 * i, 4);
			len += sprintf(want + len, "%s%u", i ? "," : " more=[", more);
			snprintf(elem, sizeof(elem), "more[%u]", i);
			find &= !bpfrelay_record_find(&item->record, elem, &value) &&
				!bpfrelay_value_number(&value, &number) && number == more;
		}
		if (event->id == 2) {
			strcat(want, n ? "]" : " more=[]");
			snprintf(elem, sizeof(elem), "more[%u]", n);
			range &= bpfrelay_record_find(&item->record, elem, &value) == -ERANGE;
		}
		bpfrelay_record_text(&item->record, got, sizeof(got));
		text &= !strcmp(got, want);

		len = sprintf(want, "{\"n\":%llu,\"cpu\":%u,\"check\":%d", r.n, r.cpu, r.check);
		for (i = 0; event->id == 2 && i < n; i++) {
			memcpy(&more, event->data + sizeof(r) + 4 * i, 4);
			len += sprintf(want + len, "%s%u", i ? "," : ",\"more\":[", more);
		}
		strcat(want, event->id == 2 ? n ? "]}" : ",\"more\":[]}" : "}");
		bpfrelay_record_json(&item->record, &made);
		json &= !strcmp(made, want);
		free(made);
	}
	bpfrelay_reader_close(reader);
	ktap_ok(find && e == g->n, "values: each by its path");
	ktap_ok(range, "values: what is not there is refused");
	ktap_ok(text, "values: as text");
	ktap_ok(json, "values: as JSON");
}

/* ---- Copies --------------------------------------------------------------------- */

struct progress {
	__u64 done, total;	/* as told last */
	int calls, limit;	/* after so many it has enough */
	bool backwards;
};

static int watch(void *ctx, __u64 done, __u64 total)
{
	struct progress *p = ctx;

	p->backwards |= done <= p->done || done > total || (p->calls && total != p->total);
	p->done = done;
	p->total = total;
	return ++p->calls == p->limit ? -EINTR : 0;
}

static void test_progress(struct bpfrelay_log *log)
{
	struct progress p = {};
	LIBBPF_OPTS(bpfrelay_snapshot_opts, opts, .progress = watch, .progress_ctx = &p);
	char command[1024];
	int err;

	err = bpfrelay_log_snapshot(log, path("watched"), &opts, NULL);
	ktap_ok(!err && p.calls > 2 && !p.backwards && p.done == p.total,
		"snapshot: tells its progress, %llu bytes of %llu", p.done, p.total);
	p = (struct progress){ .limit = 2 };
	err = bpfrelay_log_snapshot(log, path("ended"), &opts, NULL);
	snprintf(command, sizeof(command), "ls -d '%s'* >/dev/null 2>&1", path("ended"));
	ktap_ok(err == -EINTR && p.calls == 2 && system(command),
		"snapshot: ends when told to, and leaves nothing");
}

static void test_snapshot(const struct gen *g, struct bpfrelay_log *log)
{
	struct rlimit small = { GEN_PACKET * 3, RLIM_INFINITY }, old;
	struct bpfrelay_log *copy;
	struct stat dir, file;
	char command[1024];
	__u64 records = 0;
	struct seen seen;
	int err;

	err = bpfrelay_log_snapshot(log, path("snap"), NULL, &records);
	ktap_ok(!err && records == (__u64)g->n, "snapshot: %llu records", records);
	snprintf(command, sizeof(command), "diff -r '%s' '%s'", path("trace"), path("snap"));
	ktap_ok(!system(command), "snapshot: the same files");
	ktap_ok(!stat(path("snap"), &dir) && (dir.st_mode & 0777) == 0700 &&
		!stat(path("snap/cpu0"), &file) && (file.st_mode & 0777) == 0600,
		"snapshot: nobody else may read it");
	copy = open_log(path("snap"), NULL);
	seen = read_all(copy, g, 0, NULL, NULL);
	ktap_ok(seen.good && seen.records == g->n, "snapshot: reads like the log");
	bpfrelay_log_close(copy);
	ktap_ok(bpfrelay_log_snapshot(log, path("snap"), NULL, NULL) == -EEXIST,
		"snapshot: not where something is");

	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &old);
	setrlimit(RLIMIT_FSIZE, &small);
	err = bpfrelay_log_snapshot(log, path("full"), NULL, NULL);
	setrlimit(RLIMIT_FSIZE, &old);
	snprintf(command, sizeof(command), "ls -d '%s'* >/dev/null 2>&1", path("full"));
	ktap_ok(err == -EFBIG && system(command), "snapshot: leaves no half of one");
	test_progress(log);
}

static void test_stats(void)
{
	static const char text[] =
		"log: gen.7\nabi: 1\nmode: keep\nclock: boot\ntypes: 2\nsubbuf_size: 4096\n"
		"n_subbufs: 8\nmemory: 1234567\n\ncpu: 0\nentries: 12\noverrun: 345\n"
		"oldest event ts: 3.000000005\ndropped events: 7\nfrom the future: 9\n"
		"\ncpu: 4 (no buffer)\nentries: 0\n\ncpu: 5,7-254 (no buffer)\n";
	struct bpfrelay_stats *stats = NULL;
	struct bpfrelay_log *log;
	char *cut;
	int err;

	gen_write_file(path("root/other.3"), "stats", text, strlen(text));
	log = open_log("other", NULL);
	err = bpfrelay_log_stats(log, &stats);
	ktap_ok(!err && stats->abi == 1 && stats->mode == BPF_RELAY_KEEP && stats->subbuf_size == 4096 &&
		stats->memory == 1234567 && stats->n_cpus == 2 && stats->cpus[0].entries == 12 &&
		stats->cpus[0].overrun == 345 && stats->cpus[0].oldest_ts == 3000000005 &&
		stats->cpus[0].dropped == 7 && stats->cpus[1].cpu == 4 && stats->cpus[1].no_buffer,
		"stats: words and numbers");
	free(stats);
	cut = strdup(text);
	cut[strlen(text) - 3] = '\0';
	gen_write_file(path("root/other.3"), "stats", cut, strlen(cut));
	ktap_ok(bpfrelay_log_stats(log, &stats) == -EBADMSG, "stats: half a line is refused");
	free(cut);
	bpfrelay_log_close(log);
}

int main(void)
{
	struct bpfrelay_log *log;
	struct gen g;
	int err;

	ktap_begin();
	if (!mkdtemp(top))
		return 1;
	gen_make(&g, 1, 2000, 0);
	gen_write(&g, path("trace"));
	log = open_log(path("trace"), &err);
	if (!ktap_ok(log, "open: a trace"))
		printf("# %s", said);
	if (log) {
		test_order(&g, log);
		test_values(&g, log);
		test_snapshot(&g, log);
	}
	bpfrelay_log_close(log);
	gen_free(&g);
	test_complete();
	test_losses();
	test_find();
	test_stats();
	test_follow(1, 0, 0);
	test_follow(10, 0, 0);
	test_follow(300, 0, 0);
	test_follow(4, 2, 0);
	test_follow(7, 1, 0);
	test_follow(7, 1, 2);
	test_follow(8, 1, 2);
	test_follow(9, 1, 100);
	gen_remove(top);
	return ktap_end();
}
