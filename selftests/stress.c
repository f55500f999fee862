// SPDX-License-Identifier: GPL-2.0-only
/*
 * Every context at once: thread, softirq, hardirq and NMI write one log in every way there
 * is, preempted and asleep while they hold records; all its files are read meanwhile; CPUs go
 * and come; other logs do; elements of maps are written by bpf(2). For STRESS_SECONDS (60),
 * or until STRESS_RECORDS are stored. NMIs come from vm/run --host selftests/nmi-host;
 * preempted is who runs on a kernel with preempt=full.
 */
#define _GNU_SOURCE
#include "kselftest_harness.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <time.h>

#include "abuse.h"
#include "missing_pages.h"
#include "stress_readers.h"

#define TIMEOUT		7200	/* seconds; whoever runs it has a limit of his own */

static const struct bpf_relay_opts main_opts = { .subbuf_size = SUBBUF, .n_subbufs = N_SUBBUFS };
static const struct bpf_relay_opts small_opts = { .subbuf_size = 4096, .n_subbufs = 2 };

/* ---- What runs at once ------------------------------------------------------------ */

#define WRITERS		2	/* tasks per CPU that write, */
#define SLEEPERS	1	/* and that sleep while they do */

struct stress {
	struct relay_log log, beside;
	struct stress_cpu *cpus;
	int n;			/* CPUs; n_cpus() is how many are online */
	struct bpf_link *links[3];
	struct missing_pages missing;	/* one per task, to sleep on */
	atomic_bool stop, stop_pager;
	atomic_ullong switched, updated, opened;
	atomic_ullong failed;	/* of the helpers; each says what */
};

struct task {
	struct stress *s;
	pthread_t thread;
	int cpu;
	__u32 who;
};

/* There while the CPU is, elsewhere meanwhile. */
static void try_run_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

/* With pauses: a CPU that goes down waits for who runs programs and nothing else. */
static void *write_loop(void *arg)
{
	struct task *t = arg;
	struct stress_run run = { .who = t->who, .rounds = 200 };

	while (!atomic_load(&t->s->stop)) {
		try_run_on(t->cpu);
		run_ctx(&t->s->log, "stress_write", &run, sizeof(run));
		usleep(100);
	}
	return NULL;
}

static void *sleep_loop(void *arg)
{
	struct task *t = arg;
	__u64 page = missing_page(&t->s->missing, t->who);
	struct stress_run run = { .who = t->who, .addr = page };

	while (!atomic_load(&t->s->stop)) {
		try_run_on(t->cpu);
		if (!missing_page_goes(&t->s->missing, page)) {
			perror("# madvise");
			exit(1);
		}
		run_ctx(&t->s->log, "stress_sleep", &run, sizeof(run));
		usleep(20000);
	}
	return NULL;
}

/* Gives who sleeps its page, a little later. */
static void *pager_loop(void *arg)
{
	struct stress *s = arg;
	unsigned int seed = 1;
	__u64 page;

	while (!atomic_load(&s->stop_pager)) {
		page = missing_page_wanted(&s->missing, 100);
		if (!page)
			continue;
		usleep(rand_r(&seed) % 5000);
		if (!missing_page_comes(&s->missing, page)) {
			perror("# UFFDIO_ZEROPAGE");
			exit(1);
		}
	}
	return NULL;
}

static void *hotplug_loop(void *arg)
{
	struct stress *s = arg;
	int cpu = 1;

	while (!atomic_load(&s->stop) && s->n > 1) {
		if (!cpu_set_online(cpu, false) || usleep(200000) || !cpu_set_online(cpu, true))
			s->failed++;
		s->switched++;
		usleep(500000);
		cpu = cpu % (s->n - 1) + 1;
	}
	return NULL;
}

static int open_again(struct relay_log *log, const struct bpf_relay_opts *opts)
{
	int err;

	while ((err = log_open(log, opts)) == -EAGAIN)
		usleep(1000);
	return err;
}

