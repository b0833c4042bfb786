//! Which algorithms with key pairs the library has, and what it calls them. The firmware compiles this
//! file, too.

use super::ffi;
use core::ffi::c_int;
use cpb_core::Algorithm;

/// Whether the library has an algorithm with key pairs: it has no EdDSA, no ML-KEM and no ML-DSA.
pub(super) fn has(algorithm: Algorithm) -> bool {
    rsa_padding(algorithm).is_some() || curve(algorithm).is_some()
}

pub(super) fn rsa_padding(algorithm: Algorithm) -> Option<c_int> {
    Some(match algorithm {
        Algorithm::Rsa2048Pkcs1 | Algorithm::Rsa3072Pkcs1 | Algorithm::Rsa4096Pkcs1 => {
            ffi::RSA_PKCS_V15
        }
        Algorithm::Rsa2048Pss | Algorithm::Rsa3072Pss | Algorithm::Rsa4096Pss => ffi::RSA_PKCS_V21,
        _ => return None,
    })
}

pub(super) fn curve(algorithm: Algorithm) -> Option<c_int> {
    Some(match algorithm {
        Algorithm::EcdsaP256 | Algorithm::EcdhP256 => ffi::ECP_DP_SECP256R1,
        Algorithm::EcdsaP384 | Algorithm::EcdhP384 => ffi::ECP_DP_SECP384R1,
        Algorithm::X25519 => ffi::ECP_DP_CURVE25519,
        _ => return None,
    })
}
