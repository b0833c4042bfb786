// SPDX-License-Identifier: GPL-2.0-only
/*
 * The timed loop. Jobs take turns. A batch sends a number of operations, with
 * at most `depth` of them in flight, and ends when the last has completed.
 */
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/log2.h>
#include <linux/sched/signal.h>
#include <linux/timex.h>
#include <linux/uaccess.h>

#include "internal.h"

/* An engine that is silent for so long does not answer any more. */
#define PATIENCE (10 * HZ)

static void add_time(struct times *times, u64 ns)
{
	unsigned int octave, bucket = CPB_BUCKETS - 1;

	if (!times->counts)
		return;
	if (ns < 32) {
		bucket = ns;
	} else if (ns >> 32 == 0) {
		octave = ilog2(ns);
		bucket = (octave - 4) * 32 + (unsigned int)(ns >> (octave - 5)) -
			 32;
	}
	times->counts[min_t(unsigned int, bucket, CPB_BUCKETS - 1)]++;
	times->max = max(times->max, ns);
}

/*
 * A job is done. This may run in an interrupt, while the loop sends another
 * job. Nothing may touch the work after in_flight has become 0, except this
 * lock's end: work_idle takes the lock last.
 */
void loop_completed(struct job *job, int error)
{
	struct work *work = job->work;
	struct cpb_run *run = work->run;
	u64 now = work->timing ? ktime_get_raw_ns() : 0;
	unsigned long flags;
	int left;

	if (!error && work->expected) {
		const u8 *right = work->expected +
				  (size_t)job->number * run->output_len;

		if (memcmp(job->out + run->associated_len, right,
			   run->output_len))
			error = -EILSEQ;
	}
	spin_lock_irqsave(&work->waiters.lock, flags);
	if (work->timing && !error)
		add_time(&work->in_flight_times, now - job->submitted);
	if (error && !work->error)
		work->error = error;
	left = atomic_dec_return(&work->in_flight);
	if (!(run->flags & CPB_NOTICE_LAST) || left == 0)
		wake_up_locked(&work->waiters);
	spin_unlock_irqrestore(&work->waiters.lock, flags);
}

/* A request that was accepted has got its place in the engine's queue. */
void loop_left_backlog(struct work *work)
{
	unsigned long flags;

	spin_lock_irqsave(&work->waiters.lock, flags);
	atomic_dec(&work->backlogged);
	wake_up_locked(&work->waiters);
	spin_unlock_irqrestore(&work->waiters.lock, flags);
}

/*
 * Waits, for a bounded time, until at most `most` jobs are in flight and none
 * is backlogged. (The backlog is below 0 for a moment if the callback comes
 * before the function that announces it returns.)
 */
static int wait_for(struct work *work, int most)
{
	long left = wait_event_interruptible_timeout(
		work->waiters,
		atomic_read(&work->in_flight) <= most &&
			atomic_read(&work->backlogged) <= 0,
		PATIENCE);

	if (left < 0)
		return -EINTR;
	return left ? 0 : -ETIMEDOUT;
}

static int build(struct job *job)
{
	struct work *work = job->work;
	const struct cpb_run *run = work->run;
	bool decrypts = run->operation == CPB_DECRYPT;

	memcpy(job->iv, job->first_iv, run->iv_len);
	switch (run->kind) {
	case CPB_SKCIPHER:
		skcipher_request_set_crypt(job->cipher, &job->src, &job->dst,
					   run->message_len, job->iv);
		break;
	case CPB_AEAD:
		aead_request_set_ad(job->aead, run->associated_len);
		aead_request_set_crypt(job->aead, &job->src, &job->dst,
				       run->message_len +
					       (decrypts ? run->tag_len : 0),
				       job->iv);
		break;
	case CPB_AHASH:
		ahash_request_set_crypt(job->ahash, &job->src, job->out,
					run->message_len);
		break;
	}
	if (run->flags & CPB_KEY_EACH)
		return work_set_key(work, 0, run->keys > 1 ? job->number : 0);
	return 0;
}

static int send(struct job *job)
{
	const struct cpb_run *run = job->work->run;
	bool decrypts = run->operation == CPB_DECRYPT;

	switch (run->kind) {
	case CPB_SKCIPHER:
		return decrypts ? crypto_skcipher_decrypt(job->cipher) :
				  crypto_skcipher_encrypt(job->cipher);
	case CPB_AEAD:
		return decrypts ? crypto_aead_decrypt(job->aead) :
				  crypto_aead_encrypt(job->aead);
	case CPB_AHASH:
		return crypto_ahash_digest(job->ahash);
	default:
		return crypto_shash_digest(job->shash, job->in,
					   run->message_len, job->out);
	}
}