/*
 * All CPUs' elements, by bpf(2): of the log beside, which up to 6.x is dropped by that, and
 * of the log itself where it is not.
 */
static void *update_loop(void *arg)
{
	struct stress *s = arg;
	size_t size = sizeof(void *) + sizeof(struct bpf_relay_counters);
	char *values = malloc(sysconf(_SC_NPROCESSORS_CONF) * size);
	int expect = update_drops_log() ? 0 : -EALREADY, err;
	__u32 key = 0;

	memset(values, 0x5a, sysconf(_SC_NPROCESSORS_CONF) * size);
	while (!atomic_load(&s->stop)) {
		err = bpf_map_update_elem(bpf_map__fd(s->beside.map), &key, values, BPF_ANY);
		if (!err && !update_drops_log())
			err = bpf_map_update_elem(bpf_map__fd(s->log.map), &key, values, BPF_ANY);
		if (!err)
			err = open_again(&s->beside, &small_opts);
		if (err != expect) {
			printf("# element written, then opened: %d, not %d\n", err, expect);
			s->failed++;
		}
		s->updated++;
		usleep(20000);
	}
	free(values);
	return NULL;
}

/* Logs opened, looked at and closed beside it. */
static void *open_loop(void *arg)
{
	struct stress *s = arg;

	while (!atomic_load(&s->stop)) {
		struct relay_log log;
		int err;

		log_load(&log, "churn", "churn");
		err = open_again(&log, &small_opts);
		if (err || log_stat(&log, -1, "stored events")) {
			printf("# opened beside: %d\n", err);
			s->failed++;
		}
		log_unload(&log);
		s->opened++;
		usleep(20000);
	}
	return NULL;
}

/* ---- At rest ------------------------------------------------------------------------ */

enum context {
	THREAD, SLEEPER, SOFTIRQ, HARDIRQ, NMI, CONTEXTS,
};

static const char * const context_names[CONTEXTS] = {
	"thread", "asleep", "softirq", "hardirq", "NMI",
};

static enum context context_of(const struct stress *s, int who)
{
	if (who >= STRESS_SOFTIRQ)
		return SOFTIRQ + who - STRESS_SOFTIRQ;
	return who < s->n * WRITERS ? THREAD : SLEEPER;
}

/* Add up the writers of a CPU (-1: all) and a context (CONTEXTS: all). */
static struct stress_writer sum_up(const struct stress *s, int cpu, enum context context)
{
	struct stress_writer sum = {};
	int c, who, i;

	for (c = 0; c < s->n; c++) {
		for (who = 0; who <= STRESS_NMI; who++) {
			const volatile struct stress_writer *w = &s->cpus[c].writer[who];

			if ((cpu >= 0 && c != cpu) ||
			    (context != CONTEXTS && context_of(s, who) != context))
				continue;
			sum.seq += w->seq;
			sum.calls += w->calls;
			sum.bytes += w->bytes;
			for (i = 0; i < STRESS_RESULTS; i++)
				sum.result[i] += w->result[i];
			for (i = 0; i < STRESS_DOING; i++)
				sum.in[i] += w->in[i];
			sum.past_preempted += w->past_preempted;
			sum.past_asleep += w->past_asleep;
			sum.beside += w->beside;
		}
	}
	return sum;
}

#define STAT(what)	log_stat(&s->log, cpu, what)

