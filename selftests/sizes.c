// SPDX-License-Identifier: GPL-2.0-only
/* Sizes of records and of buffers: what is legal works, what is not is refused. */
#define _GNU_SOURCE
#include "kselftest_harness.h"

#include <time.h>

#include "anylog.h"
#include "bpf/sizes.h"

FIXTURE(sizes) {
	struct relay_log base;
	struct relay_log log;
	int fd;
	int kmsg;
	unsigned char *pattern;
};

FIXTURE_SETUP(sizes)
{
	int i;

	log_load(&self->base, "sizes", "any");
	self->fd = any_create(&self->base, &self->log, "sizes", 1);
	self->kmsg = kmsg_open();
	self->pattern = log_var(&self->base, ".bss.payload", "any_payload");
	for (i = 0; i < (4 << 20) + 256; i++)
		self->pattern[i] = i * 7 + (i >> 8) + 1;
	ASSERT_TRUE(module_set("max_mib", "0"));
}

FIXTURE_TEARDOWN(sizes)
{
	module_set("max_mib", "0");
	any_close(&self->base, 1, self->fd);
	log_unload(&self->base);
	EXPECT_TRUE(logs_gone());
}

/* ---- Records ----------------------------------------------------------------- */

struct expect {
	const unsigned char *pattern;
	__u32 next;	/* its size */
	__u32 step;
	__u32 wrong;
	__u16 id;
};

static bool has_pattern(const struct record *rec, void *ctx)
{
	struct expect *e = ctx;

	e->wrong += rec->header->len != e->next || rec->header->id != e->id ||
		    memcmp(rec->payload, e->pattern + (e->next & 255), e->next);
	e->next += e->step;
	return true;
}

/*
 * Fails when: a size from 0 to the largest is not stored whole, byte for byte, or
 * the next one is, or is counted as anything but too big.
 */
TEST_F(sizes, raw_records_of_every_size)
{
	__u32 max = BPF_RELAY_PAYLOAD_MAX(4096);
	struct expect e = { .pattern = self->pattern, .step = 1 };

	ASSERT_EQ(any_open(&self->base, 1, (struct bpf_relay_opts) {
		.subbuf_size = 4096, .n_subbufs = 4096 }), 0);
	any_write(&self->base, 1, 0, 0, 0, 1, max + 2);
	EXPECT_EQ(any_results(&self->base)[0], max + 1);
	EXPECT_EQ(any_results(&self->base)[E2BIG], 1);
	EXPECT_EQ(log_stat(&self->log, 0, "stored events"), max + 1);
	EXPECT_EQ(log_stat(&self->log, 0, "dropped too big"), 1);
	EXPECT_EQ(log_dropped(&self->log, -1), 1);
	EXPECT_EQ(log_walk(&self->log, 0, true, has_pattern, &e), max + 1);
	EXPECT_EQ(e.wrong, 0);
	EXPECT_TRUE(log_identities(&self->log));

	/* Negative control: a byte changed in what is expected is a record wrong. */
	self->pattern[max]++;
	e.next = 0;
	log_walk(&self->log, 0, true, has_pattern, &e);
	EXPECT_GT(e.wrong, 0);
}

/* Fails when: the largest record of the largest sub-buffer is not stored, or one more is. */
TEST_F(sizes, raw_records_of_4_mib)
{
	__u32 max = BPF_RELAY_PAYLOAD_MAX(4U << 20);
	struct expect e = { .pattern = self->pattern, .next = max - 1, .step = 1 };

	ASSERT_EQ(any_open(&self->base, 1, (struct bpf_relay_opts) {
		.subbuf_size = 4U << 20, .n_subbufs = 2 }), 0);
	any_write(&self->base, 1, 1, 0, max - 1, 1, 3);
	EXPECT_EQ(any_results(&self->base)[0], 2);
	EXPECT_EQ(any_results(&self->base)[E2BIG], 1);
	EXPECT_EQ(log_stat(&self->log, 1, "dropped too big"), 1);
	EXPECT_EQ(log_walk(&self->log, 1, true, has_pattern, &e), 2);
	EXPECT_EQ(e.wrong, 0);
}

