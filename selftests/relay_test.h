/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the tests share: a log opened with plain libbpf, without any library of
 * this project, and a strict reader of its files.
 */
#ifndef _RELAY_TEST_H
#define _RELAY_TEST_H

#include <bpf/libbpf.h>
#include <linux/bpf_relay.h>
#include <stdbool.h>
#include <stddef.h>

#define DEBUGFS "/sys/kernel/debug/bpf_relay"

struct relay_log {
	struct bpf_object *obj;
	struct bpf_map *map;
	const char *name;	/* of the map */
	char dir[128];		/* in debugfs; set by log_open() */
	__u32 id;		/* of the map */
};

/*
 * Load build/selftests/<object>.bpf.o; its RELAY_MAP is called `map`. Fails the
 * process (exit 1) with a message if it cannot.
 */
void log_load(struct relay_log *log, const char *object, const char *map);

/* The log of a map of an object that is loaded already. */
void log_of_map(struct relay_log *log, struct bpf_object *obj, const char *map);

/* Set the options (NULL: leave the defaults) and run <map>_open: its return value. */
int log_open(struct relay_log *log, const struct bpf_relay_opts *opts);

/* Everything the process holds of it. The log goes unless something is pinned. */
void log_unload(struct relay_log *log);

/* $SLOW: by how much this machine is slower than others; limits of time are multiplied by it. */
int slow(void);

/* Wait until the directory is gone; false after five seconds. */
bool log_gone(const struct relay_log *log);

/* Run a SEC("syscall") program on a CPU (-1: any): its return value; exits if it cannot. */
int log_run(struct relay_log *log, const char *prog, int cpu);

/* A global variable of the object, mapped: writes are seen by the programs at once. */
void *log_var(struct relay_log *log, const char *section, const char *var);

/* A number from `stats`, of one CPU or (cpu < 0) summed over all; exits if there is none. */
unsigned long long log_stat(const struct relay_log *log, int cpu, const char *what);

/* Calls dropped for all reasons. */
unsigned long long log_dropped(const struct relay_log *log, int cpu);

/* A whole file of the log ("ctf/cpu0"), to be freed; NULL and errno if it cannot be read. */
void *log_file(const struct relay_log *log, const char *name, size_t *len);

/* A record found in a ctf/cpuN file. */
struct record {
	const struct bpf_relay_packet *packet;
	const struct bpf_relay_header *header;
	const void *payload;
};

/*
 * Walk a ctf/cpuN file. Everything that the format promises is checked; what is
 * wrong is printed and gives -1. Otherwise the number of records; fn (may be NULL)
 * gets each of them and stops the walk by returning false.
 */
long ctf_walk(const void *data, size_t len, __u32 subbuf_size,
	      bool (*fn)(const struct record *rec, void *ctx), void *ctx);

/* The same on a file of the log; also compares the count with `entries` in stats if `quiet`. */
long log_walk(const struct relay_log *log, int cpu, bool quiet,
	      bool (*fn)(const struct record *rec, void *ctx), void *ctx);

/*
 * With writers quiet, to the unit, on every CPU: stored == readable + overwritten,
 * readable being counted in the packets; events and bytes. Prints what does not hold.
 */
bool log_identities(const struct relay_log *log);

/* Run the calling thread on one CPU. */
void run_on(int cpu);
int n_cpus(void);

/* `cmd` by the shell: its exit status. */
int shell(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif /* _RELAY_TEST_H */
