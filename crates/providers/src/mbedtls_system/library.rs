//! The installed library's functions for key pairs and generators, by the names that the sessions of
//! `mbedtls/public_key.rs` and `mbedtls/generator.rs` know: those of Mbed TLS 3.6. From mbedtls/rsa.h,
//! bignum.h, ecp.h, ecdsa.h, ecdh.h, md.h, hmac_drbg.h, ctr_drbg.h and entropy.h.
//!
//! Contexts are memory with room to spare, of which only C knows what is where.

use super::ffi::{RSA_PKCS_V15, mbedtls_md_info_t};
use core::ffi::{c_int, c_uint, c_void};
use core::ptr;
use core::sync::atomic::{AtomicBool, Ordering};

pub(super) use functions::*;

/// Whether the library that was loaded is 3.0 or newer.
static THIRD: AtomicBool = AtomicBool::new(false);

/// Says which version the functions are of, before the first is called.
pub(super) fn is_third(third: bool) {
    THIRD.store(third, Ordering::Relaxed);
}

#[inline(always)]
fn third() -> bool {
    THIRD.load(Ordering::Relaxed)
}

/// Declares contexts with the bytes that they have room in.
macro_rules! contexts {
    ($($name:ident: $bytes:literal;)+) => {$(
        #[repr(C, align(16))]
        pub(crate) struct $name {
            _data: [core::mem::MaybeUninit<u8>; $bytes],
            _marker: core::marker::PhantomData<(*mut u8, core::marker::PhantomPinned)>,
        }

        impl $name {
            /// Room for a context: only its `_init` may be called on it.
            pub(crate) const fn uninit() -> Self {
                $name {
                    _data: [core::mem::MaybeUninit::uninit(); $bytes],
                    _marker: core::marker::PhantomData,
                }
            }
        }
    )+};
}

// By the headers of 2.28.3 as Debian configures it and of 3.6.5 as it is by default, on x86-64, the largest has
// 392 bytes; but for the last, which has 37960 in 2.28.3, of HAVEGE's tables, and 832 without.
contexts! {
    RsaContext: 4096;
    Mpi: 4096;
    EcpGroup: 4096;
    EcpPoint: 4096;
    HmacDrbgContext: 4096;
    CtrDrbgContext: 4096;
    EntropyContext: 65536;
}

/// `mbedtls_ecp_curve_info`: what describes a curve; static in the library.
#[repr(C)]
pub(super) struct CurveInfo {
    _data: [u8; 0],
}

/// What the library calls for random bytes: a source, room, and how much of it. 0 is success.
pub(super) type Draw = unsafe extern "C" fn(*mut c_void, *mut u8, usize) -> c_int;

pub(super) type MdInfo = mbedtls_md_info_t;

/// Functions return 0 for success, and so does one that the library lacks: see `ffi`.
mod functions {
    use super::*;

