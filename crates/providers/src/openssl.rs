//! OpenSSL's libcrypto through its EVP interface: the one that cpb was linked with (`linked.rs`), and
//! the one that is installed here (`system.rs`). Sessions are the same for both; which of them they
//! call is known when they are compiled.

pub(crate) mod ffi;
mod generator;
#[cfg(feature = "openssl")]
pub(crate) mod linked;
pub(crate) mod system;

use crate::lengths::keys_fit;
use crate::raw_jobs::{RawJob, RawJobs};
use core::ffi::{CStr, c_char, c_int};
use core::marker::PhantomData;
use core::ptr;
use cpb_core::{
    Algorithm, CryptoWorkload, Error, Job, Kind, Operation, Phase, Progress, Session, Unsupported,
};
use ffi::Libcrypto;
use generator::GeneratorSession;

/// Where a session gets its implementations of algorithms.
#[derive(Clone, Copy)]
struct Source<L: Libcrypto> {
    library: PhantomData<L>,
    /// What a fetched implementation must have, as EVP_set_default_properties(7) spells it.
    properties: Option<&'static CStr>,
    /// The engine that must have it; null for the library's own.
    engine: *mut ffi::ENGINE,
    /// Whether ciphers and digests are found by name: before OpenSSL 3, and for engines.
    by_name: bool,
}

impl<L: Libcrypto> Source<L> {
    /// What the library would take itself.
    fn new() -> Self {
        Source { library: PhantomData, properties: None, engine: ptr::null_mut(), by_name: false }
    }

    fn properties(&self) -> *const c_char {
        self.properties.map_or(ptr::null(), CStr::as_ptr)
    }

    /// Null where the library has none of that name.
    fn cipher(&self, name: &CStr) -> *mut ffi::EVP_CIPHER {
        // SAFETY: C strings; no context is the default one. What is found by name lives for ever, and
        // freeing it does nothing.
        unsafe {
            match self.by_name {
                true => L::EVP_get_cipherbyname(name.as_ptr()).cast_mut(),
                false => L::EVP_CIPHER_fetch(ptr::null_mut(), name.as_ptr(), self.properties()),
            }
        }
    }

    /// Null where the library has none of that name.
    fn digest(&self, name: &CStr) -> *mut ffi::EVP_MD {
        // SAFETY: as above.
        unsafe {
            match self.by_name {
                true => L::EVP_get_digestbyname(name.as_ptr()).cast_mut(),
                false => L::EVP_MD_fetch(ptr::null_mut(), name.as_ptr(), self.properties()),
            }
        }
    }

    /// Null where the library has none of that name.
    fn mac(&self, name: &CStr) -> *mut ffi::EVP_MAC {
        // SAFETY: as above.
        unsafe { L::EVP_MAC_fetch(ptr::null_mut(), name.as_ptr(), self.properties()) }
    }

    /// Whether the library has an algorithm: builds leave out Camellia and what is broken. Of a MAC it is
    /// asked for its kind, of a generator for what feeds it.
    fn has(&self, algorithm: Algorithm) -> bool {
        let name = evp_name(algorithm);
        // SAFETY: names are C strings; what was fetched is freed, and null is allowed.
        let found = unsafe {
            match algorithm.shape().kind {
                Kind::BlockCipher | Kind::StreamCipher | Kind::SectorCipher | Kind::Aead => {
                    let cipher = self.cipher(name);
                    L::EVP_CIPHER_free(cipher);
                    !cipher.is_null()
                }
                Kind::Hash => {
                    let digest = self.digest(name);
                    L::EVP_MD_free(digest);
                    !digest.is_null()
                }
                Kind::Mac => {
                    let mac = self.mac(mac_name(algorithm).0);
                    L::EVP_MAC_free(mac);
                    !mac.is_null()
                }
                Kind::Generator => {
                    let name = c"TEST-RAND".as_ptr();
                    let generator = L::EVP_RAND_fetch(ptr::null_mut(), name, self.properties());
                    L::EVP_RAND_free(generator);
                    !generator.is_null()
                }
                Kind::Copy => false,
            }
        };
        // Whoever asks next is to find his own errors.
        last_error::<L>();
        found
    }
}

