// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a run needs: the driver, keys, buffers and requests; its results; and
 * the end of it, which never frees what an engine may still write to.
 */
#include <linux/delay.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/version.h>

#include "internal.h"

/* A run takes at most this share of the machine's memory. */
#define SHARE 4

/* The least size of a buffer, so that no two share a line of a cache. */
#define LEAST_BUFFER 128

int cpb_fail(struct cpb_run *run, int error, const char *words)
{
	strscpy(run->words, words, sizeof(run->words));
	return error;
}

static void notify(struct job *job, int error)
{
	if (error == -EINPROGRESS)
		loop_left_backlog(job->work);
	else
		loop_completed(job, error);
}

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 3, 0)
static void completed(struct crypto_async_request *request, int error)
{
	notify(request->data, error);
}
#else
static void completed(void *job, int error)
{
	notify(job, error);
}
#endif

static bool is_hash(const struct cpb_run *run)
{
	return run->kind == CPB_AHASH || run->kind == CPB_SHASH;
}

/* Bytes of a job's input: associated data, message, and the tag to verify. */
static u32 input_len(const struct cpb_run *run)
{
	return run->associated_len + run->message_len +
	       (run->operation == CPB_DECRYPT ? run->tag_len : 0);
}

/* Bytes of a buffer that a job writes to: associated data come first there, too. */
static u32 written_len(const struct cpb_run *run)
{
	return run->associated_len + run->output_len;
}

static int check_lengths(struct cpb_run *run)
{
	bool adds_tag = run->operation == CPB_ENCRYPT;

	if (run->message_len > CPB_MAX_MESSAGE)
		return cpb_fail(run, -EINVAL, "a message has at most 65536 bytes");
	if (run->kind == CPB_SKCIPHER && !run->message_len)
		return cpb_fail(run, -EINVAL,
				"a cipher's message has at least 1 byte");
	if (run->key_len > CPB_MAX_KEY || run->iv_len > CPB_MAX_IV ||
	    run->tag_len > CPB_MAX_TAG ||
	    run->associated_len > CPB_MAX_ASSOCIATED)
		return cpb_fail(run, -EINVAL,
				"the key, IV, tag or associated data is too long");
	if (run->kind != CPB_AEAD && (run->associated_len || run->tag_len))
		return cpb_fail(run, -EINVAL,
				"only an AEAD has associated data and a tag");
	if (is_hash(run)) {
		if (!run->output_len || run->output_len > 128)
			return cpb_fail(run, -EINVAL,
					"no digest has this length");
	} else if (run->output_len !=
		   run->message_len + (adds_tag ? run->tag_len : 0)) {
		return cpb_fail(run, -EINVAL,
				"the output is as long as the message and its tag");
	}
	return 0;
}

static int check_input(struct cpb_run *run)
{
	if (run->version != CPB_RUNNER_VERSION)
		return cpb_fail(run, -EINVAL,
				"cpb and this module are of different versions");
	if (run->kind < CPB_SKCIPHER || run->kind > CPB_AEAD)
		return cpb_fail(run, -EINVAL, "no such kind of algorithm");
	if (is_hash(run) ? run->operation != CPB_DIGEST :
			   run->operation != CPB_ENCRYPT &&
				   run->operation != CPB_DECRYPT)
		return cpb_fail(run, -EINVAL, "no such operation");
	if (run->flags & ~CPB_FLAGS ||
	    (is_hash(run) && run->flags & CPB_IN_PLACE))
		return cpb_fail(run, -EINVAL, "no such flags");
	if (strnlen(run->driver, sizeof(run->driver)) == sizeof(run->driver))
		return cpb_fail(run, -EINVAL, "the driver's name does not end");
	if (!run->jobs || run->jobs > CPB_MAX_JOBS)
		return cpb_fail(run, -EINVAL, "a run has 1 to 50000 messages");
	if (!run->depth || run->depth > run->jobs)
		return cpb_fail(run, -EINVAL,
				"the depth is 1 to the number of messages");
	if (run->key_len ? run->keys != 1 && run->keys != run->jobs : run->keys)
		return cpb_fail(run, -EINVAL,
				"there is one key, or one for each message");
	if (run->keys > CPB_MAX_KEYS)
		return cpb_fail(run, -EINVAL, "a run has at most 4096 keys");
	if (run->flags & CPB_KEY_EACH && (run->depth > 1 || !run->key_len))
		return cpb_fail(run, -EINVAL,
				"a key cannot be set while requests are in flight");
	if (!run->batches || run->batches > CPB_MAX_BATCHES)
		return cpb_fail(run, -EINVAL, "a run has 1 to 4096 batches");
	if (run->iterations > CPB_MAX_OPERATIONS ||
	    run->latencies > CPB_MAX_LATENCIES)
		return cpb_fail(run, -EINVAL, "too many operations");
	if (max(max(run->warmup_ns, run->batch_ns),
		max(run->limit_ns, run->counted_ns)) >
	    CPB_MAX_SECONDS * (u64)NSEC_PER_SEC)
		return cpb_fail(run, -EINVAL, "each time is 60 s at most");
	return check_lengths(run);
}

