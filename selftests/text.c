// SPDX-License-Identifier: GPL-2.0-only
/* What the file text shows, and how it is read, while nobody writes. */
#define _GNU_SOURCE
#include <pthread.h>

#include "kselftest_harness.h"
#include "anylog.h"
#include "hold.h"
#include "text_test.h"

FIXTURE(text) {
	struct relay_log log;
	struct entries all;	/* what ctf/ holds */
	char *whole;		/* what text shows */
	int cpus;
};

/* Records of all CPUs by turns; CPU 0 has lapped, CPU 1 just not. */
FIXTURE_SETUP(text)
{
	int i;

	text_open_log(&self->log, &small);
	self->cpus = n_cpus();
	ASSERT_GT(self->cpus, 1);
	for (i = 0; i < 40; i++)
		text_write(&self->log, i % self->cpus, i % self->cpus ? 7 + i : 300);
	self->all = ctf_entries(&self->log);
	ASSERT_GT(self->all.n, 1000);
	ASSERT_GT(log_stat(&self->log, 0, "overrun"), 0);
	self->whole = text_read(&self->log, 1 << 17);
}

FIXTURE_TEARDOWN(text)
{
	free(self->all.e);
	free(self->whole);
	log_unload(&self->log);
	EXPECT_TRUE(log_gone(&self->log));
}

/* Fails when: a record is missing, twice, out of order, or shown with other values. */
TEST_F_TIMEOUT(text, same_as_ctf, TIMEOUT)
{
	char *at;

	EXPECT_TRUE(text_is(self->whole, &self->all, ""));
	EXPECT_EQ(text_head(self->whole, "records="), self->all.n);
	EXPECT_EQ(text_head(self->whole, "cpus="), self->cpus);
	EXPECT_EQ(text_head(self->whole, "overwritten="), log_stat(&self->log, -1, "overrun"));
	EXPECT_EQ(text_head(self->whole, "discarded="),
		  log_stat(&self->log, -1, "discarded events"));
	EXPECT_GT(text_head(self->whole, "discarded="), 0);
	EXPECT_EQ(text_head(self->whole, "dropped="), 0);
	EXPECT_EQ(text_head(self->whole, "damaged="), 0);

	printf("# controls, to be found wrong:\n");
	self->all.e[500].gone = true;
	EXPECT_FALSE(text_is(self->whole, &self->all, ""));
	self->all.e[500].gone = false;
	self->all.e[500].ts++;
	EXPECT_FALSE(text_is(self->whole, &self->all, ""));
	self->all.e[500].ts--;
	self->all.n--;
	EXPECT_FALSE(text_is(self->whole, &self->all, ""));
	self->all.n++;
	at = strstr(self->whole, self->all.e[700].line);
	at[strlen(self->all.e[700].line) - 1] ^= 1;
	EXPECT_FALSE(text_is(self->whole, &self->all, ""));
}

/* Of one CPU that has overwritten: from when on, until when. */
static void window_of(const struct relay_log *log, int cpu, __u64 *begin, __u64 *end)
{
	const struct bpf_relay_packet *first, *last;
	char name[32];
	size_t len;
	char *data;

	snprintf(name, sizeof(name), "ctf/cpu%d", cpu);
	data = log_file(log, name, &len);
	first = (void *)data;
	last = (void *)data + len - SUBBUF;
	if (len && first->packet_seq_num) {
		if (first->timestamp_begin > *begin)
			*begin = first->timestamp_begin;
		if (last->timestamp_end < *end)
			*end = last->timestamp_end;
	}
	free(data);
}

