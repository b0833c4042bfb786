//! The DCP in place of AES, SHA-1 and SHA-256 ([`cpb_drivers::dcp::port`]).

use super::{AES_INVALID_LENGTH, ENCRYPT, FAILED, UNSUPPORTED, data, in_cbc, status};
use crate::engine::{Driver, ENGINE};
use core::ffi::{c_int, c_uint};
use core::slice;
use core::sync::atomic::Ordering;
use cpb_core::Error;
use cpb_drivers::dcp::port::HashState;
use cpb_drivers::dcp::{Hash, Mode};

/// Calls the engine.
fn engine(body: impl FnOnce(&mut Driver) -> Result<(), Error>) -> c_int {
    // SAFETY: it is null or a driver that lives as long as the image runs.
    let Some(engine) = (unsafe { ENGINE.load(Ordering::Relaxed).as_ref() }) else { return FAILED };
    let Ok(mut dcp) = engine.try_borrow_mut() else { return FAILED };
    status(body(&mut dcp))
}

/// `mbedtls_aes_context` of mbedtls/dcp/aes_alt.h.
#[repr(C)]
struct AesKey {
    key: [u8; 16],
    bits: u32,
}

const _: () = assert!(size_of::<AesKey>() == 20 && size_of::<HashState>() <= 176);

impl AesKey {
    const NONE: AesKey = AesKey { key: [0; 16], bits: 0 };
}

aes_key!(
    dcp_mbedtls_aes_init,
    dcp_mbedtls_aes_free,
    dcp_mbedtls_aes_setkey_enc,
    dcp_mbedtls_aes_setkey_dec
);

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

#[unsafe(no_mangle)]
unsafe extern "C" fn dcp_mbedtls_aes_crypt_cbc(
    context: *mut AesKey,
    mode: c_int,
    length: usize,
    iv: *mut u8,
    input: *const u8,
    output: *mut u8,
) -> c_int {
    // SAFETY: see above.
    let key = unsafe { (*context).key };
    let (owner, way) = (context as usize, (Mode::Cbc, mode == ENCRYPT));
    // SAFETY: see above.
    unsafe {
        in_cbc::<16>(way.1, (iv, length), (input, output), AES_INVALID_LENGTH, |iv, data| {
            engine(|dcp| dcp.port_cipher(owner, &key, way, iv, data))
        })
    }
}

/// The length of a state's digest.
fn length(hash: Hash, _: &HashState) -> usize {
    hash.length()
}

fn fresh(_: Hash) -> HashState {
    HashState::NEW
}

fn update(hash: Hash, state: &mut HashState, message: &[u8]) -> c_int {
    engine(|dcp| dcp.port_hash_update(hash, state, message))
}

fn finish(hash: Hash, state: &mut HashState, digest: &mut [u8]) -> c_int {
    engine(|dcp| dcp.port_hash_finish(hash, state, digest))
}

hash!(
    Hash::Sha1,
    dcp_mbedtls_sha1_init,
    dcp_mbedtls_sha1_free,
    dcp_mbedtls_sha1_clone,
    dcp_mbedtls_sha1_update_ret,
    dcp_mbedtls_sha1_finish_ret,
    dcp_mbedtls_internal_sha1_process
);
hash!(
    Hash::Sha256,
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
