//! Mbed TLS 2.28 as a provider: the same sessions as on Linux, over this version's interface.

mod ffi;

use crate::memory;
use crate::raw_jobs::{RawJob, RawJobs, software_supports};
use alloc::format;
use alloc::string::String;
use core::ffi::c_int;
use cpb_core::{
    CryptoWorkload, Error, Identity, Job, Kind, Phase, Progress, Provider, Session, Unsupported,
};

type Body<'a> = &'a mut dyn FnMut(&mut dyn Session) -> Result<(), Error>;

mod sessions {
    use super::ffi::library;
    include!("../../crates/providers/src/mbedtls/session.rs");
}

/// Mbed TLS in plain C.
pub(crate) struct MbedTls {
    options: String,
}

impl MbedTls {
    /// What the image says of itself: how it was compiled, where it lies, how big it is.
    pub(crate) fn new() -> Self {
        let memory::Sizes { text, rodata, data, bss } = memory::sizes();
        MbedTls {
            options: format!(
                "{}; {}; .text {text}, .rodata {rodata}, .data {data}, .bss {bss}",
                env!("CPB_COMPILER"),
                env!("CPB_PLACEMENT"),
            ),
        }
    }
}

impl Provider for MbedTls {
    fn identity(&self) -> Identity<'_> {
        Identity {
            provider: "mbedtls",
            version: env!("CPB_MBEDTLS_VERSION"),
            executor: "plain C",
            options: &self.options,
        }
    }

    fn supports(&self, workload: &CryptoWorkload) -> Result<(), Unsupported> {
        software_supports(workload)?;
        // This version's update of a GCM stream takes whole blocks only.
        let gcm = workload.algorithm.shape().kind == Kind::Aead
            && workload.algorithm != cpb_core::Algorithm::Chacha20Poly1305;
        if gcm && workload.phase == Phase::Update && !workload.message.is_multiple_of(16) {
            return Err(Unsupported::Length);
        }
        Ok(())
    }

    fn session(
        &self,
        workload: &CryptoWorkload,
        keys: &[&[u8]],
        jobs: &mut [Job<'_>],
        body: Body<'_>,
    ) -> Result<(), Error> {
        self.supports(workload)?;
        let shape = workload.algorithm.shape();
        let fixed = shape.kind != Kind::Mac;
        if shape.key > 0
            && (keys.is_empty() || fixed && keys.iter().any(|key| key.len() != shape.key))
        {
            return Err(Unsupported::Length.into());
        }
        sessions::session(workload, keys, &RawJobs::new(workload, keys, jobs)?, body)
    }
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
