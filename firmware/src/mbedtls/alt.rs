//! The functions that replace AES, SHA-1 and SHA-256 in the build of Mbed TLS for the DCP, as NXP's port does it
//! ([`cpb_drivers::dcp::port`]). Their names are those of the library with the prefix of that build.
//!
//! # Safety of all functions here
//! They are called by Mbed TLS or by sessions as their C prototypes have it: contexts are initialised, and pointers are
//! valid for the lengths that are given.

use crate::dcp::{self, ENGINE};
use core::ffi::{c_int, c_uint};
use core::slice;
use core::sync::atomic::Ordering;
use cpb_core::{Data, Error};
use cpb_drivers::dcp::port::HashState;
use cpb_drivers::dcp::{Hash, Mode};

/// MBEDTLS_ERR_PLATFORM_HW_ACCEL_FAILED
const FAILED: c_int = -0x0070;
/// MBEDTLS_ERR_PLATFORM_FEATURE_UNSUPPORTED
const UNSUPPORTED: c_int = -0x0072;
/// MBEDTLS_ERR_AES_INVALID_INPUT_LENGTH
const INVALID_LENGTH: c_int = -0x0022;
/// MBEDTLS_AES_ENCRYPT
const ENCRYPT: c_int = 1;

/// Calls the engine.
fn engine(body: impl FnOnce(&mut dcp::Driver) -> Result<(), Error>) -> c_int {
    // SAFETY: it is null or a driver that lives as long as the image runs.
    let Some(engine) = (unsafe { ENGINE.load(Ordering::Relaxed).as_ref() }) else { return FAILED };
    let Ok(mut dcp) = engine.try_borrow_mut() else { return FAILED };
    if body(&mut dcp).is_ok() { 0 } else { FAILED }
}

/// `mbedtls_aes_context` of mbedtls/dcp/aes_alt.h.
#[repr(C)]
struct AesKey {
    key: [u8; 16],
    bits: u32,
}

const _: () = assert!(size_of::<AesKey>() == 20 && size_of::<HashState>() <= 176);

#[unsafe(no_mangle)]
unsafe extern "C" fn dcp_mbedtls_aes_init(context: *mut AesKey) {
    // SAFETY: see above.
    unsafe { context.write(AesKey { key: [0; 16], bits: 0 }) };
}

#[unsafe(no_mangle)]
unsafe extern "C" fn dcp_mbedtls_aes_free(context: *mut AesKey) {
    if !context.is_null() {
        // SAFETY: see above.
        unsafe { dcp_mbedtls_aes_init(context) };
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn dcp_mbedtls_aes_setkey_enc(
    context: *mut AesKey,
    key: *const u8,
    bits: c_uint,
) -> c_int {
    if bits != 128 {
        return UNSUPPORTED;
    }
    // SAFETY: see above.
    unsafe {
        (*context).key.copy_from_slice(slice::from_raw_parts(key, 16));
        (*context).bits = bits;
    }
    // The engine may hold an older key of this context.
    engine(|dcp| {
        dcp.forget_owner(context as usize);
        Ok(())
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn dcp_mbedtls_aes_setkey_dec(
    context: *mut AesKey,
    key: *const u8,
    bits: c_uint,
) -> c_int {
    // SAFETY: see above.
    unsafe { dcp_mbedtls_aes_setkey_enc(context, key, bits) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn dcp_mbedtls_aes_crypt_ecb(
    context: *mut AesKey,
    mode: c_int,
    input: *const u8,
    output: *mut u8,
) -> c_int {
    // SAFETY: see above.
    let (key, mut data) = unsafe { ((*context).key, data(input, output, 16)) };
    let (owner, way) = (context as usize, (Mode::Ecb, mode == ENCRYPT));
    engine(|dcp| dcp.port_cipher(owner, &key, way, &[0; 16], &mut data))
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

#[unsafe(no_mangle)]
unsafe extern "C" fn dcp_mbedtls_aes_crypt_cbc(
    context: *mut AesKey,
    mode: c_int,
    length: usize,
    iv: *mut u8,
    input: *const u8,
    output: *mut u8,
) -> c_int {
    if length == 0 || !length.is_multiple_of(16) {
        return if length == 0 { 0 } else { INVALID_LENGTH };
    }
    let encrypts = mode == ENCRYPT;
    // SAFETY: see above. The last ciphertext block is the next IV; decrypting in place overwrites it.
    let (key, iv, mut last) = unsafe {
        let last = input.add(length - 16).cast::<[u8; 16]>().read();
        ((*context).key, &mut *iv.cast::<[u8; 16]>(), last)
    };
    // SAFETY: see above.
    let mut data = unsafe { data(input, output, length) };
    let (owner, way) = (context as usize, (Mode::Cbc, encrypts));
    let done = engine(|dcp| dcp.port_cipher(owner, &key, way, iv, &mut data));
    if encrypts {
        last.copy_from_slice(&data.output()[length - 16..]);
    }
    *iv = last;
    done
}

/// The functions of a hash, except the one that starts it, whose parameters differ.
macro_rules! hash {
    ($hash:expr, $digest:literal, $init:ident, $free:ident, $clone:ident, $update:ident, $finish:ident, $process:ident) => {
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $init(context: *mut HashState) {
            // SAFETY: see above.
            unsafe { context.write(HashState::NEW) };
        }

        #[unsafe(no_mangle)]
        unsafe extern "C" fn $free(context: *mut HashState) {
            if !context.is_null() {
                // SAFETY: see above.
                unsafe { context.write(HashState::NEW) };
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
            engine(|dcp| dcp.port_hash_update($hash, state, input))
        }

        #[unsafe(no_mangle)]
        unsafe extern "C" fn $finish(context: *mut HashState, output: *mut u8) -> c_int {
            // SAFETY: see above.
            let state = unsafe { &mut *context };
            // SAFETY: see above.
            let output = unsafe { slice::from_raw_parts_mut(output, $digest) };
            engine(|dcp| dcp.port_hash_finish($hash, state, output))
        }

        #[unsafe(no_mangle)]
        unsafe extern "C" fn $process(context: *mut HashState, block: *const u8) -> c_int {
            // SAFETY: see above; a block has 64 bytes.
            unsafe { $update(context, block, 64) }
        }
    };
}

hash!(
    Hash::Sha1,
    20,
    dcp_mbedtls_sha1_init,
    dcp_mbedtls_sha1_free,
    dcp_mbedtls_sha1_clone,
    dcp_mbedtls_sha1_update_ret,
    dcp_mbedtls_sha1_finish_ret,
    dcp_mbedtls_internal_sha1_process
);
hash!(
    Hash::Sha256,
    32,
    dcp_mbedtls_sha256_init,
    dcp_mbedtls_sha256_free,
    dcp_mbedtls_sha256_clone,
    dcp_mbedtls_sha256_update_ret,
    dcp_mbedtls_sha256_finish_ret,
    dcp_mbedtls_internal_sha256_process
);

#[unsafe(no_mangle)]
unsafe extern "C" fn dcp_mbedtls_sha1_starts_ret(context: *mut HashState) -> c_int {
    // SAFETY: see above.
    unsafe { context.write(HashState::NEW) };
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn dcp_mbedtls_sha256_starts_ret(
    context: *mut HashState,
    is_224: c_int,
) -> c_int {
    if is_224 != 0 {
        return UNSUPPORTED;
    }
    // SAFETY: see above.
    unsafe { context.write(HashState::NEW) };
    0
}
