//! That both variants are linked, are what the build says, and have room for their contexts.

use core::ffi::CStr;
use core::mem::MaybeUninit;

use super::*;

/// One test a variant: the macro makes the same function call into each.
macro_rules! tests {
    ($variant:ident) => {
        mod $variant {
            use super::*;
            use crate::mbedtls::ffi::$variant::*;

            #[test]
            fn is_the_version_that_was_built() {
                let mut text = [0; 32];
                // SAFETY: the library writes at most 18 bytes, with the final zero.
                unsafe { version_get_string(text.as_mut_ptr()) };
                // SAFETY: a C string, as written above.
                let text = unsafe { CStr::from_ptr(text.as_ptr()) };
                assert_eq!(text.to_str().unwrap(), env!("CPB_MBEDTLS_VERSION"));
            }

            #[test]
            fn aes_128_in_a_box_gives_the_standards_own_example() {
                // FIPS 197, appendix C.1
                let key: [u8; 16] = core::array::from_fn(|i| i as u8);
                let input: [u8; 16] = core::array::from_fn(|i| (i * 0x11) as u8);
                let mut output = [0; 16];
                let mut context = Box::new(AesContext::uninit());
                // SAFETY: the context stays in its box from init to free; the buffers are 16 bytes.
                unsafe {
                    aes_init(&mut *context);
                    assert_eq!(aes_setkey_enc(&mut *context, key.as_ptr(), 128), 0);
                    let result =
                        aes_crypt_ecb(&mut *context, ENCRYPT, input.as_ptr(), output.as_mut_ptr());
                    assert_eq!(result, 0);
                    aes_free(&mut *context);
                }
                assert_eq!(output[..8], [0x69, 0xc4, 0xe0, 0xd8, 0x6a, 0x7b, 0x04, 0x30]);
            }

            #[test]
            fn sha_256_of_abc_is_the_standards_own_example() {
                let mut output = [0; 32];
                let mut context = Box::new(Sha256Context::uninit());
                // SAFETY: as above; the output is 32 bytes.
                unsafe {
                    sha256_init(&mut *context);
                    assert_eq!(sha256_starts(&mut *context, 0), 0);
                    assert_eq!(sha256_update(&mut *context, b"abc".as_ptr(), 3), 0);
                    assert_eq!(sha256_finish(&mut *context, output.as_mut_ptr()), 0);
                    sha256_free(&mut *context);
                }
                // FIPS 180-2, appendix B.1
                assert_eq!(output[..8], [0xba, 0x78, 0x16, 0xbf, 0x8f, 0x01, 0xcf, 0xea]);
            }

            #[test]
            fn each_init_stays_inside_its_context() {
                stays_inside(aes_init);
                stays_inside(gcm_init);
                stays_inside(chachapoly_init);
                stays_inside(sha1_init);
                stays_inside(sha256_init);
                stays_inside(sha512_init);
                stays_inside(md_init);
            }
        }
    };
}

tests!(c);
tests!(accel);

/// Runs an `_init` with a guard behind the context: all of them begin with a memset of the whole.
fn stays_inside<T>(init: unsafe extern "C" fn(*mut T)) {
    const GUARD: u8 = 0xa5;
    let size = size_of::<T>();
    let mut room: Vec<MaybeUninit<T>> = Vec::with_capacity(2);
    let bytes = room.as_mut_ptr().cast::<u8>();
    // SAFETY: the vector has room for two, all of it is written before it is read, and a context
    // that was only initialised needs no free.
    unsafe {
        bytes.write_bytes(GUARD, 2 * size);
        init(bytes.cast());
        let written = core::slice::from_raw_parts(bytes, 2 * size);
        assert!(written[size..].iter().all(|b| *b == GUARD));
        // It reaches the context's end, too, but for padding: the size is not too large.
        assert!(written[size - align_of::<T>()..size].contains(&0));
    }
}

#[test]
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "x86")))]
fn the_accelerated_variant_uses_aes_ni_where_the_cpu_has_it() {
    let cpu = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let flags = cpu.lines().find(|line| line.starts_with("flags")).unwrap_or_default();
    let has = flags.split_whitespace().any(|flag| flag == "aes");
    assert_eq!(accel_uses_aes_instructions(), has);
}
