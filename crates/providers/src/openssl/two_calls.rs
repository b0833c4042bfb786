//! Records by two calls, HMAC and then CBC, as an application makes them if libcrypto has no single pass. The
//! single pass is compared with them. They use the linked libcrypto, with all CPU extensions.
//!
//! Decryption checks the padding before the MAC, and takes less time for some forgeries than for others (Lucky
//! Thirteen). That is good enough to be timed, but not to be used.

use super::ffi::{self, Libcrypto, Linked};
use super::linked;
use super::mac::MacContext;
use super::{Source, evp_name, last_error, succeeded};
use crate::Implementation;
use core::ffi::c_int;
use core::ptr;
use cpb_core::catalog::TWO_CALLS;
use cpb_core::tls_record::{CIPHER_KEY, HEADER, MAC};
use cpb_core::{
    Algorithm, CryptoWorkload, Error, Identity, Job, Kind, Operation, Phase, Progress, Provider,
    Session, Unsupported,
};
use cpb_session::lengths::keys_fit;
use cpb_session::raw_jobs::{RawJob, RawJobs, software_supports};

pub(crate) const ENTRY: Implementation = Implementation {
    name: TWO_CALLS,
    environment: Vec::new,
    executors: None,
    open: |_| Ok(Box::new(TwoCalls { executor: linked::start()? })),
};

struct TwoCalls {
    executor: String,
}

impl Provider for TwoCalls {
    fn identity(&self) -> Identity<'_> {
        Identity {
            provider: TWO_CALLS,
            version: env!("CPB_OPENSSL_VERSION"),
            executor: &self.executor,
            options: env!("CPB_OPENSSL_OPTIONS"),
        }
    }

    fn supports(&self, workload: &CryptoWorkload) -> Result<(), Unsupported> {
        if workload.algorithm.shape().kind != Kind::Record {
            return Err(Unsupported::Algorithm);
        }
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
        keys_fit(workload.algorithm, keys)?;
        let jobs = RawJobs::new(workload, keys, jobs)?;
        body(&mut TwoCallsSession::open(workload, keys, jobs)?)
    }
}

struct TwoCallsSession<'a> {
    cipher: Cbc,
    mac: MacContext<Linked>,
    keys: &'a [&'a [u8]],
    jobs: RawJobs<'a>,
    phase: Phase,
    decrypts: bool,
    /// The length of a record.
    length: usize,
}

impl<'a> TwoCallsSession<'a> {
    fn open(
        workload: &CryptoWorkload,
        keys: &'a [&'a [u8]],
        jobs: RawJobs<'a>,
    ) -> Result<Self, Error> {
        let (key, mac_key) = halves(keys, 0)?;
        let decrypts = workload.operation == Operation::Decrypt;
        Ok(TwoCallsSession {
            cipher: Cbc::new(key, decrypts)?,
            mac: MacContext::new(Source::new(), Algorithm::HmacSha1, mac_key)?,
            keys,
            jobs,
            phase: workload.phase,
            decrypts,
            length: workload.lengths().input,
        })
    }

    /// Puts the message where the record will be, as a record layer does. MAC and padding follow it.
    #[inline]
    fn encrypt(&self, job: &RawJob) -> Result<(), Error> {
        let message = self.jobs.message;
        let padding = self.length - message - MAC;
        // SAFETY: input and output have a record's length, in which message, MAC and padding have room; they are
        // the same or do not overlap.
        unsafe {
            if !ptr::eq(job.input, job.output) {
                ptr::copy_nonoverlapping(job.input, job.output, message);
            }
            let header = job.associated.cast::<[u8; HEADER]>().read();
            let end = job.output.add(message);
            self.authenticate(&header, job.output, message, end)?;
            end.add(MAC).write_bytes(padding as u8 - 1, padding);
            self.cipher.run(job.output, job.output, self.length)
        }
    }

    #[inline]
    fn decrypt(&self, job: &RawJob) -> Result<(), Error> {
        // SAFETY: input and output have a record's length, and are the same or do not overlap.
        let record = unsafe {
            self.cipher.run(job.input, job.output, self.length)?;
            core::slice::from_raw_parts(job.output, self.length)
        };
        let last = *record.last().ok_or(Error::Contract)?;
        let behind = MAC + usize::from(last) + 1;
        let message = record.len().checked_sub(behind).ok_or(Error::Refused)?;
        let (mac, padding) = record[message..].split_at(MAC);
        let padded = padding.iter().fold(0, |differs, byte| differs | (byte ^ last)) == 0;
        let mut right = [0; MAC];
        // SAFETY: the header has its length, and `record` holds the message; both MACs have theirs.
        let authentic = unsafe {
            let mut header = job.associated.cast::<[u8; HEADER]>().read();
            header[HEADER - 2..].copy_from_slice(&(message as u16).to_be_bytes());
            self.authenticate(&header, record.as_ptr(), message, right.as_mut_ptr())?;
            Linked::CRYPTO_memcmp(right.as_ptr().cast(), mac.as_ptr().cast(), MAC) == 0
        };
        if padded && authentic { Ok(()) } else { Err(Error::Refused) }
    }

    /// # Safety
    /// There are `length` bytes at `message`, and room for a MAC at `output`.
    #[inline]
    unsafe fn authenticate(
        &self,
        header: &[u8; HEADER],
        message: *const u8,
        length: usize,
        output: *mut u8,
    ) -> Result<(), Error> {
        self.mac.start(&[])?;
        // SAFETY: as promised by the caller; a message has begun.
        unsafe {
            self.mac.update(header.as_ptr(), header.len())?;
            self.mac.update(message, length)?;
            self.mac.finish(output)
        }
    }
}

