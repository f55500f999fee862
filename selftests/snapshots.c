// SPDX-License-Identifier: GPL-2.0-only
/* What a reader of ctf/ gets while somebody writes: a snapshot, whole or counted. */
#define _GNU_SOURCE
#include "hold.h"
#include "readers.h"

/* Records of each packet. */
struct counts {
	const char *data;
	__u32 nrec[N_SUBBUFS];
};

static bool count_record(const struct record *rec, void *ctx)
{
	struct counts *c = ctx;

	c->nrec[((const char *)rec->packet - c->data) / SUBBUF]++;
	return true;
}

/* Sequence numbers from `next` on without a gap, nothing torn. */
struct run {
	__u64 next;
	__u64 wrong;
};

static bool torn(const struct record *rec)
{
	const struct writer_seq *s = rec->payload;

	return rec->header->id != 1 || rec->header->len != sizeof(*s) ||
	       s->check != s->seq * 0x9e3779b97f4a7c15ULL + s->cpu;
}

static bool in_a_row(const struct record *rec, void *ctx)
{
	struct run *run = ctx;

	run->wrong += torn(rec) || ((struct writer_seq *)rec->payload)->seq != run->next;
	run->next++;
	return true;
}

/*
 * Fails when: a snapshot does not stay as it was, or lseek to 0 does not take a new
 * one, or any other lseek does.
 */
TEST_F_TIMEOUT(idle, lseek_to_0_is_a_new_snapshot, TIMEOUT)
{
	int fd = open_file(&self->log, "ctf/cpu0", O_RDONLY);
	size_t len;
	char *newer;

	/* Into the half packet and no further: nothing is overtaken. */
	write_records(&self->log, HALF - 1);
	newer = log_file(&self->log, "ctf/cpu0", &len);
	ASSERT_EQ(len, self->len);
	ASSERT_NE(memcmp(newer, self->data, len), 0);

	EXPECT_EQ(lseek(fd, 0, SEEK_CUR), 0);
	EXPECT_EQ(read_on(fd, self->buf, 1000), self->len);
	EXPECT_EQ(memcmp(self->buf, self->data, len), 0);

	EXPECT_EQ(lseek(fd, 1, SEEK_SET), 1);
	EXPECT_EQ(read_on(fd, self->buf, 1000), self->len - 1);
	EXPECT_EQ(memcmp(self->buf, self->data + 1, len - 1), 0);
	EXPECT_EQ(lseek(fd, -1000, SEEK_CUR), self->len - 1000);
	EXPECT_EQ(read_on(fd, self->buf, 300), 1000);
	EXPECT_EQ(memcmp(self->buf, self->data + len - 1000, 1000), 0);
	EXPECT_EQ(lseek(fd, -5000, SEEK_END), self->len - 5000);
	EXPECT_EQ(read_on(fd, self->buf, 8192), 5000);
	EXPECT_EQ(memcmp(self->buf, self->data + len - 5000, 5000), 0);
	EXPECT_EQ(pread(fd, self->buf, len, 0), len);
	EXPECT_EQ(memcmp(self->buf, self->data, len), 0);

	EXPECT_EQ(lseek(fd, 0, SEEK_SET), 0);
	EXPECT_EQ(read_on(fd, self->buf, 1000), len);
	EXPECT_EQ(memcmp(self->buf, newer, len), 0);
	free(newer);
	close(fd);
}

/* Fails when: an open file goes on with what was written after it was opened. */
TEST_F_TIMEOUT(idle, nothing_is_delivered_twice, TIMEOUT)
{
	int fd = open_file(&self->log, "ctf/cpu0", O_RDONLY);
	__u64 newest = log_stat(&self->log, 0, "stored events"), last = 0, more = 0;
	ssize_t n, got = 0, i;

	/* A packet is read, half a one is written, again and again. */
	while ((n = read(fd, self->buf + got, SUBBUF)) > 0) {
		got += n;
		ASSERT_LE(got, self->len);
		write_records(&self->log, HALF);
	}
	EXPECT_EQ(got, self->len);
	for (i = 0; i < 5; i++) {
		write_records(&self->log, PER_PACKET);
		more += read(fd, self->buf + got, BUFFER);
	}
	EXPECT_EQ(more, 0);

	EXPECT_GT(ctf_walk(self->buf, got, SUBBUF, NULL, NULL), 0);
	for (i = 0; i < got / SUBBUF; i++) {
		struct bpf_relay_packet *p = (void *)self->buf + i * SUBBUF;
		size_t at = HEADER;

		for (; at < p->content_size / 8;
		     at += BPF_RELAY_RECORD_SIZE(sizeof(struct writer_seq))) {
			struct writer_seq *s = (void *)p + at + sizeof(struct bpf_relay_header);

			EXPECT_TRUE(!last || s->seq > last);
			EXPECT_LT(s->seq, newest);
			last = s->seq;
		}
	}
	EXPECT_NE(last, 0);
	close(fd);
}