/* What kmalloc takes for a buffer. */
static u64 buffer_len(u32 length)
{
	return roundup_pow_of_two(max_t(u32, length, LEAST_BUFFER));
}

static int check_memory(struct cpb_run *run)
{
	bool in_place = run->flags & CPB_IN_PLACE;
	u64 each = in_place ?
			   buffer_len(max(input_len(run), written_len(run))) :
			   buffer_len(input_len(run)) +
				   buffer_len(written_len(run));
	struct sysinfo memory;

	if (run->flags & CPB_CHECK_EACH)
		each += run->output_len;
	/* A job and its request, which drivers extend by their own needs. */
	each += sizeof(struct job) + 1024;
	si_meminfo(&memory);
	if (each * run->jobs > (u64)memory.totalram * memory.mem_unit / SHARE)
		return cpb_fail(run, -ENOMEM,
				"the messages take more than a quarter of the memory");
	return 0;
}

static const char *driver_name(const struct work *work)
{
	const union transform *first = &work->transforms[0];

	switch (work->run->kind) {
	case CPB_SKCIPHER:
		return crypto_tfm_alg_driver_name(
			crypto_skcipher_tfm(first->cipher));
	case CPB_AHASH:
		return crypto_tfm_alg_driver_name(crypto_ahash_tfm(first->ahash));
	case CPB_SHASH:
		return crypto_tfm_alg_driver_name(crypto_shash_tfm(first->shash));
	default:
		return crypto_tfm_alg_driver_name(crypto_aead_tfm(first->aead));
	}
}

int work_set_key(struct work *work, u32 transform, u32 key)
{
	const union transform *one = &work->transforms[transform];
	u32 length = work->run->key_len;
	const u8 *bytes = work->keys + (size_t)key * length;

	switch (work->run->kind) {
	case CPB_SKCIPHER:
		return crypto_skcipher_setkey(one->cipher, bytes, length);
	case CPB_AHASH:
		return crypto_ahash_setkey(one->ahash, bytes, length);
	case CPB_SHASH:
		return crypto_shash_setkey(one->shash, bytes, length);
	default:
		return crypto_aead_setkey(one->aead, bytes, length);
	}
}

/* Opens one transform, and says what is wrong with its lengths. */
static int open_transform(struct cpb_run *run, union transform *one)
{
	unsigned int iv = run->iv_len, digest = run->output_len;

	switch (run->kind) {
	case CPB_SKCIPHER:
		one->cipher = crypto_alloc_skcipher(run->driver, 0, 0);
		if (!IS_ERR(one->any))
			iv = crypto_skcipher_ivsize(one->cipher);
		break;
	case CPB_AHASH:
		one->ahash = crypto_alloc_ahash(run->driver, 0, 0);
		if (!IS_ERR(one->any))
			digest = crypto_ahash_digestsize(one->ahash);
		break;
	case CPB_SHASH:
		one->shash = crypto_alloc_shash(run->driver, 0, 0);
		if (!IS_ERR(one->any))
			digest = crypto_shash_digestsize(one->shash);
		break;
	default:
		one->aead = crypto_alloc_aead(run->driver, 0, 0);
		if (!IS_ERR(one->any))
			iv = crypto_aead_ivsize(one->aead);
	}
	if (IS_ERR(one->any)) {
		int error = PTR_ERR(one->any);

		one->any = NULL;
		return cpb_fail(run, error,
				error == -ENOENT ?
					"the kernel has no such driver of this kind" :
					"the kernel cannot set up this driver");
	}
	if (iv != run->iv_len)
		return cpb_fail(run, -EINVAL,
				"the driver's IV has another length");
	if (digest != run->output_len)
		return cpb_fail(run, -EINVAL,
				"the driver's digest has another length");
	if (run->kind == CPB_AEAD &&
	    crypto_aead_setauthsize(one->aead, run->tag_len))
		return cpb_fail(run, -EINVAL,
				"the driver's tag has another length");
	return 0;
}

