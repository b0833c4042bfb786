//! The part of libgcrypt's C interface that the provider uses, from gcrypt.h of libgcrypt 1.10.
//!
//! Functions return 0 for success, unless stated otherwise.

// C names stay as the header spells them.
#![allow(non_camel_case_types)]

use crate::loaded::c_functions;
use core::ffi::{c_char, c_int, c_uint, c_ulong, c_void};

/// `struct gcry_cipher_handle`, opaque to Rust.
#[repr(C)]
pub(crate) struct gcry_cipher_handle {
    _data: [u8; 0],
}

/// `struct gcry_md_handle`, opaque to Rust.
#[repr(C)]
pub(crate) struct gcry_md_handle {
    _data: [u8; 0],
}

/// `struct gcry_mac_handle`, opaque to Rust.
#[repr(C)]
pub(crate) struct gcry_mac_handle {
    _data: [u8; 0],
}

/// `struct gcry_sexp`, an S-expression, opaque to Rust.
#[repr(C)]
pub(crate) struct gcry_sexp {
    _data: [u8; 0],
}

/// `struct gcry_mpi`, a number, opaque to Rust.
#[repr(C)]
pub(crate) struct gcry_mpi {
    _data: [u8; 0],
}

/// `struct gcry_mpi_point`, a point of a curve, opaque to Rust.
#[repr(C)]
pub(crate) struct gcry_mpi_point {
    _data: [u8; 0],
}

/// `struct gcry_context`, here always a curve with a key, opaque to Rust.
#[repr(C)]
pub(crate) struct gcry_context {
    _data: [u8; 0],
}

/// `gcry_control`, whose arguments depend on the command.
pub(super) type ControlFunction = unsafe extern "C" fn(command: c_int, ...) -> c_uint;

pub(super) const GCRYCTL_RESET: c_int = 4;
pub(super) const GCRYCTL_TEST_ALGO: c_int = 8;
pub(super) const GCRYCTL_INIT_SECMEM: c_int = 24;
pub(super) const GCRYCTL_DISABLE_SECMEM_WARN: c_int = 27;
pub(super) const GCRYCTL_INITIALIZATION_FINISHED: c_int = 38;
pub(super) const GCRYCTL_FIPS_MODE_P: c_int = 55;
pub(super) const GCRYCTL_DISABLE_HWF: c_int = 63;
pub(super) const GCRYCTL_DISABLE_LOCKED_SECMEM: c_int = 67;
pub(super) const GCRYCTL_DISABLE_PRIV_DROP: c_int = 68;
pub(super) const GCRYCTL_SET_CCM_LENGTHS: c_int = 69;
/// Available since 1.9.
pub(super) const GCRYCTL_SET_ALLOW_WEAK_KEY: c_int = 79;
pub(super) const GCRY_MD_FLAG_HMAC: c_uint = 2;
pub(super) const GCRY_PK_RSA: c_int = 1;
pub(super) const GCRY_PK_ECC: c_int = 18;
pub(super) const GCRY_ECC_CURVE25519: c_int = 1;
pub(super) const GCRY_STRONG_RANDOM: c_int = 1;
pub(super) const GCRYMPI_FMT_USG: c_int = 5;
/// gpg-error.h: the tag does not verify.
pub(super) const GPG_ERR_CHECKSUM: c_uint = 10;
pub(super) const GPG_ERR_WEAK_KEY: c_uint = 43;
pub(super) const GPG_ERR_INV_VALUE: c_uint = 55;