impl Session for TwoCallsSession<'_> {
    #[inline]
    fn submit(&mut self, job: usize) -> Result<Progress, Error> {
        let job = self.jobs.job(job)?;
        if matches!(self.phase, Phase::MessageWithKey | Phase::Setup) {
            let (key, mac_key) = halves(self.keys, job.key)?;
            // SAFETY: the key has AES-128's length.
            unsafe { self.cipher.start(key.as_ptr(), ptr::null())? };
            self.mac.start(mac_key)?;
        }
        if self.phase == Phase::Setup {
            return Ok(Progress::Done);
        }
        // SAFETY: the IV has AES's length.
        unsafe { self.cipher.start(ptr::null(), job.iv)? };
        if self.decrypts {
            self.decrypt(job)?
        } else {
            self.encrypt(job)?
        }
        Ok(Progress::Done)
    }

    fn output(&self, job: usize) -> Option<&[u8]> {
        self.jobs.output(job)
    }
}

/// Splits a key into AES's and HMAC's.
fn halves<'k>(keys: &[&'k [u8]], number: usize) -> Result<(&'k [u8], &'k [u8]), Error> {
    keys.get(number).and_then(|key| key.split_at_checked(CIPHER_KEY)).ok_or(Error::Contract)
}

/// AES-128-CBC in one direction, without padding.
struct Cbc {
    cipher: *mut ffi::EVP_CIPHER,
    context: *mut ffi::EVP_CIPHER_CTX,
}

impl Cbc {
    fn new(key: &[u8], decrypts: bool) -> Result<Cbc, Error> {
        let cipher = Source::<Linked>::new().cipher(evp_name(Algorithm::Aes128Cbc));
        // SAFETY: takes no arguments.
        let context = unsafe { Linked::EVP_CIPHER_CTX_new() };
        let made = Cbc { cipher, context };
        if cipher.is_null() || context.is_null() {
            return Err(last_error::<Linked>());
        }
        let (none, no_iv, direction) = (ptr::null_mut(), ptr::null(), c_int::from(!decrypts));
        // SAFETY: both objects are live; the key has AES-128's length.
        unsafe {
            let key = key.as_ptr();
            succeeded::<Linked>(Linked::EVP_CipherInit_ex(
                context, cipher, none, key, no_iv, direction,
            ))?;
            succeeded::<Linked>(Linked::EVP_CIPHER_CTX_set_padding(context, 0))?;
        }
        Ok(made)
    }

    /// # Safety
    /// Each is null, which keeps the current one, or has the cipher's length.
    #[inline]
    unsafe fn start(&self, key: *const u8, iv: *const u8) -> Result<(), Error> {
        let (same, none) = (ptr::null(), ptr::null_mut());
        // SAFETY: as promised by the caller; the context is live.
        succeeded::<Linked>(unsafe {
            Linked::EVP_CipherInit_ex(self.context, same, none, key, iv, -1)
        })
    }

    /// # Safety
    /// Both are valid for `length` bytes, which are whole blocks, and are the same or do not overlap.
    #[inline]
    unsafe fn run(&self, input: *const u8, output: *mut u8, length: usize) -> Result<(), Error> {
        let mut written = 0;
        // SAFETY: as promised by the caller; the context is live and has key and IV.
        succeeded::<Linked>(unsafe {
            Linked::EVP_CipherUpdate(self.context, output, &mut written, input, length as c_int)
        })
    }
}

impl Drop for Cbc {
    fn drop(&mut self) {
        // SAFETY: we own both, null is allowed, and nothing uses them afterwards.
        unsafe {
            Linked::EVP_CIPHER_CTX_free(self.context);
            Linked::EVP_CIPHER_free(self.cipher);
        }
    }
}
