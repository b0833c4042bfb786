//! Sessions of libraries with the EVP interface of OpenSSL 1.0: each cipher and digest is returned by a
//! function named after it, and HMAC and CMAC are separate, each with its own contexts.

use core::ffi::{c_int, c_uint, c_void};
use core::ptr;
use cpb_core::{Algorithm, CryptoWorkload, Error, Job, Kind, Phase, Session, Unsupported};
use cpb_session::context::{Context, Lengths, run};
use cpb_session::lengths::keys_fit;
use cpb_session::raw_jobs::{RawJob, RawJobs, software_supports};

// openssl/evp.h; the libraries that copied the interface copied the numbers.
const SET_IV_LENGTH: c_int = 0x9;
const GET_TAG: c_int = 0x10;
const SET_TAG: c_int = 0x11;

/// A library's functions, with the library's own conventions: 1 is success.
pub(crate) trait Evp: 'static {
    /// `EVP_CIPHER`
    type Cipher;
    /// `EVP_CIPHER_CTX`
    type CipherContext;
    /// `EVP_MD`
    type Digest;
    /// `EVP_MD_CTX`
    type DigestContext;
    /// `HMAC_CTX`
    type Hmac;
    /// `CMAC_CTX`
    type Cmac;

    /// Returns the cipher of an algorithm; for a CMAC, the cipher that it is based on. Null for
    /// other algorithms, and if the library lacks it.
    fn cipher(algorithm: Algorithm) -> *const Self::Cipher;
    /// Returns the digest of an algorithm; for an HMAC, the digest that it is based on. Null for
    /// other algorithms, and if the library lacks it.
    fn digest(algorithm: Algorithm) -> *const Self::Digest;
    /// Takes the code of the last error on this thread.
    fn last_error() -> i32;

    unsafe fn cipher_new() -> *mut Self::CipherContext;
    unsafe fn cipher_free(context: *mut Self::CipherContext);
    /// Null keeps what is set already, and so does -1 for the direction (1: encrypt).
    unsafe fn cipher_init(
        context: *mut Self::CipherContext,
        cipher: *const Self::Cipher,
        key: *const u8,
        iv: *const u8,
        encrypt: c_int,
    ) -> c_int;
    unsafe fn cipher_set_padding(context: *mut Self::CipherContext, padding: c_int) -> c_int;
    unsafe fn cipher_control(
        context: *mut Self::CipherContext,
        what: c_int,
        length: c_int,
        value: *mut c_void,
    ) -> c_int;
    /// A null output means associated data.
    unsafe fn cipher_update(
        context: *mut Self::CipherContext,
        output: *mut u8,
        written: *mut c_int,
        input: *const u8,
        length: c_int,
    ) -> c_int;
    unsafe fn cipher_final(
        context: *mut Self::CipherContext,
        output: *mut u8,
        written: *mut c_int,
    ) -> c_int;

    unsafe fn digest_new() -> *mut Self::DigestContext;
    unsafe fn digest_free(context: *mut Self::DigestContext);
    unsafe fn digest_init(context: *mut Self::DigestContext, digest: *const Self::Digest) -> c_int;
    unsafe fn digest_update(
        context: *mut Self::DigestContext,
        input: *const c_void,
        length: usize,
    ) -> c_int;
    unsafe fn digest_final(
        context: *mut Self::DigestContext,
        output: *mut u8,
        written: *mut c_uint,
    ) -> c_int;

    unsafe fn hmac_new() -> *mut Self::Hmac;
    unsafe fn hmac_free(context: *mut Self::Hmac);
    /// A null key and a null digest keep those that are set already.
    unsafe fn hmac_init(
        context: *mut Self::Hmac,
        key: *const c_void,
        length: usize,
        digest: *const Self::Digest,
    ) -> c_int;
    unsafe fn hmac_update(context: *mut Self::Hmac, input: *const u8, length: usize) -> c_int;
    unsafe fn hmac_final(context: *mut Self::Hmac, output: *mut u8, written: *mut c_uint) -> c_int;

    unsafe fn cmac_new() -> *mut Self::Cmac;
    unsafe fn cmac_free(context: *mut Self::Cmac);
    unsafe fn cmac_init(
        context: *mut Self::Cmac,
        key: *const c_void,
        length: usize,
        cipher: *const Self::Cipher,
    ) -> c_int;
    /// Begins a message with the key that is set already.
    unsafe fn cmac_reset(context: *mut Self::Cmac) -> c_int;
    unsafe fn cmac_update(context: *mut Self::Cmac, input: *const u8, length: usize) -> c_int;
    unsafe fn cmac_final(context: *mut Self::Cmac, output: *mut u8, written: *mut usize) -> c_int;
}

