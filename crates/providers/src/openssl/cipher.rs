//! Sessions of ciphers, authenticated or not.

use super::ffi::Libcrypto;
use super::{Source, evp_name, ffi, last_error, succeeded};
use core::ffi::c_int;
use core::ptr;
use cpb_core::{CryptoWorkload, Error, Kind, Operation, Phase, Progress, Session, Unsupported};
use cpb_session::raw_jobs::{RawJob, RawJobs};

pub(super) struct CipherSession<'a, L: Libcrypto> {
    source: Source<L>,
    cipher: *mut ffi::EVP_CIPHER,
    context: *mut ffi::EVP_CIPHER_CTX,
    keys: &'a [&'a [u8]],
    jobs: RawJobs<'a>,
    phase: Phase,
    decrypts: bool,
    /// Whether the library needs a message's length before the message, and ends with the message: CCM.
    length_first: bool,
    iv: c_int,
    tag: c_int,
}

impl<'a, L: Libcrypto> CipherSession<'a, L> {
    pub(super) fn open(
        source: Source<L>,
        workload: &CryptoWorkload,
        keys: &'a [&'a [u8]],
        jobs: RawJobs<'a>,
    ) -> Result<Self, Error> {
        let shape = workload.algorithm.shape();
        let cipher = source.cipher(evp_name(workload.algorithm));
        // SAFETY: takes no arguments.
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

    /// Runs a message, from its IV to its tag. A null key keeps the current key schedule.
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

    /// Begins with this key and IV. Null keeps the current one.
    ///
    /// # Safety
    /// Each is null or has the algorithm's length.
    #[inline]
    unsafe fn start(&self, key: *const u8, iv: *const u8) -> c_int {
        // SAFETY: the context is live; a null cipher and a null engine keep the current ones.
        unsafe {
            if !key.is_null() && !self.source.engine.is_null() {
                return self.begin(key, iv);
            }
            L::EVP_CipherInit_ex(self.context, ptr::null(), ptr::null_mut(), key, iv, -1)
        }
    }

    /// Begins from an empty context, because an engine that is given a second key may leak what it opened for
    /// the first.
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

    /// Sets CCM's lengths of IV and tag. They are part of its key schedule, and are shorter unless set.
    ///
    /// # Safety
    /// The context is live and empty.
    unsafe fn state_lengths(&self, engine: *mut ffi::ENGINE, direction: c_int) -> c_int {
        let (context, nothing) = (self.context, ptr::null());
        let set = |what, length| {
            // SAFETY: as promised by the caller; without a value only the length is set.
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

    /// Runs the rest of a message whose length the library gets first. Decryption needs the tag before the
    /// message, and the last update reports whether it verifies.
    ///
    /// # Safety
    /// The context has the message's IV; the job's pointers are valid for the lengths in `jobs`.
    #[inline]
    unsafe fn message_of_known_length(&self, job: &RawJob) -> Result<(), Error> {
        let (mut written, length) = (0, self.jobs.message as c_int);
        // SAFETY: as promised by the caller; without input and output, it takes the length of what follows.
        unsafe {
            if self.decrypts {
                self.control(ffi::EVP_CTRL_AEAD_SET_TAG, job.tag)?;
            }
            let (context, nowhere) = (self.context, ptr::null_mut());
            let told = L::EVP_CipherUpdate(context, nowhere, &mut written, ptr::null(), length);
            succeeded::<L>(told)?;
            self.associate(job.associated)?;
            // Also for an empty message, which has a tag.
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
        // SAFETY: as promised by the caller; a null output means associated data.
        succeeded::<L>(unsafe {
            L::EVP_CipherUpdate(self.context, ptr::null_mut(), &mut written, associated, length)
        })
    }

    /// # Safety
    /// Both pointers are valid for the message's length.
    #[inline]
    unsafe fn update(&self, input: *const u8, output: *mut u8) -> Result<(), Error> {
        let mut written = 0;
        let length = self.jobs.message as c_int;
        if length == 0 {
            // There is nothing to pass, and OpenSSL takes a null output for associated data.
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
        // SAFETY: we own both, null is allowed, and nothing uses them afterwards.
        unsafe {
            L::EVP_CIPHER_CTX_free(self.context);
            L::EVP_CIPHER_free(self.cipher);
        }
    }
}
