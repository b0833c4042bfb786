//! RSA. Signing uses the same functions as GnuTLS: those whose names end in `_tr`. They blind what they work on
//! with a new random number each time, compute in a time that does not depend on the key, and check what they
//! computed.

use super::numbers::{OwnedNumber, number, read, write};
use super::{Body, Buffers, Open, Random, ffi, random, succeeded, taken};
use crate::key_pairs::make_pairs;
use core::ffi::c_uint;
use core::ptr;
use cpb_core::public_key::{rsa_numbers, rsa_places};
use cpb_core::{Error, Operation};
use ffi::{RsaPrivateKey, RsaPublicKey};

#[derive(Clone, Copy)]
pub(super) enum Padding {
    Pkcs1,
    Pss,
}

/// Bytes of a PSS signature's salt: the length of SHA-256.
const SALT: usize = 32;

// SAFETY of all calls below: keys and numbers are live, and digests have the 32 bytes of SHA-256.

/// Opens a session.
pub(super) fn serve(
    open: &Open<'_>,
    modulus: usize,
    padding: Padding,
    body: Body<'_>,
) -> Result<(), Error> {
    match open.operation {
        Operation::Sign => sign(open, modulus, padding, body),
        Operation::Verify => verify(open, modulus, padding, body),
        _ => generate(open, modulus, body),
    }
}

fn sign(open: &Open<'_>, modulus: usize, padding: Padding, body: Body<'_>) -> Result<(), Error> {
    let (public, private) = pair(modulus, open.key)?;
    let mut source = Random::new()?;
    let mut signature = number();
    open.run(body, |Buffers { input, tag, .. }| {
        let digest = input.as_ptr();
        // SAFETY: as above; the salt has the stated length.
        succeeded(unsafe {
            match padding {
                Padding::Pkcs1 => ffi::nettle_rsa_sha256_sign_digest_tr(
                    &*public,
                    &*private,
                    source.context(),
                    random,
                    digest,
                    &mut *signature,
                ),
                Padding::Pss => {
                    let mut salt = [0; SALT];
                    source.fill(&mut salt);
                    let (context, salt) = (source.context(), salt.as_ptr());
                    ffi::nettle_rsa_pss_sha256_sign_digest_tr(
                        &*public,
                        &*private,
                        context,
                        random,
                        SALT,
                        salt,
                        digest,
                        &mut *signature,
                    )
                }
            }
        })?;
        write(&signature, tag)
    })
}

fn verify(open: &Open<'_>, modulus: usize, padding: Padding, body: Body<'_>) -> Result<(), Error> {
    let public = public_key(modulus, open.key)?;
    let mut signature = number();
    open.run(body, |Buffers { input, tag, .. }| {
        read(&mut signature, tag);
        let digest = input.as_ptr();
        // SAFETY: as above.
        taken(unsafe {
            match padding {
                Padding::Pkcs1 => {
                    ffi::nettle_rsa_sha256_verify_digest(&*public, digest, &*signature)
                }
                Padding::Pss => {
                    ffi::nettle_rsa_pss_sha256_verify_digest(&*public, SALT, digest, &*signature)
                }
            }
        })
    })
}

fn generate(open: &Open<'_>, modulus: usize, body: Body<'_>) -> Result<(), Error> {
    let mut source = Random::new()?;
    let make = || {
        let (mut public, mut private) = (empty_public(), empty_private());
        // 2^16 + 1.
        read(&mut public.e, &[1, 0, 1]);
        let bits = modulus as c_uint * 8;
        // SAFETY: as above; progress is not reported.
        succeeded(unsafe {
            let (context, none) = (source.context(), ptr::null_mut());
            let (public, private) = (&mut *public, &mut *private);
            ffi::nettle_rsa_generate_keypair(public, private, context, random, none, None, bits, 0)
        })?;
        Ok((public, private))
    };
    make_pairs(
        open.jobs,
        &open.parts,
        make,
        |(public, private), private_key, public_key| {
            let RsaPrivateKey { d, p, q, a, b, c, .. } = &**private;
            let numbers = [&public.n, &public.e, d, p, q, a, b, c];
            for (number, digits) in numbers.into_iter().zip(rsa_places(modulus, private_key)) {
                write(number, digits)?;
            }
            public_key.copy_from_slice(&private_key[..public_key.len()]);
            Ok(())
        },
        body,
    )
}

/// Makes a key from its numbers in a row. A public key has the first two.
fn public_key(modulus: usize, key: &[u8]) -> Result<OwnedNumber<RsaPublicKey>, Error> {
    let mut public = empty_public();
    let RsaPublicKey { n, e, .. } = &mut *public;
    read_all([n, e], modulus, key);
    // SAFETY: as above.
    taken(unsafe { ffi::nettle_rsa_public_key_prepare(&mut *public) })?;
    Ok(public)
}

/// Reads both halves: what is computed with the private one is blinded and checked with the public one.
fn pair(
    modulus: usize,
    key: &[u8],
) -> Result<(OwnedNumber<RsaPublicKey>, OwnedNumber<RsaPrivateKey>), Error> {
    let (mut public, mut private) = (empty_public(), empty_private());
    let RsaPublicKey { n, e, .. } = &mut *public;
    let RsaPrivateKey { d, p, q, a, b, c, .. } = &mut *private;
    read_all([n, e, d, p, q, a, b, c], modulus, key);
    // SAFETY: as above.
    unsafe {
        taken(ffi::nettle_rsa_public_key_prepare(&mut *public))?;
        taken(ffi::nettle_rsa_private_key_prepare(&mut *private))?;
    }
    if public.size != private.size {
        return Err(Error::Refused);
    }
    Ok((public, private))
}

/// Reads the numbers of `key`, which has as many as there are places.
fn read_all<const N: usize>(numbers: [&mut ffi::Integer; N], modulus: usize, key: &[u8]) {
    for (number, digits) in numbers.into_iter().zip(rsa_numbers(modulus, key)) {
        read(number, digits);
    }
}

fn empty_public() -> OwnedNumber<RsaPublicKey> {
    // SAFETY: rsa.h; its numbers may be moved.
    unsafe {
        OwnedNumber::new(
            |new| ffi::nettle_rsa_public_key_init(new),
            ffi::nettle_rsa_public_key_clear,
        )
    }
}

fn empty_private() -> OwnedNumber<RsaPrivateKey> {
    // SAFETY: rsa.h; its numbers may be moved.
    unsafe {
        OwnedNumber::new(
            |new| ffi::nettle_rsa_private_key_init(new),
            ffi::nettle_rsa_private_key_clear,
        )
    }
}
