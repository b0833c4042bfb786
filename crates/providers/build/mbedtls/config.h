/*
 * What cpb measures of Mbed TLS: the crypto primitives, without TLS, X.509, PSA storage, sockets and
 * threads. Options that are not named here keep upstream's defaults (AES tables made in RAM, no
 * smaller-and-slower variants). The options are described in include/mbedtls/mbedtls_config.h of
 * Mbed TLS 3.6.
 */

/* The two variants differ only here. The plain one is C without any assembly. */
#if defined(CPB_MBEDTLS_ACCEL)
#define MBEDTLS_HAVE_ASM
#if defined(__x86_64__) || defined(__i386__)
#define MBEDTLS_AESNI_C
#endif
#if defined(__aarch64__)
#define MBEDTLS_AESCE_C
#define MBEDTLS_SHA256_USE_ARMV8_A_CRYPTO_IF_PRESENT
#define MBEDTLS_SHA512_USE_A64_CRYPTO_IF_PRESENT
#endif
#endif

/* Symmetric ciphers */
#define MBEDTLS_AES_C
#define MBEDTLS_ARIA_C
#define MBEDTLS_CAMELLIA_C
#define MBEDTLS_DES_C
#define MBEDTLS_CHACHA20_C
#define MBEDTLS_CIPHER_MODE_CBC
#define MBEDTLS_CIPHER_MODE_CFB
#define MBEDTLS_CIPHER_MODE_CTR
#define MBEDTLS_CIPHER_MODE_OFB
#define MBEDTLS_CIPHER_MODE_XTS
#define MBEDTLS_CIPHER_PADDING_PKCS7
#define MBEDTLS_CIPHER_C

/* Authenticated encryption and authentication codes */
#define MBEDTLS_CCM_C
#define MBEDTLS_GCM_C
#define MBEDTLS_POLY1305_C
#define MBEDTLS_CHACHAPOLY_C
#define MBEDTLS_CMAC_C

/* Digests; HMAC is part of MD */
#define MBEDTLS_MD_C
#define MBEDTLS_MD5_C
#define MBEDTLS_SHA1_C
#define MBEDTLS_SHA224_C
#define MBEDTLS_SHA256_C
#define MBEDTLS_SHA384_C
#define MBEDTLS_SHA512_C
#define MBEDTLS_SHA3_C
#define MBEDTLS_HKDF_C

/* Random numbers */
#define MBEDTLS_ENTROPY_C
#define MBEDTLS_CTR_DRBG_C
#define MBEDTLS_HMAC_DRBG_C
/* As much at once as SP 800-90A allows. A chain of smaller requests would return a different stream. */
#define MBEDTLS_CTR_DRBG_MAX_REQUEST 65536
#define MBEDTLS_HMAC_DRBG_MAX_REQUEST 65536

/* Public keys */
#define MBEDTLS_BIGNUM_C
#define MBEDTLS_ASN1_PARSE_C
#define MBEDTLS_ASN1_WRITE_C
#define MBEDTLS_OID_C
#define MBEDTLS_GENPRIME
#define MBEDTLS_RSA_C
#define MBEDTLS_PKCS1_V15
#define MBEDTLS_PKCS1_V21
#define MBEDTLS_ECP_C
#define MBEDTLS_ECP_NIST_OPTIM
#define MBEDTLS_ECP_DP_SECP256R1_ENABLED
#define MBEDTLS_ECP_DP_SECP384R1_ENABLED
#define MBEDTLS_ECP_DP_SECP521R1_ENABLED
#define MBEDTLS_ECP_DP_SECP256K1_ENABLED
#define MBEDTLS_ECP_DP_BP256R1_ENABLED
#define MBEDTLS_ECP_DP_CURVE25519_ENABLED
#define MBEDTLS_ECP_DP_CURVE448_ENABLED
#define MBEDTLS_ECDH_C
#define MBEDTLS_ECDSA_C
#define MBEDTLS_ECDSA_DETERMINISTIC
#define MBEDTLS_PK_C
#define MBEDTLS_PK_PARSE_C
#define MBEDTLS_PK_WRITE_C

#define MBEDTLS_PLATFORM_C
#define MBEDTLS_VERSION_C
#define MBEDTLS_ERROR_C
