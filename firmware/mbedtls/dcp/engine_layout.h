HOLDS(mbedtls_aes_context, 20, 4);
HOLDS(mbedtls_sha1_context, 176, 4);
HOLDS(mbedtls_sha256_context, 176, 4);