/* Fails when: the head promises more, or less, than is there. */
TEST_F_TIMEOUT(text, complete_window, TIMEOUT)
{
	__u64 begin = 0, end = ~0ULL, from = 0, to = 0, ns, offset;
	struct relay_log log;
	const char *line;
	char *text;
	int cpu;

	/* One CPU has overwritten, then all have. */
	for (cpu = 0; cpu < self->cpus; cpu++) {
		if (cpu)
			text_write(&self->log, cpu, 1000);
		free(self->all.e);
		free(self->whole);
		self->all = ctf_entries(&self->log);
		self->whole = text_read(&self->log, 4096);
		ASSERT_TRUE(text_is(self->whole, &self->all, ""));
		line = self->whole;
		while (*line == '#')
			line = strchr(line, '\n') + 1;
		ASSERT_NE(text_time(line, &ns), NULL);
		offset = ns - self->all.e[0].ts;

		begin = 0;
		end = ~0ULL;
		for (int i = 0; i <= cpu; i++)
			window_of(&self->log, i, &begin, &end);
		line = strstr(self->whole, "# complete: ");
		ASSERT_NE(line, NULL);
		line += strlen("# complete: ");
		if (begin > end) {
			EXPECT_EQ(strncmp(line, "at no time\n", 11), 0);
			continue;
		}
		ASSERT_EQ(strncmp(line, "from ", 5), 0);
		line = text_time(line + 5, &from);
		ASSERT_EQ(strncmp(line, " to ", 4), 0);
		line = text_time(line + 4, &to);
		EXPECT_EQ(*line, '\n');
		EXPECT_EQ(from - offset, begin);
		EXPECT_EQ(to - offset, end);
	}
	/* The last one wrote last, the others stopped before it began to overwrite. */
	EXPECT_GT(begin, end);
	/* All at once again: there is a time of which all have everything. */
	for (cpu = 0; cpu < self->cpus; cpu++)
		text_write(&self->log, cpu, 1);
	text = text_read(&self->log, 4096);
	EXPECT_NE(strstr(text, "\n# complete: from 20"), NULL);
	free(text);

	text_open_log(&log, &small);
	text_write(&log, 0, 10);
	text = text_read(&log, 4096);
	EXPECT_NE(strstr(text, "\n# complete: everything since the log was opened\n"), NULL);
	free(text);
	log_unload(&log);
}

struct writer {
	pthread_t thread;
	pthread_barrier_t *start;
	struct relay_log *log;
	int cpu;
};

static void *write_once(void *arg)
{
	struct writer *w = arg;

	run_on(w->cpu);
	pthread_barrier_wait(w->start);
	log_run(w->log, "copies_write", -1);
	return NULL;
}

/*
 * Where the clock goes in ticks (text_ticks.sh) times are equal by the hundred, elsewhere
 * seldom. Fails when: equal times are not ordered by CPU, or a record of one is lost.
 */
TEST_F_TIMEOUT(text, equal_times, TIMEOUT)
{
	unsigned int round, equal = 0, i;
	struct writer w[TEXT_CPUS];
	pthread_barrier_t start;

	text_args(&self->log)->count = 600;
	pthread_barrier_init(&start, NULL, self->cpus);
	for (round = 0; round < 5 && !equal; round++) {
		for (i = 0; i < self->cpus; i++) {
			w[i] = (struct writer) { .log = &self->log, .cpu = i, .start = &start };
			ASSERT_EQ(pthread_create(&w[i].thread, NULL, write_once, &w[i]), 0);
		}
		for (i = 0; i < self->cpus; i++)
			pthread_join(w[i].thread, NULL);
		free(self->all.e);
		free(self->whole);
		self->all = ctf_entries(&self->log);
		self->whole = text_read(&self->log, 1 << 16);
		ASSERT_TRUE(text_is(self->whole, &self->all, ""));
		for (i = 1; i < self->all.n; i++)
			equal += self->all.e[i].ts == self->all.e[i - 1].ts &&
				 self->all.e[i].cpu != self->all.e[i - 1].cpu;
	}
	printf("# %u pairs of equal times in %u rounds\n", equal, round);
	if (!equal)
		SKIP(return, "no two CPUs wrote at the same nanosecond");
}

