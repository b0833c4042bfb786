/*
 * What cpb measures of Mbed TLS 2.28 on a board: the symmetric primitives. Whatever is not named here
 * stays as upstream's own default has it. The options are described in include/mbedtls/config.h of
 * Mbed TLS 2.28.
 */

/* AES tables are constants, so that the linker places them: in RAM they would be made by the first
 * key schedule, next to other variables. */
#define MBEDTLS_AES_C
#define MBEDTLS_AES_ROM_TABLES
#define MBEDTLS_CIPHER_C
#define MBEDTLS_CIPHER_MODE_CBC
#define MBEDTLS_CIPHER_MODE_CTR
#define MBEDTLS_CIPHER_MODE_XTS
#define MBEDTLS_CAMELLIA_C
#define MBEDTLS_DES_C
#define MBEDTLS_CCM_C
#define MBEDTLS_CMAC_C
#define MBEDTLS_GCM_C
#define MBEDTLS_CHACHA20_C
#define MBEDTLS_POLY1305_C
#define MBEDTLS_CHACHAPOLY_C

/* HMAC is part of MD. */
#define MBEDTLS_MD_C
#define MBEDTLS_MD5_C
#define MBEDTLS_SHA1_C
#define MBEDTLS_SHA256_C
#define MBEDTLS_SHA512_C

/* Deterministic generators; their entropy is the workload's. */
#define MBEDTLS_CTR_DRBG_C
#define MBEDTLS_HMAC_DRBG_C

/* The library's own allocations come from the firmware's heap: src/allocator.rs. */
#define MBEDTLS_PLATFORM_C
#define MBEDTLS_PLATFORM_MEMORY
#define MBEDTLS_PLATFORM_CALLOC_MACRO cpb_calloc
#define MBEDTLS_PLATFORM_FREE_MACRO cpb_free
#include <stddef.h>
void *cpb_calloc(size_t count, size_t size);
void cpb_free(void *memory);

#define MBEDTLS_VERSION_C

#include "mbedtls/check_config.h"