/* What the programs counted is what the log says, to the unit. */
static bool cpu_adds_up(const struct stress *s, int cpu)
{
	struct stress_writer w = sum_up(s, cpu, CONTEXTS);
	__u64 busy = STAT("dropped busy"), no_record = STAT("dropped no record");
	__u64 nested = STAT("dropped nested") + STAT("dropped contended");
	__u64 dropped = busy + nested + no_record + STAT("dropped type");
	const __u64 *result = w.result;

	/* Who may not reserve is not told why. */
	if (w.calls == STAT("stored events") + STAT("discarded events") + dropped &&
	    w.seq == result[STRESS_STORED] && w.seq == STAT("stored events") &&
	    w.bytes == STAT("stored bytes") &&
	    result[STRESS_DISCARDED] == STAT("discarded events") &&
	    result[STRESS_ENOENT] == STAT("dropped type") &&
	    result[STRESS_EBUSY] <= busy && result[STRESS_EDEADLK] <= nested &&
	    result[STRESS_EBUSY] + result[STRESS_EDEADLK] + result[STRESS_REFUSED] ==
	    busy + nested + no_record && dropped == log_dropped(&s->log, cpu) &&
	    !result[STRESS_OTHER] && !STAT("open events") && !STAT("damaged packets"))
		return true;
	printf("# CPU %d: calls %llu, stored %llu, bytes %llu, discarded %llu, refused %llu, EBUSY %llu, EDEADLK %llu, ENOENT %llu, other %llu\n",
	       cpu, w.calls, w.seq, w.bytes, result[STRESS_DISCARDED], result[STRESS_REFUSED],
	       result[STRESS_EBUSY], result[STRESS_EDEADLK], result[STRESS_ENOENT],
	       result[STRESS_OTHER]);
	printf("# the log: stored %llu, bytes %llu, discarded %llu, dropped %llu: busy %llu, nested or contended %llu, no record %llu, type %llu\n",
	       STAT("stored events"), STAT("stored bytes"), STAT("discarded events"),
	       log_dropped(&s->log, cpu), busy, nested, no_record, STAT("dropped type"));
	return false;
}

static bool adds_up(const struct stress *s)
{
	bool good = log_identities(&s->log);
	int cpu;

	for (cpu = 0; cpu < s->n; cpu++)
		good &= cpu_adds_up(s, cpu);
	return good;
}

/* All that is left of the records, with nobody writing. */
static bool rest_is_whole(const struct stress *s)
{
	bool good = true;
	size_t len;
	int cpu;

	for (cpu = 0; cpu < s->n; cpu++) {
		static struct check c;
		char name[32], *data;

		c = (struct check) { .cpu = cpu, .quiet = true };
		snprintf(name, sizeof(name), "ctf/cpu%d", cpu);
		data = log_file(&s->log, name, &len);
		if (data)
			check_snapshot(&c, data, len);
		if (!data || check_wrong(&c) || !c.records) {
			printf("# CPU %d: of %llu records %llu torn, %llu duplicated, %llu out of order, %llu missing\n",
			       cpu, c.records, c.torn, c.duplicated, c.disordered, c.missing);
			good = false;
		}
		free(data);
	}
	return good;
}

static void say(const struct stress *s, const struct reader *r)
{
	struct stress_writer all = sum_up(s, -1, CONTEXTS);
	__u64 deepest = 0;
	int i, cpu;

	for (cpu = 0; cpu < s->n; cpu++)
		if (STAT("nesting max") > deepest)
			deepest = STAT("nesting max");
	cpu = -1;
	for (i = 0; i < CONTEXTS; i++) {
		struct stress_writer w = sum_up(s, -1, i);

		printf("# %s: %llu calls, %llu records, %llu given up, %llu dropped",
		       context_names[i], w.calls, w.seq, w.result[STRESS_DISCARDED],
		       w.calls - w.seq - w.result[STRESS_DISCARDED]);
		if (i >= SOFTIRQ)
			printf("; came upon a task in output %llu, in reserve %llu, holding a record %llu times",
			       w.in[STRESS_OUTPUT], w.in[STRESS_RESERVE], w.in[STRESS_HOLD]);
		printf("\n");
	}
	printf("# all: %llu calls, %llu records, %llu bytes; tasks wrote %llu times past a preempted holder, %llu past one asleep\n",
	       all.calls, all.seq, all.bytes, all.past_preempted, all.past_asleep);
	printf("# nesting max %llu, nested calls %llu; dropped: busy %llu, nested %llu, contended %llu, no record %llu, type %llu; overwritten %llu\n",
	       deepest, STAT("nested calls"), STAT("dropped busy"),
	       STAT("dropped nested"), STAT("dropped contended"), STAT("dropped no record"),
	       STAT("dropped type"), STAT("overrun"));
	printf("# CPUs off and on %llu, elements written %llu, logs opened %llu times; beside %llu records; %llu wakeups\n",
	       s->switched, s->updated, s->opened, all.beside, STAT("wakeups"));
	for (i = 0; i < ARRAY_SIZE(readers); i++, r++) {
		struct check sum = {};

		for (cpu = 0; cpu < s->n; cpu++) {
			sum.records += r->check[cpu].records;
			sum.torn += r->check[cpu].torn;
			sum.duplicated += r->check[cpu].duplicated;
			sum.disordered += r->check[cpu].disordered;
			sum.missing += r->check[cpu].missing;
			sum.malformed += r->check[cpu].malformed;
		}
		printf("# %s: read %llu times, %llu wrong", r->type->name, r->reads, r->wrong);
		if (sum.records)
			printf("; %llu records, %llu torn, %llu duplicated, %llu out of order, %llu missing; %llu files malformed",
			       sum.records, sum.torn, sum.duplicated, sum.disordered,
			       sum.missing, sum.malformed);
		printf("\n");
	}
}

