//! Sessions of algorithms with key pairs: contexts are made once, as `openssl speed` does, and each
//! operation signs, verifies, agrees, encapsulates or makes a pair.

pub(super) mod key;

use super::ffi::Libcrypto;
use super::{Source, ffi, last_error, succeeded};
use crate::key_pairs::{
    BLINDING, Body, MAX_DER, Submit, each, from_der, make_pairs, refused, to_der, whole,
};
use crate::raw_jobs::{RawJob, RawJobs};
use core::ffi::c_int;
use core::marker::PhantomData;
use core::ptr;
use cpb_core::Lengths;
use cpb_core::public_key::{Parts, parts};
use cpb_core::{Algorithm, CryptoWorkload, Error, Operation, Phase, Unsupported};
use key::{Key, Names};

/// How a library takes keys of one algorithm and gives them, and how it is told what to do with them.
pub(super) trait Keys<L: Libcrypto> {
    /// Whether keys are points of a curve, and signatures two numbers.
    fn is_curve(&self) -> bool;

    /// A private key of the algorithm's length.
    fn private(&self, key: &[u8]) -> Result<Key<L>, Error>;

    /// A public key of the algorithm's length.
    fn public(&self, key: &[u8]) -> Result<Key<L>, Error>;

    /// Both halves of a pair.
    fn write(&self, pair: &Key<L>, private: &mut [u8], public: &mut [u8]) -> Result<(), Error>;

    /// A context that has begun to make pairs.
    fn maker(&self) -> Result<Context<L>, Error>;

    /// Makes one; `pair` is null.
    ///
    /// # Safety
    /// The context is of [`Keys::maker`].
    unsafe fn make(context: *mut ffi::EVP_PKEY_CTX, pair: *mut *mut ffi::EVP_PKEY) -> c_int;

    /// A context for doing something with `key`.
    fn user(&self, key: &Key<L>) -> Result<Context<L>, Error>;

    /// The padding of RSA, and a digest of which length is signed.
    fn pad(
        &self,
        context: &Context<L>,
        padding: Option<Padding>,
        digest: Option<usize>,
    ) -> Result<(), Error>;

    /// Begins to sign what the algorithm hashes by itself.
    ///
    /// # Safety
    /// Both are live.
    unsafe fn begin_sign(context: *mut ffi::EVP_MD_CTX, key: *mut ffi::EVP_PKEY) -> c_int;

    /// The same of verifying.
    ///
    /// # Safety
    /// Both are live.
    unsafe fn begin_verify(context: *mut ffi::EVP_MD_CTX, key: *mut ffi::EVP_PKEY) -> c_int;
}

/// Of signatures with RSA.
#[derive(Clone, Copy)]
pub(super) enum Padding {
    Pkcs1,
    /// With a salt as long as the digest.
    Pss,
}

impl Padding {
    fn of(algorithm: Algorithm) -> Option<Padding> {
        match algorithm {
            Algorithm::Rsa2048Pkcs1 | Algorithm::Rsa3072Pkcs1 | Algorithm::Rsa4096Pkcs1 => {
                Some(Padding::Pkcs1)
            }
            Algorithm::Rsa2048Pss | Algorithm::Rsa3072Pss | Algorithm::Rsa4096Pss => {
                Some(Padding::Pss)
            }
            _ => None,
        }
    }
}

/// Opens a session of a library that has providers.
pub(super) fn session<L: Libcrypto>(
    source: Source<L>,
    workload: &CryptoWorkload,
    keys: &[&[u8]],
    jobs: &RawJobs<'_>,
    body: Body<'_>,
) -> Result<(), Error> {
    let names = Names::of(source, workload.algorithm).ok_or(Unsupported::Algorithm)?;
    session_with(names, workload, keys, jobs, body)
}