/* Fails when: what is read depends on how much is asked for. */
TEST_F_TIMEOUT(text, any_size_of_read, TIMEOUT)
{
	static const size_t steps[] = { 1, 2, 7, 97, 4095, 4096, 8191, 8192, 8193, 16384, 1 << 20 };
	unsigned int i;

	for (i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		char *text = text_read(&self->log, steps[i]);

		EXPECT_EQ(strcmp(text, self->whole), 0) {
			TH_LOG("in steps of %zu", steps[i]);
		}
		free(text);
	}
}

/* Fails when: an open file shows what was written after it was opened, or does not keep
 * what it had, or lseek to 0 is not a new snapshot.
 */
TEST_F_TIMEOUT(text, snapshot, TIMEOUT)
{
	int fd = text_open(&self->log), late = text_open(&self->log), cpu;
	struct entries more;
	char head[5000], *text;

	ASSERT_EQ(read(fd, head, sizeof(head)), sizeof(head));
	/* Nothing of the snapshot is overtaken by a few more. */
	for (cpu = 1; cpu < self->cpus; cpu++)
		text_write(&self->log, cpu, 5);
	more = ctf_entries(&self->log);
	ASSERT_EQ(more.n, self->all.n + 5 * (self->cpus - 1));
	text = text_rest(fd, 1000);
	EXPECT_EQ(memcmp(head, self->whole, sizeof(head)), 0);
	EXPECT_EQ(strcmp(text, self->whole + sizeof(head)), 0);
	free(text);
	text = text_rest(late, 1000);
	EXPECT_EQ(strcmp(text, self->whole), 0);
	free(text);
	EXPECT_EQ(read(fd, head, 1), 0);

	EXPECT_EQ(lseek(fd, 0, SEEK_SET), 0);
	text = text_rest(fd, 1000);
	EXPECT_TRUE(text_is(text, &more, ""));
	free(text);
	/* In the middle of a line, too. */
	EXPECT_EQ(lseek(late, 0, SEEK_SET), 0);
	EXPECT_EQ(read(late, head, 1234), 1234);
	EXPECT_EQ(lseek(late, 0, SEEK_SET), 0);
	text = text_rest(late, 1000);
	EXPECT_TRUE(text_is(text, &more, ""));
	free(text);
	free(more.e);
	close(fd);
	close(late);
}

static __u64 first_packet(const struct relay_log *log)
{
	size_t len;
	struct bpf_relay_packet *p = log_file(log, "ctf/cpu0", &len);
	__u64 seq = p->packet_seq_num;

	free(p);
	return seq;
}

/*
 * Open, let writers on CPU 0 overtake at least so many of its packets, then read: what
 * is missing are those packets' records, and the tail says how many.
 */
static bool overtake(struct relay_log *log, unsigned int packets, size_t step)
{
	struct entries all = ctf_entries(log);
	int fd = text_open(log);
	__u64 first = first_packet(log), lost;
	unsigned int i, gone = 0;
	char tail[128] = "", *text;
	bool good;

	while ((lost = first_packet(log) - first) < packets)
		text_write(log, 0, 10);
	for (i = 0; i < all.n; i++) {
		all.e[i].gone = !all.e[i].cpu && all.e[i].packet < lost;
		gone += all.e[i].gone;
	}
	if (gone)
		sprintf(tail, "# cpu 0: %u records overwritten while reading\n", gone);
	text = text_rest(fd, step);
	good = text_is(text, &all, tail) && text_head(text, "records=") == all.n;
	free(text);
	free(all.e);
	close(fd);
	return good;
}

/* Fails when: what was overtaken is shown, or not counted, or takes a neighbour along. */
TEST_F_TIMEOUT(text, overtaken, TIMEOUT)
{
	unsigned int i;

	for (i = 0; i <= N_SUBBUFS + 1; i++)
		EXPECT_TRUE(overtake(&self->log, i, i % 2 ? 1 << 16 : 333)) {
			TH_LOG("%u packets overtaken", i);
		}
	EXPECT_TRUE(overtake(&self->log, 5 * N_SUBBUFS, 1000));
}

