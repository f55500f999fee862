// SPDX-License-Identifier: GPL-2.0-only
/*
 * poll, select and epoll on a log's files: when they say that there is something, when
 * sleepers wake, and that without sleepers nobody is woken.
 */
#define _GNU_SOURCE
#include "kselftest_harness.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/select.h>

#include "anylog.h"
#include "hold.h"
#include "mem_test.h"

#define READY	(POLLIN | POLLRDNORM)
#define TIMEOUT	240

static const char * const files[] = { "ctf/cpu0", "mem", "text" };

FIXTURE(poll) {
	struct relay_log log;
};

FIXTURE_SETUP(poll)
{
	log_load(&self->log, "mem", "mem");
	ASSERT_EQ(log_open(&self->log, &mem_opts), 0);
}

FIXTURE_TEARDOWN(poll)
{
	if (self->log.obj)
		log_unload(&self->log);
	EXPECT_TRUE(log_gone(&self->log));
}

static short events_of(int fd)
{
	struct pollfd p = { .fd = fd, .events = READY };

	return poll(&p, 1, 0) < 0 ? -1 : p.revents;
}

/* Read what there is to read: nothing of mem. */
static void drain(int fd)
{
	char buf[MEM_SUBBUF];

	while (read(fd, buf, sizeof(buf)) > 0)
		;
}

static unsigned long long wakeups(const struct relay_log *log)
{
	return log_stat(log, -1, "wakeups");
}

/* Fails when: a file says that there is something and there is not, or the reverse. */
TEST_F(poll, ready)
{
	int cpu0 = log_open_file(&self->log, "ctf/cpu0"), cpu1, mem, fd;
	char byte;

	EXPECT_EQ(events_of(cpu0), 0);
	mem_write(&self->log, 0, 10);
	/* Of a snapshot that ends before: something newer. Of a new one: something unread. */
	EXPECT_EQ(read(cpu0, &byte, 1), 0);
	EXPECT_EQ(events_of(cpu0), READY);
	EXPECT_EQ(events_of(cpu0), READY);
	EXPECT_EQ(lseek(cpu0, 0, SEEK_SET), 0);
	EXPECT_EQ(events_of(cpu0), READY);
	EXPECT_EQ(read(cpu0, &byte, 1), 1);
	EXPECT_EQ(events_of(cpu0), READY);
	drain(cpu0);
	EXPECT_EQ(events_of(cpu0), 0);

	/* What others write is nothing to a CPU's file, but to mem it is. */
	cpu1 = log_open_file(&self->log, "ctf/cpu1");
	mem = log_open_file(&self->log, "mem");
	EXPECT_EQ(events_of(cpu1), 0);
	EXPECT_EQ(events_of(mem), 0);
	mem_write(&self->log, 0, 1);
	EXPECT_EQ(events_of(cpu0), READY);
	EXPECT_EQ(events_of(cpu1), 0);
	EXPECT_EQ(events_of(mem), READY);
	EXPECT_EQ(events_of(mem), READY);
	EXPECT_EQ(lseek(mem, 0, SEEK_END), lseek(mem, 0, SEEK_CUR));
	EXPECT_EQ(events_of(mem), READY);
	EXPECT_EQ(lseek(mem, 0, SEEK_SET), 0);
	EXPECT_EQ(events_of(mem), 0);
	mem_write(&self->log, 1, 1);
	EXPECT_EQ(events_of(cpu1), READY);
	EXPECT_EQ(events_of(mem), READY);

	/* Also when it is as many bytes as there were, a lap later. */
	EXPECT_EQ(lseek(cpu0, 0, SEEK_SET), 0);
	drain(cpu0);
	EXPECT_EQ(lseek(mem, 0, SEEK_SET), 0);
	mem_write(&self->log, 0, MEM_N_SUBBUFS * MEM_PER_PACKET);
	EXPECT_EQ(events_of(cpu0), READY);
	EXPECT_EQ(events_of(mem), READY);

	/* These can be polled, too, and have something always. */
	fd = log_open_file(&self->log, "stats");
	EXPECT_NE(events_of(fd) & POLLIN, 0);
	close(fd);
	EXPECT_EQ(wakeups(&self->log), 0);
	close(cpu0);
	close(cpu1);
	close(mem);
}