/// Opens a session for a workload that is supported, as [`cpb_core::Provider::session`] does.
fn session<L: Libcrypto>(
    source: Source<L>,
    workload: &CryptoWorkload,
    keys: &[&[u8]],
    jobs: &mut [Job<'_>],
    body: &mut dyn FnMut(&mut dyn Session) -> Result<(), Error>,
) -> Result<(), Error> {
    keys_fit(workload.algorithm, keys)?;
    let jobs = RawJobs::new(workload, keys, jobs)?;
    let (algorithm, phase) = (workload.algorithm, workload.phase);
    match algorithm.shape().kind {
        Kind::BlockCipher | Kind::StreamCipher | Kind::SectorCipher | Kind::Aead => {
            body(&mut CipherSession::open(source, workload, keys, jobs)?)
        }
        Kind::Hash => body(&mut HashSession::open(source, algorithm, phase, jobs)?),
        Kind::Mac => body(&mut MacSession::open(source, algorithm, phase, keys, jobs)?),
        Kind::Generator => body(&mut GeneratorSession::open(source, algorithm, phase, keys, jobs)?),
        Kind::Copy => Err(Unsupported::Algorithm.into()),
    }
}

/// libcrypto's name of an algorithm (the digest's for an HMAC, the cipher's for a CMAC or a generator).
fn evp_name(algorithm: Algorithm) -> &'static CStr {
    match algorithm {
        Algorithm::Aes128Cbc | Algorithm::Aes128Cmac => c"AES-128-CBC",
        Algorithm::Aes192Cbc => c"AES-192-CBC",
        Algorithm::Aes256Cbc | Algorithm::Aes256Cmac => c"AES-256-CBC",
        Algorithm::Aes128Ecb => c"AES-128-ECB",
        Algorithm::Aes192Ecb => c"AES-192-ECB",
        Algorithm::Aes256Ecb => c"AES-256-ECB",
        Algorithm::Aes128Ctr => c"AES-128-CTR",
        Algorithm::Aes192Ctr => c"AES-192-CTR",
        Algorithm::Aes256Ctr | Algorithm::CtrDrbgAes256 => c"AES-256-CTR",
        Algorithm::Aes128Xts => c"AES-128-XTS",
        Algorithm::Aes256Xts => c"AES-256-XTS",
        Algorithm::Aes128Gcm => c"AES-128-GCM",
        Algorithm::Aes192Gcm => c"AES-192-GCM",
        Algorithm::Aes256Gcm => c"AES-256-GCM",
        Algorithm::Aes128Ccm => c"AES-128-CCM",
        Algorithm::Aes192Ccm => c"AES-192-CCM",
        Algorithm::Aes256Ccm => c"AES-256-CCM",
        Algorithm::Chacha20Poly1305 => c"ChaCha20-Poly1305",
        Algorithm::Chacha20 => c"ChaCha20",
        Algorithm::Camellia256Cbc => c"CAMELLIA-256-CBC",
        Algorithm::TripleDesCbc => c"DES-EDE3-CBC",
        Algorithm::DesCbc => c"DES-CBC",
        Algorithm::Md5 => c"MD5",
        Algorithm::Sha1 | Algorithm::HmacSha1 => c"SHA1",
        Algorithm::Sha224 => c"SHA224",
        Algorithm::Sha256 | Algorithm::HmacSha256 | Algorithm::HmacDrbgSha256 => c"SHA256",
        Algorithm::Sha384 => c"SHA384",
        Algorithm::Sha512 | Algorithm::HmacSha512 | Algorithm::HmacDrbgSha512 => c"SHA512",
        Algorithm::Sha3_256 => c"SHA3-256",
        Algorithm::Sha3_512 => c"SHA3-512",
        Algorithm::Poly1305 => c"POLY1305",
        // The cipher that only copies; no session asks for it.
        Algorithm::Memcpy => c"NULL",
    }
}

