//! Declares an Mbed TLS that a program is linked with, from the prefix of its C names and a table of its
//! contexts' sizes.

/// Declares C functions whose names consist of a prefix, the name in the list, and a suffix.
#[macro_export]
macro_rules! externs {
    ($prefix:literal, $ending:literal; $(fn $name:ident($($argument:ident: $type:ty),* $(,)?) $(-> $result:ty)?;)+) => {
        unsafe extern "C" {
            $(
                #[link_name = concat!($prefix, stringify!($name), $ending)]
                pub(super) fn $name($($argument: $type),*) $(-> $result)?;
            )+
        }
    };
}

/// Passes the functions of a list of contexts to another macro.
#[macro_export]
macro_rules! init_and_free {
    ($then:ident! { $($before:tt)* } $($context:ident: $init:ident, $free:ident;)+) => { $then! { $($before)*
        $(
            fn $init(context: *mut $context);
            fn $free(context: *mut $context);
        )+
    } };
}

/// Implements functions of a trait with the functions of the same names in a module.
#[macro_export]
macro_rules! forward {
    ($from:ident; $($(#[$about:meta])* fn $name:ident($($argument:ident: $type:ty),* $(,)?) $(-> $result:ty)?;)+) => {$(
        #[inline(always)]
        unsafe fn $name($($argument: $type),*) $(-> $result)? {
            // SAFETY: guaranteed by the caller.
            unsafe { $from::$name($($argument),*) }
        }
    )+};
}

/// Implements [`Has`](crate::Has) for a library with functions in a module. The size of a context is in
/// `$layouts` under the context's name.
#[macro_export]
macro_rules! has {
    ($Library:ident, $from:ident, $layouts:ident; $($context:ident: $init:ident, $free:ident;)+) => {$(
        impl $crate::Has<$context> for $Library {
            const LAYOUT: core::alloc::Layout = $layouts::$context;

            #[inline(always)]
            unsafe fn init(context: *mut $context) {
                // SAFETY: guaranteed by the caller.
                unsafe { $from::$init(context) }
            }

            #[inline(always)]
            unsafe fn free(context: *mut $context) {
                // SAFETY: guaranteed by the caller.
                unsafe { $from::$free(context) }
            }
        }
    )+};
}

/// Implements [`Rsa`](crate::Rsa) with the functions of `rsa_functions_of_3` in a module.
#[macro_export]
macro_rules! rsa_of_3 {
    ($Library:ident, $from:ident) => {
        impl $crate::Rsa for $Library {
            #[inline(always)]
            unsafe fn rsa_init(context: *mut RsaContext) {
                // SAFETY: guaranteed by the caller.
                unsafe { $from::rsa_init(context) }
            }

            #[inline(always)]
            unsafe fn rsa_set_padding(context: *mut RsaContext, padding: c_int, digest: c_int) {
                // SAFETY: guaranteed by the caller.
                unsafe { $from::rsa_set_padding(context, padding, digest) };
            }

            #[inline(always)]
            unsafe fn rsa_sign(
                context: *mut RsaContext,
                draw: Draw,
                source: *mut c_void,
                digest: c_int,
                length: c_uint,
                hash: *const u8,
                signature: *mut u8,
            ) -> c_int {
                // SAFETY: guaranteed by the caller.
                unsafe {
                    $from::rsa_pkcs1_sign(context, draw, source, digest, length, hash, signature)
                }
            }

            #[inline(always)]
            unsafe fn rsa_verify(
                context: *mut RsaContext,
                digest: c_int,
                length: c_uint,
                hash: *const u8,
                signature: *const u8,
            ) -> c_int {
                // SAFETY: guaranteed by the caller.
                unsafe { $from::rsa_pkcs1_verify(context, digest, length, hash, signature) }
            }

            #[inline(always)]
            unsafe fn rsa_verify_pss(
                context: *mut RsaContext,
                digest: c_int,
                length: c_uint,
                hash: *const u8,
                salt: c_int,
                signature: *const u8,
            ) -> c_int {
                // SAFETY: guaranteed by the caller.
                unsafe {
                    $from::rsa_rsassa_pss_verify_ext(
                        context, digest, length, hash, digest, salt, signature,
                    )
                }
            }
        }
    };
}

/// Implements [`Rsa`](crate::Rsa) with the functions of `rsa_functions_of_2` in a module.
#[macro_export]
macro_rules! rsa_of_2 {
    ($Library:ident, $from:ident) => {
        impl $crate::Rsa for $Library {
            #[inline(always)]
            unsafe fn rsa_init(context: *mut RsaContext) {
                // SAFETY: guaranteed by the caller.
                unsafe { $from::rsa_init(context, $crate::key_pairs::RSA_PKCS_V15, 0) }
            }

            #[inline(always)]
            unsafe fn rsa_set_padding(context: *mut RsaContext, padding: c_int, digest: c_int) {
                // SAFETY: guaranteed by the caller.
                unsafe { $from::rsa_set_padding(context, padding, digest) };
            }

            #[inline(always)]
            unsafe fn rsa_sign(
                context: *mut RsaContext,
                draw: Draw,
                source: *mut c_void,
                digest: c_int,
                length: c_uint,
                hash: *const u8,
                signature: *mut u8,
            ) -> c_int {
                let mode = $crate::key_pairs::RSA_PRIVATE;
                // SAFETY: guaranteed by the caller.
                unsafe {
                    $from::rsa_pkcs1_sign(
                        context, draw, source, mode, digest, length, hash, signature,
                    )
                }
            }

            #[inline(always)]
            unsafe fn rsa_verify(
                context: *mut RsaContext,
                digest: c_int,
                length: c_uint,
                hash: *const u8,
                signature: *const u8,
            ) -> c_int {
                let (none, mode) = (core::ptr::null_mut(), $crate::key_pairs::RSA_PUBLIC);
                // SAFETY: guaranteed by the caller; a public operation draws nothing.
                unsafe {
                    $from::rsa_pkcs1_verify(
                        context, None, none, mode, digest, length, hash, signature,
                    )
                }
            }

            #[inline(always)]
            unsafe fn rsa_verify_pss(
                context: *mut RsaContext,
                digest: c_int,
                length: c_uint,
                hash: *const u8,
                salt: c_int,
                signature: *const u8,
            ) -> c_int {
                let (none, mode) = (core::ptr::null_mut(), $crate::key_pairs::RSA_PUBLIC);
                // SAFETY: guaranteed by the caller; a public operation draws nothing.
                unsafe {
                    $from::rsa_rsassa_pss_verify_ext(
                        context, None, none, mode, digest, length, hash, digest, salt, signature,
                    )
                }
            }
        }
    };
}

/// Declares a module with the type `$Library`: a linked Mbed TLS 3. `$prefix` is the prefix of its C names.
/// The module `$layouts` next to it has a `Layout` under each context's name. `$fill` fills bytes with random
/// data.
#[macro_export]
macro_rules! linked_3 {
    ($(#[$about:meta])* mod $module:ident: $Library:ident, $prefix:literal, $layouts:ident, $fill:path) => {
        $crate::linked! {
            $(#[$about])* mod $module: $Library, $prefix, "", $layouts, $fill, [0x05, 0x09, 0x0b],
            {
                rsa_of_3! { $Library, names }
                has! { $Library, names, layouts; Sha3Context: sha3_init, sha3_free; }

                impl $crate::Sha3 for $Library {
                    sha3_functions! { forward! { names; } }
                }
            },
            {
                rsa_functions_of_3! { externs! { $prefix, ""; } }
                sha3_functions! { externs! { $prefix, ""; } }
                externs! { $prefix, "";
                    fn sha3_init(context: *mut Sha3Context);
                    fn sha3_free(context: *mut Sha3Context);
                    fn gcm_starts(context: *mut GcmContext, mode: c_int, iv: *const u8, iv_length: usize) -> c_int;
                    fn gcm_update_ad(context: *mut GcmContext, aad: *const u8, aad_length: usize) -> c_int;
                    fn gcm_update(context: *mut GcmContext, input: *const u8, input_length: usize, output: *mut u8, output_size: usize, output_length: *mut usize) -> c_int;
                }

                #[inline(always)]
                pub(super) unsafe fn gcm_begin(context: *mut GcmContext, mode: c_int, iv: *const u8, iv_length: usize, aad: *const u8, aad_length: usize) -> c_int {
                    // SAFETY: guaranteed by the caller.
                    unsafe {
                        match gcm_starts(context, mode, iv, iv_length) {
                            0 => gcm_update_ad(context, aad, aad_length),
                            error => error,
                        }
                    }
                }

                #[inline(always)]
                pub(super) unsafe fn gcm_part(context: *mut GcmContext, length: usize, input: *const u8, output: *mut u8) -> c_int {
                    let mut written = 0;
                    // SAFETY: guaranteed by the caller.
                    unsafe { gcm_update(context, input, length, output, length, &mut written) }
                }
            }
        }
    };
}

/// Declares a module with a linked Mbed TLS 2.28, as [`linked_3`] does for 3.
#[macro_export]
macro_rules! linked_2 {
    ($(#[$about:meta])* mod $module:ident: $Library:ident, $prefix:literal, $layouts:ident, $fill:path) => {
        $crate::linked! {
            $(#[$about])* mod $module: $Library, $prefix, "_ret", $layouts, $fill, [4, 6, 8],
            {
                rsa_of_2! { $Library, names }
            },
            {
                rsa_functions_of_2! { externs! { $prefix, ""; } }
                unsafe extern "C" {
                    #[link_name = concat!($prefix, "gcm_starts")]
                    pub(super) fn gcm_begin(context: *mut GcmContext, mode: c_int, iv: *const u8, iv_length: usize, aad: *const u8, aad_length: usize) -> c_int;
                    #[link_name = concat!($prefix, "gcm_update")]
                    pub(super) fn gcm_part(context: *mut GcmContext, length: usize, input: *const u8, output: *mut u8) -> c_int;
                }
            }
        }
    };
}

/// The common part of both versions.
#[doc(hidden)]
#[macro_export]
macro_rules! linked {
    (
        $(#[$about:meta])* mod $module:ident: $Library:ident, $prefix:literal, $hash_ending:literal, $layouts:ident,
        $fill:path, [$sha_1:literal, $sha_256:literal, $sha_512:literal], { $($more:tt)* }, { $($more_names:tt)* }
    ) => {
        mod $module {
            #[allow(unused_imports, reason = "each version takes what it needs")]
            use $crate::{
                contexts, forward, functions, has, hash_functions, linked_contexts, linked_functions, rsa_of_2,
                rsa_of_3, sha3_functions,
            };
            use $crate::types::*;
            use super::$layouts as layouts;

            $(#[$about])*
            pub(crate) struct $Library;

            /// The library's functions.
            mod names {
                #[allow(unused_imports, reason = "each version takes what it needs")]
                use $crate::{
                    contexts, externs, functions, hash_functions, init_and_free, linked_contexts,
                    linked_functions, rsa_functions_of_2, rsa_functions_of_3, sha3_functions,
                };
                use $crate::types::*;

                functions! { externs! { $prefix, ""; } }
                linked_functions! { externs! { $prefix, ""; } }
                hash_functions! { externs! { $prefix, $hash_ending; } }
                contexts! { init_and_free! { externs! { $prefix, ""; } } }
                linked_contexts! { init_and_free! { externs! { $prefix, ""; } } }
                externs! { $prefix, ""; fn rsa_free(context: *mut RsaContext); }
                $($more_names)*
            }

            contexts! { has! { $Library, names, layouts; } }
            linked_contexts! { has! { $Library, names, layouts; } }

            impl $crate::Has<RsaContext> for $Library {
                const LAYOUT: core::alloc::Layout = layouts::RsaContext;

                #[inline(always)]
                unsafe fn init(context: *mut RsaContext) {
                    // SAFETY: guaranteed by the caller.
                    unsafe { <$Library as $crate::Rsa>::rsa_init(context) }
                }

                #[inline(always)]
                unsafe fn free(context: *mut RsaContext) {
                    // SAFETY: guaranteed by the caller.
                    unsafe { names::rsa_free(context) }
                }
            }

            impl $crate::Functions for $Library {
                #[inline(always)]
                fn md_type(digest: $crate::Sha) -> c_int {
                    match digest {
                        $crate::Sha::Sha1 => $sha_1,
                        $crate::Sha::Sha256 => $sha_256,
                        $crate::Sha::Sha512 => $sha_512,
                    }
                }

                functions! { forward! { names; } }
            }

            impl $crate::Linked for $Library {
                #[inline(always)]
                fn fill(output: &mut [u8]) {
                    $fill(output);
                }

                linked_functions! { forward! { names; } }
                hash_functions! { forward! { names; } }
                forward! { names;
                    fn gcm_begin(context: *mut GcmContext, mode: c_int, iv: *const u8, iv_length: usize, aad: *const u8, aad_length: usize) -> c_int;
                    fn gcm_part(context: *mut GcmContext, length: usize, input: *const u8, output: *mut u8) -> c_int;
                }
            }

            $($more)*
        }
        pub(crate) use $module::$Library;
    };
}