/* Somebody who sleeps in poll() until there is something. */
struct sleeper {
	pthread_t thread;
	int fd;
	atomic_int tid;
	atomic_bool back;
	short revents;
};

static void *sleep_in_poll(void *arg)
{
	struct sleeper *s = arg;
	struct pollfd p = { .fd = s->fd, .events = READY };

	atomic_store(&s->tid, gettid());
	if (poll(&p, 1, -1) == 1)
		s->revents = p.revents;
	atomic_store(&s->back, true);
	return NULL;
}

static bool is_asleep(struct sleeper *s)
{
	char path[64], text[64] = {};
	int fd, nr;

	snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", atomic_load(&s->tid));
	fd = open(path, O_RDONLY);
	if (fd < 0 || read(fd, text, sizeof(text) - 1) < 0)
		text[0] = 0;
	close(fd);
	/* "running" while it is not asleep. */
	return sscanf(text, "%d ", &nr) == 1 && (nr == SYS_poll || nr == SYS_ppoll);
}

/* It sleeps when this returns; false after a minute. */
static bool fall_asleep(struct sleeper *s, int fd)
{
	int i;

	*s = (struct sleeper) { .fd = fd };
	if (pthread_create(&s->thread, NULL, sleep_in_poll, s))
		return false;
	for (i = 0; i < 6000; i++) {
		if (atomic_load(&s->tid) && is_asleep(s))
			return true;
		usleep(10000);
	}
	return false;
}

/* Has it slept on, though it may have been woken? */
static bool sleeps_on(struct sleeper *s)
{
	int i;

	for (i = 0; i < 6000 && !atomic_load(&s->back); i++) {
		if (is_asleep(s))
			return true;
		usleep(10000);
	}
	return false;
}

/* What it was told, when it wakes; -1 after a minute. */
static int wakes_up(struct sleeper *s)
{
	int i;

	for (i = 0; i < 6000 && !atomic_load(&s->back); i++)
		usleep(10000);
	if (!atomic_load(&s->back))
		return -1;
	pthread_join(s->thread, NULL);
	return s->revents;
}

/* Fails when: a sleeper is woken by less than a switch, or sleeps over one. */
TEST_F_TIMEOUT(poll, wakes_at_a_switch, TIMEOUT)
{
	unsigned long long woken = 0;
	struct sleeper s;
	int i, fd;

	for (i = 0; i < ARRAY_SIZE(files); i++) {
		mem_write(&self->log, 0, 10);
		fd = log_open_file(&self->log, files[i]);
		drain(fd);
		ASSERT_TRUE(fall_asleep(&s, fd));
		/* Up to the last byte of the sub-buffer. */
		mem_write(&self->log, 0, MEM_PER_PACKET - 10);
		EXPECT_TRUE(sleeps_on(&s));
		EXPECT_EQ(wakeups(&self->log), woken);
		/* And one more. */
		mem_write(&self->log, 0, 1);
		EXPECT_EQ(wakes_up(&s), READY) {
			TH_LOG("%s", files[i]);
		}
		EXPECT_EQ(wakeups(&self->log), ++woken);
		close(fd);
		/* Again at the beginning of a sub-buffer, nobody being there. */
		mem_write(&self->log, 0, MEM_PER_PACKET - 1);
		EXPECT_EQ(wakeups(&self->log), woken);
	}
}

/* Fails when: other CPUs' records return to who sleeps on one CPU, or his own do not. */
TEST_F_TIMEOUT(poll, one_cpu, TIMEOUT)
{
	struct sleeper one, all;
	int fd = log_open_file(&self->log, "ctf/cpu1"), mem = log_open_file(&self->log, "mem");

	ASSERT_TRUE(fall_asleep(&one, fd));
	ASSERT_TRUE(fall_asleep(&all, mem));
	mem_write(&self->log, 0, 5 * MEM_PER_PACKET + 1);
	EXPECT_EQ(wakes_up(&all), READY);
	EXPECT_TRUE(sleeps_on(&one));
	mem_write(&self->log, 1, MEM_PER_PACKET + 1);
	EXPECT_EQ(wakes_up(&one), READY);

	EXPECT_EQ(lseek(mem, 0, SEEK_SET), 0);
	ASSERT_TRUE(fall_asleep(&all, mem));
	mem_write(&self->log, 1, MEM_PER_PACKET + 1);
	EXPECT_EQ(wakes_up(&all), READY);
	close(fd);
	close(mem);
}

