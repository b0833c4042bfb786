//! The part of libmbedcrypto's C interface that the provider uses, from mbedtls/cipher.h, cmac.h, ccm.h,
//! chacha20.h, poly1305.h, md.h and version.h: the same in Mbed TLS 2.28 and 3. What key pairs and generators
//! use is in library.rs.
//!
//! Functions return 0 for success, and so does one that the library lacks: whether it is there is asked
//! before it is called.

// C names, and as many arguments as functions have, stay as the headers spell them.
#![allow(non_camel_case_types, clippy::too_many_arguments)]

use crate::loaded::c_functions;
use core::ffi::{c_char, c_int, c_uint};

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
    mbedtls_cipher_info_t;
    mbedtls_cipher_context_t;
    mbedtls_md_info_t;
    mbedtls_md_context_t;
    mbedtls_ccm_context;
    mbedtls_chacha20_context;
    mbedtls_poly1305_context;
}

// mbedtls/cipher.h
pub(super) const MBEDTLS_DECRYPT: c_int = 0;
pub(super) const MBEDTLS_ENCRYPT: c_int = 1;
pub(super) const MBEDTLS_PADDING_NONE: c_int = 4;
pub(super) const MBEDTLS_CIPHER_ID_AES: c_int = 2;
pub(super) const MBEDTLS_ERR_CIPHER_AUTH_FAILED: c_int = -0x6300;
// mbedtls/ccm.h
pub(super) const MBEDTLS_ERR_CCM_AUTH_FAILED: c_int = -0x000f;
// mbedtls/rsa.h
pub(super) const RSA_PKCS_V15: c_int = 0;
pub(super) const RSA_PKCS_V21: c_int = 1;
// mbedtls/ecp.h: mbedtls_ecp_group_id, and the form of a point
pub(super) const ECP_DP_SECP256R1: c_int = 3;
pub(super) const ECP_DP_SECP384R1: c_int = 4;
pub(super) const ECP_DP_CURVE25519: c_int = 9;
pub(super) const ECP_PF_UNCOMPRESSED: c_int = 0;
// library/aesni.h
pub(super) const MBEDTLS_AESNI_AES: c_uint = 0x0200_0000;

