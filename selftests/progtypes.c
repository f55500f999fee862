// SPDX-License-Identifier: GPL-2.0-only
/*
 * A record is written from every program type and read back: tracing, security,
 * iterators, callbacks. progtypes_net.c has the rest.
 *
 * Each type fails when: the verifier lets the type not call one of the functions; a
 * call returns an error or no record; a record is missing, twice, torn, or another
 * type's; the program was not run by the real event.
 */
#define _GNU_SOURCE
#include <bpf/btf.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/sdt.h>
#include <sys/syscall.h>

#include "kselftest_harness.h"
#include "progtypes_common.h"

/* ---- Triggers ----------------------------------------------------------- */

static int call_getpgid(struct run *run)
{
	int i;

	for (i = 0; i < RUNS; i++)
		if (syscall(__NR_getpgid, getpid()) < 0)
			return -errno;
	return 0;
}

static int call_open(struct run *run)
{
	int i, fd;

	for (i = 0; i < RUNS; i++) {
		fd = open("/dev/null", O_RDONLY);
		if (fd < 0)
			return -errno;
		close(fd);
	}
	return 0;
}

static int test_run_n(struct run *run, const char *prog)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts);
	int fd = bpf_program__fd(find_prog(run->log.obj, prog));
	int i, err;

	for (i = 0; i < RUNS; i++) {
		err = bpf_prog_test_run_opts(fd, &opts);
		if (err)
			return err;
	}
	return 0;
}

/* The run itself is of another program: the kernel calls its test functions meanwhile. */
static int call_test_functions(struct run *run)
{
	return test_run_n(run, "run_test_functions");
}

static int call_syscall(struct run *run)
{
	return test_run_n(run, run->type->prog);
}

/* One at a time: to start a timer or work that waits already does not double it. */
static int call_syscall_and_wait(struct run *run)
{
	int i;

	for (i = 0; i < RUNS; i++) {
		if (log_run(&run->log, run->type->prog, -1) || !wait_runs(run, i + 1))
			return -EIO;
	}
	return 0;
}

__attribute__((noinline)) int probed_function(int x)
{
	asm volatile ("" : "+r"(x));
	return x;
}

static int call_probed_function(struct run *run)
{
	int i;

	for (i = 0; i < RUNS; i++)
		probed_function(i);
	return 0;
}

static int call_usdt(struct run *run)
{
	int i;

	for (i = 0; i < RUNS; i++)
		DTRACE_PROBE1(progtypes, probe, i);
	return 0;
}

/* Uses the CPU until its clock has ticked. */
static int burn(struct run *run)
{
	volatile unsigned long n;

	for (n = 0; n < 20000000000UL && *run->finished < RUNS; n++)
		;
	return 0;
}

static int read_iter(struct run *run)
{
	char buf[64];
	int i, fd;
	ssize_t n;

	for (i = 0; i < RUNS; i++) {
		fd = bpf_iter_create(bpf_link__fd(run->link));
		if (fd < 0)
			return fd;
		while ((n = read(fd, buf, sizeof(buf))) > 0)
			;
		close(fd);
		if (n < 0)
			return -errno;
	}
	return 0;
}

/* ---- Attaching what a section name cannot say --------------------------- */

static int attach_nothing(struct run *run)
{
	return 0;
}

static int attach_uprobe_opts(struct run *run, bool retprobe)
{
	LIBBPF_OPTS(bpf_uprobe_opts, opts, .func_name = "probed_function", .retprobe = retprobe);

	run->link = bpf_program__attach_uprobe_opts(run->prog, 0, "/proc/self/exe", 0, &opts);
	return run->link ? 0 : -errno;
}

static int attach_uprobe(struct run *run)
{
	return attach_uprobe_opts(run, false);
}

static int attach_uretprobe(struct run *run)
{
	return attach_uprobe_opts(run, true);
}

static int attach_uprobe_multi(struct run *run)
{
	LIBBPF_OPTS(bpf_uprobe_multi_opts, opts);

	run->link = bpf_program__attach_uprobe_multi(run->prog, 0, "/proc/self/exe",
						     "probed_function", &opts);
	return run->link ? 0 : -errno;
}

static int attach_usdt(struct run *run)
{
	run->link = bpf_program__attach_usdt(run->prog, 0, "/proc/self/exe", "progtypes",
					     "probe", NULL);
	return run->link ? 0 : -errno;
}

/* A software clock: emulated machines have no hardware counters. */
static int attach_perf_event(struct run *run)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = 1000000,
	};

	run->fd = syscall(__NR_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (run->fd < 0)
		return -errno;
	run->link = bpf_program__attach_perf_event(run->prog, run->fd);
	return run->link ? 0 : -errno;
}

