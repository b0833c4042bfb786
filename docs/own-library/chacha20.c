/* A library for cpb in one file: ChaCha20 (RFC 8439) in plain C. Copy it, and put your own cipher in its place; it is in
 * the public domain (CC0-1.0).
 *
 *     cc -O2 -shared -fPIC -o libmine.so chacha20.c
 *     cpb check -p library:./libmine.so
 *     cpb run -p library:./libmine.so,openssl -a chacha20
 */
#include "cpb_library.h"
#include <stdlib.h>
#include <string.h>

struct session {
    uint32_t key[8];
};

static uint32_t load(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

#define TURN(x, n) ((x) << (n) | (x) >> (32 - (n)))
#define QUARTER(a, b, c, d) \
    (a += b, d ^= a, d = TURN(d, 16), c += d, b ^= c, b = TURN(b, 12), \
     a += b, d ^= a, d = TURN(d, 8), c += d, b ^= c, b = TURN(b, 7))

static void block(const uint32_t state[16], uint8_t stream[64])
{
    uint32_t x[16];
    memcpy(x, state, sizeof x);
    for (int round = 0; round < 10; round++) {
        QUARTER(x[0], x[4], x[8], x[12]);
        QUARTER(x[1], x[5], x[9], x[13]);
        QUARTER(x[2], x[6], x[10], x[14]);
        QUARTER(x[3], x[7], x[11], x[15]);
        QUARTER(x[0], x[5], x[10], x[15]);
        QUARTER(x[1], x[6], x[11], x[12]);
        QUARTER(x[2], x[7], x[8], x[13]);
        QUARTER(x[3], x[4], x[9], x[14]);
    }
    for (int word = 0; word < 16; word++) {
        uint32_t sum = x[word] + state[word];
        for (int byte = 0; byte < 4; byte++)
            stream[4 * word + byte] = (uint8_t)(sum >> 8 * byte);
    }
}

const char *cpb_library_version(void)
{
    return "plain C 1.0";
}

void *cpb_library_open(const char *algorithm, const char *operation, const uint8_t *key, size_t key_length)
{
    /* Encrypting and decrypting are the same. */
    (void)operation;
    if (strcmp(algorithm, "chacha20") != 0 || key_length != 32)
        return NULL;
    struct session *session = malloc(sizeof *session);
    for (int word = 0; session && word < 8; word++)
        session->key[word] = load(key + 4 * word);
    return session;
}

int cpb_library_run(void *session, const struct cpb_job *job)
{
    uint32_t state[16] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};
    uint8_t stream[64];
    memcpy(state + 4, ((struct session *)session)->key, 32);
    /* The IV is the block counter and the nonce. */
    for (int word = 0; word < 4; word++)
        state[12 + word] = load(job->iv + 4 * word);
    for (size_t done = 0; done < job->input_length; done += 64) {
        size_t rest = job->input_length - done;
        block(state, stream);
        state[12]++;
        for (size_t byte = 0; byte < 64 && byte < rest; byte++)
            job->output[done + byte] = job->input[done + byte] ^ stream[byte];
    }
    return 0;
}

void cpb_library_close(void *session)
{
    free(session);
}
