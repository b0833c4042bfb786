//! The part of wolfSSL's C interface that the provider uses, from wolfssl/openssl/evp.h, hmac.h and cmac.h of
//! wolfSSL 5.5: what it offers to programs written for OpenSSL. Its contexts are allocated by the library,
//! whose own structures differ from build to build.
//!
//! Functions return 1 for success.

// C names stay as the headers spell them.
#![allow(non_camel_case_types, non_snake_case)]

use crate::loaded::c_functions;
use core::ffi::{c_char, c_int, c_uint, c_ulong, c_void};

/// Declares types that only C sees into.
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
}
