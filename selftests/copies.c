// SPDX-License-Identifier: GPL-2.0-only
/*
 * Copies of ctf/ by the tools that people use, idle and under full write load: each
 * is a trace that babeltrace2 reads without a word, but for the number of events that
 * are missing, and these are exactly those that are missing.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "bpf/copies.h"
#include "relay_test.h"

#define SUBBUF		4096
#define N_SUBBUFS	8
#define BUFFER		(SUBBUF * N_SUBBUFS)
#define RECORDS_MAX	(BUFFER / 40)	/* the smallest record takes 40 bytes */
#define LAP		RECORDS_MAX	/* at least a lap */
#define LOADED		50		/* copies under load */
#define CHECKERS	3
#define TIMEOUT		600

/* cp reads to the end; tar, rsync and scp -O read as much as stat() says. */
static const struct {
	const char *name;
	const char *script;	/* $L: the log, $D: the copy, $B: the place for all */
} tools[] = {
	{ "cp", "cp -r $L/ctf $D" },
	{ "tar", "mkdir $D && tar -C $L -cf $D.tar ctf && "
		 "tar -C $D --strip-components=1 -xf $D.tar && rm $D.tar" },
	{ "rsync", "rsync -a $L/ctf/ $D/" },
	{ "scp", "scp -F $B/ssh_config -qr relay:$L/ctf $D" },
	{ "scp -O", "scp -F $B/ssh_config -Oqr relay:$L/ctf $D" },
};

#define N_TOOLS		(sizeof(tools) / sizeof(*tools))

static const char even_tsdl[] =
	"event { name = \"copies_even\"; id = 1; stream_id = 0; fields := struct {\n"
	"	uint64_t seq; uint64_t check; uint32_t cpu; uint32_t zero;\n} align(64); };";
static const char odd_tsdl[] =
	"event { name = \"copies_odd\"; id = 2; stream_id = 0; fields := struct {\n"
	"	uint64_t seq; uint64_t check; uint32_t cpu; uint8_t tail[3];\n} align(64); };";

/* Of all copies; shared with the processes that check. */
struct totals {
	unsigned long copies, good;
	unsigned long packets, empty;	/* empty: delivered without records */
	unsigned long events;		/* in the packets, and printed */
	unsigned long missing;		/* by the packets, and by babeltrace2's warnings */
	unsigned long warnings;
	unsigned long torn;
};

/* What must hold of a copy besides what always must. */
struct expect {
	size_t len[COPIES_CPUS];	/* of cpuN */
	bool quiet;			/* written while nobody wrote, nothing dropped: */
	__u64 entries[COPIES_CPUS];	/*	of stats */
	__u64 next[COPIES_CPUS];	/*	of the call that would have come next */
};

/* One cpuN file of a copy. */
struct stream {
	int cpu;
	const char *data;
	unsigned int n;
	__u64 seq[RECORDS_MAX];
	unsigned int packet[RECORDS_MAX];
	bool bad;
	/* What babeltrace2 must say, and what it said so far. */
	__u64 missing, warnings;
	__u64 said_events, said_missing, said_warnings;
};

#define READ_ONCE(x)	(*(const volatile __typeof__(x) *)&(x))

