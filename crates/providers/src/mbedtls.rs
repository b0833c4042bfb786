//! Mbed TLS through its own low-level interface, in two builds that live side by side: plain C, and
//! with the CPU's crypto instructions.

pub(crate) mod ffi;

use crate::lengths::keys_fit;
use crate::raw_jobs::{RawJob, RawJobs, software_supports};
use crate::{Entry, Unavailable};
use core::ffi::{c_int, c_void};
use cpb_core::{CryptoWorkload, Error, Identity, Job, Progress, Provider, Session, Unsupported};

pub(crate) const C: Entry = Entry {
    name: "mbedtls:c",
    about: "Mbed TLS, plain C",
    environment: Vec::new,
    variants: None,
    open: |_| Ok(Box::new(MbedTls { name: "mbedtls:c", executor: "plain C", session: c::open })),
};

pub(crate) const ACCEL: Entry = Entry {
    name: "mbedtls:accel",
    about: "Mbed TLS, with the CPU's AES instructions",
    environment: Vec::new,
    variants: None,
    open: |_| {
        if !ffi::accel_uses_aes_instructions() {
            let detail = "the CPU has no AES instructions that Mbed TLS uses".to_owned();
            return Err(Unavailable { reason: Unsupported::Device, detail });
        }
        let executor = "AES instructions";
        Ok(Box::new(MbedTls { name: "mbedtls:accel", executor, session: accel::open }))
    },
};

/// Files that are compiled once a variant: `library` is that variant's functions and contexts.
mod c {
    use super::ffi::c as library;
    include!("mbedtls/session.rs");
    include!("mbedtls/generator.rs");
}
mod accel {
    use super::ffi::accel as library;
    include!("mbedtls/session.rs");
    include!("mbedtls/generator.rs");
}

type Body<'a> = &'a mut dyn FnMut(&mut dyn Session) -> Result<(), Error>;

/// A variant's way to open a session.
type Open = fn(&CryptoWorkload, &[&[u8]], &RawJobs<'_>, Body<'_>) -> Result<(), Error>;

struct MbedTls {
    name: &'static str,
    executor: &'static str,
    session: Open,
}

impl Provider for MbedTls {
    fn identity(&self) -> Identity<'_> {
        Identity {
            provider: self.name,
            version: env!("CPB_MBEDTLS_VERSION"),
            executor: self.executor,
            options: env!("CPB_MBEDTLS_OPTIONS"),
        }
    }

    fn supports(&self, workload: &CryptoWorkload) -> Result<(), Unsupported> {
        software_supports(workload)
    }

    fn session(
        &self,
        workload: &CryptoWorkload,
        keys: &[&[u8]],
        jobs: &mut [Job<'_>],
        body: Body<'_>,
    ) -> Result<(), Error> {
        self.supports(workload)?;
        keys_fit(workload.algorithm, keys)?;
        (self.session)(workload, keys, &RawJobs::new(workload, keys, jobs)?, body)
    }
}

/// Hands out a seed piece by piece, to a generator that asks for entropy.
///
/// # Safety
/// `source` is a `&mut &[u8]`, and there is room for `length` bytes at `output`.
unsafe extern "C" fn entropy(source: *mut c_void, output: *mut u8, length: usize) -> c_int {
    /// MBEDTLS_ERR_CTR_DRBG_ENTROPY_SOURCE_FAILED of mbedtls/ctr_drbg.h.
    const NO_MORE: c_int = -0x0034;
    // SAFETY: as promised by the caller.
    let (rest, room) =
        unsafe { (&mut *source.cast::<&[u8]>(), core::slice::from_raw_parts_mut(output, length)) };
    let Some((piece, after)) = rest.split_at_checked(length) else { return NO_MORE };
    room.copy_from_slice(piece);
    *rest = after;
    0
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
        ffi::ERR_GCM_AUTH_FAILED | ffi::ERR_CHACHAPOLY_AUTH_FAILED => Err(Error::Refused),
        code => Err(Error::Device(code)),
    }
}
