/*
 * What cpb measures of Mbed TLS 2.28 on a board: the primitives, with keys and with key pairs. Whatever is not named here
 * stays as upstream's own default has it. The options are described in include/mbedtls/config.h of
 * Mbed TLS 2.28.
 */

#ifdef CPB_MBEDTLS_ENGINE
/* The second build, for the chip's engine: the modules that reach it, and those above them. Where a module has _ALT,
 * the image's own functions (src/mbedtls/alt/) replace it. */
#include "engine_modules.h"
#else
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
/* As much at once as SP 800-90A allows. A chain of smaller requests would return a different stream. */
#define MBEDTLS_CTR_DRBG_MAX_REQUEST 65536
#define MBEDTLS_HMAC_DRBG_MAX_REQUEST 65536

/* Key pairs. The big numbers are plain C, as everything here is: without MBEDTLS_HAVE_ASM. */
#define MBEDTLS_BIGNUM_C
#define MBEDTLS_GENPRIME
#define MBEDTLS_RSA_C
#define MBEDTLS_PKCS1_V15
#define MBEDTLS_PKCS1_V21
#define MBEDTLS_OID_C
#define MBEDTLS_ASN1_PARSE_C
#define MBEDTLS_ASN1_WRITE_C
#define MBEDTLS_ECP_C
#define MBEDTLS_ECP_NIST_OPTIM
#define MBEDTLS_ECP_DP_SECP256R1_ENABLED
#define MBEDTLS_ECP_DP_SECP384R1_ENABLED
#define MBEDTLS_ECP_DP_CURVE25519_ENABLED
#define MBEDTLS_ECDH_C
#define MBEDTLS_ECDSA_C
#endif /* CPB_MBEDTLS_ENGINE */

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