struct bad_call {
	__u64 flags;
	__u32 size;
	int err;
	const char *reason;
};

static const struct bad_call bad_calls[] = {
	{ 1,			23,	EINVAL, "dropped size" },
	{ 1,			25,	EINVAL, "dropped size" },
	{ 1,			0,	EINVAL, "dropped size" },
	{ 2,			15,	EINVAL, "dropped size" },
	{ 4,			24,	ENOENT, "dropped type" },
	{ 255,			24,	ENOENT, "dropped type" },
	{ 256,			24,	ENOENT, "dropped type" },
	{ 0xffff,		24,	ENOENT, "dropped type" },
	{ 1 << 16 | 1,		24,	EINVAL, "dropped type" },
	{ 1ULL << 63 | 1,	24,	EINVAL, "dropped type" },
	{ 1 << 16 | 1,		23,	EINVAL, "dropped type" },
	{ 1 << 16,		24,	EINVAL, "dropped type" },
	{ 0,			3993,	E2BIG,	"dropped too big" },
	{ 2,			4096,	E2BIG,	"dropped too big" },
};

#define N_BAD	ARRAY_SIZE(bad_calls)
#define EACH	72	/* N_BAD of these are more than 1,000 calls */

/* Of a type's text, the part that the test wants in the trace. */
static void add_types(struct __test_metadata *_metadata, struct relay_log *base)
{
	static const char tsdl[] =
		"event {\n\tname = \"pair\";\n\tid = 3;\n\tstream_id = 0;\n"
		"\tfields := struct {\n\t\tuint32_t a;\n\t\tuint32_t b;\n\t} align(64);\n};\n";
	struct bpf_relay_type type = { .abi = BPF_RELAY_ABI, .id = 1, .size = 24, .name = "fix" };

	ASSERT_EQ(any_add_type(base, 1, &type), 0);
	type = (struct bpf_relay_type) {
		.abi = BPF_RELAY_ABI, .id = 2, .size = 16, .flags = BPF_RELAY_TYPE_VAR,
		.name = "var",
	};
	ASSERT_EQ(any_add_type(base, 1, &type), 0);
	type = (struct bpf_relay_type) {
		.abi = BPF_RELAY_ABI, .id = 3, .size = 8, .name = "pair",
		.tsdl = (unsigned long)tsdl, .tsdl_len = sizeof(tsdl) - 1,
	};
	ASSERT_EQ(any_add_type(base, 1, &type), 0);
}

#define TRACE	"/tmp/sizes"

/*
 * Events that babeltrace2 finds in a copy of the log, -1 if it gives up; *lines that it
 * says on stderr. `mend` is run on the copy before.
 */
static long babeltrace(const struct relay_log *log, const char *mend, int *lines)
{
	int failed = shell("rm -rf " TRACE " && cp -r %s/ctf " TRACE " && %s", log->dir, mend) ||
		     shell("timeout 60 babeltrace2 " TRACE " >" TRACE ".out 2>" TRACE ".err");
	FILE *f = popen("wc -l <" TRACE ".out; wc -l <" TRACE ".err", "r");
	long n = -1;

	if (fscanf(f, "%ld %d", &n, lines) != 2)
		failed = 1;
	pclose(f);
	return failed ? -1 : n;
}

/*
 * Fails when: a call that must not be stored is, or is counted for another reason,
 * or leaves a trace that babeltrace2 does not read to its end; or the reader says
 * anything but how many calls were dropped.
 */