/* One transform with its key; or one for each key that does not change later. */
static int open_transforms(struct work *work, struct cpb_run *run)
{
	u32 count = run->flags & CPB_KEY_EACH ? 1 : max_t(u32, run->keys, 1), i;
	size_t bytes = (size_t)run->keys * run->key_len;
	int error;

	work->transforms = kvcalloc(count, sizeof(*work->transforms),
				    GFP_KERNEL);
	work->keys = kvzalloc(max_t(size_t, bytes, 1), GFP_KERNEL);
	if (!work->transforms || !work->keys)
		return cpb_fail(run, -ENOMEM, "there is not enough memory");
	if (copy_from_user(work->keys, u64_to_user_ptr(run->key), bytes))
		return cpb_fail(run, -EFAULT, "the keys' address is not valid");
	for (i = 0; i < count; i++) {
		error = open_transform(run, &work->transforms[i]);
		if (error)
			return error;
		if (!i) {
			strscpy(run->name, driver_name(work), sizeof(run->name));
			if (strcmp(run->name, run->driver))
				return cpb_fail(run, -ENOENT,
						"the kernel gave another driver than was asked for");
		}
		error = run->key_len ? work_set_key(work, i, i) : 0;
		if (error)
			return cpb_fail(run, error, "the driver refuses the key");
		if (fatal_signal_pending(current))
			return -EINTR;
		cond_resched();
	}
	return 0;
}

/* Allocates the request, which tells the driver whom to call. */
static int open_request(struct work *work, struct job *job)
{
	const u32 may = CRYPTO_TFM_REQ_MAY_BACKLOG | CRYPTO_TFM_REQ_MAY_SLEEP;
	const struct cpb_run *run = work->run;
	bool own = run->keys > 1 && !(run->flags & CPB_KEY_EACH);
	const union transform *one = &work->transforms[own ? job->number : 0];

	switch (run->kind) {
	case CPB_SKCIPHER:
		job->cipher = skcipher_request_alloc(one->cipher, GFP_KERNEL);
		if (job->request)
			skcipher_request_set_callback(job->cipher, may,
						      completed, job);
		break;
	case CPB_AHASH:
		job->ahash = ahash_request_alloc(one->ahash, GFP_KERNEL);
		if (job->request)
			ahash_request_set_callback(job->ahash, may, completed,
						   job);
		break;
	case CPB_SHASH:
		job->shash = kzalloc(sizeof(*job->shash) +
					     crypto_shash_descsize(one->shash),
				     GFP_KERNEL);
		if (job->request)
			job->shash->tfm = one->shash;
		break;
	default:
		job->aead = aead_request_alloc(one->aead, GFP_KERNEL);
		if (job->request)
			aead_request_set_callback(job->aead, may, completed,
						  job);
	}
	return job->request ? 0 : -ENOMEM;
}

static void *buffer(u32 length)
{
	return kzalloc(buffer_len(length), GFP_KERNEL | __GFP_NOWARN);
}

static int open_job(struct work *work, struct cpb_run *run, u32 number)
{
	u32 read = input_len(run), written = written_len(run);
	struct job *job = kzalloc(sizeof(*job), GFP_KERNEL);
	u64 input = run->inputs + (u64)number * read;
	u64 iv = run->ivs + (u64)number * run->iv_len;

	if (!job)
		return -ENOMEM;
	work->jobs[number] = job;
	work->count = number + 1;
	job->work = work;
	job->number = number;
	if (run->flags & CPB_IN_PLACE) {
		job->in = buffer(max(read, written));
		job->out = job->in;
	} else {
		job->in = buffer(read);
		job->out = buffer(written);
	}
	if (!job->in || !job->out || open_request(work, job))
		return -ENOMEM;
	if (copy_from_user(job->in, u64_to_user_ptr(input), read) ||
	    copy_from_user(job->first_iv, u64_to_user_ptr(iv), run->iv_len))
		return -EFAULT;
	/* Buffers are at least a line long, so an empty list needs no care. */
	sg_init_one(&job->src, job->in,
		    run->flags & CPB_IN_PLACE ? max(read, written) : read ?: 1);
	if (run->flags & CPB_IN_PLACE)
		job->dst = job->src;
	else
		sg_init_one(&job->dst, job->out, written);
	return 0;
}

static int open_jobs(struct work *work, struct cpb_run *run)
{
	u32 i;

	work->jobs = kvcalloc(run->jobs, sizeof(*work->jobs), GFP_KERNEL);
	if (!work->jobs)
		return -ENOMEM;
	for (i = 0; i < run->jobs; i++) {
		int error = open_job(work, run, i);

		if (error)
			return error;
		if (fatal_signal_pending(current))
			return -EINTR;
		cond_resched();
	}
	return 0;
}

