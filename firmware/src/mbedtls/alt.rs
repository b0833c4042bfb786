//! The functions that replace modules of Mbed TLS in its second build, as NXP's port for the chip's engine does it.
//! Their names are those of the library with the prefix of that build.
//!
//! # Safety of all functions here
//! They are called by Mbed TLS or by sessions as their C prototypes have it: contexts are initialised, and pointers are
//! valid for the lengths that are given.

/// The functions of a key of AES, except the one that sets it for encryption; decryption has the same key. The engine's
/// file has `AesKey`.
macro_rules! aes_key {
    ($init:ident, $free:ident, $encrypts:ident, $decrypts:ident) => {
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $init(context: *mut AesKey) {
            // SAFETY: see above.
            unsafe { context.write(AesKey::NONE) };
        }

        #[unsafe(no_mangle)]
        unsafe extern "C" fn $free(context: *mut AesKey) {
            if !context.is_null() {
                // SAFETY: see above.
                unsafe { $init(context) };
            }
        }

        #[unsafe(no_mangle)]
        unsafe extern "C" fn $decrypts(
            context: *mut AesKey,
            key: *const u8,
            bits: c_uint,
        ) -> c_int {
            // SAFETY: see above.
            unsafe { $encrypts(context, key, bits) }
        }
    };
}

/// The functions of a hash, except the one that starts it, whose parameters differ. The engine's file has `HashState`,
/// `fresh`, `length`, `update` and `finish`.
macro_rules! hash {
    ($hash:expr, $init:ident, $free:ident, $clone:ident, $update:ident, $finish:ident, $process:ident) => {
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $init(context: *mut HashState) {
            // SAFETY: see above.
            unsafe { context.write(fresh($hash)) };
        }

        #[unsafe(no_mangle)]
        unsafe extern "C" fn $free(context: *mut HashState) {
            if !context.is_null() {
                // SAFETY: see above.
                unsafe { context.write(fresh($hash)) };
            }
        }

        #[unsafe(no_mangle)]
        unsafe extern "C" fn $clone(to: *mut HashState, from: *const HashState) {
            // SAFETY: see above.
            unsafe { to.write((*from).clone()) };
        }

        #[unsafe(no_mangle)]
        unsafe extern "C" fn $update(
            context: *mut HashState,
            input: *const u8,
            length: usize,
        ) -> c_int {
            if length == 0 {
                return 0;
            }
            // SAFETY: see above.
            let state = unsafe { &mut *context };
            // SAFETY: see above.
            let input = unsafe { slice::from_raw_parts(input, length) };
            update($hash, state, input)
        }

        #[unsafe(no_mangle)]
        unsafe extern "C" fn $finish(context: *mut HashState, output: *mut u8) -> c_int {
            // SAFETY: see above.
            let state = unsafe { &mut *context };
            // SAFETY: see above.
            let output = unsafe { slice::from_raw_parts_mut(output, length($hash, state)) };
            finish($hash, state, output)
        }

        #[unsafe(no_mangle)]
        unsafe extern "C" fn $process(context: *mut HashState, block: *const u8) -> c_int {
            // SAFETY: see above; a block has 64 bytes.
            unsafe { $update(context, block, 64) }
        }
    };
}

#[cfg(feature = "imxrt1170-evk")]
mod caam;
#[cfg(feature = "imxrt1060-evk")]
mod dcp;

use core::ffi::c_int;
use core::slice;
use cpb_core::{Data, Error};

/// MBEDTLS_ERR_PLATFORM_HW_ACCEL_FAILED
const FAILED: c_int = -0x0070;
/// MBEDTLS_ERR_PLATFORM_FEATURE_UNSUPPORTED
#[cfg(feature = "imxrt1060-evk")]
const UNSUPPORTED: c_int = -0x0072;
/// MBEDTLS_ERR_AES_INVALID_INPUT_LENGTH
const AES_INVALID_LENGTH: c_int = -0x0022;
/// MBEDTLS_AES_ENCRYPT; the other modules have the same value.
const ENCRYPT: c_int = 1;

/// The library's status of a call of the engine.
fn status(result: Result<(), Error>) -> c_int {
    if result.is_ok() { 0 } else { FAILED }
}

/// A message of C's, which is processed in place if both pointers are the same.
///
/// # Safety
/// Both must be valid for `length` bytes, and either be the same or not overlap.
unsafe fn data<'b>(input: *const u8, output: *mut u8, length: usize) -> Data<'b> {
    if input == output.cast_const() {
        // SAFETY: guaranteed by the caller.
        return Data::InPlace(unsafe { slice::from_raw_parts_mut(output, length) });
    }
    // SAFETY: guaranteed by the caller.
    unsafe {
        Data::Apart {
            input: slice::from_raw_parts(input, length),
            output: slice::from_raw_parts_mut(output, length),
        }
    }
}

/// Chains blocks of `BLOCK` bytes. `run` has the IV and the message.
///
/// # Safety
/// `iv` must be valid for a block; otherwise as for [`data`].
unsafe fn in_cbc<const BLOCK: usize>(
    encrypts: bool,
    (iv, length): (*mut u8, usize),
    (input, output): (*const u8, *mut u8),
    invalid_length: c_int,
    run: impl FnOnce(&[u8; BLOCK], &mut Data<'_>) -> c_int,
) -> c_int {
    if length == 0 || !length.is_multiple_of(BLOCK) {
        return if length == 0 { 0 } else { invalid_length };
    }
    // SAFETY: guaranteed by the caller. The last ciphertext block is the next IV; decrypting in place overwrites it.
    let (iv, mut last) = unsafe {
        let last = input.add(length - BLOCK).cast::<[u8; BLOCK]>().read();
        (&mut *iv.cast::<[u8; BLOCK]>(), last)
    };
    // SAFETY: guaranteed by the caller.
    let mut data = unsafe { data(input, output, length) };
    let done = run(iv, &mut data);
    if encrypts {
        last.copy_from_slice(&data.output()[length - BLOCK..]);
    }
    *iv = last;
    done
}
