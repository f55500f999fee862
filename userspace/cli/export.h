/* SPDX-License-Identifier: GPL-2.0-only */
/* bpfrelay export: what a format is, and what formats share. */
#ifndef __EXPORT_H__
#define __EXPORT_H__

#include "bpfrelay.h"

struct names;

struct export {
	const char *what;			/* what the user calls the log */
	const struct bpfrelay_log *log;
	const struct bpfrelay_log_info *info;
	struct names *names;
	unsigned long long skipped;		/* records that the format has no place for */
	void *state;				/* the format's own */
};

/* Functions print to standard output, and print their errors: 0 or -1. */
struct export_format {
	const char *name;
	const char *text;
	/* Begins, and may refuse. */
	int (*begin)(struct export *e);
	/* NULL: the format is not about records. */
	int (*record)(struct export *e, const struct bpfrelay_record *record);
	/* NULL: there is no place for losses; they are counted on standard error. */
	int (*lost)(struct export *e, const struct bpfrelay_item *item);
	/* Ends; `ok` is false behind an error, and then only frees. */
	int (*end)(struct export *e, bool ok);
};

extern const struct export_format export_jsonl, export_chrome, export_openmetrics, export_pcapng,
				  export_folded;

/* ---- hinted.c: fields by what they are ---- */

#define FIELD_PATH_MAX	256

/*
 * A field that fn says is the one, and its path for bpfrelay_record_find(): the first
 * that is in no array of structs. NULL: there is none.
 */
const struct bpf_relay_field *
find_field(const struct bpfrelay_type *type,
	   bool (*fn)(const struct bpf_relay_field *f, const void *ctx), const void *ctx,
	   char path[FIELD_PATH_MAX]);
const struct bpf_relay_field *find_hinted(const struct bpfrelay_type *type,
					  enum bpf_relay_hint hint, char path[FIELD_PATH_MAX]);

/* Whether any field has it, also one without a path. */
bool type_has_hint(const struct bpfrelay_type *type, enum bpf_relay_hint hint);

/* Whether a type of the log has a field with this hint. */
bool log_has_hint(const struct bpfrelay_log *log, enum bpf_relay_hint hint);

/* A number of a record: true, if it has such a field. */
bool record_number(const struct bpfrelay_record *record, const char *path, __u64 *number);

/*
 * Which thread a record is about: `pid` is a thread's, as in the kernel, and `tgid` its
 * process's, if there is one. False: it is about none.
 */
bool record_thread(const struct bpfrelay_record *record, __u64 *tgid, __u64 *pid);

/* The array with a user stack, called `user` or `ustack`; false: the type has none. */
bool record_user_stack(const struct bpfrelay_record *record, struct bpfrelay_value *stack);

/* The n-th address of a stack; false: there are no more. */
bool stack_frame(const struct bpfrelay_value *stack, __u32 n, __u64 *address);

#endif /* __EXPORT_H__ */
