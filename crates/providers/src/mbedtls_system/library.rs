//! The installed library, for `cpb_mbedtls` to drive. Its functions are loaded, by the headers of 2.28 and 3.
//!
//! Contexts are memory with room to spare, whose layout only C knows. Functions return 0 for success, and so
//! does a function that the library lacks. So whether it is there is checked before it is called.

use super::ffi;
use crate::loaded::Slot;
use core::ffi::CStr;
use core::sync::atomic::{AtomicBool, Ordering};
use cpb_mbedtls::types::*;
use cpb_mbedtls::{
    Functions, Has, Rsa, Sha, contexts, forward, functions, has, rsa_of_2, rsa_of_3,
};

/// The library that is loaded.
pub(crate) struct Installed;

/// Whether the loaded library is 3.0 or newer.
static THIRD: AtomicBool = AtomicBool::new(false);

/// States which version the functions have, before the first of them is called.
pub(super) fn is_third(third: bool) {
    THIRD.store(third, Ordering::Relaxed);
}

#[inline(always)]
fn third() -> bool {
    THIRD.load(Ordering::Relaxed)
}

/// The tables of its functions.
pub(super) const TABLES: [&[Slot]; 5] =
    [names::SLOTS, makers::SLOTS, more::SLOTS, rsa_2::SLOTS, rsa_3::SLOTS];

mod names {
    use crate::loaded::c_functions;
    use cpb_mbedtls::functions;
    use cpb_mbedtls::types::*;

    functions! { c_functions! { loaded as "mbedtls_": } }
}

mod makers {
    use crate::loaded::c_functions;
    use cpb_mbedtls::types::*;
    use cpb_mbedtls::{contexts, init_and_free};

    contexts! { init_and_free! { c_functions! { loaded as "mbedtls_": } } }
}

/// Functions that only an installed library needs.
pub(super) mod more {
    use cpb_mbedtls::types::*;

    /// `mbedtls_ecp_curve_info`, which describes a curve; static in the library.
    #[repr(C)]
    pub(crate) struct CurveInfo {
        _data: [u8; 0],
    }

    /// `mbedtls_entropy_context`
    #[repr(C)]
    pub(crate) struct EntropyContext {
        _data: [u8; 0],
    }

    crate::loaded::c_functions! { loaded as "mbedtls_":
        fn rsa_free(context: *mut RsaContext);

        /// Null if no curve has that number.
        fn ecp_curve_info_from_grp_id(id: c_int) -> *const CurveInfo;

        /// 0 for null.
        fn md_get_type(info: *const MdInfo) -> c_int;

        fn entropy_init(context: *mut EntropyContext);
        fn entropy_free(context: *mut EntropyContext);
        fn entropy_func(context: *mut c_void, output: *mut u8, length: usize) -> c_int;
    }
}

mod rsa_3 {
    use crate::loaded::c_functions;
    use cpb_mbedtls::rsa_functions_of_3;
    use cpb_mbedtls::types::*;

    rsa_functions_of_3! { c_functions! { loaded as "mbedtls_": } }
}

mod rsa_2 {
    use crate::loaded::c_functions;
    use cpb_mbedtls::rsa_functions_of_2;
    use cpb_mbedtls::types::*;

    rsa_functions_of_2! { c_functions! { loaded as "mbedtls_": } }
}

/// Draws random bytes from the CTR_DRBG that is its source.
pub(super) const DRAW: Draw = names::ctr_drbg_random;

/// Feeds a generator from the [`EntropyContext`] that is its source.
pub(super) const ENTROPY: Draw = more::entropy_func;

/// Room for a context. On x86-64, with the headers of 2.28.3 as Debian configures it and of 3.6.5 with its
/// defaults, the largest context has 392 bytes.
const ROOM: core::alloc::Layout = room(4096);

const fn room(bytes: usize) -> core::alloc::Layout {
    match core::alloc::Layout::from_size_align(bytes, 16) {
        Ok(layout) => layout,
        Err(_) => panic!("16 is a power of two"),
    }
}

/// The room for each context, under the context's name.
#[allow(non_upper_case_globals)]
mod layouts {
    macro_rules! room {
        ($($Context:ident: $init:ident, $free:ident;)+) => {
            $(pub(super) const $Context: core::alloc::Layout = super::ROOM;)+
        };
    }
    cpb_mbedtls::contexts! { room! {} }
    /// 37960 bytes in 2.28.3 with HAVEGE's tables, and 832 without them.
    pub(super) const EntropyContext: core::alloc::Layout = super::room(65536);
    pub(super) const RsaContext: core::alloc::Layout = super::ROOM;
}

contexts! { has! { Installed, makers, layouts; } }

use more::EntropyContext;
has! { Installed, more, layouts; EntropyContext: entropy_init, entropy_free; }

impl Has<RsaContext> for Installed {
    const LAYOUT: core::alloc::Layout = layouts::RsaContext;

    #[inline(always)]
    unsafe fn init(context: *mut RsaContext) {
        // SAFETY: as promised by the caller.
        unsafe { Installed::rsa_init(context) }
    }

    #[inline(always)]
    unsafe fn free(context: *mut RsaContext) {
        // SAFETY: as promised by the caller.
        unsafe { more::rsa_free(context) }
    }
}

impl Functions for Installed {
    fn md_type(digest: Sha) -> c_int {
        number(match digest {
            Sha::Sha1 => c"SHA1",
            Sha::Sha256 => c"SHA256",
            Sha::Sha512 => c"SHA512",
        })
    }

    functions! { forward! { names; } }
}

/// The library's number of the digest called `name`; 0 if no digest has that name.
pub(super) fn number(name: &CStr) -> c_int {
    // SAFETY: a C string. What is found is constant, and may be null.
    unsafe { more::md_get_type(ffi::mbedtls_md_info_from_string(name.as_ptr())) }
}

/// RSA with the interface of 3.
struct Third;
rsa_of_3! { Third, rsa_3 }

/// RSA with the interface of 2.28.
struct Second;
rsa_of_2! { Second, rsa_2 }

/// Implements functions of `Rsa` with those of the loaded version.
macro_rules! by_version {
    ($(fn $name:ident($($argument:ident: $type:ty),*) $(-> $result:ty)?;)+) => {$(
        #[inline(always)]
        unsafe fn $name($($argument: $type),*) $(-> $result)? {
            // SAFETY: as promised by the caller.
            unsafe {
                if third() { Third::$name($($argument),*) } else { Second::$name($($argument),*) }
            }
        }
    )+};
}

impl Rsa for Installed {
    by_version! {
        fn rsa_init(context: *mut RsaContext);
        fn rsa_set_padding(context: *mut RsaContext, padding: c_int, digest: c_int);
        fn rsa_sign(context: *mut RsaContext, draw: Draw, source: *mut c_void, digest: c_int, length: c_uint, hash: *const u8, signature: *mut u8) -> c_int;
        fn rsa_verify(context: *mut RsaContext, digest: c_int, length: c_uint, hash: *const u8, signature: *const u8) -> c_int;
        fn rsa_verify_pss(context: *mut RsaContext, digest: c_int, length: c_uint, hash: *const u8, salt: c_int, signature: *const u8) -> c_int;
    }
}
