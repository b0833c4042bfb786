//! libhogweed, the part of Nettle 3 that has key pairs, and the numbers of GMP that it works with. The C
//! interface is from the headers that each item names.
//!
//! The headers rename functions: what they and Nettle's manual call `rsa_public_key_init` is
//! `nettle_rsa_public_key_init` in the library (`#define`s in rsa.h, ecc.h and the others).

// Signatures have as many arguments as in the headers.
#![allow(clippy::too_many_arguments)]

use crate::loaded::{Library, c_functions};
use core::ffi::{CStr, c_char, c_int, c_uint, c_void};

/// `nettle_random_func` (nettle-types.h): its own context, length, output.
pub(super) type RandomFunction = unsafe extern "C" fn(*mut c_void, usize, *mut u8);

/// `nettle_progress_func` (nettle-types.h).
pub(super) type ProgressFunction = unsafe extern "C" fn(*mut c_void, c_int);

/// `mpz_t` (gmp.h).
#[repr(C)]
pub(super) struct Integer {
    allocated: c_int,
    size: c_int,
    limbs: *mut c_void,
}

/// `struct rsa_public_key` (rsa.h).
#[repr(C)]
pub(super) struct RsaPublicKey {
    /// Bytes of the modulus.
    pub(super) size: usize,
    pub(super) n: Integer,
    pub(super) e: Integer,
}

/// `struct rsa_private_key` (rsa.h).
#[repr(C)]
pub(super) struct RsaPrivateKey {
    /// Bytes of the modulus.
    pub(super) size: usize,
    pub(super) d: Integer,
    pub(super) p: Integer,
    pub(super) q: Integer,
    /// d mod (p-1).
    pub(super) a: Integer,
    /// d mod (q-1).
    pub(super) b: Integer,
    /// 1/q mod p.
    pub(super) c: Integer,
}

/// `struct ecc_curve` (ecc-curve.h), whose content is private to the library.
#[repr(C)]
pub(super) struct Curve([u8; 0]);

/// `struct ecc_point` (ecc.h).
#[repr(C)]
pub(super) struct Point {
    curve: *const Curve,
    limbs: *mut c_void,
}

/// `struct ecc_scalar` (ecc.h).
#[repr(C)]
pub(super) struct Scalar {
    curve: *const Curve,
    limbs: *mut c_void,
}

/// `struct dsa_signature` (dsa.h).
#[repr(C)]
pub(super) struct DsaSignature {
    pub(super) r: Integer,
    pub(super) s: Integer,
}

/// Bytes that hold a `struct yarrow256_ctx` (yarrow.h), which has 496 bytes if pointers have 8.
pub(super) const YARROW: u32 = 1024;

