// SPDX-License-Identifier: GPL-2.0-only
/*
 * The timed loop. Jobs take turns. A batch sends a number of operations, with
 * at most `depth` of them in flight, and ends when the last has completed.
 */
#include <linux/ktime.h>
#include <linux/log2.h>
#include <linux/sched/signal.h>
#include <linux/uaccess.h>

#include "internal.h"

/* An engine that is silent for so long does not answer any more. */
#define PATIENCE (10 * HZ)
/* Operations of a batch that nobody asked for. */
#define MOST_OPERATIONS (1U << 24)

static void take_time(struct job *job)
{
	u64 ns = ktime_get_ns() - job->submitted;
	unsigned int octave, bucket = ns;

	if (ns >= 32) {
		octave = ilog2(ns);
		bucket = (octave - 4) * 32 + (ns >> (octave - 5)) - 32;
	}
	job->work->histogram[min_t(unsigned int, bucket, CPB_BUCKETS - 1)]++;
	if (ns > job->work->latency_max)
		job->work->latency_max = ns;
}

/*
 * A job is done. This may run in an interrupt, while the loop sends another
 * job. Nothing may touch the work after in_flight has become 0: wake_up is
 * therefore called under the queue's own lock, which work_idle takes last.
 */
void loop_completed(struct job *job, int error)
{
	struct work *work = job->work;
	bool last = work->run->flags & CPB_NOTICE_LAST;
	unsigned long flags;
	int left;

	if (work->timing && !error)
		take_time(job);
	if (error && !work->error)
		work->error = error;
	spin_lock_irqsave(&work->waiters.lock, flags);
	left = atomic_dec_return(&work->in_flight);
	if (!last || left == 0)
		wake_up_locked(&work->waiters);
	spin_unlock_irqrestore(&work->waiters.lock, flags);
}

/* Whether the loop may send another job. */
static bool has_room(struct work *work, unsigned int depth)
{
	return atomic_read(&work->in_flight) < depth &&
	       !atomic_read(&work->backlogged);
}

/* Waits, for a bounded time, until at most `most` jobs are in flight. */
static int wait_for(struct work *work, unsigned int most)
{
	long left = wait_event_interruptible_timeout(
		work->waiters,
		atomic_read(&work->in_flight) <= most &&
			!atomic_read(&work->backlogged),
		PATIENCE);

	if (left < 0)
		return -EINTR;
	return left ? 0 : -ETIMEDOUT;
}

static void build(struct job *job)
{
	const struct cpb_run *run = job->work->run;

	memcpy(job->iv, job->first_iv, run->iv_len);
	if (run->kind == CPB_SKCIPHER)
		skcipher_request_set_crypt(job->cipher, &job->src, &job->dst,
					   run->message_len, job->iv);
	else
		ahash_request_set_crypt(job->hash, &job->src,
					page_address(job->out),
					run->message_len);
}

/* Sends a job. 0: it is done or in flight; -ENOSPC: there is no room for it. */
static int submit(struct job *job)
{
	struct work *work = job->work;
	int error;

	if (work->timing)
		job->submitted = ktime_get_ns();
	atomic_inc(&work->in_flight);
	switch (work->run->operation) {
	case CPB_ENCRYPT:
		error = crypto_skcipher_encrypt(job->cipher);
		break;
	case CPB_DECRYPT:
		error = crypto_skcipher_decrypt(job->cipher);
		break;
	default:
		error = crypto_ahash_digest(job->hash);
	}
	switch (error) {
	case -EINPROGRESS:
		return 0;
	case -EBUSY:
		/* Accepted; its callback says -EINPROGRESS when it is queued. */
		atomic_inc(&work->backlogged);
		return 0;
	case -ENOSPC:
		atomic_dec(&work->in_flight);
		return error;
	default:
		/* It is done, and its callback will not be called. */
		loop_completed(job, error);
		return error;
	}
}

/*
 * Sends `count` operations, beginning with the job at *next, and waits for the
 * last. With build-before all of them are built by the caller.
 */