/* ---- The tests ------------------------------------------------------------------------- */

FIXTURE(stress) {
	struct stress s;
};

FIXTURE_SETUP(stress)
{
	static const char * const progs[] = { "on_softirq", "on_hardirq", "on_nmi", NULL };
	struct stress *s = &self->s;
	int cpu, who;

	s->n = n_cpus();
	ASSERT_EQ(s->n, sysconf(_SC_NPROCESSORS_CONF));
	ASSERT_LE(s->n, STRESS_CPUS);
	log_load_with(&s->log, "stress", "stress", progs);
	log_of_map(&s->beside, s->log.obj, "beside");
	s->cpus = log_var(&s->log, ".bss", "cpus");
	for (cpu = 0; cpu < s->n; cpu++)
		for (who = 0; who < STRESS_WHO; who++)
			s->cpus[cpu].writer[who].random = cpu * STRESS_WHO + who;
	ASSERT_TRUE(missing_pages_init(&s->missing, STRESS_TASKS));
	ASSERT_EQ(log_open(&s->log, &main_opts), 0);
	ASSERT_EQ(log_open(&s->beside, &small_opts), 0);
}

FIXTURE_TEARDOWN(stress)
{
	all_online();
	log_unload(&self->s.log);
	EXPECT_TRUE(log_gone(&self->s.log));
	EXPECT_TRUE(log_gone(&self->s.beside));
}

/* Of the records of a snapshot, in the order of the file. */
struct list {
	struct record rec[SUBBUF * N_SUBBUFS / BPF_RELAY_RECORD_SIZE(sizeof(struct stress_rec))];
	int n;
};

static bool list_add(const struct record *rec, void *ctx)
{
	struct list *l = ctx;

	l->rec[l->n++] = *rec;
	return true;
}

static struct check judge(const void *data, size_t len)
{
	static struct check c;

	c = (struct check) { .quiet = true };
	check_snapshot(&c, data, len);
	return c;
}

/* Two neighbours of one length in one packet. */
static struct record *neighbours(struct list *l)
{
	int i;

	for (i = 0; i + 1 < l->n; i++)
		if (l->rec[i].packet == l->rec[i + 1].packet &&
		    l->rec[i].header->len == l->rec[i + 1].header->len)
			return &l->rec[i];
	return NULL;
}

