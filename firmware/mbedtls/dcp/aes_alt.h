/* A key for the DCP: src/mbedtls/alt/dcp.rs. */
typedef struct mbedtls_aes_context {
    unsigned char key[16];
    uint32_t bits;
} mbedtls_aes_context;