static int batch(struct work *work, u32 count, u32 *next)
{
	const struct cpb_run *run = work->run;
	bool in_loop = !(run->flags & CPB_BUILD_BEFORE);
	unsigned int wait_until =
		run->flags & CPB_NOTICE_LAST ? 0 : run->depth - 1;
	u32 sent = 0;
	int error;

	while (sent < count) {
		struct job *job = &work->jobs[*next];

		if (!has_room(work, run->depth)) {
			error = wait_for(work, wait_until);
			if (error)
				return error;
			continue;
		}
		if (in_loop)
			build(job);
		error = submit(job);
		if (error == -ENOSPC && atomic_read(&work->in_flight)) {
			/* The queue is shorter than the depth. */
			unsigned int now = atomic_read(&work->in_flight);

			error = wait_for(work, wait_until && now ? now - 1 : 0);
			if (error)
				return error;
			continue;
		}
		if (error)
			return error;
		sent++;
		*next = *next + 1 == run->jobs ? 0 : *next + 1;
	}
	error = wait_for(work, 0);
	return error ? error : work->error;
}

/* A batch between two readings of the clock. */
static int timed(struct work *work, u32 count, u32 *next, u64 *ns)
{
	u64 begin;
	int error;
	u32 i;

	if (work->run->flags & CPB_BUILD_BEFORE)
		for (i = 0; i < work->run->jobs; i++)
			build(&work->jobs[i]);
	cond_resched();
	begin = ktime_get_ns();
	error = batch(work, count, next);
	*ns = ktime_get_ns() - begin;
	return error;
}

/* The operations of a batch: each job once at most if they are built before. */
static u32 most_operations(const struct cpb_run *run)
{
	return run->flags & CPB_BUILD_BEFORE ? run->jobs : MOST_OPERATIONS;
}

/* Warms up, and finds how many operations take batch_ns. */
static int warm_up(struct work *work, struct cpb_run *run, u32 *next)
{
	u32 most = most_operations(run), count = run->iterations ?: 1;
	u64 end = ktime_get_ns() + run->warmup_ns, ns;
	int error;

	if (count > most)
		return cpb_fail(run, -EINVAL,
				"a batch has more operations than jobs are built");
	for (;;) {
		error = timed(work, count, next, &ns);
		if (error)
			return error;
		run->operations += count;
		if (!run->iterations && ns < run->batch_ns && count < most) {
			/* Grows by what is missing, at most tenfold. */
			u64 factor = div64_u64(10 * run->batch_ns, ns | 1) + 1;

			count = min_t(u64, count * min_t(u64, factor, 100) / 10 + 1,
				      most);
		} else if (ktime_get_ns() >= end) {
			break;
		}
	}
	run->ran = count;
	return 0;
}

int loop_run(struct work *work, struct cpb_run *run)
{
	u64 __user *samples = u64_to_user_ptr(run->samples);
	u64 begin, ns;
	u32 next = 0, i;
	int error = warm_up(work, run, &next);

	begin = ktime_get_ns();
	for (i = 0; !error && i < run->batches; i++) {
		error = timed(work, run->ran, &next, &ns);
		if (error)
			break;
		if (put_user(ns, samples + i))
			return -EFAULT;
		run->taken = i + 1;
		run->operations += run->ran;
		if (ktime_get_ns() - begin >= run->limit_ns)
			break;
	}
	/* Times of operations at this depth, in batches that are not kept. */
	work->timing = run->latencies && work->histogram;
	for (i = 0; !error && work->timing && i < run->latencies;
	     i += run->ran) {
		error = timed(work, run->ran, &next, &ns);
		run->operations += run->ran;
		if (ktime_get_ns() - begin >= 2 * run->limit_ns)
			break;
	}
	work->timing = false;
	/* Each job once, so that each output is of this run. */
	if (!error)
		for (i = 0; i < run->jobs; i += run->ran) {
			error = timed(work, run->ran, &next, &ns);
			if (error)
				break;
			run->operations += run->ran;
		}
	run->latency_max = work->latency_max;
	if (error == -ETIMEDOUT)
		return cpb_fail(run, error, "the engine does not answer");
	if (error && error != -EINTR && !run->words[0])
		return cpb_fail(run, error, "the driver failed an operation");
	return error;
}