/// libcrypto's name of a MAC, and of the parameter that takes [`evp_name`], if there is one.
fn mac_name(algorithm: Algorithm) -> (&'static CStr, Option<&'static CStr>) {
    match algorithm {
        Algorithm::Poly1305 => (c"POLY1305", None),
        Algorithm::Aes128Cmac | Algorithm::Aes256Cmac => {
            (c"CMAC", Some(ffi::OSSL_MAC_PARAM_CIPHER))
        }
        _ => (c"HMAC", Some(ffi::OSSL_MAC_PARAM_DIGEST)),
    }
}

/// 1 is success; anything else an error, whose code comes from libcrypto's queue.
#[inline]
fn succeeded<L: Libcrypto>(status: c_int) -> Result<(), Error> {
    if status == 1 { Ok(()) } else { Err(last_error::<L>()) }
}

#[cold]
fn last_error<L: Libcrypto>() -> Error {
    // SAFETY: take no pointers; the queue is the thread's own.
    let code = unsafe {
        let code = L::ERR_get_error();
        L::ERR_clear_error();
        code
    };
    Error::Device(code as i32)
}

struct CipherSession<'a, L: Libcrypto> {
    source: Source<L>,
    cipher: *mut ffi::EVP_CIPHER,
    context: *mut ffi::EVP_CIPHER_CTX,
    keys: &'a [&'a [u8]],
    jobs: RawJobs<'a>,
    phase: Phase,
    decrypts: bool,
    /// The library wants to know a message's length before the message, and ends with it: CCM.
    length_first: bool,
    iv: c_int,
    tag: c_int,
}