/* Fails when: of a line that was begun the rest is lost or another, or it counts as lost. */
TEST_F_TIMEOUT(text, overtaken_in_the_middle, TIMEOUT)
{
	int fd = text_open(&self->log);
	unsigned int i, shown = 0, gone = 0, at = 0;
	char *text = malloc(1 << 20), *rest, tail[128];
	const char *line = self->whole;

	/* Up to the middle of the fiftieth record of CPU 0. */
	for (i = 0; i < TEXT_HEAD; i++)
		line = strchr(line, '\n') + 1;
	for (i = 0; i < self->all.n; i++) {
		if (!self->all.e[i].cpu && ++shown == 50)
			break;
		line = strchr(line, '\n') + 1;
	}
	at = line + 40 - self->whole;
	ASSERT_EQ(read(fd, text, at), at);
	text_write(&self->log, 0, 3000);
	for (i++; i < self->all.n; i++) {
		self->all.e[i].gone = !self->all.e[i].cpu;
		gone += self->all.e[i].gone;
	}
	ASSERT_GT(gone, 0);
	rest = text_rest(fd, 100);
	strcpy(text + at, rest);
	sprintf(tail, "# cpu 0: %u records overwritten while reading\n", gone);
	EXPECT_TRUE(text_is(text, &self->all, tail));
	free(rest);
	free(text);
	close(fd);
}

/* Fails when: what was dropped is not in the head, by its reason. */
TEST_F_TIMEOUT(text, dropped, TIMEOUT)
{
	char *text;

	text_args(&self->log)->drop_every = 3;
	text_write(&self->log, 0, 300);
	text = text_read(&self->log, 4096);
	EXPECT_EQ(text_head(text, "dropped="), 100);
	EXPECT_EQ(text_head(text, "dropped_type="), 100);
	EXPECT_EQ(log_dropped(&self->log, -1), 100);
	EXPECT_EQ(strstr(text, "dropped_size="), NULL);
	free(text);
}

/* Fails when: a seek that cannot be done seems to work, or a read goes on elsewhere. */
TEST_F_TIMEOUT(text, seeks, TIMEOUT)
{
	size_t len = strlen(self->whole);
	char *buf = malloc(len + 1);
	int fd = text_open(&self->log), i;

	EXPECT_EQ(pread(fd, buf, 10, 0), -1);
	EXPECT_EQ(errno, ESPIPE);
	EXPECT_EQ(lseek(fd, 0, SEEK_END), -1);
	EXPECT_EQ(errno, ESPIPE);
	EXPECT_EQ(lseek(fd, 1, SEEK_SET), -1);
	EXPECT_EQ(errno, ESPIPE);
	EXPECT_EQ(lseek(fd, -1, SEEK_CUR), -1);
	EXPECT_EQ(errno, ESPIPE);
	EXPECT_EQ(lseek(fd, 0, SEEK_DATA), -1);
	EXPECT_EQ(errno, ESPIPE);
	EXPECT_EQ(lseek(fd, 0, SEEK_CUR), 0);
	ASSERT_EQ(read(fd, buf, 20000), 20000);
	EXPECT_EQ(lseek(fd, 0, SEEK_CUR), 20000);
	EXPECT_EQ(pread(fd, buf, 10, 20000), -1);
	EXPECT_EQ(errno, ESPIPE);
	EXPECT_EQ(lseek(fd, 20001, SEEK_SET), -1);
	EXPECT_EQ(errno, ESPIPE);
	/* Back over 8 KiB, as head and the shell do; not much further, and not on. */
	EXPECT_EQ(lseek(fd, -8192, SEEK_CUR), 20000 - 8192);
	EXPECT_EQ(lseek(fd, 1, SEEK_CUR), -1);
	EXPECT_EQ(errno, ESPIPE);
	ASSERT_EQ(read(fd, buf, 8192), 8192);
	EXPECT_EQ(memcmp(buf, self->whole + 20000 - 8192, 8192), 0);
	EXPECT_EQ(lseek(fd, 20000 - 100, SEEK_SET), 20000 - 100);
	ASSERT_EQ(read(fd, buf, 100), 100);
	EXPECT_EQ(memcmp(buf, self->whole + 20000 - 100, 100), 0);
	EXPECT_EQ(lseek(fd, -19000, SEEK_CUR), -1);
	EXPECT_EQ(errno, ESPIPE);
	EXPECT_EQ(lseek(fd, 1000, SEEK_SET), -1);
	EXPECT_EQ(errno, ESPIPE);
	ASSERT_EQ(read(fd, buf, len), len - 20000);
	EXPECT_EQ(memcmp(buf, self->whole + 20000, len - 20000), 0);
	close(fd);

	/* Whatever was read ahead can be given back. */
	fd = text_open(&self->log);
	for (i = 0; i < len - 8192; i += 3000) {
		ASSERT_EQ(read(fd, buf, 8192), 8192);
		EXPECT_EQ(memcmp(buf, self->whole + i, 8192), 0);
		EXPECT_EQ(lseek(fd, 3000 - 8192, SEEK_CUR), i + 3000);
	}
	free(buf);
	close(fd);
}

