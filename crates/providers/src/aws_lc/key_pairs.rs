//! What AWS-LC does with key pairs: keys are read before the clock starts, but for the peer's in an
//! agreement; pairs that were made are written down after it has stopped.

use super::{Functions, ffi};
use crate::evp::Evp;
use crate::key_pairs::{
    BLINDING, Body, MAX_DER, Submit, each, from_der, make_pairs, refused, to_der, whole,
};
use crate::raw_jobs::{RawJob, RawJobs};
use core::ffi::{c_int, c_long};
use core::ptr;
use cpb_core::public_key::{Parts, RSA_NUMBERS, parts, rsa_numbers, rsa_places};
use cpb_core::{Algorithm, CryptoWorkload, Error, Lengths, Operation, Phase, Unsupported};

/// Whether the library has an algorithm with key pairs.
pub(super) fn has(algorithm: Algorithm) -> bool {
    Scheme::of(algorithm).is_some()
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
    // What is no key at all is refused, as a signature that does not fit is.
    match workload.operation {
        Operation::Sign => open.sign(&scheme.private(own)?, body),
        Operation::Verify => open.verify(&scheme.public(own).or_else(refused)?, body),
        Operation::KeyAgreement => open.agree(&scheme.private(own)?, workload.phase, body),
        Operation::Encapsulate => open.encapsulate(&scheme.public(own)?, body),
        _ => open.decapsulate(&scheme.private(own)?, body),
    }
}

/// What the library calls an algorithm, by how its keys are made.
#[derive(Clone, Copy)]
enum Scheme {
    /// Modulus in bytes, and padding.
    Rsa(usize, c_int),
    /// The curve's number.
    Curve(c_int),
    /// Keys are octet strings; the number is the key's own.
    Octets(c_int),
    /// ML-DSA, its number.
    MlDsa(c_int),
    /// ML-KEM, its number.
    MlKem(c_int),
}

/// What stands before the seed of an ML-KEM-768 key in PKCS #8 (RFC 9935): the library takes seeds in no
/// other way that its crate declares.
const ML_KEM_768_SEED: [u8; 22] = [
    0x30, 0x54, // the sequence
    0x02, 0x01, 0x00, // its version
    0x30, 0x0b, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x04,
    0x02, // ML-KEM-768
    0x04, 0x42, 0x80, 0x40, // the seed
];

impl Scheme {
    fn of(algorithm: Algorithm) -> Option<Scheme> {
        let (pkcs1, pss) = (ffi::RSA_PKCS1_PADDING, ffi::RSA_PKCS1_PSS_PADDING);
        Some(match algorithm {
            Algorithm::Rsa2048Pkcs1 => Scheme::Rsa(256, pkcs1),
            Algorithm::Rsa3072Pkcs1 => Scheme::Rsa(384, pkcs1),
            Algorithm::Rsa4096Pkcs1 => Scheme::Rsa(512, pkcs1),
            Algorithm::Rsa2048Pss => Scheme::Rsa(256, pss),
            Algorithm::Rsa3072Pss => Scheme::Rsa(384, pss),
            Algorithm::Rsa4096Pss => Scheme::Rsa(512, pss),
            Algorithm::EcdsaP256 | Algorithm::EcdhP256 => Scheme::Curve(ffi::NID_X9_62_prime256v1),
            Algorithm::EcdsaP384 | Algorithm::EcdhP384 => Scheme::Curve(ffi::NID_secp384r1),
            Algorithm::Ed25519 => Scheme::Octets(ffi::EVP_PKEY_ED25519),
            Algorithm::X25519 => Scheme::Octets(ffi::EVP_PKEY_X25519),
            Algorithm::MlDsa65 => Scheme::MlDsa(ffi::NID_MLDSA65),
            Algorithm::MlKem768 => Scheme::MlKem(ffi::NID_MLKEM768),
            _ => return None,
        })
    }

    fn private(self, key: &[u8]) -> Result<Key, Error> {
        let (bytes, length) = (key.as_ptr(), key.len());
        // SAFETY: the key is live; what the library copies of it is as long as is said.
        unsafe {
            match self {
                Scheme::Rsa(modulus, _) => rsa(modulus, key),
                Scheme::Curve(curve) => {
                    let pair = Owned::new(ffi::EC_KEY_new_by_curve_name(curve), ffi::EC_KEY_free)?;
                    let scalar = number(key)?;
                    succeeded(ffi::EC_KEY_set_private_key(pair.0, scalar.0))?;
                    curve_key(&pair)
                }
                Scheme::Octets(id) => {
                    made(ffi::EVP_PKEY_new_raw_private_key(id, ptr::null_mut(), bytes, length))
                }
                Scheme::MlDsa(id) => {
                    made(ffi::EVP_PKEY_pqdsa_new_raw_private_key(id, bytes, length))
                }
                Scheme::MlKem(_) => {
                    let der = [&ML_KEM_768_SEED[..], key].concat();
                    let (mut bytes, length) = (der.as_ptr(), der.len() as c_long);
                    let pair =
                        ffi::d2i_PrivateKey(ffi::EVP_PKEY_KEM, ptr::null_mut(), &mut bytes, length);
                    made(pair)
                }
            }
        }
    }

