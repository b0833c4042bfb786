//! How Mbed TLS is driven, written once for every version and every way to reach it: the two builds of 3.6 that cpb is
//! linked with, an installed 2.28 or 3 that is loaded, and the firmware's 2.28.
//!
//! What a session calls is a type parameter, so that each call goes straight to its C function: [`Functions`] and
//! [`Rsa`] of every Mbed TLS, [`Linked`] and [`Sha3`] of one that a program is linked with. [`mod@functions`] declares all
//! of them, [`mod@linked`] makes a linked library of a prefix and a table of sizes, [`open()`] opens its sessions.
//!
//! Functions that return an int return 0 for success.
//!
//! # Safety of every call into C here
//! Contexts are initialised, stay where they are until they are freed ([`Held`]), and hold a key before they are
//! used. Keys have the algorithm's length. A job's pointers are valid for the session's lengths, which
//! [`RawJobs::new`](cpb_session::raw_jobs::RawJobs::new) compared with the buffers themselves. What describes a digest
//! or a cipher is static in the library.

#![no_std]

extern crate alloc;

pub mod aeads;
pub mod ciphers;
pub mod digests;
pub mod functions;
pub mod generators;
mod held;
pub mod key_pairs;
pub mod limits;
pub mod linked;
pub mod macs;
mod open;
pub mod public_key;
pub mod sha3;
pub mod types;

pub use functions::{Functions, Linked, Rsa, Sha, Sha3};
pub use held::{Has, Held};
pub use open::{open, open_with_sha3};

use core::ffi::c_int;
use cpb_core::Error;

// mbedtls/gcm.h, ccm.h, chachapoly.h and cipher.h: the tag did not match.
const ERR_GCM_AUTH_FAILED: c_int = -0x0012;
const ERR_CCM_AUTH_FAILED: c_int = -0x000f;
const ERR_CHACHAPOLY_AUTH_FAILED: c_int = -0x0056;
const ERR_CIPHER_AUTH_FAILED: c_int = -0x6300;

/// What a status means.
///
/// # Errors
/// A tag that does not fit is a refusal, and all else that is not 0 an error.
#[inline]
pub fn succeeded(status: c_int) -> Result<(), Error> {
    if status == 0 { Ok(()) } else { Err(failed(status)) }
}

/// Out of line, so that the code in line in each call is short.
#[cold]
fn failed(status: c_int) -> Error {
    match status {
        ERR_GCM_AUTH_FAILED
        | ERR_CCM_AUTH_FAILED
        | ERR_CHACHAPOLY_AUTH_FAILED
        | ERR_CIPHER_AUTH_FAILED => Error::Refused,
        code => Error::Device(code),
    }
}

/// What C calls a key's length.
fn bits(key: &[u8]) -> core::ffi::c_uint {
    key.len() as core::ffi::c_uint * 8
}

/// The first bytes at `iv`.
///
/// # Safety
/// They are there.
#[inline]
unsafe fn start<const LENGTH: usize>(iv: *const u8) -> [u8; LENGTH] {
    // SAFETY: as promised by the caller; bytes need no alignment.
    unsafe { iv.cast::<[u8; LENGTH]>().read() }
}
