/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CPB_INTERNAL_H
#define CPB_INTERNAL_H

#include <crypto/aead.h>
#include <crypto/hash.h>
#include <crypto/skcipher.h>
#include <linux/atomic.h>
#include <linux/scatterlist.h>
#include <linux/wait.h>

#include "cpb_runner.h"

struct work;

union transform {
	struct crypto_skcipher *cipher;
	struct crypto_ahash *ahash;
	struct crypto_shash *shash;
	struct crypto_aead *aead;
	void *any;
};

/* One message with its buffers and its request. */
struct job {
	struct work *work;
	u32 number;
	u8 *in, *out; /* out is in if the result overwrites the message */
	struct scatterlist src, dst;
	union {
		struct skcipher_request *cipher;
		struct ahash_request *ahash;
		struct shash_desc *shash;
		struct aead_request *aead;
		void *request;
	};
	u64 submitted;
	u8 first_iv[CPB_MAX_IV]; /* the chaining modes overwrite the other */
	u8 iv[CPB_MAX_IV];
};

/* Times of operations. */
struct times {
	u32 *counts; /* CPB_BUCKETS; NULL if they are not wanted */
	u64 max;
};

/* A run: its jobs, and what their callbacks share with the loop. */
struct work {
	struct cpb_run *run;
	union transform *transforms;
	u32 count; /* jobs that exist */
	struct job **jobs;
	u8 *keys;
	u8 *expected;
	struct times alone, in_flight_times;
	u32 depth;
	unsigned long deadline; /* in jiffies */
	u64 synchronous; /* only the loop counts these two */
	u64 were_backlogged;

	/* Its lock also guards what callbacks change below. */
	wait_queue_head_t waiters;
	atomic_t in_flight;
	atomic_t backlogged; /* accepted, but not yet in the engine's queue */
	bool timing; /* callbacks take the time of their job */
	int error; /* the first one of a job */
};

/* work.c: everything around the loop. Words go to run->words. */
int work_open(struct work *work, struct cpb_run *run);
int work_results(struct work *work);
void work_close(struct work *work);
bool work_idle(struct work *work);
int work_set_key(struct work *work, u32 transform, u32 key);
int cpb_fail(struct cpb_run *run, int error, const char *words);

/* loop.c: the timed loop. */
int loop_run(struct work *work);
void loop_completed(struct job *job, int error);
void loop_left_backlog(struct work *work);

#endif