#define wrong(fmt, ...)							\
({									\
	printf("# %s: " fmt "\n", dir, ##__VA_ARGS__);			\
	fflush(stdout);							\
	false;								\
})

static char *read_file(const char *dir, const char *name, size_t *len)
{
	char path[256];
	struct stat st;
	char *data;
	int fd;

	snprintf(path, sizeof(path), "%s%s", dir, name);
	fd = open(path, O_RDONLY);
	if (fd < 0 || fstat(fd, &st))
		return NULL;
	data = malloc(st.st_size + 1);
	if (read(fd, data, st.st_size) != st.st_size)
		st.st_size = 0;
	data[st.st_size] = 0;
	*len = st.st_size;
	close(fd);
	return data;
}

static bool take_record(const struct record *rec, void *ctx)
{
	struct stream *s = ctx;
	const struct copies_odd *r = rec->payload;

	s->bad |= rec->header->len != (rec->header->id == 1 ? sizeof(struct copies_even) :
							      sizeof(struct copies_odd)) ||
		  r->cpu != s->cpu || r->check != COPIES_CHECK(r->seq, r->cpu) ||
		  s->n == RECORDS_MAX;
	if (s->bad)
		return false;
	s->packet[s->n] = ((const char *)rec->packet - s->data) / SUBBUF;
	s->seq[s->n++] = r->seq;
	return true;
}

static __u64 discarded_until(const struct stream *s, unsigned int packet)
{
	const struct bpf_relay_packet *p = (void *)s->data + packet * SUBBUF;

	return p->events_discarded;
}

/*
 * A call is stored in a packet, or dropped while the packet was the newest, or was
 * overtaken in it. So from the first record of packet i to that of packet j there are
 * as many numbers as there are records, and events more discarded at their ends.
 */
static bool numbers_add_up(const char *dir, const struct stream *s)
{
	unsigned int i, first = 0;

	for (i = 1; i < s->n; i++) {
		unsigned int p = s->packet[first], q = s->packet[i];
		__u64 numbers = s->seq[i] - s->seq[first];
		/* Of the first packet it is not known what was discarded before it. */
		__u64 discarded = p ? discarded_until(s, p == q ? q : q - 1) -
				      discarded_until(s, p - 1) : 0;

		if (s->seq[i] <= s->seq[i - 1])
			return wrong("cpu%d: record %llu behind %llu", s->cpu, s->seq[i],
				     s->seq[i - 1]);
		/* Inside a packet it is not known where. */
		if (p && (p == q ? numbers > i - first + discarded :
				   numbers != i - first + discarded))
			return wrong("cpu%d: %u records and %llu discarded from %llu to %llu",
				     s->cpu, i - first, discarded, s->seq[first], s->seq[i]);
		if (p != q)
			first = i;
	}
	return true;
}

static bool check_packets(const char *dir, const struct expect *e, struct stream *s,
			  struct totals *t)
{
	char name[32];
	unsigned int i;
	size_t len;
	long n;

	snprintf(name, sizeof(name), "/cpu%d", s->cpu);
	s->data = read_file(dir, name, &len);
	if (!s->data)
		return wrong("no file %s", name);
	if (len != e->len[s->cpu])
		return wrong("cpu%d has %zu bytes, not %zu", s->cpu, len, e->len[s->cpu]);
	n = ctf_walk(s->data, len, SUBBUF, take_record, s);
	if (s->bad)
		__sync_fetch_and_add(&t->torn, 1);
	if (n < 0 || s->bad)
		return wrong("cpu%d: %s", s->cpu, s->bad ? "a torn record" : "not valid");
	if (n != s->n || !numbers_add_up(dir, s))
		return wrong("cpu%d: %ld records", s->cpu, n);
	for (i = 0; i < len / SUBBUF; i++) {
		const struct bpf_relay_packet *p = (void *)s->data + i * SUBBUF;
		__u64 missing = i ? p->events_discarded - discarded_until(s, i - 1) : 0;

		s->missing += missing;
		s->warnings += missing != 0;
		__sync_fetch_and_add(&t->empty, p->content_size == sizeof(*p) * 8);
		__sync_fetch_and_add(&t->packets, 1);
	}
	if (!e->quiet)
		return true;
	if (n != e->entries[s->cpu])
		return wrong("cpu%d: %ld records, entries %llu", s->cpu, n, e->entries[s->cpu]);
	if (n && s->seq[n - 1] + 1 != e->next[s->cpu])
		return wrong("cpu%d: newest record is %llu, not %llu", s->cpu, s->seq[n - 1],
			     e->next[s->cpu] - 1);
	return true;
}

/* Each line on stdout is an event: the next one of its CPU. */
static bool check_events(const char *dir, char *text, struct stream *s)
{
	char *line, *save = NULL;

	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		unsigned long long seq, check;
		unsigned int stream, cpu;
		const char *fields = strstr(line, "cpu_id = ");

		if (!fields || sscanf(fields, "cpu_id = %u }, { seq = %llu, check = %llu, cpu = %u",
				      &stream, &seq, &check, &cpu) != 4 ||
		    stream != cpu || cpu >= n_cpus())
			return wrong("babeltrace2 printed: %s", line);
		if (s[cpu].said_events >= s[cpu].n || s[cpu].seq[s[cpu].said_events] != seq ||
		    check != COPIES_CHECK(seq, cpu))
			return wrong("babeltrace2's event %llu of cpu%u is %llu",
				     s[cpu].said_events, cpu, seq);
		s[cpu].said_events++;
	}
	return true;
}

