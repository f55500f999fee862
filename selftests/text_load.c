// SPDX-License-Identifier: GPL-2.0-only
/* The file text under full write load, and what an open one takes. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "kselftest_harness.h"
#include "text_test.h"

/* Emulated CPUs are slow, and all of them write. */
#undef TEST_TIMEOUT_DEFAULT
#define TEST_TIMEOUT_DEFAULT	TIMEOUT

#define READS	60	/* of the whole file */

static volatile bool stop;

struct writer {
	pthread_t thread;
	struct relay_log *log;
	int cpu;
};

static void *writer(void *arg)
{
	struct writer *w = arg;

	run_on(w->cpu);
	while (!stop)
		log_run(w->log, "copies_write", -1);
	return NULL;
}

/* What was found in texts. */
struct totals {
	unsigned long texts, records, lost;
	unsigned long gaps;	/* sequence numbers that are missing inside */
};

/* What is known of a CPU while a text is read. */
struct seen {
	__u64 first, last, shown, lost;
};

#define wrong(fmt, ...)								\
({										\
	printf("# line %u: " fmt "\n", n, ##__VA_ARGS__);			\
	false;									\
})

/* A record is one that was written, whole, and on the CPU that it names. */
static bool parse_record(const char *line, size_t len, __u64 *ns, int *cpu, __u64 *seq)
{
	const char *rest = text_time(line, ns);
	char want[160], kind[8];
	int n;

	if (!rest || sscanf(rest, " cpu%d copies_%7[a-z] seq=%llu ", cpu, kind, seq) != 3)
		return false;
	n = text_line(want, sizeof(want), strcmp(kind, "even") ? 2 : 1, *seq, *cpu);
	return rest + 1 + n == line + len && !memcmp(rest + 1, want, n);
}

/*
 * A text that was read under load: whole lines in the order of time, nothing that was
 * written after `next` (sequence numbers just after the open), and what is missing of
 * the records that the head promises is what the tail says.
 */
static bool check_text(const char *text, const __u64 *next, struct totals *t)
{
	struct seen seen[TEXT_CPUS] = {};
	__u64 ns, last_ns = 0, seq, shown = 0, lost = 0, all = text_head(text, "records=");
	const char *line = text, *end;
	int cpu, last_cpu = 0, at;
	unsigned int n = 0;

	for (; (end = strchr(line, '\n')); line = end + 1) {
		struct seen *s;

		if (n++ < TEXT_HEAD) {
			if (*line != '#')
				return wrong("none of the head");
			continue;
		}
		if (*line == '#') {
			at = 0;
			if (sscanf(line, "# cpu %d: %llu records overwritten while reading%n", &cpu,
				   &seq, &at) != 2 || line + at != end || cpu < 0 ||
			    cpu >= TEXT_CPUS || seen[cpu].lost || !seq)
				return wrong("'%.*s'", (int)(end - line), line);
			seen[cpu].lost = seq;
			lost += seq;
			continue;
		}
		if (lost)
			return wrong("a record behind the tail");
		if (!parse_record(line, end - line, &ns, &cpu, &seq))
			return wrong("torn: '%.*s'", (int)(end - line), line);
		if (ns < last_ns || (ns == last_ns && cpu < last_cpu))
			return wrong("not in order");
		last_ns = ns;
		last_cpu = cpu;
		s = &seen[cpu];
		if (s->shown && seq <= s->last)
			return wrong("cpu%d: record %llu behind %llu", cpu, seq, s->last);
		if (seq >= next[cpu])
			return wrong("cpu%d: record %llu is newer than the snapshot", cpu, seq);
		if (!s->shown++)
			s->first = seq;
		s->last = seq;
		shown++;
	}
	if (*line)
		return wrong("not ended: '%s'", line);
	if (shown + lost != all)
		return wrong("%llu records and %llu lost are not %llu", shown, lost, all);
	for (cpu = 0; cpu < TEXT_CPUS; cpu++) {
		__u64 gaps = seen[cpu].shown ?
			     seen[cpu].last - seen[cpu].first + 1 - seen[cpu].shown : 0;

		if (gaps > seen[cpu].lost)
			return wrong("cpu%d: %llu records missing, %llu lost", cpu, gaps,
				     seen[cpu].lost);
		t->gaps += gaps;
	}
	t->texts++;
	t->records += shown;
	t->lost += lost;
	return true;
}

/* Read it all, or in small steps with pauses, so that writers overtake. */
static char *read_text(struct relay_log *log, bool slowly, __u64 *next)
{
	int fd = text_open(log);
	char *text;

	memcpy(next, text_args(log)->next, sizeof(text_args(log)->next));
	if (slowly) {
		char head[3000];
		size_t got = 0;

		while (got < sizeof(head)) {
			ssize_t n = read(fd, head + got, 500);

			if (n <= 0)
				break;
			got += n;
			usleep(1000);
		}
		text = text_rest(fd, 1 << 16);
		text = realloc(text, got + strlen(text) + 1);
		memmove(text + got, text, strlen(text) + 1);
		memcpy(text, head, got);
	} else {
		text = text_rest(fd, 1 << 16);
	}
	close(fd);
	return text;
}

/* The first line at or behind `at` that is a record. */
static char *record_from(char *text, size_t at)
{
	char *line = strchr(text + at, '\n');

	while (line && line[1] == '#')
		line = strchr(line + 1, '\n');
	return line ? line + 1 : NULL;
}

/*
 * Fails when: under load a record is torn, out of order, shown twice or newer than
 * the snapshot, or what was overtaken is not counted to the unit.
 */
TEST(whole_records_only)
{
	struct totals t = {}, unused = {};
	struct writer w[TEXT_CPUS];
	__u64 next[TEXT_CPUS];
	struct relay_log log;
	char *text = NULL, *line;
	int cpus = n_cpus(), i;

	text_open_log(&log, &small);
	text_args(&log)->count = 5000;
	for (i = 0; i < cpus; i++) {
		w[i] = (struct writer) { .log = &log, .cpu = i };
		ASSERT_EQ(pthread_create(&w[i].thread, NULL, writer, &w[i]), 0);
	}
	for (i = 0; i < READS; i++) {
		free(text);
		text = read_text(&log, i % 3 == 2, next);
		EXPECT_TRUE(check_text(text, next, &t));
	}
	stop = true;
	for (i = 0; i < cpus; i++)
		pthread_join(w[i].thread, NULL);
	printf("# %lu texts, %lu records, %lu overwritten while reading (%lu between others)\n",
	       t.texts, t.records, t.lost, t.gaps);
	EXPECT_EQ(text_args(&log)->failed, 0);
	EXPECT_GT(t.records, 1000);
	EXPECT_GT(t.lost, 1000);
	EXPECT_TRUE(log_identities(&log));

	printf("# controls, to be found wrong:\n");
	free(text);
	memcpy(next, text_args(&log)->next, sizeof(next));
	text = text_read(&log, 1 << 16);
	ASSERT_TRUE(check_text(text, next, &unused));
	line = record_from(text, 20000);
	line[60]++;
	EXPECT_FALSE(check_text(text, next, &unused));
	line[60]--;
	ASSERT_TRUE(check_text(text, next, &unused));
	memmove(line, strchr(line, '\n') + 1, strlen(strchr(line, '\n') + 1) + 1);
	EXPECT_FALSE(check_text(text, next, &unused));
	free(text);
	text = text_read(&log, 1 << 16);
	next[0] = 1;
	EXPECT_FALSE(check_text(text, next, &unused));
	free(text);
	log_unload(&log);
	EXPECT_TRUE(log_gone(&log));
}

/* Bytes of kernel memory that the cgroup is charged for. */
static long long charged(const char *dir)
{
	char path[128], line[128];
	long long bytes = -1;
	FILE *f;

	snprintf(path, sizeof(path), "%s/memory.stat", dir);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "kernel %lld", &bytes) == 1)
			break;
	if (f)
		fclose(f);
	return bytes;
}

