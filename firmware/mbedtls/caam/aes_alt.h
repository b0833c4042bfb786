/* A key for the CAAM: src/mbedtls/alt/caam.rs. */
typedef struct mbedtls_aes_context {
    unsigned char key[32];
    uint32_t length;
} mbedtls_aes_context;