struct load {
	pthread_t thread;
	struct relay_log *log;
	int cpu;
};

static void *load(void *arg)
{
	struct load *l = arg;
	int i;

	for (i = 0; i < 20; i++)
		log_run(l->log, "mem_write", l->cpu);
	return NULL;
}

/* 20,000 records on each CPU. */
static void load_all(struct relay_log *log)
{
	struct load loads[n_cpus()];
	int cpu;

	*(__u64 *)log_var(log, ".bss", "count") = 1000;
	for (cpu = 0; cpu < n_cpus(); cpu++) {
		loads[cpu] = (struct load) { .log = log, .cpu = cpu };
		pthread_create(&loads[cpu].thread, NULL, load, &loads[cpu]);
	}
	for (cpu = 0; cpu < n_cpus(); cpu++)
		pthread_join(loads[cpu].thread, NULL);
}

/* Fails when: anybody is woken without a sleeper, or more often than once a switch with one. */
TEST_F_TIMEOUT(poll, counted, TIMEOUT)
{
	unsigned long long entered = 20000 / MEM_PER_PACKET * n_cpus(), n;
	struct epoll_event event = { .events = EPOLLIN };
	int mem = log_open_file(&self->log, "mem"), ep = epoll_create1(0);

	/* Open, and asked, but not waited for. */
	EXPECT_EQ(events_of(mem), 0);
	load_all(&self->log);
	EXPECT_EQ(events_of(mem), READY);
	EXPECT_EQ(log_stat(&self->log, -1, "stored events"), 20000 * n_cpus());
	EXPECT_EQ(wakeups(&self->log), 0);

	/* epoll is somebody who waits all the time. */
	ASSERT_EQ(epoll_ctl(ep, EPOLL_CTL_ADD, mem, &event), 0);
	load_all(&self->log);
	n = wakeups(&self->log);
	EXPECT_GT(n, 0);
	EXPECT_LE(n, entered);
	TH_LOG("woken %llu times in %llu sub-buffers", n, entered);

	ASSERT_EQ(epoll_ctl(ep, EPOLL_CTL_DEL, mem, &event), 0);
	load_all(&self->log);
	EXPECT_EQ(wakeups(&self->log), n);
	close(ep);
	close(mem);
	EXPECT_EQ(*(__u64 *)log_var(&self->log, ".bss", "failed"), 0);
}

struct tail {
	pthread_t thread;
	struct mem_reader m;
	_Atomic __u64 seen;	/* records of all CPUs */
	__u64 until;
};

/* As a mapper does it: mark, look, sleep. */
static void *tail(void *arg)
{
	struct tail *t = arg;
	struct pollfd p = { .fd = t->m.fd, .events = POLLIN };
	__u64 seen = 0;
	int cpu;

	while (seen < t->until) {
		if (poll(&p, 1, -1) != 1 || lseek(t->m.fd, 0, SEEK_SET))
			break;
		for (cpu = 0, seen = 0; cpu < n_cpus(); cpu++)
			seen += mem_ctl(&t->m, cpu)->counters.records;
		atomic_store(&t->seen, seen);
	}
	return NULL;
}

/* Fails when: a switch beside a sleeper's falling asleep is slept over. */
TEST_F_TIMEOUT(poll, none_is_missed, TIMEOUT)
{
	/* Enough for a switch with something newer before it, wherever the reader stands. */
	const __u64 batch = MEM_PER_PACKET + MEM_PER_PACKET / 2;
	int rounds = 500, late = 0, i, j;
	struct tail t = { .until = rounds * batch - MEM_PER_PACKET };

	ASSERT_EQ(log_map(&self->log, &t.m), 0);
	ASSERT_EQ(pthread_create(&t.thread, NULL, tail, &t), 0);
	for (i = 1; i <= rounds && !late; i++) {
		mem_write(&self->log, i % n_cpus(), batch);
		for (j = 0; atomic_load(&t.seen) + MEM_PER_PACKET < i * batch; j++) {
			if (j == 60000) {
				late = i;
				break;
			}
			usleep(1000);
		}
	}
	EXPECT_EQ(late, 0);
	/* However it ended, wake it. */
	log_unload(&self->log);
	pthread_join(t.thread, NULL);
	mem_close(&t.m);
}

