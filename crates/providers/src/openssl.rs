//! OpenSSL's libcrypto through its EVP interface, statically linked, in three runners: with all CPU
//! extensions, with the crypto instructions masked, and with everything masked.
//!
//! libcrypto reads its mask once, when it is loaded, so each variant is a process of its own; what
//! it made of the mask is asked back and stands in the identity.

pub(crate) mod ffi;
mod generator;

use crate::raw_jobs::{RawJobs, software_supports};
use crate::{Entry, Unavailable};
use core::ffi::{CStr, c_int};
use core::ptr;
use cpb_core::{
    Algorithm, CryptoWorkload, Error, Identity, Job, Kind, Operation, Phase, Progress, Provider,
    Session, Unsupported,
};
use generator::GeneratorSession;

pub(crate) const EXTENSIONS: Entry = Entry {
    name: "openssl",
    about: "OpenSSL, with the CPU's crypto instructions",
    environment: Vec::new,
    variants: None,
    open: |_| open("openssl"),
};

pub(crate) const NOCRYPTO: Entry = Entry {
    name: "openssl:nocrypto",
    about: "OpenSSL, crypto instructions masked, vector instructions on",
    environment: || mask(Mask::Crypto),
    variants: None,
    open: |_| open("openssl:nocrypto"),
};

pub(crate) const SCALAR: Entry = Entry {
    name: "openssl:scalar",
    about: "OpenSSL, every extension masked",
    environment: || mask(Mask::Everything),
    variants: None,
    open: |_| open("openssl:scalar"),
};

enum Mask {
    Crypto,
    Everything,
}

/// The variable that libcrypto reads, and its value.
///
/// On x86-64 it has five words of 64 bits (crypto/cpuid.c of OpenSSL 3.6), and one that is not
/// named is cleared; `~` clears bits, a plain number replaces the word. On Arm (crypto/armcap.c)
/// and RISC-V (crypto/riscvcap.c) the value replaces what the library would find out by itself.
fn mask(mask: Mask) -> Vec<(&'static str, &'static str)> {
    let value = |crypto, everything| match mask {
        Mask::Crypto => crypto,
        Mask::Everything => everything,
    };
    if cfg!(any(target_arch = "x86_64", target_arch = "x86")) {
        // Word 0: AES-NI (57), PCLMULQDQ (33). Word 1: SHA-NI (29), GFNI (40), VAES (41),
        // VPCLMULQDQ (42). Word 2: SHA512 (32), SM3 (33), SM4 (34). The rest as it is.
        let crypto = "~0x200000200000000:~0x70020000000:~0x700000000:~0:~0";
        vec![("OPENSSL_ia32cap", value(crypto, "0:0:0:0:0"))]
    } else if cfg!(any(target_arch = "aarch64", target_arch = "arm")) {
        // 1 is NEON (crypto/arm_arch.h); the crypto instructions are bits of their own.
        vec![("OPENSSL_armcap", value("1", "0"))]
    } else if cfg!(target_arch = "riscv64") {
        // Without the vector extension, whose absence is the common case.
        vec![("OPENSSL_riscvcap", value("rv64gc_zba_zbb_zbs", "rv64gc"))]
    } else {
        Vec::new()
    }
}

/// libcrypto, loaded in this process.
struct OpenSsl {
    name: &'static str,
    executor: String,
}

fn open(name: &'static str) -> Result<Box<dyn Provider + Send + Sync>, Unavailable> {
    // SAFETY: takes no settings; called before anything else of libcrypto.
    if unsafe { ffi::OPENSSL_init_crypto(ffi::OPENSSL_INIT_NO_LOAD_CONFIG, ptr::null()) } != 1 {
        let detail = "libcrypto does not initialise".to_owned();
        return Err(Unavailable { reason: Unsupported::Device, detail });
    }
    // SAFETY: null or a static C string.
    let settings = unsafe {
        let settings = ffi::OPENSSL_info(ffi::OPENSSL_INFO_CPU_SETTINGS);
        (!settings.is_null()).then(|| CStr::from_ptr(settings))
    };
    let settings = settings.map_or("CPU settings unknown".into(), CStr::to_string_lossy);
    Ok(Box::new(OpenSsl { name, executor: settings.into_owned() }))
}

