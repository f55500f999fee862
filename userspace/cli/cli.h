/* SPDX-License-Identifier: GPL-2.0-only */
/* What the parts of the bpfrelay command share. */
#ifndef __CLI_H__
#define __CLI_H__

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>
#include <bpf/libbpf.h>
#include <linux/bpf_relay.h>

/* Exit codes. */
enum {
	CLI_OK		= 0,
	CLI_ERROR	= 1,	/* one line on stderr says what, with what, and what to do */
	CLI_USAGE	= 2,	/* the command line makes no sense */
};

struct command {
	const char *name;
	int (*run)(int argc, char **argv);	/* returns an exit code */
	const char *synopsis;	/* its arguments: WORD or [WORD], for one that may be missing */
	const char *summary;
};

int cmd_load(int argc, char **argv);
int cmd_start(int argc, char **argv);
int cmd_stop(int argc, char **argv);
int cmd_unload(int argc, char **argv);

/* ---- main.c ---- */

/* Prints "bpfrelay: ..." and, after -v, what libbpf said. Returns -1. */
int error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* The same of what is no error. */
void note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* The text of a negative errno or one of libbpf's own errors; good until the next call. */
const char *error_text(int err);
/* Prints the line and how to get help. Returns CLI_USAGE. */
int usage_error(const char *command, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* NULL if there is none of this name. */
const struct command *find_command(const char *name);

extern bool verbose;

/* ---- args.c: command lines ---- */

/* An option; a table ends with a NULL name. */
struct cli_option {
	const char *name;
	int c;			/* its letter; from 256 on: it has none */
	const char *value;	/* what its value is called; NULL: it takes none */
	const char *text;
};

struct args {
	const char *command;
	const char *help;			/* the text above the options */
	const char *json_text;			/* what -j prints */
	const struct cli_option *options;	/* besides -j, -p, -v and -h; NULL: none */
	int (*take)(int c, const char *value, void *ctx);	/* told of these: 0, or an exit code */
	void *ctx;
	bool json;				/* set by -j, and by -p */
};

/* The arguments are in argv from optind on. An exit code, or -1: go on. */
int parse_args(int argc, char **argv, struct args *args);

/* ---- instance.c: what is loaded under a name, and where it is pinned ---- */

#define PIN_ROOT	"/sys/fs/bpf/bpfrelay"
#define STATE_ROOT	"/run/bpfrelay"

/*
 * A loaded object. PINS/<map> are its maps, PINS/links/<program> the links of
 * its attached programs (<program>-1 and so on if there are more of one),
 * PINS/progs/<program> the programs that have no place of their own to attach
 * to. bpffs holds no files, so STATE/object is a copy of the object and
 * STATE/options its options, for `start`, and STATE/pins a link to PINS.
 */
struct instance {
	char name[64];
	char pins[256];
	char state[128];
};

/* pins may be NULL: the usual place. Prints the error; 0 or -1, as all below. */
int instance_init(struct instance *inst, const char *name, const char *pins);
/* Finds a loaded one by its name. */
int instance_find(struct instance *inst, const char *name);
bool instance_exists(const struct instance *inst);
/* Makes the directories; refuses if they exist. On error nothing is left. */
int instance_claim(const struct instance *inst);
/*
 * Keeps others from changing it, and removes what a killed --replace left beside it.
 * Returns a descriptor, which ends that when it is closed, or -1.
 */
int instance_lock(const struct instance *inst);
/* Claims a place beside inst, *next, for what shall replace it. */
int instance_claim_next(const struct instance *inst, struct instance *next);
/* Each gets what was pinned and kept under the other's paths; all or nothing. */
int instance_exchange(const struct instance *inst, const struct instance *next);
/* Removes everything: links first, then programs, maps, directories, the copy. */
void instance_remove(const struct instance *inst);
/* Keeps / reads back "object" or "options". The caller frees *data, which ends in a NUL. */
int instance_save(const struct instance *inst, const char *what, const void *data, size_t size);
int instance_read(const struct instance *inst, const char *what, void **data, size_t *size);
/* Reads a whole file; 0 or a negative errno, prints nothing. */
int read_file(const char *path, void **data, size_t *size);

/* The path of a map's, link's, program's pin. */
void map_pin_path(const struct instance *inst, const struct bpf_map *map, char *path, size_t size);
void link_pin_path(const struct instance *inst, const char *prog, int index,
		   char *path, size_t size);
void prog_pin_path(const struct instance *inst, const char *prog, char *path, size_t size);

/* Number of attached programs; removes all their links, returns of how many programs. */
int instance_count_links(const struct instance *inst);
int instance_remove_links(const struct instance *inst);
/* Calls fn with each pinned link until it returns true. */
bool instance_each_link(const struct instance *inst, bool (*fn)(int fd, void *ctx), void *ctx);

/* ---- kept.c: the options of load that are kept with what it loaded ---- */

enum kept_option {
	KEPT_DEV, KEPT_CGROUP, KEPT_PID, KEPT_FREQ,
	KEPT_SIZE, KEPT_COUNT, KEPT_MODE, KEPT_CLOCK,
	N_KEPT,
};

struct log_options {
	__u32 subbuf_size;
	__u32 n_subbufs;
	__u32 mode;
	__u32 clock;
};

/* As given: NULL, or text that kept_option_parse() takes. */
struct kept_options {
	const char *text[N_KEPT];
	char *memory;		/* what kept_options_read() allocated */
};

/* What they mean. Zero: not given. */
struct parsed_options {
	const char *dev;
	const char *cgroup;
	__u32 pid;
	__u32 freq;
	struct log_options log;
};

extern const char *const kept_option_names[N_KEPT];
extern const char *const kept_option_wants[N_KEPT];	/* "must be ..." */

bool kept_option_parse(enum kept_option which, const char *text, struct parsed_options *to);
/* Those that are given, all of which must be well-formed. */
int kept_options_parse(const struct kept_options *kept, struct parsed_options *to);
int kept_options_save(const struct kept_options *kept, const struct instance *inst);
/* Fills in those that are not given yet. The caller frees kept->memory. */
int kept_options_read(struct kept_options *kept, const struct instance *inst);

/* ---- targets.c: what programs are attached to ---- */

/* Which option says where a program of its kind belongs; N_KEPT: none does. */
enum kept_option program_target(const struct bpf_program *prog);
/* Whether a program can be kept to one process. */
bool program_uses_pid(const struct bpf_program *prog);

struct targets {
	int ifindex;
	int cgroup_fd;		/* -1: none */
	int pid;		/* -1: any */
	__u32 freq;
};

/* Refuses if a program lacks its target, or no program uses one that is in `given`. */
int targets_check(const struct bpf_object *obj, const struct kept_options *all,
		  const struct kept_options *given);
/* Finds them; targets_close() ends that. */
int targets_open(struct targets *targets, const struct parsed_options *options);
void targets_close(const struct targets *targets);

/* ---- attach.c: programs ---- */

struct attachment {
	const struct instance *inst;
	const struct targets *targets;
	const struct instance *old;	/* what it replaces; NULL */
	int attached;			/* number of programs */
	/*
	 * An interface has room for one XDP program. The old one's link, which is to get
	 * the new program once all else is done; -1.
	 */
	int xdp_link;
	int xdp_prog;
};

/* Loads obj into the kernel. what: the input's name, for the error. */
int load_object(struct bpf_object *obj, const char *what);
/*
 * Attaches every program that says itself where or for which there is a target,
 * and pins its link; pins the others (if they are not pinned). On error the pins
 * that were made stay: the caller removes them.
 */
int attach_programs(struct bpf_object *obj, struct attachment *at);

/* ---- probes.c: kinds of programs for which libbpf does not do it all ---- */

/* A perf event for each CPU or, given a pid, for each of its threads; pins their links. */
int attach_perf_events(const struct bpf_program *prog, const struct attachment *at);
/* uprobe/FILE:FUNCTION, usdt/FILE:PROVIDER:NAME and their kin, in one process or all. */
struct bpf_link *attach_user_probe(const struct bpf_program *prog, int pid);
/* Pins the link of a program at the place for its index-th link. */
int pin_link(const struct bpf_program *prog, const struct attachment *at, int index, int fd);

/* ---- replace.c: load --replace ---- */

/* Gives obj, not loaded yet, the old one's logs and tables. */
int replace_reuse_maps(struct bpf_object *obj, const struct instance *old);
/* Puts what is pinned for at->inst in at->old's place, whose remains go. */
int replace_commit(const struct attachment *at);

/* ---- vars.c ---- */

/* Sets a global variable of an opened, not yet loaded object: "NAME=VALUE". */
int set_variable(struct bpf_object *obj, const char *assignment);

/* ---- logs.c: opening logs, and what they say about themselves ---- */

/* Opens all logs of a loaded object. */
int open_logs(struct bpf_object *obj, const struct log_options *options);
/* Of each log "tcplog: 8 x 128 KiB x 4 CPUs = 4 MiB", and a line with its directory. */
void print_logs(const struct bpf_object *obj);
/* The same as an array. */
struct json_object *describe_logs(const struct bpf_object *obj);

/* A pinned log; dir is its directory in debugfs. */
struct log {
	char name[64];
	char dir[256];
};

/* Is this pin a log's map? Then fills in *log and how many records it still has. */
bool read_pinned_log(const char *path, struct log *log, unsigned long long *readable);

#endif /* __CLI_H__ */