static struct bpf_object *target;	/* of freplace */

static int prepare_freplace(struct run *run)
{
	int err;

	target = open_object("progtypes");
	if (!target)
		return -errno;
	only_load(target, "call_replaced", NULL, NULL);
	err = bpf_object__load(target);
	if (err)
		return err;
	return bpf_program__set_attach_target(run->prog,
				bpf_program__fd(find_prog(target, "call_replaced")), "replaced");
}

static int attach_freplace(struct run *run)
{
	run->link = bpf_program__attach_freplace(run->prog, 0, NULL);
	return run->link ? 0 : -errno;
}

static int call_freplace(struct run *run)
{
	struct relay_log other = { .obj = target };
	int i;

	for (i = 0; i < RUNS; i++)
		if (log_run(&other, "call_replaced", -1) != 1)
			return -EIO;
	return 0;
}

static void detach_freplace(struct run *run)
{
	bpf_link__destroy(run->link);
	bpf_object__close(target);
}

/* ---- The types ---------------------------------------------------------- */

FIXTURE_SETUP(written_from)
{
}

FIXTURE_TEARDOWN(written_from)
{
}

PROGTYPE(fentry, "fentry", RUNS, .trigger = call_getpgid);
PROGTYPE(fexit, "fexit", RUNS, .trigger = call_getpgid);
PROGTYPE(fmod_ret, "fmod_ret", RUNS, .trigger = call_getpgid);
PROGTYPE(fentry_s, "fentry.s", RUNS, .also = "run_test_functions", .trigger = call_test_functions);
PROGTYPE(kprobe, "kprobe", RUNS, .trigger = call_getpgid);
PROGTYPE(kretprobe, "kretprobe", RUNS, .trigger = call_getpgid);
PROGTYPE(kprobe_multi, "kprobe.multi", RUNS, .config = "CONFIG_FPROBE", .trigger = call_getpgid);
PROGTYPE(kretprobe_multi, "kretprobe.multi", RUNS, .config = "CONFIG_FPROBE",
	 .trigger = call_getpgid);
PROGTYPE(kprobe_session, "kprobe.session", 2 * RUNS, .config = "CONFIG_FPROBE",
	 .trigger = call_getpgid);
PROGTYPE(uprobe, "uprobe", RUNS, .attach = attach_uprobe, .trigger = call_probed_function);
PROGTYPE(uprobe_s, "uprobe.s", RUNS, .attach = attach_uprobe, .trigger = call_probed_function);
PROGTYPE(uretprobe, "uretprobe", RUNS, .attach = attach_uretprobe, .trigger = call_probed_function);
PROGTYPE(uprobe_multi, "uprobe.multi", RUNS, .attach = attach_uprobe_multi,
	 .trigger = call_probed_function);
PROGTYPE(usdt, "usdt", RUNS, .attach = attach_usdt, .trigger = call_usdt);
PROGTYPE(tracepoint, "tracepoint", RUNS, .config = "CONFIG_FTRACE_SYSCALLS",
	 .trigger = call_getpgid);
PROGTYPE(raw_tp, "raw_tp", RUNS, .trigger = call_getpgid);
PROGTYPE(raw_tp_w, "raw_tp.w", RUNS, .also = "run_test_functions", .trigger = call_test_functions);
PROGTYPE(tp_btf, "tp_btf", RUNS, .trigger = call_getpgid);
PROGTYPE(perf_event, "perf_event", AT_LEAST_ONE, .attach = attach_perf_event, .trigger = burn);
PROGTYPE(lsm, "lsm", RUNS, .config = "CONFIG_BPF_LSM", .trigger = call_getpgid);
PROGTYPE(lsm_s, "lsm.s", RUNS, .config = "CONFIG_BPF_LSM", .trigger = call_open);
PROGTYPE(iter, "iter", RUNS, .trigger = read_iter);
PROGTYPE(iter_s, "iter.s", RUNS, .trigger = read_iter);
PROGTYPE(syscall, "syscall", RUNS, .attach = attach_nothing, .trigger = call_syscall);
PROGTYPE(bpf_timer, "bpf_timer", RUNS, .attach = attach_nothing, .trigger = call_syscall_and_wait);
PROGTYPE(bpf_wq, "bpf_wq", RUNS, .attach = attach_nothing, .trigger = call_syscall_and_wait);
PROGTYPE(freplace, "freplace", RUNS, .prepare = prepare_freplace, .attach = attach_freplace,
	 .trigger = call_freplace, .detach = detach_freplace);

TEST_F_TIMEOUT(written_from, read_back, 120)
{
	check_type(_metadata, "progtypes", &variant->type);
}

/* ---- What is refused ---------------------------------------------------- */

