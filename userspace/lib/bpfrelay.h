/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * libbpfrelay: opens and reads bpf_relay logs from user space.
 *
 * Functions return 0 or a count, or a negative errno. Nothing is kept between
 * two calls: objects of the caller may be used from any thread, one at a time.
 */
#ifndef __BPFRELAY_H__
#define __BPFRELAY_H__

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <linux/bpf_relay.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Of this header; the function says that of the library that is used. */
#define BPFRELAY_VERSION	"1.0.0"
const char *bpfrelay_version(void);

/* ---- Types: from BTF to what a log says about its records ----------------- */

/* Told one line, without a newline, that says more than the errno. */
typedef void (*bpfrelay_print_fn)(void *ctx, const char *fmt, va_list args);

/**
 * @brief **bpfrelay_type_fields()** describes a C type as a table of fields.
 *
 * Documentation/format.rst says what becomes of which C type. A type whose table
 * would take more than BPF_RELAY_TEXT_MAX bytes, or whose BTF makes no sense, is
 * described as bytes as a whole; enumerators are left out if they alone are too
 * many. A type that is no struct is described as one with a single member `value`.
 * Zero-sized members are left out, but for the flexible array at the end of a
 * BPF_RELAY_TYPE_VAR; if that has none, a field `data` of bytes is added.
 *
 * @param btf BTF with the type
 * @param type_id its id
 * @param flags BPF_RELAY_TYPE_*
 * @param print told what is wrong with a hint; may be NULL
 * @param print_ctx for print
 * @param fields set to the table, to be freed with free(); NULL if it is empty
 * @return number of fields; -EINVAL if there is no such type, if it has no size, or
 * if a hint does not fit its member; -ENOMEM
 */
int bpfrelay_type_fields(const struct btf *btf, __u32 type_id, __u16 flags,
			 bpfrelay_print_fn print, void *print_ctx,
			 struct bpf_relay_field **fields);

/**
 * @brief **bpfrelay_type_tsdl()** writes the CTF 1.8 `event { ... };` block of
 * a record type.
 *
 * The block describes exactly the bytes that the table describes. Every name
 * bears a leading underscore, which readers drop. If the text would exceed
 * BPF_RELAY_TEXT_MAX bytes, it describes the record as bytes.
 *
 * @param fields table from bpfrelay_type_fields()
 * @param n_fields its length
 * @param name the event's name; what is no C identifier is made one
 * @param id the type's id in its log
 * @param text set to the text (with a NUL), to be freed with free()
 * @return length without the NUL; -EINVAL if the table is not well-formed; -ENOMEM
 */
int bpfrelay_type_tsdl(const struct bpf_relay_field *fields, int n_fields,
		       const char *name, __u16 id, char **text);

/* ---- Logs of a BPF object -------------------------------------------------- */

/**
 * @brief **bpfrelay_next_log()** goes through the maps of an object that were
 * declared with RELAY_MAP().
 *
 * @param obj an opened (perhaps not yet loaded) object
 * @param prev the map before, NULL to begin
 * @return the next map, NULL if there is none
 */
struct bpf_map *bpfrelay_next_log(const struct bpf_object *obj, struct bpf_map *prev);

/* Zero means: as the object says, which is the module's default unless it was changed. */
struct bpfrelay_open_opts {
	size_t sz;		/* sizeof(struct bpfrelay_open_opts) */
	__u32 subbuf_size;	/* bytes of a sub-buffer, a power of two */
	__u32 n_subbufs;	/* per CPU, a power of two */
	__u32 mode;		/* enum bpf_relay_mode */
	__u32 clock;		/* enum bpf_relay_clock */
	bpfrelay_print_fn print;
	void *print_ctx;
};

/**
 * @brief **bpfrelay_open()** opens a log: describes its types from BTF and runs
 * the program that RELAY_MAP() defined for it.
 *
 * Needs the privilege to run BPF programs. The log then lives as long as its
 * map does.
 *
 * @param obj a loaded object
 * @param map one of bpfrelay_next_log()'s maps
 * @param opts may be NULL
 * @return 0; -EALREADY if it is open, with the same types and options; -ENOENT
 * if the object has no RELAY_MAP() of this name; -EPROTO if object and library
 * (or module) differ in their ABI; -EINVAL if a hint in a type does not fit its member,
 * which print is told; -ENOSYS if the module is not there; or any
 * other error of the module, see bpf_relay_open() in Documentation/kfuncs.rst
 */
int bpfrelay_open(struct bpf_object *obj, const struct bpf_map *map,
		  const struct bpfrelay_open_opts *opts);

/* ---- Reading logs ----------------------------------------------------------- */

/*
 * A log is read where it is, in debugfs, or as a copy of its directory ctf/, in the
 * same way. Reading changes nothing.
 *
 * What these functions return a pointer to belongs to the log or reader. Structs of
 * which the library returns pointers may grow at their end. A log may be used by many
 * threads at a time, a reader by one.
 */

