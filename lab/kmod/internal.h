/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CPB_INTERNAL_H
#define CPB_INTERNAL_H

#include <crypto/hash.h>
#include <crypto/skcipher.h>
#include <linux/atomic.h>
#include <linux/scatterlist.h>
#include <linux/wait.h>

#include "cpb_runner.h"

struct work;

/* One message with its buffers and its request. */
struct job {
	struct work *work;
	struct page *in, *out;
	struct scatterlist src, dst;
	union {
		struct skcipher_request *cipher;
		struct ahash_request *hash;
		struct crypto_async_request *any;
	};
	u64 submitted;
	u8 first_iv[CPB_MAX_IV]; /* the chaining modes overwrite the other */
	u8 iv[CPB_MAX_IV];
};

/* A run: its jobs, and what their callbacks share with the loop. */
struct work {
	const struct cpb_run *run;
	union {
		struct crypto_skcipher *cipher;
		struct crypto_ahash *hash;
	};
	unsigned int order; /* of the pages of a buffer */
	unsigned int count; /* jobs that exist */
	struct job *jobs;
	u32 *histogram;
	u64 latency_max;
	bool timing; /* callbacks take the time of their job */

	wait_queue_head_t waiters;
	atomic_t in_flight;
	atomic_t backlogged; /* accepted, but not yet in the engine's queue */
	int error; /* the first one of a job */
};

/* work.c: everything around the loop. Words go to run->words. */
int work_open(struct work *work, struct cpb_run *run);
int work_results(struct work *work, struct cpb_run *run);
void work_close(struct work *work);
bool work_idle(struct work *work);

/* loop.c: the timed loop. */
int loop_run(struct work *work, struct cpb_run *run);
void loop_completed(struct job *job, int error);

int cpb_fail(struct cpb_run *run, int error, const char *words);

#endif
