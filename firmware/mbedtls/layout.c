/*
 * Sizes that src/mbedtls/library.rs states, held against the headers: a difference is an error of the
 * compiler's.
 */
#include "mbedtls/aes.h"
#include "mbedtls/camellia.h"
#include "mbedtls/ccm.h"
#include "mbedtls/chacha20.h"
#include "mbedtls/chachapoly.h"
#include "mbedtls/cipher.h"
#include "mbedtls/ctr_drbg.h"
#include "mbedtls/des.h"
#include "mbedtls/ecp.h"
#include "mbedtls/gcm.h"
#include "mbedtls/hmac_drbg.h"
#include "mbedtls/md.h"
#include "mbedtls/md5.h"
#include "mbedtls/poly1305.h"
#include "mbedtls/rsa.h"
#include "mbedtls/sha1.h"
#include "mbedtls/sha256.h"
#include "mbedtls/sha512.h"

#define HOLDS(type, bytes, alignment)                                                              \
    _Static_assert(sizeof(type) == (bytes), "size of " #type);                                    \
    _Static_assert(_Alignof(type) == (alignment), "alignment of " #type)

HOLDS(mbedtls_cipher_context_t, 68, 4);
HOLDS(mbedtls_gcm_context, 400, 8);
HOLDS(mbedtls_md_context_t, 12, 4);
#ifdef CPB_MBEDTLS_ENGINE
#include "engine_layout.h"
#else
HOLDS(mbedtls_aes_context, 280, 4);
HOLDS(mbedtls_aes_xts_context, 560, 4);
HOLDS(mbedtls_camellia_context, 276, 4);
HOLDS(mbedtls_ccm_context, 68, 4);
HOLDS(mbedtls_chacha20_context, 132, 4);
HOLDS(mbedtls_des_context, 128, 4);
HOLDS(mbedtls_des3_context, 384, 4);
HOLDS(mbedtls_md5_context, 88, 4);
HOLDS(mbedtls_poly1305_context, 72, 4);
HOLDS(mbedtls_chachapoly_context, 232, 8);
HOLDS(mbedtls_sha1_context, 92, 4);
HOLDS(mbedtls_sha256_context, 108, 4);
HOLDS(mbedtls_sha512_context, 216, 8);
HOLDS(mbedtls_ctr_drbg_context, 320, 4);
HOLDS(mbedtls_hmac_drbg_context, 100, 4);
HOLDS(mbedtls_rsa_context, 172, 4);
HOLDS(mbedtls_mpi, 12, 4);
HOLDS(mbedtls_ecp_group, 124, 4);
HOLDS(mbedtls_ecp_point, 36, 4);
#endif