static bool check_warnings(const char *dir, char *text, struct stream *s)
{
	char *line, *save = NULL;

	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		const char *count = strstr(line, "Tracer discarded ");
		const char *stream = strstr(line, "stream ID: ");
		unsigned long long n;
		unsigned int cpu;
		char unit[16];

		if (!count || !stream ||
		    sscanf(count, "Tracer discarded %llu %15s between", &n, unit) != 2 ||
		    strncmp(unit, "event", 5) || sscanf(stream, "stream ID: %u", &cpu) != 1 ||
		    cpu >= n_cpus())
			return wrong("babeltrace2 said: %s", line);
		s[cpu].said_missing += n;
		s[cpu].said_warnings++;
	}
	return true;
}

static bool check_trace(const char *dir, const struct expect *e, struct stream *s,
			struct totals *t)
{
	bool good;
	size_t len;
	char *text;
	int cpu;

	/* What is wrong with a trace can make it run for ever. */
	cpu = shell("timeout 120 babeltrace2 %s >%s.out 2>%s.err", dir, dir, dir);
	text = read_file(dir, ".err", &len);
	if (cpu || (e->quiet && len)) {
		wrong("babeltrace2 exits with %d: %.*s", cpu, (int)strcspn(text, "\n"), text);
		free(text);
		return false;
	}
	good = check_warnings(dir, text, s);
	free(text);
	text = read_file(dir, ".out", &len);
	good = good && check_events(dir, text, s);
	free(text);
	for (cpu = 0; cpu < n_cpus() && good; cpu++) {
		if (s[cpu].said_events != s[cpu].n)
			good = wrong("cpu%d: babeltrace2 printed %llu of %u events", cpu,
				     s[cpu].said_events, s[cpu].n);
		else if (s[cpu].said_missing != s[cpu].missing ||
			 s[cpu].said_warnings != s[cpu].warnings)
			good = wrong("cpu%d: babeltrace2 misses %llu events in %llu places, not %llu in %llu",
				     cpu, s[cpu].said_missing, s[cpu].said_warnings,
				     s[cpu].missing, s[cpu].warnings);
		__sync_fetch_and_add(&t->events, s[cpu].n);
		__sync_fetch_and_add(&t->missing, s[cpu].missing);
		__sync_fetch_and_add(&t->warnings, s[cpu].warnings);
	}
	return good;
}

/* The one check that all copies go through. Prints what is wrong. */
static bool check_copy(const char *dir, const struct expect *e, struct totals *t)
{
	struct stream *s = calloc(n_cpus(), sizeof(*s));
	bool good = true;
	int cpu;

	for (cpu = 0; cpu < n_cpus() && good; cpu++) {
		s[cpu].cpu = cpu;
		good = check_packets(dir, e, &s[cpu], t);
	}
	good = good && check_trace(dir, e, s, t);
	for (cpu = 0; cpu < n_cpus(); cpu++)
		free((void *)s[cpu].data);
	free(s);
	__sync_fetch_and_add(&t->copies, 1);
	__sync_fetch_and_add(&t->good, good);
	return good;
}

/* ---- The log and the copies ----------------------------------------------- */

FIXTURE(copies) {
	struct relay_log log;
	struct copies_args *args;
	char base[64];
	struct totals *totals;
	struct expect expect;
	bool ssh;
};

static void write_on(struct relay_log *log, struct copies_args *args, int cpu, __u64 count)
{
	args->count = count;
	log_run(log, "copies_write", cpu);
}

static void write_on_all(struct relay_log *log, struct copies_args *args, __u64 count)
{
	int cpu;

	for (cpu = 0; cpu < n_cpus(); cpu++)
		write_on(log, args, cpu, count);
}