/* Fails when: the checker takes what is torn, twice there, in another order or not there. */
TEST_F_TIMEOUT(stress, checker_sees, TIMEOUT)
{
	struct stress_run run = { .rounds = 2000 };
	char *data, *copy, kept[sizeof(struct stress_rec) + 8 * STRESS_WORDS];
	static struct list l;
	struct record *r;
	struct check c;
	size_t len;
	__u32 i;

	run_on(0);
	run_ctx(&self->s.log, "stress_write", &run, sizeof(run));
	EXPECT_TRUE(adds_up(&self->s));
	data = log_file(&self->s.log, "ctf/cpu0", &len);
	ASSERT_NE(data, NULL);
	copy = malloc(len);
	memcpy(copy, data, len);
	c = judge(data, len);
	EXPECT_EQ(check_wrong(&c), 0);
	EXPECT_GT(c.records, 1000);
	ASSERT_GT(ctf_walk(data, len, SUBBUF, list_add, &l), 1000);

	/* Torn: each byte of a record in turn. */
	for (r = &l.rec[l.n / 2]; r->header->len < 100; r++)
		;
	for (i = 0; i < r->header->len; i++) {
		((char *)r->payload)[i] ^= 0x10;
		c = judge(data, len);
		EXPECT_GE(c.torn, 1);
		((char *)r->payload)[i] ^= 0x10;
	}

	/* Duplicated: over its neighbour, which is missing then. */
	r = neighbours(&l);
	ASSERT_NE(r, NULL);
	memcpy((void *)r[1].payload, r->payload, r->header->len);
	c = judge(data, len);
	EXPECT_EQ(c.duplicated, 1);
	EXPECT_EQ(c.torn, 0);
	EXPECT_GE(c.missing, 1);
	memcpy(data, copy, len);

	/* Swapped. */
	r = neighbours(&l);
	ASSERT_NE(r, NULL);
	memcpy(kept, r->payload, r->header->len);
	memcpy((void *)r->payload, r[1].payload, r->header->len);
	memcpy((void *)r[1].payload, kept, r->header->len);
	c = judge(data, len);
	EXPECT_EQ(c.disordered, 1);
	EXPECT_EQ(c.torn + c.duplicated, 0);
	memcpy(data, copy, len);

	printf("# two controls, to be found wrong:\n");
	/* A packet left out. */
	memmove(data + SUBBUF, data + 2 * SUBBUF, len - 2 * SUBBUF);
	c = judge(data, len - SUBBUF);
	EXPECT_EQ(c.malformed, 1);
	memcpy(data, copy, len);

	/* The oldest packet again, where it was, and as one that is newer. */
	c = judge(data, len);
	check_snapshot(&c, data, SUBBUF);
	EXPECT_EQ(check_wrong(&c), 0);
	((struct bpf_relay_packet *)data)->packet_seq_num += 2 * N_SUBBUFS;
	check_snapshot(&c, data, SUBBUF);
	EXPECT_GT(c.disordered, 0);

	/* And a call too many. */
	self->s.cpus[0].writer[0].calls++;
	EXPECT_FALSE(adds_up(&self->s));
	free(copy);
	free(data);
}

static unsigned long long setting(const char *name, unsigned long long otherwise)
{
	const char *value = getenv(name);

	return value && *value ? strtoull(value, NULL, 0) : otherwise;
}

static long now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec;
}

static void start(pthread_t *thread, void *(*fn)(void *), void *arg)
{
	if (pthread_create(thread, NULL, fn, arg)) {
		perror("# thread");
		exit(1);
	}
}

/* Until enough was written; asks for NMIs all the time. */
static void wait_for_records(struct stress *s)
{
	unsigned long long records = setting("STRESS_RECORDS", 0), done;
	long seconds = setting("STRESS_SECONDS", 60), began = now(), said = began;

	do {
		usleep(100000);
		if (host_done())
			host_ask();
		done = sum_up(s, -1, CONTEXTS).seq;
		if (now() >= said + 60) {
			said = now();
			printf("# %ld s: %llu records\n", said - began, done);
			fflush(stdout);
		}
	} while (records ? done < records : now() < began + seconds);
	printf("# %ld s\n", now() - began);
}

/*
 * Fails when: a record is delivered torn, twice, out of order or not at all; a call is not
 * counted; a context did not write, or did not come upon another one; anything hangs.
 */