/* Fails when: a program of another type may open logs. */
TEST(refused_open_from_fentry)
{
	check_refused(_metadata, "progtypes", "open_from_fentry",
		      "calling kernel function bpf_relay_open is not allowed");
}

/* Fails when: a program that is not under the GPL may write. */
TEST(refused_without_gpl)
{
	check_refused(_metadata, "progtypes_nongpl", "on_xdp_nongpl",
		      "cannot call kernel function from non-GPL compatible program");
}

/* Fails when: the kernel's interpreter, which cannot call functions, gets to run one. */
TEST(refused_without_jit)
{
	int fd = open("/proc/sys/net/core/bpf_jit_enable", O_RDWR | O_CLOEXEC);
	char before = 0;

	if (fd < 0 || read(fd, &before, 1) != 1 || pwrite(fd, "0", 1, 0) != 1)
		SKIP(return, "the JIT cannot be switched off: CONFIG_BPF_JIT_ALWAYS_ON");
	check_refused(_metadata, "progtypes", "on_fentry",
		      "JIT is required for calling kernel function");
	EXPECT_EQ(pwrite(fd, &before, 1, 0), 1);
	close(fd);
}

/* ---- Negative controls -------------------------------------------------- */

/*
 * Fails when: records come from anywhere but the attached program's event, or when the
 * check takes what it was not told to look for.
 */
TEST(negative_control)
{
	static const struct progtype type = { .type = "fentry", .prog = "on_fentry" };
	struct run run = { .type = &type };
	struct found found;

	ASSERT_EQ(run_load(&run, "progtypes"), 0);
	/* Attached, but the log is not open: the program runs, and nothing is there. */
	ASSERT_EQ(run_attach(&run), 0);
	ASSERT_EQ(call_getpgid(&run), 0);
	EXPECT_EQ(*run.started, RUNS);
	EXPECT_EQ(*run.failed, 2 * RUNS);
	ASSERT_EQ(log_open(&run.log, NULL), 0);
	found = find_all(&run, "fentry");
	EXPECT_EQ(found.n[PROGTYPES_OUTPUT] + found.n[PROGTYPES_RESERVE] + found.wrong, 0);

	/* Another's call is not ours. */
	*(int *)log_var(&run.log, ".bss", "pid") = getpid() + 1;
	ASSERT_EQ(call_getpgid(&run), 0);
	EXPECT_EQ(*run.started, RUNS);
	*(int *)log_var(&run.log, ".bss", "pid") = getpid();

	ASSERT_EQ(call_getpgid(&run), 0);
	run_detach(&run);
	ASSERT_EQ(call_getpgid(&run), 0);
	EXPECT_EQ(*run.started, 2 * RUNS);
	found = find_all(&run, "fentry");
	EXPECT_EQ(found.n[PROGTYPES_OUTPUT], RUNS);
	EXPECT_EQ(found.n[PROGTYPES_RESERVE], RUNS);
	EXPECT_EQ(found.wrong, 0);
	found = find_all(&run, "fexit");
	EXPECT_EQ(found.wrong, 2 * RUNS);
	log_unload(&run.log);
}

/* Programs of which types the tests' objects hold. */
static void add_types(struct __test_metadata *_metadata, const char *object, bool *have)
{
	struct bpf_object *obj = open_object(object);
	struct bpf_program *prog;

	ASSERT_NE(obj, NULL);
	bpf_object__for_each_program(prog, obj)
		if (!strncmp(bpf_program__name(prog), "on_", 3))
			have[bpf_program__type(prog)] = true;
	bpf_object__close(obj);
}

/* Fails when: the kernel has a program type that no test here writes from. */
TEST(no_type_is_missing)
{
	const struct btf_type *types;
	struct btf *btf = btf__load_vmlinux_btf();
	bool have[256] = {};
	int i, id;

	ASSERT_NE(btf, NULL);
	add_types(_metadata, "progtypes", have);
	add_types(_metadata, "progtypes_net", have);
	EXPECT_FALSE(have[BPF_PROG_TYPE_UNSPEC]);

	id = btf__find_by_name_kind(btf, "bpf_prog_type", BTF_KIND_ENUM);
	ASSERT_GT(id, 0);
	types = btf__type_by_id(btf, id);
	ASSERT_GT(btf_vlen(types), 30);
	for (i = 0; i < btf_vlen(types); i++) {
		const struct btf_enum *e = btf_enum(types) + i;
		const char *name = btf__name_by_offset(btf, e->name_off);

		if (!e->val || !strncmp(name, "__", 2))
			continue;
		EXPECT_TRUE(have[e->val]) TH_LOG("no program of type %s", name);
	}
	btf__free(btf);
}

TEST_HARNESS_MAIN