/* Fails when: a fault loses text. */
TEST_F_TIMEOUT(text, bad_addresses, TIMEOUT)
{
	char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd = text_open(&self->log);
	char *rest;

	ASSERT_NE(page, MAP_FAILED);
	ASSERT_EQ(mprotect(page + 4096, 4096, PROT_NONE), 0);
	EXPECT_EQ(read(fd, page + 4096, 100), -1);
	EXPECT_EQ(errno, EFAULT);
	EXPECT_EQ(lseek(fd, 0, SEEK_CUR), 0);
	ASSERT_GT(read(fd, page, 100), 0);
	rest = text_rest(fd, 100);
	EXPECT_EQ(strcmp(rest, self->whole + 100), 0);
	free(rest);
	close(fd);
	munmap(page, 8192);
}

/* Fails when: a tool that reads files does not read this one, or says something. */
TEST_F_TIMEOUT(text, tools, TIMEOUT)
{
	static const struct { const char *name, *script; } tools[] = {
		{ "cat", "cat $T >$D/out" },
		{ "cp", "cp $T $D/out" },
		{ "dd", "dd if=$T of=$D/out bs=17 status=none" },
		{ "grep", "grep '' $T >$D/out" },
		{ "sed", "sed '' $T >$D/out" },
		{ "awk", "awk '{ print }' $T >$D/out" },
		{ "busybox", "busybox cat $T >$D/out" },
		{ "tail", "tail -n +1 $T >$D/out" },
		{ "python3", "python3 -c 'print(open(\"'$T'\").read(), end=\"\")' >$D/out" },
		{ "tac", "tac $T | tac >$D/out" },
		{ "head", "head -n 7 $T >$D/out; tail -n +8 $T >>$D/out" },
		{ "head, cat", "(head -n 7; head -c 10000; cat) <$T >$D/out" },
		{ "read", "while IFS= read -r l; do echo \"$l\"; done <$T >$D/out" },
		{ "tail -n", "tail -n 20 $T >$D/end; head -n -20 $T | cat - $D/end >$D/out" },
		{ "wc", "head -n $(wc -l <$T) $T >$D/out" },
	};
	char dir[] = "/tmp/text.XXXXXX", path[64];
	unsigned int i;
	FILE *f;

	ASSERT_NE(mkdtemp(dir), NULL);
	snprintf(path, sizeof(path), "%s/text", dir);
	f = fopen(path, "w");
	fputs(self->whole, f);
	fclose(f);
	for (i = 0; i < sizeof(tools) / sizeof(*tools); i++) {
		setenv("SCRIPT", tools[i].script, 1);
		EXPECT_EQ(shell("T=%s/text D=%s bash -c \"$SCRIPT\" 2>%s/err && "
				"cmp %s/out %s/text && ! [ -s %s/err ]", self->log.dir, dir, dir,
				dir, dir, dir), 0) {
			TH_LOG("%s", tools[i].name);
			shell("head -n 5 %s/err", dir);
		}
	}
	/* The comparison sees a line more. */
	text_write(&self->log, 0, 1);
	EXPECT_NE(shell("cmp -s %s/text %s/text", self->log.dir, dir), 0);
	shell("rm -r %s", dir);
}