/*
 * tar and rsync open a file, ask the open file for its size, and fill up with zeroes
 * what they cannot read of it: no reader of CTF accepts that. (They do mind neither
 * a size that is too small nor one that stays.)
 * Fails when: fstat() of a snapshot promises packets that came after it.
 */
TEST_F_TIMEOUT(empty, size_of_an_open_file, TIMEOUT)
{
	char *buf = malloc(2 * BUFFER);
	unsigned int i;

	for (i = 0; i < N_SUBBUFS + 2; i++) {
		int fd = open_file(&self->log, "ctf/cpu0", O_RDONLY);
		struct stat st;

		write_records(&self->log, PER_PACKET);
		ASSERT_EQ(fstat(fd, &st), 0);
		EXPECT_EQ(read_on(fd, buf, 1000), st.st_size) {
			TH_LOG("opened at %u packets", i);
		}
		close(fd);
	}
	free(buf);
}

/*
 * `now` was read from a snapshot that held `then`, of which packets [from, to) were
 * overtaken before they were read: no records, their number in events_discarded from
 * there on, nothing else changed. Prints what does not hold.
 */
static bool overtaken(const char *then, const char *now, unsigned int from, unsigned int to)
{
	struct counts c = { .data = then };
	unsigned int i;
	__u64 lost = 0;
	long n = 0;

	ctf_walk(then, BUFFER, SUBBUF, count_record, &c);
	for (i = 0; i < N_SUBBUFS; i++) {
		const struct bpf_relay_packet *b = (void *)then + i * SUBBUF;
		const struct bpf_relay_packet *a = (void *)now + i * SUBBUF;
		struct bpf_relay_packet want = *b;

		if (i >= from && i < to) {
			lost += c.nrec[i];
			want.content_size = HEADER * 8;
			want.timestamp_end = want.timestamp_begin;
		} else {
			n += c.nrec[i];
			if (memcmp(b + 1, a + 1, SUBBUF - HEADER)) {
				printf("# packet %u: other records than in the snapshot\n", i);
				return false;
			}
		}
		want.events_discarded += lost;
		if (memcmp(&want, a, HEADER)) {
			printf("# packet %u of %u to %u: seq %llu (%llu) discarded %llu (%llu) content %llu (%llu) begin %llu (%llu) end %llu (%llu)\n",
			       i, from, to, a->packet_seq_num, want.packet_seq_num,
			       a->events_discarded, want.events_discarded, a->content_size,
			       want.content_size, a->timestamp_begin, want.timestamp_begin,
			       a->timestamp_end, want.timestamp_end);
			return false;
		}
	}
	return ctf_walk(now, BUFFER, SUBBUF, NULL, NULL) == n;
}

/* Open, let the writers overtake `lost` packets, read. Ends with a half packet again. */
static bool overtake(struct relay_log *log, char *buf, unsigned int lost, size_t step)
{
	__u64 retries = log_stat(log, 0, "read retries");
	__u64 count = lost ? (lost - 1) * PER_PACKET + HALF + 1 : HALF;
	size_t len;
	char *then = log_file(log, "ctf/cpu0", &len);
	int fd = open_file(log, "ctf/cpu0", O_RDONLY);
	bool good;

	write_records(log, count);
	if (lost > N_SUBBUFS)
		lost = N_SUBBUFS;
	good = read_on(fd, buf, step) == BUFFER && overtaken(then, buf, 0, lost) &&
	       log_stat(log, 0, "read retries") == retries + lost;
	close(fd);
	free(then);
	write_records(log, (PER_PACKET + HALF - log_stat(log, 0, "stored events") % PER_PACKET) %
			   PER_PACKET);
	return good;
}

/*
 * Fails when: an overtaken packet is left out (offsets shift), delivered torn, or its
 * records are not counted, or counted twice.
 */
