//! What goes over `/dev/crypto`: the structures, numbers and flags of cryptodev-linux, as its public header
//! `crypto/cryptodev.h` defines them (unchanged since release 1.6). The assertions at the end hold for LP64 and
//! ILP32, and a compiler for either checks them.
//!
//! A 32-bit program on a 64-bit kernel uses the module's compatibility layer. That layer knows [`GET_SESSION`],
//! [`FREE_SESSION`], [`SESSION_INFO`] and [`CRYPT`] but not [`AUTH_CRYPT`] (EINVAL), and numbers the
//! asynchronous calls differently from the native layer.

use libc::Ioctl;

/// The module's letter in every request number.
const LETTER: u32 = b'c' as u32;

/// CRIOGET: another descriptor of the same open file. On other systems, `/dev/crypto` makes sessions only on
/// such a descriptor. Linux's header says that it is not needed (`CRIOGET_NOT_NEEDED`), and each of our
/// sessions has its own open file. It is listed only for completeness.
pub(super) const CLONE: Ioctl = libc::_IOWR::<u32>(LETTER, 101);
/// CIOCGSESSION: makes a session, which is an algorithm and its key.
pub(super) const GET_SESSION: Ioctl = libc::_IOWR::<SessionOp>(LETTER, 102);
/// CIOCFSESSION: frees a session. The module also answers 0 for a session that it does not know.
pub(super) const FREE_SESSION: Ioctl = libc::_IOW::<u32>(LETTER, 103);
/// CIOCCRYPT: one message through a cipher or a hash.
pub(super) const CRYPT: Ioctl = libc::_IOWR::<CryptOp>(LETTER, 104);
/// CIOCGSESSINFO: which driver the kernel took.
pub(super) const SESSION_INFO: Ioctl = libc::_IOWR::<SessionInfo>(LETTER, 107);
/// CIOCAUTHCRYPT: one message through an AEAD.
pub(super) const AUTH_CRYPT: Ioctl = libc::_IOWR::<AuthOp>(LETTER, 109);
/// CIOCASYNCCRYPT, in modules built with `ENABLE_ASYNC`: submits a message and returns. The module's work queue
/// runs jobs one after another, so this adds no depth at an engine. Nothing calls it yet.
pub(super) const ASYNC_CRYPT: Ioctl = libc::_IOW::<CryptOp>(LETTER, 110);
/// CIOCASYNCFETCH: takes back a message that is complete, or fails with EBUSY.
pub(super) const ASYNC_FETCH: Ioctl = libc::_IOR::<CryptOp>(LETTER, 111);

/// CRYPTO_DES_CBC.
pub(super) const DES_CBC: u32 = 1;
/// CRYPTO_3DES_CBC.
pub(super) const TRIPLE_DES_CBC: u32 = 2;
/// CRYPTO_SHA1_HMAC.
pub(super) const HMAC_SHA1: u32 = 7;
/// CRYPTO_AES_CBC.
pub(super) const AES_CBC: u32 = 11;
/// CRYPTO_MD5.
pub(super) const MD5: u32 = 13;
/// CRYPTO_SHA1.
pub(super) const SHA1: u32 = 14;
/// CRYPTO_NULL: `ecb(cipher_null)`, which copies.
pub(super) const NULL: u32 = 16;
/// CRYPTO_SHA2_256_HMAC.
pub(super) const HMAC_SHA256: u32 = 18;
/// CRYPTO_SHA2_512_HMAC.
pub(super) const HMAC_SHA512: u32 = 20;
/// CRYPTO_AES_CTR.
pub(super) const AES_CTR: u32 = 21;
/// CRYPTO_AES_XTS.
pub(super) const AES_XTS: u32 = 22;
/// CRYPTO_AES_ECB.
pub(super) const AES_ECB: u32 = 23;
/// CRYPTO_AES_GCM.
pub(super) const AES_GCM: u32 = 50;
/// CRYPTO_CAMELLIA_CBC.
pub(super) const CAMELLIA_CBC: u32 = 101;
/// CRYPTO_SHA2_224.
pub(super) const SHA224: u32 = 103;
/// CRYPTO_SHA2_256.
pub(super) const SHA256: u32 = 104;
/// CRYPTO_SHA2_384.
pub(super) const SHA384: u32 = 105;
/// CRYPTO_SHA2_512.
pub(super) const SHA512: u32 = 106;

/// COP_ENCRYPT, which hashes use as well.
pub(super) const ENCRYPT: u16 = 0;
/// COP_DECRYPT.
pub(super) const DECRYPT: u16 = 1;

/// COP_FLAG_NO_ZC, in the answer: the buffers did not meet the alignment, so the message was copied
/// a page at a time instead of being mapped.
#[cfg(test)]
pub(super) const COPIED: u16 = 1 << 3;

/// SIOP_FLAG_KERNEL_DRIVER_ONLY: user space cannot reach what the driver uses. Not every driver of an engine
/// sets it (virtio-crypto's does not).
pub(super) const KERNEL_DRIVER_ONLY: u32 = 1;

/// The longest HMAC key that the module takes (CRYPTO_HMAC_MAX_KEY_LEN).
pub(super) const MAX_HMAC_KEY: usize = 512;
/// Bytes of a name in [`SessionInfo`], including its final 0 (CRYPTODEV_MAX_ALG_NAME).
pub(super) const NAME: usize = 64;

