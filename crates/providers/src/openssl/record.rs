//! Sessions of records that libcrypto encrypts and hashes in one pass. It has this "stitched" code if the CPU
//! has the AES instructions of x86.

use super::ffi::Libcrypto;
use super::{Source, evp_name, ffi, lacks, last_error, succeeded};
use core::ffi::{c_int, c_uint};
use core::marker::PhantomData;
use core::ptr;
use cpb_core::tls_record::{CIPHER_KEY, HEADER};
use cpb_core::{CryptoWorkload, Error, Operation, Phase, Progress, Session, Unsupported};
use cpb_session::raw_jobs::RawJobs;

pub(super) struct RecordSession<'a, L: Libcrypto> {
    library: PhantomData<L>,
    cipher: *mut ffi::EVP_CIPHER,
    context: *mut ffi::EVP_CIPHER_CTX,
    keys: &'a [&'a [u8]],
    jobs: RawJobs<'a>,
    phase: Phase,
    decrypts: bool,
    length: c_uint,
}

impl<'a, L: Libcrypto> RecordSession<'a, L> {
    pub(super) fn open(
        source: Source<L>,
        workload: &CryptoWorkload,
        keys: &'a [&'a [u8]],
        jobs: RawJobs<'a>,
    ) -> Result<Self, Error> {
        let cipher = source.cipher(evp_name(workload.algorithm));
        // SAFETY: takes no arguments.
        let context = unsafe { L::EVP_CIPHER_CTX_new() };
        let decrypts = workload.operation == Operation::Decrypt;
        let session = RecordSession {
            library: PhantomData,
            cipher,
            context,
            keys,
            jobs,
            phase: workload.phase,
            decrypts,
            length: workload.lengths().input as c_uint,
        };
        if cipher.is_null() {
            last_error::<L>();
            return Err(lacks(workload.algorithm, Unsupported::BuildOption).into());
        }
        if context.is_null() {
            return Err(last_error::<L>());
        }
        let (nothing, direction) = (ptr::null(), c_int::from(!decrypts));
        // SAFETY: both objects are live; key and IV come later.
        succeeded::<L>(unsafe {
            L::EVP_CipherInit_ex(context, cipher, ptr::null_mut(), nothing, nothing, direction)
        })?;
        session.take_key(0)?;
        Ok(session)
    }

    /// Runs both key schedules, AES's and HMAC's.
    #[inline]
    fn take_key(&self, number: usize) -> Result<(), Error> {
        let key = self.keys.get(number).and_then(|key| key.split_at_checked(CIPHER_KEY));
        let (cipher, mac) = key.ok_or(Error::Contract)?;
        // SAFETY: the context is live and has its cipher. The first key has the cipher's length, and the second
        // key's length is passed along. The second key is not written to.
        unsafe {
            succeeded::<L>(self.start(cipher.as_ptr(), ptr::null()))?;
            let (what, mac_key) = (ffi::EVP_CTRL_AEAD_SET_MAC_KEY, mac.as_ptr().cast_mut().cast());
            let length = mac.len() as c_int;
            succeeded::<L>(L::EVP_CIPHER_CTX_ctrl(self.context, what, length, mac_key))
        }
    }

    /// # Safety
    /// Each is null, which keeps the current one, or has the cipher's length.
    #[inline]
    unsafe fn start(&self, key: *const u8, iv: *const u8) -> c_int {
        // SAFETY: as promised by the caller; the context is live.
        unsafe { L::EVP_CipherInit_ex(self.context, ptr::null(), ptr::null_mut(), key, iv, -1) }
    }

    #[inline]
    fn record(&self, job: usize) -> Result<(), Error> {
        let job = self.jobs.job(job)?;
        // SAFETY: the context is live and has its keys; IV and header have the algorithm's lengths. The header
        // is copied, because the library may write to what it is given.
        unsafe {
            succeeded::<L>(self.start(ptr::null(), job.iv))?;
            let mut header = job.associated.cast::<[u8; HEADER]>().read();
            let (what, length) = (ffi::EVP_CTRL_AEAD_TLS1_AAD, HEADER as c_int);
            let header = header.as_mut_ptr().cast();
            // It returns how many bytes follow a message.
            if L::EVP_CIPHER_CTX_ctrl(self.context, what, length, header) < 1 {
                return Err(last_error::<L>());
            }
        }
        // SAFETY: input and output have this length, which is that of a whole record.
        let done = unsafe { L::EVP_Cipher(self.context, job.output, job.input, self.length) };
        if done > 0 {
            return Ok(());
        }
        // The library has no separate error for a MAC that does not verify.
        let error = last_error::<L>();
        Err(if self.decrypts { Error::Refused } else { error })
    }
}

impl<L: Libcrypto> Session for RecordSession<'_, L> {
    #[inline]
    fn submit(&mut self, job: usize) -> Result<Progress, Error> {
        if matches!(self.phase, Phase::MessageWithKey | Phase::Setup) {
            self.take_key(self.jobs.job(job)?.key)?;
        }
        if self.phase != Phase::Setup {
            self.record(job)?;
        }
        Ok(Progress::Done)
    }

    fn output(&self, job: usize) -> Option<&[u8]> {
        self.jobs.output(job)
    }
}

impl<L: Libcrypto> Drop for RecordSession<'_, L> {
    fn drop(&mut self) {
        // SAFETY: we own both, null is allowed, and nothing uses them afterwards.
        unsafe {
            L::EVP_CIPHER_CTX_free(self.context);
            L::EVP_CIPHER_free(self.cipher);
        }
    }
}
