//! The generic functions of ciphers and digests, from mbedtls/cipher.h, md.h and version.h, which are the same
//! in Mbed TLS 2.28 and 3. The other functions are declared in `cpb_mbedtls::functions` and loaded by
//! library.rs.
//!
//! Functions return 0 for success, and so does a function that the library lacks. So whether it is there is
//! checked before it is called.

use crate::loaded::c_functions;
use core::ffi::{c_char, c_int, c_uint};
use cpb_mbedtls::types::{CipherContext, CipherInfo, MdContext, MdInfo};

// mbedtls/cipher.h
pub(super) const MBEDTLS_DECRYPT: c_int = 0;
pub(super) const MBEDTLS_ENCRYPT: c_int = 1;
pub(super) const MBEDTLS_PADDING_NONE: c_int = 4;
// library/aesni.h
pub(super) const MBEDTLS_AESNI_AES: c_uint = 0x0200_0000;

c_functions! { loaded:
    fn mbedtls_version_get_number() -> c_uint;
    /// Writes up to 9 bytes, the last a NUL.
    fn mbedtls_version_get_string(string: *mut c_char);
    /// 0 if the library was built with the feature.
    fn mbedtls_version_check_feature(feature: *const c_char) -> c_int;
    /// Internal to the library, and on x86 only: whether the CPU has a feature.
    fn mbedtls_aesni_has_support(what: c_uint) -> c_int;

    /// Null if no cipher has that name.
    fn mbedtls_cipher_info_from_string(name: *const c_char) -> *const CipherInfo;
    fn mbedtls_cipher_setkey(context: *mut CipherContext, key: *const u8, bits: c_int, operation: c_int) -> c_int;
    fn mbedtls_cipher_set_padding_mode(context: *mut CipherContext, mode: c_int) -> c_int;
    fn mbedtls_cipher_set_iv(context: *mut CipherContext, iv: *const u8, length: usize) -> c_int;
    fn mbedtls_cipher_reset(context: *mut CipherContext) -> c_int;
    fn mbedtls_cipher_update_ad(context: *mut CipherContext, associated: *const u8, length: usize) -> c_int;
    fn mbedtls_cipher_update(context: *mut CipherContext, input: *const u8, length: usize, output: *mut u8, written: *mut usize) -> c_int;
    fn mbedtls_cipher_finish(context: *mut CipherContext, output: *mut u8, written: *mut usize) -> c_int;
    fn mbedtls_cipher_write_tag(context: *mut CipherContext, tag: *mut u8, length: usize) -> c_int;
    fn mbedtls_cipher_check_tag(context: *mut CipherContext, tag: *const u8, length: usize) -> c_int;

    /// Null if no digest has that name.
    fn mbedtls_md_info_from_string(name: *const c_char) -> *const MdInfo;
    fn mbedtls_md_starts(context: *mut MdContext) -> c_int;
    fn mbedtls_md_update(context: *mut MdContext, input: *const u8, length: usize) -> c_int;
    fn mbedtls_md_finish(context: *mut MdContext, output: *mut u8) -> c_int;
}
