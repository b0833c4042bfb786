//! The part of Nettle 3's C interface that the provider uses, from its headers.

use crate::loaded::c_functions;
use core::ffi::{c_char, c_int, c_uint, c_void};

// nettle-types.h. The first argument of each is a context.
type SetKey = unsafe extern "C" fn(*mut c_void, *const u8);
type Init = unsafe extern "C" fn(*mut c_void);
type Update = unsafe extern "C" fn(*mut c_void, usize, *const u8);
type Digest = unsafe extern "C" fn(*mut c_void, usize, *mut u8);
/// Length, output, input.
type Crypt = unsafe extern "C" fn(*mut c_void, usize, *mut u8, *const u8);
/// The same of a block cipher, which does not change its context.
pub(super) type CryptBlocks = unsafe extern "C" fn(*const c_void, usize, *mut u8, *const u8);

/// `struct nettle_cipher` (nettle-meta.h).
#[repr(C)]
pub(super) struct CipherTable {
    name: *const c_char,
    pub(super) context_size: c_uint,
    pub(super) block_size: c_uint,
    key_size: c_uint,
    pub(super) set_encrypt_key: SetKey,
    pub(super) set_decrypt_key: SetKey,
    pub(super) encrypt: CryptBlocks,
    pub(super) decrypt: CryptBlocks,
}

/// `struct nettle_aead` (nettle-meta.h).
#[repr(C)]
pub(super) struct AeadTable {
    name: *const c_char,
    pub(super) context_size: c_uint,
    pub(super) block_size: c_uint,
    key_size: c_uint,
    nonce_size: c_uint,
    digest_size: c_uint,
    pub(super) set_encrypt_key: SetKey,
    pub(super) set_decrypt_key: SetKey,
    pub(super) set_nonce: SetKey,
    pub(super) update: Update,
    pub(super) encrypt: Crypt,
    pub(super) decrypt: Crypt,
    pub(super) digest: Digest,
}

/// `struct nettle_hash` (nettle-meta.h); `struct nettle_mac` has as much as this in front.
#[repr(C)]
pub(super) struct HashTable {
    name: *const c_char,
    pub(super) context_size: c_uint,
    digest_size: c_uint,
    block_size: c_uint,
    pub(super) init: Init,
    pub(super) update: Update,
    pub(super) digest: Digest,
}

c_functions! { loaded:
    fn nettle_version_major() -> c_int;
    fn nettle_version_minor() -> c_int;
    fn nettle_cbc_encrypt(context: *const c_void, step: CryptBlocks, block: usize, iv: *mut u8, length: usize, output: *mut u8, input: *const u8);
    fn nettle_cbc_decrypt(context: *const c_void, step: CryptBlocks, block: usize, iv: *mut u8, length: usize, output: *mut u8, input: *const u8);
    fn nettle_ctr_crypt(context: *const c_void, step: CryptBlocks, block: usize, counter: *mut u8, length: usize, output: *mut u8, input: *const u8);
    fn nettle_hmac_sha256_set_key(context: *mut c_void, length: usize, key: *const u8);
    fn nettle_hmac_sha256_update(context: *mut c_void, length: usize, data: *const u8);
    fn nettle_hmac_sha256_digest(context: *mut c_void, length: usize, digest: *mut u8);
    /// In constant time; 1 if they are equal.
    fn nettle_memeql_sec(one: *const c_void, other: *const c_void, length: usize) -> c_int;
}
