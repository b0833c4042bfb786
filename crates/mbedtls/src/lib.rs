//! Code that drives Mbed TLS, written once for every version and every way to reach it: the two builds of 3.6
//! that cpb is linked with, an installed 2.28 or 3 that is loaded, and the firmware's 2.28.
//!
//! The library that a session calls is a type parameter, so each call goes directly to its C function. The
//! traits are [`Functions`] and [`Rsa`] for every Mbed TLS, and [`Linked`] and [`Sha3`] for one that a
//! program is linked with. [`mod@functions`] declares all of them, [`mod@linked`] makes a linked library from
//! a prefix and a table of sizes, and [`open()`] opens its sessions.
//!
//! Functions that return an int return 0 for success.
//!
//! # Safety of every call into C here
//! Contexts are initialised, do not move until they are freed ([`Held`]), and have a key before they are
//! used. Keys have the algorithm's length. A job's pointers are valid for the session's lengths, which
//! [`RawJobs::new`](cpb_session::raw_jobs::RawJobs::new) compared with the buffers themselves. The
//! descriptors of digests and ciphers are static in the library.

#![no_std]

extern crate alloc;

pub mod aeads;
pub mod ciphers;
pub mod digests;
pub mod encrypt_then_mac;
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

/// Converts a status to a result.
///
/// # Errors
/// Returns [`Error::Refused`] if a tag does not match, and another error for any other status that is not 0.
#[inline]
pub fn succeeded(status: c_int) -> Result<(), Error> {
    if status == 0 { Ok(()) } else { Err(failed(status)) }
}

/// Out of line, so that little code is inlined in each call.
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

/// A key's length in bits, in the C type.
fn bits(key: &[u8]) -> core::ffi::c_uint {
    key.len() as core::ffi::c_uint * 8
}

/// The first `LENGTH` bytes at `iv`.
///
/// # Safety
/// `iv` must point to at least `LENGTH` bytes.
#[inline]
unsafe fn start<const LENGTH: usize>(iv: *const u8) -> [u8; LENGTH] {
    // SAFETY: guaranteed by the caller; bytes need no alignment.
    unsafe { iv.cast::<[u8; LENGTH]>().read() }
}
