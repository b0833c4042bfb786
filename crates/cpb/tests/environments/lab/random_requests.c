/*
 * Sends random requests to cpb's runner in the kernel for as many seconds as
 * its first argument says, others with another second argument: any numbers in any field, with a bias to those that are
 * nearly right, and addresses that are valid, in the middle of nowhere, or 0.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "cpb_runner.h"

static uint64_t state = 88172645463325252ull;

static uint64_t any(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static uint32_t below(uint32_t limit)
{
	return any() % limit;
}

/* Mostly one of the numbers that are right somewhere. */
static uint32_t number(void)
{
	static const uint32_t often[] = { 0, 1, 2, 4, 12, 16, 20, 32, 64, 512, 4096, 65536, 65537, 1 << 30, ~0u };

	return below(8) ? often[below(sizeof(often) / sizeof(*often))] : any();
}

static uint64_t address(void *buffer)
{
	switch (below(100)) {
	case 0:
		return 0;
	case 1:
		return any();
	default:
		return (uintptr_t)buffer;
	}
}

int main(int count, char **arguments)
{
	static const char *const drivers[] = {
		"cbc-aes-aesni", "virtio_crypto_aes_cbc", "cbc(aes-generic)", "sha256-avx2",
		"gcm_base(ctr-aes-aesni,ghash-generic)", "ecb-cipher_null", "cbc(aes)", "", "no-such",
	};
	const size_t room = 4 << 20;
	char *buffer = malloc(room);
	time_t end = time(NULL) + (count > 1 ? atoi(arguments[1]) : 1);
	unsigned long requests = 0, good = 0;
	int device = open("/dev/cpb-runner", O_RDWR);

	if (count > 2)
		state += atoi(arguments[2]);
	if (device < 0 || !buffer) {
		perror("/dev/cpb-runner");
		return 1;
	}
	while (time(NULL) < end) {
		struct cpb_run run;
		unsigned int changes;
		uint32_t *words = (uint32_t *)&run;

		memset(&run, 0, sizeof(run));
		run.version = CPB_RUNNER_VERSION;
		run.kind = CPB_SKCIPHER;
		run.operation = 1 + below(2);
		run.flags = below(CPB_FLAGS + 1) & ~(CPB_KEY_EACH | CPB_CHECK_EACH);
		strcpy(run.driver, drivers[below(3)]);
		run.key_len = 16;
		run.keys = 1;
		run.iv_len = 16;
		run.message_len = 16 << below(13);
		run.output_len = run.message_len;
		/* Half of the requests are wrong in more than a field. */
		if (below(2)) {
			run.kind = 1 + below(4);
			run.operation = 1 + below(3);
			run.flags = below(8) ? below(CPB_FLAGS + 1) : any();
			strcpy(run.driver, drivers[below(sizeof(drivers) / sizeof(*drivers))]);
			run.key_len = below(2) ? 16 : number();
			run.keys = run.key_len ? 1 : 0;
			run.iv_len = below(2) ? 16 : number();
			run.message_len = number();
			run.tag_len = run.kind == CPB_AEAD ? 16 : 0;
			run.output_len = run.kind == CPB_AHASH || run.kind == CPB_SHASH ? 32 : run.message_len + run.tag_len;
		}
		run.jobs = 1 + below(64);
		run.depth = 1 + below(run.jobs);
		run.batches = 1 + below(4);
		run.iterations = below(2) ? 0 : 1 + below(run.jobs);
		run.latencies = below(4);
		run.batch_ns = below(1000000);
		run.limit_ns = below(2000000);
		run.counted_ns = below(2000000);
		run.key = address(buffer);
		run.ivs = address(buffer);
		run.inputs = address(buffer);
		run.expected = address(buffer);
		run.outputs = address(buffer + room / 2);
		run.samples = address(buffer + room / 2);
		run.alone = address(buffer + room / 2);
		run.in_flight = address(buffer + room / 2);
		for (changes = below(4); changes > 1; changes--)
			words[below(sizeof(run) / sizeof(*words))] = below(2) ? number() : any();
		/* What is longer than the buffers goes to an address that is not one. */
		if ((uint64_t)run.jobs * run.output_len > room / 2)
			run.outputs = any();
		requests++;
		good += ioctl(device, below(50) ? CPB_RUN : any(), &run) == 0;
	}
	printf("%lu requests, %lu good\n", requests, good);
	return 0;
}