    fn public(self, key: &[u8]) -> Result<Key, Error> {
        let (bytes, length) = (key.as_ptr(), key.len());
        // SAFETY: as above; a curve's group and point live as long as the key here.
        unsafe {
            match self {
                Scheme::Rsa(modulus, _) => rsa(modulus, key),
                Scheme::Curve(curve) => {
                    let pair = Owned::new(ffi::EC_KEY_new_by_curve_name(curve), ffi::EC_KEY_free)?;
                    let group = ffi::EC_KEY_get0_group(pair.0);
                    let point = Owned::new(ffi::EC_POINT_new(group), ffi::EC_POINT_free)?;
                    let none = ptr::null_mut();
                    succeeded(ffi::EC_POINT_oct2point(group, point.0, bytes, length, none))?;
                    succeeded(ffi::EC_KEY_set_public_key(pair.0, point.0))?;
                    curve_key(&pair)
                }
                Scheme::Octets(id) => {
                    made(ffi::EVP_PKEY_new_raw_public_key(id, ptr::null_mut(), bytes, length))
                }
                Scheme::MlDsa(id) => {
                    made(ffi::EVP_PKEY_pqdsa_new_raw_public_key(id, bytes, length))
                }
                Scheme::MlKem(id) => made(ffi::EVP_PKEY_kem_new_raw_public_key(id, bytes, length)),
            }
        }
    }

    /// A context that makes pairs.
    fn maker(self) -> Result<Context, Error> {
        let id = match self {
            Scheme::Rsa(..) => ffi::EVP_PKEY_RSA,
            Scheme::Curve(_) => ffi::EVP_PKEY_EC,
            Scheme::Octets(id) => id,
            Scheme::MlDsa(_) => ffi::EVP_PKEY_PQDSA,
            Scheme::MlKem(_) => ffi::EVP_PKEY_KEM,
        };
        // SAFETY: the context is live; null is no engine.
        unsafe {
            let context =
                Owned::new(ffi::EVP_PKEY_CTX_new_id(id, ptr::null_mut()), ffi::EVP_PKEY_CTX_free)?;
            succeeded(ffi::EVP_PKEY_keygen_init(context.0))?;
            match self {
                Scheme::Rsa(modulus, _) => succeeded(ffi::EVP_PKEY_CTX_set_rsa_keygen_bits(
                    context.0,
                    modulus as c_int * 8,
                ))?,
                Scheme::Curve(curve) => {
                    succeeded(ffi::EVP_PKEY_CTX_set_ec_paramgen_curve_nid(context.0, curve))?;
                }
                Scheme::MlDsa(id) => {
                    succeeded(ffi::EVP_PKEY_CTX_pqdsa_set_params(context.0, id))?;
                }
                Scheme::MlKem(id) => succeeded(ffi::EVP_PKEY_CTX_kem_set_params(context.0, id))?,
                Scheme::Octets(_) => {}
            }
            Ok(context)
        }
    }

    /// Both halves of a pair.
    fn write(self, pair: &Key, private: &mut [u8], public: &mut [u8]) -> Result<(), Error> {
        // SAFETY: the pair is live, and so is what is got of it; outputs are as long as is said.
        unsafe {
            match self {
                Scheme::Rsa(modulus, _) => {
                    let numbers = numbers_of(pair.0).into_iter();
                    for (number, digits) in numbers.zip(rsa_places(modulus, private)) {
                        write_number(number, digits)?;
                    }
                    public.copy_from_slice(&private[..public.len()]);
                    Ok(())
                }
                Scheme::Curve(_) => {
                    let pair = ffi::EVP_PKEY_get0_EC_KEY(pair.0);
                    write_number(ffi::EC_KEY_get0_private_key(pair), private)?;
                    let (group, point) =
                        (ffi::EC_KEY_get0_group(pair), ffi::EC_KEY_get0_public_key(pair));
                    let form = ffi::point_conversion_form_t::POINT_CONVERSION_UNCOMPRESSED;
                    let (output, room) = (public.as_mut_ptr(), public.len());
                    let none = ptr::null_mut();
                    let written = ffi::EC_POINT_point2oct(group, point, form, output, room, none);
                    whole(written, public.len())
                }
                Scheme::Octets(_) => {
                    write_octets(ffi::EVP_PKEY_get_raw_private_key, pair, private)?;
                    write_octets(ffi::EVP_PKEY_get_raw_public_key, pair, public)
                }
                Scheme::MlDsa(_) | Scheme::MlKem(_) => {
                    write_octets(ffi::EVP_PKEY_get_private_seed, pair, private)?;
                    write_octets(ffi::EVP_PKEY_get_raw_public_key, pair, public)
                }
            }
        }
    }
}