impl<'a, L: Libcrypto> CipherSession<'a, L> {
    fn open(
        source: Source<L>,
        workload: &CryptoWorkload,
        keys: &'a [&'a [u8]],
        jobs: RawJobs<'a>,
    ) -> Result<Self, Error> {
        let shape = workload.algorithm.shape();
        let cipher = source.cipher(evp_name(workload.algorithm));
        // SAFETY: takes nothing.
        let context = unsafe { L::EVP_CIPHER_CTX_new() };
        let session = CipherSession {
            source,
            cipher,
            context,
            keys,
            jobs,
            phase: workload.phase,
            decrypts: workload.operation == Operation::Decrypt,
            length_first: shape.kind == Kind::Aead && !workload.algorithm.goes_on(),
            iv: shape.iv as c_int,
            tag: shape.tag as c_int,
        };
        if cipher.is_null() {
            last_error::<L>();
            return Err(Unsupported::BuildOption.into());
        }
        if context.is_null() {
            return Err(last_error::<L>());
        }
        let job = session.jobs.job(0)?;
        // SAFETY: both objects are live; key, IV and associated data have the algorithm's lengths.
        unsafe {
            succeeded::<L>(session.begin(keys[0].as_ptr(), job.iv))?;
            if session.phase == Phase::Update {
                session.associate(job.associated)?;
            }
        }
        Ok(session)
    }

    /// A message from its IV to its tag. A null key means the schedule that is there already.
    #[inline]
    fn message(&self, job: usize, key: *const u8) -> Result<(), Error> {
        let job = self.jobs.job(job)?;
        // SAFETY: the context is live and initialised; the job's pointers are valid for the lengths
        // in `jobs`, and a block mode writes nothing in `Final` when padding is off.
        unsafe {
            succeeded::<L>(self.start(key, job.iv))?;
            if self.length_first {
                return self.message_of_known_length(job);
            }
            self.associate(job.associated)?;
            self.update(job.input, job.output)?;
            if self.decrypts && self.tag > 0 {
                self.control(ffi::EVP_CTRL_AEAD_SET_TAG, job.tag)?;
            }
            let mut written = 0;
            let end = job.output.wrapping_add(self.jobs.message);
            if L::EVP_CipherFinal_ex(self.context, end, &mut written) != 1 {
                let error = last_error::<L>();
                return Err(if self.decrypts && self.tag > 0 { Error::Refused } else { error });
            }
            if !self.decrypts && self.tag > 0 {
                self.control(ffi::EVP_CTRL_AEAD_GET_TAG, job.tag)?;
            }
        }
        Ok(())
    }

    /// Begins with this key and IV; null means the one that is there already.
    ///
    /// # Safety
    /// Both are null or have the algorithm's lengths.
    #[inline]
    unsafe fn start(&self, key: *const u8, iv: *const u8) -> c_int {
        // SAFETY: the context is live; no cipher and no engine means those that it has.
        unsafe {
            if !key.is_null() && !self.source.engine.is_null() {
                return self.begin(key, iv);
            }
            L::EVP_CipherInit_ex(self.context, ptr::null(), ptr::null_mut(), key, iv, -1)
        }
    }

    /// Begins from nothing: an engine that is given a second key may leak what it opened for the first.
    ///
    /// # Safety
    /// As above.
    unsafe fn begin(&self, key: *const u8, iv: *const u8) -> c_int {
        let (direction, engine) = (c_int::from(!self.decrypts), self.source.engine);
        let context = self.context;
        // SAFETY: both objects are live.
        unsafe {
            L::EVP_CIPHER_CTX_reset(context);
            let status = if self.length_first {
                match self.state_lengths(engine, direction) {
                    1 => L::EVP_CipherInit_ex(context, ptr::null(), ptr::null_mut(), key, iv, -1),
                    status => status,
                }
            } else {
                L::EVP_CipherInit_ex(context, self.cipher, engine, key, iv, direction)
            };
            match status {
                1 => L::EVP_CIPHER_CTX_set_padding(context, 0),
                status => status,
            }
        }
    }

    /// CCM's lengths of IV and tag, which are part of its key schedule, and shorter unless stated.
    ///
    /// # Safety
    /// The context is live and empty.
    unsafe fn state_lengths(&self, engine: *mut ffi::ENGINE, direction: c_int) -> c_int {
        let (context, nothing) = (self.context, ptr::null());
        let set = |what, length| {
            // SAFETY: as promised by the caller; no value means that its length alone is set.
            unsafe { L::EVP_CIPHER_CTX_ctrl(context, what, length, ptr::null_mut()) }
        };
        // SAFETY: as promised by the caller.
        let cipher = unsafe {
            L::EVP_CipherInit_ex(context, self.cipher, engine, nothing, nothing, direction)
        };
        let steps = [
            cipher,
            set(ffi::EVP_CTRL_AEAD_SET_IVLEN, self.iv),
            set(ffi::EVP_CTRL_AEAD_SET_TAG, self.tag),
        ];
        steps.into_iter().find(|status| *status != 1).unwrap_or(1)
    }

    /// The rest of a message whose length the library is told first. Decryption wants the tag before the
    /// message, and says in the last update whether it fits.
    ///
    /// # Safety
    /// The context has the message's IV; the job's pointers are valid for the lengths in `jobs`.
    #[inline]
    unsafe fn message_of_known_length(&self, job: &RawJob) -> Result<(), Error> {
        let (mut written, length) = (0, self.jobs.message as c_int);
        // SAFETY: as promised by the caller; neither input nor output means the length of what follows.
        unsafe {
            if self.decrypts {
                self.control(ffi::EVP_CTRL_AEAD_SET_TAG, job.tag)?;
            }
            let (context, nowhere) = (self.context, ptr::null_mut());
            let told = L::EVP_CipherUpdate(context, nowhere, &mut written, ptr::null(), length);
            succeeded::<L>(told)?;
            self.associate(job.associated)?;
            // An empty message, too: it has a tag.
            let status = L::EVP_CipherUpdate(context, job.output, &mut written, job.input, length);
            if status != 1 {
                let error = last_error::<L>();
                return Err(if self.decrypts { Error::Refused } else { error });
            }
            if !self.decrypts {
                self.control(ffi::EVP_CTRL_AEAD_GET_TAG, job.tag)?;
            }
        }
        Ok(())
    }

    /// # Safety
    /// `associated` is valid for the length in `jobs`.
    #[inline]
    unsafe fn associate(&self, associated: *const u8) -> Result<(), Error> {
        if self.jobs.associated == 0 {
            return Ok(());
        }
        let mut written = 0;
        let length = self.jobs.associated as c_int;
        // SAFETY: as promised by the caller; no output means associated data.
        succeeded::<L>(unsafe {
            L::EVP_CipherUpdate(self.context, ptr::null_mut(), &mut written, associated, length)
        })
    }

    /// # Safety
    /// Both are valid for the message's length.
    #[inline]
    unsafe fn update(&self, input: *const u8, output: *mut u8) -> Result<(), Error> {
        let mut written = 0;
        let length = self.jobs.message as c_int;
        if length == 0 {
            // Nothing to say: OpenSSL takes a null output for associated data.
            return Ok(());
        }
        // SAFETY: as promised by the caller.
        succeeded::<L>(unsafe {
            L::EVP_CipherUpdate(self.context, output, &mut written, input, length)
        })
    }

    /// # Safety
    /// `tag` is valid for the tag's length.
    unsafe fn control(&self, what: c_int, tag: *mut u8) -> Result<(), Error> {
        // SAFETY: as promised by the caller.
        succeeded::<L>(unsafe { L::EVP_CIPHER_CTX_ctrl(self.context, what, self.tag, tag.cast()) })
    }
}

