// SPDX-License-Identifier: GPL-2.0-only
/*
 * Thread, softirq, hardirq and NMI write one CPU's ring, inside one another. NMIs come from
 * outside the machine: vm/run --host selftests/nmi-host sends them for as many seconds as it
 * is asked to. Without it their tests are skipped.
 */
#define _GNU_SOURCE
#include "kselftest_harness.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "abuse.h"
#include "bpf/nmi.h"

#define ENOUGH	20	/* interrupted calls of each kind */

struct nmi {
	struct relay_log log;
	struct nmi_cpu *cpus;
	__u64 *count, *updates;
	__u32 *armed;
	struct bpf_link *links[4];
	int n_links;
};

static const struct bpf_relay_opts opts = { .subbuf_size = 16384, .n_subbufs = 8 };

/* Load with these programs besides the thread's, and open. */
static int nmi_load(struct nmi *n, const char * const *progs)
{
	int i, err;

	*n = (struct nmi) {};
	log_load_with(&n->log, "nmi", "nmi", progs);
	n->cpus = log_var(&n->log, ".bss", "cpus");
	n->count = log_var(&n->log, ".bss", "count");
	n->armed = log_var(&n->log, ".bss", "armed");
	n->updates = log_var(&n->log, ".bss", "updates");
	err = log_open(&n->log, &opts);
	if (err)
		return err;
	for (i = 0; progs[i]; i++) {
		n->links[i] = bpf_program__attach(
			bpf_object__find_program_by_name(n->log.obj, progs[i]));
		if (!n->links[i])
			return -errno;
		n->n_links++;
	}
	return 0;
}

static void nmi_detach(struct nmi *n)
{
	while (n->n_links)
		bpf_link__destroy(n->links[--n->n_links]);
}

/* ---- Writers ------------------------------------------------------------------ */

struct thread {
	struct nmi *nmi;
	pthread_t thread;
	int cpu;
	atomic_bool *stop;
};

static void *write_loop(void *arg)
{
	struct thread *t = arg;

	run_on(t->cpu);
	while (!atomic_load(t->stop))
		log_run(&t->nmi->log, "nmi_thread", -1);
	return NULL;
}

static void threads_start(struct thread *t, int n, struct nmi *nmi, atomic_bool *stop)
{
	int i;

	for (i = 0; i < n; i++) {
		t[i] = (struct thread) { .nmi = nmi, .cpu = i, .stop = stop };
		pthread_create(&t[i].thread, NULL, write_loop, &t[i]);
	}
}

static void threads_stop(struct thread *t, int n)
{
	int i;

	atomic_store(t->stop, true);
	for (i = 0; i < n; i++)
		pthread_join(t[i].thread, NULL);
}

static __u64 sum(struct nmi *n, enum nmi_who who, size_t field)
{
	__u64 s = 0;
	int cpu;

	for (cpu = 0; cpu < NMI_CPUS; cpu++)
		s += *(volatile __u64 *)((char *)&n->cpus[cpu].writer[who] + field);
	return s;
}

#define SUM(n, who, field)	sum(n, who, offsetof(struct nmi_writer, field))

struct order {
	__u64 next[NMI_WHO];
	__u64 n[NMI_WHO];
	__u64 wrong;
	__u32 cpu;
};

static bool in_order(const struct record *rec, void *ctx)
{
	const struct nmi_rec *r = rec->payload;
	struct order *o = ctx;

	if (rec->header->id != 1 || rec->header->len != sizeof(*r) || r->who >= NMI_WHO ||
	    r->cpu != o->cpu || r->check != r->seq * 0x9e3779b97f4a7c15ULL + r->who ||
	    r->seq < o->next[r->who]) {
		o->wrong++;
		return true;
	}
	o->next[r->who] = r->seq + 1;
	o->n[r->who]++;
	return true;
}

/* Everything that can be said once nobody writes any more. */
static bool adds_up(struct nmi *n)
{
	bool good = log_identities(&n->log);
	int cpu, who;

	for (cpu = 0; cpu < n_cpus(); cpu++) {
		struct order o = { .cpu = cpu };
		__u64 calls = 0, stored = 0, dropped = 0;

		for (who = 0; who < NMI_WHO; who++) {
			calls += n->cpus[cpu].writer[who].seq;
			stored += n->cpus[cpu].writer[who].stored;
			dropped += n->cpus[cpu].writer[who].dropped;
		}
		log_walk(&n->log, cpu, true, in_order, &o);
		if (o.wrong || calls != stored + dropped ||
		    stored != log_stat(&n->log, cpu, "stored events") ||
		    dropped != log_dropped(&n->log, cpu) ||
		    log_stat(&n->log, cpu, "open events")) {
			printf("# CPU %d: %llu out of order; %llu calls, %llu stored, %llu dropped; stats %llu, %llu\n",
			       cpu, o.wrong, calls, stored, dropped,
			       log_stat(&n->log, cpu, "stored events"),
			       log_dropped(&n->log, cpu));
			good = false;
		}
	}
	return good;
}

static bool enough(struct nmi *n, enum nmi_who who)
{
	return SUM(n, who, in_output) >= ENOUGH && SUM(n, who, in_hold) >= ENOUGH;
}

