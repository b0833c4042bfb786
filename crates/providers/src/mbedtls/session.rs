// Sessions of one variant of Mbed TLS that cpb is linked with, included behind context.rs, whose word on
// safety holds here, too; the algorithms are in the files included behind it.

use cpb_core::Algorithm;

/// Opens a session for `workload`, whatever it is.
pub(super) fn open(
    workload: &CryptoWorkload,
    keys: &[&[u8]],
    jobs: &RawJobs<'_>,
    body: Body<'_>,
) -> Result<(), Error> {
    match workload.algorithm {
        Algorithm::HmacDrbgSha256 => hmac_drbg(workload, keys, jobs, ffi::MD_SHA256, body),
        Algorithm::HmacDrbgSha512 => hmac_drbg(workload, keys, jobs, ffi::MD_SHA512, body),
        Algorithm::CtrDrbgAes256 => ctr_drbg(workload, keys, jobs, body),
        other if other.has_key_pairs() => {
            let given = Given { draw, source: core::ptr::null_mut(), sha_256: ffi::MD_SHA256 };
            key_pair(given, workload, keys, jobs, body)
        }
        _ => session(workload, keys, jobs, body),
    }
}

/// Opens a session for `workload`, unless it is a generator's.
pub(super) fn session(
    workload: &CryptoWorkload,
    keys: &[&[u8]],
    jobs: &RawJobs<'_>,
    body: Body<'_>,
) -> Result<(), Error> {
    match workload.algorithm {
        Algorithm::Aes128Cbc | Algorithm::Aes192Cbc | Algorithm::Aes256Cbc => {
            aes_cbc(workload, keys, jobs, body)
        }
        Algorithm::Aes128Ecb | Algorithm::Aes192Ecb | Algorithm::Aes256Ecb => {
            aes_ecb(workload, keys, jobs, body)
        }
        Algorithm::Aes128Ctr | Algorithm::Aes192Ctr | Algorithm::Aes256Ctr => {
            aes_ctr(workload, keys, jobs, body)
        }
        Algorithm::Aes128Xts | Algorithm::Aes256Xts => aes_xts(workload, keys, jobs, body),
        Algorithm::Aes128Gcm | Algorithm::Aes192Gcm | Algorithm::Aes256Gcm => {
            aes_gcm(workload, keys, jobs, body)
        }
        Algorithm::Aes128Ccm | Algorithm::Aes192Ccm | Algorithm::Aes256Ccm => {
            aes_ccm(workload, keys, jobs, body)
        }
        Algorithm::Chacha20Poly1305 => chachapoly(workload, keys, jobs, body),
        Algorithm::Chacha20 => chacha20(workload, keys, jobs, body),
        Algorithm::Camellia256Cbc => camellia_cbc(workload, keys, jobs, body),
        Algorithm::TripleDesCbc => triple_des_cbc(workload, keys, jobs, body),
        Algorithm::DesCbc => des_cbc(workload, keys, jobs, body),
        Algorithm::Md5 => md5(workload, jobs, body),
        Algorithm::Sha1 => sha1(workload, jobs, body),
        Algorithm::Sha224 => sha224(workload, jobs, body),
        Algorithm::Sha256 => sha256(workload, jobs, body),
        Algorithm::Sha384 => sha384(workload, jobs, body),
        Algorithm::Sha512 => sha512(workload, jobs, body),
        Algorithm::Sha3_256 => sha3_256(workload, jobs, body),
        Algorithm::Sha3_512 => sha3_512(workload, jobs, body),
        Algorithm::HmacSha1 => hmac(workload, keys, jobs, ffi::MD_SHA1, body),
        Algorithm::HmacSha256 => hmac(workload, keys, jobs, ffi::MD_SHA256, body),
        Algorithm::HmacSha512 => hmac(workload, keys, jobs, ffi::MD_SHA512, body),
        Algorithm::Aes128Cmac => cmac(workload, keys, jobs, ffi::CIPHER_AES_128_ECB, body),
        Algorithm::Aes256Cmac => cmac(workload, keys, jobs, ffi::CIPHER_AES_256_ECB, body),
        Algorithm::Poly1305 => poly1305(workload, keys, jobs, body),
        _ => Err(Unsupported::Algorithm.into()),
    }
}

fn bits(key: &[u8]) -> core::ffi::c_uint {
    key.len() as core::ffi::c_uint * 8
}

/// The first bytes at `iv`.
///
/// # Safety
/// They are there.
#[inline]
unsafe fn start<const LENGTH: usize>(iv: *const u8) -> [u8; LENGTH] {
    // SAFETY: as promised by the caller; bytes need no alignment.
    unsafe { iv.cast::<[u8; LENGTH]>().read() }
}

/// 0 is success; a tag that does not fit is a refusal; all else an error.
#[inline]
fn succeeded(status: c_int) -> Result<(), Error> {
    match status {
        0 => Ok(()),
        ffi::ERR_GCM_AUTH_FAILED | ffi::ERR_CCM_AUTH_FAILED | ffi::ERR_CHACHAPOLY_AUTH_FAILED => {
            Err(Error::Refused)
        }
        code => Err(Error::Device(code)),
    }
}

/// Random bytes for whoever signs, blinds or makes a key: as fast as can be, and secret to nobody, so that
/// the library's own work is what is measured.
///
/// # Safety
/// There is room for `length` bytes at `output`.
unsafe extern "C" fn draw(_: *mut c_void, output: *mut u8, length: usize) -> c_int {
    // SAFETY: as promised by the caller.
    let output = unsafe { core::slice::from_raw_parts_mut(output, length) };
    super::rng::fill(output);
    0
}