TEST_F_TIMEOUT(idle, overtaken_readers, TIMEOUT)
{
	static const size_t steps[] = { 2 * BUFFER, 1000, SUBBUF };
	unsigned int lost;

	for (lost = 0; lost <= N_SUBBUFS; lost++)
		EXPECT_TRUE(overtake(&self->log, self->buf, lost, steps[lost % 3])) {
			TH_LOG("%u packets overtaken", lost);
		}
	/* Lapped several times: no more is lost than the snapshot held. */
	EXPECT_TRUE(overtake(&self->log, self->buf, 5 * N_SUBBUFS, 1000));
	EXPECT_TRUE(log_identities(&self->log));

	/* The comparison sees records that are not counted, and one counted too many. */
	printf("# two controls, to be found wrong:\n");
	memcpy(self->buf, self->data, BUFFER);
	EXPECT_TRUE(overtaken(self->data, self->buf, 0, 0));
	EXPECT_FALSE(overtaken(self->data, self->buf, 0, 1));
	((struct bpf_relay_packet *)(self->buf + 3 * SUBBUF))->events_discarded++;
	EXPECT_FALSE(overtaken(self->data, self->buf, 0, 0));
}

/* Fails when: a packet that is half read changes, or what was delivered counts as lost. */
TEST_F_TIMEOUT(idle, overtaken_in_the_middle, TIMEOUT)
{
	int fd = open_file(&self->log, "ctf/cpu0", O_RDONLY);
	size_t half = 2 * SUBBUF + SUBBUF / 2, len;
	char *newer;

	ASSERT_EQ(read(fd, self->buf, half), half);
	write_records(&self->log, 2 * N_SUBBUFS * PER_PACKET);
	EXPECT_EQ(read_on(fd, self->buf + half, 1000), self->len - half);
	EXPECT_TRUE(overtaken(self->data, self->buf, 3, N_SUBBUFS));

	EXPECT_EQ(lseek(fd, 0, SEEK_SET), 0);
	EXPECT_EQ(read_on(fd, self->buf, 1000), self->len);
	newer = log_file(&self->log, "ctf/cpu0", &len);
	EXPECT_EQ(memcmp(self->buf, newer, len), 0);
	free(newer);
	close(fd);
}

FIXTURE(reserve) {
	struct relay_log log;
	__u64 *before, *behind, *seq, *failed, *page;
	char *buf;
};

FIXTURE_SETUP(reserve)
{
	log_load(&self->log, "readers", "readers");
	ASSERT_EQ(log_open(&self->log, &small), 0);
	self->before = log_var(&self->log, ".bss", "before");
	self->behind = log_var(&self->log, ".bss", "behind");
	self->seq = log_var(&self->log, ".bss", "seq");
	self->failed = log_var(&self->log, ".bss", "failed");
	self->page = log_var(&self->log, ".bss", "page");
	self->buf = malloc(2 * BUFFER);
}

FIXTURE_TEARDOWN(reserve)
{
	free(self->buf);
	log_unload(&self->log);
	EXPECT_TRUE(log_gone(&self->log));
}

/* Sequence numbers but those that are 1 modulo 3. */
static bool two_of_three(const struct record *rec, void *ctx)
{
	struct run *run = ctx;

	if (run->next % 3 == 1)
		run->next++;
	return in_a_row(rec, ctx);
}

/* Fails when: a record that was given up is delivered, or takes a neighbour with it. */
TEST_F_TIMEOUT(reserve, discarded_records, TIMEOUT)
{
	struct run run = {};
	struct counts c;
	size_t len;
	char *data;

	/* Into the sixth packet. */
	*self->before = 5 * PER_PACKET + HALF;
	log_run(&self->log, "readers_mixed", 0);
	ASSERT_EQ(*self->failed, 0);
	ASSERT_EQ(*self->seq, *self->before);
	EXPECT_EQ(log_walk(&self->log, 0, true, two_of_three, &run),
		  *self->before - (*self->before + 1) / 3);
	EXPECT_EQ(run.wrong, 0);
	EXPECT_GE(run.next + 2, *self->seq);
	EXPECT_EQ(log_stat(&self->log, 0, "discarded events"), (*self->before + 1) / 3);
	EXPECT_EQ(log_dropped(&self->log, 0), 0);

	/* A packet and more of nothing else: it is delivered, without records. */
	*self->before = 2 * PER_PACKET;
	log_run(&self->log, "readers_discard", 0);
	data = log_file(&self->log, "ctf/cpu0", &len);
	ASSERT_EQ(len, BUFFER);
	c = (struct counts) { .data = data };
	EXPECT_GT(ctf_walk(data, len, SUBBUF, count_record, &c), 0);
	EXPECT_NE(c.nrec[5], 0);
	EXPECT_EQ(c.nrec[6], 0);
	EXPECT_EQ(c.nrec[7], 0);
	free(data);
	EXPECT_TRUE(log_identities(&self->log));
}