TEST_F(sizes, a_thousand_bad_calls)
{
	struct { const char *reason; __u64 n; } want[] = {
		{ "dropped size", 0 }, { "dropped type", 0 }, { "dropped too big", 0 },
	};
	__u64 errors[ANYLOG_ERRNOS] = {}, stored = 0;
	int i, j, cpu, lines;

	add_types(_metadata, &self->base);
	ASSERT_EQ(any_open(&self->base, 1, (struct bpf_relay_opts) {
		.n_types = 3, .subbuf_size = 4096, .n_subbufs = 256 }), 0);

	/* A trace with nothing but good calls: not a word. */
	for (cpu = 0; cpu < n_cpus(); cpu++) {
		any_write(&self->base, 1, cpu, 1, 24, 0, 100);
		any_write(&self->base, 1, cpu, 2, 16, 1, 100);
		any_write(&self->base, 1, cpu, 3, 8, 0, 100);
		any_write(&self->base, 1, cpu, 0, 0, 1, 100);
		stored += 400;
	}
	EXPECT_EQ(babeltrace(&self->log, "true", &lines), stored);
	EXPECT_EQ(lines, 0);
	/* Negative control: the first record gets an id that there is none of. */
	EXPECT_EQ(babeltrace(&self->log, "printf '\\377' | dd of=" TRACE "/cpu0 conv=notrunc "
			     "bs=1 seek=96 status=none", &lines), -1);
	EXPECT_GT(lines, 0);

	memset(any_results(&self->base), 0, ANYLOG_ERRNOS * sizeof(__u64));
	for (i = 0; i < EACH; i++) {
		cpu = i % n_cpus();
		for (j = 0; j < N_BAD; j++) {
			any_write(&self->base, 1, cpu, bad_calls[j].flags, bad_calls[j].size,
				  0, 1);
			errors[bad_calls[j].err]++;
		}
		any_write(&self->base, 1, cpu, i % 4, (int []) { i, 24, i + 16, 8 }[i % 4], 0,
			  1);
		stored++;
	}
	ASSERT_GE(EACH * N_BAD, 1000);
	errors[0] = EACH;
	for (i = 0; i < ANYLOG_ERRNOS; i++)
		EXPECT_EQ(any_results(&self->base)[i], errors[i]);
	for (i = 0; i < ARRAY_SIZE(want); i++) {
		for (j = 0; j < N_BAD; j++)
			want[i].n += strcmp(want[i].reason, bad_calls[j].reason) ? 0 : EACH;
		EXPECT_EQ(log_stat(&self->log, -1, want[i].reason), want[i].n);
	}
	EXPECT_EQ(log_dropped(&self->log, -1), EACH * N_BAD);
	EXPECT_EQ(log_stat(&self->log, -1, "stored events"), stored);
	EXPECT_EQ(log_stat(&self->log, -1, "overrun"), 0);
	EXPECT_TRUE(log_identities(&self->log));

	EXPECT_EQ(babeltrace(&self->log, "true", &lines), stored);
	/* It tells of dropped calls per CPU, and must say neither more nor less. */
	EXPECT_EQ(shell("awk '{ print \"# \" $0 } /Tracer discarded [0-9]+ events? / {"
			" sub(/.*discarded /, \"\"); n += $1; next } { bad = 1 }"
			" END { exit bad || n != %zu }' " TRACE ".err", EACH * N_BAD), 0);
	shell("rm -rf " TRACE "*");
}

struct var_expect {
	__u32 n[2];
	__u32 wrong;
};

static bool is_var(const struct record *rec, void *ctx)
{
	const struct sizes_fixed *fixed = rec->payload;
	const struct sizes_var *var = rec->payload;
	struct var_expect *e = ctx;
	__u32 i;

	if (rec->header->id == 1) {
		e->wrong += rec->header->len != sizeof(*fixed) || fixed->seq != e->n[0] ||
			    fixed->bytes[8] != e->n[0];
		e->n[0]++;
		return true;
	}
	e->wrong += rec->header->id != 2 || var->seq != e->n[1] || var->len != e->n[1] ||
		    rec->header->len != sizeof(*var) + var->len;
	for (i = 0; sizeof(*var) + i < rec->header->len; i++)
		e->wrong += var->bytes[i] != i + 1;
	e->n[1]++;
	return true;
}

