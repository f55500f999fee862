/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The directory of a log in debugfs:
 *
 *	bpf_relay/<name>.<map id>/
 *		ctf/metadata	metadata.c
 *		ctf/cpuN	ctf.c
 *		stats		stats.c
 *		text		text.c
 *		mem		mem.c
 */
#ifndef _BPF_RELAY_FILES_H
#define _BPF_RELAY_FILES_H

#include <linux/err.h>
#include <linux/fs.h>
#include <linux/types.h>

struct bpf_relay;
struct log_files;

struct log_file;

/* Fill in size and times; under RCU. */
typedef void (*file_stat_t)(const struct log_file *file, const struct inode *inode,
			    struct kstat *stat);

/* What a file is about: its inode's i_private, NULL once the log goes. */
struct log_file {
	struct bpf_relay *log;
	struct dentry *dentry;
	file_stat_t stat;	/* NULL: as debugfs has them */
	u32 cpu;
};

/* NULL if the log goes. */
static inline const struct log_file *file_of(const struct inode *inode)
{
	return READ_ONCE(inode->i_private);
}

/* To be called by each file's open(). Modes do not stop root from asking to write. */
static inline const struct log_file *file_open(const struct inode *inode, const struct file *file)
{
	if (file->f_mode & FMODE_WRITE)
		return ERR_PTR(-EACCES);
	return file_of(inode) ?: ERR_PTR(-ENODEV);
}

/* ctf.c */
extern const struct file_operations ctf_fops;
void ctf_stat(const struct log_file *file, const struct inode *inode, struct kstat *stat);
/* metadata.c */
extern const struct file_operations metadata_fops;
void metadata_stat(const struct log_file *file, const struct inode *inode, struct kstat *stat);
void metadata_init(void);
/* stats.c */
extern const struct file_operations stats_fops;
/* text.c */
extern const struct file_operations text_fops;
/* mem.c */
extern const struct file_operations mem_fops;
void mem_stat(const struct log_file *file, const struct inode *inode, struct kstat *stat);

int files_setup(void);
void files_teardown(void);
bool files_supported(void);

/*
 * Make log->files and what is in it. 0, -ENOMEM or debugfs's error; what was made is
 * to be removed and freed also then. May sleep.
 */
int files_create(struct bpf_relay *log);
/*
 * Take them out of sight; waits for whoever is inside one of them. Behind an RCU
 * grace period nobody looks at the log through them. Then free the rest.
 */
void files_remove(struct log_files *files);
void files_free(struct log_files *files);

/* The directory, for relay, which wants to be shown one. */
struct dentry *files_dir(struct log_files *files);

/* The inode of `mem`, until files_free(): mappings hang on it. */
struct inode *files_mem(struct log_files *files);

#endif /* _BPF_RELAY_FILES_H */
