//! Linux's own crypto: its names of algorithms and, on a host, what it reports about its drivers.

#[cfg(feature = "std")]
mod survey;

use crate::algorithm::Algorithm;
#[cfg(feature = "std")]
pub use survey::*;

/// The AF_ALG type of an algorithm and its name in the kernel; `None` if the kernel does not have the
/// algorithm.
pub fn kernel_name(algorithm: Algorithm) -> Option<(&'static str, &'static str)> {
    Some(match algorithm {
        Algorithm::Aes128Cbc | Algorithm::Aes192Cbc | Algorithm::Aes256Cbc => {
            ("skcipher", "cbc(aes)")
        }
        Algorithm::Aes128Ecb | Algorithm::Aes192Ecb | Algorithm::Aes256Ecb => {
            ("skcipher", "ecb(aes)")
        }
        Algorithm::Aes128Ctr | Algorithm::Aes192Ctr | Algorithm::Aes256Ctr => {
            ("skcipher", "ctr(aes)")
        }
        Algorithm::Aes128Xts | Algorithm::Aes256Xts => ("skcipher", "xts(aes)"),
        Algorithm::Aes128Gcm | Algorithm::Aes192Gcm | Algorithm::Aes256Gcm => ("aead", "gcm(aes)"),
        Algorithm::Aes128Ccm | Algorithm::Aes192Ccm | Algorithm::Aes256Ccm => ("aead", "ccm(aes)"),
        Algorithm::Aes128CbcHmacSha1Etm => ("aead", "authenc(hmac(sha1),cbc(aes))"),
        Algorithm::Aes128CbcHmacSha256Etm => ("aead", "authenc(hmac(sha256),cbc(aes))"),
        Algorithm::Chacha20Poly1305 => ("aead", "rfc7539(chacha20,poly1305)"),
        Algorithm::Chacha20 => ("skcipher", "chacha20"),
        Algorithm::Camellia256Cbc => ("skcipher", "cbc(camellia)"),
        Algorithm::TripleDesCbc => ("skcipher", "cbc(des3_ede)"),
        Algorithm::DesCbc => ("skcipher", "cbc(des)"),
        Algorithm::TripleDesEcb => ("skcipher", "ecb(des3_ede)"),
        Algorithm::DesEcb => ("skcipher", "ecb(des)"),
        Algorithm::Md5 => ("hash", "md5"),
        Algorithm::Sha1 => ("hash", "sha1"),
        Algorithm::Sha224 => ("hash", "sha224"),
        Algorithm::Sha256 => ("hash", "sha256"),
        Algorithm::Sha384 => ("hash", "sha384"),
        Algorithm::Sha512 => ("hash", "sha512"),
        Algorithm::Sha3_256 => ("hash", "sha3-256"),
        Algorithm::Sha3_512 => ("hash", "sha3-512"),
        Algorithm::HmacSha1 => ("hash", "hmac(sha1)"),
        Algorithm::HmacSha256 => ("hash", "hmac(sha256)"),
        Algorithm::HmacSha512 => ("hash", "hmac(sha512)"),
        Algorithm::Aes128Cmac | Algorithm::Aes256Cmac => ("hash", "cmac(aes)"),
        // The kernel's name does not tell which generator this is. The provider selects the driver.
        Algorithm::HashDrbgSha256
        | Algorithm::HmacDrbgSha256
        | Algorithm::HmacDrbgSha512
        | Algorithm::CtrDrbgAes256 => ("rng", "stdrng"),
        // The kernel expects the key in the first bytes of the message, and not in all versions.
        Algorithm::Poly1305 => return None,
        // The kernel does not offer copying, and has no interface for key pairs here.
        _ => return None,
    })
}
