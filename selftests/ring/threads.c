// SPDX-License-Identifier: GPL-2.0-only
/*
 * The ring as it is, with its own accessors: one writer thread, nested writers
 * in its signal handlers (not under TSan, which delays signals to where nothing
 * can go wrong), readers on other threads.
 *
 * Each level of nesting (0 is the thread, 1 to 3 are signals that do not
 * interrupt themselves) numbers the records that it wrote: in the order of
 * positions each level's numbers rise by one.
 */
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include "test.h"

#define LEVELS	4

#ifdef __SANITIZE_THREAD__
#define SIGNALS	0
#else
#define SIGNALS	1
#endif

struct payload {
	u64 seq;
	u32 level, sum;
	u8 body[];
};

#define BODY_MAX	2000U

static struct ring ring;
static struct bpf_relay_ctl *ctl;
static u8 *data;
static u32 size;
static bool stop_writing, stop_reading;
static u64 seq[LEVELS], calls[LEVELS], bytes[LEVELS];
static const u8 uuid[16] = "bpf_relay thread";

static u32 sum(const struct payload *p, u32 len)
{
	u32 hash = 2166136261U ^ len ^ p->seq * 2654435761U ^ p->level << 28, i;

	/* Word by word where it can: this is most of the test's work. */
	for (i = 0; i + 4 <= len - sizeof(*p); i += 4) {
		u32 word;

		memcpy(&word, p->body + i, 4);
		hash = (hash ^ word) * 16777619U;
	}
	for (; i < len - sizeof(*p); i++)
		hash = (hash ^ p->body[i]) * 16777619U;
	return hash;
}

/* ---- The writer ------------------------------------------------------------ */

static void write_one(u32 level, u64 *random)
{
	union {
		struct payload p;
		u8 room[sizeof(struct payload) + BODY_MAX];
	} u;
	u64 r = test_random(random);
	u32 body = r % 32 ? r / 32 % 64 : r / 32 % BODY_MAX, i, len, most;
	enum bpf_relay_counter dropped;
	struct ring_slot slot;

	most = BPF_RELAY_PAYLOAD_MAX(size) - sizeof(u.p);
	if (body > most)
		body = most;
	len = sizeof(u.p) + body;
	u.p.seq = seq[level];
	u.p.level = level;
	for (i = 0; i < body; i++)
		u.p.body[i] = r >> (i % 7 * 8);
	u.p.sum = sum(&u.p, len);

	calls[level]++;
	if (r >> 60) {
		dropped = ring_write_record(&ring, level, &u.p, len);
	} else {
		dropped = ring_reserve_record(&ring, level, len, &slot);
		if (!dropped && r >> 59 & 1) {
			ring_commit_record(&ring, &slot, BPF_RELAY_DISCARDED);
			return;
		}
		if (!dropped) {
			ring_copy_in((u8 *)ring_at(&ring, slot.pos) + sizeof(struct bpf_relay_header),
				     &u.p, len);
			ring_commit_record(&ring, &slot, BPF_RELAY_COMMITTED);
		}
	}
	if (!dropped) {
		seq[level]++;
		bytes[level] += len;
	}
}

static void interrupt(int sig)
{
	static u64 random[LEVELS] = { 0, 11, 22, 33 };
	u32 level = sig == SIGUSR1 ? 1 : sig == SIGUSR2 ? 2 : 3;
	u64 n = 1 + test_random(&random[level]) % 4;

	/* Sometimes a lap or two. */
	if (test_random(&random[level]) % 16 == 0)
		n = ctl->n_subbufs * (u64)size / 40;
	while (n--)
		write_one(level, &random[level]);
}

static void *writer(void *unused)
{
	u64 random = 1234567, last;
	sigset_t set;

	(void)unused;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGUSR2);
	sigaddset(&set, SIGRTMIN);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	while (!__atomic_load_n(&stop_writing, __ATOMIC_RELAXED))
		write_one(0, &random);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	/* The very last record is the thread's own: every reader must come to it. */
	for (last = seq[0]; seq[0] == last;)
		write_one(0, &random);
	return NULL;
}

/* ---- Readers ---------------------------------------------------------------- */

struct reader {
	pthread_t thread;
	u8 *copy;
	u64 records, overtaken, passes;
	u64 next[LEVELS];	/* number that comes next */
	bool gap[LEVELS];	/* or a later one */
};

