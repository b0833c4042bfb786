// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a run needs: the driver, keys, buffers and requests; its results; and
 * the end of it, which never frees what an engine may still write to.
 */
#include <linux/delay.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include "internal.h"

/* A run takes at most this share of the machine's memory. */
#define SHARE 4

int cpb_fail(struct cpb_run *run, int error, const char *words)
{
	strscpy(run->words, words, sizeof(run->words));
	return error;
}

static void completed(struct crypto_async_request *request, int error)
{
	struct job *job = request->data;

	if (error == -EINPROGRESS) {
		struct work *work = job->work;
		unsigned long flags;

		spin_lock_irqsave(&work->waiters.lock, flags);
		atomic_dec(&work->backlogged);
		wake_up_locked(&work->waiters);
		spin_unlock_irqrestore(&work->waiters.lock, flags);
		return;
	}
	loop_completed(job, error);
}

static int check_input(struct cpb_run *run)
{
	bool hash = run->kind == CPB_AHASH;

	if (run->version != CPB_RUNNER_VERSION)
		return cpb_fail(run, -EINVAL,
				"cpb and this module are of different versions");
	if (run->kind != CPB_SKCIPHER && run->kind != CPB_AHASH)
		return cpb_fail(run, -EINVAL, "no such kind of algorithm");
	if (hash ? run->operation != CPB_DIGEST :
		   run->operation != CPB_ENCRYPT &&
			   run->operation != CPB_DECRYPT)
		return cpb_fail(run, -EINVAL, "no such operation");
	if (run->flags & ~CPB_FLAGS || run->reserved)
		return cpb_fail(run, -EINVAL, "unknown flags");
	if (strnlen(run->driver, sizeof(run->driver)) == sizeof(run->driver))
		return cpb_fail(run, -EINVAL, "the driver's name does not end");
	if (!run->message_len || run->message_len > CPB_MAX_MESSAGE)
		return cpb_fail(run, -EINVAL,
				"a message has 1 to 65536 bytes here");
	if (run->key_len > CPB_MAX_KEY || run->iv_len > CPB_MAX_IV)
		return cpb_fail(run, -EINVAL, "the key or the IV is too long");
	if (!run->output_len || run->output_len > CPB_MAX_MESSAGE)
		return cpb_fail(run, -EINVAL, "no such length of an output");
	if (!run->jobs || run->jobs > CPB_MAX_JOBS)
		return cpb_fail(run, -EINVAL, "a run has 1 to 50000 messages");
	if (!run->depth || run->depth > run->jobs)
		return cpb_fail(run, -EINVAL,
				"the depth is 1 to the number of messages");
	if (!run->batches || run->batches > CPB_MAX_BATCHES)
		return cpb_fail(run, -EINVAL, "a run has 1 to 4096 batches");
	if (max3(run->warmup_ns, run->batch_ns, run->limit_ns) >
	    CPB_MAX_SECONDS * (u64)NSEC_PER_SEC)
		return cpb_fail(run, -EINVAL, "a run takes 600 s at most");
	return 0;
}

static int open_driver(struct work *work, struct cpb_run *run)
{
	u8 key[CPB_MAX_KEY];
	const char *name;
	int error = 0;

	if (copy_from_user(key, u64_to_user_ptr(run->key), run->key_len))
		return -EFAULT;
	if (run->kind == CPB_SKCIPHER) {
		struct crypto_skcipher *tfm =
			crypto_alloc_skcipher(run->driver, 0, 0);

		if (IS_ERR(tfm))
			return cpb_fail(run, PTR_ERR(tfm),
					"the kernel has no such driver");
		work->cipher = tfm;
		name = crypto_skcipher_driver_name(tfm);
		if (crypto_skcipher_ivsize(tfm) != run->iv_len)
			return cpb_fail(run, -EINVAL,
					"the driver's IV has another length");
		if (run->output_len != run->message_len)
			return cpb_fail(run, -EINVAL,
					"a cipher's output is as long as its input");
		if (run->key_len)
			error = crypto_skcipher_setkey(tfm, key, run->key_len);
	} else {
		struct crypto_ahash *tfm = crypto_alloc_ahash(run->driver, 0, 0);

		if (IS_ERR(tfm))
			return cpb_fail(run, PTR_ERR(tfm),
					"the kernel has no such driver");
		work->hash = tfm;
		name = crypto_hash_alg_common(tfm)->base.cra_driver_name;
		if (crypto_ahash_digestsize(tfm) != run->output_len)
			return cpb_fail(run, -EINVAL,
					"the driver's digest has another length");
		if (run->key_len)
			error = crypto_ahash_setkey(tfm, key, run->key_len);
	}
	memzero_explicit(key, sizeof(key));
	strscpy(run->name, name, sizeof(run->name));
	if (strcmp(run->name, run->driver))
		return cpb_fail(run, -ENOENT,
				"the kernel gave another driver than was asked for");
	return error ? cpb_fail(run, error, "the driver refuses the key") : 0;
}