impl Provider for OpenSsl {
    fn identity(&self) -> Identity<'_> {
        Identity {
            provider: self.name,
            version: env!("CPB_OPENSSL_VERSION"),
            executor: &self.executor,
            options: env!("CPB_OPENSSL_OPTIONS"),
        }
    }

    fn supports(&self, workload: &CryptoWorkload) -> Result<(), Unsupported> {
        software_supports(workload)
    }

    fn session(
        &self,
        workload: &CryptoWorkload,
        keys: &[&[u8]],
        jobs: &mut [Job<'_>],
        body: &mut dyn FnMut(&mut dyn Session) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.supports(workload)?;
        let jobs = RawJobs::new(workload, keys, jobs)?;
        let phase = workload.phase;
        match workload.algorithm.shape().kind {
            Kind::BlockCipher | Kind::StreamCipher | Kind::Aead => {
                body(&mut CipherSession::open(workload, keys, jobs)?)
            }
            Kind::Hash => body(&mut HashSession::open(workload.algorithm, phase, jobs)?),
            Kind::Mac => body(&mut MacSession::open(workload.algorithm, phase, keys, jobs)?),
            Kind::Generator => {
                body(&mut GeneratorSession::open(workload.algorithm, phase, keys, jobs)?)
            }
            Kind::Copy => Err(Unsupported::Algorithm.into()),
        }
    }
}

/// libcrypto's name of an algorithm (the digest's for an HMAC, the cipher's for a generator).
fn evp_name(algorithm: Algorithm) -> &'static CStr {
    match algorithm {
        Algorithm::Aes128Cbc => c"AES-128-CBC",
        Algorithm::Aes192Cbc => c"AES-192-CBC",
        Algorithm::Aes256Cbc => c"AES-256-CBC",
        Algorithm::Aes128Ctr => c"AES-128-CTR",
        Algorithm::Aes192Ctr => c"AES-192-CTR",
        Algorithm::Aes256Ctr | Algorithm::CtrDrbgAes256 => c"AES-256-CTR",
        Algorithm::Aes128Gcm => c"AES-128-GCM",
        Algorithm::Aes192Gcm => c"AES-192-GCM",
        Algorithm::Aes256Gcm => c"AES-256-GCM",
        Algorithm::Chacha20Poly1305 => c"ChaCha20-Poly1305",
        Algorithm::Sha1 => c"SHA1",
        Algorithm::Sha256 | Algorithm::HmacSha256 | Algorithm::HmacDrbgSha256 => c"SHA2-256",
        Algorithm::Sha512 | Algorithm::HmacDrbgSha512 => c"SHA2-512",
        // The cipher that only copies; no session asks for it.
        Algorithm::Memcpy => c"NULL",
    }
}

/// 1 is success; anything else an error, whose code comes from libcrypto's queue.
#[inline]
fn succeeded(status: c_int) -> Result<(), Error> {
    if status == 1 { Ok(()) } else { Err(last_error()) }
}

#[cold]
fn last_error() -> Error {
    // SAFETY: take no pointers; the queue is the thread's own.
    let code = unsafe {
        let code = ffi::ERR_get_error();
        ffi::ERR_clear_error();
        code
    };
    Error::Device(code as i32)
}

struct CipherSession<'a> {
    cipher: *mut ffi::EVP_CIPHER,
    context: *mut ffi::EVP_CIPHER_CTX,
    keys: &'a [&'a [u8]],
    jobs: RawJobs<'a>,
    phase: Phase,
    decrypts: bool,
    tag: c_int,
}