static void say(struct nmi *n)
{
	static const char * const names[] = { "thread", "softirq", "hardirq", "NMI" };
	int who;

	for (who = 0; who < NMI_WHO; who++)
		printf("# %s: %llu calls, %llu in output(), %llu in a held record, %llu dropped\n",
		       names[who], SUM(n, who, seq), SUM(n, who, in_output),
		       SUM(n, who, in_hold), SUM(n, who, dropped));
	printf("# nesting max %llu, nested calls %llu\n", log_stat(&n->log, -1, "nesting max"),
	       log_stat(&n->log, -1, "nested calls"));
}

FIXTURE(nmi) {
	struct nmi nmi;
};

FIXTURE_SETUP(nmi)
{
}

FIXTURE_TEARDOWN(nmi)
{
	nmi_detach(&self->nmi);
	log_unload(&self->nmi.log);
	EXPECT_TRUE(log_gone(&self->nmi.log));
}

/*
 * Fails when: a record is lost, torn, out of order or not counted if an interrupt writes
 * while a thread does.
 */
TEST_F_TIMEOUT(nmi, thread_softirq_hardirq, 240)
{
	static const char * const progs[] = { "on_softirq", "on_hardirq", NULL };
	struct thread threads[NMI_CPUS];
	struct nmi *n = &self->nmi;
	atomic_bool stop = false;
	int cpus = n_cpus(), cpu;
	__u64 deepest = 0;

	ASSERT_EQ(nmi_load(n, progs), 0);
	*n->count = 500;
	threads_start(threads, cpus, n, &stop);
	/* The harness ends it if that never happens. */
	while (!enough(n, NMI_SOFTIRQ) || !enough(n, NMI_HARDIRQ))
		usleep(10000);
	threads_stop(threads, cpus);
	nmi_detach(n);
	say(n);
	for (cpu = 0; cpu < cpus; cpu++)
		if (log_stat(&n->log, cpu, "nesting max") > deepest)
			deepest = log_stat(&n->log, cpu, "nesting max");
	EXPECT_GE(deepest, 2);
	EXPECT_GT(log_stat(&n->log, -1, "nested calls"), 0);
	EXPECT_TRUE(adds_up(n));
	/* Negative control: one call more than was counted is noticed. */
	n->cpus[0].writer[NMI_HARDIRQ].stored++;
	EXPECT_FALSE(adds_up(n));
}

/* Whether an NMI comes at all, if it is asked for. */
static bool nmis_come(struct nmi *n, enum nmi_who who)
{
	int i;

	host_ask();
	for (i = 0; i < 500 && !SUM(n, who, seq); i++)
		usleep(10000);
	return SUM(n, who, seq);
}

/* Fails when: as above, with NMIs, which nothing keeps out. */
TEST_F_TIMEOUT(nmi, with_nmis, 300)
{
	static const char * const progs[] = { "on_softirq", "on_hardirq", "on_nmi", NULL };
	struct thread threads[NMI_CPUS];
	struct nmi *n = &self->nmi;
	atomic_bool stop = false;
	int cpus = n_cpus();

	ASSERT_EQ(nmi_load(n, progs), 0);
	if (!nmis_come(n, NMI_NMI))
		SKIP(return, "no NMIs: vm/run without --host selftests/nmi-host");
	*n->count = 500;
	threads_start(threads, cpus, n, &stop);
	while (!enough(n, NMI_NMI) || !enough(n, NMI_SOFTIRQ) || !enough(n, NMI_HARDIRQ)) {
		if (host_done())
			host_ask();
		usleep(10000);
	}
	while (!host_done())
		usleep(10000);
	threads_stop(threads, cpus);
	nmi_detach(n);
	say(n);
	EXPECT_TRUE(adds_up(n));
}

/* Fails when: the destructor cannot be run in NMI, or the log is not gone afterwards. */
TEST_F_TIMEOUT(nmi, destructor_in_nmi, 300)
{
	static const char * const progs[] = { "on_nmi", "on_nmi_update", NULL };
	struct nmi *n = &self->nmi;
	int i, err;

	ASSERT_EQ(nmi_load(n, progs), 0);
	if (!nmis_come(n, NMI_NMI))
		SKIP(return, "no NMIs: vm/run without --host selftests/nmi-host");
	for (i = 0; i < 10; i++) {
		*n->armed = 1;
		while (*(volatile __u64 *)n->updates != i + 1) {
			if (host_done())
				host_ask();
			usleep(10000);
		}
		/* Up to 6.x the log is gone, later it is not. */
		do {
			err = log_open(&n->log, &opts);
		} while (err == -EAGAIN && !usleep(10000));
		EXPECT_EQ(err, update_drops_log() ? 0 : -EALREADY);
	}
	while (!host_done())
		usleep(10000);
	nmi_detach(n);
	if (update_drops_log()) {
		EXPECT_GT(SUM(n, NMI_NMI, dropped), 0);
	} else {
		EXPECT_TRUE(adds_up(n));
	}
	EXPECT_TRUE(log_identities(&n->log));
}

TEST_HARNESS_MAIN