static int open_tables(struct work *work, struct cpb_run *run)
{
	size_t expected = (size_t)run->jobs * run->output_len;

	work->alone.counts = kvcalloc(CPB_BUCKETS, sizeof(u32), GFP_KERNEL);
	work->in_flight_times.counts = kvcalloc(CPB_BUCKETS, sizeof(u32),
						GFP_KERNEL);
	if (!work->alone.counts || !work->in_flight_times.counts)
		return -ENOMEM;
	if (!(run->flags & CPB_CHECK_EACH))
		return 0;
	work->expected = kvzalloc(expected, GFP_KERNEL);
	if (!work->expected)
		return -ENOMEM;
	return copy_from_user(work->expected, u64_to_user_ptr(run->expected),
			      expected) ? -EFAULT : 0;
}

int work_open(struct work *work, struct cpb_run *run)
{
	int error = check_input(run);

	work->run = run;
	init_waitqueue_head(&work->waiters);
	if (!error)
		error = check_memory(run);
	if (!error)
		error = open_transforms(work, run);
	if (!error)
		error = open_tables(work, run);
	if (!error)
		error = open_jobs(work, run);
	if (error == -ENOMEM && !run->words[0])
		cpb_fail(run, error, "there is not enough memory");
	if (error == -EFAULT && !run->words[0])
		cpb_fail(run, error, "an address is not valid");
	return error;
}

static bool copy_times(u64 address, const struct times *times)
{
	return !address || !copy_to_user(u64_to_user_ptr(address),
					 times->counts,
					 CPB_BUCKETS * sizeof(u32));
}

int work_results(struct work *work)
{
	struct cpb_run *run = work->run;
	u32 i;

	for (i = 0; i < run->jobs; i++) {
		u64 output = run->outputs + (u64)i * run->output_len;

		if (copy_to_user(u64_to_user_ptr(output),
				 work->jobs[i]->out + run->associated_len,
				 run->output_len))
			return cpb_fail(run, -EFAULT, "an address is not valid");
		cond_resched();
	}
	if (!copy_times(run->alone, &work->alone) ||
	    !copy_times(run->in_flight, &work->in_flight_times))
		return cpb_fail(run, -EFAULT, "an address is not valid");
	return 0;
}

/* Waits until no callback can come any more. False if some are still to come. */
bool work_idle(struct work *work)
{
	unsigned int tries;

	for (tries = 0; tries < 500; tries++) {
		if (!atomic_read(&work->in_flight)) {
			/* The last callback has left its critical section. */
			spin_lock_irq(&work->waiters.lock);
			spin_unlock_irq(&work->waiters.lock);
			return true;
		}
		msleep(20);
	}
	return false;
}

static void close_job(const struct cpb_run *run, struct job *job)
{
	if (run->kind == CPB_SKCIPHER && job->request)
		skcipher_request_free(job->cipher);
	else if (run->kind == CPB_AHASH && job->request)
		ahash_request_free(job->ahash);
	else if (run->kind == CPB_AEAD && job->request)
		aead_request_free(job->aead);
	else
		kfree_sensitive(job->request);
	if (job->out != job->in)
		kfree(job->out);
	kfree(job->in);
	kfree(job);
}

static void close_transform(const struct cpb_run *run, union transform *one)
{
	if (!one->any)
		return;
	if (run->kind == CPB_SKCIPHER)
		crypto_free_skcipher(one->cipher);
	else if (run->kind == CPB_AHASH)
		crypto_free_ahash(one->ahash);
	else if (run->kind == CPB_SHASH)
		crypto_free_shash(one->shash);
	else
		crypto_free_aead(one->aead);
}

void work_close(struct work *work)
{
	const struct cpb_run *run = work->run;
	u32 i, transforms = max_t(u32, run->keys, 1);

	if (run->flags & CPB_KEY_EACH)
		transforms = 1;
	for (i = 0; i < work->count; i++) {
		close_job(run, work->jobs[i]);
		cond_resched();
	}
	for (i = 0; work->transforms && i < transforms; i++)
		close_transform(run, &work->transforms[i]);
	kvfree(work->jobs);
	kvfree(work->transforms);
	if (work->keys)
		memzero_explicit(work->keys, (size_t)run->keys * run->key_len);
	kvfree(work->keys);
	kvfree(work->expected);
	kvfree(work->alone.counts);
	kvfree(work->in_flight_times.counts);
}
