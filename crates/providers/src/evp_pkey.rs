//! Sessions of algorithms with key pairs, through `EVP_PKEY` as in OpenSSL and the libraries that copied it.
//! Contexts are made once, as in `openssl speed`, and each operation signs, verifies, agrees, encapsulates or
//! makes a pair. Keys are read before the clock starts, except for the peer's key in an agreement. New pairs
//! are written out after the clock has stopped.

use crate::key_pairs::{BLINDING, MAX_DER, from_der, make_pairs, refused, to_der, whole};
use core::ffi::c_int;
use core::marker::PhantomData;
use core::ptr;
use cpb_core::Lengths;
use cpb_core::public_key::{Parts, parts};
use cpb_core::{Algorithm, CryptoWorkload, Error, Operation, Phase, Unsupported};
use cpb_session::Body;
use cpb_session::raw_jobs::{RawJob, RawJobs};
use cpb_session::submit::{Submit, agree, each};

/// A library's functions, with the library's own conventions: 1 is success.
pub(crate) trait EvpPkey: Sized {
    /// `EVP_PKEY`
    type Key;
    /// `EVP_PKEY_CTX`
    type KeyContext;
    /// `EVP_MD_CTX`
    type DigestContext;

    /// Returns the last error on this thread.
    fn failed() -> Error;

    unsafe fn key_free(key: *mut Self::Key);
    unsafe fn key_context_free(context: *mut Self::KeyContext);
    unsafe fn sign_init(context: *mut Self::KeyContext) -> c_int;
    unsafe fn sign(
        context: *mut Self::KeyContext,
        signature: *mut u8,
        signature_length: *mut usize,
        digest: *const u8,
        digest_length: usize,
    ) -> c_int;
    unsafe fn verify_init(context: *mut Self::KeyContext) -> c_int;
    unsafe fn verify(
        context: *mut Self::KeyContext,
        signature: *const u8,
        signature_length: usize,
        digest: *const u8,
        digest_length: usize,
    ) -> c_int;
    unsafe fn derive_init(context: *mut Self::KeyContext) -> c_int;
    /// The context keeps the peer.
    unsafe fn derive_set_peer(context: *mut Self::KeyContext, peer: *mut Self::Key) -> c_int;
    unsafe fn derive(context: *mut Self::KeyContext, secret: *mut u8, length: *mut usize) -> c_int;
    unsafe fn encapsulate_init(context: *mut Self::KeyContext) -> c_int;
    unsafe fn encapsulate(
        context: *mut Self::KeyContext,
        encapsulation: *mut u8,
        encapsulation_length: *mut usize,
        secret: *mut u8,
        secret_length: *mut usize,
    ) -> c_int;
    unsafe fn decapsulate_init(context: *mut Self::KeyContext) -> c_int;
    unsafe fn decapsulate(
        context: *mut Self::KeyContext,
        secret: *mut u8,
        secret_length: *mut usize,
        encapsulation: *const u8,
        encapsulation_length: usize,
    ) -> c_int;
    unsafe fn digest_context_new() -> *mut Self::DigestContext;
    unsafe fn digest_context_free(context: *mut Self::DigestContext);
    unsafe fn digest_sign(
        context: *mut Self::DigestContext,
        signature: *mut u8,
        signature_length: *mut usize,
        message: *const u8,
        message_length: usize,
    ) -> c_int;
    unsafe fn digest_verify(
        context: *mut Self::DigestContext,
        signature: *const u8,
        signature_length: usize,
        message: *const u8,
        message_length: usize,
    ) -> c_int;
}

/// How a library takes and returns keys of one algorithm, and which parameters their operations get.
pub(crate) trait Keys<P: EvpPkey> {
    /// Whether keys are points of a curve, and signatures are two numbers.
    fn is_curve(&self) -> bool;

    /// Reads a private key of the algorithm's length.
    fn private(&self, key: &[u8]) -> Result<Key<P>, Error>;

    /// Reads a public key of the algorithm's length.
    fn public(&self, key: &[u8]) -> Result<Key<P>, Error>;

    /// Writes both halves of a pair.
    fn write(&self, pair: &Key<P>, private: &mut [u8], public: &mut [u8]) -> Result<(), Error>;

    /// Returns a context that is ready to make pairs.
    fn maker(&self) -> Result<Context<P>, Error>;

    /// Makes a pair. `pair` points to null.
    ///
    /// # Safety
    /// The context comes from [`Keys::maker`].
    unsafe fn make(context: *mut P::KeyContext, pair: *mut *mut P::Key) -> c_int;

    /// Returns a context for using `key`.
    fn user(&self, key: &Key<P>) -> Result<Context<P>, Error>;

    /// Sets the padding of RSA, and the length of the digest that is signed.
    fn pad(
        &self,
        context: &Context<P>,
        padding: Option<Padding>,
        digest: Option<usize>,
    ) -> Result<(), Error>;