    crate::loaded::c_functions! { loaded as "mbedtls_":
        // Big-endian, padded with zeros.
        fn mpi_init(number: *mut Mpi);
        fn mpi_free(number: *mut Mpi);
        fn mpi_read_binary(number: *mut Mpi, digits: *const u8, length: usize) -> c_int;
        fn mpi_write_binary(number: *const Mpi, digits: *mut u8, length: usize) -> c_int;

        fn rsa_free(context: *mut RsaContext);
        fn rsa_import_raw(context: *mut RsaContext, n: *const u8, n_length: usize, p: *const u8, p_length: usize, q: *const u8, q_length: usize, d: *const u8, d_length: usize, e: *const u8, e_length: usize) -> c_int;
        fn rsa_complete(context: *mut RsaContext) -> c_int;
        fn rsa_export_raw(context: *const RsaContext, n: *mut u8, n_length: usize, p: *mut u8, p_length: usize, q: *mut u8, q_length: usize, d: *mut u8, d_length: usize, e: *mut u8, e_length: usize) -> c_int;
        fn rsa_export_crt(context: *const RsaContext, dp: *mut Mpi, dq: *mut Mpi, qp: *mut Mpi) -> c_int;
        fn rsa_gen_key(context: *mut RsaContext, draw: Draw, source: *mut c_void, bits: c_uint, exponent: c_int) -> c_int;
        fn rsa_rsassa_pss_sign_ext(context: *mut RsaContext, draw: Draw, source: *mut c_void, digest: c_int, length: c_uint, hash: *const u8, salt: c_int, signature: *mut u8) -> c_int;

        /// Null where there is none of that number.
        fn ecp_curve_info_from_grp_id(id: c_int) -> *const CurveInfo;
        fn ecp_group_init(group: *mut EcpGroup);
        fn ecp_group_free(group: *mut EcpGroup);
        fn ecp_group_load(group: *mut EcpGroup, id: c_int) -> c_int;
        fn ecp_point_init(point: *mut EcpPoint);
        fn ecp_point_free(point: *mut EcpPoint);
        fn ecp_point_read_binary(group: *const EcpGroup, point: *mut EcpPoint, encoded: *const u8, length: usize) -> c_int;
        fn ecp_point_write_binary(group: *const EcpGroup, point: *const EcpPoint, form: c_int, written: *mut usize, encoded: *mut u8, length: usize) -> c_int;
        fn ecp_check_pubkey(group: *const EcpGroup, point: *const EcpPoint) -> c_int;
        fn ecp_gen_keypair(group: *mut EcpGroup, scalar: *mut Mpi, point: *mut EcpPoint, draw: Draw, source: *mut c_void) -> c_int;
        fn ecdsa_sign(group: *mut EcpGroup, r: *mut Mpi, s: *mut Mpi, scalar: *const Mpi, hash: *const u8, length: usize, draw: Draw, source: *mut c_void) -> c_int;
        fn ecdsa_verify(group: *mut EcpGroup, hash: *const u8, length: usize, public: *const EcpPoint, r: *const Mpi, s: *const Mpi) -> c_int;
        fn ecdh_compute_shared(group: *mut EcpGroup, secret: *mut Mpi, peer: *const EcpPoint, own: *const Mpi, draw: Draw, source: *mut c_void) -> c_int;

        /// Null where there is none of that number, which is another in each version.
        fn md_info_from_type(digest: c_int) -> *const MdInfo;
        /// 0 of null.
        fn md_get_type(info: *const MdInfo) -> c_int;

        fn hmac_drbg_init(context: *mut HmacDrbgContext);
        fn hmac_drbg_free(context: *mut HmacDrbgContext);
        fn hmac_drbg_seed_buf(context: *mut HmacDrbgContext, digest: *const MdInfo, data: *const u8, length: usize) -> c_int;
        fn hmac_drbg_random(context: *mut c_void, output: *mut u8, length: usize) -> c_int;

        fn ctr_drbg_init(context: *mut CtrDrbgContext);
        fn ctr_drbg_free(context: *mut CtrDrbgContext);
        fn ctr_drbg_set_entropy_len(context: *mut CtrDrbgContext, length: usize);
        fn ctr_drbg_set_nonce_len(context: *mut CtrDrbgContext, length: usize) -> c_int;
        fn ctr_drbg_set_reseed_interval(context: *mut CtrDrbgContext, requests: c_int);
        fn ctr_drbg_seed(context: *mut CtrDrbgContext, entropy: Draw, source: *mut c_void, personalisation: *const u8, length: usize) -> c_int;
        fn ctr_drbg_random(context: *mut c_void, output: *mut u8, length: usize) -> c_int;

        fn entropy_init(context: *mut EntropyContext);
        fn entropy_free(context: *mut EntropyContext);
        fn entropy_func(context: *mut c_void, output: *mut u8, length: usize) -> c_int;
    }
}

/// Functions of RSA that 3.0 gave other arguments, as 3 has them.
pub(super) mod rsa_3 {
    use super::*;

    crate::loaded::c_functions! { loaded as "mbedtls_":
        fn rsa_init(context: *mut RsaContext);
        fn rsa_set_padding(context: *mut RsaContext, padding: c_int, digest: c_int) -> c_int;
        fn rsa_pkcs1_sign(context: *mut RsaContext, draw: Draw, source: *mut c_void, digest: c_int, length: c_uint, hash: *const u8, signature: *mut u8) -> c_int;
        fn rsa_pkcs1_verify(context: *mut RsaContext, digest: c_int, length: c_uint, hash: *const u8, signature: *const u8) -> c_int;
        fn rsa_rsassa_pss_verify_ext(context: *mut RsaContext, digest: c_int, length: c_uint, hash: *const u8, mgf1_digest: c_int, salt: c_int, signature: *const u8) -> c_int;
    }
}

