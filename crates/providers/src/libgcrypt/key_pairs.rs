//! libgcrypt's key pairs.
//!
//! Keys are S-expressions that are made before the clock starts. The expressions of digests, signatures and
//! results are part of each operation, because the library takes and returns nothing else. In each operation it
//! also sets up the curve, or reads the numbers of the RSA key.
//!
//! For each RSA signature the library draws a new number to blind the key with, inverts it, and finally checks
//! the signature. It copies a private key's numbers out of their expression to memory that it does not treat as
//! secret, wherever the expression is (1.10, 1.11). So an agreement on NIST's curves does not run in constant
//! time, as ECDSA with its own numbers does, and costs half as much.
//!
//! It draws from its own generator, whose cost is part of the time. Pairs are made as transient ones, because
//! old kernels would otherwise be asked for more entropy than they have at a time. The library tests new pairs
//! of curves with a signature before it returns them.
//!
//! ML-KEM (1.11) is left out, because the library takes no seed, and private keys are seeds here.

use super::expression::{CurveContext, Expression};
use super::{ffi, succeeded};
use crate::key_pairs::{make_pairs, refused};
use core::ffi::CStr;
use core::{ptr, slice};
use cpb_core::public_key::{Parts, RSA_EXPONENT, parts, rsa_numbers, rsa_places};
use cpb_core::{Algorithm, CryptoWorkload, Error, Lengths, Operation, Phase, Unsupported};
use cpb_session::Body;
use cpb_session::raw_jobs::{RawJob, RawJobs, software_supports};
use cpb_session::submit::{agree, each};

/// Whether the library can have an algorithm with key pairs.
pub(super) fn has(algorithm: Algorithm) -> bool {
    Scheme::of(algorithm).is_some()
}

/// Checks whether this library, as it was built and as this system allows it, supports a workload.
pub(super) fn supports(workload: &CryptoWorkload, fips: bool) -> Result<(), Unsupported> {
    let scheme = Scheme::of(workload.algorithm).ok_or(Unsupported::Algorithm)?;
    match scheme.is_there() {
        _ if scheme.is_too_new() => Err(Unsupported::Algorithm),
        true => software_supports(workload),
        false if fips => Err(Unsupported::Policy),
        false => Err(Unsupported::BuildOption),
    }
}

/// Opens a session.
pub(super) fn session(
    workload: &CryptoWorkload,
    keys: &[&[u8]],
    jobs: &RawJobs<'_>,
    body: Body<'_>,
) -> Result<(), Error> {
    let Lengths { key, .. } = workload.lengths();
    let scheme = Scheme::of(workload.algorithm).ok_or(Unsupported::Algorithm)?;
    let parts = parts(workload.algorithm).ok_or(Unsupported::Algorithm)?;
    let open = Open { scheme, parts, jobs };
    if workload.operation == Operation::GenerateKey {
        return open.generate(body);
    }
    let own = keys.first().filter(|own| own.len() == key).ok_or(Unsupported::Length)?;
    match (workload.operation, scheme) {
        (Operation::Sign, _) => open.sign(&scheme.private(own)?, body),
        (Operation::Verify, _) => open.verify(own, body),
        (_, Scheme::X25519) => open.agree_x25519(own, body),
        _ => open.agree(&scheme.private(own)?, workload.phase, body),
    }
}