/* Fails when: RELAY_VAR() or relay_output_var() make anything else than they say. */
TEST_F(sizes, variable_types_by_the_macros)
{
	struct var_expect e = {};
	struct relay_log log;

	log_load(&log, "sizes", "sizes");
	ASSERT_EQ(log_open(&log, NULL), 0);
	EXPECT_EQ(log_run(&log, "sizes_write_var", 2), 0);
	EXPECT_EQ(*(__u64 *)log_var(&log, ".bss", "sizes_errors"), 0);
	EXPECT_EQ(log_walk(&log, 2, true, is_var, &e), 2 * (SIZES_BYTES + 1));
	EXPECT_EQ(e.n[0], SIZES_BYTES + 1);
	EXPECT_EQ(e.n[1], SIZES_BYTES + 1);
	EXPECT_EQ(e.wrong, 0);
	EXPECT_EQ(log_stat(&log, 2, "dropped size"), 2);
	EXPECT_EQ(log_dropped(&log, -1), 2);
	log_unload(&log);
}

/*
 * Fails when: a type of any length, of which the module knows the fields but no text,
 * is not read as bytes before its elements and elements: then nothing behind it is.
 */
TEST_F(sizes, elements_without_text)
{
	struct bpf_relay_field fields[] = {
		{ .size = 1, .count = 5, .kind = BPF_RELAY_BYTES, .name = "head" },
		{ .offset = 5, .size = 4, .count = 0, .kind = BPF_RELAY_UINT, .name = "words" },
	};
	struct bpf_relay_type type = {
		.abi = BPF_RELAY_ABI, .id = 1, .size = 5, .flags = BPF_RELAY_TYPE_VAR,
		.name = "words", .fields = (unsigned long)fields, .fields_len = sizeof(fields),
	};
	int lines;

	ASSERT_EQ(any_add_type(&self->base, 1, &type), 0);
	type.id = 2;
	type.size = 0;
	type.fields = (unsigned long)(fields + 1);
	type.fields_len = sizeof(fields[1]);
	fields[1].offset = 0;
	ASSERT_EQ(any_add_type(&self->base, 1, &type), 0);
	ASSERT_EQ(any_open(&self->base, 1, (struct bpf_relay_opts) {
		.n_types = 2, .subbuf_size = 4096, .n_subbufs = 64 }), 0);
	/* 0 to 40 bytes behind what each has at least. */
	any_write(&self->base, 1, 0, 1, 5, 1, 41);
	any_write(&self->base, 1, 0, 2, 0, 1, 41);
	EXPECT_EQ(babeltrace(&self->log, "true", &lines), 82);
	EXPECT_EQ(lines, 0);
	EXPECT_EQ(shell("test $(grep -c ' words: .* len = 0,' " TRACE ".out) = 8"), 0);
	EXPECT_EQ(shell("test $(grep -c ' words: .* len = 10, .*\\[9\\] = \\[ \\[0\\] = ' " TRACE
			".out) = 2"), 0);
	shell("rm -rf " TRACE "*");
}

/* ---- Buffers ----------------------------------------------------------------- */

