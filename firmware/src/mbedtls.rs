//! Mbed TLS 2.28 as a provider, with the same sessions as on Linux: those of the crate cpb-mbedtls.

#[cfg(feature = "imxrt")]
mod alt;
#[cfg(feature = "imxrt")]
mod for_engine;
mod library;
mod rng;

#[cfg(feature = "imxrt")]
pub(crate) use for_engine::ThroughEngine;

use crate::memory;
use alloc::format;
use alloc::string::String;
use cpb_core::copy::Memcpy;
use cpb_core::{
    Algorithm, CryptoWorkload, Error, Identity, Job, Kind, Phase, Provider, Unsupported,
};
use cpb_mbedtls::{limits, open};
use cpb_session::Body;
use cpb_session::lengths::keys_fit;
use cpb_session::raw_jobs::{RawJobs, software_supports};
use library::Library;

/// Mbed TLS in plain C.
pub(crate) struct MbedTls {
    options: String,
}

impl MbedTls {
    /// Creates the provider. Its options describe the image: how it was compiled, where its parts are, and
    /// its size.
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

    /// How the image was built.
    #[cfg_attr(not(feature = "imxrt"), allow(dead_code, reason = "no other provider needs them"))]
    pub(crate) fn options(&self) -> &str {
        &self.options
    }

    /// The provider that copies with the same image's `memcpy`: the memory's own bound.
    pub(crate) fn copies(&self) -> Memcpy<'_> {
        Memcpy { executor: "newlib's memcpy", options: &self.options }
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
        if matches!(workload.algorithm, Algorithm::Sha3_256 | Algorithm::Sha3_512) {
            return Err(Unsupported::Algorithm);
        }
        limits::supports(workload)?;
        if workload.algorithm.has_key_pairs() && !workload.algorithm.has_timed_pair() {
            return Err(Unsupported::Memory);
        }
        software_supports(workload)?;
        // In this version, the update of a GCM stream accepts only whole blocks.
        let gcm = workload.algorithm.shape().kind == Kind::Aead
            && workload.algorithm != Algorithm::Chacha20Poly1305;
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
        keys_fit(workload.algorithm, keys)?;
        open::<Library>(workload, keys, &RawJobs::new(workload, keys, jobs)?, body)
    }
}
