// SPDX-License-Identifier: GPL-2.0-only
/* The file mem: what may be mapped and how, what is read there, and for how long. */
#define _GNU_SOURCE
#include "kselftest_harness.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "anylog.h"
#include "mem_test.h"

#define PAGE	4096
#define TIMEOUT	240

FIXTURE(mem) {
	struct relay_log log;
	struct mem_reader m;
	__u64 *failed;
};

FIXTURE_SETUP(mem)
{
	ASSERT_TRUE(module_insert());
	log_load(&self->log, "mem", "mem");
	ASSERT_EQ(log_open(&self->log, &mem_opts), 0);
	self->failed = log_var(&self->log, ".bss", "failed");
	ASSERT_EQ(log_map(&self->log, &self->m), 0);
}

/* What it ends with in any case; tests may have ended some of it themselves. */
FIXTURE_TEARDOWN(mem)
{
	if (self->m.base)
		mem_close(&self->m);
	if (self->log.obj)
		log_unload(&self->log);
	EXPECT_TRUE(log_gone(&self->log));
}

/* ---- What is mapped -------------------------------------------------------- */

/* Fails when: the log page, the size or a control area say anything but what stats says. */
TEST_F(mem, describes_itself)
{
	const struct bpf_relay_log_page *page = self->m.log;
	char name[64], path[256];
	__u64 stride;
	struct stat st;
	size_t len;
	char *metadata;
	int cpu, i, at;

	EXPECT_EQ(page->abi, BPF_RELAY_ABI);
	EXPECT_EQ(page->size, sizeof(*page));
	EXPECT_EQ(page->state, BPF_RELAY_LOG_OPEN);
	EXPECT_EQ(page->subbuf_size, log_stat(&self->log, -1, "subbuf_size"));
	EXPECT_EQ(page->n_subbufs, log_stat(&self->log, -1, "n_subbufs"));
	EXPECT_EQ(page->mode, BPF_RELAY_OVERWRITE);
	EXPECT_EQ(page->clock, BPF_RELAY_CLOCK_BOOT);
	EXPECT_EQ(page->map_id, self->log.id);
	EXPECT_EQ(page->n_types, 1);
	EXPECT_GE(page->nr_cpus, n_cpus());
	snprintf(name, sizeof(name), "mem.%u", self->log.id);
	EXPECT_STREQ(page->name, name);

	stride = page->data_offset + MEM_BUFFER;
	EXPECT_EQ(page->cpu_offset % PAGE, 0);
	EXPECT_EQ(page->data_offset % PAGE, 0);
	EXPECT_EQ(page->cpu_stride, stride);
	EXPECT_EQ(page->file_size, page->cpu_offset + page->nr_cpus * stride);
	log_path(&self->log, "mem", path);
	ASSERT_EQ(stat(path, &st), 0);
	EXPECT_EQ(st.st_size, page->file_size);
	EXPECT_EQ(st.st_mode & 07777, 0400);
	EXPECT_EQ(lseek(self->m.fd, 0, SEEK_END), page->file_size);

	/* In the words of the metadata: the uuid of the trace comes first. */
	metadata = log_file(&self->log, "ctf/metadata", &len);
	ASSERT_NE(metadata, NULL);
	at = strstr(metadata, "uuid = \"") - metadata + strlen("uuid = \"");
	for (i = 0; i < 16; i++, at += 2) {
		unsigned int byte;

		at += metadata[at] == '-';
		ASSERT_EQ(sscanf(metadata + at, "%2x", &byte), 1);
		EXPECT_EQ(page->uuid[i], byte);
	}
	free(metadata);

	for (cpu = 0; cpu < n_cpus(); cpu++) {
		const struct bpf_relay_ctl *ctl = mem_ctl(&self->m, cpu);

		mem_write(&self->log, cpu, 10 + cpu);
		EXPECT_EQ(ctl->abi, BPF_RELAY_ABI);
		EXPECT_EQ(ctl->cpu, cpu);
		EXPECT_EQ(ctl->flags, BPF_RELAY_F_BUFFER);
		EXPECT_EQ(ctl->subbuf_size, MEM_SUBBUF);
		EXPECT_EQ(ctl->n_subbufs, MEM_N_SUBBUFS);
		EXPECT_EQ(ctl->counters.records, 10 + cpu);
		EXPECT_EQ(ctl->counters.bytes, (10 + cpu) * sizeof(struct mem_rec));
	}
	EXPECT_EQ(*self->failed, 0);
}

