//! Mbed TLS 2.28 with the chip's engine in place of some of its modules, as on NXP's boards.

#[cfg_attr(feature = "imxrt1060-evk", path = "for_engine/dcp.rs")]
#[cfg_attr(feature = "imxrt1170-evk", path = "for_engine/caam.rs")]
mod of_chip;

use crate::engine;
use crate::mbedtls::MbedTls;
use crate::mbedtls::library::EngineLibrary;
use cpb_core::{Algorithm, Claim, CryptoWorkload, Error, Identity, Job, Provider, Unsupported};
use cpb_mbedtls::Sha;
use cpb_mbedtls::aeads::AesGcm;
use cpb_mbedtls::ciphers::{Aes, Cbc, Ecb};
use cpb_mbedtls::digests::{Digest, Sha1, Sha256};
use cpb_mbedtls::macs::{Cmac, Hmac};
use cpb_session::Body;
use cpb_session::context::run;
use cpb_session::lengths::keys_fit;
use cpb_session::raw_jobs::RawJobs;

/// Mbed TLS over the engine. What the engine lacks is not here, except SHA-512, which stays in software and is listed
/// because the published tables list it.
pub(crate) struct ThroughEngine<'m> {
    pub(crate) software: &'m MbedTls,
}

impl Provider for ThroughEngine<'_> {
    fn identity(&self) -> Identity<'_> {
        Identity {
            provider: of_chip::PROVIDER,
            executor: of_chip::EXECUTOR,
            ..self.software.identity()
        }
    }

    fn claim(&self) -> Claim {
        Claim::Engine
    }

    fn jobs(&self) -> Option<u64> {
        engine::finished()
    }

    fn supports(&self, workload: &CryptoWorkload) -> Result<(), Unsupported> {
        if workload.algorithm != Algorithm::Sha512 {
            of_chip::has(workload)?;
        }
        self.software.supports(workload)
    }

    fn session(
        &self,
        workload: &CryptoWorkload,
        keys: &[&[u8]],
        jobs: &mut [Job<'_>],
        body: Body<'_>,
    ) -> Result<(), Error> {
        type L = EngineLibrary;
        self.supports(workload)?;
        keys_fit(workload.algorithm, keys)?;
        let raw = &RawJobs::new(workload, keys, jobs)?;
        match workload.algorithm {
            Algorithm::Aes128Cbc | Algorithm::Aes192Cbc | Algorithm::Aes256Cbc => {
                run(Cbc::<L, Aes>::open(workload), workload, keys, raw, body)
            }
            Algorithm::Aes128Ecb | Algorithm::Aes192Ecb | Algorithm::Aes256Ecb => {
                run(Ecb::<L, Aes>::open(workload), workload, keys, raw, body)
            }
            Algorithm::Aes128Gcm | Algorithm::Aes192Gcm | Algorithm::Aes256Gcm => {
                run(AesGcm::<L>::open(workload), workload, keys, raw, body)
            }
            Algorithm::Aes128Cmac => run(Cmac::<L>::open(workload)?, workload, keys, raw, body),
            Algorithm::Sha1 => run(Digest::<L, Sha1>::open(workload), workload, keys, raw, body),
            Algorithm::Sha256 => {
                run(Digest::<L, Sha256>::open(workload), workload, keys, raw, body)
            }
            Algorithm::HmacSha1 => {
                run(Hmac::<L>::open(Sha::Sha1, workload)?, workload, keys, raw, body)
            }
            Algorithm::HmacSha256 => {
                run(Hmac::<L>::open(Sha::Sha256, workload)?, workload, keys, raw, body)
            }
            Algorithm::Sha512 => self.software.session(workload, keys, jobs, body),
            _ => of_chip::open(workload, keys, raw, body),
        }
    }
}
