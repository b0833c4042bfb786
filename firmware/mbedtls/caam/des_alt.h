/* Keys for the CAAM: src/mbedtls/alt/caam.rs. */
typedef struct mbedtls_des_context {
    uint32_t key[2];
    uint32_t encrypts;
} mbedtls_des_context;

typedef struct mbedtls_des3_context {
    uint32_t key[6];
    uint32_t encrypts;
} mbedtls_des3_context;
