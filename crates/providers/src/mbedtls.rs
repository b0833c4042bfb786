//! Mbed TLS through its own low-level interface, in two builds that live side by side: plain C, and
//! with the CPU's crypto instructions.

pub(crate) mod ffi;
mod key_pairs;
mod limits;

use crate::lengths::keys_fit;
use crate::raw_jobs::{RawJobs, software_supports};
use crate::rng;
use crate::{Implementation, Unavailable};
use cpb_core::{CryptoWorkload, Error, Identity, Job, Provider, Session, Unsupported};

pub(crate) const C: Implementation = Implementation {
    name: "mbedtls:c",
    environment: Vec::new,
    executors: None,
    open: |_| Ok(Box::new(MbedTls { name: "mbedtls:c", executor: "plain C", session: c::open })),
};

pub(crate) const ACCEL: Implementation = Implementation {
    name: "mbedtls:accel",
    environment: Vec::new,
    executors: None,
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
    include!("mbedtls/context.rs");
    include!("mbedtls/session.rs");
    include!("mbedtls/ciphers.rs");
    include!("mbedtls/aeads.rs");
    include!("mbedtls/digests.rs");
    include!("mbedtls/sha3.rs");
    include!("mbedtls/generator.rs");
    include!("mbedtls/public_key.rs");
}
mod accel {
    use super::ffi::accel as library;
    include!("mbedtls/context.rs");
    include!("mbedtls/session.rs");
    include!("mbedtls/ciphers.rs");
    include!("mbedtls/aeads.rs");
    include!("mbedtls/digests.rs");
    include!("mbedtls/sha3.rs");
    include!("mbedtls/generator.rs");
    include!("mbedtls/public_key.rs");
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
        if workload.algorithm.has_key_pairs() && !key_pairs::has(workload.algorithm) {
            return Err(Unsupported::Algorithm);
        }
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
