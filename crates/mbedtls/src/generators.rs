//! Random bit generators. A context is seeded only once: for a new seed, a new context is made in the same
//! place.

use crate::types::*;
use crate::{Functions, Held, Sha, succeeded};
use cpb_core::{CryptoWorkload, Error, Unsupported};
use cpb_session::context::{Context, Lengths};
use cpb_session::lengths::{REQUEST, SEED};
use cpb_session::raw_jobs::RawJob;

/// Generates `length` bytes at `output`, with as many per call as the standard allows.
///
/// # Safety
/// `output` must have room for them, and it must be valid to call `random` with `context`.
#[inline]
unsafe fn generate(
    random: unsafe fn(*mut c_void, *mut u8, usize) -> c_int,
    context: *mut c_void,
    output: *mut u8,
    length: usize,
) -> Result<(), Error> {
    let mut done = 0;
    while done < length {
        let piece = REQUEST.min(length - done);
        // SAFETY: guaranteed by the caller.
        succeeded(unsafe { random(context, output.add(done), piece) })?;
        done += piece;
    }
    Ok(())
}

/// HMAC_DRBG. The seed followed by the personalisation string is the seed material of SP 800-90A, section
/// 10.1.2.3.
pub struct HmacDrbg<L: Functions> {
    context: Held<L, HmacDrbgContext>,
    info: *const MdInfo,
    length: usize,
}

impl<L: Functions> HmacDrbg<L> {
    /// Creates the generator for a workload.
    ///
    /// # Errors
    /// Returns an error if the library was built without the digest.
    pub fn open(digest: Sha, workload: &CryptoWorkload) -> Result<Self, Error> {
        // SAFETY: takes a number.
        let info = unsafe { L::md_info_from_type(L::md_type(digest)) };
        if info.is_null() {
            return Err(Unsupported::BuildOption.into());
        }
        Ok(HmacDrbg { context: Held::new(), info, length: Lengths::of(workload).message })
    }
}

impl<L: Functions> Context for HmacDrbg<L> {
    #[inline]
    fn key(&mut self, key: &[u8]) -> Result<(), Error> {
        self.context.renew();
        // SAFETY: see the crate documentation.
        succeeded(unsafe {
            L::hmac_drbg_seed_buf(self.context.get(), self.info, key.as_ptr(), key.len())
        })
    }

    #[inline]
    fn part(&mut self, job: &RawJob) -> Result<(), Error> {
        let context = self.context.get().cast();
        // SAFETY: see the crate documentation.
        unsafe { generate(L::hmac_drbg_random, context, job.output, self.length) }
    }
}

/// CTR_DRBG with AES-256.
pub struct CtrDrbg<L: Functions> {
    context: Held<L, CtrDrbgContext>,
    length: usize,
}

impl<L: Functions> CtrDrbg<L> {
    /// Creates the generator for a workload.
    pub fn open(workload: &CryptoWorkload) -> Self {
        CtrDrbg { context: Held::new(), length: Lengths::of(workload).message }
    }
}

impl<L: Functions> Context for CtrDrbg<L> {
    #[inline]
    fn key(&mut self, key: &[u8]) -> Result<(), Error> {
        self.context.renew();
        let context = self.context.get();
        let (mut entropy, personal) = key.split_at(SEED);
        let source = core::ptr::from_mut(&mut entropy).cast();
        // SAFETY: see the crate documentation; the source lives until seeding is done, and is not used again,
        // because the reseed interval is the longest possible.
        succeeded(unsafe {
            L::ctr_drbg_set_entropy_len(context, SEED);
            L::ctr_drbg_set_nonce_len(context, 0);
            L::ctr_drbg_set_reseed_interval(context, c_int::MAX);
            L::ctr_drbg_seed(context, hand_out, source, personal.as_ptr(), personal.len())
        })
    }

    #[inline]
    fn part(&mut self, job: &RawJob) -> Result<(), Error> {
        let context = self.context.get().cast();
        // SAFETY: see the crate documentation.
        unsafe { generate(L::ctr_drbg_random, context, job.output, self.length) }
    }
}

/// Hands out a seed in pieces to a generator that requests entropy.
///
/// # Safety
/// `source` must be a `&mut &[u8]`, and `output` must have room for `length` bytes.
unsafe extern "C" fn hand_out(source: *mut c_void, output: *mut u8, length: usize) -> c_int {
    /// MBEDTLS_ERR_CTR_DRBG_ENTROPY_SOURCE_FAILED of mbedtls/ctr_drbg.h.
    const NO_MORE: c_int = -0x0034;
    // SAFETY: guaranteed by the caller.
    let (rest, room) =
        unsafe { (&mut *source.cast::<&[u8]>(), core::slice::from_raw_parts_mut(output, length)) };
    let Some((piece, after)) = rest.split_at_checked(length) else { return NO_MORE };
    room.copy_from_slice(piece);
    *rest = after;
    0
}
