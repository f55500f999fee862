// SPDX-License-Identifier: GPL-2.0-only
/* The module's own functions are watched by programs that write to the same log. */
#define _GNU_SOURCE
#include "kselftest_harness.h"

#include <bpf/btf.h>
#include <fcntl.h>
#include <unistd.h>

#include "abuse.h"
#include "bpf/hostile.h"

#define CPU	1

struct recurse {
	struct relay_log log;
	struct hostile_args *args;
	__u64 *results, *fired, *hits;
};

/* Load the object with these programs (NULL at the end) besides the unconditional ones. */
static int recurse_load(struct recurse *r, const char * const *progs, __u32 subbuf_size)
{
	struct bpf_relay_opts opts = { .subbuf_size = subbuf_size, .n_subbufs = 4 };

	*r = (struct recurse) {};
	log_load_with(&r->log, "hostile_recurse", "recurse", progs);
	r->args = log_var(&r->log, ".bss", "args");
	r->results = log_var(&r->log, ".bss", "results");
	r->fired = log_var(&r->log, ".bss", "fired");
	r->hits = log_var(&r->log, ".bss", "hits");
	return log_open(&r->log, &opts);
}

/* Every call was stored or dropped, and both sides counted the same. */
static bool adds_up(struct recurse *r, __u64 outputs, __u64 reserved)
{
	__u64 stored = log_stat(&r->log, -1, "stored events");
	__u64 dropped = log_dropped(&r->log, -1);
	__u64 nested = log_stat(&r->log, -1, "dropped nested") +
		       log_stat(&r->log, -1, "dropped contended");
	bool good = r->results[0] + reserved == stored && r->results[EDEADLK] == nested &&
		    r->results[EDEADLK] + r->results[ENOENT] == dropped &&
		    r->results[ENOENT] == log_stat(&r->log, -1, "dropped type") &&
		    outputs == r->results[0] + dropped &&
		    log_stat(&r->log, -1, "open events") == 0;

	if (!good)
		printf("# outputs %llu: told 0 %llu, EDEADLK %llu; reserved %llu; stored %llu, dropped %llu, nested %llu\n",
		       outputs, r->results[0], r->results[EDEADLK], reserved, stored, dropped,
		       nested);
	return good && log_identities(&r->log);
}

/* Whether the compiler left this function of the module to be watched. */
static bool has_function(const char *name)
{
	struct btf *vmlinux = btf__load_vmlinux_btf();
	struct btf *module = btf__load_module_btf("bpf_relay", vmlinux);
	bool has = btf__find_by_name_kind(module, name, BTF_KIND_FUNC) > 0;

	btf__free(module);
	btf__free(vmlinux);
	return has;
}

FIXTURE(recurse) {
	struct recurse r;
};

FIXTURE_SETUP(recurse)
{
}

FIXTURE_TEARDOWN(recurse)
{
	if (!self->r.log.obj)
		return;
	log_unload(&self->r.log);
	EXPECT_TRUE(log_gone(&self->r.log));
}

/* Fails when: a program on the module's functions deadlocks, or makes a count wrong. */
TEST_F_TIMEOUT(recurse, watched_functions, 180)
{
	const char *progs[] = {
		"enter_output", "leave_output", "enter_reserve", "leave_submit", "enter_ring",
		"leave_ring", "enter_drop", "probe_take", "probe_publish",
		has_function("ring_switch") ? "enter_switch" : NULL, NULL,
	};
	struct bpf_link *links[ARRAY_SIZE(progs)] = {};
	struct recurse *r = &self->r;
	int i, cpu;

	ASSERT_EQ(recurse_load(r, progs, 4096), 0);
	for (i = 0; progs[i]; i++) {
		links[i] = bpf_program__attach(
			bpf_object__find_program_by_name(r->log.obj, progs[i]));
		ASSERT_NE(links[i], NULL) {
			TH_LOG("%s: %s", progs[i], strerror(errno));
		}
	}
	r->args->count = 3;
	r->args->armed = 1;
	for (cpu = 0; cpu < n_cpus(); cpu++) {
		log_run(&r->log, "recurse_write", cpu);
		EXPECT_EQ(log_run(&r->log, "recurse_reserve", cpu), 0);
		log_run(&r->log, "recurse_drop", cpu);
	}
	r->args->armed = 0;
	for (i = 0; progs[i]; i++)
		bpf_link__destroy(links[i]);
	/* Each was run, and within one another. */
	EXPECT_GT(*r->fired, 100);
	EXPECT_EQ(r->results[ENOENT], n_cpus());
	EXPECT_TRUE(adds_up(r, *r->fired + 4 * n_cpus(), n_cpus()));
}

/*
 * Fails when: nesting is not cut off where the limit is, or is not undone. In the middle of
 * every write the next one begins: 8 of them fit, the 9th is dropped.
 */