/* Of what is in the log now, with nobody writing. */
static void expect_now(struct expect *e, const struct relay_log *log,
		       const struct copies_args *args)
{
	char path[256];
	struct stat st;
	int cpu;

	e->quiet = true;
	for (cpu = 0; cpu < n_cpus(); cpu++) {
		snprintf(path, sizeof(path), "%s/ctf/cpu%d", log->dir, cpu);
		stat(path, &st);
		e->len[cpu] = st.st_size;
		e->entries[cpu] = log_stat(log, cpu, "entries");
		e->next[cpu] = args->next[cpu];
	}
}

static void expect_full(struct expect *e)
{
	int cpu;

	*e = (struct expect) {};
	for (cpu = 0; cpu < n_cpus(); cpu++)
		e->len[cpu] = BUFFER;
}

static bool copy(const char *base, const struct relay_log *log, const char *to,
		 unsigned int tool)
{
	return shell("B=%s L=%s D=%s/%s; exec 2>>$B/said; %s", base, log->dir, base, to,
		     tools[tool].script) == 0;
}

/* A server for scp, and a connection that all copies share. */
static bool ssh_start(const char *base)
{
	return shell("B=%s; exec >>$B/ssh_log 2>&1 </dev/null\n"
		     "mkdir -p /run/sshd && ssh-keygen -qt ed25519 -N '' -f $B/key &&\n"
		     "cp $B/key.pub $B/authorized && cat >$B/sshd_config <<-END &&\n"
		     "	ListenAddress 127.0.0.1\n	Port 2222\n	HostKey $B/key\n"
		     "	AuthorizedKeysFile $B/authorized\n	PidFile $B/sshd.pid\n"
		     "	StrictModes no\n	UsePAM no\n	PermitRootLogin yes\n"
		     "	LoginGraceTime 600\n"
		     "	Subsystem sftp /usr/lib/openssh/sftp-server\n"
		     "END\n"
		     "cat >$B/ssh_config <<-END &&\n"
		     "	Host relay\n	HostName 127.0.0.1\n	Port 2222\n	User root\n"
		     "	IdentityFile $B/key\n	StrictHostKeyChecking no\n"
		     "	UserKnownHostsFile /dev/null\n	LogLevel ERROR\n"
		     "	ControlPath $B/mux\n	ControlMaster auto\n"
		     "END\n"
		     "/usr/sbin/sshd -f $B/sshd_config && ssh -F $B/ssh_config -fN relay", base) == 0;
}

static void ssh_stop(const char *base)
{
	shell("B=%s; exec >/dev/null 2>&1; ssh -F $B/ssh_config -O exit relay; "
	      "kill $(cat $B/sshd.pid)", base);
}