/// How the library represents an algorithm.
#[derive(Clone, Copy)]
enum Scheme {
    /// The modulus's length in bits, as text. The padding is PSS if `pss` is true, and PKCS #1 v1.5 otherwise.
    Rsa { bits: &'static CStr, pss: bool },
    /// One of NIST's curves, and the digest that is signed.
    Curve { name: &'static CStr, digest: &'static [u8] },
    /// EdDSA.
    Ed25519,
    /// Done with separate functions.
    X25519,
}

const P256: &CStr = c"NIST P-256";
const P384: &CStr = c"NIST P-384";

impl Scheme {
    fn of(algorithm: Algorithm) -> Option<Scheme> {
        Some(match algorithm {
            Algorithm::Rsa2048Pkcs1 => Scheme::Rsa { bits: c"2048", pss: false },
            Algorithm::Rsa3072Pkcs1 => Scheme::Rsa { bits: c"3072", pss: false },
            Algorithm::Rsa4096Pkcs1 => Scheme::Rsa { bits: c"4096", pss: false },
            Algorithm::Rsa2048Pss => Scheme::Rsa { bits: c"2048", pss: true },
            Algorithm::Rsa3072Pss => Scheme::Rsa { bits: c"3072", pss: true },
            Algorithm::Rsa4096Pss => Scheme::Rsa { bits: c"4096", pss: true },
            Algorithm::EcdsaP256 | Algorithm::EcdhP256 => {
                Scheme::Curve { name: P256, digest: b"sha256" }
            }
            Algorithm::EcdsaP384 | Algorithm::EcdhP384 => {
                Scheme::Curve { name: P384, digest: b"sha384" }
            }
            Algorithm::Ed25519 => Scheme::Ed25519,
            Algorithm::X25519 => Scheme::X25519,
            _ => return None,
        })
    }

    /// Whether the library is too old to have the function that this needs.
    fn is_too_new(self) -> bool {
        // SAFETY: takes any number.
        let length = unsafe { ffi::since_1_9::gcry_ecc_get_algo_keylen(ffi::GCRY_ECC_CURVE25519) };
        matches!(self, Scheme::X25519) && length != 32
    }

    fn is_there(self) -> bool {
        let algorithm = match self {
            Scheme::Rsa { .. } => ffi::GCRY_PK_RSA,
            _ => ffi::GCRY_PK_ECC,
        };
        let (nothing, test) = (ptr::null_mut(), ffi::GCRYCTL_TEST_ALGO);
        // SAFETY: gcrypt.h: with this question both pointers are null.
        let there =
            unsafe { ffi::gcry_pk_algo_info(algorithm, test, nothing, ptr::null_mut()) } == 0;
        there
            && match self {
                Scheme::Rsa { .. } => true,
                Scheme::Curve { name, .. } => CurveContext::named(name).is_ok(),
                Scheme::Ed25519 => CurveContext::named(c"Ed25519").is_ok(),
                Scheme::X25519 => CurveContext::named(c"Curve25519").is_ok(),
            }
    }

    fn private(self, key: &[u8]) -> Result<Expression, Error> {
        match self {
            Scheme::Rsa { .. } => {
                let mut numbers = rsa_numbers(modulus(key), key);
                let [n, e, d, p, q, _, _, q_inverse] =
                    core::array::from_fn(|_| numbers.next().unwrap_or_default());
                // The library wants the inverse of its p, which is our q.
                let key = Expression::new(
                    c"(private-key(rsa(n %b)(e %b)(d %b)(p %b)(q %b)(u %b)))",
                    [n, e, d, q, p, q_inverse],
                )?;
                // SAFETY: the key is live.
                succeeded(unsafe { ffi::gcry_pk_testkey(key.0) })?;
                Ok(key)
            }
            Scheme::Curve { name, .. } => {
                let key =
                    Expression::new(c"(private-key(ecc(curve %b)(d %b)))", [name.to_bytes(), key])?;
                if CurveContext::of(&key)?.has_scalar()? { Ok(key) } else { Err(Error::Refused) }
            }
            // Without the public key the library would compute it for each signature.
            Scheme::Ed25519 | Scheme::X25519 => {
                let half = Expression::new(
                    c"(private-key(ecc(curve Ed25519)(flags eddsa)(d %b)))",
                    [key],
                )?;
                let mut public = [0; 32];
                CurveContext::of(&half)?.number(c"q@eddsa")?.copy_bytes(&mut public)?;
                Expression::new(
                    c"(private-key(ecc(curve Ed25519)(flags eddsa)(q %b)(d %b)))",
                    [&public, key],
                )
            }
        }
    }