/* Sequence numbers that were seen. */
static bool mark(const struct record *rec, void *ctx)
{
	__u64 seq = ((struct writer_seq *)rec->payload)->seq;
	unsigned char *seen = ctx;

	if (torn(rec) || seq >= N_SUBBUFS * PER_PACKET)
		return false;
	seen[seq]++;
	return true;
}

/*
 * Fails when: an open record is delivered, hides complete sub-buffers behind it, or
 * does not hide the rest of its own, which is not final in the order of time.
 */
TEST_F_TIMEOUT(reserve, open_records, TIMEOUT)
{
	/* In the middle, first and last of a packet; how many packets behind it. */
	static const struct { __u64 at, behind; } cases[] = {
		{ PER_PACKET + HALF, 3 * PER_PACKET },
		{ PER_PACKET, 2 * PER_PACKET + HALF },
		{ 2 * PER_PACKET - 1, 2 * PER_PACKET + 1 },
		{ 0, PER_PACKET / 2 },
		{ 3, 7 * PER_PACKET + HALF },
	};
	unsigned char seen[N_SUBBUFS * PER_PACKET];
	unsigned int i;
	__u64 seq;

	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		__u64 at = cases[i].at, all = at + 1 + cases[i].behind;
		struct relay_log log;
		struct holder h;
		size_t len, got;
		char *data;
		int fd;

		/* Each in a log of its own. */
		log_load(&log, "readers", "readers");
		ASSERT_EQ(log_open(&log, &small), 0);
		*(__u64 *)log_var(&log, ".bss", "before") = at;
		*(__u64 *)log_var(&log, ".bss", "behind") = cases[i].behind;
		ASSERT_TRUE(hold(&h, &log, "readers_hold"));

		EXPECT_EQ(log_stat(&log, 0, "open events"), 1);
		data = log_file(&log, "ctf/cpu0", &len);
		EXPECT_EQ(len, (all + PER_PACKET - 1) / PER_PACKET * SUBBUF);
		memset(seen, 0, sizeof(seen));
		EXPECT_GE(ctf_walk(data, len, SUBBUF, mark, seen), 0);
		for (seq = 0; seq < N_SUBBUFS * PER_PACKET; seq++) {
			__u64 packet = seq / PER_PACKET;
			bool complete = (packet + 1) * PER_PACKET < all;
			bool want = seq < at || (packet > at / PER_PACKET && complete);

			EXPECT_EQ(seen[seq], want) {
				TH_LOG("case %u: record %llu, open: %llu of %llu", i, seq, at, all);
			}
		}

		/* A snapshot of now stays one of now; a new one has everything. */
		fd = open_file(&log, "ctf/cpu0", O_RDONLY);
		ASSERT_TRUE(release(&h));
		EXPECT_EQ(*(__u64 *)log_var(&log, ".bss", "failed"), 0);
		got = read_on(fd, self->buf, 1000);
		EXPECT_EQ(got, len);
		EXPECT_EQ(memcmp(self->buf, data, len), 0);
		free(data);
		EXPECT_EQ(lseek(fd, 0, SEEK_SET), 0);
		got = read_on(fd, self->buf, 1000);
		memset(seen, 0, sizeof(seen));
		EXPECT_EQ(ctf_walk(self->buf, got, SUBBUF, mark, seen), all);
		for (seq = 0; seq < N_SUBBUFS * PER_PACKET; seq++)
			EXPECT_EQ(seen[seq], seq < all);
		close(fd);
		EXPECT_EQ(log_stat(&log, 0, "open events"), 0);
		EXPECT_TRUE(log_identities(&log));
		log_unload(&log);
		EXPECT_TRUE(log_gone(&log));
	}
}

TEST_HARNESS_MAIN
