//! wolfSSL's key pairs, through those functions that allocate memory themselves or take octets, because the
//! size of a key's structure depends on how the library was built.
//!
//! Ed25519 is left out: signing also needs the public half, and only functions that fill a structure derive it
//! from a private key alone.
//!
//! For each RSA signature and each Curve25519 pair, the functions for OpenSSL's programs start a generator that
//! the system seeds. This is part of the time. Keys of curves have a generator that is started before the clock
//! starts. If the library was built with `FP_ECC`, as Debian's is, it keeps tables for points that it has met
//! twice. Verification uses them, as it does in a program that verifies with one key. A program that reads a
//! peer's key has not met that key before, so agreements, which take a fraction of the time with tables,
//! discard them. Each private RSA operation has a new blinding.

mod key;

use super::ffi;
use crate::key_pairs::{MAX_DER, from_der, make_pairs, to_der, whole};
use crate::loaded::Owned;
use core::ffi::{CStr, c_int, c_uint, c_ulong};
use core::ptr;
use cpb_core::public_key::{Parts, parts};
use cpb_core::{Algorithm, CryptoWorkload, Error, Job, Operation, Phase, Unsupported};
use cpb_session::Body;
use cpb_session::lengths::keys_fit;
use cpb_session::raw_jobs::{RawJob, RawJobs};
use cpb_session::submit::{agree, each};
use key::{
    SHA_256, Scheme, curve_key, curve_private, done, generator, refused, rsa_private, rsa_public,
    succeeded, write_curve, write_rsa,
};

/// The exponent of new pairs.
const RSA_EXPONENT: c_ulong = 65_537;

/// Whether the library has an algorithm. `missing` are the functions that it lacks.
pub(super) fn supports(algorithm: Algorithm, missing: &[&CStr]) -> Result<(), Unsupported> {
    let scheme = Scheme::of(algorithm).ok_or(Unsupported::Algorithm)?;
    if scheme.needs().iter().any(|name| missing.contains(name)) {
        return Err(Unsupported::BuildOption);
    }
    Ok(())
}

/// Opens a session, as [`cpb_core::Provider::session`] does.
pub(super) fn session(
    workload: &CryptoWorkload,
    keys: &[&[u8]],
    jobs: &mut [Job<'_>],
    body: Body<'_>,
) -> Result<(), Error> {
    keys_fit(workload.algorithm, keys)?;
    let jobs = &RawJobs::new(workload, keys, jobs)?;
    let scheme = Scheme::of(workload.algorithm).ok_or(Unsupported::Algorithm)?;
    let parts = parts(workload.algorithm).ok_or(Unsupported::Algorithm)?;
    let open = Open { scheme, parts, jobs };
    if workload.operation == Operation::GenerateKey {
        return open.generate(body);
    }
    let length = workload.lengths().key;
    let own = *keys.first().filter(|own| own.len() == length).ok_or(Unsupported::Length)?;
    match workload.operation {
        Operation::Sign => open.sign(own, body),
        Operation::Verify => open.verify(own, body),
        _ => open.agree(own, workload.phase, body),
    }
}

/// What all sessions of this module share.
struct Open<'a> {
    scheme: Scheme,
    parts: Parts,
    jobs: &'a RawJobs<'a>,
}