FIXTURE_SETUP(copies)
{
	const struct bpf_relay_opts opts = { .subbuf_size = SUBBUF, .n_subbufs = N_SUBBUFS };
	struct bpf_relay_setup *setup;

	log_load(&self->log, "copies", "copies");
	setup = log_var(&self->log, ".data.relay", "copies_setup");
	setup->type[0].tsdl = (unsigned long)even_tsdl;
	setup->type[0].tsdl_len = sizeof(even_tsdl) - 1;
	setup->type[1].tsdl = (unsigned long)odd_tsdl;
	setup->type[1].tsdl_len = sizeof(odd_tsdl) - 1;
	ASSERT_EQ(log_open(&self->log, &opts), 0);
	ASSERT_LE(n_cpus(), COPIES_CPUS);
	self->args = log_var(&self->log, ".bss", "args");
	self->totals = mmap(NULL, sizeof(*self->totals), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	strcpy(self->base, "/dev/shm/copies.XXXXXX");
	ASSERT_NE(mkdtemp(self->base), NULL);
	ASSERT_EQ(shell("babeltrace2 --version >/dev/null"), 0);
}

FIXTURE_TEARDOWN(copies)
{
	if (self->ssh)
		ssh_stop(self->base);
	EXPECT_EQ(self->args->failed, 0);
	log_unload(&self->log);
	EXPECT_TRUE(log_gone(&self->log));
	shell("rm -rf %s", self->base);
}

/* The tools that there are; those without scp come first. */
static unsigned int usable_tools(const char *base, bool *ssh)
{
	if (shell("command -v scp >/dev/null && [ -x /usr/sbin/sshd ]")) {
		printf("# no scp or no sshd: copies by scp are left out\n");
		return 3;
	}
	*ssh = ssh_start(base);
	if (*ssh)
		return N_TOOLS;
	shell("sed 's/^/# ssh: /' %s/ssh_log", base);
	return 0;
}

static void print_totals(const struct totals *t, const char *what)
{
	printf("# %s: %lu copies, %lu good; %lu packets, %lu of them without records; "
	       "%lu events printed; %lu missing, in %lu warnings; %lu torn\n",
	       what, t->copies, t->good, t->packets, t->empty, t->events, t->missing,
	       t->warnings, t->torn);
}

/*
 * Fails when: sizes lie (tar, rsync and scp -O cut or fill up), an empty file or the
 * half-full packet is no valid end, the metadata do not describe the records.
 */
TEST_F_TIMEOUT(copies, idle, TIMEOUT)
{
	unsigned int i, n = usable_tools(self->base, &self->ssh);
	char name[80];

	ASSERT_NE(n, 0);
	/* The last CPU's file is empty, the first one's packets were all overwritten. */
	write_on(&self->log, self->args, 0, 3 * LAP);
	write_on(&self->log, self->args, 1 % n_cpus(), 3);
	for (i = 0; i < 2 * n; i++) {
		if (i == n)
			write_on_all(&self->log, self->args, LAP + 7);
		expect_now(&self->expect, &self->log, self->args);
		snprintf(name, sizeof(name), "idle%u", i);
		ASSERT_TRUE(copy(self->base, &self->log, name, i % n));
		snprintf(name, sizeof(name), "%s/idle%u", self->base, i);
		EXPECT_TRUE(check_copy(name, &self->expect, self->totals)) {
			TH_LOG("by %s", tools[i % n].name);
		}
	}
	EXPECT_EQ(shell("! grep . %s/said", self->base), 0);
	print_totals(self->totals, "idle");
}

/*
 * Fails when: a second rsync into the same directory believes that nothing changed
 * and keeps the old records. It compares whole seconds.
 */
TEST_F_TIMEOUT(copies, again, TIMEOUT)
{
	char name[80];
	int i;

	snprintf(name, sizeof(name), "%s/again", self->base);
	for (i = 0; i < 3; i++) {
		sleep(i ? 2 : 0);
		write_on_all(&self->log, self->args, 2 * LAP);
		expect_now(&self->expect, &self->log, self->args);
		ASSERT_TRUE(copy(self->base, &self->log, "again", 2));
		EXPECT_TRUE(check_copy(name, &self->expect, self->totals)) {
			TH_LOG("rsync, time %d", i + 1);
		}
	}
	EXPECT_EQ(shell("! grep . %s/said", self->base), 0);
}

/* What cp does, but for records written on each CPU after `packets` packets. */
static bool copy_slowly(const char *dir, struct relay_log *log, struct copies_args *args,
			int packets, __u64 count)
{
	char path[256], buf[BUFFER];
	int cpu, from, to, i;

	if (shell("mkdir %s && cp %s/ctf/metadata %s", dir, log->dir, dir))
		return false;
	for (cpu = 0; cpu < n_cpus(); cpu++) {
		snprintf(path, sizeof(path), "%s/ctf/cpu%d", log->dir, cpu);
		from = open(path, O_RDONLY);
		snprintf(path, sizeof(path), "%s/cpu%d", dir, cpu);
		to = open(path, O_WRONLY | O_CREAT, 0600);
		for (i = 0; i < N_SUBBUFS; i++) {
			if (i == packets)
				write_on(log, args, cpu, count);
			if (read(from, buf, SUBBUF) != SUBBUF || write(to, buf, SUBBUF) != SUBBUF)
				return false;
		}
		close(from);
		close(to);
	}
	return true;
}

/*
 * Fails when: what a writer overtook is not said to babeltrace2, or not exactly. (Here
 * it is certain that there is something; under load it depends.)
 */
TEST_F_TIMEOUT(copies, overtaken, TIMEOUT)
{
	static const struct { int packets; __u64 count; } cases[] = {
		{ 0, LAP / N_SUBBUFS + 1 }, { 0, LAP / 2 }, { 1, LAP / 2 }, { 3, 3 * LAP },
		{ 0, 2 * LAP },
	};
	unsigned int i, empty = 0;
	char name[80];

	expect_full(&self->expect);
	write_on_all(&self->log, self->args, 2 * LAP);
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		self->args->drop_every = i % 2 ? 64 : 0;
		snprintf(name, sizeof(name), "%s/slow%u", self->base, i);
		ASSERT_TRUE(copy_slowly(name, &self->log, self->args, cases[i].packets,
					cases[i].count));
		EXPECT_TRUE(check_copy(name, &self->expect, self->totals));
		EXPECT_GT(self->totals->empty, empty);
		empty = self->totals->empty;
	}
	EXPECT_GT(self->totals->warnings, 0);
	print_totals(self->totals, "overtaken");
}