/* Open a log of a legal size, fill all of it, and see that it was all there. */
static int try_geometry(struct relay_log *base, __u32 size, __u32 n)
{
	struct bpf_relay_opts opts = { .subbuf_size = size, .n_subbufs = n };
	__u32 max = BPF_RELAY_PAYLOAD_MAX(size), records = n < 8 ? 2 * n : 8;
	struct relay_log log;
	int fd = any_create(base, &log, "geometry", 2);
	int err = any_open_patiently(base, 2, opts);
	int cpu = n % n_cpus();

	if (!err) {
		any_write(base, 2, cpu, 0, max, 0, records);
		if (log_stat(&log, -1, "subbuf_size") != size ||
		    log_stat(&log, -1, "n_subbufs") != n ||
		    log_stat(&log, cpu, "stored events") != records ||
		    log_stat(&log, cpu, "overrun") != (records > n ? records - n : 0) ||
		    log_walk(&log, cpu, true, NULL, NULL) != (records > n ? n : records))
			err = 1;
	}
	any_close(base, 2, fd);
	if (err)
		printf("# %u x %u: %d\n", n, size, err);
	return err;
}

/* Fails when: a legal geometry cannot be had, or is not what was asked for. */
TEST_F(sizes, legal_geometries)
{
	__u32 size, n;
	int tried = 0;

	for (size = BPF_RELAY_SUBBUF_MIN; size <= BPF_RELAY_SUBBUF_MAX; size *= 2)
		for (n = BPF_RELAY_N_SUBBUFS_MIN; n <= BPF_RELAY_N_SUBBUFS_MAX; n *= 2)
			if (size * (__u64)n <= 2 << 20) {
				EXPECT_EQ(try_geometry(&self->base, size, n), 0);
				tried++;
			}
	EXPECT_EQ(tried, 45);
	EXPECT_EQ(try_geometry(&self->base, 4096, 4096), 0);
	EXPECT_EQ(try_geometry(&self->base, 4 << 20, 2), 0);
}

static unsigned long long ram_bytes(const char *what)
{
	unsigned long long kib = 0;
	char cmd[128];
	FILE *f;

	snprintf(cmd, sizeof(cmd), "awk '/^%s:/ { print $2 }' /proc/meminfo", what);
	f = popen(cmd, "r");
	if (fscanf(f, "%llu", &kib) != 1)
		any_die("no %s", what);
	pclose(f);
	return kib << 10;
}

/* Fails when: the defaults are not those of the documentation, or too much for the RAM. */
TEST_F(sizes, default_geometries)
{
	unsigned long long size = 128 << 10;
	unsigned long long share = ram_bytes("MemTotal") / 64;
	struct relay_log log;
	int fd;

	/* With room: 8 x 128 KiB. */
	ASSERT_LT((size * 8 + 4096) * n_cpus(), share);
	ASSERT_EQ(any_open(&self->base, 1, (struct bpf_relay_opts) {}), 0);
	EXPECT_EQ(log_stat(&self->log, -1, "subbuf_size"), size);
	EXPECT_EQ(log_stat(&self->log, -1, "n_subbufs"), 8);
	EXPECT_EQ(log_stat(&self->log, -1, "memory"), (size * 8 + 4096) * n_cpus());
	EXPECT_NE(strstr(kmsg_read(self->kmsg), ": 8 x 128 KiB x "), NULL);

	/* Halved until it fits. */
	fd = any_create(&self->base, &log, "half", 2);
	ASSERT_EQ(any_open(&self->base, 2, (struct bpf_relay_opts) { .n_subbufs = 64 }), 0);
	while ((size * 64 + 4096) * n_cpus() > share)
		size /= 2;
	EXPECT_LT(size, 128 << 10);
	EXPECT_EQ(log_stat(&log, -1, "subbuf_size"), size);
	EXPECT_EQ(log_stat(&log, -1, "n_subbufs"), 64);
	any_close(&self->base, 2, fd);
}