/* Fails when: an offset shows in a window of its own what the whole mapping does not. */
TEST_F(mem, any_window)
{
	__u64 size = self->m.size, at;
	int cpu;

	for (cpu = 0; cpu < n_cpus(); cpu++)
		mem_write(&self->log, cpu, 2 * MEM_N_SUBBUFS * MEM_PER_PACKET + cpu);
	for (at = 0; at < size; at += PAGE) {
		/* One page, and two where there are. */
		size_t len = at + PAGE < size ? 2 * PAGE : PAGE;
		char *one = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, self->m.fd, at);
		char *two = mmap(NULL, len, PROT_READ, MAP_PRIVATE, self->m.fd, at);

		ASSERT_NE(one, MAP_FAILED);
		ASSERT_NE(two, MAP_FAILED);
		EXPECT_EQ(memcmp(one, self->m.base + at, PAGE), 0);
		EXPECT_EQ(memcmp(two, self->m.base + at, len), 0);
		munmap(one, PAGE);
		munmap(two, len);
	}
	/* Were they different from one another at all? */
	for (cpu = 1; cpu < n_cpus(); cpu++) {
		EXPECT_NE(memcmp(mem_ctl(&self->m, 0), mem_ctl(&self->m, cpu), PAGE), 0);
		EXPECT_NE(memcmp(mem_data(&self->m, 0), mem_data(&self->m, cpu), MEM_BUFFER), 0);
		EXPECT_GT(mem_nonzero(&self->m, cpu), MEM_BUFFER / 4);
	}
}

static int map_errno(int fd, int prot, int flags, size_t len, off_t at)
{
	void *p = mmap(NULL, len, prot, flags, fd, at);

	if (p == MAP_FAILED)
		return errno;
	munmap(p, len);
	return 0;
}

/* Fails when: anything beyond the file can be mapped, which would be SIGBUS or worse. */
TEST_F(mem, beyond_the_end)
{
	size_t size = self->m.size;
	int fd = self->m.fd;

	EXPECT_EQ(map_errno(fd, PROT_READ, MAP_SHARED, size, 0), 0);
	EXPECT_EQ(map_errno(fd, PROT_READ, MAP_SHARED, PAGE, size - PAGE), 0);
	EXPECT_EQ(map_errno(fd, PROT_READ, MAP_SHARED, size + 1, 0), EINVAL);
	EXPECT_EQ(map_errno(fd, PROT_READ, MAP_SHARED, size, PAGE), EINVAL);
	EXPECT_EQ(map_errno(fd, PROT_READ, MAP_SHARED, PAGE, size), EINVAL);
	EXPECT_EQ(map_errno(fd, PROT_READ, MAP_SHARED, 2 * PAGE, size - PAGE), EINVAL);
	EXPECT_EQ(map_errno(fd, PROT_READ, MAP_SHARED, PAGE, 1ULL << 62), EINVAL);
	EXPECT_NE(map_errno(fd, PROT_READ, MAP_SHARED, PAGE, -PAGE), 0);
	EXPECT_EQ(map_errno(fd, PROT_READ, MAP_SHARED, PAGE, 1), EINVAL);
	EXPECT_EQ(mremap((void *)self->m.base, size, size + PAGE, MREMAP_MAYMOVE), MAP_FAILED);
}

static void store(const char *at)
{
	*(volatile char *)at = 1;
}

