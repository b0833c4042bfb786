// SPDX-License-Identifier: GPL-2.0-only
/*
 * /dev/cpb-runner: runs a workload in the kernel's crypto API on a driver that
 * is named, and times it. For machines on which somebody measures and nobody
 * else works: it is for root alone, one opener at a time.
 */
#include <linux/capability.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "internal.h"

static atomic_t taken = ATOMIC_INIT(0);
/* An engine still owns memory of an earlier run, so nothing is run any more. */
static bool lost;

static int runner_open(struct inode *inode, struct file *file)
{
	if (!capable(CAP_SYS_ADMIN))
		return -EPERM;
	return atomic_cmpxchg(&taken, 0, 1) ? -EBUSY : 0;
}

static int runner_release(struct inode *inode, struct file *file)
{
	atomic_set(&taken, 0);
	return 0;
}

static int run_once(struct cpb_run *run)
{
	struct work *work = kzalloc(sizeof(*work), GFP_KERNEL);
	int error;

	if (!work)
		return -ENOMEM;
	run->taken = 0;
	run->ran = 0;
	run->operations = 0;
	run->latency_max = 0;
	run->name[0] = 0;
	run->words[0] = 0;
	error = work_open(work, run);
	if (!error)
		error = loop_run(work, run);
	if (!work_idle(work)) {
		/* What is in flight is kept for ever, and this code with it. */
		lost = true;
		__module_get(THIS_MODULE);
		return cpb_fail(run, -EIO,
				"the engine keeps requests: their memory is lost, and nothing more is run until a reboot");
	}
	if (!error)
		error = work_results(work, run);
	work_close(work);
	kfree(work);
	return error;
}

static long runner_ioctl(struct file *file, unsigned int command,
			 unsigned long argument)
{
	void __user *user = (void __user *)argument;
	struct cpb_run *run;
	int error;

	if (command != CPB_RUN)
		return -ENOTTY;
	if (lost)
		return -EIO;
	run = memdup_user(user, sizeof(*run));
	if (IS_ERR(run))
		return PTR_ERR(run);
	error = run_once(run);
	if (copy_to_user(user, run, sizeof(*run)))
		error = -EFAULT;
	if (!lost)
		kfree(run);
	return error;
}

static const struct file_operations runner_operations = {
	.owner = THIS_MODULE,
	.open = runner_open,
	.release = runner_release,
	.unlocked_ioctl = runner_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
};

static struct miscdevice runner = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "cpb-runner",
	.fops = &runner_operations,
	.mode = 0600,
};
module_misc_device(runner);

MODULE_DESCRIPTION("cpb's runner inside the kernel's crypto API");
MODULE_LICENSE("GPL");