/* Write on a CPU for ever. */
static pid_t start_writer(struct relay_log *log, int cpu)
{
	pid_t parent = getpid(), pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	run_on(cpu);
	for (;;)
		log_run(log, "copies_write", -1);
}

static __u64 written(const struct copies_args *args)
{
	__u64 sum = 0;
	int cpu;

	for (cpu = 0; cpu < n_cpus(); cpu++)
		sum += READ_ONCE(args->next[cpu]);
	return sum;
}

/*
 * Fails when: a copy taken while all CPUs write is torn, cut, or silent about what is
 * missing in it.
 */
TEST_F_TIMEOUT(copies, under_full_load, TIMEOUT)
{
	unsigned int i, t, n = usable_tools(self->base, &self->ssh);
	pid_t writer[COPIES_CPUS], tool[N_TOOLS], checker[CHECKERS];
	char name[80];
	__u64 before;
	int cpu;

	ASSERT_NE(n, 0);
	expect_full(&self->expect);
	write_on_all(&self->log, self->args, 2 * LAP);
	self->args->count = 500;
	before = written(self->args);
	for (cpu = 0; cpu < n_cpus(); cpu++) {
		__u64 was = self->args->next[cpu];

		writer[cpu] = start_writer(&self->log, cpu);
		while (READ_ONCE(self->args->next[cpu]) == was)
			usleep(1000);
	}
	/* All tools at once, again and again. */
	for (i = 0; i < LOADED; i++) {
		snprintf(name, sizeof(name), "loaded%u", i);
		fflush(stdout);
		tool[i % n] = fork();
		if (!tool[i % n])
			_exit(!copy(self->base, &self->log, name, i % n));
		if (i % n != n - 1 && i != LOADED - 1)
			continue;
		for (t = 0; t <= i % n; t++) {
			int status;

			waitpid(tool[t], &status, 0);
			EXPECT_EQ(status, 0) {
				TH_LOG("a copy by %s", tools[t].name);
			}
		}
		self->args->drop_every = self->args->drop_every ? 0 : 64;
	}
	for (cpu = 0; cpu < n_cpus(); cpu++) {
		int status;

		/* Still there, and ended by nobody else. */
		EXPECT_EQ(waitpid(writer[cpu], &status, WNOHANG), 0);
		kill(writer[cpu], SIGKILL);
		waitpid(writer[cpu], &status, 0);
		EXPECT_EQ(WTERMSIG(status), SIGKILL);
	}
	printf("# %llu calls while %u copies were made\n", written(self->args) - before, i);
	EXPECT_EQ(shell("! grep . %s/said", self->base), 0);

	for (i = 0; i < CHECKERS; i++) {
		fflush(stdout);
		checker[i] = fork();
		if (checker[i])
			continue;
		for (; i < LOADED; i += CHECKERS) {
			snprintf(name, sizeof(name), "%s/loaded%u", self->base, i);
			check_copy(name, &self->expect, self->totals);
		}
		_exit(0);
	}
	for (i = 0; i < CHECKERS; i++)
		waitpid(checker[i], NULL, 0);
	print_totals(self->totals, "under load");
	EXPECT_EQ(self->totals->copies, LOADED);
	EXPECT_EQ(self->totals->good, LOADED);
	EXPECT_EQ(self->totals->torn, 0);
	EXPECT_GT(self->totals->missing, 0);
	EXPECT_EQ(log_stat(&self->log, -1, "damaged packets"), 0);
	EXPECT_TRUE(log_identities(&self->log));
}

