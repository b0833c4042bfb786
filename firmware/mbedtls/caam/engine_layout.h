#include <stddef.h>

HOLDS(mbedtls_aes_context, 36, 4);
HOLDS(mbedtls_ccm_context, 68, 4);
HOLDS(mbedtls_des_context, 12, 4);
HOLDS(mbedtls_des3_context, 28, 4);
HOLDS(mbedtls_sha1_context, 112, 4);
HOLDS(mbedtls_sha256_context, 112, 4);
/* Where src/mbedtls/alt/caam.rs finds the key of an authenticated cipher. */
_Static_assert(offsetof(mbedtls_gcm_context, cipher_ctx.cipher_ctx) == 60, "key of GCM");
_Static_assert(offsetof(mbedtls_ccm_context, cipher_ctx.cipher_ctx) == 60, "key of CCM");