TEST_F_TIMEOUT(stress, all_at_once, TIMEOUT)
{
	static struct reader r[ARRAY_SIZE(readers)];
	void *(* const helpers[])(void *) = { hotplug_loop, update_loop, open_loop };
	pthread_t helper[ARRAY_SIZE(helpers)], pager;
	struct stress *s = &self->s;
	struct task tasks[STRESS_TASKS] = {};
	struct stress_writer w;
	struct bpf_program *p;
	int i, cpu, n_links = 0, n = s->n * (WRITERS + SLEEPERS);

	ASSERT_LE(n, STRESS_TASKS);
	bpf_object__for_each_program(p, s->log.obj) {
		if (bpf_program__type(p) == BPF_PROG_TYPE_SYSCALL)
			continue;
		s->links[n_links] = bpf_program__attach(p);
		ASSERT_NE(s->links[n_links], NULL);
		n_links++;
	}
	start(&pager, pager_loop, s);
	for (i = 0; i < n; i++) {
		tasks[i] = (struct task) { .s = s, .cpu = i % s->n, .who = i };
		start(&tasks[i].thread, context_of(s, i) == THREAD ? write_loop : sleep_loop,
		      &tasks[i]);
	}
	for (i = 0; i < ARRAY_SIZE(readers); i++) {
		r[i].type = &readers[i];
		r[i].log = &s->log;
		r[i].cpus = s->n;
		r[i].stop = &s->stop;
		for (cpu = 0; cpu < s->n; cpu++)
			r[i].check[cpu].cpu = cpu;
		start(&r[i].thread, read_loop, &r[i]);
	}
	for (i = 0; i < ARRAY_SIZE(helpers); i++)
		start(&helper[i], helpers[i], s);

	wait_for_records(s);

	atomic_store(&s->stop, true);
	for (i = 0; i < ARRAY_SIZE(helpers); i++)
		pthread_join(helper[i], NULL);
	for (i = 0; i < ARRAY_SIZE(readers); i++)
		pthread_join(r[i].thread, NULL);
	for (i = 0; i < n; i++)
		pthread_join(tasks[i].thread, NULL);
	atomic_store(&s->stop_pager, true);
	pthread_join(pager, NULL);
	while (!host_done())
		usleep(10000);
	while (n_links)
		bpf_link__destroy(s->links[--n_links]);
	all_online();

	say(s, r);
	EXPECT_TRUE(adds_up(s));
	EXPECT_TRUE(rest_is_whole(s));
	for (i = 0; i < ARRAY_SIZE(readers); i++) {
		EXPECT_GT(r[i].reads, 0);
		EXPECT_EQ(r[i].wrong, 0);
		for (cpu = 0; cpu < s->n; cpu++)
			EXPECT_EQ(check_wrong(&r[i].check[cpu]), 0);
	}
	for (i = 0; i < CONTEXTS; i++) {
		w = sum_up(s, -1, i);
		EXPECT_GT(w.seq, 0) {
			TH_LOG("no record from %s", context_names[i]);
		}
		/* Interrupts land inside calls and behind them. */
		if (i >= SOFTIRQ) {
			EXPECT_GT(w.in[STRESS_OUTPUT], 0);
			EXPECT_GT(w.in[STRESS_RESERVE], 0);
			EXPECT_GT(w.in[STRESS_HOLD], 0);
		}
	}
	w = sum_up(s, -1, THREAD);
	EXPECT_GT(w.past_preempted, 0);
	EXPECT_GT(w.past_asleep, 0);
	EXPECT_GT(w.beside, 0);
	EXPECT_GT(log_stat(&s->log, -1, "nested calls"), 0);
	EXPECT_GT(log_stat(&s->log, -1, "wakeups"), 0);
	EXPECT_TRUE(s->n == 1 || s->switched > 0);
	EXPECT_GT(s->updated, 0);
	EXPECT_GT(s->opened, 0);
	EXPECT_EQ(s->failed, 0);
}

TEST_HARNESS_MAIN