// Functions that return `c_int` return 1 for success and 0 for failure.
c_functions! { loaded:
    // gmp.h
    fn __gmpz_init(number: *mut Integer);
    fn __gmpz_clear(number: *mut Integer);
    // bignum.h
    fn nettle_mpz_sizeinbase_256_u(number: *const Integer) -> usize;
    /// The number must not be longer than `length`.
    fn nettle_mpz_get_str_256(length: usize, output: *mut u8, number: *const Integer);
    fn nettle_mpz_set_str_256_u(number: *mut Integer, length: usize, digits: *const u8);
    // yarrow.h; these are in libnettle, which libhogweed needs.
    fn nettle_yarrow256_init(context: *mut c_void, sources: c_uint, none: *mut c_void);
    fn nettle_yarrow256_seed(context: *mut c_void, length: usize, seed: *const u8);
    fn nettle_yarrow256_random(context: *mut c_void, length: usize, output: *mut u8);
    // rsa.h
    fn nettle_rsa_public_key_init(key: *mut RsaPublicKey);
    fn nettle_rsa_public_key_clear(key: *mut RsaPublicKey);
    fn nettle_rsa_public_key_prepare(key: *mut RsaPublicKey) -> c_int;
    fn nettle_rsa_private_key_init(key: *mut RsaPrivateKey);
    fn nettle_rsa_private_key_clear(key: *mut RsaPrivateKey);
    fn nettle_rsa_private_key_prepare(key: *mut RsaPrivateKey) -> c_int;
    fn nettle_rsa_sha256_sign_digest_tr(public: *const RsaPublicKey, key: *const RsaPrivateKey, random_context: *mut c_void, random: RandomFunction, digest: *const u8, signature: *mut Integer) -> c_int;
    fn nettle_rsa_sha256_verify_digest(key: *const RsaPublicKey, digest: *const u8, signature: *const Integer) -> c_int;
    fn nettle_rsa_pss_sha256_sign_digest_tr(public: *const RsaPublicKey, key: *const RsaPrivateKey, random_context: *mut c_void, random: RandomFunction, salt_length: usize, salt: *const u8, digest: *const u8, signature: *mut Integer) -> c_int;
    fn nettle_rsa_pss_sha256_verify_digest(key: *const RsaPublicKey, salt_length: usize, digest: *const u8, signature: *const Integer) -> c_int;
    /// If e has 0 bits, the public key's e is used.
    fn nettle_rsa_generate_keypair(public: *mut RsaPublicKey, key: *mut RsaPrivateKey, random_context: *mut c_void, random: RandomFunction, progress_context: *mut c_void, progress: Option<ProgressFunction>, bits: c_uint, bits_of_e: c_uint) -> c_int;
    // ecc-curve.h
    fn nettle_get_secp_256r1() -> *const Curve;
    fn nettle_get_secp_384r1() -> *const Curve;
    // ecc.h
    fn nettle_ecc_point_init(point: *mut Point, curve: *const Curve);
    fn nettle_ecc_point_clear(point: *mut Point);
    /// 0 if the point is not on the curve.
    fn nettle_ecc_point_set(point: *mut Point, x: *const Integer, y: *const Integer) -> c_int;
    /// Either coordinate may be null.
    fn nettle_ecc_point_get(point: *const Point, x: *mut Integer, y: *mut Integer);
    fn nettle_ecc_point_mul(product: *mut Point, scalar: *const Scalar, point: *const Point);
    fn nettle_ecc_point_mul_g(product: *mut Point, scalar: *const Scalar);
    fn nettle_ecc_scalar_init(scalar: *mut Scalar, curve: *const Curve);
    fn nettle_ecc_scalar_clear(scalar: *mut Scalar);
    /// 0 if the number is 0, or not below the group's order.
    fn nettle_ecc_scalar_set(scalar: *mut Scalar, number: *const Integer) -> c_int;
    fn nettle_ecc_scalar_get(scalar: *const Scalar, number: *mut Integer);
    // dsa.h, ecdsa.h
    fn nettle_dsa_signature_init(signature: *mut DsaSignature);
    fn nettle_dsa_signature_clear(signature: *mut DsaSignature);
    fn nettle_ecdsa_sign(key: *const Scalar, random_context: *mut c_void, random: RandomFunction, length: usize, digest: *const u8, signature: *mut DsaSignature);
    fn nettle_ecdsa_verify(key: *const Point, length: usize, digest: *const u8, signature: *const DsaSignature) -> c_int;
    fn nettle_ecdsa_generate_keypair(public: *mut Point, key: *mut Scalar, random_context: *mut c_void, random: RandomFunction);
    // eddsa.h
    fn nettle_ed25519_sha512_public_key(public: *mut u8, private: *const u8);
    fn nettle_ed25519_sha512_sign(public: *const u8, private: *const u8, length: usize, message: *const u8, signature: *mut u8);
    fn nettle_ed25519_sha512_verify(public: *const u8, length: usize, message: *const u8, signature: *const u8) -> c_int;
    // curve25519.h
    fn nettle_curve25519_mul_g(product: *mut u8, scalar: *const u8);
    fn nettle_curve25519_mul(product: *mut u8, scalar: *const u8, point: *const u8);
}

/// Loads libhogweed and describes it. The error says what is missing.
///
/// One handle is enough: the dynamic linker also looks for a function in the libraries that this one needs, so
/// GMP is the one that libhogweed itself calls. If that is Nettle's own small version of GMP, its functions
/// have other names, and are reported as missing.
pub(super) fn load() -> Result<String, String> {
    // The version that belongs to libnettle.so.8. Nettle 4 has other signatures.
    let library = Library::open(&[c"libhogweed.so.6"]).map_err(|missing| {
        format!("no libhogweed (Debian's package libhogweed6): {}", missing.detail)
    })?;
    let file = library.file();
    if let Some(missing) = library.fill(SLOTS).first() {
        return Err(format!("{file} lacks {}", missing.to_string_lossy()));
    }
    Ok(format!("{file} with GMP{}", gmp(&library).unwrap_or_default()))
}

/// The version of GMP, and whether it is "fat": such a build uses code for newer CPUs where it can, and no
/// variable changes that.
fn gmp(library: &Library) -> Option<String> {
    let version = library.symbol(c"__gmp_version")?.cast::<*const c_char>();
    // SAFETY: gmp.h: a constant C string.
    let version = unsafe { CStr::from_ptr(*version.as_ptr()) }.to_string_lossy();
    let fat = library.symbol(c"__gmpn_cpuvec").is_some();
    Some(format!(" {version}{}", if fat { ", by what it finds in the CPU" } else { "" }))
}