/* Fails when: the end of a log leaves sleepers asleep. */
TEST_F_TIMEOUT(poll, closed, TIMEOUT)
{
	struct sleeper s[ARRAY_SIZE(files)];
	int i, events;

	for (i = 0; i < ARRAY_SIZE(files); i++) {
		s[i].fd = log_open_file(&self->log, files[i]);
		drain(s[i].fd);
		ASSERT_TRUE(fall_asleep(&s[i], s[i].fd));
	}
	EXPECT_EQ(wakeups(&self->log), 0);
	log_unload(&self->log);
	for (i = 0; i < ARRAY_SIZE(files); i++) {
		events = wakes_up(&s[i]);
		EXPECT_NE(events, -1);
		EXPECT_NE(events & POLLHUP, 0);
	}
	EXPECT_TRUE(log_gone(&self->log));
	for (i = 0; i < ARRAY_SIZE(files); i++) {
		EXPECT_NE(events_of(s[i].fd) & POLLHUP, 0);
		close(s[i].fd);
	}
}

/* Fails when: select() differs. */
TEST_F(poll, select)
{
	struct timeval zero = {};
	int fd = log_open_file(&self->log, "mem");
	fd_set set;

	FD_ZERO(&set);
	FD_SET(fd, &set);
	EXPECT_EQ(select(fd + 1, &set, NULL, NULL, &zero), 0);
	mem_write(&self->log, 0, 1);
	FD_SET(fd, &set);
	EXPECT_EQ(select(fd + 1, &set, NULL, NULL, &zero), 1);
	EXPECT_TRUE(FD_ISSET(fd, &set));
	log_unload(&self->log);
	EXPECT_TRUE(log_gone(&self->log));
	EXPECT_EQ(select(fd + 1, &set, NULL, NULL, &zero), 1);
	close(fd);
}

static int wait_for(int ep, __u32 *events)
{
	struct epoll_event event = {};
	int n = epoll_wait(ep, &event, 1, 60000);

	*events = event.events;
	return n;
}

/*
 * Fails when: epoll, which keeps hold of what it sleeps on for as long as the file is open,
 * finds that gone with the log; in whatever order the rest goes.
 */
TEST_F_TIMEOUT(poll, epoll, TIMEOUT)
{
	static const __u32 kinds[] = { 0, EPOLLET, EPOLLEXCLUSIVE, EPOLLONESHOT };
	struct epoll_event event;
	int i, j, order, fd, ep;
	struct relay_log log;
	__u32 events;

	for (i = 0; i < ARRAY_SIZE(files); i++)
		for (j = 0; j < ARRAY_SIZE(kinds); j++)
			for (order = 0; order < 3; order++) {
				log_load(&log, "mem", "mem");
				ASSERT_EQ(log_open(&log, &mem_opts), 0);
				mem_write(&log, 0, MEM_PER_PACKET / 2);
				ep = epoll_create1(0);
				fd = log_open_file(&log, files[i]);
				drain(fd);
				event.events = EPOLLIN | kinds[j];
				ASSERT_EQ(epoll_ctl(ep, EPOLL_CTL_ADD, fd, &event), 0);
				EXPECT_EQ(epoll_wait(ep, &event, 1, 0), 0);
				mem_write(&log, 0, MEM_PER_PACKET);
				EXPECT_EQ(wait_for(ep, &events), 1);
				EXPECT_EQ(events, EPOLLIN);
				/* Again at once only if nobody marked what is behind. */
				EXPECT_EQ(epoll_wait(ep, &event, 1, 0),
					  !(kinds[j] & (EPOLLET | EPOLLONESHOT)));
				lseek(fd, 0, SEEK_SET);
				drain(fd);
				EXPECT_EQ(epoll_wait(ep, &event, 1, 0), 0);
				if (order == 0)
					close(fd);
				log_unload(&log);
				EXPECT_TRUE(log_gone(&log));
				if (order && kinds[j] != EPOLLONESHOT) {
					EXPECT_EQ(wait_for(ep, &events), 1);
					EXPECT_NE(events & EPOLLHUP, 0);
				}
				if (order == 1)
					close(fd);
				close(ep);
				if (order == 2)
					close(fd);
			}
}