/* Fails when: an illegal size is taken, or being refused leaves something behind. */
TEST_F(sizes, illegal_geometries)
{
	static const struct bpf_relay_opts bad[] = {
		{ .n_subbufs = 1 }, { .n_subbufs = 3 }, { .n_subbufs = 6 },
		{ .n_subbufs = 4095 }, { .n_subbufs = 8192 }, { .n_subbufs = ~0U },
		{ .n_subbufs = 1U << 31 },
		{ .subbuf_size = 1 }, { .subbuf_size = 2048 }, { .subbuf_size = 4095 },
		{ .subbuf_size = 4097 }, { .subbuf_size = 12288 }, { .subbuf_size = 8 << 20 },
		{ .subbuf_size = 1U << 31 }, { .subbuf_size = ~0U },
		/* Each is legal, their product is not. */
		{ .subbuf_size = 4 << 20, .n_subbufs = 512 },
		{ .subbuf_size = 4 << 20, .n_subbufs = 4096 },
		{ .subbuf_size = 512 << 10, .n_subbufs = 4096 },
		/* Modes and clocks that do not exist. */
		{ .mode = 2 }, { .mode = ~0U }, { .clock = 2 }, { .clock = ~0U },
		/* Types that were never added. */
		{ .n_types = 1 }, { .n_types = ~0U },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		EXPECT_EQ(any_open(&self->base, 1, bad[i]), -EINVAL) {
			printf("# bad[%d]\n", i);
		}
		EXPECT_EQ(access(self->log.dir, F_OK), -1);
	}
	EXPECT_EQ(any_open(&self->base, 1, (struct bpf_relay_opts) {}), 0);
}

static bool kmsg_tells_of_oom(int fd)
{
	const char *text = kmsg_read(fd);

	return strstr(text, "Out of memory") || strstr(text, "oom-kill");
}

/*
 * Fails when: a log that does not fit the memory is begun, so that the kernel kills
 * somebody for it; or, once refused, is in the way of one that fits.
 */
TEST_F(sizes, more_than_the_memory)
{
	unsigned long long available = ram_bytes("MemAvailable"), per_cpu = 1 << 20;
	struct bpf_relay_opts opts = { .n_subbufs = 256 };
	struct relay_log log;
	int fds[4], err, n;

	/* Not the quota is to say no. */
	ASSERT_TRUE(module_set("max_mib", "1048576"));
	ASSERT_LT(ram_bytes("MemTotal"), (unsigned long long)n_cpus() << 30);
	printf("# %d GiB asked of %llu MiB\n", n_cpus(), ram_bytes("MemTotal") >> 20);
	EXPECT_EQ(any_open(&self->base, 1, (struct bpf_relay_opts) {
		.subbuf_size = 4 << 20, .n_subbufs = 256 }), -ENOMEM);
	EXPECT_EQ(any_open(&self->base, 1, (struct bpf_relay_opts) {
		.subbuf_size = 256 << 10, .n_subbufs = 4096 }), -ENOMEM);

	/* Logs as large as half of what there is: the last does not fit any more. */
	while (per_cpu * 2 * n_cpus() <= available * 3 / 4)
		per_cpu *= 2;
	opts.subbuf_size = per_cpu / opts.n_subbufs;
	for (n = 0; n < ARRAY_SIZE(fds); n++) {
		fds[n] = any_create(&self->base, &log, "full", 10 + n);
		err = any_open(&self->base, 10 + n, opts);
		if (err)
			break;
	}
	printf("# %d logs of %llu MiB fitted\n", n, per_cpu * n_cpus() >> 20);
	EXPECT_GE(n, 1);
	EXPECT_EQ(err, -ENOMEM);
	EXPECT_FALSE(kmsg_tells_of_oom(self->kmsg));
	/* Negative control: it would be seen. */
	ASSERT_EQ(shell("echo 'sizes: Out of memory, says the test' >/dev/kmsg"), 0);
	EXPECT_TRUE(kmsg_tells_of_oom(self->kmsg));

	EXPECT_EQ(any_open(&self->base, 1, (struct bpf_relay_opts) {}), 0);
	any_write(&self->base, 1, 0, 0, 100, 0, 10);
	EXPECT_EQ(log_walk(&self->log, 0, true, NULL, NULL), 10);
	for (; n >= 0; n--)
		any_close(&self->base, 10 + n, fds[n]);
}

