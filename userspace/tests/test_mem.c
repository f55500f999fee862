// SPDX-License-Identifier: GPL-2.0-only
/*
 * The reader on a log's memory, which the real ring writes to in this process, also while
 * it is read.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "../../kernel/ring.h"
#include "bpfrelay.h"
#include "ktap.h"
#include "trace_gen.h"

#define CPUS	2
#define SUBBUF	4096U
#define SUBBUFS	8U
#define PAGE	4096U

static char top[] = "/tmp/test_mem.XXXXXX";
static char dir[256], said[1024];

struct image {
	char *base;
	size_t size;
	struct bpf_relay_log_page *page;
	struct ring ring[CPUS];
};

static void keep(void *ctx, const char *fmt, va_list args)
{
	(void)ctx;
	vsnprintf(said, sizeof(said), fmt, args);
}

/* A directory like a log's, and its memory. */
static void make_image(struct image *im)
{
	char path[512], ctf[300];
	size_t data, stride;
	int i, fd;

	data = (ring_ctl_size(SUBBUFS) + PAGE - 1) / PAGE * PAGE;
	stride = data + SUBBUF * SUBBUFS;
	im->size = PAGE + CPUS * stride;
	snprintf(path, sizeof(path), "%s/mem", dir);
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || ftruncate(fd, im->size))
		exit(1);
	im->base = mmap(NULL, im->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	im->page = (void *)im->base;
	*im->page = (struct bpf_relay_log_page) {
		.abi = BPF_RELAY_ABI,
		.size = sizeof(*im->page),
		.state = BPF_RELAY_LOG_OPEN,
		.nr_cpus = CPUS,
		.subbuf_size = SUBBUF,
		.n_subbufs = SUBBUFS,
		.cpu_offset = PAGE,
		.cpu_stride = stride,
		.data_offset = data,
		.file_size = im->size,
	};
	memcpy(im->page->uuid, gen_uuid, 16);
	snprintf(ctf, sizeof(ctf), "%s/ctf", dir);
	for (i = 0; i < CPUS; i++) {
		char *ctl = im->base + PAGE + i * stride, name[16];

		ring_init(&im->ring[i], (void *)ctl, i, SUBBUF, SUBBUFS, BPF_RELAY_OVERWRITE,
			  BPF_RELAY_CLOCK_BOOT, gen_uuid);
		ring_attach(&im->ring[i], ctl + data);
		snprintf(name, sizeof(name), "cpu%d", i);
		gen_write_file(ctf, name, "", 0);
	}
}

static void free_image(struct image *im)
{
	munmap(im->base, im->size);
}

static struct bpfrelay_log *open_log(void)
{
	LIBBPF_OPTS(bpfrelay_log_opts, opts, .root = top, .print = keep);
	struct bpfrelay_log *log;

	said[0] = '\0';
	return bpfrelay_log_open(dir, &opts, &log) ? NULL : log;
}

/* Record n of a CPU: of type 1, or of type 2 with a few numbers and half a one. */
static void write_record(struct ring *r, __u64 n)
{
	struct { struct gen_record head; __u32 more[16]; } rec = {
		.head = { .n = n, .cpu = r->cpu, .check = n * 7 + r->cpu },
	};
	__u32 i, len = n % 3 ? 4 * (n % 16) : 0;

	for (i = 0; i < 16; i++)
		rec.more[i] = n + i;
	if (n % 3)
		ring_write_record(r, 2, &rec, sizeof(rec.head) + len + n % 4);
	else
		ring_write_record(r, 1, &rec, sizeof(rec.head));
}

static bool is_record(const struct bpfrelay_record *record, __u64 *n)
{
	struct gen_record head;
	__u32 i, more;

	if (!record->type->id || record->len < sizeof(head))
		return false;
	memcpy(&head, record->data, sizeof(head));
	*n = head.n;
	if (head.cpu != record->cpu || head.check != (__s16)(head.n * 7 + head.cpu) ||
	    record->type->id != (head.n % 3 ? 2 : 1))
		return false;
	if (record->len != sizeof(head) + (head.n % 3 ? 4 * (head.n % 16) : 0))
		return false;
	for (i = 0; sizeof(head) + 4 * i < record->len; i++) {
		memcpy(&more, (const char *)record->data + sizeof(head) + 4 * i, 4);
		if (more != (__u32)head.n + i)
			return false;
	}
	return true;
}

struct seen {
	__u64 next[CPUS];	/* the number behind the last record */
	__u64 records[CPUS], lost[CPUS], gaps[CPUS];
	__u64 ts;		/* of the last one in this snapshot */
	bool bad;		/* a record is not one of ours, or not in order */
	int ret;
};