TEST_F_TIMEOUT(recurse, depth_limit, 180)
{
	static const char * const progs[] = {
		"link_0", "link_1", "link_2", "link_3", "link_4", "link_5", "link_6", "link_7",
		"link_8", "link_9", NULL,
	};
	struct bpf_link *links[HOSTILE_CHAIN];
	struct recurse *r = &self->r;
	const __u64 writes = 50;
	int i;

	if (!has_function("ring_publish"))
		SKIP(return, "ring_publish() cannot be watched: it is inlined in this build");
	ASSERT_EQ(recurse_load(r, progs, 65536), 0);
	for (i = 0; i < HOSTILE_CHAIN; i++) {
		links[i] = bpf_program__attach(
			bpf_object__find_program_by_name(r->log.obj, progs[i]));
		ASSERT_NE(links[i], NULL);
	}
	r->args->count = writes;
	EXPECT_EQ(log_run(&r->log, "recurse_write_held", CPU), 0);
	EXPECT_EQ(r->results[0], writes * 8);
	EXPECT_EQ(r->results[EDEADLK], writes);
	EXPECT_EQ(*r->fired, writes * 8);
	EXPECT_EQ(log_stat(&r->log, CPU, "dropped nested"), writes);
	EXPECT_EQ(log_stat(&r->log, CPU, "nesting max"), 9);
	EXPECT_TRUE(adds_up(r, writes * 9, 1));

	/* Negative control: not armed nothing nests. */
	log_run(&r->log, "recurse_write", CPU);
	EXPECT_TRUE(adds_up(r, writes * 10, 1));
	for (i = 0; i < HOSTILE_CHAIN; i++)
		bpf_link__destroy(links[i]);
}

/* Attach the probe to every instruction of a function: how many took it. */
static int probe_all(struct bpf_program *p, const char *func, struct bpf_link **links, int max)
{
	int n = 0, offset;

	for (offset = 0; offset < 4096 && n < max; offset++) {
		LIBBPF_OPTS(bpf_kprobe_opts, opts, .offset = offset);
		struct bpf_link *link = bpf_program__attach_kprobe_opts(p, func, &opts);

		/* Most offsets are no beginning of an instruction; one is the end. */
		if (!link && errno == EINVAL)
			break;
		if (link)
			links[n++] = link;
	}
	return n;
}

/* Grace periods that do not wait for a busy, emulated machine. */
static void rcu_expedited(bool on)
{
	int fd = open("/sys/kernel/rcu_expedited", O_WRONLY);

	if (fd < 0 || write(fd, on ? "1" : "0", 1) != 1)
		perror("# rcu_expedited");
	close(fd);
}

/* Runs a writing program again and again, each time with another instruction interrupted. */
static int interrupt_each(struct recurse *r, const char *prog)
{
	__u64 fired;
	int at = 0;

	do {
		fired = *r->fired;
		*r->hits = 0;
		r->args->at = at++;
		r->args->armed = 1;
		log_run(&r->log, prog, CPU);
		r->args->armed = 0;
	} while (*r->fired != fired);
	return at;
}

/*
 * Fails when: an interruption at any instruction of the ring makes a count wrong, tears a
 * record or loses one: a nested write is made at each of them in turn, first within a
 * sub-buffer, then while the ring goes on to the next.
 */
TEST_F_TIMEOUT(recurse, every_instruction, 240)
{
	static const char * const progs[] = { "any_instruction", NULL };
	/* All of a write; some may be a part of another one in this build. */
	static const char * const funcs[] = {
		"bpf_relay_output", "ring_take_again", "ring_take_next", "ring_switch",
		"ring_publish",
	};
	static struct bpf_link *links[2000];
	struct recurse *r = &self->r;
	libbpf_print_fn_t print;
	struct bpf_program *p;
	int n = 0, i, within, between;

	ASSERT_EQ(recurse_load(r, progs, 4096), 0);
	p = bpf_object__find_program_by_name(r->log.obj, "any_instruction");
	print = libbpf_set_print(NULL);
	rcu_expedited(true);
	for (i = 0; i < ARRAY_SIZE(funcs); i++)
		n += probe_all(p, funcs[i], links + n, ARRAY_SIZE(links) - n);
	libbpf_set_print(print);

	r->args->count = 1;
	within = interrupt_each(r, "recurse_write");
	between = interrupt_each(r, "recurse_switch");
	printf("# %d probes; %d writes within, %d between sub-buffers\n", n, within, between);
	EXPECT_GT(within, 100);
	EXPECT_GT(between, 200);
	for (i = 0; i < n; i++)
		bpf_link__destroy(links[i]);
	rcu_expedited(false);
	EXPECT_TRUE(adds_up(r, within + between + *r->fired, 0));
	EXPECT_EQ(log_dropped(&r->log, -1), 0);
}

TEST_HARNESS_MAIN