c_functions! { loaded:
    /// Starts the library. Returns null if it is older than requested.
    fn gcry_check_version(oldest: *const c_char) -> *const c_char;
    /// Returns null, or text to be freed with `gcry_free`.
    fn gcry_get_config(mode: c_int, what: *const c_char) -> *mut c_char;
    fn gcry_free(memory: *mut c_void);
    fn gcry_cipher_open(handle: *mut *mut gcry_cipher_handle, cipher: c_int, mode: c_int, flags: c_uint) -> c_uint;
    fn gcry_cipher_close(handle: *mut gcry_cipher_handle);
    fn gcry_cipher_algo_info(cipher: c_int, what: c_int, answer: *mut c_void, length: *mut usize) -> c_uint;
    fn gcry_cipher_ctl(handle: *mut gcry_cipher_handle, command: c_int, data: *mut c_void, length: usize) -> c_uint;
    fn gcry_cipher_setkey(handle: *mut gcry_cipher_handle, key: *const u8, length: usize) -> c_uint;
    fn gcry_cipher_setiv(handle: *mut gcry_cipher_handle, iv: *const u8, length: usize) -> c_uint;
    fn gcry_cipher_setctr(handle: *mut gcry_cipher_handle, counter: *const u8, length: usize) -> c_uint;
    fn gcry_cipher_authenticate(handle: *mut gcry_cipher_handle, data: *const u8, length: usize) -> c_uint;
    /// A null input of length 0 stands for the bytes of the output.
    fn gcry_cipher_encrypt(handle: *mut gcry_cipher_handle, output: *mut u8, room: usize, input: *const u8, length: usize) -> c_uint;
    fn gcry_cipher_decrypt(handle: *mut gcry_cipher_handle, output: *mut u8, room: usize, input: *const u8, length: usize) -> c_uint;
    fn gcry_cipher_gettag(handle: *mut gcry_cipher_handle, tag: *mut u8, length: usize) -> c_uint;
    fn gcry_cipher_checktag(handle: *mut gcry_cipher_handle, tag: *const u8, length: usize) -> c_uint;
    fn gcry_md_algo_info(digest: c_int, what: c_int, answer: *mut c_void, length: *mut usize) -> c_uint;
    fn gcry_md_open(handle: *mut *mut gcry_md_handle, digest: c_int, flags: c_uint) -> c_uint;
    fn gcry_md_close(handle: *mut gcry_md_handle);
    fn gcry_md_reset(handle: *mut gcry_md_handle);
    fn gcry_md_setkey(handle: *mut gcry_md_handle, key: *const u8, length: usize) -> c_uint;
    fn gcry_md_write(handle: *mut gcry_md_handle, data: *const u8, length: usize);
    /// Finishes the digest and returns it. The handle owns it.
    fn gcry_md_read(handle: *mut gcry_md_handle, digest: c_int) -> *const u8;
    fn gcry_mac_algo_info(mac: c_int, what: c_int, answer: *mut c_void, length: *mut usize) -> c_uint;
    fn gcry_mac_open(handle: *mut *mut gcry_mac_handle, mac: c_int, flags: c_uint, context: *mut c_void) -> c_uint;
    fn gcry_mac_close(handle: *mut gcry_mac_handle);
    fn gcry_mac_ctl(handle: *mut gcry_mac_handle, command: c_int, data: *mut c_void, length: usize) -> c_uint;
    fn gcry_mac_setkey(handle: *mut gcry_mac_handle, key: *const u8, length: usize) -> c_uint;
    fn gcry_mac_write(handle: *mut gcry_mac_handle, data: *const u8, length: usize) -> c_uint;
    /// `length` is the available room, and becomes the written length.
    fn gcry_mac_read(handle: *mut gcry_mac_handle, output: *mut u8, length: *mut usize) -> c_uint;
    fn gcry_randomize(output: *mut u8, length: usize, level: c_int);
    /// For each `%b`, the format takes the address of an int, which is a length, and the address of a pointer.
    fn gcry_sexp_build_array(made: *mut *mut gcry_sexp, place: *mut usize, format: *const c_char, arguments: *mut *mut c_void) -> c_uint;
    fn gcry_sexp_release(expression: *mut gcry_sexp);
    /// Returns the first list that begins with `token`, as a new list, or null.
    fn gcry_sexp_find_token(list: *mut gcry_sexp, token: *const c_char, length: usize) -> *mut gcry_sexp;
    /// Returns what is at a place in the list. The list owns it.
    fn gcry_sexp_nth_data(list: *mut gcry_sexp, place: c_int, length: *mut usize) -> *const u8;
    fn gcry_sexp_nth_mpi(list: *mut gcry_sexp, place: c_int, format: c_int) -> *mut gcry_mpi;
    fn gcry_mpi_release(number: *mut gcry_mpi);
    fn gcry_mpi_cmp(one: *mut gcry_mpi, other: *mut gcry_mpi) -> c_int;
    fn gcry_mpi_cmp_ui(one: *mut gcry_mpi, other: c_ulong) -> c_int;
    fn gcry_mpi_sub_ui(result: *mut gcry_mpi, number: *mut gcry_mpi, less: c_ulong);
    fn gcry_mpi_mod(result: *mut gcry_mpi, number: *mut gcry_mpi, modulus: *mut gcry_mpi);
    fn gcry_mpi_print(format: c_int, output: *mut u8, room: usize, written: *mut usize, number: *mut gcry_mpi) -> c_uint;
    /// The bytes that are there in place of a number. The number owns them.
    fn gcry_mpi_get_opaque(number: *mut gcry_mpi, bits: *mut c_uint) -> *const u8;
    fn gcry_mpi_point_release(point: *mut gcry_mpi_point);
    fn gcry_mpi_ec_new(context: *mut *mut gcry_context, key: *mut gcry_sexp, curve: *const c_char) -> c_uint;
    fn gcry_mpi_ec_get_mpi(name: *const c_char, context: *mut gcry_context, copy: c_int) -> *mut gcry_mpi;
    fn gcry_mpi_ec_get_point(name: *const c_char, context: *mut gcry_context, copy: c_int) -> *mut gcry_mpi_point;
    /// Whether the point is on the curve.
    fn gcry_mpi_ec_curve_point(point: *mut gcry_mpi_point, context: *mut gcry_context) -> c_int;
    fn gcry_ctx_release(context: *mut gcry_context);
    fn gcry_pk_algo_info(algorithm: c_int, what: c_int, answer: *mut c_void, length: *mut usize) -> c_uint;
    fn gcry_pk_testkey(key: *mut gcry_sexp) -> c_uint;
    fn gcry_pk_genkey(pair: *mut *mut gcry_sexp, parameters: *mut gcry_sexp) -> c_uint;
    fn gcry_pk_sign(signature: *mut *mut gcry_sexp, data: *mut gcry_sexp, key: *mut gcry_sexp) -> c_uint;
    fn gcry_pk_verify(signature: *mut gcry_sexp, data: *mut gcry_sexp, key: *mut gcry_sexp) -> c_uint;
    fn gcry_pk_decrypt(plain: *mut *mut gcry_sexp, data: *mut gcry_sexp, key: *mut gcry_sexp) -> c_uint;
}

/// Functions that came with libgcrypt 1.9.
pub(super) mod since_1_9 {
    use crate::loaded::c_functions;
    use core::ffi::{c_int, c_uint};

    c_functions! { loaded:
        /// Bytes of a key. 0 if the curve, or this function, is missing.
        fn gcry_ecc_get_algo_keylen(curve: c_int) -> c_uint;
        /// A null point is the curve's base point.
        fn gcry_ecc_mul_point(curve: c_int, result: *mut u8, scalar: *const u8, point: *const u8) -> c_uint;
    }
}