/// The same as 2.28 has them: with a mode, and for what is public, too, with a source of random bytes.
pub(super) mod rsa_2 {
    use super::*;

    pub(super) const PUBLIC: c_int = 0;
    pub(super) const PRIVATE: c_int = 1;

    crate::loaded::c_functions! { loaded as "mbedtls_":
        fn rsa_init(context: *mut RsaContext, padding: c_int, digest: c_int);
        fn rsa_set_padding(context: *mut RsaContext, padding: c_int, digest: c_int);
        fn rsa_pkcs1_sign(context: *mut RsaContext, draw: Draw, source: *mut c_void, mode: c_int, digest: c_int, length: c_uint, hash: *const u8, signature: *mut u8) -> c_int;
        fn rsa_pkcs1_verify(context: *mut RsaContext, draw: Option<Draw>, source: *mut c_void, mode: c_int, digest: c_int, length: c_uint, hash: *const u8, signature: *const u8) -> c_int;
        fn rsa_rsassa_pss_verify_ext(context: *mut RsaContext, draw: Option<Draw>, source: *mut c_void, mode: c_int, digest: c_int, length: c_uint, hash: *const u8, mgf1_digest: c_int, salt: c_int, signature: *const u8) -> c_int;
    }
}

/// # Safety
/// There is room for a context.
pub(super) unsafe extern "C" fn rsa_init(context: *mut RsaContext) {
    // SAFETY: as promised by the caller.
    unsafe {
        if third() { rsa_3::rsa_init(context) } else { rsa_2::rsa_init(context, RSA_PKCS_V15, 0) }
    }
}

/// # Safety
/// The context is initialised.
pub(super) unsafe fn rsa_set_padding(context: *mut RsaContext, padding: c_int, digest: c_int) {
    // SAFETY: as promised by the caller. It fails for a padding or a digest that the build lacks, and so
    // does whatever is done with it then.
    unsafe {
        if third() {
            rsa_3::rsa_set_padding(context, padding, digest);
        } else {
            rsa_2::rsa_set_padding(context, padding, digest);
        }
    }
}

/// Signs by PKCS #1 v1.5, as the context's padding says.
///
/// # Safety
/// The context has a private key; digest and signature have the lengths that go with it.
pub(super) unsafe fn rsa_sign(
    context: *mut RsaContext,
    draw: Draw,
    source: *mut c_void,
    digest: c_int,
    length: c_uint,
    hash: *const u8,
    signature: *mut u8,
) -> c_int {
    // SAFETY: as promised by the caller.
    unsafe {
        if third() {
            return rsa_3::rsa_pkcs1_sign(context, draw, source, digest, length, hash, signature);
        }
        let mode = rsa_2::PRIVATE;
        rsa_2::rsa_pkcs1_sign(context, draw, source, mode, digest, length, hash, signature)
    }
}

/// Verifies by PKCS #1 v1.5, as the context's padding says.
///
/// # Safety
/// The context has a key; digest and signature have the lengths that go with it.
pub(super) unsafe fn rsa_verify(
    context: *mut RsaContext,
    digest: c_int,
    length: c_uint,
    hash: *const u8,
    signature: *const u8,
) -> c_int {
    let (none, mode) = (ptr::null_mut(), rsa_2::PUBLIC);
    // SAFETY: as promised by the caller; a public operation draws nothing.
    unsafe {
        if third() {
            return rsa_3::rsa_pkcs1_verify(context, digest, length, hash, signature);
        }
        rsa_2::rsa_pkcs1_verify(context, None, none, mode, digest, length, hash, signature)
    }
}

/// Verifies by PSS, with a salt of this length and no other.
///
/// # Safety
/// As above.
pub(super) unsafe fn rsa_verify_pss(
    context: *mut RsaContext,
    digest: c_int,
    length: c_uint,
    hash: *const u8,
    salt: c_int,
    signature: *const u8,
) -> c_int {
    let (none, mode) = (ptr::null_mut(), rsa_2::PUBLIC);
    // SAFETY: as above.
    unsafe {
        if third() {
            return rsa_3::rsa_rsassa_pss_verify_ext(
                context, digest, length, hash, digest, salt, signature,
            );
        }
        rsa_2::rsa_rsassa_pss_verify_ext(
            context, None, none, mode, digest, length, hash, digest, salt, signature,
        )
    }
}
