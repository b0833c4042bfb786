// SPDX-License-Identifier: GPL-2.0-only
/*
 * /dev/cpb-runner: runs a workload in the kernel's crypto API on a driver that
 * is named, and times it. It is for root alone, one opener at a time, on a
 * machine that is there to be measured.
 */
#include <linux/capability.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "internal.h"

static atomic_t opened = ATOMIC_INIT(0);

/* Threads may share the one open file. */
static DEFINE_MUTEX(running);

/*
 * A run whose engine still owns memory of it. Nothing else is run until the
 * engine has answered, and this code stays loaded for its callbacks.
 */
static struct work *lost;

static int runner_open(struct inode *inode, struct file *file)
{
	if (!capable(CAP_SYS_ADMIN))
		return -EPERM;
	return atomic_cmpxchg(&opened, 0, 1) ? -EBUSY : 0;
}

static int runner_release(struct inode *inode, struct file *file)
{
	atomic_set(&opened, 0);
	return 0;
}

static void finish(struct work *work)
{
	work_close(work);
	kfree(work->run);
	kfree(work);
}

/* Frees what was lost, if the engine has answered meanwhile. */
static bool found_again(void)
{
	if (!lost)
		return true;
	if (atomic_read(&lost->in_flight) || !work_idle(lost))
		return false;
	finish(lost);
	lost = NULL;
	module_put(THIS_MODULE);
	return true;
}

/* Runs what `run` says. Returns the work, which owns `run` from here on. */
static struct work *run_once(struct cpb_run *run, int *error)
{
	struct work *work = kzalloc(sizeof(*work), GFP_KERNEL);

	if (!work) {
		*error = -ENOMEM;
		return NULL;
	}
	*error = work_open(work, run);
	if (!*error)
		*error = loop_run(work);
	if (!work_idle(work)) {
		lost = work;
		__module_get(THIS_MODULE);
		*error = cpb_fail(run, -EIO,
				  "the engine keeps requests: their memory is lost, and nothing is run until it answers");
	} else if (!*error) {
		*error = work_results(work);
	}
	return work;
}

static long locked_ioctl(void __user *user)
{
	struct cpb_run *run = memdup_user(user, sizeof(*run));
	struct work *work = NULL;
	int error;

	if (IS_ERR(run))
		return PTR_ERR(run);
	run->taken = 0;
	run->ran = 0;
	run->operations = 0;
	run->alone_max = 0;
	run->in_flight_max = 0;
	run->backlogged = 0;
	run->synchronous = 0;
	memset(&run->steps, 0, sizeof(run->steps));
	memset(run->name, 0, sizeof(run->name));
	memset(run->words, 0, sizeof(run->words));
	if (found_again())
		work = run_once(run, &error);
	else
		error = cpb_fail(run, -EIO,
				 "an engine still keeps requests of an earlier run");
	if (copy_to_user(user, run, sizeof(*run)))
		error = -EFAULT;
	if (!work)
		kfree(run);
	else if (work != lost)
		finish(work);
	return error;
}

static long runner_ioctl(struct file *file, unsigned int command,
			 unsigned long argument)
{
	long result;

	if (command != CPB_RUN)
		return -ENOTTY;
	if (mutex_lock_interruptible(&running))
		return -EINTR;
	result = locked_ioctl((void __user *)argument);
	mutex_unlock(&running);
	return result;
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
