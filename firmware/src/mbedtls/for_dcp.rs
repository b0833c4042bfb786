//! Mbed TLS 2.28 with the DCP in place of its AES, SHA-1 and SHA-256, as on NXP's boards.

use crate::dcp;
use crate::mbedtls::MbedTls;
use crate::mbedtls::library::DcpLibrary;
use cpb_core::{Algorithm, Claim, CryptoWorkload, Error, Identity, Job, Provider, Unsupported};
use cpb_mbedtls::Sha;
use cpb_mbedtls::aeads::AesGcm;
use cpb_mbedtls::ciphers::{Aes, AesEcb, Cbc};
use cpb_mbedtls::digests::{Digest, Sha1, Sha256};
use cpb_mbedtls::macs::{Cmac, Hmac};
use cpb_session::Body;
use cpb_session::context::run;
use cpb_session::lengths::keys_fit;
use cpb_session::raw_jobs::RawJobs;

/// Mbed TLS over the engine. What the engine lacks is not here, except SHA-512, which stays in software and is listed
/// because the published tables list it.
pub(crate) struct MbedTlsDcp<'m> {
    pub(crate) software: &'m MbedTls,
}

impl Provider for MbedTlsDcp<'_> {
    fn identity(&self) -> Identity<'_> {
        Identity {
            provider: "mbedtls-dcp",
            executor: "DCP through Mbed TLS; SHA-512: plain C",
            ..self.software.identity()
        }
    }

    fn claim(&self) -> Claim {
        Claim::Engine
    }

    fn jobs(&self) -> Option<u64> {
        dcp::finished()
    }

    fn supports(&self, workload: &CryptoWorkload) -> Result<(), Unsupported> {
        match workload.algorithm {
            Algorithm::Aes128Cbc
            | Algorithm::Aes128Ecb
            | Algorithm::Aes128Gcm
            | Algorithm::Aes128Cmac
            | Algorithm::Sha1
            | Algorithm::Sha256
            | Algorithm::Sha512
            | Algorithm::HmacSha1
            | Algorithm::HmacSha256 => self.software.supports(workload),
            _ => Err(Unsupported::Algorithm),
        }
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
        let raw = &RawJobs::new(workload, keys, jobs)?;
        match workload.algorithm {
            Algorithm::Aes128Cbc => {
                run(Cbc::<DcpLibrary, Aes>::open(workload), workload, keys, raw, body)
            }
            Algorithm::Aes128Ecb => {
                run(AesEcb::<DcpLibrary>::open(workload), workload, keys, raw, body)
            }
            Algorithm::Aes128Gcm => {
                run(AesGcm::<DcpLibrary>::open(workload), workload, keys, raw, body)
            }
            Algorithm::Aes128Cmac => {
                run(Cmac::<DcpLibrary>::open(workload)?, workload, keys, raw, body)
            }
            Algorithm::Sha1 => {
                run(Digest::<DcpLibrary, Sha1>::open(workload), workload, keys, raw, body)
            }
            Algorithm::Sha256 => {
                run(Digest::<DcpLibrary, Sha256>::open(workload), workload, keys, raw, body)
            }
            Algorithm::HmacSha1 => {
                run(Hmac::<DcpLibrary>::open(Sha::Sha1, workload)?, workload, keys, raw, body)
            }
            Algorithm::HmacSha256 => {
                run(Hmac::<DcpLibrary>::open(Sha::Sha256, workload)?, workload, keys, raw, body)
            }
            _ => self.software.session(workload, keys, jobs, body),
        }
    }
}