/* Fails when: two open files disturb each other. */
TEST_F_TIMEOUT(text, many_readers, TIMEOUT)
{
	enum { READERS = 200 };
	static struct { int fd; size_t got; } r[READERS];
	size_t len = strlen(self->whole);
	char buf[5000];
	unsigned int i, left = READERS;
	ssize_t n;

	for (i = 0; i < READERS; i++)
		r[i].fd = text_open(&self->log);
	while (left)
		for (i = 0; i < READERS; i++) {
			if (r[i].fd < 0)
				continue;
			n = read(r[i].fd, buf, 1000 + 20 * i);
			ASSERT_GE(n, 0);
			ASSERT_LE(r[i].got + n, len);
			ASSERT_EQ(memcmp(buf, self->whole + r[i].got, n), 0);
			r[i].got += n;
			if (n)
				continue;
			EXPECT_EQ(r[i].got, len);
			close(r[i].fd);
			r[i].fd = -1;
			left--;
		}
}

/* Fails when: an open file outlives its log as anything but an error. */
TEST_F_TIMEOUT(text, log_goes, TIMEOUT)
{
	struct relay_log log;
	char buf[100];
	int fd;

	text_open_log(&log, &small);
	text_write(&log, 0, 100);
	fd = text_open(&log);
	ASSERT_EQ(read(fd, buf, sizeof(buf)), sizeof(buf));
	log_unload(&log);
	ASSERT_TRUE(log_gone(&log));
	EXPECT_EQ(read(fd, buf, sizeof(buf)), -1);
	EXPECT_EQ(errno, EIO);
	EXPECT_EQ(lseek(fd, 0, SEEK_SET), -1);
	EXPECT_EQ(close(fd), 0);
}

static __u64 real_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

static int real_add(int seconds)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_sec += seconds;
	return clock_settime(CLOCK_REALTIME, &t);
}

/* The time of the newest record, written now, is now; to the second. */
static bool newest_is_now(struct relay_log *log)
{
	__u64 before = real_now(), behind, ns = 0;
	const char *line = NULL, *next;
	char *text;

	text_write(log, 0, 1);
	behind = real_now();
	text = text_read(log, 4096);
	for (next = text; next && *next; next = strchr(next, '\n') + 1)
		line = next;
	if (!line || !text_time(line, &ns) || ns + 1000000000 < before ||
	    ns > behind + 1000000000) {
		printf("# newest: %s# is %lld ns behind now\n", line, (long long)(behind - ns));
		ns = 0;
	}
	free(text);
	return ns;
}

/* Fails when: times are those of the clock as it was when the log was opened. */
TEST_F_TIMEOUT(text, clock_is_set, TIMEOUT)
{
	enum bpf_relay_clock clock;

	for (clock = BPF_RELAY_CLOCK_BOOT; clock <= BPF_RELAY_CLOCK_MONO; clock++) {
		struct bpf_relay_opts opts = small;
		struct relay_log log;

		opts.clock = clock;
		text_open_log(&log, &opts);
		EXPECT_TRUE(newest_is_now(&log));
		ASSERT_EQ(real_add(3600), 0);
		EXPECT_TRUE(newest_is_now(&log));
		ASSERT_EQ(real_add(-3600), 0);
		EXPECT_TRUE(newest_is_now(&log));
		log_unload(&log);
		EXPECT_TRUE(log_gone(&log));
	}
}

FIXTURE(held) {
	struct relay_log log;
};

FIXTURE_SETUP(held)
{
	log_load(&self->log, "readers", "readers");
	ASSERT_EQ(log_open(&self->log, &small), 0);
}

FIXTURE_TEARDOWN(held)
{
	log_unload(&self->log);
	EXPECT_TRUE(log_gone(&self->log));
}