static void reader_gap(struct reader *r)
{
	memset(r->gap, true, sizeof(r->gap));
}

static void check_header(const struct reader *r, u64 start)
{
	const struct bpf_relay_packet *p = (const void *)r->copy;

	CHECK(p->magic == BPF_RELAY_CTF_MAGIC && p->packet_seq_num == start / size &&
	      p->packet_size == size * 8ULL && p->cpu_id == 5 && !memcmp(p->uuid, uuid, 16),
	      "packet header of position %llu", (ull)start);
}

static void check_record(struct reader *r, const struct bpf_relay_header *h)
{
	const struct payload *p = (const void *)(h + 1);

	CHECK(h->len >= sizeof(*p) && h->len <= size && p->level < LEVELS && h->id == p->level,
	      "torn record");
	CHECK(p->sum == sum(p, h->len), "torn record: checksum");
	CHECK(r->gap[p->level] ? p->seq >= r->next[p->level] : p->seq == r->next[p->level],
	      "level %u: record %llu, expected %llu", p->level, (ull)p->seq,
	      (ull)r->next[p->level]);
	r->next[p->level] = p->seq + 1;
	r->gap[p->level] = false;
	r->records++;
}

/* All that is there at one moment, as an open file of the module sees it. */
static void snapshot(struct reader *r)
{
	struct ring_window w;
	struct packet p;
	u64 start;

	memset(r->next, 0, sizeof(r->next));
	reader_gap(r);
	ring_window(&ring, &w);
	for (start = w.first; start < w.end; start += size) {
		u32 n = ring_readable(&ring, &w, start), off = sizeof(struct bpf_relay_packet);

		if (n && !ring_copy(&ring, start, r->copy, n)) {
			r->overtaken++;
			n = 0;
		}
		if (n) {
			check_header(r, start);
			packet_compact(r->copy, n, size, NULL, &p);
			CHECK(!p.damaged, "damaged packet at %llu", (ull)start);
			for (; p.nrec; p.nrec--) {
				const struct bpf_relay_header *h = (const void *)(r->copy + off);

				check_record(r, h);
				off += BPF_RELAY_RECORD_SIZE(h->len);
			}
		}
		if (n < size)
			reader_gap(r);
	}
	r->passes++;
}

static void *snapshots(void *arg)
{
	while (!__atomic_load_n(&stop_reading, __ATOMIC_ACQUIRE))
		snapshot(arg);
	snapshot(arg);
	return NULL;
}

/* Follows the writer: every record at most once, each that it was not too late for. */
static void follow(struct reader *r, u64 *start, u32 *off)
{
	struct ring_window w;
	u32 n;

	for (;;) {
		ring_window(&ring, &w);
		if (*start < w.first) {
			*start = w.first;
			*off = sizeof(struct bpf_relay_packet);
			reader_gap(r);
		}
		if (*start >= w.end)
			return;
		n = ring_readable(&ring, &w, *start);
		if (n <= *off && n < size)
			return;
		if (!ring_copy(&ring, *start, r->copy, n)) {
			r->overtaken++;
			reader_gap(r);
			continue;	/* the window has moved */
		}
		check_header(r, *start);
		while (*off < n) {
			const struct bpf_relay_header *h = (const void *)(r->copy + *off);

			if (n - *off < sizeof(*h) || !h->state)
				break;
			CHECK(h->state != BPF_RELAY_OPEN, "open record");
			CHECK(BPF_RELAY_RECORD_SIZE(h->len) <= n - *off, "torn record");
			if (h->state == BPF_RELAY_COMMITTED)
				check_record(r, h);
			*off += BPF_RELAY_RECORD_SIZE(h->len);
		}
		if (n == size) {
			*start += size;
			*off = sizeof(struct bpf_relay_packet);
		}
		r->passes++;
	}
}

static void *follower(void *arg)
{
	u64 start = 0;
	u32 off = sizeof(struct bpf_relay_packet);

	while (!__atomic_load_n(&stop_reading, __ATOMIC_ACQUIRE))
		follow(arg, &start, &off);
	follow(arg, &start, &off);
	return NULL;
}

/* ---- Together ------------------------------------------------------------------ */

static u64 now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000ULL + t.tv_nsec / 1000000;
}