impl<L: Libcrypto> Session for CipherSession<'_, L> {
    #[inline]
    fn submit(&mut self, job: usize) -> Result<Progress, Error> {
        match self.phase {
            Phase::Message => self.message(job, ptr::null())?,
            Phase::MessageWithKey => {
                let key = self.keys[self.jobs.job(job)?.key].as_ptr();
                self.message(job, key)?;
            }
            Phase::Update => {
                let job = self.jobs.job(job)?;
                // SAFETY: valid for the message's length.
                unsafe { self.update(job.input, job.output)? };
            }
            Phase::Setup => {
                let key = self.keys[self.jobs.job(job)?.key].as_ptr();
                // SAFETY: the context is live; the key has the algorithm's length.
                succeeded::<L>(unsafe { self.start(key, ptr::null()) })?;
            }
        }
        Ok(Progress::Done)
    }

    fn output(&self, job: usize) -> Option<&[u8]> {
        self.jobs.output(job)
    }
}

impl<L: Libcrypto> Drop for CipherSession<'_, L> {
    fn drop(&mut self) {
        // SAFETY: both are ours, null is allowed, and nothing uses them afterwards.
        unsafe {
            L::EVP_CIPHER_CTX_free(self.context);
            L::EVP_CIPHER_free(self.cipher);
        }
    }
}

struct HashSession<'a, L: Libcrypto> {
    library: PhantomData<L>,
    digest: *mut ffi::EVP_MD,
    context: *mut ffi::EVP_MD_CTX,
    jobs: RawJobs<'a>,
    phase: Phase,
}

impl<'a, L: Libcrypto> HashSession<'a, L> {
    fn open(
        source: Source<L>,
        algorithm: Algorithm,
        phase: Phase,
        jobs: RawJobs<'a>,
    ) -> Result<Self, Error> {
        let digest = source.digest(evp_name(algorithm));
        // SAFETY: takes nothing.
        let context = unsafe { L::EVP_MD_CTX_new() };
        let session = HashSession { library: PhantomData, digest, context, jobs, phase };
        if digest.is_null() {
            last_error::<L>();
            return Err(Unsupported::BuildOption.into());
        }
        if context.is_null() {
            return Err(last_error::<L>());
        }
        // SAFETY: both are live.
        succeeded::<L>(unsafe { L::EVP_DigestInit_ex(context, digest, source.engine) })?;
        Ok(session)
    }
}

impl<L: Libcrypto> Session for HashSession<'_, L> {
    #[inline]
    fn submit(&mut self, job: usize) -> Result<Progress, Error> {
        let job = self.jobs.job(job)?;
        let length = self.jobs.message;
        // SAFETY: the context is live and initialised; the output has the digest's length.
        unsafe {
            if self.phase == Phase::Update {
                succeeded::<L>(L::EVP_DigestUpdate(self.context, job.input.cast(), length))?;
            } else {
                succeeded::<L>(L::EVP_DigestInit_ex(self.context, ptr::null(), ptr::null_mut()))?;
                succeeded::<L>(L::EVP_DigestUpdate(self.context, job.input.cast(), length))?;
                succeeded::<L>(L::EVP_DigestFinal_ex(self.context, job.output, ptr::null_mut()))?;
            }
        }
        Ok(Progress::Done)
    }

    fn output(&self, job: usize) -> Option<&[u8]> {
        self.jobs.output(job)
    }
}