// In all closures below: keys and generators are live as long as the session, and the pointers of a job
// are valid for the lengths that `RawJobs` checked.
impl Open<'_> {
    fn sign(&self, own: &[u8], body: Body<'_>) -> Result<(), Error> {
        let (message, length) = (self.jobs.message as c_uint, self.parts.signature);
        match self.scheme {
            Scheme::Rsa(modulus, padding) => {
                let key = rsa_private(modulus, own)?;
                let sign = |job: &RawJob| {
                    let mut written = length as c_uint;
                    // SAFETY: see above; the 1 asks it to sign, and not only to pad.
                    succeeded(unsafe {
                        ffi::wolfSSL_RSA_sign_generic_padding(
                            SHA_256,
                            job.input,
                            message,
                            job.tag,
                            &mut written,
                            key.0,
                            1,
                            padding,
                        )
                    })?;
                    whole(written as usize, length)
                };
                each(self.jobs, sign, body)
            }
            Scheme::Curve(curve) => {
                let (key, generator) = (curve_private(curve, own)?, generator()?);
                let sign = |job: &RawJob| {
                    let (mut der, mut written) = ([0; MAX_DER], MAX_DER as c_uint);
                    // SAFETY: see above; `written` is the available room.
                    done(unsafe {
                        let output = der.as_mut_ptr();
                        let (digest, random) = (job.input, generator.0);
                        ffi::wc_ecc_sign_hash(digest, message, output, &mut written, random, key.0)
                    })?;
                    // SAFETY: the tag has the signature's length.
                    let tag = unsafe { core::slice::from_raw_parts_mut(job.tag, length) };
                    from_der(der.get(..written as usize).unwrap_or_default(), tag)
                };
                each(self.jobs, sign, body)
            }
            Scheme::X25519 => Err(Unsupported::Algorithm.into()),
        }
    }

    /// An invalid key is refused, like a signature that does not verify.
    fn verify(&self, own: &[u8], body: Body<'_>) -> Result<(), Error> {
        let (message, length) = (self.jobs.message as c_uint, self.parts.signature);
        match self.scheme {
            Scheme::Rsa(modulus, padding) => {
                let key = rsa_public(modulus, own).map_err(refused)?;
                let verify = |job: &RawJob| {
                    // SAFETY: see above.
                    succeeded(unsafe {
                        ffi::wolfSSL_RSA_verify_ex(
                            SHA_256,
                            job.input,
                            message,
                            job.tag,
                            length as c_uint,
                            key.0,
                            padding,
                        )
                    })
                    .map_err(refused)
                };
                each(self.jobs, verify, body)
            }
            Scheme::Curve(curve) => {
                let key = curve_key()?;
                let (bytes, point) = (own.as_ptr(), own.len() as c_uint);
                // SAFETY: see above; the length is that of the bytes.
                unsafe {
                    done(ffi::wc_ecc_import_x963_ex(bytes, point, key.0, curve.id))
                        .map_err(refused)?;
                    done(ffi::wc_ecc_check_key(key.0)).map_err(refused)?;
                }
                let verify = |job: &RawJob| {
                    let mut der = [0; MAX_DER];
                    // SAFETY: the tag has the signature's length.
                    let tag = unsafe { core::slice::from_raw_parts(job.tag, length) };
                    let signature = to_der(tag, &mut der) as c_uint;
                    let (der, mut fits) = (der.as_ptr(), 0);
                    // SAFETY: see above.
                    let status = unsafe {
                        let digest = job.input;
                        ffi::wc_ecc_verify_hash(der, signature, digest, message, &mut fits, key.0)
                    };
                    if status == 0 && fits == 1 { Ok(()) } else { Err(Error::Refused) }
                };
                each(self.jobs, verify, body)
            }
            Scheme::X25519 => Err(Unsupported::Algorithm.into()),
        }
    }

    fn agree(&self, own: &[u8], phase: Phase, body: Body<'_>) -> Result<(), Error> {
        let (length, public) = (self.parts.secret, self.parts.public as c_uint);
        let Scheme::Curve(curve) = self.scheme else {
            // Both keys are octets, and are read each time.
            let agree = |job: &RawJob| {
                let (mut written, private) = (length as c_uint, own.len() as c_uint);
                let (own, peer) = (own.as_ptr(), job.input);
                // SAFETY: see above.
                succeeded(unsafe {
                    let secret = job.output;
                    ffi::wolfSSL_EC25519_shared_key(
                        secret,
                        &mut written,
                        own,
                        private,
                        peer,
                        public,
                    )
                })
                .map_err(refused)?;
                whole(written as usize, length)
            };
            return each(self.jobs, agree, body);
        };
        let (key, generator) = (curve_private(curve, own)?, generator()?);
        // SAFETY: both are live; the generator blinds operations with the key.
        done(unsafe { ffi::wc_ecc_set_rng(key.0, generator.0) })?;
        // SAFETY: takes no arguments.
        let point = Owned::take(unsafe { ffi::wc_ecc_new_point() }, ffi::wc_ecc_del_point)?;
        // SAFETY: takes a number.
        let index = unsafe { ffi::wc_ecc_get_curve_idx(curve.id) };
        // A point that is not on the curve would reveal something about the key.
        let peer = |job: &RawJob| {
            // SAFETY: takes no arguments.
            unsafe { ffi::wc_ecc_fp_free() };
            // SAFETY: see above; the input has the length of a public key. The last argument says that the
            // point is not a shortened one.
            unsafe {
                done(ffi::wc_ecc_import_point_der_ex(job.input, public, index, point.0, 0))
                    .map_err(refused)?;
                done(ffi::wc_ecc_point_is_on_curve(point.0, index)).map_err(refused)
            }
        };
        let derive = |job: &RawJob, (): &()| {
            let mut written = length as c_uint;
            // SAFETY: see above.
            done(unsafe { ffi::wc_ecc_shared_secret_ex(key.0, point.0, job.output, &mut written) })
                .map_err(refused)?;
            whole(written as usize, length)
        };
        agree(self.jobs, phase, peer, derive, body)
    }

    fn generate(&self, body: Body<'_>) -> Result<(), Error> {
        match self.scheme {
            Scheme::Rsa(modulus, _) => {
                // SAFETY: takes no arguments.
                let exponent = Owned::take(unsafe { ffi::wolfSSL_BN_new() }, ffi::wolfSSL_BN_free)?;
                // SAFETY: the number is live.
                succeeded(unsafe { ffi::wolfSSL_BN_set_word(exponent.0, RSA_EXPONENT) })?;
                let make = || {
                    // SAFETY: takes no arguments.
                    let pair =
                        Owned::take(unsafe { ffi::wolfSSL_RSA_new() }, ffi::wolfSSL_RSA_free)?;
                    let bits = 8 * modulus as c_int;
                    // SAFETY: both are live; null means that no progress is reported.
                    succeeded(unsafe {
                        let none = ptr::null_mut();
                        ffi::wolfSSL_RSA_generate_key_ex(pair.0, bits, exponent.0, none)
                    })?;
                    Ok(pair)
                };
                let write = |pair: &_, private: &mut _, public: &mut _| {
                    write_rsa(modulus, pair, private, public)
                };
                make_pairs(self.jobs, &self.parts, make, write, body)
            }
            Scheme::Curve(curve) => {
                let generator = generator()?;
                let make = || {
                    let pair = curve_key()?;
                    // SAFETY: both are live.
                    done(unsafe {
                        ffi::wc_ecc_make_key_ex(generator.0, curve.size, pair.0, curve.id)
                    })?;
                    Ok(pair)
                };
                make_pairs(self.jobs, &self.parts, make, write_curve, body)
            }
            // The function writes the pair as octets itself.
            Scheme::X25519 => {
                let make = |job: &RawJob| {
                    let (private, public) = (self.parts.private, self.parts.public);
                    let (mut scalar, mut point) = (private as c_uint, public as c_uint);
                    // SAFETY: the output has the length of both halves.
                    succeeded(unsafe {
                        let half = job.output.add(private);
                        ffi::wolfSSL_EC25519_generate_key(job.output, &mut scalar, half, &mut point)
                    })?;
                    whole(scalar as usize, private)?;
                    whole(point as usize, public)
                };
                each(self.jobs, make, body)
            }
        }
    }
}