/// Implements functions of [`Evp`] with a library's own, whose lengths may have another type. All lengths are
/// below `MAX_MESSAGE`.
macro_rules! forward {
    ($(fn $name:ident($($argument:ident: $type:ty),*) $(-> $result:ty)? = $function:path;)+) => {$(
        #[inline(always)]
        unsafe fn $name($($argument: $type),*) $(-> $result)? {
            // SAFETY: as promised by the caller.
            unsafe { $function($($argument as _),*) }
        }
    )+};
}
pub(crate) use forward;

/// Whether the library has what a workload asks for.
pub(crate) fn supports<E: Evp>(workload: &CryptoWorkload) -> Result<(), Unsupported> {
    software_supports(workload)?;
    let algorithm = workload.algorithm;
    let there = match algorithm.shape().kind {
        Kind::BlockCipher | Kind::StreamCipher | Kind::SectorCipher | Kind::Aead => {
            !E::cipher(algorithm).is_null()
        }
        Kind::Hash => !E::digest(algorithm).is_null(),
        Kind::Mac => !E::cipher(algorithm).is_null() || !E::digest(algorithm).is_null(),
        _ => false,
    };
    if there { Ok(()) } else { Err(Unsupported::Algorithm) }
}

/// Opens a session for a workload that is supported, as [`cpb_core::Provider::session`] does.
pub(crate) fn session<E: Evp>(
    workload: &CryptoWorkload,
    keys: &[&[u8]],
    jobs: &mut [Job<'_>],
    body: &mut dyn FnMut(&mut dyn Session) -> Result<(), Error>,
) -> Result<(), Error> {
    keys_fit(workload.algorithm, keys)?;
    let jobs = RawJobs::new(workload, keys, jobs)?;
    let algorithm = workload.algorithm;
    let (cipher, digest) = (E::cipher(algorithm), E::digest(algorithm));
    match algorithm.shape().kind {
        Kind::Hash => run(Digest::<E>::open(workload, digest)?, workload, keys, &jobs, body),
        Kind::Mac if cipher.is_null() => {
            run(Hmac::<E>::open(workload, digest)?, workload, keys, &jobs, body)
        }
        Kind::Mac => run(Cmac::<E>::open(workload, cipher)?, workload, keys, &jobs, body),
        _ => run(Cipher::<E>::open(workload, cipher)?, workload, keys, &jobs, body),
    }
}

#[inline]
fn succeeded<E: Evp>(status: c_int) -> Result<(), Error> {
    if status == 1 { Ok(()) } else { Err(failed::<E>()) }
}

#[cold]
fn failed<E: Evp>() -> Error {
    Error::Device(E::last_error())
}

// SAFETY of all calls below: contexts are live, and what they were opened with lives as long as the library.
// The job's pointers are valid for the session's lengths, and a block mode writes nothing at the end of a
// message when padding is off.

struct Cipher<E: Evp> {
    context: *mut E::CipherContext,
    /// A key that is to be set together with its IV, in one call, as applications do; null if no key
    /// is pending.
    key: *const u8,
    /// Whether a key comes with each message.
    keys: bool,
    /// Whether the library needs a message's length before the message, and ends with the message: CCM.
    length_first: bool,
    iv: usize,
    lengths: Lengths,
}

impl<E: Evp> Cipher<E> {
    fn open(workload: &CryptoWorkload, cipher: *const E::Cipher) -> Result<Self, Error> {
        let shape = workload.algorithm.shape();
        let cipher_context = Cipher::<E> {
            // SAFETY: takes no arguments.
            context: unsafe { E::cipher_new() },
            key: ptr::null(),
            keys: workload.phase == Phase::MessageWithKey,
            length_first: shape.kind == Kind::Aead && !workload.algorithm.goes_on(),
            iv: shape.iv,
            lengths: Lengths::of(workload),
        };
        let (context, nothing) = (cipher_context.context, ptr::null());
        if context.is_null() {
            return Err(failed::<E>());
        }
        let encrypt = c_int::from(!cipher_context.lengths.decrypts);
        // SAFETY: as above; without a value only the length is set.
        unsafe {
            succeeded::<E>(E::cipher_init(context, cipher, nothing, nothing, encrypt))?;
            if cipher_context.length_first {
                for (what, length) in [(SET_IV_LENGTH, shape.iv), (SET_TAG, shape.tag)] {
                    let set = E::cipher_control(context, what, length as c_int, ptr::null_mut());
                    succeeded::<E>(set)?;
                }
            }
            // Some libraries do this but return no status.
            E::cipher_set_padding(context, 0);
        }
        Ok(cipher_context)
    }

    /// Begins with this key and IV.
    ///
    /// # Safety
    /// Each is null or has the algorithm's length.
    #[inline]
    unsafe fn start(&self, key: *const u8, iv: *const u8) -> Result<(), Error> {
        // SAFETY: as above, and as promised by the caller.
        succeeded::<E>(unsafe { E::cipher_init(self.context, ptr::null(), key, iv, -1) })
    }

    #[inline]
    fn update(&self, output: *mut u8, input: *const u8, length: usize) -> c_int {
        let mut written = 0;
        // SAFETY: as above.
        unsafe { E::cipher_update(self.context, output, &mut written, input, length as c_int) }
    }

    #[inline]
    fn tag(&self, what: c_int, tag: *mut u8) -> Result<(), Error> {
        let length = self.lengths.tag as c_int;
        // SAFETY: as above.
        succeeded::<E>(unsafe { E::cipher_control(self.context, what, length, tag.cast()) })
    }
}

impl<E: Evp> Context for Cipher<E> {
    #[inline]
    fn key(&mut self, key: &[u8]) -> Result<(), Error> {
        if self.keys {
            self.key = key.as_ptr();
            return Ok(());
        }
        // SAFETY: the key has the algorithm's length.
        unsafe { self.start(key.as_ptr(), ptr::null()) }
    }

    #[inline]
    fn begin(&mut self, job: &RawJob) -> Result<(), Error> {
        let iv = if self.iv == 0 { ptr::null() } else { job.iv };
        let key = core::mem::replace(&mut self.key, ptr::null());
        // SAFETY: as above; keys live as long as the session.
        unsafe { self.start(key, iv)? };
        if self.length_first {
            if self.lengths.decrypts {
                self.tag(SET_TAG, job.tag)?;
            }
            succeeded::<E>(self.update(ptr::null_mut(), ptr::null(), self.lengths.message))?;
        }
        if self.lengths.associated > 0 {
            let associated = self.lengths.associated;
            succeeded::<E>(self.update(ptr::null_mut(), job.associated, associated))?;
        }
        Ok(())
    }

    #[inline]
    fn part(&mut self, job: &RawJob) -> Result<(), Error> {
        // If the length comes first, an empty message has a tag as well.
        if self.lengths.message == 0 && !self.length_first {
            return Ok(());
        }
        let status = self.update(job.output, job.input, self.lengths.message);
        if status != 1 && self.length_first && self.lengths.decrypts {
            E::last_error();
            return Err(Error::Refused);
        }
        succeeded::<E>(status)
    }

    #[inline]
    fn end(&mut self, job: &RawJob) -> Result<(), Error> {
        let verifies = self.lengths.decrypts && self.lengths.tag > 0;
        if !self.length_first {
            if verifies {
                self.tag(SET_TAG, job.tag)?;
            }
            let (mut written, end) = (0, job.output.wrapping_add(self.lengths.message));
            // SAFETY: as above.
            let status = unsafe { E::cipher_final(self.context, end, &mut written) };
            if status != 1 && verifies {
                E::last_error();
                return Err(Error::Refused);
            }
            succeeded::<E>(status)?;
        }
        if self.lengths.tag > 0 && !self.lengths.decrypts {
            self.tag(GET_TAG, job.tag)?;
        }
        Ok(())
    }
}

impl<E: Evp> Drop for Cipher<E> {
    fn drop(&mut self) {
        // SAFETY: we own it, null is allowed, and nothing uses it afterwards.
        unsafe { E::cipher_free(self.context) };
    }
}

struct Digest<E: Evp> {
    context: *mut E::DigestContext,
    digest: *const E::Digest,
    lengths: Lengths,
}

impl<E: Evp> Digest<E> {
    fn open(workload: &CryptoWorkload, digest: *const E::Digest) -> Result<Self, Error> {
        // SAFETY: takes no arguments.
        let context = unsafe { E::digest_new() };
        if context.is_null() {
            return Err(failed::<E>());
        }
        Ok(Digest { context, digest, lengths: Lengths::of(workload) })
    }
}

impl<E: Evp> Context for Digest<E> {
    #[inline]
    fn begin(&mut self, _job: &RawJob) -> Result<(), Error> {
        // SAFETY: as above.
        succeeded::<E>(unsafe { E::digest_init(self.context, self.digest) })
    }

    #[inline]
    fn part(&mut self, job: &RawJob) -> Result<(), Error> {
        let (input, length) = (job.input.cast(), self.lengths.message);
        // SAFETY: as above.
        succeeded::<E>(unsafe { E::digest_update(self.context, input, length) })
    }

    #[inline]
    fn end(&mut self, job: &RawJob) -> Result<(), Error> {
        let mut written = 0;
        // SAFETY: as above; the output has the digest's length.
        succeeded::<E>(unsafe { E::digest_final(self.context, job.output, &mut written) })
    }
}

impl<E: Evp> Drop for Digest<E> {
    fn drop(&mut self) {
        // SAFETY: we own it, and nothing uses it afterwards.
        unsafe { E::digest_free(self.context) };
    }
}

struct Hmac<E: Evp> {
    context: *mut E::Hmac,
    digest: *const E::Digest,
    /// A message has begun, with its key.
    begun: bool,
    lengths: Lengths,
}

impl<E: Evp> Hmac<E> {
    fn open(workload: &CryptoWorkload, digest: *const E::Digest) -> Result<Self, Error> {
        // SAFETY: takes no arguments.
        let context = unsafe { E::hmac_new() };
        if context.is_null() {
            return Err(failed::<E>());
        }
        Ok(Hmac { context, digest, begun: false, lengths: Lengths::of(workload) })
    }
}

impl<E: Evp> Context for Hmac<E> {
    #[inline]
    fn key(&mut self, key: &[u8]) -> Result<(), Error> {
        self.begun = true;
        let (bytes, length) = (key.as_ptr().cast(), key.len());
        // SAFETY: as above; the key is read during the call.
        succeeded::<E>(unsafe { E::hmac_init(self.context, bytes, length, self.digest) })
    }

    #[inline]
    fn begin(&mut self, _job: &RawJob) -> Result<(), Error> {
        if core::mem::take(&mut self.begun) {
            return Ok(());
        }
        // SAFETY: as above.
        succeeded::<E>(unsafe { E::hmac_init(self.context, ptr::null(), 0, ptr::null()) })
    }

    #[inline]
    fn part(&mut self, job: &RawJob) -> Result<(), Error> {
        // SAFETY: as above.
        succeeded::<E>(unsafe { E::hmac_update(self.context, job.input, self.lengths.message) })
    }

    #[inline]
    fn end(&mut self, job: &RawJob) -> Result<(), Error> {
        let mut written = 0;
        // SAFETY: as above; the output has the digest's length.
        succeeded::<E>(unsafe { E::hmac_final(self.context, job.output, &mut written) })
    }
}

impl<E: Evp> Drop for Hmac<E> {
    fn drop(&mut self) {
        // SAFETY: we own it, and nothing uses it afterwards.
        unsafe { E::hmac_free(self.context) };
    }
}

struct Cmac<E: Evp> {
    context: *mut E::Cmac,
    cipher: *const E::Cipher,
    /// A message has begun, with its key.
    begun: bool,
    lengths: Lengths,
}

impl<E: Evp> Cmac<E> {
    fn open(workload: &CryptoWorkload, cipher: *const E::Cipher) -> Result<Self, Error> {
        // SAFETY: takes no arguments.
        let context = unsafe { E::cmac_new() };
        if context.is_null() {
            return Err(failed::<E>());
        }
        Ok(Cmac { context, cipher, begun: false, lengths: Lengths::of(workload) })
    }
}

impl<E: Evp> Context for Cmac<E> {
    #[inline]
    fn key(&mut self, key: &[u8]) -> Result<(), Error> {
        self.begun = true;
        let (bytes, length) = (key.as_ptr().cast(), key.len());
        // SAFETY: as above; the key is read during the call.
        succeeded::<E>(unsafe { E::cmac_init(self.context, bytes, length, self.cipher) })
    }

    #[inline]
    fn begin(&mut self, _job: &RawJob) -> Result<(), Error> {
        if core::mem::take(&mut self.begun) {
            return Ok(());
        }
        // SAFETY: as above.
        succeeded::<E>(unsafe { E::cmac_reset(self.context) })
    }

    #[inline]
    fn part(&mut self, job: &RawJob) -> Result<(), Error> {
        // SAFETY: as above.
        succeeded::<E>(unsafe { E::cmac_update(self.context, job.input, self.lengths.message) })
    }

    #[inline]
    fn end(&mut self, job: &RawJob) -> Result<(), Error> {
        let mut written = self.lengths.digest;
        // SAFETY: as above; the output has the MAC's length.
        succeeded::<E>(unsafe { E::cmac_final(self.context, job.output, &mut written) })
    }
}

impl<E: Evp> Drop for Cmac<E> {
    fn drop(&mut self) {
        // SAFETY: we own it, and nothing uses it afterwards.
        unsafe { E::cmac_free(self.context) };
    }
}
