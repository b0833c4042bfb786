//! wolfSSL's keys: as DER or octets, and as structures that the library allocated.

use crate::key_der;
use crate::key_pairs::whole;
use crate::loaded::Owned;
use crate::wolfssl::ffi;
use core::ffi::{CStr, c_int, c_long, c_uint};
use core::ptr;
use cpb_core::{Algorithm, Error};

/// How the library reaches an algorithm.
#[derive(Clone, Copy)]
pub(super) enum Scheme {
    /// The modulus's length in bytes, and the padding.
    Rsa(usize, c_int),
    Curve(CurveNumber),
    X25519,
}

/// The library's number of a curve, and the length of the curve's numbers in bytes.
#[derive(Clone, Copy)]
pub(super) struct CurveNumber {
    pub(super) id: c_int,
    pub(super) size: c_int,
}

// wolfssl/wolfcrypt/ecc.h: `ECC_SECP256R1`, `ECC_SECP384R1`.
const P256: CurveNumber = CurveNumber { id: 7, size: 32 };
const P384: CurveNumber = CurveNumber { id: 15, size: 48 };

// wolfssl/openssl/rsa.h: `RSA_PKCS1_PADDING`, `RSA_PKCS1_PSS_PADDING`; asn.h: `NID_sha256`, the only digest
// that RSA signs here.
const PKCS1: c_int = 0;
const PSS: c_int = 2;
pub(super) const SHA_256: c_int = 672;

impl Scheme {
    pub(super) fn of(algorithm: Algorithm) -> Option<Scheme> {
        Some(match algorithm {
            Algorithm::Rsa2048Pkcs1 => Scheme::Rsa(256, PKCS1),
            Algorithm::Rsa3072Pkcs1 => Scheme::Rsa(384, PKCS1),
            Algorithm::Rsa4096Pkcs1 => Scheme::Rsa(512, PKCS1),
            Algorithm::Rsa2048Pss => Scheme::Rsa(256, PSS),
            Algorithm::Rsa3072Pss => Scheme::Rsa(384, PSS),
            Algorithm::Rsa4096Pss => Scheme::Rsa(512, PSS),
            Algorithm::EcdsaP256 | Algorithm::EcdhP256 => Scheme::Curve(P256),
            Algorithm::EcdsaP384 | Algorithm::EcdhP384 => Scheme::Curve(P384),
            Algorithm::X25519 => Scheme::X25519,
            _ => return None,
        })
    }

    /// Functions that an algorithm cannot do without. Builds leave out whole algorithms.
    pub(super) fn needs(self) -> &'static [&'static CStr] {
        match self {
            Scheme::Rsa(..) => &[
                c"wolfSSL_d2i_RSAPrivateKey",
                c"wolfSSL_i2d_RSAPrivateKey",
                c"wolfSSL_d2i_RSAPublicKey",
                c"wolfSSL_RSA_sign_generic_padding",
                c"wolfSSL_RSA_verify_ex",
                c"wolfSSL_RSA_generate_key_ex",
            ],
            // All functions that return 0 for success, because a function that is missing returns 0 as well.
            Scheme::Curve(_) => &[
                c"wc_rng_new",
                c"wc_ecc_key_new",
                c"wc_ecc_set_rng",
                c"wc_ecc_make_key_ex",
                c"wc_ecc_import_private_key_ex",
                c"wc_ecc_import_x963_ex",
                c"wc_ecc_check_key",
                c"wc_ecc_export_private_only",
                c"wc_ecc_export_x963",
                c"wc_ecc_sign_hash",
                c"wc_ecc_verify_hash",
                c"wc_ecc_get_curve_idx",
                c"wc_ecc_new_point",
                c"wc_ecc_import_point_der_ex",
                c"wc_ecc_point_is_on_curve",
                c"wc_ecc_shared_secret_ex",
            ],
            Scheme::X25519 => &[c"wolfSSL_EC25519_shared_key", c"wolfSSL_EC25519_generate_key"],
        }
    }
}

/// A generator of the library, seeded by the system.
pub(super) fn generator() -> Result<Owned<ffi::WC_RNG>, Error> {
    // SAFETY: null means no nonce, and the usual memory.
    Owned::take(unsafe { ffi::wc_rng_new(ptr::null_mut(), 0, ptr::null_mut()) }, ffi::wc_rng_free)
}

pub(super) fn curve_key() -> Result<Owned<ffi::ecc_key>, Error> {
    // SAFETY: null means the usual memory.
    Owned::take(unsafe { ffi::wc_ecc_key_new(ptr::null_mut()) }, ffi::wc_ecc_key_free)
}