impl<'a> CipherSession<'a> {
    fn open(
        workload: &CryptoWorkload,
        keys: &'a [&'a [u8]],
        jobs: RawJobs<'a>,
    ) -> Result<Self, Error> {
        let shape = workload.algorithm.shape();
        if keys.is_empty() || keys.iter().any(|key| key.len() != shape.key) {
            return Err(Unsupported::Length.into());
        }
        // SAFETY: the name is a C string; null is the default context and no properties.
        let (cipher, context) = unsafe {
            let name = evp_name(workload.algorithm).as_ptr();
            (ffi::EVP_CIPHER_fetch(ptr::null_mut(), name, ptr::null()), ffi::EVP_CIPHER_CTX_new())
        };
        let session = CipherSession {
            cipher,
            context,
            keys,
            jobs,
            phase: workload.phase,
            decrypts: workload.operation == Operation::Decrypt,
            tag: shape.tag as c_int,
        };
        if cipher.is_null() {
            last_error();
            return Err(Unsupported::BuildOption.into());
        }
        if context.is_null() {
            return Err(last_error());
        }
        let job = session.jobs.job(0)?;
        // SAFETY: both objects are live; key, IV and associated data have the algorithm's lengths.
        unsafe {
            let direction = c_int::from(!session.decrypts);
            let key = keys[0].as_ptr();
            let status =
                ffi::EVP_CipherInit_ex2(context, cipher, key, job.iv, direction, ptr::null());
            succeeded(status)?;
            succeeded(ffi::EVP_CIPHER_CTX_set_padding(context, 0))?;
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
            succeeded(ffi::EVP_CipherInit_ex2(
                self.context,
                ptr::null(),
                key,
                job.iv,
                -1,
                ptr::null(),
            ))?;
            self.associate(job.associated)?;
            self.update(job.input, job.output)?;
            if self.decrypts && self.tag > 0 {
                self.control(ffi::EVP_CTRL_AEAD_SET_TAG, job.tag)?;
            }
            let mut written = 0;
            let end = job.output.wrapping_add(self.jobs.message);
            if ffi::EVP_CipherFinal_ex(self.context, end, &mut written) != 1 {
                let error = last_error();
                return Err(if self.decrypts && self.tag > 0 { Error::Refused } else { error });
            }
            if !self.decrypts && self.tag > 0 {
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
        succeeded(unsafe {
            ffi::EVP_CipherUpdate(self.context, ptr::null_mut(), &mut written, associated, length)
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
        succeeded(unsafe {
            ffi::EVP_CipherUpdate(self.context, output, &mut written, input, length)
        })
    }

    /// # Safety
    /// `tag` is valid for the tag's length.
    unsafe fn control(&self, what: c_int, tag: *mut u8) -> Result<(), Error> {
        // SAFETY: as promised by the caller.
        succeeded(unsafe { ffi::EVP_CIPHER_CTX_ctrl(self.context, what, self.tag, tag.cast()) })
    }
}

impl Session for CipherSession<'_> {
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
                succeeded(unsafe {
                    ffi::EVP_CipherInit_ex2(
                        self.context,
                        ptr::null(),
                        key,
                        ptr::null(),
                        -1,
                        ptr::null(),
                    )
                })?;
            }
        }
        Ok(Progress::Done)
    }

    fn output(&self, job: usize) -> Option<&[u8]> {
        self.jobs.output(job)
    }
}

impl Drop for CipherSession<'_> {
    fn drop(&mut self) {
        // SAFETY: both are ours, null is allowed, and nothing uses them afterwards.
        unsafe {
            ffi::EVP_CIPHER_CTX_free(self.context);
            ffi::EVP_CIPHER_free(self.cipher);
        }
    }
}

struct HashSession<'a> {
    digest: *mut ffi::EVP_MD,
    context: *mut ffi::EVP_MD_CTX,
    jobs: RawJobs<'a>,
    phase: Phase,
}

impl<'a> HashSession<'a> {
    fn open(algorithm: Algorithm, phase: Phase, jobs: RawJobs<'a>) -> Result<Self, Error> {
        // SAFETY: the name is a C string; null is the default context and no properties.
        let (digest, context) = unsafe {
            let name = evp_name(algorithm).as_ptr();
            (ffi::EVP_MD_fetch(ptr::null_mut(), name, ptr::null()), ffi::EVP_MD_CTX_new())
        };
        let session = HashSession { digest, context, jobs, phase };
        if digest.is_null() {
            last_error();
            return Err(Unsupported::BuildOption.into());
        }
        if context.is_null() {
            return Err(last_error());
        }
        // SAFETY: both are live.
        succeeded(unsafe { ffi::EVP_DigestInit_ex2(context, digest, ptr::null()) })?;
        Ok(session)
    }
}

