/*
 * Sizes that src/mbedtls/ffi.rs states, held against the headers: a difference is an error of the
 * compiler's.
 */
#include "mbedtls/aes.h"
#include "mbedtls/chachapoly.h"
#include "mbedtls/ctr_drbg.h"
#include "mbedtls/gcm.h"
#include "mbedtls/hmac_drbg.h"
#include "mbedtls/md.h"
#include "mbedtls/sha1.h"
#include "mbedtls/sha256.h"
#include "mbedtls/sha512.h"

#define HOLDS(type, bytes, alignment)                                                              \
    _Static_assert(sizeof(type) == (bytes), "size of " #type);                                    \
    _Static_assert(_Alignof(type) == (alignment), "alignment of " #type)

HOLDS(mbedtls_aes_context, 280, 4);
HOLDS(mbedtls_gcm_context, 392, 8);
HOLDS(mbedtls_chachapoly_context, 232, 8);
HOLDS(mbedtls_md_context_t, 12, 4);
HOLDS(mbedtls_sha1_context, 92, 4);
HOLDS(mbedtls_sha256_context, 108, 4);
HOLDS(mbedtls_sha512_context, 216, 8);
HOLDS(mbedtls_ctr_drbg_context, 320, 4);
HOLDS(mbedtls_hmac_drbg_context, 100, 4);
