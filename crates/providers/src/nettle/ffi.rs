//! The part of Nettle 3's C interface that the provider uses, from its headers.

// Signatures have as many arguments as in the headers.
#![allow(clippy::too_many_arguments)]

use crate::loaded::c_functions;
use core::ffi::{c_char, c_int, c_uint, c_void};

// nettle-types.h. The first argument of each is a context.
pub(super) type SetKey = unsafe extern "C" fn(*mut c_void, *const u8);
type Init = unsafe extern "C" fn(*mut c_void);
type Update = unsafe extern "C" fn(*mut c_void, usize, *const u8);
type DigestFunction = unsafe extern "C" fn(*mut c_void, usize, *mut u8);
/// Context, length, key.
pub(super) type SetKeyOfLength = unsafe extern "C" fn(*mut c_void, usize, *const u8);
/// Length, output, input.
type Crypt = unsafe extern "C" fn(*mut c_void, usize, *mut u8, *const u8);
/// The same for a block cipher, which does not change its context.
pub(super) type CryptBlocks = unsafe extern "C" fn(*const c_void, usize, *mut u8, *const u8);

/// `struct nettle_cipher` (nettle-meta.h).
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct CipherTable {
    pub(super) name: *const c_char,
    pub(super) context_size: c_uint,
    pub(super) block_size: c_uint,
    pub(super) key_size: c_uint,
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
    pub(super) digest: DigestFunction,
}

/// `struct nettle_hash` (nettle-meta.h).
#[repr(C)]
pub(super) struct HashTable {
    name: *const c_char,
    pub(super) context_size: c_uint,
    digest_size: c_uint,
    block_size: c_uint,
    pub(super) init: Init,
    pub(super) update: Update,
    pub(super) digest: DigestFunction,
}

/// `struct nettle_mac` (nettle-meta.h).
#[repr(C)]
pub(super) struct MacTable {
    name: *const c_char,
    pub(super) context_size: c_uint,
    digest_size: c_uint,
    key_size: c_uint,
    /// Takes `key_size` bytes.
    pub(super) set_key: SetKey,
    pub(super) update: Update,
    pub(super) digest: DigestFunction,
}

/// `union nettle_block16` (nettle-types.h).
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(super) struct Block16([u64; 2]);

/// `struct ccm_ctx` (ccm.h).
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(super) struct CcmContext {
    counter: Block16,
    tag: Block16,
    length: c_uint,
}

c_functions! { loaded:
    fn nettle_version_major() -> c_int;
    fn nettle_version_minor() -> c_int;
    fn nettle_cbc_encrypt(context: *const c_void, step: CryptBlocks, block: usize, iv: *mut u8, length: usize, output: *mut u8, input: *const u8);
    fn nettle_cbc_decrypt(context: *const c_void, step: CryptBlocks, block: usize, iv: *mut u8, length: usize, output: *mut u8, input: *const u8);
    fn nettle_ctr_crypt(context: *const c_void, step: CryptBlocks, block: usize, counter: *mut u8, length: usize, output: *mut u8, input: *const u8);
    fn nettle_xts_encrypt_message(data: *const c_void, tweak: *const c_void, encrypt: CryptBlocks, iv: *const u8, length: usize, output: *mut u8, input: *const u8);
    fn nettle_xts_decrypt_message(data: *const c_void, tweak: *const c_void, decrypt: CryptBlocks, encrypt: CryptBlocks, iv: *const u8, length: usize, output: *mut u8, input: *const u8);
    /// Lengths are those of nonce, associated data, message and tag.
    fn nettle_ccm_set_nonce(message: *mut CcmContext, context: *const c_void, step: CryptBlocks, nonce_length: usize, nonce: *const u8, associated: usize, length: usize, tag: usize);
    fn nettle_ccm_update(message: *mut CcmContext, context: *const c_void, step: CryptBlocks, length: usize, associated: *const u8);
    fn nettle_ccm_encrypt(message: *mut CcmContext, context: *const c_void, step: CryptBlocks, length: usize, output: *mut u8, input: *const u8);
    fn nettle_ccm_decrypt(message: *mut CcmContext, context: *const c_void, step: CryptBlocks, length: usize, output: *mut u8, input: *const u8);
    fn nettle_ccm_digest(message: *mut CcmContext, context: *const c_void, step: CryptBlocks, length: usize, tag: *mut u8);
    fn nettle_chacha_set_key(context: *mut c_void, key: *const u8);
    fn nettle_chacha_set_nonce96(context: *mut c_void, nonce: *const u8);
    fn nettle_chacha_set_counter32(context: *mut c_void, counter: *const u8);
    fn nettle_chacha_crypt32(context: *mut c_void, length: usize, output: *mut u8, input: *const u8);
    /// 1 for a good key, 0 for a weak one, which is set all the same.
    fn nettle_des_set_key(context: *mut c_void, key: *const u8) -> c_int;
    fn nettle_des3_set_key(context: *mut c_void, key: *const u8) -> c_int;
    /// Compares in constant time; 1 if both are equal.
    fn nettle_memeql_sec(one: *const c_void, other: *const c_void, length: usize) -> c_int;
}
