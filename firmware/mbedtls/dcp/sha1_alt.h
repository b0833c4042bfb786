/* A hash by the DCP between two calls: HashState of crates/drivers/src/dcp/port.rs. */
typedef struct mbedtls_sha1_context {
    uint32_t words[44];
} mbedtls_sha1_context;
