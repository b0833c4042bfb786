/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * What user space asks of /dev/cpb-runner: one structure for each run of the
 * loop, by one ioctl. All lengths are in bytes, all times in nanoseconds, all
 * addresses are of user space.
 */
#ifndef CPB_RUNNER_H
#define CPB_RUNNER_H

#include <linux/ioctl.h>
#include <linux/types.h>

/* Changes with each change of the structure. */
#define CPB_RUNNER_VERSION 1

/* Limits, which are also those of the memory that a run may take. */
#define CPB_MAX_MESSAGE (64 << 10)
#define CPB_MAX_JOBS 50000
#define CPB_MAX_BATCHES 4096
#define CPB_MAX_KEY 128
#define CPB_MAX_IV 32
#define CPB_MAX_SECONDS 600

enum cpb_kind {
	CPB_SKCIPHER = 1,
	CPB_AHASH = 2,
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
#define CPB_FLAGS (CPB_BUILD_BEFORE | CPB_NOTICE_LAST)

/* 32 buckets for each doubling, as the histogram in crates/core has them. */
#define CPB_BUCKETS (32 * 28)

struct cpb_run {
	/* In: what to run. */
	__u32 version;
	__u32 kind;
	__u32 operation;
	__u32 flags;
	char driver[64]; /* cra_driver_name, ends with 0 */
	__u32 key_len; /* 0: no key */
	__u32 iv_len;
	__u32 message_len;
	__u32 output_len;
	__u32 jobs; /* messages, each with a buffer of its own */
	__u32 depth; /* the most requests in flight, up to jobs */
	__u32 batches;
	__u32 iterations; /* of a batch; 0: as many as take batch_ns */
	__u32 latencies; /* single times to take after the batches */
	__u32 reserved;
	__u64 warmup_ns;
	__u64 batch_ns;
	__u64 limit_ns; /* a batch is the last if it ends after this time */
	__u64 key; /* key_len bytes */
	__u64 ivs; /* iv_len bytes for each job */
	__u64 messages; /* message_len bytes for each job */
	/* Out: addresses of results. */
	__u64 outputs; /* output_len bytes for each job */
	__u64 samples; /* a __u64 for each batch: its nanoseconds */
	__u64 histogram; /* CPB_BUCKETS of __u32; 0: none */
	/* Out. */
	__u32 taken; /* batches */
	__u32 ran; /* operations of a batch */
	__u64 operations; /* of the whole run */
	__u64 latency_max;
	char name[64]; /* the driver that ran it, as it calls itself */
	char words[128]; /* what is wrong, if the call fails */
};

#define CPB_RUN _IOWR(0xCB, 1, struct cpb_run)

#endif