/// Opens a session with keys that come and go in their own way.
pub(super) fn session_with<L: Libcrypto, K: Keys<L>>(
    names: K,
    workload: &CryptoWorkload,
    keys: &[&[u8]],
    jobs: &RawJobs<'_>,
    body: Body<'_>,
) -> Result<(), Error> {
    let Lengths { key, .. } = workload.lengths();
    let parts = parts(workload.algorithm).ok_or(Unsupported::Algorithm)?;
    let algorithm = workload.algorithm;
    let session = Open { names: &names, parts, jobs, algorithm, library: PhantomData };
    if workload.operation == Operation::GenerateKey {
        return session.generate(body);
    }
    let own = keys.first().filter(|own| own.len() == key).ok_or(Unsupported::Length)?;
    match workload.operation {
        Operation::Sign => session.sign(&names.private(own)?, body),
        // A public key that is none is a signature that does not fit.
        Operation::Verify => session.verify(&names.public(own).or_else(refused)?, body),
        Operation::KeyAgreement => session.agree(&names.private(own)?, workload.phase, body),
        Operation::Encapsulate => session.encapsulate(&names.public(own)?, body),
        _ => session.decapsulate(&names.private(own)?, body),
    }
}

/// Whether a library that has providers has an algorithm.
pub(super) fn is_here<L: Libcrypto>(source: Source<L>, algorithm: Algorithm) -> bool {
    Names::of(source, algorithm).is_some_and(|names| names.context().is_ok())
}

/// What every session here has.
struct Open<'a, L: Libcrypto, K: Keys<L>> {
    names: &'a K,
    parts: Parts,
    jobs: &'a RawJobs<'a>,
    algorithm: Algorithm,
    library: PhantomData<L>,
}