/* Sends a job. 0: it is done or in flight; -ENOSPC: there is no room for it. */
static int submit(struct job *job)
{
	struct work *work = job->work;
	int error;

	if (work->timing)
		job->submitted = ktime_get_raw_ns();
	atomic_inc(&work->in_flight);
	error = send(job);
	switch (error) {
	case -EINPROGRESS:
		return 0;
	case -EBUSY:
		/*
		 * The request may be backlogged, so this means that it was
		 * accepted: a callback with -EINPROGRESS says when it has got
		 * its place, and another one when it is done.
		 */
		atomic_inc(&work->backlogged);
		work->were_backlogged++;
		return 0;
	case -ENOSPC:
		atomic_dec(&work->in_flight);
		return error;
	default:
		/* It is done, and its callback will not be called. */
		work->synchronous++;
		loop_completed(job, error);
		return error;
	}
}

/*
 * Sends `count` operations, beginning with the job at *next, and waits for the
 * last. With build-before all of them have been built.
 */
static int batch(struct work *work, u32 count, u32 *next)
{
	const struct cpb_run *run = work->run;
	bool build_now = !(run->flags & CPB_BUILD_BEFORE);
	int room = run->flags & CPB_NOTICE_LAST ? 0 : work->depth - 1;
	u32 sent = 0;
	int error;

	while (sent < count) {
		struct job *job = work->jobs[*next];
		int now = atomic_read(&work->in_flight);

		/* A driver on the CPU never makes the loop wait. */
		cond_resched();
		if (signal_pending(current))
			return -EINTR;
		if (time_after(jiffies, work->deadline))
			return -ETIME;
		if (atomic_read(&work->backlogged) > 0)
			error = wait_for(work, INT_MAX);
		else if (now >= (int)work->depth)
			error = wait_for(work, room);
		else
			error = 1;
		if (error <= 0) {
			if (error)
				return error;
			continue;
		}
		if (build_now) {
			error = build(job);
			if (error)
				return error;
		}
		now = atomic_read(&work->in_flight);
		error = submit(job);
		if (error == -ENOSPC) {
			/* The queue is shorter than the depth. */
			if (!now)
				return -EPROTO;
			error = wait_for(work, room ? now - 1 : 0);
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
static int timed(struct work *work, u32 count, u32 *next,
		 struct cpb_sample *sample)
{
	struct cpb_run *run = work->run;
	cycles_t cycles;
	u64 begin;
	int error;
	u32 i;

	if (run->flags & CPB_BUILD_BEFORE) {
		for (i = 0; i < count; i++) {
			error = build(work->jobs[(*next + i) % run->jobs]);
			if (error)
				return error;
		}
	}
	cond_resched();
	begin = ktime_get_raw_ns();
	cycles = get_cycles();
	error = batch(work, count, next);
	sample->cycles = get_cycles() - cycles;
	sample->ns = ktime_get_raw_ns() - begin;
	run->operations += count;
	return error;
}

/* The operations of a batch: each job once at most if they are built before. */
static u32 most_operations(const struct cpb_run *run)
{
	if (run->flags & CPB_KEY_EACH && run->flags & CPB_BUILD_BEFORE)
		return 1;
	return run->flags & CPB_BUILD_BEFORE ? run->jobs : CPB_MAX_OPERATIONS;
}

/* Warms up, and finds how many operations take batch_ns. */
static int warm_up(struct work *work, u32 *next)
{
	struct cpb_run *run = work->run;
	u32 most = most_operations(run), count = run->iterations ?: 1;
	u64 end = ktime_get_raw_ns() + run->warmup_ns;
	struct cpb_sample sample;
	int error;

	if (count > most)
		return cpb_fail(run, -EINVAL,
				"a batch has more operations than can be built before");
	run->ran = count;
	if (run->iterations && !run->warmup_ns)
		return 0;
	for (;;) {
		u64 factor;

		error = timed(work, count, next, &sample);
		if (error)
			return error;
		if (!run->iterations && sample.ns < run->batch_ns &&
		    count < most) {
			/* Grows by what is missing, at most tenfold. */
			factor = div64_u64(10 * run->batch_ns, sample.ns | 1);
			factor = clamp_t(u64, factor, 11, 100);
			count = min_t(u64, div64_u64(count * factor, 10) + 1,
				      most);
		} else if (ktime_get_raw_ns() >= end) {
			break;
		}
	}
	run->ran = count;
	return 0;
}

static int batches(struct work *work, u64 begin, u32 *next)
{
	struct cpb_run *run = work->run;
	struct cpb_sample __user *samples = u64_to_user_ptr(run->samples);
	struct cpb_sample sample;
	int error;
	u32 i;

	for (i = 0; i < run->batches; i++) {
		error = timed(work, run->ran, next, &sample);
		if (error)
			return error;
		if (copy_to_user(samples + i, &sample, sizeof(sample)))
			return -EFAULT;
		run->taken = i + 1;
		if (ktime_get_raw_ns() - begin >= run->limit_ns)
			break;
	}
	return 0;
}

/* One operation at a time, with a reading of the clock after each step. */
static int steps(struct work *work, u64 begin, u32 *next)
{
	struct cpb_run *run = work->run;
	struct cpb_steps *steps = &run->steps;
	bool build_now = !(run->flags & CPB_BUILD_BEFORE);
	u32 i;

	for (i = 0; i < run->latencies; i++) {
		struct job *job = work->jobs[*next];
		u64 start, built, sent, end;
		int error = build_now ? 0 : build(job);

		cond_resched();
		start = ktime_get_raw_ns();
		if (build_now)
			error = build(job);
		if (error)
			return error;
		built = ktime_get_raw_ns();
		error = submit(job);
		sent = ktime_get_raw_ns();
		if (error)
			return error == -ENOSPC ? -EPROTO : error;
		error = wait_for(work, 0);
		end = ktime_get_raw_ns();
		run->operations++;
		if (error || work->error)
			return error ? error : work->error;
		steps->operations++;
		steps->build_ns += built - start;
		steps->dispatch_ns += sent - built;
		steps->completion_ns += end - sent;
		*next = *next + 1 == run->jobs ? 0 : *next + 1;
		if (end - begin >= 3 * run->limit_ns)
			break;
	}
	return 0;
}

/* Times of single operations: one by one, then as many in flight as in batches. */
static int latencies(struct work *work, u64 begin, u32 *next)
{
	struct cpb_run *run = work->run;
	struct cpb_sample sample;
	int error;
	u32 i;

	work->depth = 1;
	for (i = 0; i < run->latencies; i++) {
		error = timed(work, 1, next, &sample);
		if (error)
			return error;
		add_time(&work->alone, sample.ns);
		if (ktime_get_raw_ns() - begin >= 2 * run->limit_ns)
			break;
	}
	work->depth = run->depth;
	if (run->depth == 1)
		return steps(work, begin, next);
	work->timing = true;
	error = 0;
	for (i = 0; !error && i < run->latencies; i += run->ran) {
		error = timed(work, run->ran, next, &sample);
		if (ktime_get_raw_ns() - begin >= 3 * run->limit_ns)
			break;
	}
	work->timing = false;
	return error;
}

static int run_all(struct work *work)
{
	struct cpb_run *run = work->run;
	struct cpb_sample sample;
	u32 next = 0;
	u64 begin;
	int error = warm_up(work, &next);

	if (error)
		return error;
	begin = ktime_get_raw_ns();
	error = batches(work, begin, &next);
	if (!error)
		error = latencies(work, begin, &next);
	while (!error && ktime_get_raw_ns() - begin < run->counted_ns)
		error = timed(work, run->ran, &next, &sample);
	return error;
}

int loop_run(struct work *work)
{
	struct cpb_run *run = work->run;
	u64 wanted = run->warmup_ns + 3 * run->limit_ns + run->counted_ns;
	int error;

	work->depth = run->depth;
	/* Operations are not interrupted, so a slow driver may exceed it. */
	work->deadline = jiffies + nsecs_to_jiffies(wanted) + 2 * PATIENCE;
	error = run_all(work);
	run->alone_max = work->alone.max;
	run->in_flight_max = work->in_flight_times.max;
	run->backlogged = work->were_backlogged;
	run->synchronous = work->synchronous;
	if (!error || run->words[0])
		return error;
	switch (error) {
	case -ETIMEDOUT:
		return cpb_fail(run, error, "the engine does not answer");
	case -ETIME:
		return cpb_fail(run, error, "the run took too long");
	case -EINTR:
		return cpb_fail(run, error, "a signal ended the run");
	case -EFAULT:
		return cpb_fail(run, error, "an address is not valid");
	case -EBADMSG:
		return cpb_fail(run, error, "a tag does not verify");
	case -EILSEQ:
		return cpb_fail(run, error, "an output is not the expected one");
	case -EPROTO:
		return cpb_fail(run, error,
				"the driver says that its empty queue is full");
	default:
		return cpb_fail(run, error, "the driver failed an operation");
	}
}
