//! What no version of Mbed TLS supports.

use cpb_core::{CryptoWorkload, Kind, Placement, Unsupported};

/// Checks that the library computes a workload correctly.
///
/// # Errors
/// Returns an error for records, and for a sector in place that does not end with a whole block:
/// `mbedtls_aes_crypt_xts` (2.28 and 3.6) overwrites the end of its input before it has read it.
pub fn supports(workload: &CryptoWorkload) -> Result<(), Unsupported> {
    // Records are processed by the library's TLS part, which is not in these builds, with two calls.
    if workload.algorithm.shape().kind == Kind::Record {
        return Err(Unsupported::Algorithm);
    }
    let sector = workload.algorithm.shape().kind == Kind::SectorCipher;
    let steals = sector && !workload.message.is_multiple_of(16);
    if steals && workload.placement == Placement::InPlace {
        return Err(Unsupported::Defect);
    }
    Ok(())
}