/* Change one byte of a file of a copy. */
static void flip(const char *dir, const char *name, off_t at)
{
	char path[256], c;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_RDWR);
	if (fd < 0 || pread(fd, &c, 1, at) != 1)
		exit(1);
	c ^= 1;
	if (pwrite(fd, &c, 1, at) != 1)
		exit(1);
	close(fd);
}

/* Fails when: check_copy() does not notice what is wrong with a copy. */
TEST_F_TIMEOUT(copies, negative_controls, TIMEOUT)
{
	static const struct { const char *what, *damage; } cases[] = {
		{ "a stray file", "echo hello >$D/stats" },
		{ "half a packet less", "truncate -s -2048 $D/cpu1" },
		{ "a packet less", "truncate -s -4096 $D/cpu1" },
		{ "a packet of zeroes more", "truncate -s +4096 $D/cpu1" },
		{ "a file less", "rm $D/cpu1" },
		{ "metadata cut short", "truncate -s -40 $D/metadata" },
		{ "another field's name", "sed -i 's/uint64_t seq;/uint64_t sew;/' $D/metadata" },
		{ "another field's size",
		  "sed -i 's/uint64_t check;/uint32_t check;/' $D/metadata" },
		{ "two packets swapped", "cp $D/cpu1 $D.tmp; dd if=$D.tmp of=$D/cpu1 bs=4096 "
		  "skip=3 seek=4 count=1 conv=notrunc 2>/dev/null; dd if=$D.tmp of=$D/cpu1 "
		  "bs=4096 skip=4 seek=3 count=1 conv=notrunc 2>/dev/null" },
	};
	static const struct { const char *what; off_t at; } bytes[] = {
		{ "a byte of a record", 88 + 16 + 9 },
		{ "a byte of a record's number", SUBBUF + 88 + 16 },
		{ "a byte of a record's time", 88 + 7 },
		{ "a byte of a record's state", 88 + 10 },
		{ "a packet's events_discarded", 3 * SUBBUF + offsetof(struct bpf_relay_packet,
								       events_discarded) },
		{ "a packet's number", offsetof(struct bpf_relay_packet, packet_seq_num) },
		{ "a byte of padding", 2 * SUBBUF - 1 },
	};
	char good[80], dir[80];
	unsigned int i;

	write_on_all(&self->log, self->args, 2 * LAP);
	expect_now(&self->expect, &self->log, self->args);
	snprintf(good, sizeof(good), "%s/good", self->base);
	snprintf(dir, sizeof(dir), "%s/bad", self->base);
	ASSERT_TRUE(copy(self->base, &self->log, "good", 0));
	ASSERT_TRUE(check_copy(good, &self->expect, self->totals));

	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		ASSERT_EQ(shell("D=%s; rm -rf $D; cp -r %s $D; %s", dir, good, cases[i].damage), 0);
		printf("# control: %s\n", cases[i].what);
		EXPECT_FALSE(check_copy(dir, &self->expect, self->totals)) {
			TH_LOG("not noticed: %s", cases[i].what);
		}
	}
	for (i = 0; i < sizeof(bytes) / sizeof(*bytes); i++) {
		ASSERT_EQ(shell("rm -rf %s; cp -r %s %s", dir, good, dir), 0);
		flip(dir, "cpu1", bytes[i].at);
		printf("# control: %s\n", bytes[i].what);
		EXPECT_FALSE(check_copy(dir, &self->expect, self->totals)) {
			TH_LOG("not noticed: %s", bytes[i].what);
		}
	}
}

TEST_HARNESS_MAIN
