// Sessions of one variant of Mbed TLS. Included by ../mbedtls.rs once a variant, where `library` is
// that variant, and by the firmware's for the version that it has; the algorithms are in the files
// included behind it. Each function opens a context and gives `body` a closure that runs one job.
//
// SAFETY, for every call into C below: contexts are boxed and stay where they were initialised
// until they are freed; keys have the algorithm's length; a job's pointers are valid for the
// lengths in `jobs`, which `RawJobs::new` compared with the buffers themselves.

use super::ffi;
use super::Body;
use crate::raw_jobs::{RawJob, RawJobs};
use alloc::boxed::Box;
use core::ffi::c_int;
use cpb_core::{Algorithm, CryptoWorkload, Error, Operation, Phase, Progress, Session, Unsupported};

/// Opens a session for `workload`, unless it is a generator's.
pub(super) fn session(
    workload: &CryptoWorkload,
    keys: &[&[u8]],
    jobs: &RawJobs<'_>,
    body: Body<'_>,
) -> Result<(), Error> {
    match workload.algorithm {
        Algorithm::Aes128Cbc | Algorithm::Aes192Cbc | Algorithm::Aes256Cbc => {
            aes_cbc(workload, keys, jobs, body)
        }
        Algorithm::Aes128Ecb | Algorithm::Aes192Ecb | Algorithm::Aes256Ecb => {
            aes_ecb(workload, keys, jobs, body)
        }
        Algorithm::Aes128Ctr | Algorithm::Aes192Ctr | Algorithm::Aes256Ctr => {
            aes_ctr(workload, keys, jobs, body)
        }
        Algorithm::Aes128Xts | Algorithm::Aes256Xts => aes_xts(workload, keys, jobs, body),
        Algorithm::Aes128Gcm | Algorithm::Aes192Gcm | Algorithm::Aes256Gcm => {
            aes_gcm(workload, keys, jobs, body)
        }
        Algorithm::Aes128Ccm | Algorithm::Aes192Ccm | Algorithm::Aes256Ccm => {
            aes_ccm(workload, keys, jobs, body)
        }
        Algorithm::Chacha20Poly1305 => chachapoly(workload, keys, jobs, body),
        Algorithm::Chacha20 => chacha20(workload, keys, jobs, body),
        Algorithm::Camellia256Cbc => camellia_cbc(workload, keys, jobs, body),
        Algorithm::TripleDesCbc => triple_des_cbc(workload, keys, jobs, body),
        Algorithm::DesCbc => des_cbc(workload, keys, jobs, body),
        Algorithm::Md5 => md5(workload, jobs, body),
        Algorithm::Sha1 => sha1(workload, jobs, body),
        Algorithm::Sha224 => sha224(workload, jobs, body),
        Algorithm::Sha256 => sha256(workload, jobs, body),
        Algorithm::Sha384 => sha384(workload, jobs, body),
        Algorithm::Sha512 => sha512(workload, jobs, body),
        Algorithm::Sha3_256 => sha3_256(workload, jobs, body),
        Algorithm::Sha3_512 => sha3_512(workload, jobs, body),
        Algorithm::HmacSha1 => hmac(workload, keys, jobs, ffi::MD_SHA1, body),
        Algorithm::HmacSha256 => hmac(workload, keys, jobs, ffi::MD_SHA256, body),
        Algorithm::HmacSha512 => hmac(workload, keys, jobs, ffi::MD_SHA512, body),
        Algorithm::Aes128Cmac => cmac(workload, keys, jobs, ffi::CIPHER_AES_128_ECB, body),
        Algorithm::Aes256Cmac => cmac(workload, keys, jobs, ffi::CIPHER_AES_256_ECB, body),
        Algorithm::Poly1305 => poly1305(workload, keys, jobs, body),
        _ => Err(Unsupported::Algorithm.into()),
    }
}

/// A context in its box, freed when it is dropped.
struct Context<T> {
    context: Box<T>,
    free: unsafe extern "C" fn(*mut T),
}

impl<T> Context<T> {
    fn new(
        uninit: T,
        init: unsafe extern "C" fn(*mut T),
        free: unsafe extern "C" fn(*mut T),
    ) -> Self {
        let mut context = Box::new(uninit);
        // SAFETY: room for a context, in its final place.
        unsafe { init(&mut *context) };
        Context { context, free }
    }

    #[inline]
    fn get(&mut self) -> *mut T {
        &mut *self.context
    }
}

impl<T> Drop for Context<T> {
    fn drop(&mut self) {
        // SAFETY: was initialised in `new`, is freed once.
        unsafe { (self.free)(self.get()) };
    }
}

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

/// A session whose whole work is one function of the job.
struct Submit<'a, F> {
    jobs: &'a RawJobs<'a>,
    run: F,
}

impl<F: FnMut(&RawJob) -> Result<(), Error>> Session for Submit<'_, F> {
    #[inline]
    fn submit(&mut self, job: usize) -> Result<Progress, Error> {
        (self.run)(self.jobs.job(job)?)?;
        Ok(Progress::Done)
    }

    fn output(&self, job: usize) -> Option<&[u8]> {
        self.jobs.output(job)
    }
}

/// 0 is success; a tag that does not fit is a refusal; all else an error.
#[inline]
fn succeeded(status: c_int) -> Result<(), Error> {
    match status {
        0 => Ok(()),
        ffi::ERR_GCM_AUTH_FAILED | ffi::ERR_CCM_AUTH_FAILED | ffi::ERR_CHACHAPOLY_AUTH_FAILED => {
            Err(Error::Refused)
        }
        code => Err(Error::Device(code)),
    }
}