/* Until `next` says that there is no more. */
static void read_on(struct bpfrelay_reader *reader, struct seen *seen)
{
	const struct bpfrelay_item *item;
	__u64 n;

	/* A writer that was stopped between its clock and its place comes in a later one. */
	seen->ts = 0;
	while ((seen->ret = bpfrelay_reader_next(reader, &item)) > 0) {
		__u32 cpu = item->record.cpu;

		if (item->kind == BPFRELAY_LOST) {
			seen->lost[cpu] += item->lost;
			seen->bad |= item->reason == BPFRELAY_DAMAGED;
			continue;
		}
		if (!is_record(&item->record, &n) || n < seen->next[cpu] ||
		    item->record.ts < seen->ts) {
			seen->bad = true;
			return;
		}
		seen->gaps[cpu] += n - seen->next[cpu];
		seen->next[cpu] = n + 1;
		seen->records[cpu]++;
		seen->ts = item->record.ts;
	}
}

static void test_quiet(void)
{
	struct seen seen = {};
	struct bpfrelay_reader *reader;
	struct bpfrelay_log *log;
	__u64 readable[CPUS];
	struct image im;
	__u64 i;

	make_image(&im);
	log = open_log();
	for (i = 0; i < 200; i++)
		write_record(&im.ring[i % CPUS], i / CPUS);
	ktap_ok(log && !bpfrelay_reader_open(log, NULL, &reader) && strstr(said, "reading its memory"),
		"mem: opened");
	read_on(reader, &seen);
	ktap_ok(!seen.bad && seen.records[0] == 100 && seen.records[1] == 100 &&
		!seen.gaps[0] && !seen.gaps[1], "mem: all records, and those of any length whole");
	bpfrelay_reader_close(reader);

	for (; i < 20000; i++)
		write_record(&im.ring[i % CPUS], i / CPUS);
	seen = (struct seen) {};
	bpfrelay_reader_open(log, NULL, &reader);
	read_on(reader, &seen);
	ktap_ok(!seen.bad && seen.next[0] == 10000 && seen.next[1] == 10000 &&
		seen.gaps[0] == im.ring[0].ctl->counters.overwritten &&
		seen.gaps[1] == im.ring[1].ctl->counters.overwritten &&
		!seen.lost[0] && !seen.lost[1], "mem: the newest, %llu and %llu",
		seen.records[0], seen.records[1]);
	bpfrelay_reader_close(reader);
	readable[0] = seen.records[0];
	readable[1] = seen.records[1];

	/* All of it is overwritten between the opening and the reading. */
	seen = (struct seen) {};
	bpfrelay_reader_open(log, NULL, &reader);
	for (; i < 40000; i++)
		write_record(&im.ring[i % CPUS], i / CPUS);
	read_on(reader, &seen);
	ktap_ok(!seen.bad && seen.records[0] && seen.next[0] < 10000 &&
		seen.records[0] + seen.lost[0] == readable[0] &&
		seen.records[1] + seen.lost[1] == readable[1],
		"mem: overtaken: %llu and %llu records lost", seen.lost[0], seen.lost[1]);
	bpfrelay_reader_close(reader);
	bpfrelay_log_close(log);
	free_image(&im);
}

/* An open record hides what is behind it; a follower waits for it. */
static void test_open_record(void)
{
	LIBBPF_OPTS(bpfrelay_reader_opts, opts, .flags = BPFRELAY_READ_FOLLOW);
	struct gen_record rec = { .n = 3, .check = 21 };
	struct bpfrelay_reader *reader;
	struct bpfrelay_log *log;
	struct seen seen = {};
	struct ring_slot slot;
	struct image im;
	int i;

	make_image(&im);
	log = open_log();
	for (i = 0; i < 3; i++)
		write_record(&im.ring[0], i);
	ring_reserve_record(&im.ring[0], 1, sizeof(rec), &slot);
	for (i = 4; i < 200; i++)
		write_record(&im.ring[0], i);
	bpfrelay_reader_open(log, &opts, &reader);
	read_on(reader, &seen);
	ktap_ok(!seen.bad && seen.records[0] == 3, "mem: follow stops at an open record");
	memcpy(slot.header + 1, &rec, sizeof(rec));
	ring_commit_record(&im.ring[0], &slot, BPF_RELAY_COMMITTED);
	ktap_ok(bpfrelay_reader_wait(reader, 0) == 1, "mem: follow sees that it was committed");
	read_on(reader, &seen);
	while (bpfrelay_reader_wait(reader, 0) > 0)
		read_on(reader, &seen);
	ktap_ok(!seen.bad && seen.records[0] == 200 && !seen.gaps[0] && !seen.lost[0],
		"mem: follow: %llu records, none is missing", seen.records[0]);
	im.page->state = BPF_RELAY_LOG_CLOSED;
	ktap_ok(bpfrelay_reader_wait(reader, 100) == -ENODEV, "mem: follow ends with the log");
	bpfrelay_reader_close(reader);
	bpfrelay_log_close(log);
	free_image(&im);
}

