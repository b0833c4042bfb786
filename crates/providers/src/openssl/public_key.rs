//! Algorithms with key pairs, through `EVP_PKEY`.

mod key;

use super::ffi::Libcrypto;
use super::{Source, ffi, last_error};
use crate::evp::forward;
use crate::evp_pkey::{self, EvpPkey};
use core::ffi::c_int;
use core::ptr;
use cpb_core::{Algorithm, CryptoWorkload, Error, Unsupported};
use cpb_session::Body;
use cpb_session::raw_jobs::RawJobs;
use key::Names;

/// Opens a session with a library that has providers.
pub(super) fn session<L: Libcrypto>(
    source: Source<L>,
    workload: &CryptoWorkload,
    keys: &[&[u8]],
    jobs: &RawJobs<'_>,
    body: Body<'_>,
) -> Result<(), Error> {
    let names = Names::of(source, workload.algorithm).ok_or(Unsupported::Algorithm)?;
    evp_pkey::session(&names, workload, keys, jobs, body)
}

/// Whether a library with providers has an algorithm.
pub(super) fn is_here<L: Libcrypto>(source: Source<L>, algorithm: Algorithm) -> bool {
    Names::of(source, algorithm).is_some_and(|names| names.context().is_ok())
}

impl<L: Libcrypto> EvpPkey for L {
    type Key = ffi::EVP_PKEY;
    type KeyContext = ffi::EVP_PKEY_CTX;
    type DigestContext = ffi::EVP_MD_CTX;

    fn failed() -> Error {
        last_error::<L>()
    }

    #[inline(always)]
    unsafe fn encapsulate_init(context: *mut ffi::EVP_PKEY_CTX) -> c_int {
        // SAFETY: as promised by the caller; null means no parameters.
        unsafe { L::EVP_PKEY_encapsulate_init(context, ptr::null()) }
    }

    #[inline(always)]
    unsafe fn decapsulate_init(context: *mut ffi::EVP_PKEY_CTX) -> c_int {
        // SAFETY: as promised by the caller; null means no parameters.
        unsafe { L::EVP_PKEY_decapsulate_init(context, ptr::null()) }
    }

    forward! {
        fn key_free(key: *mut ffi::EVP_PKEY) = L::EVP_PKEY_free;
        fn key_context_free(context: *mut ffi::EVP_PKEY_CTX) = L::EVP_PKEY_CTX_free;
        fn sign_init(context: *mut ffi::EVP_PKEY_CTX) -> c_int = L::EVP_PKEY_sign_init;
        fn sign(
            context: *mut ffi::EVP_PKEY_CTX, signature: *mut u8, signature_length: *mut usize,
            digest: *const u8, digest_length: usize
        ) -> c_int = L::EVP_PKEY_sign;
        fn verify_init(context: *mut ffi::EVP_PKEY_CTX) -> c_int = L::EVP_PKEY_verify_init;
        fn verify(
            context: *mut ffi::EVP_PKEY_CTX, signature: *const u8, signature_length: usize,
            digest: *const u8, digest_length: usize
        ) -> c_int = L::EVP_PKEY_verify;
        fn derive_init(context: *mut ffi::EVP_PKEY_CTX) -> c_int = L::EVP_PKEY_derive_init;
        fn derive_set_peer(context: *mut ffi::EVP_PKEY_CTX, peer: *mut ffi::EVP_PKEY) -> c_int
            = L::EVP_PKEY_derive_set_peer;
        fn derive(context: *mut ffi::EVP_PKEY_CTX, secret: *mut u8, length: *mut usize) -> c_int
            = L::EVP_PKEY_derive;
        fn encapsulate(
            context: *mut ffi::EVP_PKEY_CTX, encapsulation: *mut u8, encapsulation_length: *mut usize,
            secret: *mut u8, secret_length: *mut usize
        ) -> c_int = L::EVP_PKEY_encapsulate;
        fn decapsulate(
            context: *mut ffi::EVP_PKEY_CTX, secret: *mut u8, secret_length: *mut usize,
            encapsulation: *const u8, encapsulation_length: usize
        ) -> c_int = L::EVP_PKEY_decapsulate;
        fn digest_context_new() -> *mut ffi::EVP_MD_CTX = L::EVP_MD_CTX_new;
        fn digest_context_free(context: *mut ffi::EVP_MD_CTX) = L::EVP_MD_CTX_free;
        fn digest_sign(
            context: *mut ffi::EVP_MD_CTX, signature: *mut u8, signature_length: *mut usize,
            message: *const u8, message_length: usize
        ) -> c_int = L::EVP_DigestSign;
        fn digest_verify(
            context: *mut ffi::EVP_MD_CTX, signature: *const u8, signature_length: usize,
            message: *const u8, message_length: usize
        ) -> c_int = L::EVP_DigestVerify;
    }
}
