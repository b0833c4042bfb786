/* A C library that cpb can measure: `cpb run -p library:./libmine.so`.
 *
 * Copy this file; it is in the public domain (CC0-1.0). The library exports these four functions. cpb checks every answer
 * against published known answers before it measures anything, and calls the library from one thread at a time.
 */
#ifndef CPB_LIBRARY_H
#define CPB_LIBRARY_H

#include <stddef.h>
#include <stdint.h>

/* One whole message. Lengths are in bytes and fixed by the algorithm; buffers that an algorithm does not use are empty.
 * `input` and `output` are the same buffer if cpb measures in-place operation. They have no particular alignment. */
struct cpb_job {
    const uint8_t *iv;         /* IV, nonce or initial counter block */
    size_t iv_length;
    const uint8_t *associated; /* associated data of an AEAD */
    size_t associated_length;
    const uint8_t *input;
    size_t input_length;
    uint8_t *output;           /* as long as the input; for a hash or a MAC, its digest */
    size_t output_length;
    uint8_t *tag;              /* of an AEAD: written when encrypting, verified when decrypting */
    size_t tag_length;
};

/* Name and version, as reports should show them: "mine 1.2". */
const char *cpb_library_version(void);

/* A session for one algorithm, operation and key, which is prepared here, before the clock starts. Names are those of
 * `cpb list`: "aes-256-gcm" and "encrypt", "sha-256" and "hash". A hash has no key: its length is 0.
 * Returns NULL if the library does not support it. */
void *cpb_library_open(const char *algorithm, const char *operation, const uint8_t *key, size_t key_length);

/* Processes one message: this is what cpb measures. Returns 0 for success, 1 for a tag that does not verify, and any
 * other number for an error, which cpb reports. */
int cpb_library_run(void *session, const struct cpb_job *job);

/* Ends a session. */
void cpb_library_close(void *session);

#endif