    /// Reads a public key. An invalid key is refused, like a signature that does not verify.
    fn public(self, key: &[u8]) -> Result<Expression, Error> {
        let key = match self {
            Scheme::Rsa { .. } => {
                let (n, e) = key.split_at(key.len() - RSA_EXPONENT);
                let whole = n.first().is_some_and(|first| *first >= 0x80)
                    && n.last().is_some_and(|last| last % 2 == 1);
                if !whole {
                    return Err(Error::Refused);
                }
                return Expression::new(c"(public-key(rsa(n %b)(e %b)))", [n, e]);
            }
            Scheme::Curve { name, .. } => {
                Expression::new(c"(public-key(ecc(curve %b)(q %b)))", [name.to_bytes(), key])
            }
            Scheme::Ed25519 | Scheme::X25519 => {
                Expression::new(c"(public-key(ecc(curve Ed25519)(flags eddsa)(q %b)))", [key])
            }
        }?;
        let on_curve = CurveContext::of(&key).or_else(refused)?.has_point();
        if on_curve { Ok(key) } else { Err(Error::Refused) }
    }

    /// The expression of what is signed.
    #[inline]
    fn data(self, message: &[u8]) -> Result<Expression, Error> {
        match self {
            Scheme::Rsa { pss: false, .. } => {
                Expression::new(c"(data(flags pkcs1)(hash sha256 %b))", [message])
            }
            Scheme::Rsa { pss: true, .. } => {
                Expression::new(c"(data(flags pss)(salt-length 2:32)(hash sha256 %b))", [message])
            }
            Scheme::Curve { digest, .. } => {
                Expression::new(c"(data(flags raw)(hash %b %b))", [digest, message])
            }
            Scheme::Ed25519 | Scheme::X25519 => match message {
                [] => Expression::new(c"(data(flags eddsa)(hash-algo sha512)(value))", []),
                _ => Expression::new(c"(data(flags eddsa)(hash-algo sha512)(value %b))", [message]),
            },
        }
    }

    /// The expression of a signature that is to be verified.
    #[inline]
    fn signature(self, bytes: &[u8]) -> Result<Expression, Error> {
        let (r, s) = bytes.split_at(bytes.len() / 2);
        match self {
            Scheme::Rsa { .. } => Expression::new(c"(sig-val(rsa(s %b)))", [bytes]),
            Scheme::Curve { .. } => Expression::new(c"(sig-val(ecdsa(r %b)(s %b)))", [r, s]),
            Scheme::Ed25519 | Scheme::X25519 => {
                Expression::new(c"(sig-val(eddsa(r %b)(s %b)))", [r, s])
            }
        }
    }

    /// Copies a new signature out of its expression.
    #[inline]
    fn take_signature(self, made: &Expression, bytes: &mut [u8]) -> Result<(), Error> {
        if let Scheme::Rsa { .. } = self {
            return made.write(c"s", bytes);
        }
        let (r, s) = bytes.split_at_mut(bytes.len() / 2);
        made.write(c"r", r)?;
        made.write(c"s", s)
    }

    /// Whether a signature is in its range, which the library leaves to its caller. An RSA signature is less
    /// than the modulus (RFC 8017, 5.2.2), and the second half of an EdDSA signature is less than the order
    /// (RFC 8032, 5.1.7).
    #[inline]
    fn in_range(self, signature: &[u8], key: &[u8]) -> bool {
        match self {
            Scheme::Rsa { .. } => signature < key.get(..signature.len()).unwrap_or_default(),
            Scheme::Ed25519 => signature.iter().rev().take(32).lt(ED25519_ORDER.iter()),
            _ => true,
        }
    }

    /// The expression that requests a pair.
    fn wanted(self) -> Result<Expression, Error> {
        match self {
            Scheme::Rsa { bits, .. } => Expression::new(
                c"(genkey(rsa(nbits %b)(rsa-use-e 5:65537)(flags transient-key)))",
                [bits.to_bytes()],
            ),
            Scheme::Curve { name, .. } => {
                Expression::new(c"(genkey(ecc(curve %b)(flags transient-key)))", [name.to_bytes()])
            }
            Scheme::Ed25519 | Scheme::X25519 => {
                Expression::new(c"(genkey(ecc(curve Ed25519)(flags eddsa transient-key)))", [])
            }
        }
    }

