/*
 * Size and alignment of every context that Rust owns, for one variant and target. The build script
 * reads the numbers from this file's object, which also works if the target cannot run here.
 * build/mbedtls.rs names the same types in the same order.
 */
#include "mbedtls/build_info.h"

#include <stdint.h>

#include "mbedtls/aes.h"
#include "mbedtls/camellia.h"
#include "mbedtls/ccm.h"
#include "mbedtls/chacha20.h"
#include "mbedtls/chachapoly.h"
#include "mbedtls/cipher.h"
#include "mbedtls/ctr_drbg.h"
#include "mbedtls/des.h"
#include "mbedtls/ecdh.h"
#include "mbedtls/ecdsa.h"
#include "mbedtls/ecp.h"
#include "mbedtls/entropy.h"
#include "mbedtls/gcm.h"
#include "mbedtls/hmac_drbg.h"
#include "mbedtls/md.h"
#include "mbedtls/md5.h"
#include "mbedtls/pk.h"
#include "mbedtls/poly1305.h"
#include "mbedtls/rsa.h"
#include "mbedtls/sha1.h"
#include "mbedtls/sha256.h"
#include "mbedtls/sha3.h"
#include "mbedtls/sha512.h"

#define LAYOUT(type) sizeof(type), _Alignof(type)

const uint32_t cpb_mbedtls_layout[] = {
    LAYOUT(mbedtls_aes_context),
    LAYOUT(mbedtls_aes_xts_context),
    LAYOUT(mbedtls_camellia_context),
    LAYOUT(mbedtls_ccm_context),
    LAYOUT(mbedtls_chacha20_context),
    LAYOUT(mbedtls_chachapoly_context),
    LAYOUT(mbedtls_cipher_context_t),
    LAYOUT(mbedtls_ctr_drbg_context),
    LAYOUT(mbedtls_des_context),
    LAYOUT(mbedtls_des3_context),
    LAYOUT(mbedtls_ecdh_context),
    LAYOUT(mbedtls_ecdsa_context),
    LAYOUT(mbedtls_ecp_group),
    LAYOUT(mbedtls_ecp_keypair),
    LAYOUT(mbedtls_ecp_point),
    LAYOUT(mbedtls_entropy_context),
    LAYOUT(mbedtls_gcm_context),
    LAYOUT(mbedtls_hmac_drbg_context),
    LAYOUT(mbedtls_md_context_t),
    LAYOUT(mbedtls_md5_context),
    LAYOUT(mbedtls_mpi),
    LAYOUT(mbedtls_pk_context),
    LAYOUT(mbedtls_poly1305_context),
    LAYOUT(mbedtls_rsa_context),
    LAYOUT(mbedtls_sha1_context),
    LAYOUT(mbedtls_sha256_context),
    LAYOUT(mbedtls_sha3_context),
    LAYOUT(mbedtls_sha512_context),
};