/// A key of as many numbers as are there.
fn rsa(modulus: usize, key: &[u8]) -> Result<Key, Error> {
    let numbers: Vec<_> = rsa_numbers(modulus, key).map(number).collect::<Result<_, _>>()?;
    // SAFETY: numbers are live, and the library copies them; a key of its own has one owner.
    unsafe {
        let key = match numbers.as_slice() {
            [n, e] => ffi::RSA_new_public_key(n.0, e.0),
            [n, e, d, p, q, d_p, d_q, q_inverse] => {
                ffi::RSA_new_private_key(n.0, e.0, d.0, p.0, q.0, d_p.0, d_q.0, q_inverse.0)
            }
            _ => return Err(Unsupported::Length.into()),
        };
        let rsa = Owned::new(key, ffi::RSA_free)?;
        let key = made(ffi::EVP_PKEY_new())?;
        succeeded(ffi::EVP_PKEY_set1_RSA(key.0, rsa.0))?;
        Ok(key)
    }
}

/// The numbers of a pair, in their order.
///
/// # Safety
/// It is a live pair of RSA's, and outlives them.
unsafe fn numbers_of(pair: *const ffi::EVP_PKEY) -> [*const ffi::BIGNUM; RSA_NUMBERS] {
    let mut numbers = [ptr::null(); RSA_NUMBERS];
    let [n, e, d, p, q, d_p, d_q, q_inverse] = &mut numbers;
    // SAFETY: as promised by the caller.
    unsafe {
        let rsa = ffi::EVP_PKEY_get0_RSA(pair);
        ffi::RSA_get0_key(rsa, n, e, d);
        ffi::RSA_get0_factors(rsa, p, q);
        ffi::RSA_get0_crt_params(rsa, d_p, d_q, q_inverse);
    }
    numbers
}

fn number(digits: &[u8]) -> Result<Owned<ffi::BIGNUM>, Error> {
    // SAFETY: as long as is said; null asks for a new number.
    let number = unsafe { ffi::BN_bin2bn(digits.as_ptr(), digits.len(), ptr::null_mut()) };
    Owned::new(number, ffi::BN_clear_free)
}

/// Writes a number as big-endian digits.
///
/// # Safety
/// It is live.
unsafe fn write_number(number: *const ffi::BIGNUM, digits: &mut [u8]) -> Result<(), Error> {
    // SAFETY: as promised by the caller; the output is as long as is said.
    succeeded(unsafe { ffi::BN_bn2bin_padded(digits.as_mut_ptr(), digits.len(), number) })
}

/// Writes octets of a key by one of the library's functions that do.
fn write_octets(
    get: unsafe extern "C" fn(*const ffi::EVP_PKEY, *mut u8, *mut usize) -> c_int,
    key: &Key,
    output: &mut [u8],
) -> Result<(), Error> {
    let mut length = output.len();
    // SAFETY: the key is live; the output is as long as is said.
    succeeded(unsafe { get(key.0, output.as_mut_ptr(), &mut length) })?;
    whole(length, output.len())
}

/// A key of a curve's.
fn curve_key(pair: &Owned<ffi::EC_KEY>) -> Result<Key, Error> {
    // SAFETY: both are live; the key takes a share in the pair.
    unsafe {
        let key = made(ffi::EVP_PKEY_new())?;
        succeeded(ffi::EVP_PKEY_set1_EC_KEY(key.0, pair.0))?;
        Ok(key)
    }
}

/// What every session here has.
struct Open<'a> {
    scheme: Scheme,
    parts: Parts,
    jobs: &'a RawJobs<'a>,
}