/* Fails when: there is any way to write to a log through its file. */
TEST_F(mem, read_only)
{
	const char *at = self->m.base;
	size_t size = self->m.size;
	int fd = self->m.fd, self_mem, status, pipes[2];
	char path[256], before[PAGE], byte = 1;
	struct iovec iov = { (void *)at, PAGE };
	pid_t pid;

	memcpy(before, at, PAGE);
	EXPECT_EQ(map_errno(fd, PROT_READ | PROT_WRITE, MAP_SHARED, size, 0), EACCES);
	EXPECT_EQ(map_errno(fd, PROT_READ | PROT_WRITE, MAP_PRIVATE, size, 0), EACCES);
	EXPECT_EQ(map_errno(fd, PROT_WRITE, MAP_PRIVATE, PAGE, 0), EACCES);
	EXPECT_NE(map_errno(fd, PROT_READ | PROT_EXEC, MAP_PRIVATE, PAGE, 0), 0);
	EXPECT_NE(map_errno(fd, PROT_READ | PROT_EXEC, MAP_SHARED, PAGE, 0), 0);
	EXPECT_EQ(mprotect((void *)at, PAGE, PROT_READ | PROT_WRITE) ? errno : 0, EACCES);
	EXPECT_EQ(mprotect((void *)at, PAGE, PROT_READ | PROT_EXEC) ? errno : 0, EACCES);
	EXPECT_EQ(mprotect((void *)at, PAGE, PROT_NONE), 0);
	EXPECT_EQ(mprotect((void *)at, PAGE, PROT_READ), 0);

	log_path(&self->log, "mem", path);
	EXPECT_EQ(open(path, O_RDWR) < 0 ? errno : 0, EACCES);
	EXPECT_EQ(open(path, O_WRONLY) < 0 ? errno : 0, EACCES);
	EXPECT_NE(truncate(path, 0), 0);
	/* cat is told, too, that this is not for it. */
	EXPECT_EQ(read(fd, before, 0) < 0 ? errno : 0, EINVAL);
	EXPECT_EQ(read(fd, &byte, 1) < 0 ? errno : 0, EINVAL);

	pid = fork();
	if (!pid) {
		signal(SIGSEGV, SIG_DFL);
		store(at);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
	/* As a debugger does, which may write where the program may not. */
	self_mem = open("/proc/self/mem", O_RDWR);
	ASSERT_GE(self_mem, 0);
	EXPECT_LT(pwrite(self_mem, &byte, 1, (off_t)at), 0);
	close(self_mem);
	/* Nor does anybody get hold of a page. */
	ASSERT_EQ(pipe(pipes), 0);
	EXPECT_LT(vmsplice(pipes[1], &iov, 1, 0), 0);
	/* Negative control: a system call may read there. */
	EXPECT_EQ(write(pipes[1], at, PAGE), PAGE);
	close(pipes[0]);
	close(pipes[1]);
	EXPECT_EQ(memcmp(before, at, PAGE), 0);
}

/* ---- Records --------------------------------------------------------------- */

/* Fails when: a mapper finds other records than ctf/ has, or other numbers than stats. */
TEST_F_TIMEOUT(mem, same_records_as_ctf, TIMEOUT)
{
	/* What is written next; how many can be read then. */
	static const struct { __u64 count, want; } steps[] = {
		{ 0, 0 },
		{ 1, 1 },
		{ MEM_PER_PACKET - 1, MEM_PER_PACKET },
		{ 1, MEM_PER_PACKET + 1 },
		{ 3 * MEM_PER_PACKET, 4 * MEM_PER_PACKET + 1 },
		{ 5 * MEM_PER_PACKET - 1, 8 * MEM_PER_PACKET },
		{ 7, 7 * MEM_PER_PACKET + 7 },
		{ 100 * MEM_PER_PACKET, 7 * MEM_PER_PACKET + 7 },
	};
	__u64 *count = log_var(&self->log, ".bss", "count"), total = 0;
	int cpu, i;

	EXPECT_EQ((MEM_SUBBUF - sizeof(struct bpf_relay_packet)) %
		  BPF_RELAY_RECORD_SIZE(sizeof(struct mem_rec)), 8);
	for (i = 0; i < ARRAY_SIZE(steps); i++) {
		total += steps[i].count;
		for (cpu = 0; cpu < n_cpus(); cpu++) {
			const struct bpf_relay_ctl *ctl = mem_ctl(&self->m, cpu);

			mem_write(&self->log, cpu, steps[i].count);
			EXPECT_TRUE(mem_same(&self->log, &self->m, cpu, steps[i].want)) {
				TH_LOG("step %d", i);
			}
			EXPECT_EQ(ctl->counters.records, total);
			EXPECT_EQ(ctl->counters.overwritten, total - steps[i].want);
			EXPECT_EQ(log_stat(&self->log, cpu, "stored events"), total);
			EXPECT_EQ(log_stat(&self->log, cpu, "overrun"), total - steps[i].want);
		}
	}
	/* Records that were given up are not shown. */
	*count = 10;
	log_run(&self->log, "mem_discard", 0);
	EXPECT_EQ(mem_ctl(&self->m, 0)->counters.discarded, 10);
	EXPECT_TRUE(mem_same(&self->log, &self->m, 0, log_stat(&self->log, 0, "entries")));
	EXPECT_EQ(*self->failed, 0);
	EXPECT_TRUE(log_identities(&self->log));
}

/* Fails when: what was overwritten since a reader looked passes for whole. */
TEST_F(mem, overtaken)
{
	char copy[MEM_SUBBUF];
	struct mem_window w, now;
	__u32 i;

	mem_write(&self->log, 0, MEM_N_SUBBUFS * MEM_PER_PACKET);
	mem_window(&self->m, 0, &w);
	ASSERT_EQ(w.first, 0);
	ASSERT_EQ(w.end, MEM_BUFFER);
	for (i = 0; i < MEM_N_SUBBUFS; i++)
		EXPECT_EQ(mem_copy(&self->m, 0, &w, i * MEM_SUBBUF, copy), i < 7 ? 4096 :
			  w.published - 7 * MEM_SUBBUF);
	/* Into the fourth sub-buffer of the next lap. */
	mem_write(&self->log, 0, 3 * MEM_PER_PACKET + 1);
	for (i = 0; i < MEM_N_SUBBUFS; i++)
		EXPECT_EQ(mem_copy(&self->m, 0, &w, i * MEM_SUBBUF, copy) < 0, i <= 3);
	/* A new look finds the newest: a part of the last, all of the others. */
	mem_window(&self->m, 0, &now);
	EXPECT_EQ(now.first, 4 * MEM_SUBBUF);
	EXPECT_EQ(mem_copy(&self->m, 0, &now, MEM_BUFFER + 3 * MEM_SUBBUF, copy),
		  sizeof(struct bpf_relay_packet) +
		  BPF_RELAY_RECORD_SIZE(sizeof(struct mem_rec)));
	EXPECT_EQ(mem_copy(&self->m, 0, &now, MEM_BUFFER, copy), MEM_SUBBUF);
	/* What is not there yet is nothing. */
	EXPECT_EQ(mem_copy(&self->m, 0, &now, MEM_BUFFER + 4 * MEM_SUBBUF, copy), 0);
}

struct load {
	pthread_t thread;
	struct relay_log *log;
	int cpu;
	int runs;
};

static void *load(void *arg)
{
	struct load *l = arg;
	int i;

	for (i = 0; i < l->runs; i++)
		log_run(l->log, "mem_write", l->cpu);
	return NULL;
}

/* How far a reader of one CPU has come. */
struct follow {
	__u64 at;	/* the next sub-buffer */
	__u64 seq;	/* the next record */
	__u64 seen;
	__u64 lost;
	__u64 torn;
	__u64 overtaken;
};

static void follow(const struct mem_reader *m, __u32 cpu, struct follow *f, bool last)
{
	char copy[MEM_SUBBUF];
	struct mem_window w;

	mem_window(m, cpu, &w);
	if (f->at < w.first)
		f->at = w.first;
	for (; f->at < w.end; f->at += MEM_SUBBUF) {
		const struct bpf_relay_packet *packet = (void *)copy;
		const struct bpf_relay_header *h;
		__u32 from = 0;
		long len = mem_copy(m, cpu, &w, f->at, copy);

		if (len < 0) {
			f->overtaken++;
			continue;
		}
		if (len < MEM_SUBBUF && !last)
			break;
		f->torn += len && (packet->magic != BPF_RELAY_CTF_MAGIC ||
				   packet->packet_seq_num != f->at / MEM_SUBBUF ||
				   packet->cpu_id != cpu);
		while ((h = mem_next(copy, len, &from))) {
			const struct mem_rec *rec = (const void *)(h + 1);

			if (h->id != 1 || h->len != sizeof(*rec) || rec->cpu != cpu ||
			    rec->check != MEM_CHECK(rec) || rec->seq < f->seq) {
				f->torn++;
				continue;
			}
			f->lost += rec->seq - f->seq;
			f->seq = rec->seq + 1;
			f->seen++;
		}
	}
}

/*
 * Fails when: beside writers on all CPUs a mapper gets a record that is not whole, or one
 * twice, or cannot say how many it missed.
 */
TEST_F_TIMEOUT(mem, full_load, TIMEOUT)
{
	int n = n_cpus(), cpu, running;
	struct load loads[n];
	struct follow f[n];
	__u64 overtaken = 0;

	memset(f, 0, sizeof(f));
	/* Some are missed for certain. */
	for (cpu = 0; cpu < n; cpu++)
		mem_write(&self->log, cpu, 3 * MEM_N_SUBBUFS * MEM_PER_PACKET);
	*(__u64 *)log_var(&self->log, ".bss", "count") = 1000;
	for (cpu = 0; cpu < n; cpu++) {
		loads[cpu] = (struct load) { .log = &self->log, .cpu = cpu, .runs = 200 };
		ASSERT_EQ(pthread_create(&loads[cpu].thread, NULL, load, &loads[cpu]), 0);
	}
	do {
		running = 0;
		for (cpu = 0; cpu < n; cpu++) {
			follow(&self->m, cpu, &f[cpu], false);
			running += mem_ctl(&self->m, cpu)->counters.records < 200 * 1000;
		}
	} while (running);
	for (cpu = 0; cpu < n; cpu++) {
		const struct bpf_relay_counters *c = &mem_ctl(&self->m, cpu)->counters;

		pthread_join(loads[cpu].thread, NULL);
		follow(&self->m, cpu, &f[cpu], true);
		EXPECT_EQ(f[cpu].torn, 0);
		EXPECT_GT(f[cpu].seen, 0);
		EXPECT_GE(f[cpu].lost, 2 * MEM_N_SUBBUFS * MEM_PER_PACKET);
		EXPECT_LE(f[cpu].lost, c->overwritten);
		EXPECT_EQ(f[cpu].seen + f[cpu].lost, c->records);
		EXPECT_EQ(c->records, log_stat(&self->log, cpu, "stored events"));
		overtaken += f[cpu].overtaken;
		TH_LOG("CPU %d: %llu seen, %llu missed, %llu copies thrown away", cpu,
		       f[cpu].seen, f[cpu].lost, f[cpu].overtaken);
	}
	EXPECT_EQ(*self->failed, 0);
	EXPECT_EQ(log_dropped(&self->log, -1), 0);
	EXPECT_TRUE(log_identities(&self->log));
}

/* ---- Life ------------------------------------------------------------------ */

/* Fails when: memory that somebody maps goes with the log, or stays longer than he does. */
TEST_F_TIMEOUT(mem, outlives_its_log, TIMEOUT)
{
	struct mem_bytes before = {}, behind = {};
	struct pollfd p = { .fd = self->m.fd, .events = POLLIN };
	size_t size = self->m.size;
	char *moved;
	long n;

	mem_write(&self->log, 0, 3 * MEM_N_SUBBUFS * MEM_PER_PACKET + 5);
	n = mem_read_all(&self->m, 0, &before);
	EXPECT_EQ(n, 7 * MEM_PER_PACKET + 5);
	EXPECT_EQ(self->m.log->state, BPF_RELAY_LOG_OPEN);

	log_unload(&self->log);
	ASSERT_TRUE(log_gone(&self->log));
	EXPECT_EQ(self->m.log->state, BPF_RELAY_LOG_CLOSED);
	EXPECT_EQ(mem_read_all(&self->m, 0, &behind), n);
	EXPECT_EQ(behind.len, before.len);
	EXPECT_EQ(memcmp(behind.p, before.p, before.len), 0);
	free(before.p);
	free(behind.p);
	/* The file does nothing any more. */
	EXPECT_EQ(map_errno(self->m.fd, PROT_READ, MAP_SHARED, PAGE, 0), EIO);
	EXPECT_EQ(lseek(self->m.fd, 0, SEEK_SET) < 0 ? errno : 0, EIO);
	EXPECT_EQ(poll(&p, 1, 0), 1);
	EXPECT_EQ(p.revents, POLLHUP | POLLERR);

	/* In one piece, in two, elsewhere: until the last one goes. */
	close(self->m.fd);
	EXPECT_EQ(module_try_remove(), EAGAIN);
	ASSERT_EQ(munmap((char *)self->m.base + PAGE, PAGE), 0);
	ASSERT_EQ(munmap((char *)self->m.base + 2 * PAGE, size - 3 * PAGE), 0);
	moved = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_EQ(mremap((char *)self->m.base + size - PAGE, PAGE, PAGE,
			 MREMAP_MAYMOVE | MREMAP_FIXED, moved), moved);
	EXPECT_EQ(moved[0], 0);
	EXPECT_EQ(self->m.log->state, BPF_RELAY_LOG_CLOSED);
	ASSERT_EQ(munmap((char *)self->m.base, PAGE), 0);
	EXPECT_EQ(module_try_remove(), EAGAIN);
	EXPECT_EQ(moved[1], 0);
	ASSERT_EQ(munmap(moved, PAGE), 0);
	self->m.base = NULL;
	EXPECT_TRUE(module_remove());
	EXPECT_TRUE(module_insert());
}

/* Fails when: a child's mapping goes with its parent's, or is not counted. */
TEST_F_TIMEOUT(mem, fork, TIMEOUT)
{
	int go[2], status;
	char byte = 0;
	pid_t pid;

	mem_write(&self->log, 0, 100);
	ASSERT_EQ(pipe(go), 0);
	pid = fork();
	if (!pid) {
		struct mem_bytes b = {};

		/* Nothing but the mapping: neither the maps nor the file. */
		close_range(3, go[0] - 1, 0);
		close_range(go[0] + 1, ~0U, 0);
		if (read(go[0], &byte, 1) != 1)
			_exit(1);
		_exit(self->m.log->state != BPF_RELAY_LOG_CLOSED ||
		      mem_read_all(&self->m, 0, &b) != 100);
	}
	mem_close(&self->m);
	self->m.base = NULL;
	log_unload(&self->log);
	EXPECT_TRUE(log_gone(&self->log));
	EXPECT_EQ(module_try_remove(), EAGAIN);
	EXPECT_EQ(write(go[1], &byte, 1), 1);
	EXPECT_EQ(waitpid(pid, &status, 0), pid);
	EXPECT_EQ(status, 0);
	EXPECT_TRUE(module_remove());
	EXPECT_TRUE(module_insert());
	close(go[0]);
	close(go[1]);
}

/* More than half of a MiB, with its control areas. */
static struct bpf_relay_opts half_a_mib(void)
{
	__u32 size = 4096;

	while (size * 2 * n_cpus() < 512 << 10)
		size *= 2;
	return (struct bpf_relay_opts) { .subbuf_size = size, .n_subbufs = 2 };
}

/*
 * Fails when: memory is not counted for as long as it is there, or an open file alone, which
 * maps nothing, keeps it there.
 */
TEST_F_TIMEOUT(mem, memory_is_counted, TIMEOUT)
{
	const struct bpf_relay_opts opts = half_a_mib();
	struct relay_log first, second;
	struct mem_reader m;
	int err = 0, fd, i;

	mem_close(&self->m);
	self->m.base = NULL;
	log_unload(&self->log);
	ASSERT_TRUE(log_gone(&self->log));
	ASSERT_TRUE(module_set("max_mib", "1"));

	log_load(&first, "mem", "mem");
	for (i = 0; i < 100 && (err = log_open(&first, &opts)) == -EDQUOT; i++)
		usleep(50000);
	ASSERT_EQ(err, 0);
	ASSERT_EQ(log_map(&first, &m), 0);
	fd = log_open_file(&first, "mem");
	ASSERT_GE(fd, 0);
	log_unload(&first);
	EXPECT_TRUE(log_gone(&first));

	log_load(&second, "mem", "mem");
	for (i = 0; i < 10; i++) {
		EXPECT_EQ(log_open(&second, &opts), -EDQUOT);
		usleep(50000);
	}
	mem_close(&m);
	for (i = 0; i < 100 && (err = log_open(&second, &opts)) == -EDQUOT; i++)
		usleep(50000);
	EXPECT_EQ(err, 0);
	EXPECT_EQ(map_errno(fd, PROT_READ, MAP_SHARED, PAGE, 0), EIO);
	close(fd);
	log_unload(&second);
	EXPECT_TRUE(log_gone(&second));
	EXPECT_TRUE(module_set("max_mib", "0"));
}

/*
 * Fails when: a mapping of the old log keeps a map from getting a new one. Updating the
 * element from a system call closes the log on some kernels (6.12), and nothing on others.
 */
TEST_F_TIMEOUT(mem, opened_again, TIMEOUT)
{
	int fd = bpf_map__fd(self->log.map), i, err = -EAGAIN;
	__u32 value_size = bpf_map__value_size(self->log.map), key = 0;
	char *value = calloc(libbpf_num_possible_cpus(), (value_size + 7) & ~7);

	ASSERT_EQ(bpf_map_update_elem(fd, &key, value, BPF_ANY), 0);
	free(value);
	if (self->m.log->state == BPF_RELAY_LOG_OPEN)
		SKIP(return, "this kernel leaves the log alone");
	for (i = 0; i < 100 && err == -EAGAIN; i++) {
		err = log_open(&self->log, &mem_opts);
		usleep(50000);
	}
	EXPECT_EQ(err, 0);
	EXPECT_EQ(self->m.log->state, BPF_RELAY_LOG_CLOSED);
	mem_write(&self->log, 0, 10);
	EXPECT_EQ(mem_ctl(&self->m, 0)->counters.records, 0);
	EXPECT_EQ(log_stat(&self->log, 0, "entries"), 10);
}

struct mapper {
	pthread_t thread;
	const struct relay_log *log;
	atomic_bool stop;
	__u64 mapped, wrong;
};

/* Map, look, unmap, for as long as there is a file. */
static void *map_loop(void *arg)
{
	struct mapper *r = arg;

	while (!atomic_load(&r->stop)) {
		struct mem_reader m;
		int err = log_map(r->log, &m);

		if (err) {
			/* Of a file that goes, or is just coming, st_size is 0. */
			r->wrong += err != -ENOENT && err != -EIO && err != -ENODEV &&
				    err != -EINVAL;
			continue;
		}
		r->mapped++;
		r->wrong += m.log->map_id != r->log->id || !m.log->state ||
			    mem_ctl(&m, 0)->abi != BPF_RELAY_ABI;
		mem_nonzero(&m, 0);
		mem_close(&m);
	}
	return NULL;
}

/* Fails when: mapping beside the log's end finds half of a log, or memory that went. */
TEST_F_TIMEOUT(mem, mapped_while_it_goes, TIMEOUT)
{
	__u64 mapped = 0;
	int i, j;

	for (i = 0; i < 20; i++) {
		struct mapper mappers[2];
		struct relay_log log;

		log_load(&log, "mem", "mem");
		for (j = 0; j < 2; j++) {
			mappers[j] = (struct mapper) { .log = &log };
			pthread_create(&mappers[j].thread, NULL, map_loop, &mappers[j]);
		}
		EXPECT_EQ(log_open(&log, &mem_opts), 0);
		while (!*(volatile __u64 *)&mappers[0].mapped)
			mem_write(&log, 0, 10);
		log_unload(&log);
		EXPECT_TRUE(log_gone(&log));
		for (j = 0; j < 2; j++) {
			atomic_store(&mappers[j].stop, true);
			pthread_join(mappers[j].thread, NULL);
			EXPECT_EQ(mappers[j].wrong, 0);
			mapped += mappers[j].mapped;
		}
	}
	TH_LOG("mapped %llu times", mapped);
}

TEST_HARNESS_MAIN