static bool count(const struct record *rec, void *ctx)
{
	++*(unsigned long *)ctx;
	return true;
}

static unsigned int lines(const char *text)
{
	unsigned int n = 0;

	while ((text = strchr(text, '\n'))) {
		text++;
		n += *text && *text != '#';
	}
	return n;
}

/*
 * Fails when: text shows an open record, hides complete sub-buffers behind one, or
 * shows in an old snapshot what has been committed since.
 */
TEST_F_TIMEOUT(held, open_record, TIMEOUT)
{
	__u64 *before = log_var(&self->log, ".bss", "before");
	__u64 *behind = log_var(&self->log, ".bss", "behind");
	unsigned long visible = 0, all = 0;
	struct holder h;
	char *text;
	int fd;

	*before = 150;
	*behind = 300;
	ASSERT_TRUE(hold(&h, &self->log, "readers_hold"));
	EXPECT_EQ(log_stat(&self->log, 0, "open events"), 1);
	log_walk(&self->log, 0, false, count, &visible);
	EXPECT_GT(visible, 150);
	EXPECT_LT(visible, 450);
	text = text_read(&self->log, 1000);
	EXPECT_EQ(lines(text), visible);
	EXPECT_EQ(text_head(text, "records="), visible);
	free(text);

	fd = text_open(&self->log);
	ASSERT_TRUE(release(&h));
	text = text_rest(fd, 1000);
	EXPECT_EQ(lines(text), visible);
	free(text);
	EXPECT_EQ(lseek(fd, 0, SEEK_SET), 0);
	text = text_rest(fd, 1000);
	log_walk(&self->log, 0, true, count, &all);
	EXPECT_EQ(all, 451);
	EXPECT_EQ(lines(text), all);
	EXPECT_EQ(text_head(text, "records="), all);
	free(text);
	close(fd);
}

/* Logs of types that a test makes up (bpf/anylog.bpf.h). */
FIXTURE(any) {
	struct relay_log base, log;
	unsigned char *payload;	/* of the next record */
	int map;
};

FIXTURE_SETUP(any)
{
	log_load(&self->base, "sizes", "sizes");
	self->map = any_create(&self->base, &self->log, "any", 1);
	self->payload = log_var(&self->base, ".bss.payload", "any_payload");
}

FIXTURE_TEARDOWN(any)
{
	any_close(&self->base, 1, self->map);
	log_unload(&self->base);
}

static int add_type(struct relay_log *base, const char *name, const struct bpf_relay_field *fields,
		    __u32 n, __u32 size)
{
	struct bpf_relay_type type = {
		.abi = BPF_RELAY_ABI, .id = 1, .size = size, .fields = (__u64)fields,
		.fields_len = n * sizeof(*fields),
	};

	strcpy(type.name, name);
	return any_add_type(base, 1, &type);
}

/* Write one record, of which `bytes` are at payload; what its line says behind the CPU. */
static char *line_of(struct relay_log *base, struct relay_log *log, unsigned char *payload,
		     __u64 id, const void *bytes, __u32 size, size_t step)
{
	static char *text;
	char *line;

	memcpy(payload + (size & 255), bytes, size);
	any_write(base, 1, 0, id, size, 0, 1);
	free(text);
	text = text_read(log, step);
	/* The last line, without its end. */
	text[strlen(text) - 1] = 0;
	line = strrchr(text, '\n') + 1;
	return strstr(line, " cpu0 ") ? strstr(line, " cpu0 ") + 6 : line;
}