/* Fails when: logs together take more than max_mib, or what one had does not come back. */
TEST_F(sizes, quota)
{
	struct bpf_relay_opts opts = { .subbuf_size = 256 << 10, .n_subbufs = 4 };
	unsigned long long per_cpu = 1 << 20;
	char mib[32];
	struct relay_log log;
	int fd;

	/* A MiB for each CPU, twice, but none for the second one's control areas. */
	snprintf(mib, sizeof(mib), "%d", 2 * n_cpus());
	ASSERT_TRUE(module_set("max_mib", mib));
	fd = any_create(&self->base, &log, "first", 2);
	EXPECT_EQ(any_open_patiently(&self->base, 2, opts), 0);
	EXPECT_EQ(any_open(&self->base, 1, opts), -EDQUOT);
	EXPECT_NE(strstr(kmsg_read(self->kmsg), "over max_mib"), NULL);
	any_close(&self->base, 2, fd);
	EXPECT_EQ(any_open_patiently(&self->base, 1, opts), 0);

	/* Unless it is set: an eighth of the RAM. */
	ASSERT_TRUE(module_set("max_mib", "0"));
	while (per_cpu * n_cpus() <= ram_bytes("MemTotal") / 8)
		per_cpu *= 2;
	ASSERT_LT(per_cpu * n_cpus(), ram_bytes("MemAvailable"));
	fd = any_create(&self->base, &log, "eighth", 2);
	opts.n_subbufs = per_cpu / opts.subbuf_size;
	EXPECT_EQ(any_open(&self->base, 2, opts), -EDQUOT);
	opts.n_subbufs /= 2;
	EXPECT_EQ(any_open_patiently(&self->base, 2, opts), 0);
	any_close(&self->base, 2, fd);
}

/* Fails when: a log does not use the clock that it was opened with, or hides which. */
TEST_F(sizes, clocks)
{
	static const struct {
		clockid_t id;
		const char *stats, *metadata, *other;
	} clocks[] = {
		[BPF_RELAY_CLOCK_BOOT] = { CLOCK_BOOTTIME, "clock: boot\n",
			"map = clock.boottime.value;", "monotonic" },
		[BPF_RELAY_CLOCK_MONO] = { CLOCK_MONOTONIC, "clock: mono\n",
			"map = clock.monotonic.value;", "boottime" },
	};
	struct timespec before, after;
	const struct bpf_relay_packet *p;
	const struct bpf_relay_header *h;
	size_t len;
	void *text;
	int i, fd;

	for (i = 0; i < ARRAY_SIZE(clocks); i++) {
		struct relay_log log;

		fd = any_create(&self->base, &log, "clocks", 2);
		ASSERT_EQ(any_open(&self->base, 2, (struct bpf_relay_opts) { .clock = i }), 0);
		clock_gettime(clocks[i].id, &before);
		any_write(&self->base, 2, 0, 0, 8, 0, 1);
		clock_gettime(clocks[i].id, &after);

		text = log_file(&log, "stats", &len);
		EXPECT_NE(strstr(text, clocks[i].stats), NULL);
		free(text);
		text = log_file(&log, "ctf/metadata", &len);
		EXPECT_NE(strstr(text, clocks[i].metadata), NULL);
		EXPECT_EQ(strstr(text, clocks[i].other), NULL);
		free(text);
		p = log_file(&log, "ctf/cpu0", &len);
		ASSERT_NE(p, NULL);
		h = (const void *)(p + 1);
		EXPECT_GE(h->ts, before.tv_sec * 1000000000ULL + before.tv_nsec);
		EXPECT_LE(h->ts, after.tv_sec * 1000000000ULL + after.tv_nsec);
		free((void *)p);
		any_close(&self->base, 2, fd);
	}
	EXPECT_EQ(any_open(&self->base, 1, (struct bpf_relay_opts) {}), 0);
}

TEST_HARNESS_MAIN
