/* A hash by the CAAM between two calls: HashState of crates/drivers/src/caam/port.rs. */
typedef struct mbedtls_sha256_context {
    uint32_t words[28];
} mbedtls_sha256_context;
