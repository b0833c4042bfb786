//! The algorithms with key pairs that the library supports, and its numbers for them. The numbers are the
//! same in 2.28 and 3.

use core::ffi::c_int;
use cpb_core::Algorithm;

// rsa.h
/// The padding of PKCS #1 v1.5.
pub const RSA_PKCS_V15: c_int = 0;
/// The padding of PSS.
pub const RSA_PKCS_V21: c_int = 1;
/// In 2.28: operation with the public key.
pub const RSA_PUBLIC: c_int = 0;
/// In 2.28: operation with the private key.
pub const RSA_PRIVATE: c_int = 1;
// ecp.h: mbedtls_ecp_group_id
const ECP_DP_SECP256R1: c_int = 3;
const ECP_DP_SECP384R1: c_int = 4;
pub(crate) const ECP_DP_CURVE25519: c_int = 9;

/// Whether the library supports an algorithm with key pairs. It has no EdDSA, no ML-KEM and no ML-DSA.
pub fn has(algorithm: Algorithm) -> bool {
    rsa_padding(algorithm).is_some() || curve(algorithm).is_some()
}

/// The padding of an RSA algorithm; `None` if the algorithm is not RSA.
pub fn rsa_padding(algorithm: Algorithm) -> Option<c_int> {
    Some(match algorithm {
        Algorithm::Rsa2048Pkcs1 | Algorithm::Rsa3072Pkcs1 | Algorithm::Rsa4096Pkcs1 => RSA_PKCS_V15,
        Algorithm::Rsa2048Pss | Algorithm::Rsa3072Pss | Algorithm::Rsa4096Pss => RSA_PKCS_V21,
        _ => return None,
    })
}

/// The number of an algorithm's curve; `None` if the algorithm uses no curve of the library.
pub fn curve(algorithm: Algorithm) -> Option<c_int> {
    Some(match algorithm {
        Algorithm::EcdsaP256 | Algorithm::EcdhP256 => ECP_DP_SECP256R1,
        Algorithm::EcdsaP384 | Algorithm::EcdhP384 => ECP_DP_SECP384R1,
        Algorithm::X25519 => ECP_DP_CURVE25519,
        _ => return None,
    })
}