// In all closures below: contexts and keys are live as long as the session, and the pointers of a job
// are valid for the lengths that `RawJobs` found.
impl<L: Libcrypto, K: Keys<L>> Open<'_, L, K> {
    fn sign(&self, key: &Key<L>, body: Body<'_>) -> Result<(), Error> {
        let (message, length) = (self.jobs.message, self.parts.signature);
        if self.parts.digest.is_none() {
            let context = Digest::<L>::new()?;
            let sign = |job: &RawJob| {
                // SAFETY: both are live. A context signs once, and is then begun again.
                succeeded::<L>(unsafe { K::begin_sign(context.0, key.0) })?;
                let mut written = length;
                let (tag, input) = (job.tag, job.input);
                // SAFETY: see above.
                succeeded::<L>(unsafe {
                    L::EVP_DigestSign(context.0, tag, &mut written, input, message)
                })?;
                whole(written, length)
            };
            return each(self.jobs, sign, body);
        }
        let context = self.names.user(key)?;
        // SAFETY: the context is live.
        succeeded::<L>(unsafe { L::EVP_PKEY_sign_init(context.0) })?;
        self.pad(&context)?;
        let on_curve = self.names.is_curve();
        let sign = |job: &RawJob| {
            let mut der = [0; MAX_DER];
            let (output, mut written) =
                if on_curve { (der.as_mut_ptr(), MAX_DER) } else { (job.tag, length) };
            // SAFETY: see above; `written` is the room there is.
            succeeded::<L>(unsafe {
                L::EVP_PKEY_sign(context.0, output, &mut written, job.input, message)
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

    fn verify(&self, key: &Key<L>, body: Body<'_>) -> Result<(), Error> {
        let (message, length) = (self.jobs.message, self.parts.signature);
        if self.parts.digest.is_none() {
            let context = Digest::<L>::new()?;
            let verify = |job: &RawJob| {
                // SAFETY: both are live. A context verifies once, and is then begun again.
                succeeded::<L>(unsafe { K::begin_verify(context.0, key.0) })?;
                // SAFETY: see above.
                verified::<L>(unsafe {
                    L::EVP_DigestVerify(context.0, job.tag, length, job.input, message)
                })
            };
            return each(self.jobs, verify, body);
        }
        let context = self.names.user(key)?;
        // SAFETY: the context is live.
        succeeded::<L>(unsafe { L::EVP_PKEY_verify_init(context.0) })?;
        self.pad(&context)?;
        let on_curve = self.names.is_curve();
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
            verified::<L>(unsafe {
                L::EVP_PKEY_verify(context.0, signature, length, job.input, message)
            })
        };
        each(self.jobs, verify, body)
    }

    fn pad(&self, context: &Context<L>) -> Result<(), Error> {
        self.names.pad(context, Padding::of(self.algorithm), self.parts.digest)
    }

    fn agree(&self, key: &Key<L>, phase: Phase, body: Body<'_>) -> Result<(), Error> {
        let context = self.names.user(key)?;
        // SAFETY: the context is live.
        succeeded::<L>(unsafe { L::EVP_PKEY_derive_init(context.0) })?;
        let length = self.parts.secret;
        let peer = |job: &RawJob| {
            // SAFETY: the input is a public key by its length.
            let public = unsafe { core::slice::from_raw_parts(job.input, self.parts.public) };
            let peer = self.names.public(public).or_else(refused)?;
            // SAFETY: both are live; the context keeps the peer.
            succeeded::<L>(unsafe { L::EVP_PKEY_derive_set_peer(context.0, peer.0) })
                .or_else(refused)
        };
        let derive = |job: &RawJob| {
            let mut written = length;
            // SAFETY: see above.
            succeeded::<L>(unsafe { L::EVP_PKEY_derive(context.0, job.output, &mut written) })
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

    fn encapsulate(&self, key: &Key<L>, body: Body<'_>) -> Result<(), Error> {
        let context = self.names.user(key)?;
        // SAFETY: the context is live; null: no parameters.
        succeeded::<L>(unsafe { L::EVP_PKEY_encapsulate_init(context.0, ptr::null()) })?;
        let encapsulate = |job: &RawJob| {
            let (mut tag, mut secret) = (self.parts.encapsulation, self.parts.secret);
            // SAFETY: see above.
            succeeded::<L>(unsafe {
                L::EVP_PKEY_encapsulate(context.0, job.tag, &mut tag, job.output, &mut secret)
            })?;
            whole(tag, self.parts.encapsulation)
        };
        each(self.jobs, encapsulate, body)
    }

    fn decapsulate(&self, key: &Key<L>, body: Body<'_>) -> Result<(), Error> {
        let context = self.names.user(key)?;
        // SAFETY: the context is live; null: no parameters.
        succeeded::<L>(unsafe { L::EVP_PKEY_decapsulate_init(context.0, ptr::null()) })?;
        let length = self.parts.encapsulation;
        let decapsulate = |job: &RawJob| {
            let mut secret = self.parts.secret;
            // SAFETY: see above.
            succeeded::<L>(unsafe {
                L::EVP_PKEY_decapsulate(context.0, job.output, &mut secret, job.tag, length)
            })?;
            whole(secret, self.parts.secret)
        };
        each(self.jobs, decapsulate, body)
    }

    fn generate(&self, body: Body<'_>) -> Result<(), Error> {
        let context = self.names.maker()?;
        let make = || {
            let mut pair = ptr::null_mut();
            // SAFETY: the context is live; a new key is made where null is.
            succeeded::<L>(unsafe { K::make(context.0, &mut pair) })?;
            Ok(Key(pair, PhantomData))
        };
        let write =
            |pair: &_, private: &mut _, public: &mut _| self.names.write(pair, private, public);
        make_pairs(self.jobs, &self.parts, make, write, body)
    }
}

/// 1: it fits. Anything else: it does not, or is no signature at all.
fn verified<L: Libcrypto>(status: c_int) -> Result<(), Error> {
    if status == 1 {
        return Ok(());
    }
    last_error::<L>();
    Err(Error::Refused)
}

/// An `EVP_PKEY_CTX` of one's own.
pub(super) struct Context<L: Libcrypto>(pub(super) *mut ffi::EVP_PKEY_CTX, PhantomData<L>);

impl<L: Libcrypto> Context<L> {
    /// Takes what a function made: null where it failed.
    pub(super) fn new(context: *mut ffi::EVP_PKEY_CTX) -> Result<Context<L>, Error> {
        if context.is_null() { Err(last_error::<L>()) } else { Ok(Context(context, PhantomData)) }
    }
}

impl<L: Libcrypto> Drop for Context<L> {
    fn drop(&mut self) {
        // SAFETY: ours; nothing uses it afterwards.
        unsafe { L::EVP_PKEY_CTX_free(self.0) }
    }
}

/// An `EVP_MD_CTX` of one's own.
struct Digest<L: Libcrypto>(*mut ffi::EVP_MD_CTX, PhantomData<L>);

impl<L: Libcrypto> Digest<L> {
    fn new() -> Result<Digest<L>, Error> {
        // SAFETY: takes nothing.
        let context = unsafe { L::EVP_MD_CTX_new() };
        if context.is_null() { Err(last_error::<L>()) } else { Ok(Digest(context, PhantomData)) }
    }
}

impl<L: Libcrypto> Drop for Digest<L> {
    fn drop(&mut self) {
        // SAFETY: ours; nothing uses it afterwards.
        unsafe { L::EVP_MD_CTX_free(self.0) }
    }
}
