//! Both builds are linked, are what their names say, and have room for their contexts.

use super::*;
use core::ffi::{CStr, c_char};
use cpb_mbedtls::types::*;
use cpb_mbedtls::{Functions, Has, Held, Linked};

unsafe extern "C" {
    // version.h: writes at least 9 bytes, and at most 18, with the final zero.
    fn cpb_mbedtls_c_version_get_string(string: *mut c_char);
    fn cpb_mbedtls_accel_version_get_string(string: *mut c_char);
}

#[test]
fn both_are_the_version_that_was_built() {
    for get_string in [cpb_mbedtls_c_version_get_string, cpb_mbedtls_accel_version_get_string] {
        let mut text = [0; 32];
        // SAFETY: there is room.
        unsafe { get_string(text.as_mut_ptr()) };
        // SAFETY: a C string, as written above.
        let text = unsafe { CStr::from_ptr(text.as_ptr()) };
        assert_eq!(text.to_str().unwrap(), env!("CPB_MBEDTLS_VERSION"));
    }
}

#[test]
fn aes_128_gives_the_standards_own_example() {
    example::<C>();
    example::<Accel>();

    fn example<L: Linked>() {
        // FIPS 197, appendix C.1
        let key: [u8; 16] = core::array::from_fn(|i| i as u8);
        let input: [u8; 16] = core::array::from_fn(|i| (i * 0x11) as u8);
        let mut output = [0; 16];
        let mut context = Held::<L, AesContext>::new();
        // SAFETY: the buffers are 16 bytes; 1 encrypts.
        unsafe {
            assert_eq!(L::aes_setkey_enc(context.get(), key.as_ptr(), 128), 0);
            let (input, output) = (input.as_ptr(), output.as_mut_ptr());
            assert_eq!(L::aes_crypt_ecb(context.get(), 1, input, output), 0);
        }
        assert_eq!(output[..8], [0x69, 0xc4, 0xe0, 0xd8, 0x6a, 0x7b, 0x04, 0x30]);
    }
}

#[test]
fn sha_256_of_abc_is_the_standards_own_example() {
    example::<C>();
    example::<Accel>();

    fn example<L: Linked>() {
        let mut output = [0; 32];
        let mut context = Held::<L, Sha256Context>::new();
        // SAFETY: the output is 32 bytes.
        unsafe {
            assert_eq!(L::sha256_starts(context.get(), 0), 0);
            assert_eq!(L::sha256_update(context.get(), b"abc".as_ptr(), 3), 0);
            assert_eq!(L::sha256_finish(context.get(), output.as_mut_ptr()), 0);
        }
        // FIPS 180-2, appendix B.1
        assert_eq!(output[..8], [0xba, 0x78, 0x16, 0xbf, 0x8f, 0x01, 0xcf, 0xea]);
    }
}

#[test]
fn each_init_stays_inside_its_context() {
    all::<C>();
    all::<Accel>();

    fn all<L: Linked + Functions>() {
        stays_inside::<L, AesContext>();
        stays_inside::<L, GcmContext>();
        stays_inside::<L, ChachapolyContext>();
        stays_inside::<L, Sha1Context>();
        stays_inside::<L, Sha256Context>();
        stays_inside::<L, Sha512Context>();
        stays_inside::<L, MdContext>();
    }
}

/// Runs an `_init` with a guard behind the context. Every `_init` begins with a memset of the whole context.
fn stays_inside<L: Has<T>, T>() {
    const GUARD: u8 = 0xa5;
    let size = L::LAYOUT.size();
    // `u128` has the alignment that any context needs.
    let mut room = vec![0_u128; (2 * size).div_ceil(16)];
    let bytes = room.as_mut_ptr().cast::<u8>();
    // SAFETY: there is room for two, and a context that was only initialised needs no free.
    let written = unsafe {
        bytes.write_bytes(GUARD, 2 * size);
        L::init(bytes.cast());
        core::slice::from_raw_parts(bytes, 2 * size)
    };
    assert!(written[size..].iter().all(|b| *b == GUARD));
    // It also reaches the context's end, except for padding, so the size is not too large.
    assert!(written[size - L::LAYOUT.align()..size].contains(&0));
}

#[test]
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "x86")))]
fn the_accelerated_build_uses_aes_ni_where_the_cpu_has_it() {
    let cpu = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let flags = cpu.lines().find(|line| line.starts_with("flags")).unwrap_or_default();
    let has = flags.split_whitespace().any(|flag| flag == "aes");
    assert_eq!(accel_uses_aes_instructions(), has);
}
