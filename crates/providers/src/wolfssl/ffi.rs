//! The part of wolfSSL's C interface that the provider uses, from wolfssl/openssl/ and wolfssl/wolfcrypt/ of
//! wolfSSL 5.5: the interface for programs written for OpenSSL, and functions that allocate memory themselves,
//! because the library's structures differ from build to build.
//!
//! Functions return 1 for success, unless stated otherwise.

// C names stay as the headers spell them.
#![allow(non_camel_case_types, non_snake_case, clippy::too_many_arguments)]

use crate::loaded::c_functions;
use core::ffi::{c_char, c_int, c_long, c_uint, c_ulong, c_void};

/// Declares types that are opaque to Rust.
macro_rules! opaque {
    ($($name:ident;)+) => {$(
        #[repr(C)]
        pub(crate) struct $name {
            _data: [u8; 0],
        }
    )+};
}

opaque! {
    WOLFSSL_EVP_CIPHER;
    WOLFSSL_EVP_CIPHER_CTX;
    WOLFSSL_EVP_MD;
    WOLFSSL_EVP_MD_CTX;
    WOLFSSL_HMAC_CTX;
    WOLFSSL_CMAC_CTX;
    WOLFSSL_ENGINE;
    WOLFSSL_RSA;
    WOLFSSL_BIGNUM;
    WC_RNG;
    ecc_key;
    ecc_point;
}