static int open_job(struct work *work, struct cpb_run *run, struct job *job,
		    u32 number)
{
	const u32 may = CRYPTO_TFM_REQ_MAY_BACKLOG | CRYPTO_TFM_REQ_MAY_SLEEP;
	u64 message = run->messages + (u64)number * run->message_len;
	u64 iv = run->ivs + (u64)number * run->iv_len;

	job->work = work;
	job->in = alloc_pages(GFP_KERNEL | __GFP_ZERO | __GFP_NOWARN, work->order);
	job->out = alloc_pages(GFP_KERNEL | __GFP_ZERO | __GFP_NOWARN, work->order);
	if (run->kind == CPB_SKCIPHER)
		job->cipher = skcipher_request_alloc(work->cipher, GFP_KERNEL);
	else
		job->hash = ahash_request_alloc(work->hash, GFP_KERNEL);
	if (!job->in || !job->out || !job->any)
		return cpb_fail(run, -ENOMEM,
				"there is not enough memory for the messages");
	if (copy_from_user(page_address(job->in), u64_to_user_ptr(message),
			   run->message_len) ||
	    copy_from_user(job->first_iv, u64_to_user_ptr(iv), run->iv_len))
		return -EFAULT;
	sg_init_one(&job->src, page_address(job->in), run->message_len);
	sg_init_one(&job->dst, page_address(job->out), run->output_len);
	if (run->kind == CPB_SKCIPHER)
		skcipher_request_set_callback(job->cipher, may, completed, job);
	else
		ahash_request_set_callback(job->hash, may, completed, job);
	return 0;
}

int work_open(struct work *work, struct cpb_run *run)
{
	struct sysinfo memory;
	u64 needs;
	u32 i;
	int error = check_input(run);

	if (error)
		return error;
	work->run = run;
	work->order = get_order(max(run->message_len, run->output_len));
	init_waitqueue_head(&work->waiters);
	si_meminfo(&memory);
	needs = (u64)run->jobs << (work->order + 1 + PAGE_SHIFT);
	if (needs > ((u64)memory.totalram * memory.mem_unit) / SHARE)
		return cpb_fail(run, -ENOMEM,
				"the messages take more than a quarter of the memory");
	error = open_driver(work, run);
	if (error)
		return error;
	work->jobs = vzalloc(array_size(run->jobs, sizeof(*work->jobs)));
	if (run->histogram)
		work->histogram = vzalloc(CPB_BUCKETS * sizeof(u32));
	if (!work->jobs || (run->histogram && !work->histogram))
		return cpb_fail(run, -ENOMEM, "there is not enough memory");
	for (i = 0; i < run->jobs; i++) {
		work->count = i + 1;
		error = open_job(work, run, &work->jobs[i], i);
		if (error)
			return error;
		if (fatal_signal_pending(current))
			return -EINTR;
		cond_resched();
	}
	return 0;
}

int work_results(struct work *work, struct cpb_run *run)
{
	u32 i;

	for (i = 0; i < run->jobs; i++) {
		u64 output = run->outputs + (u64)i * run->output_len;

		if (copy_to_user(u64_to_user_ptr(output),
				 page_address(work->jobs[i].out), run->output_len))
			return -EFAULT;
		cond_resched();
	}
	if (work->histogram &&
	    copy_to_user(u64_to_user_ptr(run->histogram), work->histogram,
			 CPB_BUCKETS * sizeof(u32)))
		return -EFAULT;
	return 0;
}

/* Waits until no callback can come any more. False if some are still to come. */
bool work_idle(struct work *work)
{
	unsigned int tries;

	for (tries = 0; tries < 1000; tries++) {
		if (!atomic_read(&work->in_flight)) {
			/* The last callback has left its critical section. */
			spin_lock_irq(&work->waiters.lock);
			spin_unlock_irq(&work->waiters.lock);
			return true;
		}
		msleep(10);
	}
	return false;
}

void work_close(struct work *work)
{
	const struct cpb_run *run = work->run;
	u32 i;

	for (i = 0; i < work->count; i++) {
		struct job *job = &work->jobs[i];

		if (run->kind == CPB_SKCIPHER)
			skcipher_request_free(job->cipher);
		else
			ahash_request_free(job->hash);
		if (job->in)
			__free_pages(job->in, work->order);
		if (job->out)
			__free_pages(job->out, work->order);
		cond_resched();
	}
	vfree(work->jobs);
	vfree(work->histogram);
	if (run && run->kind == CPB_SKCIPHER && work->cipher)
		crypto_free_skcipher(work->cipher);
	else if (run && run->kind == CPB_AHASH && work->hash)
		crypto_free_ahash(work->hash);
}
