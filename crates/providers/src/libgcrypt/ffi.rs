//! The part of libgcrypt's C interface that the provider uses, from gcrypt.h of libgcrypt 1.10.
//!
//! Functions return 0 for success, unless said otherwise.

// C names stay as the header spells them.
#![allow(non_camel_case_types)]

use crate::loaded::c_functions;
use core::ffi::{c_char, c_int, c_uint, c_void};

/// `struct gcry_cipher_handle`, which only C sees into.
#[repr(C)]
pub(crate) struct gcry_cipher_handle {
    _data: [u8; 0],
}

/// `struct gcry_md_handle`, which only C sees into.
#[repr(C)]
pub(crate) struct gcry_md_handle {
    _data: [u8; 0],
}

/// `struct gcry_mac_handle`, which only C sees into.
#[repr(C)]
pub(crate) struct gcry_mac_handle {
    _data: [u8; 0],
}

/// `gcry_control`, whose arguments depend on the command.
pub(super) type Control = unsafe extern "C" fn(command: c_int, ...) -> c_uint;

pub(super) const GCRYCTL_RESET: c_int = 4;
pub(super) const GCRYCTL_TEST_ALGO: c_int = 8;
pub(super) const GCRYCTL_INITIALIZATION_FINISHED: c_int = 38;
pub(super) const GCRYCTL_FIPS_MODE_P: c_int = 55;
pub(super) const GCRYCTL_DISABLE_HWF: c_int = 63;
pub(super) const GCRYCTL_SET_CCM_LENGTHS: c_int = 69;
/// Since 1.9.
pub(super) const GCRYCTL_SET_ALLOW_WEAK_KEY: c_int = 79;
pub(super) const GCRY_MD_FLAG_HMAC: c_uint = 2;
/// gpg-error.h: the tag does not verify.
pub(super) const GPG_ERR_CHECKSUM: c_uint = 10;
pub(super) const GPG_ERR_WEAK_KEY: c_uint = 43;
pub(super) const GPG_ERR_INV_VALUE: c_uint = 55;

c_functions! { loaded:
    /// Starts the library; null if it is older than asked for.
    fn gcry_check_version(oldest: *const c_char) -> *const c_char;
    /// Null, or text that `gcry_free` takes.
    fn gcry_get_config(mode: c_int, what: *const c_char) -> *mut c_char;
    fn gcry_free(memory: *mut c_void);
    fn gcry_cipher_open(handle: *mut *mut gcry_cipher_handle, cipher: c_int, mode: c_int, flags: c_uint) -> c_uint;
    fn gcry_cipher_close(handle: *mut gcry_cipher_handle);
    fn gcry_cipher_algo_info(cipher: c_int, what: c_int, answer: *mut c_void, length: *mut usize) -> c_uint;
    fn gcry_cipher_ctl(handle: *mut gcry_cipher_handle, command: c_int, data: *mut c_void, length: usize) -> c_uint;
    fn gcry_cipher_setkey(handle: *mut gcry_cipher_handle, key: *const u8, length: usize) -> c_uint;
    fn gcry_cipher_setiv(handle: *mut gcry_cipher_handle, iv: *const u8, length: usize) -> c_uint;
    fn gcry_cipher_setctr(handle: *mut gcry_cipher_handle, counter: *const u8, length: usize) -> c_uint;
    fn gcry_cipher_authenticate(handle: *mut gcry_cipher_handle, data: *const u8, length: usize) -> c_uint;
    /// A null input of no length stands for the output's own bytes.
    fn gcry_cipher_encrypt(handle: *mut gcry_cipher_handle, output: *mut u8, room: usize, input: *const u8, length: usize) -> c_uint;
    fn gcry_cipher_decrypt(handle: *mut gcry_cipher_handle, output: *mut u8, room: usize, input: *const u8, length: usize) -> c_uint;
    fn gcry_cipher_gettag(handle: *mut gcry_cipher_handle, tag: *mut u8, length: usize) -> c_uint;
    fn gcry_cipher_checktag(handle: *mut gcry_cipher_handle, tag: *const u8, length: usize) -> c_uint;
    fn gcry_md_algo_info(digest: c_int, what: c_int, answer: *mut c_void, length: *mut usize) -> c_uint;
    fn gcry_md_open(handle: *mut *mut gcry_md_handle, digest: c_int, flags: c_uint) -> c_uint;
    fn gcry_md_close(handle: *mut gcry_md_handle);
    fn gcry_md_reset(handle: *mut gcry_md_handle);
    fn gcry_md_setkey(handle: *mut gcry_md_handle, key: *const u8, length: usize) -> c_uint;
    fn gcry_md_write(handle: *mut gcry_md_handle, data: *const u8, length: usize);
    /// The digest, finished; it is the handle's own.
    fn gcry_md_read(handle: *mut gcry_md_handle, digest: c_int) -> *const u8;
    fn gcry_mac_algo_info(mac: c_int, what: c_int, answer: *mut c_void, length: *mut usize) -> c_uint;
    fn gcry_mac_open(handle: *mut *mut gcry_mac_handle, mac: c_int, flags: c_uint, context: *mut c_void) -> c_uint;
    fn gcry_mac_close(handle: *mut gcry_mac_handle);
    fn gcry_mac_ctl(handle: *mut gcry_mac_handle, command: c_int, data: *mut c_void, length: usize) -> c_uint;
    fn gcry_mac_setkey(handle: *mut gcry_mac_handle, key: *const u8, length: usize) -> c_uint;
    fn gcry_mac_write(handle: *mut gcry_mac_handle, data: *const u8, length: usize) -> c_uint;
    /// Takes the room that there is, and gives the length that was written.
    fn gcry_mac_read(handle: *mut gcry_mac_handle, output: *mut u8, length: *mut usize) -> c_uint;
}