pub(super) fn curve_private(curve: CurveNumber, own: &[u8]) -> Result<Owned<ffi::ecc_key>, Error> {
    let key = curve_key()?;
    let (bytes, length) = (own.as_ptr(), own.len() as c_uint);
    // SAFETY: the key is live, and the length is that of the bytes; null means without the public half.
    done(unsafe {
        ffi::wc_ecc_import_private_key_ex(bytes, length, ptr::null(), 0, key.0, curve.id)
    })?;
    Ok(key)
}

pub(super) fn rsa_private(modulus: usize, own: &[u8]) -> Result<Owned<ffi::WOLFSSL_RSA>, Error> {
    let der = key_der::rsa_private(modulus, own)?;
    let (mut start, length) = (der.as_ptr(), der.len() as c_long);
    // SAFETY: the length is that of the bytes; null makes a new key.
    let key = unsafe { ffi::wolfSSL_d2i_RSAPrivateKey(ptr::null_mut(), &mut start, length) };
    Owned::take(key, ffi::wolfSSL_RSA_free)
}

pub(super) fn rsa_public(modulus: usize, own: &[u8]) -> Result<Owned<ffi::WOLFSSL_RSA>, Error> {
    let der = key_der::rsa_public(modulus, own)?;
    let (mut start, length) = (der.as_ptr(), der.len() as c_long);
    // SAFETY: as above.
    let key = unsafe { ffi::wolfSSL_d2i_RSAPublicKey(ptr::null_mut(), &mut start, length) };
    Owned::take(key, ffi::wolfSSL_RSA_free)
}

/// Writes the numbers of a pair.
pub(super) fn write_rsa(
    modulus: usize,
    pair: &Owned<ffi::WOLFSSL_RSA>,
    private: &mut [u8],
    public: &mut [u8],
) -> Result<(), Error> {
    // SAFETY: the pair is live; null asks for the length only.
    let length = unsafe { ffi::wolfSSL_i2d_RSAPrivateKey(pair.0, ptr::null_mut()) };
    let mut der = vec![0; usize::try_from(length).map_err(|_| Error::Device(length))?];
    let mut start = der.as_mut_ptr();
    // SAFETY: as above; there is room for the length that it returned.
    if unsafe { ffi::wolfSSL_i2d_RSAPrivateKey(pair.0, &mut start) } != length {
        return Err(Error::WrongAnswer);
    }
    key_der::read_rsa_private(modulus, &der, private)?;
    public.copy_from_slice(private.get(..public.len()).ok_or(Error::WrongAnswer)?);
    Ok(())
}

pub(super) fn write_curve(
    pair: &Owned<ffi::ecc_key>,
    private: &mut [u8],
    public: &mut [u8],
) -> Result<(), Error> {
    let (mut scalar, mut point) = (private.len() as c_uint, public.len() as c_uint);
    // SAFETY: the pair is live, and the outputs have the stated lengths.
    unsafe {
        done(ffi::wc_ecc_export_private_only(pair.0, private.as_mut_ptr(), &mut scalar))?;
        done(ffi::wc_ecc_export_x963(pair.0, public.as_mut_ptr(), &mut point))?;
    }
    whole(scalar as usize, private.len())?;
    whole(point as usize, public.len())
}

/// For wolfCrypt's own functions, which return 0 or an error code.
#[inline]
pub(super) fn done(status: c_int) -> Result<(), Error> {
    if status == 0 { Ok(()) } else { Err(Error::Device(status)) }
}

/// For the functions for OpenSSL's programs, which return 1 for success.
#[inline]
pub(super) fn succeeded(status: c_int) -> Result<(), Error> {
    if status == 1 { Ok(()) } else { Err(Error::Device(status)) }
}

/// The error for what the library refuses because of its content. Empties the library's error queue.
#[cold]
pub(super) fn refused(_: Error) -> Error {
    // SAFETY: takes no arguments; the queue belongs to the thread.
    unsafe { ffi::wolfSSL_ERR_clear_error() };
    Error::Refused
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_function_whose_success_is_0_is_never_taken_for_a_success() {
        for slot in ffi::SLOTS {
            let name = slot.name.to_string_lossy();
            let frees = name.ends_with("free") || name.ends_with("del_point");
            if name.starts_with("wc_") && !frees {
                assert!(Scheme::Curve(P256).needs().contains(&slot.name), "{name}");
            }
        }
    }
}