struct watcher {
	pthread_t thread;
	const struct relay_log *log;
	atomic_bool stop;
	__u64 watched;
};

/* Watch a file for a moment, for as long as there is one. */
static void *watch_loop(void *arg)
{
	struct watcher *r = arg;
	struct epoll_event event;
	int ep = epoll_create1(0), i;

	for (i = 0; !atomic_load(&r->stop); i++) {
		int fd = log_open_file(r->log, files[i % ARRAY_SIZE(files)]);

		event.events = EPOLLIN;
		if (fd >= 0 && !epoll_ctl(ep, EPOLL_CTL_ADD, fd, &event)) {
			r->watched++;
			epoll_wait(ep, &event, 1, 1);
		}
		close(fd);
	}
	close(ep);
	return NULL;
}

/* Fails when: coming and going sleepers beside writers and the log's end find what went. */
TEST_F_TIMEOUT(poll, watched_while_it_goes, TIMEOUT)
{
	__u64 watched = 0;
	int i, j;

	for (i = 0; i < 20; i++) {
		struct watcher watchers[2];
		struct relay_log log;

		log_load(&log, "mem", "mem");
		ASSERT_EQ(log_open(&log, &mem_opts), 0);
		for (j = 0; j < 2; j++) {
			watchers[j] = (struct watcher) { .log = &log };
			pthread_create(&watchers[j].thread, NULL, watch_loop, &watchers[j]);
		}
		do
			for (j = 0; j < n_cpus(); j++)
				mem_write(&log, j, 3 * MEM_PER_PACKET);
		while (*(volatile __u64 *)&watchers[0].watched < 10);
		log_unload(&log);
		EXPECT_TRUE(log_gone(&log));
		for (j = 0; j < 2; j++) {
			atomic_store(&watchers[j].stop, true);
			pthread_join(watchers[j].thread, NULL);
			watched += watchers[j].watched;
		}
	}
	TH_LOG("watched %llu times", watched);
}

/* ---- Beyond an open record ------------------------------------------------- */

/* Fails when: a switch wakes nobody because an open record lies further below. */
TEST_F_TIMEOUT(poll, beyond_an_open_record, TIMEOUT)
{
	struct sleeper s[ARRAY_SIZE(files)];
	struct holder h;
	int i;

	*(__u64 *)log_var(&self->log, ".bss", "count") = 10;
	ASSERT_TRUE(hold(&h, &self->log, "mem_hold"));
	ASSERT_EQ(log_stat(&self->log, 0, "open events"), 1);

	for (i = 0; i < ARRAY_SIZE(files); i++) {
		s[i].fd = log_open_file(&self->log, files[i]);
		drain(s[i].fd);
		ASSERT_TRUE(fall_asleep(&s[i], s[i].fd));
	}
	/* The rest of that sub-buffer is hidden, so that its end tells nothing. */
	mem_write(&self->log, 0, MEM_PER_PACKET - 11 + 1);
	for (i = 0; i < ARRAY_SIZE(files); i++)
		EXPECT_TRUE(sleeps_on(&s[i]));
	/* The next one can be read when it is complete. */
	mem_write(&self->log, 0, MEM_PER_PACKET);
	for (i = 0; i < ARRAY_SIZE(files); i++)
		EXPECT_EQ(wakes_up(&s[i]), READY);
	/* When the record is submitted there is more, for who looks. */
	for (i = 0; i < ARRAY_SIZE(files); i++) {
		lseek(s[i].fd, 0, SEEK_SET);
		drain(s[i].fd);
		EXPECT_EQ(events_of(s[i].fd), 0);
	}
	ASSERT_TRUE(release(&h));
	for (i = 0; i < ARRAY_SIZE(files); i++) {
		EXPECT_EQ(events_of(s[i].fd), READY);
		close(s[i].fd);
	}
	EXPECT_TRUE(log_identities(&self->log));
}

TEST_HARNESS_MAIN