    /// Begins to sign a message that the algorithm hashes by itself.
    ///
    /// # Safety
    /// Both are live.
    unsafe fn begin_sign(context: *mut P::DigestContext, key: *mut P::Key) -> c_int;

    /// The same for verifying.
    ///
    /// # Safety
    /// Both are live.
    unsafe fn begin_verify(context: *mut P::DigestContext, key: *mut P::Key) -> c_int;
}

/// The padding of RSA signatures.
#[derive(Clone, Copy)]
pub(crate) enum Padding {
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

/// Opens a session for a workload with key pairs.
pub(crate) fn session<P: EvpPkey, K: Keys<P>>(
    names: &K,
    workload: &CryptoWorkload,
    keys: &[&[u8]],
    jobs: &RawJobs<'_>,
    body: Body<'_>,
) -> Result<(), Error> {
    let Lengths { key, .. } = workload.lengths();
    let parts = parts(workload.algorithm).ok_or(Unsupported::Algorithm)?;
    let algorithm = workload.algorithm;
    let session = Open { names, parts, jobs, algorithm, library: PhantomData::<P> };
    if workload.operation == Operation::GenerateKey {
        return session.generate(body);
    }
    let own = keys.first().filter(|own| own.len() == key).ok_or(Unsupported::Length)?;
    match workload.operation {
        Operation::Sign => session.sign(&names.private(own)?, body),
        // An invalid public key counts as a signature that does not verify.
        Operation::Verify => session.verify(&names.public(own).or_else(refused)?, body),
        Operation::KeyAgreement => session.agree(&names.private(own)?, workload.phase, body),
        Operation::Encapsulate => session.encapsulate(&names.public(own)?, body),
        _ => session.decapsulate(&names.private(own)?, body),
    }
}

/// What all sessions of this module share.
struct Open<'a, P: EvpPkey, K: Keys<P>> {
    names: &'a K,
    parts: Parts,
    jobs: &'a RawJobs<'a>,
    algorithm: Algorithm,
    library: PhantomData<P>,
}