    /// Writes both halves of a pair.
    fn write(self, pair: &Expression, private: &mut [u8], public: &mut [u8]) -> Result<(), Error> {
        let Scheme::Rsa { .. } = self else {
            pair.write(c"d", private)?;
            return pair.write(c"q", public);
        };
        let [n, e, d, p, q, d_p, d_q, q_inverse] = {
            let mut places = rsa_places(modulus(private), private);
            core::array::from_fn(|_| places.next().unwrap_or_default())
        };
        let exponent = pair.number(c"d")?;
        pair.write(c"n", n)?;
        pair.write(c"e", e)?;
        pair.write(c"d", d)?;
        // p and q are swapped; see `private`.
        pair.write(c"q", p)?;
        pair.write(c"p", q)?;
        exponent.write_modulo_less_one(&pair.number(c"q")?, d_p)?;
        exponent.write_modulo_less_one(&pair.number(c"p")?, d_q)?;
        pair.write(c"u", q_inverse)?;
        public.copy_from_slice(&private[..public.len()]);
        Ok(())
    }
}

/// The order of Ed25519's base point (RFC 8032, 5.1), big-endian.
const ED25519_ORDER: [u8; 32] = [
    0x10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, //
    0x14, 0xde, 0xf9, 0xde, 0xa2, 0xf7, 0x9c, 0xd6, 0x58, 0x12, 0x63, 0x1a, 0x5c, 0xf5, 0xd3, 0xed,
];

/// Bytes of the modulus, from the length of a private RSA key.
fn modulus(key: &[u8]) -> usize {
    (key.len() - RSA_EXPONENT) / 9 * 2
}

/// What all sessions of this module share.
struct Open<'a> {
    scheme: Scheme,
    parts: Parts,
    jobs: &'a RawJobs<'a>,
}

// In all closures below: keys are live as long as the session, and the pointers of a job are valid for the
// lengths that `RawJobs` checked.
impl Open<'_> {
    fn sign(&self, key: &Expression, body: Body<'_>) -> Result<(), Error> {
        let (message, length) = (self.jobs.message, self.parts.signature);
        let sign = |job: &RawJob| {
            // SAFETY: see above.
            let (message, signature) = unsafe {
                (
                    slice::from_raw_parts(job.input, message),
                    slice::from_raw_parts_mut(job.tag, length),
                )
            };
            let data = self.scheme.data(message)?;
            // SAFETY: both are live.
            let made = Expression::by(|made| unsafe { ffi::gcry_pk_sign(made, data.0, key.0) })?;
            self.scheme.take_signature(&made, signature)
        };
        each(self.jobs, sign, body)
    }

    fn verify(&self, own: &[u8], body: Body<'_>) -> Result<(), Error> {
        let key = self.scheme.public(own)?;
        let (message, length) = (self.jobs.message, self.parts.signature);
        let verify = |job: &RawJob| {
            // SAFETY: see above.
            let (message, signature) = unsafe {
                (slice::from_raw_parts(job.input, message), slice::from_raw_parts(job.tag, length))
            };
            if !self.scheme.in_range(signature, own) {
                return Err(Error::Refused);
            }
            let (data, signature) = (self.scheme.data(message)?, self.scheme.signature(signature)?);
            // SAFETY: all are live.
            succeeded(unsafe { ffi::gcry_pk_verify(signature.0, data.0, key.0) }).or_else(refused)
        };
        each(self.jobs, verify, body)
    }

    /// In each agreement the library checks whether the peer's point is on the curve. Only reading it into its
    /// expression can be done before.
    fn agree(&self, key: &Expression, phase: Phase, body: Body<'_>) -> Result<(), Error> {
        let (public, length) = (self.parts.public, self.parts.secret);
        let read = |job: &RawJob| {
            // SAFETY: see above.
            let peer = unsafe { slice::from_raw_parts(job.input, public) };
            Expression::new(c"(enc-val(ecdh(e %b)))", [peer])
        };
        let derive = |job: &RawJob, peer: &Expression| {
            // SAFETY: both are live.
            let shared =
                Expression::by(|made| unsafe { ffi::gcry_pk_decrypt(made, peer.0, key.0) })
                    .or_else(refused)?;
            let mut point = [0; 97];
            let point = point.get_mut(..public).ok_or(Unsupported::Length)?;
            shared.write(c"value", point)?;
            // SAFETY: see above.
            let secret = unsafe { slice::from_raw_parts_mut(job.output, length) };
            secret.copy_from_slice(&point[1..=length]);
            Ok(())
        };
        agree(self.jobs, phase, read, derive, body)
    }

    /// A key of 32 bytes does not need to be read beforehand.
    fn agree_x25519(&self, own: &[u8], body: Body<'_>) -> Result<(), Error> {
        let length = self.parts.secret;
        let agree = |job: &RawJob| {
            multiply(job.output, own, job.input).or_else(refused)?;
            // SAFETY: see above.
            let shared = unsafe { slice::from_raw_parts(job.output, length) };
            // RFC 7748, section 6.1: a peer can make it 0, and the library leaves this check to its caller.
            let any = shared.iter().fold(0, |any, byte| any | byte);
            if any == 0 { Err(Error::Refused) } else { Ok(()) }
        };
        each(self.jobs, agree, body)
    }

    /// Makes pairs; each job's last one is written when the session is over.
    fn generate(&self, body: Body<'_>) -> Result<(), Error> {
        if let Scheme::X25519 = self.scheme {
            let length = self.parts.private + self.parts.public;
            // SAFETY: the output has the pair's length.
            let pair = |job: &RawJob| unsafe { slice::from_raw_parts_mut(job.output, length) };
            return each(self.jobs, |job| generate_x25519(pair(job)), body);
        }
        let wanted = self.scheme.wanted()?;
        // SAFETY: the expression is live.
        let make = || Expression::by(|made| unsafe { ffi::gcry_pk_genkey(made, wanted.0) });
        let write =
            |pair: &_, private: &mut _, public: &mut _| self.scheme.write(pair, private, public);
        make_pairs(self.jobs, &self.parts, make, write, body)
    }
}