impl Session for HashSession<'_> {
    #[inline]
    fn submit(&mut self, job: usize) -> Result<Progress, Error> {
        let job = self.jobs.job(job)?;
        let length = self.jobs.message;
        // SAFETY: the context is live and initialised; the output has the digest's length.
        unsafe {
            if self.phase == Phase::Update {
                succeeded(ffi::EVP_DigestUpdate(self.context, job.input.cast(), length))?;
            } else {
                succeeded(ffi::EVP_DigestInit_ex2(self.context, ptr::null(), ptr::null()))?;
                succeeded(ffi::EVP_DigestUpdate(self.context, job.input.cast(), length))?;
                succeeded(ffi::EVP_DigestFinal_ex(self.context, job.output, ptr::null_mut()))?;
            }
        }
        Ok(Progress::Done)
    }

    fn output(&self, job: usize) -> Option<&[u8]> {
        self.jobs.output(job)
    }
}

impl Drop for HashSession<'_> {
    fn drop(&mut self) {
        // SAFETY: both are ours, null is allowed, and nothing uses them afterwards.
        unsafe {
            ffi::EVP_MD_CTX_free(self.context);
            ffi::EVP_MD_free(self.digest);
        }
    }
}

struct MacSession<'a> {
    mac: *mut ffi::EVP_MAC,
    context: *mut ffi::EVP_MAC_CTX,
    keys: &'a [&'a [u8]],
    jobs: RawJobs<'a>,
    phase: Phase,
    length: usize,
}

impl<'a> MacSession<'a> {
    fn open(
        algorithm: Algorithm,
        phase: Phase,
        keys: &'a [&'a [u8]],
        jobs: RawJobs<'a>,
    ) -> Result<Self, Error> {
        let key = keys.first().ok_or(Unsupported::Length)?;
        let digest = evp_name(algorithm);
        // SAFETY: names are C strings; null is the default context and no properties; the parameter
        // is read during the call only.
        let (mac, context, status) = unsafe {
            let mac = ffi::EVP_MAC_fetch(ptr::null_mut(), c"HMAC".as_ptr(), ptr::null());
            let context = if mac.is_null() { ptr::null_mut() } else { ffi::EVP_MAC_CTX_new(mac) };
            let name = ffi::OSSL_PARAM_construct_utf8_string(
                ffi::OSSL_MAC_PARAM_DIGEST.as_ptr(),
                digest.as_ptr().cast_mut(),
                0,
            );
            let params = [name, ffi::OSSL_PARAM_construct_end()];
            let status = if context.is_null() {
                0
            } else {
                ffi::EVP_MAC_init(context, key.as_ptr(), key.len(), params.as_ptr())
            };
            (mac, context, status)
        };
        let length = algorithm.shape().digest;
        let session = MacSession { mac, context, keys, jobs, phase, length };
        if mac.is_null() {
            last_error();
            return Err(Unsupported::BuildOption.into());
        }
        succeeded(status)?;
        Ok(session)
    }

    #[inline]
    fn start(&self, key: &[u8]) -> Result<(), Error> {
        let pointer = if key.is_empty() { ptr::null() } else { key.as_ptr() };
        // SAFETY: the context is live; a null key means the one that is there already.
        succeeded(unsafe { ffi::EVP_MAC_init(self.context, pointer, key.len(), ptr::null()) })
    }
}

impl Session for MacSession<'_> {
    #[inline]
    fn submit(&mut self, job: usize) -> Result<Progress, Error> {
        let job = self.jobs.job(job)?;
        match self.phase {
            Phase::Message => self.start(&[])?,
            Phase::MessageWithKey | Phase::Setup => self.start(self.keys[job.key])?,
            Phase::Update => {}
        }
        if self.phase == Phase::Setup {
            return Ok(Progress::Done);
        }
        // SAFETY: the context is live and initialised; the output has the MAC's length.
        unsafe {
            succeeded(ffi::EVP_MAC_update(self.context, job.input, self.jobs.message))?;
            if self.phase != Phase::Update {
                let mut written = 0;
                succeeded(ffi::EVP_MAC_final(self.context, job.output, &mut written, self.length))?;
            }
        }
        Ok(Progress::Done)
    }

    fn output(&self, job: usize) -> Option<&[u8]> {
        self.jobs.output(job)
    }
}

impl Drop for MacSession<'_> {
    fn drop(&mut self) {
        // SAFETY: both are ours, null is allowed, and nothing uses them afterwards.
        unsafe {
            ffi::EVP_MAC_CTX_free(self.context);
            ffi::EVP_MAC_free(self.mac);
        }
    }
}
