// SPDX-License-Identifier: GPL-2.0-only
/*
 * What vm/selftest plants: a module that breaks a rule when it is loaded, so
 * that vm/run can be seen to notice, and one that counts NMIs.
 */
#include <linux/module.h>
#include <linux/atomic.h>
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <linux/vmalloc.h>
#include <asm/nmi.h>

static char *what = "nmi";
module_param(what, charp, 0);
MODULE_PARM_DESC(what, "what to plant, see plants[]; or only count NMIs: nmi");

static atomic_t nmis;

static int nmis_get(char *buffer, const struct kernel_param *kp)
{
	return sysfs_emit(buffer, "%d\n", atomic_read(&nmis));
}

static const struct kernel_param_ops nmis_ops = { .get = nmis_get };
module_param_cb(nmis, &nmis_ops, NULL, 0444);
MODULE_PARM_DESC(nmis, "NMIs seen since the module was loaded");

/* Claims every NMI: nothing else in the guest causes any. */
static int count_nmi(unsigned int type, struct pt_regs *regs)
{
	atomic_inc(&nmis);
	return NMI_HANDLED;
}

static void plant_warn(void)
{
	WARN(1, "planted\n");
}

static void plant_bug(void)
{
	BUG();
}

/* ---- For debug kernels only ------------------------------------------------- */

static void plant_slab(void)
{
	char *p = kmalloc(24, GFP_KERNEL);

	OPTIMIZER_HIDE_VAR(p);
	READ_ONCE(p[24]);
	kfree(p);
}

static void plant_vmalloc(void)
{
	char *p = vmalloc(100);

	OPTIMIZER_HIDE_VAR(p);
	/* Of the same page. */
	READ_ONCE(p[100]);
	vfree(p);
}

static DEFINE_MUTEX(a);
static DEFINE_MUTEX(b);

static void plant_locks(void)
{
	mutex_lock(&a);
	mutex_lock(&b);
	mutex_unlock(&b);
	mutex_unlock(&a);
	mutex_lock(&b);
	mutex_lock(&a);
	mutex_unlock(&a);
	mutex_unlock(&b);
}

static void *pointer;

static void plant_rcu(void)
{
	rcu_dereference(*(void __rcu **)&pointer);
}

static void plant_sleep(void)
{
	static DEFINE_SPINLOCK(lock);

	spin_lock(&lock);
	might_sleep();
	spin_unlock(&lock);
}

static void plant_preempt(void)
{
	pr_info("on CPU %u\n", smp_processor_id());
}

static void plant_shift(void)
{
	int by = 40;

	OPTIMIZER_HIDE_VAR(by);
	pr_info("shifted %d\n", 1 << by);
}

static void plant_leak(void)
{
	pointer = kmalloc(100, GFP_KERNEL);
	pointer = NULL;
}

static unsigned long shared;

static int race(void *unused)
{
	unsigned long end = jiffies + 5 * HZ;

	while (time_before(jiffies, end)) {
		shared++;
		cond_resched();
	}
	return 0;
}

static void plant_race(void)
{
	struct task_struct *other = kthread_create(race, NULL, "plant");

	if (IS_ERR(other))
		return;
	get_task_struct(other);
	wake_up_process(other);
	race(NULL);
	kthread_stop(other);
	put_task_struct(other);
}

static const struct {
	const char *name;
	void (*fn)(void);
} plants[] __initconst = {
	{ "warn", plant_warn }, { "bug", plant_bug },
	{ "slab", plant_slab }, { "vmalloc", plant_vmalloc }, { "locks", plant_locks },
	{ "rcu", plant_rcu }, { "sleep", plant_sleep }, { "preempt", plant_preempt },
	{ "shift", plant_shift }, { "leak", plant_leak }, { "race", plant_race },
};

static int __init plant_init(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(plants); i++) {
		if (!strcmp(what, plants[i].name)) {
			plants[i].fn();
			return -ECANCELED;
		}
	}
	if (strcmp(what, "nmi"))
		return -EINVAL;
	return register_nmi_handler(NMI_LOCAL, count_nmi, 0, "plant");
}

/* ---- NMIs ------------------------------------------------------------------- */

static void __exit plant_exit(void)
{
	unregister_nmi_handler(NMI_LOCAL, "plant");
}

module_init(plant_init);
module_exit(plant_exit);
MODULE_DESCRIPTION("Test module of vm/selftest");
MODULE_LICENSE("GPL");