/* ---- While it is written ------------------------------------------------------ */

struct writer {
	struct ring *ring;
	__u64 records;
	bool slow;
};

static void *write_records(void *arg)
{
	struct writer *w = arg;
	__u64 i;

	for (i = 0; i < w->records; i++) {
		write_record(w->ring, i);
		if (w->slow && i % 20 == 0)
			nanosleep(&(struct timespec) { .tv_nsec = 100000 }, NULL);
	}
	return NULL;
}

static void test_follow(__u64 records, bool slow)
{
	LIBBPF_OPTS(bpfrelay_reader_opts, opts, .flags = BPFRELAY_READ_FOLLOW);
	struct writer writers[CPUS];
	struct bpfrelay_reader *reader;
	struct bpfrelay_log *log;
	struct seen seen = {};
	pthread_t thread[CPUS];
	struct image im;
	bool all = true;
	int i, rounds = 0;

	make_image(&im);
	log = open_log();
	bpfrelay_reader_open(log, &opts, &reader);
	for (i = 0; i < CPUS; i++) {
		writers[i] = (struct writer) { &im.ring[i], records, slow };
		pthread_create(&thread[i], NULL, write_records, &writers[i]);
	}
	do {
		if (bpfrelay_reader_wait(reader, 0) >= 0)
			read_on(reader, &seen);
		for (i = 0, all = true; i < CPUS; i++)
			all &= ring_read(&im.ring[i].ctl->counters.records) == records;
		rounds++;
	} while (!seen.bad && !all);
	for (i = 0; i < CPUS; i++)
		pthread_join(thread[i], NULL);
	while (!seen.bad && bpfrelay_reader_wait(reader, 0) > 0)
		read_on(reader, &seen);
	ktap_ok(!seen.bad && !seen.ret, "mem: %s writers followed in %d snapshots, no torn record, in order",
		slow ? "slow" : "fast", rounds);
	for (i = 0; i < CPUS; i++)
		ktap_ok(seen.records[i] + seen.lost[i] == records && seen.next[i] == records &&
			seen.gaps[i] == seen.lost[i],
			"mem: CPU %d: %llu records and %llu lost, of %llu", i, seen.records[i],
			seen.lost[i], records);
	bpfrelay_reader_close(reader);
	bpfrelay_log_close(log);
	free_image(&im);
}

/* ---- Where it cannot be used ---------------------------------------------------- */

static void falls_back(const char *what, const char *why)
{
	struct bpfrelay_log *log = open_log();
	const struct bpfrelay_item *item;
	struct bpfrelay_reader *reader = NULL;
	int err = bpfrelay_reader_open(log, NULL, &reader);

	/* The files in ctf/ are empty. */
	ktap_ok(!err && !bpfrelay_reader_next(reader, &item) && strstr(said, why) &&
		strstr(said, "reading ctf/"), "mem: %s: %s", what, said);
	bpfrelay_reader_close(reader);
	bpfrelay_log_close(log);
}

static void test_fallback(void)
{
	char path[512];
	struct image im;

	make_image(&im);
	write_record(&im.ring[0], 0);
	im.page->abi++;
	falls_back("another ABI number", "another ABI number");
	im.page->abi--;
	im.page->uuid[3]++;
	falls_back("another log's", "another log");
	im.page->uuid[3]--;
	im.page->cpu_stride = 1ULL << 60;
	falls_back("CPUs beyond the file", "makes no sense");
	im.page->cpu_stride = im.size;
	falls_back("the last CPU beyond the file", "makes no sense");
	free_image(&im);
	make_image(&im);
	im.ring[1].ctl->abi = 0;
	falls_back("a control area that is none", "");
	snprintf(path, sizeof(path), "%s/mem", dir);
	free_image(&im);
	if (truncate(path, 100))
		exit(1);
	falls_back("cut off", "");
	unlink(path);
	mkdir(path, 0700);
	falls_back("no file", "");
	rmdir(path);
}

int main(void)
{
	char ctf[300];

	ktap_begin();
	if (!mkdtemp(top))
		return 1;
	snprintf(dir, sizeof(dir), "%s/gen.9", top);
	snprintf(ctf, sizeof(ctf), "%s/ctf", dir);
	if (mkdir(dir, 0700) || mkdir(ctf, 0700))
		return 1;
	gen_write_file(ctf, "metadata", gen_metadata(), strlen(gen_metadata()));
	test_quiet();
	test_open_record();
	test_follow(200000, false);
	test_follow(4000, true);
	test_fallback();
	gen_remove(top);
	return ktap_end();
}
