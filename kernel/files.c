// SPDX-License-Identifier: GPL-2.0-only
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpumask.h>
#include <linux/debugfs.h>
#include <linux/moduleparam.h>
#include <linux/mutex.h>
#include <linux/printk.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/uidgid.h>

#include "files.h"
#include "log.h"

static unsigned int mode = 0400;
static unsigned int gid;

static int mode_set(const char *val, const struct kernel_param *kp)
{
	unsigned int m;
	int err = kstrtouint(val, 8, &m);

	if (err)
		return err;
	if (m != 0400 && m != 0440) {
		pr_err("mode=%s: must be 0400 or 0440\n", val);
		return -EINVAL;
	}
	WRITE_ONCE(mode, m);
	return 0;
}

static int mode_get(char *buffer, const struct kernel_param *kp)
{
	return sysfs_emit(buffer, "0%o\n", *(unsigned int *)kp->arg);
}

static const struct kernel_param_ops mode_ops = {
	.set = mode_set,
	.get = mode_get,
};

module_param_cb(mode, &mode_ops, &mode, 0644);
MODULE_PARM_DESC(mode, "permissions of new logs' files: 0400 (default) or 0440");
module_param(gid, uint, 0644);
MODULE_PARM_DESC(gid, "group of new logs' files (default 0)");

/* The files of a log, but ctf/cpuN. */
static const struct {
	const char *name;
	bool ctf;		/* in ctf/ */
	const struct file_operations *fops;
	file_stat_t stat;
} singles[] = {
	{ "metadata", true, &metadata_fops, metadata_stat },
	{ "stats", false, &stats_fops, NULL },
	{ "text", false, &text_fops, NULL },
	{ "mem", false, &mem_fops, mem_stat },
};

struct log_files {
	struct dentry *dir;
	struct dentry *ctf;
	struct inode *mem;
	struct log_file singles[ARRAY_SIZE(singles)];
	struct log_file cpu[];
};

static struct dentry *root;	/* bpf_relay/ itself */

/* debugfs's own, which we put back, and the same with our getattr and setattr. */
static const struct inode_operations *debugfs_iops;
static struct inode_operations file_iops;
static DEFINE_MUTEX(iops_mutex);

/* Sizes are asked for much more seldom than they change: no writer keeps them. */
static int file_getattr(struct mnt_idmap *idmap, const struct path *path, struct kstat *stat,
			u32 request_mask, unsigned int query_flags)
{
	struct inode *inode = d_inode(path->dentry);
	const struct log_file *file;

	generic_fillattr(idmap, request_mask, inode, stat);
	rcu_read_lock();
	file = file_of(inode);
	if (file && file->stat) {
		file->stat(file, inode, stat);
		/* No holes: cp and tar must read it, not skip it. */
		stat->blocks = DIV_ROUND_UP_ULL(stat->size, 512);
	}
	rcu_read_unlock();
	return 0;
}

/* debugfs would pretend to truncate. */
static int file_setattr(struct mnt_idmap *idmap, struct dentry *dentry, struct iattr *attr)
{
	if (attr->ia_valid & ATTR_SIZE)
		return -EACCES;
	return debugfs_iops->setattr(idmap, dentry, attr);
}

static int file_create(struct log_file *file, const char *name, struct dentry *dir,
		       struct bpf_relay *log, const struct file_operations *fops,
		       file_stat_t stat)
{
	umode_t m = READ_ONCE(mode);
	struct dentry *dentry;
	struct inode *inode;
	kgid_t group;

	file->log = log;
	file->stat = stat;
	/* debugfs takes care of the end of files by itself, but it has no mmap then. */
	if (fops->mmap)
		dentry = debugfs_create_file_unsafe(name, m, dir, file, fops);
	else
		dentry = debugfs_create_file(name, m, dir, file, fops);
	if (IS_ERR(dentry))
		return PTR_ERR(dentry);
	file->dentry = dentry;
	inode = d_inode(dentry);
	group = make_kgid(&init_user_ns, READ_ONCE(gid));
	/* Here and below: the VFS reads these unmarked, and may do so already. */
	if (gid_valid(group))
		data_race(inode->i_gid = group);

	/* All files of debugfs have the same. */
	mutex_lock(&iops_mutex);
	if (!debugfs_iops) {
		debugfs_iops = inode->i_op;
		file_iops = *debugfs_iops;
		file_iops.getattr = file_getattr;
		file_iops.setattr = file_setattr;
	}
	mutex_unlock(&iops_mutex);
	data_race(inode->i_op = &file_iops);
	return 0;
}

static void file_forget(struct log_file *file)
{
	struct inode *inode;

	if (!file->dentry)
		return;
	/* An O_PATH descriptor keeps the inode longer than us. */
	inode = d_inode(file->dentry);
	data_race(inode->i_op = debugfs_iops);
	WRITE_ONCE(inode->i_private, NULL);
	file->dentry = NULL;
}

int files_create(struct bpf_relay *log)
{
	struct log_files *files = kvzalloc(struct_size(files, cpu, nr_cpu_ids), GFP_KERNEL);
	char name[16];
	int cpu, i, err = 0;

	if (!files)
		return -ENOMEM;
	log->files = files;
	files->dir = debugfs_create_dir(log->name, root);
	if (IS_ERR(files->dir))
		return PTR_ERR(files->dir);
	files->ctf = debugfs_create_dir("ctf", files->dir);
	if (IS_ERR(files->ctf))
		return PTR_ERR(files->ctf);

	for (i = 0; i < ARRAY_SIZE(singles); i++) {
		struct log_file *file = &files->singles[i];

		err = err ?: file_create(file, singles[i].name, singles[i].ctf ? files->ctf : files->dir,
					 log, singles[i].fops, singles[i].stat);
		if (!err && singles[i].fops->mmap) {
			files->mem = d_inode(file->dentry);
			ihold(files->mem);
		}
	}
	for_each_possible_cpu(cpu) {
		snprintf(name, sizeof(name), "cpu%d", cpu);
		files->cpu[cpu].cpu = cpu;
		err = err ?: file_create(&files->cpu[cpu], name, files->ctf, log, &ctf_fops,
					 ctf_stat);
	}
	return err;
}

void files_remove(struct log_files *files)
{
	int cpu, i;

	if (!files)
		return;
	for (i = 0; i < ARRAY_SIZE(singles); i++)
		file_forget(&files->singles[i]);
	for_each_possible_cpu(cpu)
		file_forget(&files->cpu[cpu]);
	debugfs_remove(files->dir);
}

void files_free(struct log_files *files)
{
	if (files)
		iput(files->mem);
	kvfree(files);
}

struct dentry *files_dir(struct log_files *files)
{
	return files->dir;
}

struct inode *files_mem(struct log_files *files)
{
	return files->mem;
}

bool files_supported(void)
{
	return !IS_ERR_OR_NULL(root);
}

int files_setup(void)
{
	metadata_init();
	root = debugfs_create_dir(KBUILD_MODNAME, NULL);
	/* Without debugfs programs load and run all the same; open says why not. */
	if (PTR_ERR(root) == -ENODEV || PTR_ERR(root) == -EPERM) {
		pr_info("no debugfs: logs cannot be opened\n");
		return 0;
	}
	if (IS_ERR(root))
		pr_err("cannot make the directory " KBUILD_MODNAME " in debugfs: %ld\n",
		       PTR_ERR(root));
	return PTR_ERR_OR_ZERO(root);
}

void files_teardown(void)
{
	debugfs_remove(root);
	/* Whoever found file_getattr() in an inode may not have entered it yet. */
	synchronize_rcu_tasks();
}
