/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * What user space asks of /dev/cpb-runner: one structure for each run of the
 * loop, by one ioctl. All lengths are in bytes, all times in nanoseconds, all
 * addresses are of user space. The structure has the same layout on 32 and 64
 * bits.
 */
#ifndef CPB_RUNNER_H
#define CPB_RUNNER_H

#include <linux/ioctl.h>
#include <linux/types.h>

/* Changes with each change of the structure. */
#define CPB_RUNNER_VERSION 3

/* Limits. A run takes no more than a quarter of the machine's memory, either. */
#define CPB_MAX_MESSAGE (64 << 10)
#define CPB_MAX_ASSOCIATED 4096
#define CPB_MAX_JOBS 50000
#define CPB_MAX_KEYS 4096
#define CPB_MAX_BATCHES 4096
#define CPB_MAX_LATENCIES 65535
#define CPB_MAX_OPERATIONS (1 << 24)
#define CPB_MAX_KEY 512
#define CPB_MAX_IV 32
#define CPB_MAX_TAG 64
#define CPB_MAX_SECONDS 60
#define CPB_NAME 128
#define CPB_WORDS 128

enum cpb_kind {
	CPB_SKCIPHER = 1,
	CPB_AHASH = 2,
	CPB_SHASH = 3,
	CPB_AEAD = 4,
};

enum cpb_operation {
	CPB_ENCRYPT = 1,
	CPB_DECRYPT = 2,
	CPB_DIGEST = 3,
};

/* Requests are built before the clock starts, not each before it is sent. */
#define CPB_BUILD_BEFORE (1 << 0)
/* Completions are counted, and only the last of all in flight wakes the loop. */
#define CPB_NOTICE_LAST (1 << 1)
/* The result overwrites the message. */
#define CPB_IN_PLACE (1 << 2)
/* Building a request sets the key again. Only with a depth of 1. */
#define CPB_KEY_EACH (1 << 3)
/* Each completion compares the output with the expected one. */
#define CPB_CHECK_EACH (1 << 4)
#define CPB_FLAGS ((1 << 5) - 1)

/* 32 buckets for each doubling, as the histogram in crates/core has them. */
#define CPB_BUCKETS (32 * 28)

struct cpb_sample {
	__u64 ns;
	__u64 cycles; /* of get_cycles(): a TSC, for example; 0 without one */
};

/*
 * Where the time of operations goes that run one at a time, summed: until the
 * request is built, until the call that sends it returns, until the loop runs
 * again after its completion. Each has one reading of the clock in it.
 */
struct cpb_steps {
	__u64 operations;
	__u64 build_ns;
	__u64 dispatch_ns;
	__u64 completion_ns;
};

struct cpb_run {
	/* In: what to run. */
	__u32 version;
	__u32 kind;
	__u32 operation;
	__u32 flags;
	char driver[CPB_NAME]; /* cra_driver_name, ends with 0 */
	__u32 key_len; /* 0: no key */
	__u32 keys; /* 1, or as many as jobs; 0 without a key */
	__u32 iv_len;
	__u32 associated_len; /* of an AEAD */
	__u32 message_len; /* without associated data and tag */
	__u32 tag_len; /* of an AEAD */
	__u32 output_len; /* the text; with the tag that an AEAD adds; a digest */
	__u32 jobs; /* messages, each with buffers of its own */
	__u32 depth; /* the most requests in flight, up to jobs */
	__u32 batches;
	__u32 iterations; /* of a batch; 0: as many as take batch_ns */
	__u32 latencies; /* single operations to time after the batches */
	__u64 warmup_ns;
	__u64 batch_ns;
	__u64 limit_ns; /* a batch is the last if it ends after this time */
	__u64 counted_ns; /* the run goes on until this time has passed */
	__u64 key; /* key_len bytes for each key */
	__u64 ivs; /* iv_len bytes for each job */
	/* For each job: associated data, message, and the tag to be verified. */
	__u64 inputs;
	__u64 expected; /* output_len bytes for each job, with CPB_CHECK_EACH */
	/* Out: addresses of results. */
	__u64 outputs; /* output_len bytes for each job */
	__u64 samples; /* a struct cpb_sample for each batch */
	__u64 alone; /* CPB_BUCKETS of __u32: operations one by one */
	__u64 in_flight; /* the same: submission to completion at this depth */
	/* Out. */
	__u32 taken; /* batches */
	__u32 ran; /* operations of a batch */
	__u64 operations; /* of the whole run */
	__u64 alone_max;
	__u64 in_flight_max;
	__u64 backlogged; /* operations that waited for room in the queue */
	__u64 synchronous; /* operations that were done when they were sent */
	struct cpb_steps steps; /* with a depth of 1; latencies says how many */
	char name[CPB_NAME]; /* the driver that ran it, as it calls itself */
	char words[CPB_WORDS]; /* what is wrong, if the call fails */
};

#define CPB_RUN _IOWR(0xCB, 2, struct cpb_run)

#endif
