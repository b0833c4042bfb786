//! What no version of Mbed TLS supports.

use crate::key_pairs;
use cpb_core::{Algorithm, CryptoWorkload, Kind, Placement, Unsupported};

/// Whether any version of the library has an algorithm. A build may still lack it.
pub fn has(algorithm: Algorithm) -> bool {
    match algorithm {
        // Its generators are CTR_DRBG and HMAC_DRBG.
        Algorithm::HashDrbgSha256 => false,
        _ if algorithm.has_key_pairs() => key_pairs::has(algorithm),
        // Records are processed by the library's TLS part, which is not in these builds, with two calls.
        _ => algorithm.shape().kind != Kind::Record,
    }
}

/// Checks that the library has a workload's algorithm and computes the workload correctly.
///
/// # Errors
/// Returns an error for what [`has`] excludes, and for a sector in place that does not end with a whole block:
/// `mbedtls_aes_crypt_xts` (2.28 and 3.6) overwrites the end of its input before it has read it.
pub fn supports(workload: &CryptoWorkload) -> Result<(), Unsupported> {
    if !has(workload.algorithm) {
        return Err(Unsupported::Algorithm);
    }
    let sector = workload.algorithm.shape().kind == Kind::SectorCipher;
    let steals = sector && !workload.message.is_multiple_of(16);
    if steals && workload.placement == Placement::InPlace {
        return Err(Unsupported::Defect);
    }
    Ok(())
}
