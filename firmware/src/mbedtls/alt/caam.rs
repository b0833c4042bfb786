//! The CAAM in place of AES, DES, SHA-1, SHA-224 and SHA-256, and of whole messages of GCM and CCM
//! ([`cpb_drivers::caam::port`]).

use super::{AES_INVALID_LENGTH, ENCRYPT, data, in_cbc, status};
use crate::engine::{Bus, ENGINE};
use core::ffi::{c_int, c_uint};
use core::slice;
use core::sync::atomic::Ordering;
use cpb_core::{Data, Error};
use cpb_drivers::caam::job::Hash;
use cpb_drivers::caam::port::{Aead, HashState, Key, Port, Tag};

/// MBEDTLS_ERR_AES_INVALID_KEY_LENGTH
const AES_INVALID_KEY: c_int = -0x0020;
/// MBEDTLS_ERR_DES_INVALID_INPUT_LENGTH
const DES_INVALID_LENGTH: c_int = -0x0032;
/// MBEDTLS_ERR_GCM_AUTH_FAILED
const GCM_REFUSED: c_int = -0x0012;
/// MBEDTLS_ERR_CCM_AUTH_FAILED
const CCM_REFUSED: c_int = -0x000F;

/// Calls the engine.
fn try_engine(
    body: impl FnOnce(&mut Bus, &mut Port<'static>) -> Result<(), Error>,
) -> Result<(), Error> {
    // SAFETY: it is null or an engine that lives as long as the image runs.
    let engine = unsafe { ENGINE.load(Ordering::Relaxed).as_ref() }.ok_or(Error::Contract)?;
    let mut driver = engine.driver.try_borrow_mut().map_err(|_| Error::Contract)?;
    let mut port = engine.port.try_borrow_mut().map_err(|_| Error::Contract)?;
    body(driver.bus(), &mut port)
}

fn engine(body: impl FnOnce(&mut Bus, &mut Port<'static>) -> Result<(), Error>) -> c_int {
    status(try_engine(body))
}

/// `mbedtls_aes_context` of mbedtls/caam/aes_alt.h.
#[repr(C)]
struct AesKey {
    key: [u8; 32],
    /// In bytes.
    length: u32,
}

/// `mbedtls_des_context` and `mbedtls_des3_context` of mbedtls/caam/des_alt.h.
#[repr(C, align(4))]
struct DesKey<const LENGTH: usize> {
    key: [u8; LENGTH],
    /// Whether ECB encrypts, whose function is not told. That of CBC is.
    encrypts: u32,
}

const _: () = assert!(size_of::<AesKey>() == 36 && size_of::<HashState>() <= 112);
const _: () = assert!(size_of::<DesKey<8>>() == 12 && size_of::<DesKey<24>>() == 28);

impl AesKey {
    const NONE: AesKey = AesKey { key: [0; 32], length: 0 };

    fn bytes(&self) -> &[u8] {
        &self.key[..self.length as usize]
    }
}

aes_key!(
    caam_mbedtls_aes_init,
    caam_mbedtls_aes_free,
    caam_mbedtls_aes_setkey_enc,
    caam_mbedtls_aes_setkey_dec
);

#[unsafe(no_mangle)]
unsafe extern "C" fn caam_mbedtls_aes_setkey_enc(
    context: *mut AesKey,
    key: *const u8,
    bits: c_uint,
) -> c_int {
    if !matches!(bits, 128 | 192 | 256) {
        return AES_INVALID_KEY;
    }
    let length = bits as usize / 8;
    // SAFETY: see above.
    let (context, key) = unsafe { (&mut *context, slice::from_raw_parts(key, length)) };
    context.key[..length].copy_from_slice(key);
    context.length = length as u32;
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn caam_mbedtls_aes_crypt_ecb(
    context: *const AesKey,
    mode: c_int,
    input: *const u8,
    output: *mut u8,
) -> c_int {
    // SAFETY: see above. The output may be the input, whose reference ends before it is written.
    unsafe {
        let key = Key { bytes: (*context).bytes(), encrypts: mode == ENCRYPT };
        let mut result = [0; 16];
        let done = engine(|bus, port| {
            result = port.ecb(bus, key, &*input.cast::<[u8; 16]>())?;
            Ok(())
        });
        output.cast::<[u8; 16]>().write(result);
        done
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn caam_mbedtls_aes_crypt_cbc(
    context: *const AesKey,
    mode: c_int,
    length: usize,
    iv: *mut u8,
    input: *const u8,
    output: *mut u8,
) -> c_int {
    // SAFETY: see above.
    unsafe {
        let key = Key { bytes: (*context).bytes(), encrypts: mode == ENCRYPT };
        in_cbc(key.encrypts, (iv, length), (input, output), AES_INVALID_LENGTH, |iv, data| {
            engine(|bus, port| port.cbc(bus, key, iv, data))
        })
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn caam_mbedtls_aes_crypt_ctr(
    context: *const AesKey,
    mut length: usize,
    offset: *mut usize,
    counter: *mut [u8; 16],
    stream: *mut [u8; 16],
    mut input: *const u8,
    mut output: *mut u8,
) -> c_int {
    // SAFETY: see above.
    unsafe {
        // What is left of the last block's key stream.
        while length > 0 && *offset != 0 {
            output.write(input.read() ^ (&*stream)[*offset & 15]);
            *offset = (*offset + 1) & 15;
            (input, output, length) = (input.add(1), output.add(1), length - 1);
        }
        if length == 0 {
            return 0;
        }
        *offset = length % 16;
        let mut data = data(input, output, length);
        let state = [&mut *counter, &mut *stream];
        engine(|bus, port| port.ctr(bus, (*context).bytes(), state, &mut data))
    }
}

/// What `mbedtls_gcm_context` and `mbedtls_ccm_context` begin with, up to the pointer to the cipher's context:
/// mbedtls/caam/engine_layout.h checks its place.
#[repr(C)]
struct Authenticated {
    before: [u32; 15],
    key: *const AesKey,
}

/// A message of GCM or CCM as one job.
///
/// # Safety
/// As for all functions here.
unsafe fn authenticated(
    (aead, context, refused): (Aead, *const Authenticated, c_int),
    (input, output, length): (*const u8, *mut u8, usize),
    (iv, iv_length): (*const u8, usize),
    (associated, associated_length): (*const u8, usize),
    tag: Tag<'_>,
) -> c_int {
    // SAFETY: see above.
    let (key, mut data) = unsafe { (&*(*context).key, message(input, output, length)) };
    // SAFETY: see above.
    let [iv, associated] = unsafe { [bytes(iv, iv_length), bytes(associated, associated_length)] };
    let done =
        try_engine(|bus, port| port.aead(bus, (aead, key.bytes()), iv, associated, &mut data, tag));
    if done == Err(Error::Refused) { refused } else { status(done) }
}

/// A message that may be empty, at any address then.
///
/// # Safety
/// As for [`data`].
unsafe fn message<'b>(input: *const u8, output: *mut u8, length: usize) -> Data<'b> {
    if length == 0 {
        return Data::InPlace(&mut []);
    }
    // SAFETY: guaranteed by the caller.
    unsafe { data(input, output, length) }
}

/// Bytes that may be none, at any address then.
///
/// # Safety
/// They must be valid for `length`.
unsafe fn bytes<'b>(start: *const u8, length: usize) -> &'b [u8] {
    if length == 0 {
        return &[];
    }
    // SAFETY: guaranteed by the caller.
    unsafe { slice::from_raw_parts(start, length) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn caam_mbedtls_gcm_crypt_and_tag(
    context: *const Authenticated,
    mode: c_int,
    length: usize,
    iv: *const u8,
    iv_length: usize,
    associated: *const u8,
    associated_length: usize,
    input: *const u8,
    output: *mut u8,
    tag_length: usize,
    tag: *mut u8,
) -> c_int {
    // SAFETY: see above. Decrypting, this function compares the tag, too, as it does in NXP's port.
    unsafe {
        let tag = slice::from_raw_parts_mut(tag, tag_length);
        let tag = if mode == ENCRYPT { Tag::Make(tag) } else { Tag::Compare(tag) };
        authenticated(
            (Aead::Gcm, context, GCM_REFUSED),
            (input, output, length),
            (iv, iv_length),
            (associated, associated_length),
            tag,
        )
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn caam_mbedtls_gcm_auth_decrypt(
    context: *const Authenticated,
    length: usize,
    iv: *const u8,
    iv_length: usize,
    associated: *const u8,
    associated_length: usize,
    tag: *const u8,
    tag_length: usize,
    input: *const u8,
    output: *mut u8,
) -> c_int {
    // SAFETY: see above.
    unsafe {
        authenticated(
            (Aead::Gcm, context, GCM_REFUSED),
            (input, output, length),
            (iv, iv_length),
            (associated, associated_length),
            Tag::Compare(slice::from_raw_parts(tag, tag_length)),
        )
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn caam_mbedtls_ccm_encrypt_and_tag(
    context: *const Authenticated,
    length: usize,
    iv: *const u8,
    iv_length: usize,
    associated: *const u8,
    associated_length: usize,
    input: *const u8,
    output: *mut u8,
    tag: *mut u8,
    tag_length: usize,
) -> c_int {
    // SAFETY: see above.
    unsafe {
        authenticated(
            (Aead::Ccm, context, CCM_REFUSED),
            (input, output, length),
            (iv, iv_length),
            (associated, associated_length),
            Tag::Make(slice::from_raw_parts_mut(tag, tag_length)),
        )
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn caam_mbedtls_ccm_auth_decrypt(
    context: *const Authenticated,
    length: usize,
    iv: *const u8,
    iv_length: usize,
    associated: *const u8,
    associated_length: usize,
    input: *const u8,
    output: *mut u8,
    tag: *const u8,
    tag_length: usize,
) -> c_int {
    // SAFETY: see above.
    unsafe {
        authenticated(
            (Aead::Ccm, context, CCM_REFUSED),
            (input, output, length),
            (iv, iv_length),
            (associated, associated_length),
            Tag::Compare(slice::from_raw_parts(tag, tag_length)),
        )
    }
}

/// The functions of DES or triple DES.
macro_rules! des {
    ($length:literal, $init:ident, $free:ident, $encrypts:ident, $decrypts:ident, $ecb:ident, $cbc:ident) => {
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $init(context: *mut DesKey<$length>) {
            // SAFETY: see above.
            unsafe { context.write(DesKey { key: [0; $length], encrypts: 0 }) };
        }

        #[unsafe(no_mangle)]
        unsafe extern "C" fn $free(context: *mut DesKey<$length>) {
            if !context.is_null() {
                // SAFETY: see above.
                unsafe { $init(context) };
            }
        }

        #[unsafe(no_mangle)]
        unsafe extern "C" fn $encrypts(
            context: *mut DesKey<$length>,
            key: *const [u8; $length],
        ) -> c_int {
            // SAFETY: see above.
            unsafe { context.write(DesKey { key: key.read(), encrypts: 1 }) };
            0
        }

        #[unsafe(no_mangle)]
        unsafe extern "C" fn $decrypts(
            context: *mut DesKey<$length>,
            key: *const [u8; $length],
        ) -> c_int {
            // SAFETY: see above.
            unsafe { context.write(DesKey { key: key.read(), encrypts: 0 }) };
            0
        }

        #[unsafe(no_mangle)]
        unsafe extern "C" fn $ecb(
            context: *const DesKey<$length>,
            input: *const [u8; 8],
            output: *mut [u8; 8],
        ) -> c_int {
            // SAFETY: see above. The block is read before the result is written.
            unsafe {
                let DesKey { key, encrypts } = &*context;
                let key = Key { bytes: key, encrypts: *encrypts != 0 };
                engine(|bus, port| {
                    let block = port.des_ecb(bus, key, &*input)?;
                    output.write(block);
                    Ok(())
                })
            }
        }

        #[unsafe(no_mangle)]
        unsafe extern "C" fn $cbc(
            context: *const DesKey<$length>,
            mode: c_int,
            length: usize,
            iv: *mut u8,
            input: *const u8,
            output: *mut u8,
        ) -> c_int {
            // SAFETY: see above.
            unsafe {
                let key = Key { bytes: &(*context).key, encrypts: mode == ENCRYPT };
                let (chain, buffers) = ((iv, length), (input, output));
                in_cbc(key.encrypts, chain, buffers, DES_INVALID_LENGTH, |iv, data| {
                    engine(|bus, port| port.des_cbc(bus, key, iv, data))
                })
            }
        }
    };
}

des!(
    8,
    caam_mbedtls_des_init,
    caam_mbedtls_des_free,
    caam_mbedtls_des_setkey_enc,
    caam_mbedtls_des_setkey_dec,
    caam_mbedtls_des_crypt_ecb,
    caam_mbedtls_des_crypt_cbc
);
des!(
    24,
    caam_mbedtls_des3_init,
    caam_mbedtls_des3_free,
    caam_mbedtls_des3_set3key_enc,
    caam_mbedtls_des3_set3key_dec,
    caam_mbedtls_des3_crypt_ecb,
    caam_mbedtls_des3_crypt_cbc
);

fn fresh(hash: Hash) -> HashState {
    HashState::new(hash)
}

/// The length of a state's digest. A context of SHA-256 may be one of SHA-224.
fn length(_: Hash, state: &HashState) -> usize {
    state.hash().length()
}

fn update(_: Hash, state: &mut HashState, message: &[u8]) -> c_int {
    engine(|bus, port| port.hash_update(bus, state, message))
}

fn finish(_: Hash, state: &mut HashState, digest: &mut [u8]) -> c_int {
    engine(|bus, port| port.hash_finish(bus, state, digest))
}

hash!(
    Hash::Sha1,
    caam_mbedtls_sha1_init,
    caam_mbedtls_sha1_free,
    caam_mbedtls_sha1_clone,
    caam_mbedtls_sha1_update_ret,
    caam_mbedtls_sha1_finish_ret,
    caam_mbedtls_internal_sha1_process
);
hash!(
    Hash::Sha256,
    caam_mbedtls_sha256_init,
    caam_mbedtls_sha256_free,
    caam_mbedtls_sha256_clone,
    caam_mbedtls_sha256_update_ret,
    caam_mbedtls_sha256_finish_ret,
    caam_mbedtls_internal_sha256_process
);

#[unsafe(no_mangle)]
unsafe extern "C" fn caam_mbedtls_sha1_starts_ret(context: *mut HashState) -> c_int {
    // SAFETY: see above.
    unsafe { context.write(HashState::new(Hash::Sha1)) };
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn caam_mbedtls_sha256_starts_ret(
    context: *mut HashState,
    is_224: c_int,
) -> c_int {
    let hash = if is_224 != 0 { Hash::Sha224 } else { Hash::Sha256 };
    // SAFETY: see above.
    unsafe { context.write(HashState::new(hash)) };
    0
}