// In all closures below: contexts and keys are live as long as the session, and the pointers of a job
// are valid for the lengths that `RawJobs` found.
impl Open<'_> {
    fn is_curve(&self) -> bool {
        matches!(self.scheme, Scheme::Curve(_))
    }

    /// Sets the padding of RSA, and which digest is signed.
    fn pad(&self, context: &Context) -> Result<(), Error> {
        let wide = self.parts.digest == Some(48);
        let digest = Functions::digest(if wide { Algorithm::Sha384 } else { Algorithm::Sha256 });
        // SAFETY: the context is live, the digest a constant.
        unsafe {
            if let Scheme::Rsa(_, padding) = self.scheme {
                succeeded(ffi::EVP_PKEY_CTX_set_rsa_padding(context.0, padding))?;
                if padding == ffi::RSA_PKCS1_PSS_PADDING {
                    let length = ffi::RSA_PSS_SALTLEN_DIGEST;
                    succeeded(ffi::EVP_PKEY_CTX_set_rsa_pss_saltlen(context.0, length))?;
                }
            }
            succeeded(ffi::EVP_PKEY_CTX_set_signature_md(context.0, digest))
        }
    }

    fn sign(&self, key: &Key, body: Body<'_>) -> Result<(), Error> {
        let (message, length) = (self.jobs.message, self.parts.signature);
        if self.parts.digest.is_none() {
            let context = digest_context()?;
            let sign = |job: &RawJob| {
                let mut written = length;
                // SAFETY: see above; nulls ask for no digest and no engine, and give nothing back.
                unsafe {
                    let (none, no_engine) = (ptr::null_mut(), ptr::null_mut());
                    let init = ffi::EVP_DigestSignInit;
                    succeeded(init(context.0, none, ptr::null(), no_engine, key.0))?;
                    let (tag, input) = (job.tag, job.input);
                    succeeded(ffi::EVP_DigestSign(context.0, tag, &mut written, input, message))?;
                }
                whole(written, length)
            };
            return each(self.jobs, sign, body);
        }
        let context = Context::of(key)?;
        // SAFETY: the context is live.
        succeeded(unsafe { ffi::EVP_PKEY_sign_init(context.0) })?;
        self.pad(&context)?;
        let on_curve = self.is_curve();
        let sign = |job: &RawJob| {
            let mut der = [0; MAX_DER];
            let (output, mut written) =
                if on_curve { (der.as_mut_ptr(), MAX_DER) } else { (job.tag, length) };
            // SAFETY: see above; `written` is the room there is.
            succeeded(unsafe {
                ffi::EVP_PKEY_sign(context.0, output, &mut written, job.input, message)
            })?;
            if on_curve {
                // SAFETY: the tag has the signature's length.
                let tag = unsafe { core::slice::from_raw_parts_mut(job.tag, length) };
                return from_der(der.get(..written).unwrap_or_default(), tag);
            }
            whole(written, length)
        };
        let period = if on_curve { 1 } else { BLINDING };
        body(&mut Submit { jobs: self.jobs, period, run: sign })
    }

    fn verify(&self, key: &Key, body: Body<'_>) -> Result<(), Error> {
        let (message, length) = (self.jobs.message, self.parts.signature);
        if self.parts.digest.is_none() {
            let context = digest_context()?;
            let verify = |job: &RawJob| {
                // SAFETY: see `sign`.
                succeeded(unsafe {
                    let (none, no_engine) = (ptr::null_mut(), ptr::null_mut());
                    let init = ffi::EVP_DigestVerifyInit;
                    succeeded(init(context.0, none, ptr::null(), no_engine, key.0))?;
                    ffi::EVP_DigestVerify(context.0, job.tag, length, job.input, message)
                })
                .or_else(refused)
            };
            return each(self.jobs, verify, body);
        }
        let context = Context::of(key)?;
        // SAFETY: the context is live.
        succeeded(unsafe { ffi::EVP_PKEY_verify_init(context.0) })?;
        self.pad(&context)?;
        let on_curve = self.is_curve();
        let verify = |job: &RawJob| {
            let mut der = [0; MAX_DER];
            let (signature, length) = if on_curve {
                // SAFETY: the tag has the signature's length.
                let tag = unsafe { core::slice::from_raw_parts(job.tag, length) };
                let length = to_der(tag, &mut der);
                (der.as_ptr(), length)
            } else {
                (job.tag.cast_const(), length)
            };
            // SAFETY: see above.
            succeeded(unsafe {
                ffi::EVP_PKEY_verify(context.0, signature, length, job.input, message)
            })
            .or_else(refused)
        };
        each(self.jobs, verify, body)
    }

    fn agree(&self, key: &Key, phase: Phase, body: Body<'_>) -> Result<(), Error> {
        let context = Context::of(key)?;
        // SAFETY: the context is live.
        succeeded(unsafe { ffi::EVP_PKEY_derive_init(context.0) })?;
        let length = self.parts.secret;
        let peer = |job: &RawJob| {
            // SAFETY: the input is a public key by its length.
            let public = unsafe { core::slice::from_raw_parts(job.input, self.parts.public) };
            let peer = self.scheme.public(public).or_else(refused)?;
            // SAFETY: both are live; the context takes a share in the peer.
            succeeded(unsafe { ffi::EVP_PKEY_derive_set_peer(context.0, peer.0) }).or_else(refused)
        };
        let derive = |job: &RawJob| {
            let mut written = length;
            // SAFETY: see above.
            succeeded(unsafe { ffi::EVP_PKEY_derive(context.0, job.output, &mut written) })
                .or_else(refused)?;
            whole(written, length)
        };
        if phase == Phase::Update {
            peer(self.jobs.job(0)?)?;
            return each(self.jobs, derive, body);
        }
        let both = |job: &RawJob| {
            peer(job)?;
            derive(job)
        };
        each(self.jobs, both, body)
    }

    fn encapsulate(&self, key: &Key, body: Body<'_>) -> Result<(), Error> {
        let context = Context::of(key)?;
        let encapsulate = |job: &RawJob| {
            let (mut tag, mut secret) = (self.parts.encapsulation, self.parts.secret);
            // SAFETY: see above.
            succeeded(unsafe {
                ffi::EVP_PKEY_encapsulate(context.0, job.tag, &mut tag, job.output, &mut secret)
            })?;
            whole(tag, self.parts.encapsulation)
        };
        each(self.jobs, encapsulate, body)
    }

    fn decapsulate(&self, key: &Key, body: Body<'_>) -> Result<(), Error> {
        let context = Context::of(key)?;
        let length = self.parts.encapsulation;
        let decapsulate = |job: &RawJob| {
            let mut secret = self.parts.secret;
            // SAFETY: see above.
            succeeded(unsafe {
                ffi::EVP_PKEY_decapsulate(context.0, job.output, &mut secret, job.tag, length)
            })?;
            whole(secret, self.parts.secret)
        };
        each(self.jobs, decapsulate, body)
    }

    fn generate(&self, body: Body<'_>) -> Result<(), Error> {
        let context = self.scheme.maker()?;
        let make = || {
            let mut pair = ptr::null_mut();
            // SAFETY: the context is live; a new pair is made where null is.
            succeeded(unsafe { ffi::EVP_PKEY_keygen(context.0, &mut pair) })?;
            made(pair)
        };
        let write =
            |pair: &_, private: &mut _, public: &mut _| self.scheme.write(pair, private, public);
        make_pairs(self.jobs, &self.parts, make, write, body)
    }
}