/// `struct session_op`.
#[repr(C)]
pub(super) struct SessionOp {
    pub(super) cipher: u32,
    pub(super) mac: u32,
    pub(super) keylen: u32,
    pub(super) key: *const u8,
    pub(super) mackeylen: u32,
    pub(super) mackey: *const u8,
    /// The session's number, which the module fills in.
    pub(super) ses: u32,
}

/// `struct alg_info`: names that end with a 0.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct AlgInfo {
    pub(super) cra_name: [u8; NAME],
    pub(super) cra_driver_name: [u8; NAME],
}

/// `struct session_info_op`.
#[repr(C)]
pub(super) struct SessionInfo {
    pub(super) ses: u32,
    pub(super) cipher_info: AlgInfo,
    pub(super) hash_info: AlgInfo,
    pub(super) alignmask: u16,
    pub(super) flags: u32,
}

/// `struct crypt_op`. The module writes it back, flags included, so each message needs a new one.
#[repr(C)]
pub(super) struct CryptOp {
    pub(super) ses: u32,
    pub(super) op: u16,
    pub(super) flags: u16,
    pub(super) len: u32,
    pub(super) src: *const u8,
    pub(super) dst: *mut u8,
    pub(super) mac: *mut u8,
    pub(super) iv: *const u8,
}

/// `struct crypt_auth_op`. The module writes it back: `len` is then the output's length, and `tag` points to
/// the tag.
#[repr(C)]
pub(super) struct AuthOp {
    pub(super) ses: u32,
    pub(super) op: u16,
    pub(super) flags: u16,
    /// For encryption the message; for decryption the message and its tag.
    pub(super) len: u32,
    pub(super) auth_len: u32,
    pub(super) auth_src: *const u8,
    pub(super) src: *const u8,
    /// Must have room for the message and its tag in both directions, because the module maps that much.
    pub(super) dst: *mut u8,
    /// Not used in plain AEAD mode, where the tag follows the ciphertext.
    pub(super) tag: *mut u8,
    pub(super) tag_len: u32,
    pub(super) iv: *const u8,
    pub(super) iv_len: u32,
}

/// Asserts that a structure has this size and its members these offsets.
macro_rules! layout {
    ($structure:ty, $size:literal; $($member:ident $offset:literal),*) => {
        const _: () = {
            assert!(size_of::<$structure>() == $size);
            $(assert!(core::mem::offset_of!($structure, $member) == $offset);)*
        };
    };
}

layout!(AlgInfo, 128; cra_name 0, cra_driver_name 64);
layout!(SessionInfo, 268; ses 0, cipher_info 4, hash_info 132, alignmask 260, flags 264);

#[cfg(target_pointer_width = "64")]
mod lp64 {
    use super::*;
    layout!(SessionOp, 48; cipher 0, mac 4, keylen 8, key 16, mackeylen 24, mackey 32, ses 40);
    layout!(CryptOp, 48; ses 0, op 4, flags 6, len 8, src 16, dst 24, mac 32, iv 40);
    layout!(AuthOp, 72; ses 0, op 4, flags 6, len 8, auth_len 12, auth_src 16, src 24, dst 32, tag 40,
        tag_len 48, iv 56, iv_len 64);
}

#[cfg(target_pointer_width = "32")]
mod ilp32 {
    use super::*;
    layout!(SessionOp, 28; cipher 0, mac 4, keylen 8, key 12, mackeylen 16, mackey 20, ses 24);
    layout!(CryptOp, 28; ses 0, op 4, flags 6, len 8, src 12, dst 16, mac 20, iv 24);
    layout!(AuthOp, 44; ses 0, op 4, flags 6, len 8, auth_len 12, auth_src 16, src 20, dst 24, tag 28,
        tag_len 32, iv 36, iv_len 40);
}

/// Request numbers in the encoding of `asm-generic/ioctl.h`. MIPS, PowerPC and SPARC have another encoding,
/// which libc computes and which is not checked here.
#[cfg(not(any(
    target_arch = "mips",
    target_arch = "mips64",
    target_arch = "powerpc",
    target_arch = "powerpc64",
    target_arch = "sparc",
    target_arch = "sparc64"
)))]
const _: () = {
    // A request number is 32 bits, whatever width and sign the C library gives it.
    const fn number(request: Ioctl) -> u32 {
        request as u32
    }
    assert!(number(CLONE) == 0xc004_6365);
    assert!(number(FREE_SESSION) == 0x4004_6367);
    assert!(number(SESSION_INFO) == 0xc10c_636b);
    if size_of::<usize>() == 8 {
        assert!(number(GET_SESSION) == 0xc030_6366);
        assert!(number(CRYPT) == 0xc030_6368);
        assert!(number(AUTH_CRYPT) == 0xc048_636d);
        assert!(number(ASYNC_CRYPT) == 0x4030_636e);
        assert!(number(ASYNC_FETCH) == 0x8030_636f);
    } else {
        assert!(number(GET_SESSION) == 0xc01c_6366);
        assert!(number(CRYPT) == 0xc01c_6368);
        assert!(number(AUTH_CRYPT) == 0xc02c_636d);
        assert!(number(ASYNC_CRYPT) == 0x401c_636e);
        assert!(number(ASYNC_FETCH) == 0x801c_636f);
    }
};