/// X25519: `scalar` times a point, or times the base point if `point` is null. All have 32 bytes.
#[inline]
fn multiply(output: *mut u8, scalar: &[u8], point: *const u8) -> Result<(), Error> {
    debug_assert_eq!(scalar.len(), 32);
    // SAFETY: all are as long as the curve's keys, by the algorithm's lengths.
    succeeded(unsafe {
        let curve = ffi::GCRY_ECC_CURVE25519;
        ffi::since_1_9::gcry_ecc_mul_point(curve, output, scalar.as_ptr(), point)
    })
}

/// Makes a random scalar, followed by its public key.
#[inline]
fn generate_x25519(pair: &mut [u8]) -> Result<(), Error> {
    let (private, public) = pair.split_at_mut(32);
    // SAFETY: the length is that of the buffer.
    unsafe { ffi::gcry_randomize(private.as_mut_ptr(), private.len(), ffi::GCRY_STRONG_RANDOM) };
    multiply(public.as_mut_ptr(), private, ptr::null())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_private_rsa_key_says_how_long_its_modulus_is() {
        for (algorithm, bits) in [(Algorithm::Rsa2048Pkcs1, 2048), (Algorithm::Rsa3072Pss, 3072)] {
            assert_eq!(8 * modulus(algorithm.timed_private_key()), bits, "{algorithm}");
        }
    }

    #[test]
    fn a_signature_at_its_bound_is_out_of_range_and_one_below_it_is_not() {
        let key = Algorithm::Rsa2048Pss.timed_public_key();
        let mut signature = key[..256].to_vec();
        let rsa = Scheme::of(Algorithm::Rsa2048Pss).expect("RSA");
        assert!(!rsa.in_range(&signature, key));
        signature[255] -= 1;
        assert!(rsa.in_range(&signature, key), "a modulus is odd");

        let mut signature = [0xff; 64];
        signature[32..].copy_from_slice(&ED25519_ORDER);
        signature[32..].reverse();
        assert!(!Scheme::Ed25519.in_range(&signature, &[]));
        signature[32] -= 1;
        assert!(Scheme::Ed25519.in_range(&signature, &[]));
    }
}