// In all closures below: contexts and keys are live as long as the session, and the pointers of a job
// are valid for the lengths that `RawJobs` checked.
impl<P: EvpPkey, K: Keys<P>> Open<'_, P, K> {
    fn sign(&self, key: &Key<P>, body: Body<'_>) -> Result<(), Error> {
        let (message, length) = (self.jobs.message, self.parts.signature);
        if self.parts.digest.is_none() {
            let context = Digest::<P>::new()?;
            let sign = |job: &RawJob| {
                // SAFETY: both are live. A context signs once, and is then begun again.
                succeeded::<P>(unsafe { K::begin_sign(context.0, key.0) })?;
                let mut written = length;
                let (tag, input) = (job.tag, job.input);
                // SAFETY: see above.
                succeeded::<P>(unsafe {
                    P::digest_sign(context.0, tag, &mut written, input, message)
                })?;
                whole(written, length)
            };
            return each(self.jobs, sign, body);
        }
        let context = self.names.user(key)?;
        // SAFETY: the context is live.
        succeeded::<P>(unsafe { P::sign_init(context.0) })?;
        self.pad(&context)?;
        let on_curve = self.names.is_curve();
        let sign = |job: &RawJob| {
            let mut der = [0; MAX_DER];
            let (output, mut written) =
                if on_curve { (der.as_mut_ptr(), MAX_DER) } else { (job.tag, length) };
            // SAFETY: see above; `written` is the available room.
            succeeded::<P>(unsafe {
                P::sign(context.0, output, &mut written, job.input, message)
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

    fn verify(&self, key: &Key<P>, body: Body<'_>) -> Result<(), Error> {
        let (message, length) = (self.jobs.message, self.parts.signature);
        if self.parts.digest.is_none() {
            let context = Digest::<P>::new()?;
            let verify = |job: &RawJob| {
                // SAFETY: both are live. A context verifies once, and is then begun again.
                succeeded::<P>(unsafe { K::begin_verify(context.0, key.0) })?;
                // SAFETY: see above.
                verified::<P>(unsafe {
                    P::digest_verify(context.0, job.tag, length, job.input, message)
                })
            };
            return each(self.jobs, verify, body);
        }
        let context = self.names.user(key)?;
        // SAFETY: the context is live.
        succeeded::<P>(unsafe { P::verify_init(context.0) })?;
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
            verified::<P>(unsafe { P::verify(context.0, signature, length, job.input, message) })
        };
        each(self.jobs, verify, body)
    }

    fn pad(&self, context: &Context<P>) -> Result<(), Error> {
        self.names.pad(context, Padding::of(self.algorithm), self.parts.digest)
    }

    fn agree(&self, key: &Key<P>, phase: Phase, body: Body<'_>) -> Result<(), Error> {
        let context = self.names.user(key)?;
        // SAFETY: the context is live.
        succeeded::<P>(unsafe { P::derive_init(context.0) })?;
        let length = self.parts.secret;
        let peer = |job: &RawJob| {
            // SAFETY: the input has the length of a public key.
            let public = unsafe { core::slice::from_raw_parts(job.input, self.parts.public) };
            let peer = self.names.public(public).or_else(refused)?;
            // SAFETY: both are live; the context keeps the peer.
            succeeded::<P>(unsafe { P::derive_set_peer(context.0, peer.0) }).or_else(refused)
        };
        let derive = |job: &RawJob, (): &()| {
            let mut written = length;
            // SAFETY: see above.
            succeeded::<P>(unsafe { P::derive(context.0, job.output, &mut written) })
                .or_else(refused)?;
            whole(written, length)
        };
        agree(self.jobs, phase, peer, derive, body)
    }

    fn encapsulate(&self, key: &Key<P>, body: Body<'_>) -> Result<(), Error> {
        let context = self.names.user(key)?;
        // SAFETY: the context is live.
        succeeded::<P>(unsafe { P::encapsulate_init(context.0) })?;
        let encapsulate = |job: &RawJob| {
            let (mut tag, mut secret) = (self.parts.encapsulation, self.parts.secret);
            // SAFETY: see above.
            succeeded::<P>(unsafe {
                P::encapsulate(context.0, job.tag, &mut tag, job.output, &mut secret)
            })?;
            whole(tag, self.parts.encapsulation)
        };
        each(self.jobs, encapsulate, body)
    }

    fn decapsulate(&self, key: &Key<P>, body: Body<'_>) -> Result<(), Error> {
        let context = self.names.user(key)?;
        // SAFETY: the context is live.
        succeeded::<P>(unsafe { P::decapsulate_init(context.0) })?;
        let length = self.parts.encapsulation;
        let decapsulate = |job: &RawJob| {
            let mut secret = self.parts.secret;
            // SAFETY: see above.
            succeeded::<P>(unsafe {
                P::decapsulate(context.0, job.output, &mut secret, job.tag, length)
            })?;
            whole(secret, self.parts.secret)
        };
        each(self.jobs, decapsulate, body)
    }

    fn generate(&self, body: Body<'_>) -> Result<(), Error> {
        let context = self.names.maker()?;
        let make = || {
            let mut pair = ptr::null_mut();
            // SAFETY: the context is live; a null pair makes a new key.
            succeeded::<P>(unsafe { K::make(context.0, &mut pair) })?;
            Key::new(pair)
        };
        let write =
            |pair: &_, private: &mut _, public: &mut _| self.names.write(pair, private, public);
        make_pairs(self.jobs, &self.parts, make, write, body)
    }
}

/// 1 means that the signature verifies. Anything else means that it does not, or that it is not a signature.
fn verified<P: EvpPkey>(status: c_int) -> Result<(), Error> {
    if status == 1 {
        return Ok(());
    }
    P::failed();
    Err(Error::Refused)
}

/// An `EVP_PKEY` with one owner.
pub(crate) struct Key<P: EvpPkey>(pub(crate) *mut P::Key);

impl<P: EvpPkey> Key<P> {
    /// Takes what a function made. Returns an error if it is null.
    pub(crate) fn new(key: *mut P::Key) -> Result<Key<P>, Error> {
        if key.is_null() { Err(P::failed()) } else { Ok(Key(key)) }
    }
}

impl<P: EvpPkey> Drop for Key<P> {
    fn drop(&mut self) {
        // SAFETY: we own it, and nothing uses it afterwards.
        unsafe { P::key_free(self.0) }
    }
}

/// An `EVP_PKEY_CTX` with one owner.
pub(crate) struct Context<P: EvpPkey>(pub(crate) *mut P::KeyContext);

impl<P: EvpPkey> Context<P> {
    /// Takes what a function made. Returns an error if it is null.
    pub(crate) fn new(context: *mut P::KeyContext) -> Result<Context<P>, Error> {
        if context.is_null() { Err(P::failed()) } else { Ok(Context(context)) }
    }
}

impl<P: EvpPkey> Drop for Context<P> {
    fn drop(&mut self) {
        // SAFETY: we own it, and nothing uses it afterwards.
        unsafe { P::key_context_free(self.0) }
    }
}

/// An `EVP_MD_CTX` with one owner.
struct Digest<P: EvpPkey>(*mut P::DigestContext);

impl<P: EvpPkey> Digest<P> {
    fn new() -> Result<Digest<P>, Error> {
        // SAFETY: takes no arguments.
        let context = unsafe { P::digest_context_new() };
        if context.is_null() { Err(P::failed()) } else { Ok(Digest(context)) }
    }
}

impl<P: EvpPkey> Drop for Digest<P> {
    fn drop(&mut self) {
        // SAFETY: we own it, and nothing uses it afterwards.
        unsafe { P::digest_context_free(self.0) }
    }
}

/// 1 is success. Anything else is an error, whose code the library reports.
#[inline]
fn succeeded<P: EvpPkey>(status: c_int) -> Result<(), Error> {
    if status == 1 { Ok(()) } else { Err(P::failed()) }
}