/// Something of the library's that is one's own.
struct Owned<T>(*mut T, unsafe extern "C" fn(*mut T));

impl<T> Owned<T> {
    /// Of what the library has just made, or could not make.
    fn new(made: *mut T, free: unsafe extern "C" fn(*mut T)) -> Result<Owned<T>, Error> {
        if made.is_null() { Err(failed()) } else { Ok(Owned(made, free)) }
    }
}

impl<T> Drop for Owned<T> {
    fn drop(&mut self) {
        // SAFETY: ours; nothing uses it afterwards.
        unsafe { self.1(self.0) }
    }
}

type Key = Owned<ffi::EVP_PKEY>;

/// A key that the library has just made, or could not make.
fn made(key: *mut ffi::EVP_PKEY) -> Result<Key, Error> {
    Owned::new(key, ffi::EVP_PKEY_free)
}

type Context = Owned<ffi::EVP_PKEY_CTX>;

impl Context {
    fn of(key: &Key) -> Result<Context, Error> {
        // SAFETY: the key is live; null is no engine.
        let context = unsafe { ffi::EVP_PKEY_CTX_new(key.0, ptr::null_mut()) };
        Owned::new(context, ffi::EVP_PKEY_CTX_free)
    }
}

fn digest_context() -> Result<Owned<ffi::EVP_MD_CTX>, Error> {
    // SAFETY: takes nothing.
    Owned::new(unsafe { ffi::EVP_MD_CTX_new() }, ffi::EVP_MD_CTX_free)
}

#[inline]
fn succeeded(status: c_int) -> Result<(), Error> {
    if status == 1 { Ok(()) } else { Err(failed()) }
}

#[cold]
fn failed() -> Error {
    Error::Device(Functions::last_error())
}