c_functions! { loaded:
    fn wolfSSL_Init() -> c_int;
    fn wolfSSL_lib_version() -> *const c_char;
    fn wolfSSL_ERR_get_error() -> c_ulong;
    fn wolfSSL_ERR_clear_error();

    fn wolfSSL_EVP_aes_128_cbc() -> *const WOLFSSL_EVP_CIPHER;
    fn wolfSSL_EVP_aes_192_cbc() -> *const WOLFSSL_EVP_CIPHER;
    fn wolfSSL_EVP_aes_256_cbc() -> *const WOLFSSL_EVP_CIPHER;
    fn wolfSSL_EVP_aes_128_ecb() -> *const WOLFSSL_EVP_CIPHER;
    fn wolfSSL_EVP_aes_192_ecb() -> *const WOLFSSL_EVP_CIPHER;
    fn wolfSSL_EVP_aes_256_ecb() -> *const WOLFSSL_EVP_CIPHER;
    fn wolfSSL_EVP_aes_128_ctr() -> *const WOLFSSL_EVP_CIPHER;
    fn wolfSSL_EVP_aes_192_ctr() -> *const WOLFSSL_EVP_CIPHER;
    fn wolfSSL_EVP_aes_256_ctr() -> *const WOLFSSL_EVP_CIPHER;
    fn wolfSSL_EVP_aes_128_xts() -> *const WOLFSSL_EVP_CIPHER;
    fn wolfSSL_EVP_aes_256_xts() -> *const WOLFSSL_EVP_CIPHER;
    fn wolfSSL_EVP_aes_128_gcm() -> *const WOLFSSL_EVP_CIPHER;
    fn wolfSSL_EVP_aes_192_gcm() -> *const WOLFSSL_EVP_CIPHER;
    fn wolfSSL_EVP_aes_256_gcm() -> *const WOLFSSL_EVP_CIPHER;
    fn wolfSSL_EVP_chacha20() -> *const WOLFSSL_EVP_CIPHER;
    fn wolfSSL_EVP_chacha20_poly1305() -> *const WOLFSSL_EVP_CIPHER;
    fn wolfSSL_EVP_des_cbc() -> *const WOLFSSL_EVP_CIPHER;
    fn wolfSSL_EVP_des_ede3_cbc() -> *const WOLFSSL_EVP_CIPHER;
    fn wolfSSL_EVP_des_ecb() -> *const WOLFSSL_EVP_CIPHER;
    fn wolfSSL_EVP_des_ede3_ecb() -> *const WOLFSSL_EVP_CIPHER;
    fn wolfSSL_EVP_CIPHER_CTX_new() -> *mut WOLFSSL_EVP_CIPHER_CTX;
    fn wolfSSL_EVP_CIPHER_CTX_free(context: *mut WOLFSSL_EVP_CIPHER_CTX);
    fn wolfSSL_EVP_CIPHER_CTX_set_padding(context: *mut WOLFSSL_EVP_CIPHER_CTX, padding: c_int) -> c_int;
    fn wolfSSL_EVP_CIPHER_CTX_ctrl(context: *mut WOLFSSL_EVP_CIPHER_CTX, what: c_int, length: c_int, value: *mut c_void) -> c_int;
    fn wolfSSL_EVP_CipherInit_ex(context: *mut WOLFSSL_EVP_CIPHER_CTX, cipher: *const WOLFSSL_EVP_CIPHER, engine: *mut WOLFSSL_ENGINE, key: *const u8, iv: *const u8, encrypt: c_int) -> c_int;
    fn wolfSSL_EVP_CipherUpdate(context: *mut WOLFSSL_EVP_CIPHER_CTX, output: *mut u8, written: *mut c_int, input: *const u8, length: c_int) -> c_int;
    fn wolfSSL_EVP_CipherFinal(context: *mut WOLFSSL_EVP_CIPHER_CTX, output: *mut u8, written: *mut c_int) -> c_int;

    fn wolfSSL_EVP_md5() -> *const WOLFSSL_EVP_MD;
    fn wolfSSL_EVP_sha1() -> *const WOLFSSL_EVP_MD;
    fn wolfSSL_EVP_sha224() -> *const WOLFSSL_EVP_MD;
    fn wolfSSL_EVP_sha256() -> *const WOLFSSL_EVP_MD;
    fn wolfSSL_EVP_sha384() -> *const WOLFSSL_EVP_MD;
    fn wolfSSL_EVP_sha512() -> *const WOLFSSL_EVP_MD;
    fn wolfSSL_EVP_sha3_256() -> *const WOLFSSL_EVP_MD;
    fn wolfSSL_EVP_sha3_512() -> *const WOLFSSL_EVP_MD;
    fn wolfSSL_EVP_MD_CTX_new() -> *mut WOLFSSL_EVP_MD_CTX;
    fn wolfSSL_EVP_MD_CTX_free(context: *mut WOLFSSL_EVP_MD_CTX);
    fn wolfSSL_EVP_DigestInit(context: *mut WOLFSSL_EVP_MD_CTX, digest: *const WOLFSSL_EVP_MD) -> c_int;
    fn wolfSSL_EVP_DigestUpdate(context: *mut WOLFSSL_EVP_MD_CTX, input: *const c_void, length: usize) -> c_int;
    fn wolfSSL_EVP_DigestFinal(context: *mut WOLFSSL_EVP_MD_CTX, output: *mut u8, written: *mut c_uint) -> c_int;

    fn wolfSSL_HMAC_CTX_new() -> *mut WOLFSSL_HMAC_CTX;
    fn wolfSSL_HMAC_CTX_free(context: *mut WOLFSSL_HMAC_CTX);
    fn wolfSSL_HMAC_Init(context: *mut WOLFSSL_HMAC_CTX, key: *const c_void, length: c_int, digest: *const WOLFSSL_EVP_MD) -> c_int;
    fn wolfSSL_HMAC_Update(context: *mut WOLFSSL_HMAC_CTX, input: *const u8, length: c_int) -> c_int;
    fn wolfSSL_HMAC_Final(context: *mut WOLFSSL_HMAC_CTX, output: *mut u8, written: *mut c_uint) -> c_int;

    fn wolfSSL_CMAC_CTX_new() -> *mut WOLFSSL_CMAC_CTX;
    fn wolfSSL_CMAC_CTX_free(context: *mut WOLFSSL_CMAC_CTX);
    fn wolfSSL_CMAC_Init(context: *mut WOLFSSL_CMAC_CTX, key: *const c_void, length: usize, cipher: *const WOLFSSL_EVP_CIPHER, engine: *mut WOLFSSL_ENGINE) -> c_int;
    fn wolfSSL_CMAC_Update(context: *mut WOLFSSL_CMAC_CTX, input: *const c_void, length: usize) -> c_int;
    fn wolfSSL_CMAC_Final(context: *mut WOLFSSL_CMAC_CTX, output: *mut u8, written: *mut usize) -> c_int;

    // wolfssl/ssl.h and openssl/rsa.h, bn.h
    fn wolfSSL_d2i_RSAPrivateKey(key: *mut *mut WOLFSSL_RSA, der: *mut *const u8, length: c_long) -> *mut WOLFSSL_RSA;
    fn wolfSSL_d2i_RSAPublicKey(key: *mut *mut WOLFSSL_RSA, der: *mut *const u8, length: c_long) -> *mut WOLFSSL_RSA;
    /// Returns the length. If `der` is not null, the key is written there.
    fn wolfSSL_i2d_RSAPrivateKey(key: *mut WOLFSSL_RSA, der: *mut *mut u8) -> c_int;
    fn wolfSSL_RSA_new() -> *mut WOLFSSL_RSA;
    fn wolfSSL_RSA_free(key: *mut WOLFSSL_RSA);
    fn wolfSSL_RSA_generate_key_ex(key: *mut WOLFSSL_RSA, bits: c_int, exponent: *mut WOLFSSL_BIGNUM, told: *mut c_void) -> c_int;
    fn wolfSSL_RSA_sign_generic_padding(digest: c_int, input: *const u8, length: c_uint, signature: *mut u8, written: *mut c_uint, key: *mut WOLFSSL_RSA, signs: c_int, padding: c_int) -> c_int;
    fn wolfSSL_RSA_verify_ex(digest: c_int, input: *const u8, length: c_uint, signature: *const u8, signature_length: c_uint, key: *mut WOLFSSL_RSA, padding: c_int) -> c_int;
    fn wolfSSL_BN_new() -> *mut WOLFSSL_BIGNUM;
    fn wolfSSL_BN_free(number: *mut WOLFSSL_BIGNUM);
    fn wolfSSL_BN_set_word(number: *mut WOLFSSL_BIGNUM, word: c_ulong) -> c_int;

    // wolfssl/openssl/ec25519.h
    fn wolfSSL_EC25519_generate_key(private: *mut u8, private_length: *mut c_uint, public: *mut u8, public_length: *mut c_uint) -> c_int;
    fn wolfSSL_EC25519_shared_key(secret: *mut u8, written: *mut c_uint, private: *const u8, private_length: c_uint, public: *const u8, public_length: c_uint) -> c_int;

    // wolfssl/wolfcrypt/random.h and ecc.h: 0 for success.
    fn wc_rng_new(nonce: *mut u8, length: c_uint, heap: *mut c_void) -> *mut WC_RNG;
    fn wc_rng_free(generator: *mut WC_RNG);
    fn wc_ecc_key_new(heap: *mut c_void) -> *mut ecc_key;
    fn wc_ecc_key_free(key: *mut ecc_key);
    fn wc_ecc_set_rng(key: *mut ecc_key, generator: *mut WC_RNG) -> c_int;
    fn wc_ecc_make_key_ex(generator: *mut WC_RNG, size: c_int, key: *mut ecc_key, curve: c_int) -> c_int;
    fn wc_ecc_import_private_key_ex(private: *const u8, private_length: c_uint, public: *const u8, public_length: c_uint, key: *mut ecc_key, curve: c_int) -> c_int;
    fn wc_ecc_import_x963_ex(public: *const u8, length: c_uint, key: *mut ecc_key, curve: c_int) -> c_int;
    fn wc_ecc_check_key(key: *mut ecc_key) -> c_int;
    fn wc_ecc_export_private_only(key: *mut ecc_key, output: *mut u8, length: *mut c_uint) -> c_int;
    fn wc_ecc_export_x963(key: *mut ecc_key, output: *mut u8, length: *mut c_uint) -> c_int;
    fn wc_ecc_sign_hash(digest: *const u8, length: c_uint, signature: *mut u8, written: *mut c_uint, generator: *mut WC_RNG, key: *mut ecc_key) -> c_int;
    fn wc_ecc_verify_hash(signature: *const u8, signature_length: c_uint, digest: *const u8, length: c_uint, fits: *mut c_int, key: *mut ecc_key) -> c_int;
    /// Frees the tables that the library keeps for points.
    fn wc_ecc_fp_free();
    fn wc_ecc_get_curve_idx(curve: c_int) -> c_int;
    fn wc_ecc_new_point() -> *mut ecc_point;
    fn wc_ecc_del_point(point: *mut ecc_point);
    fn wc_ecc_import_point_der_ex(point: *const u8, length: c_uint, curve_index: c_int, output: *mut ecc_point, shortened: c_int) -> c_int;
    fn wc_ecc_point_is_on_curve(point: *mut ecc_point, curve_index: c_int) -> c_int;
    fn wc_ecc_shared_secret_ex(key: *mut ecc_key, point: *mut ecc_point, secret: *mut u8, written: *mut c_uint) -> c_int;
}