static void run(u32 subbuf_size, u32 n, u32 ms)
{
	static void *(*const kinds[])(void *) = { snapshots, follower, snapshots };
	struct itimerspec every = { { 0, 150000 }, { 0, 150000 } };
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL };
	struct sigaction action = { .sa_handler = interrupt, .sa_flags = SA_RESTART };
	struct reader reader[3] = { 0 };
	u64 written = 0, called = 0, payload = 0, readable = 0, seen = 0, overtaken = 0, end;
	struct ring_window w;
	pthread_t thread;
	sigset_t set;
	timer_t timer;
	u32 i;

	size = subbuf_size;
	ctl = calloc(1, ring_ctl_size(n));
	data = aligned_alloc(64, (size_t)n * size);
	CHECK(ctl && data);
	memset(data, 0xa5, (size_t)n * size);
	ring_init(&ring, ctl, 5, size, n, BPF_RELAY_OVERWRITE, BPF_RELAY_CLOCK_BOOT, uuid);
	ring_attach(&ring, data);

	/* Only the writer takes them. */
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGUSR2);
	sigaddset(&set, SIGRTMIN);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGUSR2, &action, NULL);
	sigaction(SIGRTMIN, &action, NULL);

	for (i = 0; i < 3; i++) {
		reader[i].copy = aligned_alloc(64, size);
		reader_gap(&reader[i]);
		CHECK(!pthread_create(&reader[i].thread, NULL, kinds[i], &reader[i]));
	}
	CHECK(!pthread_create(&thread, NULL, writer, NULL));
	event.sigev_signo = SIGRTMIN;
	if (SIGNALS) {
		CHECK(!timer_create(CLOCK_MONOTONIC, &event, &timer));
		CHECK(!timer_settime(timer, 0, &every, NULL));
	}
	for (end = now_ms() + ms, i = 0; now_ms() < end; i++) {
		struct timespec nap = { .tv_nsec = SIGNALS ? 10000 : 1000000 };

		if (SIGNALS)
			pthread_kill(thread, i % 2 ? SIGUSR1 : SIGUSR2);
		nanosleep(&nap, NULL);
	}
	__atomic_store_n(&stop_writing, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	__atomic_store_n(&stop_reading, true, __ATOMIC_RELEASE);
	for (i = 0; i < 3; i++) {
		pthread_join(reader[i].thread, NULL);
		seen += reader[i].records;
		overtaken += reader[i].overtaken;
	}

	/* Quiet: the identities, and every reader came to the very last record. */
	for (i = 0; i < LEVELS; i++) {
		written += seq[i];
		called += calls[i];
		payload += bytes[i];
	}
	for (i = 0; i < n; i++)
		readable += ring.sub[i].nrec;
	CHECK(ctl->counters.records == written && ctl->counters.bytes == payload);
	CHECK(written == ctl->counters.overwritten + readable);
	CHECK(called == written + ctl->counters.discarded + ring_dropped(&ring));
	CHECK(ctl->published == ctl->wpos && ring.depth == 0);
	for (i = 0; i < 3; i++)
		CHECK(reader[i].next[0] == seq[0], "reader %u ended at %llu of %llu", i,
		      (ull)reader[i].next[0], (ull)seq[0]);
	ring_window(&ring, &w);
	reader[0].records = 0;
	snapshot(&reader[0]);
	CHECK(reader[0].records == readable, "walked over %llu, counted %llu",
	      (ull)reader[0].records, (ull)readable);

	note("%u x %u: %llu written, %llu calls nested, deepest %u; %llu read, %llu overtaken; "
	     "dropped: %llu busy, %llu contended", n, size, (ull)written, (ull)ctl->nested,
	     ctl->depth_max, (ull)seen, (ull)overtaken, (ull)ctl->counters.dropped_busy,
	     (ull)ctl->counters.dropped_contended);
	CHECK(seen && written);
	CHECK(!SIGNALS || ctl->nested, "no call was nested in another");

	for (i = 0; i < 3; i++)
		free(reader[i].copy);
	free(ctl);
	free(data);
}

TEST(threads_small, "threads.2x512")	{ run(512, 2, 1200); }
TEST(threads_page, "threads.2x4096")	{ run(4096, 2, 1200); }
TEST(threads_large, "threads.8x16384")	{ run(16384, 8, 1200); }