impl<L: Libcrypto> Drop for HashSession<'_, L> {
    fn drop(&mut self) {
        // SAFETY: both are ours, null is allowed, and nothing uses them afterwards.
        unsafe {
            L::EVP_MD_CTX_free(self.context);
            L::EVP_MD_free(self.digest);
        }
    }
}

struct MacSession<'a, L: Libcrypto> {
    library: PhantomData<L>,
    mac: *mut ffi::EVP_MAC,
    context: *mut ffi::EVP_MAC_CTX,
    keys: &'a [&'a [u8]],
    jobs: RawJobs<'a>,
    phase: Phase,
    /// A key is good for one message.
    one_time_key: bool,
    length: usize,
}

impl<'a, L: Libcrypto> MacSession<'a, L> {
    fn open(
        source: Source<L>,
        algorithm: Algorithm,
        phase: Phase,
        keys: &'a [&'a [u8]],
        jobs: RawJobs<'a>,
    ) -> Result<Self, Error> {
        let key = keys.first().ok_or(Unsupported::Length)?;
        let (name, parameter) = mac_name(algorithm);
        let made_of = evp_name(algorithm).as_ptr().cast_mut();
        let mac = source.mac(name);
        // SAFETY: names are C strings; the parameter is read during the call only.
        let (context, status) = unsafe {
            let context = if mac.is_null() { ptr::null_mut() } else { L::EVP_MAC_CTX_new(mac) };
            let end = L::OSSL_PARAM_construct_end();
            let first = parameter.map_or(end, |parameter| {
                L::OSSL_PARAM_construct_utf8_string(parameter.as_ptr(), made_of, 0)
            });
            let params = [first, end];
            let status = if context.is_null() {
                0
            } else {
                L::EVP_MAC_init(context, key.as_ptr(), key.len(), params.as_ptr())
            };
            (context, status)
        };
        let session = MacSession {
            library: PhantomData,
            mac,
            context,
            keys,
            jobs,
            phase,
            one_time_key: algorithm == Algorithm::Poly1305,
            length: algorithm.shape().digest,
        };
        if mac.is_null() {
            last_error::<L>();
            return Err(Unsupported::BuildOption.into());
        }
        succeeded::<L>(status)?;
        Ok(session)
    }

    #[inline]
    fn start(&self, key: &[u8]) -> Result<(), Error> {
        let pointer = if key.is_empty() { ptr::null() } else { key.as_ptr() };
        // SAFETY: the context is live; a null key means the one that is there already.
        succeeded::<L>(unsafe { L::EVP_MAC_init(self.context, pointer, key.len(), ptr::null()) })
    }
}

impl<L: Libcrypto> Session for MacSession<'_, L> {
    #[inline]
    fn submit(&mut self, job: usize) -> Result<Progress, Error> {
        let job = self.jobs.job(job)?;
        match self.phase {
            Phase::Message if !self.one_time_key => self.start(&[])?,
            Phase::Message | Phase::MessageWithKey | Phase::Setup => {
                self.start(self.keys[job.key])?
            }
            Phase::Update => {}
        }
        if self.phase == Phase::Setup {
            return Ok(Progress::Done);
        }
        // SAFETY: the context is live and initialised; the output has the MAC's length.
        unsafe {
            succeeded::<L>(L::EVP_MAC_update(self.context, job.input, self.jobs.message))?;
            if self.phase != Phase::Update {
                let mut written = 0;
                succeeded::<L>(L::EVP_MAC_final(
                    self.context,
                    job.output,
                    &mut written,
                    self.length,
                ))?;
            }
        }
        Ok(Progress::Done)
    }

    fn output(&self, job: usize) -> Option<&[u8]> {
        self.jobs.output(job)
    }
}

impl<L: Libcrypto> Drop for MacSession<'_, L> {
    fn drop(&mut self) {
        // SAFETY: both are ours, null is allowed, and nothing uses them afterwards.
        unsafe {
            L::EVP_MAC_CTX_free(self.context);
            L::EVP_MAC_free(self.mac);
        }
    }
}