/** A type of record. */
struct bpfrelay_type {
	__u16 id;		/* 0: raw bytes */
	__u16 flags;		/* BPF_RELAY_TYPE_* */
	__u32 size;		/* bytes of a record; of a VAR type, without its flexible array */
	const char *name;
	const struct bpf_relay_field *fields;
	int n_fields;
};

struct bpfrelay_log_info {
	const char *name;	/* of its directory in debugfs */
	const char *dir;	/* that with metadata and cpuN */
	const char *host;	/* the machine that it was written on */
	const char *boot;	/* uuid of the boot that it was written in */
	__u8 uuid[16];		/* of the log */
	bool live;		/* in debugfs, not a copy */
	__u32 map_id;		/* of the log's map; 0 in copies whose name has none */
	__u32 clock;		/* enum bpf_relay_clock */
	__s64 real_offset;	/* ns from this clock to real time, when it was opened */
};

struct bpfrelay_log;

struct bpfrelay_log_opts {
	size_t sz;		/* sizeof(struct bpfrelay_log_opts) */
	const char *root;	/* where live logs are; NULL: BPFRELAY_ROOT */
	bpfrelay_print_fn print;
	void *print_ctx;
};

#define BPFRELAY_ROOT	"/sys/kernel/debug/bpf_relay"

/**
 * @brief **bpfrelay_log_open()** opens a log for reading.
 *
 * @param what the id of its map; its name ("tcplog.12", or "tcplog" if there is but
 * one of it); the path of its directory, of a copy of ctf/, or of a pin of its map.
 * What has a slash is a path; a directory is one too if there is no log of this name
 * @param opts may be NULL
 * @param log set to the log, to be closed with bpfrelay_log_close()
 * @return 0; -ENOENT if there is none; -ENOTUNIQ if there are several, which print is
 * told; -EINVAL if its metadata is not that of a log, print is told where; or what the
 * system said, -EACCES and -EPERM above all
 */
int bpfrelay_log_open(const char *what, const struct bpfrelay_log_opts *opts,
		      struct bpfrelay_log **log);

/** The same, of a map that is open in this process. */
int bpfrelay_log_open_fd(int map_fd, const struct bpfrelay_log_opts *opts,
			 struct bpfrelay_log **log);

/** Readers of the log are to be closed before. NULL is fine. */
void bpfrelay_log_close(struct bpfrelay_log *log);

const struct bpfrelay_log_info *bpfrelay_log_info(const struct bpfrelay_log *log);

/** The type with an id; NULL if there is none. Ids are below BPF_RELAY_TYPES_MAX. */
const struct bpfrelay_type *bpfrelay_log_type(const struct bpfrelay_log *log, __u32 id);

/** The log's clock; of a copy, when its newest record was written. ns. */
__u64 bpfrelay_log_now(const struct bpfrelay_log *log);

/**
 * @brief **bpfrelay_each_log()** calls fn with the name and directory of each live log,
 * in the order of names, until fn returns something else than 0, and returns that.
 */
int bpfrelay_each_log(const char *root, int (*fn)(const char *name, const char *dir, void *ctx),
		      void *ctx);

/* ---- Records ------------------------------------------------------------------ */

struct bpfrelay_record {
	__u64 ts;			/* ns of the log's clock */
	__u32 cpu;
	__u32 len;			/* bytes */
	const void *data;		/* 8-aligned */
	const struct bpfrelay_type *type;
};

enum bpfrelay_item_kind {
	BPFRELAY_RECORD		= 1,
	BPFRELAY_LOST		= 2,	/* records that should stand here, but cannot be had */
};

enum bpfrelay_loss {
	BPFRELAY_OVERWRITTEN	= 1,	/* by newer ones, before this reader came to them */
	BPFRELAY_DROPPED	= 2,	/* never written: CTF's discarded events */
	BPFRELAY_DAMAGED	= 3,	/* a packet that is none; print is told why */
};

struct bpfrelay_item {
	enum bpfrelay_item_kind kind;
	struct bpfrelay_record record;	/* of a loss: ts and cpu */
	enum bpfrelay_loss reason;	/* of a loss */
	/*
	 * Records; 0 if that is not known. Of a follower: not yet, and the next loss that is
	 * known has them in it.
	 */
	__u64 lost;
};

struct bpfrelay_reader;

/* Zero means: all of it, or as it comes. */
struct bpfrelay_reader_opts {
	size_t sz;		/* sizeof(struct bpfrelay_reader_opts) */
	__u32 flags;		/* BPFRELAY_READ_* */
	__u32 n_cpus;		/* how many there are in cpus */
	const __u32 *cpus;	/* only these */
	__u64 since;		/* only what is not older; ns of the log's clock */
	__u64 until;		/* only what is not newer; 0: no end */
	__u64 newest;		/* only so many records, the newest ones */
	/* Only the records of which this says so. */
	bool (*match)(void *ctx, const struct bpfrelay_record *record);
	void *match_ctx;
};

