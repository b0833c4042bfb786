//! Mbed TLS through its own low-level interface, in two builds side by side: plain C, and with the CPU's crypto
//! instructions. The crate cpb-mbedtls drives both.

mod libraries;

use crate::{Implementation, Unavailable};
use cpb_core::{CryptoWorkload, Error, Identity, Job, Provider, Unsupported};
use cpb_mbedtls::{limits, open_with_sha3};
use cpb_session::Body;
use cpb_session::lengths::keys_fit;
use cpb_session::raw_jobs::{RawJobs, software_supports};
use libraries::{Accel, C as PlainC};

pub(crate) const C: Implementation = Implementation {
    name: "mbedtls:c",
    environment: Vec::new,
    executors: None,
    open: |_| {
        let (executor, session) = ("plain C", open_with_sha3::<PlainC> as Open);
        Ok(Box::new(MbedTls { name: "mbedtls:c", executor, session }))
    },
};

pub(crate) const ACCEL: Implementation = Implementation {
    name: "mbedtls:accel",
    environment: Vec::new,
    executors: None,
    open: |_| {
        if !libraries::accel_uses_aes_instructions() {
            let detail = "the CPU has no AES instructions that Mbed TLS uses".to_owned();
            return Err(Unavailable { reason: Unsupported::Device, detail });
        }
        let (executor, session) = ("AES instructions", open_with_sha3::<Accel> as Open);
        Ok(Box::new(MbedTls { name: "mbedtls:accel", executor, session }))
    },
};

/// How a build opens a session.
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
        software_supports(workload)?;
        limits::supports(workload)
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