/* Fails when: a record of any size is not shown up to 16 KiB, or what is left not counted. */
TEST_F_TIMEOUT(any, long_records, TIMEOUT)
{
	static const __u32 sizes[] = { 0, 1, 4000, 8191, 16383, 16384, 16385, 40000, 4 << 20 };
	struct bpf_relay_opts opts = { .subbuf_size = 4 << 20, .n_subbufs = 2 };
	unsigned char *bytes = malloc(4 << 20);
	char *want = malloc(1 << 16), *to;
	unsigned int i, j;

	ASSERT_EQ(any_open(&self->base, 1, opts), 0);
	for (i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		__u32 size = sizes[i] < BPF_RELAY_PAYLOAD_MAX(opts.subbuf_size) ? sizes[i] :
			     BPF_RELAY_PAYLOAD_MAX(opts.subbuf_size);
		__u32 shown = size < 16384 ? size : 16384;

		for (j = 0; j < size; j++)
			bytes[j] = j * 7 + i;
		to = want + sprintf(want, "raw data=");
		for (j = 0; j < shown; j++)
			to += sprintf(to, "%02x", bytes[j]);
		if (shown < size)
			sprintf(to, " ...+%u bytes", size - shown);
		EXPECT_STREQ(line_of(&self->base, &self->log, self->payload, 0, bytes, size,
				     i % 2 ? 1 << 16 : 999), want) {
			TH_LOG("%u bytes", size);
		}
	}
	free(bytes);
	free(want);
}

/* Fails when: what a program wrote can look like another line, or like the terminal's own. */
TEST_F_TIMEOUT(any, hostile_strings, TIMEOUT)
{
	static const struct bpf_relay_field fields[] = { TEXT_FIELD(CHAR, "s", 0, 1, 64) };
	static const char evil[64] = "\n# cpu 0: 9 records overwritten while reading\n\033[2J\r\"=\\";

	ASSERT_EQ(add_type(&self->base, "evil", fields, 1, sizeof(evil)), 0);
	ASSERT_EQ(any_open(&self->base, 1, (struct bpf_relay_opts) { .n_types = 1 }), 0);
	EXPECT_STREQ(line_of(&self->base, &self->log, self->payload, 1, evil, sizeof(evil), 1),
		     "evil s=\"\\n# cpu 0: 9 records overwritten while reading\\n"
		     "\\x1b[2J\\x0d\\\"=\\\\\"");
}

/* The address of a symbol, and the module it is of. */
static __u64 kallsyms(const char *name, char *module)
{
	char line[256], symbol[128];
	__u64 address, found = 0;
	FILE *f = fopen("/proc/kallsyms", "r");

	while (!found && f && fgets(line, sizeof(line), f)) {
		*module = 0;
		if (sscanf(line, "%llx %*c %127s %63s", &address, symbol, module) >= 2 &&
		    !strcmp(symbol, name))
			found = address;
	}
	if (f)
		fclose(f);
	return found;
}

/* Fails when: an address is shown as another symbol than /proc/kallsyms has, or none. */
TEST_F_TIMEOUT(any, symbols, TIMEOUT)
{
	static const struct bpf_relay_field fields[] = {
		TEXT_FIELD(UINT, "f", 0, 8, 1, .hint = BPF_RELAY_HINT_KSYM),
		TEXT_FIELD(UINT, "s", 8, 8, 3, .hint = BPF_RELAY_HINT_STACK),
	};
	char module[64], none[64], text[512];
	__u64 rec[4] = { kallsyms("bpf_relay_output", module) + 1,
			 kallsyms("schedule", none) + 2, 0x1234, 0 };
	unsigned int a, b;
	int end = 0;

	ASSERT_NE(rec[0], 1);
	ASSERT_NE(rec[1], 2);
	ASSERT_STREQ(module, "[bpf_relay]");
	ASSERT_EQ(add_type(&self->base, "symbols", fields, 2, sizeof(rec)), 0);
	ASSERT_EQ(any_open(&self->base, 1, (struct bpf_relay_opts) { .n_types = 1 }), 0);
	strcpy(text, line_of(&self->base, &self->log, self->payload, 1, rec, sizeof(rec), 4096));
	EXPECT_EQ(sscanf(text, "symbols f=bpf_relay_output+0x1/0x%x[bpf_relay] "
			       "s=[schedule+0x2/0x%x,0x1234]%n", &a, &b, &end), 2);
	EXPECT_EQ(end, strlen(text)) {
		TH_LOG("%s", text);
	}
}

TEST_HARNESS_MAIN