/* Only the time of which nothing was overwritten on any CPU when it was opened. */
#define BPFRELAY_READ_COMPLETE	(1U << 0)
/* bpfrelay_reader_wait() will be called; keeps the order of time beyond one snapshot. */
#define BPFRELAY_READ_FOLLOW	(1U << 1)
/* From the files in ctf/, also where `mem` can be mapped. */
#define BPFRELAY_READ_CTF	(1U << 2)

/**
 * @brief **bpfrelay_reader_open()** begins to read: what there is now, of all CPUs.
 *
 * @return 0; -ENOENT if there is none of the CPUs asked for; -EINVAL if opts make no
 * sense; -ENODEV if the log was closed meanwhile; or what the system said
 */
int bpfrelay_reader_open(const struct bpfrelay_log *log, const struct bpfrelay_reader_opts *opts,
			 struct bpfrelay_reader **reader);
void bpfrelay_reader_close(struct bpfrelay_reader *reader);

/**
 * @brief **bpfrelay_reader_next()** goes to the next item, in the order of time; what
 * is of the same time, in the order of CPUs.
 *
 * A packet that is damaged, or was overwritten before it was read, is an item that says
 * so, at the time when the packet began, and reading goes on behind it.
 *
 * @param item set to the item, which is good until the next call
 * @return 1; 0 at the end; -ENODEV if the log was closed meanwhile; or what the system said
 */
int bpfrelay_reader_next(struct bpfrelay_reader *reader, const struct bpfrelay_item **item);

/**
 * @brief **bpfrelay_reader_wait()** waits until there may be more behind the end, for a
 * reader that was opened with BPFRELAY_READ_FOLLOW.
 *
 * @param timeout_ms how long at most; 0: looks once
 * @return 1: bpfrelay_reader_next() may find something; 0 after the timeout; -EINTR;
 * -ENODEV if the log was closed
 */
int bpfrelay_reader_wait(struct bpfrelay_reader *reader, int timeout_ms);

/** From when on it reads: opts.since or, of a complete one, when that time begins. ns. */
__u64 bpfrelay_reader_since(const struct bpfrelay_reader *reader);

/* ---- Fields ------------------------------------------------------------------- */

/* One value in a record. */
struct bpfrelay_value {
	const struct bpf_relay_field *field;
	const void *data;	/* its first byte */
	__u32 len;		/* bytes; of what has elements, of all of them */
	__u32 count;		/* elements; of a flexible array, those that there are */
};

/**
 * @brief **bpfrelay_record_find()** finds a field by its path: "a", "a.b", "a[2].b[1]".
 *
 * @return 0; -ENOENT if the type has no such field; -ERANGE if there is no such element
 * in the record; -EINVAL if that is no path
 */
int bpfrelay_record_find(const struct bpfrelay_record *record, const char *path,
			 struct bpfrelay_value *value);

/**
 * @brief **bpfrelay_value_number()** reads a number, bool or enum, a signed one
 * sign-extended.
 *
 * @return 0; -EDOM if the value is none, or not a single one
 */
int bpfrelay_value_number(const struct bpfrelay_value *value, __u64 *number);

/** Reads a floating-point number of either size: 0; -EDOM if the value is none. */
int bpfrelay_value_double(const struct bpfrelay_value *value, double *number);

/**
 * @brief **bpfrelay_value_string()** copies text (CHAR) up to its end or its NUL.
 *
 * @return its length; -EDOM if the value is no text. As with snprintf(), what does not
 * fit is cut off, and there is always a NUL if size is not 0
 */
int bpfrelay_value_string(const struct bpfrelay_value *value, char *to, size_t size);

/**
 * @brief **bpfrelay_record_text()** writes the fields as the file `text` does, see
 * Documentation/format.rst.
 *
 * @return its length, with a NUL behind it, if that is less than size; else it was cut
 * off, and what is returned is less than all of it may take
 */
size_t bpfrelay_record_text(const struct bpfrelay_record *record, char *to, size_t size);

struct bpfrelay_text_opts {
	size_t sz;		/* sizeof(struct bpfrelay_text_opts) */
	/*
	 * Names a kernel address, of fields with RELAY_KSYM and RELAY_STACK: writes at most
	 * size bytes with a NUL. False: it has no name, and the number is shown.
	 */
	bool (*symbol)(void *ctx, __u64 address, char *to, size_t size);
	void *symbol_ctx;
};

/** The same with names for addresses, of which the library has none. opts may be NULL. */
size_t bpfrelay_record_text_opts(const struct bpfrelay_record *record,
				 const struct bpfrelay_text_opts *opts, char *to, size_t size);