/* What each of many open files takes, in a log with as many sub-buffers as can be. */
static long long bytes_per_file(const char *dir)
{
	enum { FILES = 300 };
	struct bpf_relay_opts most = {
		.subbuf_size = SUBBUF, .n_subbufs = BPF_RELAY_N_SUBBUFS_MAX,
	};
	int i, fds[FILES], to_parent[2];
	long long bytes = -1;
	struct relay_log log;
	char path[128];
	pid_t pid;

	text_open_log(&log, &most);
	for (i = 0; i < n_cpus(); i++)
		text_write(&log, i, 1000);
	snprintf(path, sizeof(path), "%s/cgroup.procs", dir);
	if (pipe(to_parent))
		return -1;
	pid = fork();
	if (!pid) {
		int procs = open(path, O_WRONLY);
		char buf[1000];

		if (procs < 0 || write(procs, "0", 1) != 1)
			_exit(1);
		/* Whatever the first one needs besides is there then. */
		close(text_open(&log));
		bytes = charged(dir);
		for (i = 0; i < FILES; i++) {
			fds[i] = text_open(&log);
			if (read(fds[i], buf, sizeof(buf)) != sizeof(buf))
				_exit(1);
		}
		bytes = (charged(dir) - bytes) / FILES;
		if (write(to_parent[1], &bytes, sizeof(bytes)) != sizeof(bytes))
			_exit(1);
		_exit(0);
	}
	close(to_parent[1]);
	if (read(to_parent[0], &bytes, sizeof(bytes)) != sizeof(bytes))
		bytes = -1;
	waitpid(pid, NULL, 0);
	log_unload(&log);
	log_gone(&log);
	return bytes;
}

/* Fails when: an open file takes more than 64 KiB and 1 KiB for each CPU. */
TEST(memory)
{
	static const char dir[] = "/sys/fs/cgroup/bpf_relay_text";
	long long bytes;

	if (shell("echo +memory >/sys/fs/cgroup/cgroup.subtree_control") || mkdir(dir, 0755))
		SKIP(return, "no memory controller");
	bytes = bytes_per_file(dir);
	rmdir(dir);
	printf("# an open file takes %lld bytes\n", bytes);
	EXPECT_LE(bytes, 65536 + 1024 * n_cpus());
	/* The measurement does see what is known to be there: a payload and the text. */
	EXPECT_GT(bytes, 32768);
}

TEST_HARNESS_MAIN
