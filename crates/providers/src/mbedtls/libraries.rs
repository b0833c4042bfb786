//! The two builds of Mbed TLS 3.6 that cpb is linked with, from one source: [`C`] is plain C; [`Accel`] uses the CPU's
//! AES (and, on 64-bit Arm, SHA-2) instructions where the CPU has them.
//!
//! The C names of each build have a prefix: see build/mbedtls.rs, which also finds the sizes of the contexts
//! for this target, with build/mbedtls/layout.c.

use cpb_mbedtls::linked_3;

/// Declares a context of a given size. The build script writes one such line for each context.
macro_rules! opaque {
    ($name:ident, $size:literal, $align:literal) => {
        pub(crate) const $name: core::alloc::Layout =
            match core::alloc::Layout::from_size_align($size, $align) {
                Ok(layout) => layout,
                Err(_) => panic!("a size and an alignment that C gave"),
            };
    };
}

/// The contexts, under the names of the types in `cpb_mbedtls::types`.
#[allow(
    dead_code,
    non_upper_case_globals,
    reason = "the build script lists more contexts than are used"
)]
mod layouts {
    include!(env!("CPB_MBEDTLS_LAYOUT"));
}
use layouts::{accel_layout, c_layout};

linked_3! {
    /// Plain C: no assembly and no crypto instruction.
    mod c: C, "cpb_mbedtls_c_", c_layout, crate::rng::fill
}
linked_3! {
    /// With the CPU's crypto instructions and the big-number assembly.
    mod accel: Accel, "cpb_mbedtls_accel_", accel_layout, crate::rng::fill
}

#[cfg(any(target_arch = "x86_64", target_arch = "x86"))]
unsafe extern "C" {
    // library/aesni.h: 1 if this CPU has it.
    #[link_name = "cpb_mbedtls_accel_aesni_has_support"]
    fn accel_aesni_has_support(what: core::ffi::c_uint) -> core::ffi::c_int;
}

#[cfg(all(target_arch = "aarch64", target_os = "linux"))]
unsafe extern "C" {
    // library/aesce.h: 1 if this CPU has it.
    #[link_name = "cpb_mbedtls_accel_aesce_has_support_impl"]
    fn accel_aesce_has_support_impl() -> core::ffi::c_int;
}

/// Whether [`Accel`] runs AES on the CPU's own instructions here.
pub(crate) fn accel_uses_aes_instructions() -> bool {
    // library/aesni.h: what to ask for.
    #[cfg(any(target_arch = "x86_64", target_arch = "x86"))]
    const AESNI_AES: core::ffi::c_uint = 0x0200_0000;
    #[cfg(any(target_arch = "x86_64", target_arch = "x86"))]
    // SAFETY: takes no pointer and only asks the CPU.
    return unsafe { accel_aesni_has_support(AESNI_AES) } == 1;
    #[cfg(all(target_arch = "aarch64", target_os = "linux"))]
    // SAFETY: takes no arguments and only asks the kernel.
    return unsafe { accel_aesce_has_support_impl() } == 1;
    #[cfg(not(any(
        target_arch = "x86_64",
        target_arch = "x86",
        all(target_arch = "aarch64", target_os = "linux")
    )))]
    return false;
}

#[cfg(test)]
mod tests;