c_functions! { loaded:
    fn mbedtls_version_get_number() -> c_uint;
    /// Writes up to 9 bytes, the last a NUL.
    fn mbedtls_version_get_string(string: *mut c_char);
    /// 0 if the library was built with it.
    fn mbedtls_version_check_feature(feature: *const c_char) -> c_int;
    /// Of the library's own, on x86 only: whether the CPU has it.
    fn mbedtls_aesni_has_support(what: c_uint) -> c_int;

    /// Null where there is none of that name.
    fn mbedtls_cipher_info_from_string(name: *const c_char) -> *const mbedtls_cipher_info_t;
    fn mbedtls_cipher_init(context: *mut mbedtls_cipher_context_t);
    fn mbedtls_cipher_free(context: *mut mbedtls_cipher_context_t);
    fn mbedtls_cipher_setup(context: *mut mbedtls_cipher_context_t, info: *const mbedtls_cipher_info_t) -> c_int;
    fn mbedtls_cipher_setkey(context: *mut mbedtls_cipher_context_t, key: *const u8, bits: c_int, operation: c_int) -> c_int;
    fn mbedtls_cipher_set_padding_mode(context: *mut mbedtls_cipher_context_t, mode: c_int) -> c_int;
    fn mbedtls_cipher_set_iv(context: *mut mbedtls_cipher_context_t, iv: *const u8, length: usize) -> c_int;
    fn mbedtls_cipher_reset(context: *mut mbedtls_cipher_context_t) -> c_int;
    fn mbedtls_cipher_update_ad(context: *mut mbedtls_cipher_context_t, associated: *const u8, length: usize) -> c_int;
    fn mbedtls_cipher_update(context: *mut mbedtls_cipher_context_t, input: *const u8, length: usize, output: *mut u8, written: *mut usize) -> c_int;
    fn mbedtls_cipher_finish(context: *mut mbedtls_cipher_context_t, output: *mut u8, written: *mut usize) -> c_int;
    fn mbedtls_cipher_write_tag(context: *mut mbedtls_cipher_context_t, tag: *mut u8, length: usize) -> c_int;
    fn mbedtls_cipher_check_tag(context: *mut mbedtls_cipher_context_t, tag: *const u8, length: usize) -> c_int;
    fn mbedtls_cipher_cmac_starts(context: *mut mbedtls_cipher_context_t, key: *const u8, bits: usize) -> c_int;
    fn mbedtls_cipher_cmac_reset(context: *mut mbedtls_cipher_context_t) -> c_int;
    fn mbedtls_cipher_cmac_update(context: *mut mbedtls_cipher_context_t, input: *const u8, length: usize) -> c_int;
    fn mbedtls_cipher_cmac_finish(context: *mut mbedtls_cipher_context_t, output: *mut u8) -> c_int;

    fn mbedtls_ccm_init(context: *mut mbedtls_ccm_context);
    fn mbedtls_ccm_free(context: *mut mbedtls_ccm_context);
    fn mbedtls_ccm_setkey(context: *mut mbedtls_ccm_context, cipher: c_int, key: *const u8, bits: c_uint) -> c_int;
    fn mbedtls_ccm_encrypt_and_tag(context: *mut mbedtls_ccm_context, length: usize, iv: *const u8, iv_length: usize, associated: *const u8, associated_length: usize, input: *const u8, output: *mut u8, tag: *mut u8, tag_length: usize) -> c_int;
    fn mbedtls_ccm_auth_decrypt(context: *mut mbedtls_ccm_context, length: usize, iv: *const u8, iv_length: usize, associated: *const u8, associated_length: usize, input: *const u8, output: *mut u8, tag: *const u8, tag_length: usize) -> c_int;

    fn mbedtls_chacha20_init(context: *mut mbedtls_chacha20_context);
    fn mbedtls_chacha20_free(context: *mut mbedtls_chacha20_context);
    fn mbedtls_chacha20_setkey(context: *mut mbedtls_chacha20_context, key: *const u8) -> c_int;
    fn mbedtls_chacha20_starts(context: *mut mbedtls_chacha20_context, nonce: *const u8, counter: u32) -> c_int;
    fn mbedtls_chacha20_update(context: *mut mbedtls_chacha20_context, length: usize, input: *const u8, output: *mut u8) -> c_int;

    fn mbedtls_poly1305_init(context: *mut mbedtls_poly1305_context);
    fn mbedtls_poly1305_free(context: *mut mbedtls_poly1305_context);
    fn mbedtls_poly1305_starts(context: *mut mbedtls_poly1305_context, key: *const u8) -> c_int;
    fn mbedtls_poly1305_update(context: *mut mbedtls_poly1305_context, input: *const u8, length: usize) -> c_int;
    fn mbedtls_poly1305_finish(context: *mut mbedtls_poly1305_context, output: *mut u8) -> c_int;

    /// Null where there is none of that name.
    fn mbedtls_md_info_from_string(name: *const c_char) -> *const mbedtls_md_info_t;
    fn mbedtls_md_init(context: *mut mbedtls_md_context_t);
    fn mbedtls_md_free(context: *mut mbedtls_md_context_t);
    fn mbedtls_md_setup(context: *mut mbedtls_md_context_t, info: *const mbedtls_md_info_t, hmac: c_int) -> c_int;
    fn mbedtls_md_starts(context: *mut mbedtls_md_context_t) -> c_int;
    fn mbedtls_md_update(context: *mut mbedtls_md_context_t, input: *const u8, length: usize) -> c_int;
    fn mbedtls_md_finish(context: *mut mbedtls_md_context_t, output: *mut u8) -> c_int;
    fn mbedtls_md_hmac_starts(context: *mut mbedtls_md_context_t, key: *const u8, length: usize) -> c_int;
    fn mbedtls_md_hmac_reset(context: *mut mbedtls_md_context_t) -> c_int;
    fn mbedtls_md_hmac_update(context: *mut mbedtls_md_context_t, input: *const u8, length: usize) -> c_int;
    fn mbedtls_md_hmac_finish(context: *mut mbedtls_md_context_t, output: *mut u8) -> c_int;
}
