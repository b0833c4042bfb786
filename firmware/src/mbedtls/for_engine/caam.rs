//! What Mbed TLS has over the CAAM: AES and its modes, DES, SHA-1, SHA-224 and SHA-256.

use crate::mbedtls::library::EngineLibrary;
use cpb_core::{Algorithm, CryptoWorkload, Error, Unsupported};
use cpb_mbedtls::Sha;
use cpb_mbedtls::aeads::AesCcm;
use cpb_mbedtls::ciphers::{AesCtr, Cbc, Des, Ecb, TripleDes};
use cpb_mbedtls::digests::{Digest, Sha224};
use cpb_mbedtls::encrypt_then_mac::EncryptThenMac;
use cpb_session::Body;
use cpb_session::context::run;
use cpb_session::raw_jobs::RawJobs;

pub(super) const PROVIDER: &str = "mbedtls-caam";
pub(super) const EXECUTOR: &str = "CAAM through Mbed TLS; SHA-512: plain C";

/// The longest message of DES, and the longest associated data of GCM: the lengths of their commands have 16 bits.
const SHORT: u32 = 0xFFFF;
/// The longest associated data of CCM: more has a longer prefix (SP 800-38C, A.2.2), which the engine does not have.
const CCM_ASSOCIATED: u32 = 0xFEFF;

/// Whether the engine computes it, or a module above what the engine computes.
pub(super) fn has(workload: &CryptoWorkload) -> Result<(), Unsupported> {
    let (message, associated) = (workload.message, workload.associated);
    let fits = match workload.algorithm {
        Algorithm::DesCbc | Algorithm::TripleDesCbc => message <= SHORT,
        Algorithm::Aes128Gcm | Algorithm::Aes192Gcm | Algorithm::Aes256Gcm => associated <= SHORT,
        Algorithm::Aes128Ccm | Algorithm::Aes192Ccm | Algorithm::Aes256Ccm => {
            associated <= CCM_ASSOCIATED
        }
        Algorithm::Aes128Ecb
        | Algorithm::Aes192Ecb
        | Algorithm::Aes256Ecb
        | Algorithm::Aes128Cbc
        | Algorithm::Aes192Cbc
        | Algorithm::Aes256Cbc
        | Algorithm::Aes128Ctr
        | Algorithm::Aes192Ctr
        | Algorithm::Aes256Ctr
        | Algorithm::Aes128CbcHmacSha1Etm
        | Algorithm::Aes128CbcHmacSha256Etm
        | Algorithm::DesEcb
        | Algorithm::TripleDesEcb
        | Algorithm::Aes128Cmac
        | Algorithm::Sha1
        | Algorithm::Sha224
        | Algorithm::Sha256
        | Algorithm::HmacSha1
        | Algorithm::HmacSha256 => true,
        _ => return Err(Unsupported::Algorithm),
    };
    if fits { Ok(()) } else { Err(Unsupported::Length) }
}

/// Opens a session of an algorithm that only this engine has.
pub(super) fn open(
    workload: &CryptoWorkload,
    keys: &[&[u8]],
    jobs: &RawJobs<'_>,
    body: Body<'_>,
) -> Result<(), Error> {
    type L = EngineLibrary;
    match workload.algorithm {
        Algorithm::Aes128Ctr | Algorithm::Aes192Ctr | Algorithm::Aes256Ctr => {
            run(AesCtr::<L>::open(workload), workload, keys, jobs, body)
        }
        Algorithm::Aes128Ccm | Algorithm::Aes192Ccm | Algorithm::Aes256Ccm => {
            run(AesCcm::<L>::open(workload), workload, keys, jobs, body)
        }
        Algorithm::Aes128CbcHmacSha1Etm => {
            run(EncryptThenMac::<L>::open(Sha::Sha1, workload)?, workload, keys, jobs, body)
        }
        Algorithm::Aes128CbcHmacSha256Etm => {
            run(EncryptThenMac::<L>::open(Sha::Sha256, workload)?, workload, keys, jobs, body)
        }
        Algorithm::DesCbc => run(Cbc::<L, Des>::open(workload), workload, keys, jobs, body),
        Algorithm::TripleDesCbc => {
            run(Cbc::<L, TripleDes>::open(workload), workload, keys, jobs, body)
        }
        Algorithm::DesEcb => run(Ecb::<L, Des>::open(workload), workload, keys, jobs, body),
        Algorithm::TripleDesEcb => {
            run(Ecb::<L, TripleDes>::open(workload), workload, keys, jobs, body)
        }
        Algorithm::Sha224 => run(Digest::<L, Sha224>::open(workload), workload, keys, jobs, body),
        _ => Err(Unsupported::Algorithm.into()),
    }
}
