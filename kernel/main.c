// SPDX-License-Identifier: GPL-2.0-only
/* bpf_relay: a log that BPF programs write and anybody reads. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bpf_relay.h>
#include <linux/kernfs.h>
#include <linux/kobject.h>
#include <linux/module.h>
#include <linux/printk.h>
#include <linux/utsname.h>

#include "files.h"
#include "kfuncs.h"
#include "log.h"

/*
 * Without BTF of its own the kernel accepts our registrations and ignores them;
 * every program would then fail with "calling kernel function is not allowed". It
 * may also have refused the BTF that we brought, and loaded us all the same. What
 * it took stands in /sys/kernel/btf.
 */
static bool have_btf(void)
{
	struct kernfs_node *dir = kernfs_find_and_get(kernel_kobj->sd, "btf");
	struct kernfs_node *node = dir ? kernfs_find_and_get(dir, KBUILD_MODNAME) : NULL;

	kernfs_put(node);
	kernfs_put(dir);
	return node;
}

static int __init bpf_relay_init(void)
{
	int err;

	if (!have_btf()) {
		pr_err("no BTF that fits this kernel: BPF programs could not call the module. Install pahole, then: cp /sys/kernel/btf/vmlinux /lib/modules/%s/build/ && make clean && make\n",
		       init_utsname()->release);
		return -ENOEXEC;
	}
	err = log_init();
	if (err)
		return err;
	err = files_setup();
	if (err)
		goto exit_log;
	err = kfuncs_register();
	if (err) {
		pr_err("cannot register functions for BPF programs: %d\n", err);
		goto teardown_files;
	}
	return 0;

teardown_files:
	files_teardown();
exit_log:
	log_exit();
	return err;
}

static void __exit bpf_relay_exit(void)
{
	log_exit();
	files_teardown();
}

module_init(bpf_relay_init);
module_exit(bpf_relay_exit);
MODULE_LICENSE("GPL");
/* As libbpfrelay's and the packages'; the major number is the ABI. */
MODULE_VERSION("1.0.0");
MODULE_DESCRIPTION("Overwriting per-CPU log for BPF programs over relay buffers");
