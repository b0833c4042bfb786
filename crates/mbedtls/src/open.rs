//! Selects the session for each algorithm of a linked library.

use crate::aeads::{AesCcm, AesGcm, Chachapoly};
use crate::ciphers::{Aes, AesCtr, AesXts, Camellia, Cbc, Chacha20, Des, Ecb, TripleDes};
use crate::digests::{Digest, Md5, Sha1, Sha224, Sha256, Sha384, Sha512};
use crate::encrypt_then_mac::EncryptThenMac;
use crate::generators::{CtrDrbg, HmacDrbg};
use crate::macs::{Cmac, Hmac, Poly1305};
use crate::public_key::{Random, key_pair};
use crate::sha3::{Sha3_256, Sha3_512};
use crate::types::*;
use crate::{Linked, Sha, Sha3};
use cpb_core::{Algorithm, CryptoWorkload, Error, Unsupported};
use cpb_session::Body;
use cpb_session::context::run;
use cpb_session::raw_jobs::RawJobs;

/// Opens a session for a supported workload of any algorithm except SHA-3.
///
/// # Errors
/// Returns an error if the library does not have the algorithm or rejects the key, or any error from `body`.
pub fn open<L: Linked>(
    workload: &CryptoWorkload,
    keys: &[&[u8]],
    jobs: &RawJobs<'_>,
    body: Body<'_>,
) -> Result<(), Error> {
    let algorithm = workload.algorithm;
    match algorithm {
        Algorithm::Aes128Cbc | Algorithm::Aes192Cbc | Algorithm::Aes256Cbc => {
            run(Cbc::<L, Aes>::open(workload), workload, keys, jobs, body)
        }
        Algorithm::Aes128Ecb | Algorithm::Aes192Ecb | Algorithm::Aes256Ecb => {
            run(Ecb::<L, Aes>::open(workload), workload, keys, jobs, body)
        }
        Algorithm::Aes128Ctr | Algorithm::Aes192Ctr | Algorithm::Aes256Ctr => {
            run(AesCtr::<L>::open(workload), workload, keys, jobs, body)
        }
        Algorithm::Aes128Xts | Algorithm::Aes256Xts => {
            run(AesXts::<L>::open(workload), workload, keys, jobs, body)
        }
        Algorithm::Aes128Gcm | Algorithm::Aes192Gcm | Algorithm::Aes256Gcm => {
            run(AesGcm::<L>::open(workload), workload, keys, jobs, body)
        }
        Algorithm::Aes128Ccm | Algorithm::Aes192Ccm | Algorithm::Aes256Ccm => {
            run(AesCcm::<L>::open(workload), workload, keys, jobs, body)
        }
        Algorithm::Chacha20Poly1305 => {
            run(Chachapoly::<L>::open(workload), workload, keys, jobs, body)
        }
        Algorithm::Aes128CbcHmacSha1Etm => {
            run(EncryptThenMac::<L>::open(Sha::Sha1, workload)?, workload, keys, jobs, body)
        }
        Algorithm::Aes128CbcHmacSha256Etm => {
            run(EncryptThenMac::<L>::open(Sha::Sha256, workload)?, workload, keys, jobs, body)
        }
        Algorithm::Chacha20 => run(Chacha20::<L>::open(workload), workload, keys, jobs, body),
        Algorithm::Camellia256Cbc => {
            run(Cbc::<L, Camellia>::open(workload), workload, keys, jobs, body)
        }
        Algorithm::TripleDesCbc => {
            run(Cbc::<L, TripleDes>::open(workload), workload, keys, jobs, body)
        }
        Algorithm::DesCbc => run(Cbc::<L, Des>::open(workload), workload, keys, jobs, body),
        Algorithm::TripleDesEcb => {
            run(Ecb::<L, TripleDes>::open(workload), workload, keys, jobs, body)
        }
        Algorithm::DesEcb => run(Ecb::<L, Des>::open(workload), workload, keys, jobs, body),
        Algorithm::Md5 => run(Digest::<L, Md5>::open(workload), workload, keys, jobs, body),
        Algorithm::Sha1 => run(Digest::<L, Sha1>::open(workload), workload, keys, jobs, body),
        Algorithm::Sha224 => run(Digest::<L, Sha224>::open(workload), workload, keys, jobs, body),
        Algorithm::Sha256 => run(Digest::<L, Sha256>::open(workload), workload, keys, jobs, body),
        Algorithm::Sha384 => run(Digest::<L, Sha384>::open(workload), workload, keys, jobs, body),
        Algorithm::Sha512 => run(Digest::<L, Sha512>::open(workload), workload, keys, jobs, body),
        Algorithm::HmacSha1 => {
            run(Hmac::<L>::open(Sha::Sha1, workload)?, workload, keys, jobs, body)
        }
        Algorithm::HmacSha256 => {
            run(Hmac::<L>::open(Sha::Sha256, workload)?, workload, keys, jobs, body)
        }
        Algorithm::HmacSha512 => {
            run(Hmac::<L>::open(Sha::Sha512, workload)?, workload, keys, jobs, body)
        }
        Algorithm::Aes128Cmac | Algorithm::Aes256Cmac => {
            run(Cmac::<L>::open(workload)?, workload, keys, jobs, body)
        }
        Algorithm::Poly1305 => run(Poly1305::<L>::open(workload), workload, keys, jobs, body),
        Algorithm::HmacDrbgSha256 => {
            run(HmacDrbg::<L>::open(Sha::Sha256, workload)?, workload, keys, jobs, body)
        }
        Algorithm::HmacDrbgSha512 => {
            run(HmacDrbg::<L>::open(Sha::Sha512, workload)?, workload, keys, jobs, body)
        }
        Algorithm::CtrDrbgAes256 => run(CtrDrbg::<L>::open(workload), workload, keys, jobs, body),
        other if other.has_key_pairs() => {
            let random = Random { draw: draw::<L>, source: core::ptr::null_mut() };
            key_pair::<L>(random, workload, keys, jobs, body)
        }
        _ => Err(Unsupported::Algorithm.into()),
    }
}

/// Opens a session for a supported workload, including SHA-3.
///
/// # Errors
/// Returns the same errors as [`open`].
pub fn open_with_sha3<L: Sha3>(
    workload: &CryptoWorkload,
    keys: &[&[u8]],
    jobs: &RawJobs<'_>,
    body: Body<'_>,
) -> Result<(), Error> {
    match workload.algorithm {
        Algorithm::Sha3_256 => {
            run(Digest::<L, Sha3_256>::open(workload), workload, keys, jobs, body)
        }
        Algorithm::Sha3_512 => {
            run(Digest::<L, Sha3_512>::open(workload), workload, keys, jobs, body)
        }
        _ => open::<L>(workload, keys, jobs, body),
    }
}

/// Draws random bytes for the library.
///
/// # Safety
/// `output` must have room for `length` bytes.
unsafe extern "C" fn draw<L: Linked>(_: *mut c_void, output: *mut u8, length: usize) -> c_int {
    // SAFETY: guaranteed by the caller.
    L::fill(unsafe { core::slice::from_raw_parts_mut(output, length) });
    0
}