/**
 * @brief **bpfrelay_record_json()** makes a JSON object of the fields, in one line.
 *
 * @param text set to it, to be freed with free()
 * @return its length; -ENOMEM
 */
int bpfrelay_record_json(const struct bpfrelay_record *record, char **text);

/* ---- Filters --------------------------------------------------------------------- */

struct bpfrelay_filter;

/**
 * @brief **bpfrelay_filter_new()** reads a filter, `pid == 1 && comm =~ "ba*"`, for the
 * records of a log. Documentation/reading.rst has its grammar.
 *
 * @param filter set to it, to be freed before the log is closed
 * @return 0; -EINVAL: it is none, or asks for fields that no type of the log has, and the
 * log's print is told what is wrong and where; -ENOMEM
 */
int bpfrelay_filter_new(const struct bpfrelay_log *log, const char *text,
			struct bpfrelay_filter **filter);

/** Whether it says so of a record of that log. From any number of threads. */
bool bpfrelay_filter_match(const struct bpfrelay_filter *filter,
			   const struct bpfrelay_record *record);

/** NULL is fine. */
void bpfrelay_filter_free(struct bpfrelay_filter *filter);

/* ---- Statistics ----------------------------------------------------------------- */

/* The words of the file `stats`, see Documentation/format.rst. Times are ns. */
#define BPFRELAY_STATS(X)							\
	X(entries, "entries")							\
	X(overrun, "overrun")							\
	X(bytes, "bytes")							\
	X(dropped, "dropped events")						\
	X(dropped_type, "dropped type")						\
	X(dropped_size, "dropped size")						\
	X(dropped_too_big, "dropped too big")					\
	X(dropped_busy, "dropped busy")						\
	X(dropped_full, "dropped full")						\
	X(dropped_nested, "dropped nested")					\
	X(dropped_contended, "dropped contended")				\
	X(dropped_no_buffer, "dropped no buffer")				\
	X(dropped_no_record, "dropped no record")				\
	X(stored, "stored events")						\
	X(stored_bytes, "stored bytes")						\
	X(overrun_bytes, "overrun bytes")					\
	X(discarded, "discarded events")					\
	X(open, "open events")							\
	X(oldest_ts, "oldest event ts")						\
	X(newest_ts, "newest event ts")						\
	X(now_ts, "now ts")							\
	X(oldest_open_age, "oldest open age")					\
	X(nesting_max, "nesting max")						\
	X(nested, "nested calls")						\
	X(retries, "read retries")						\
	X(damaged, "damaged packets")

#define BPFRELAY_STATS_MEMBER(name, word)	__u64 name;

struct bpfrelay_cpu_stats {
	__u32 cpu;
	bool no_buffer;		/* it never was online */
	BPFRELAY_STATS(BPFRELAY_STATS_MEMBER)
};

struct bpfrelay_stats {
	__u32 subbuf_size;
	__u32 n_subbufs;
	__u32 mode;		/* enum bpf_relay_mode */
	__u32 types;
	__u64 memory;		/* bytes, of all CPUs */
	__u32 n_cpus;		/* in cpus; several that never were online may be left out */
	struct bpfrelay_cpu_stats *cpus;
	__u32 abi;		/* of the module */
};

/**
 * @brief **bpfrelay_log_stats()** reads what happened to every record of a live log.
 *
 * @param stats set to it, to be freed with free()
 * @return 0; -ENOENT if the log is a copy; -ENODEV if it was closed; -EBADMSG; -ENOMEM
 */
int bpfrelay_log_stats(const struct bpfrelay_log *log, struct bpfrelay_stats **stats);

/* ---- Copies ----------------------------------------------------------------------- */

struct bpfrelay_snapshot_opts {
	size_t sz;		/* sizeof(struct bpfrelay_snapshot_opts) */
	/*
	 * Told now and then, and at the end, how many bytes are copied, and of how many.
	 * What it returns ends the copying, if it is not 0: a negative errno.
	 */
	int (*progress)(void *ctx, __u64 done, __u64 total);
	void *progress_ctx;
};

/**
 * @brief **bpfrelay_log_snapshot()** copies a log: a CTF 1.8 trace. Where each CPU ends is
 * fixed before anything is copied.
 *
 * @param dir made, 0700 with files of 0600; must not exist. It appears when all is in it
 * @param opts may be NULL
 * @param records set to the number of records in it; may be NULL
 * @return 0; -EEXIST; -ENOSPC; -ENODEV; what progress said; or what the system said
 */
int bpfrelay_log_snapshot(const struct bpfrelay_log *log, const char *dir,
			  const struct bpfrelay_snapshot_opts *opts, __u64 *records);

#ifdef __cplusplus
}
#endif

#endif /* __BPFRELAY_H__ */
