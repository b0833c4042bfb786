//! What Mbed TLS has over the DCP: AES-128, SHA-1 and SHA-256.

use cpb_core::{Algorithm, CryptoWorkload, Error, Unsupported};
use cpb_session::Body;
use cpb_session::raw_jobs::RawJobs;

pub(super) const PROVIDER: &str = "mbedtls-dcp";
pub(super) const EXECUTOR: &str = "DCP through Mbed TLS; SHA-512: plain C";

/// Whether the engine computes it, or a module above what the engine computes.
pub(super) fn has(workload: &CryptoWorkload) -> Result<(), Unsupported> {
    match workload.algorithm {
        Algorithm::Aes128Cbc
        | Algorithm::Aes128Ecb
        | Algorithm::Aes128Gcm
        | Algorithm::Aes128Cmac
        | Algorithm::Sha1
        | Algorithm::Sha256
        | Algorithm::HmacSha1
        | Algorithm::HmacSha256 => Ok(()),
        _ => Err(Unsupported::Algorithm),
    }
}

/// Refuses: [`super::ThroughEngine`] opens every algorithm that the DCP has.
pub(super) fn open(
    _: &CryptoWorkload,
    _: &[&[u8]],
    _: &RawJobs<'_>,
    _: Body<'_>,
) -> Result<(), Error> {
    Err(Unsupported::Algorithm.into())
}
