//! Sessions of message authentication codes.

use super::ffi::Libcrypto;
use super::{Source, evp_name, ffi, last_error, succeeded};
use core::ffi::CStr;
use core::marker::PhantomData;
use core::ptr;
use cpb_core::{Algorithm, Error, Phase, Progress, Session, Unsupported};
use cpb_session::raw_jobs::RawJobs;

/// libcrypto's name of a MAC, and of the parameter that takes [`evp_name`], if there is one.
pub(super) fn mac_name(algorithm: Algorithm) -> (&'static CStr, Option<&'static CStr>) {
    match algorithm {
        Algorithm::Poly1305 => (c"POLY1305", None),
        Algorithm::Aes128Cmac | Algorithm::Aes256Cmac => {
            (c"CMAC", Some(ffi::OSSL_MAC_PARAM_CIPHER))
        }
        _ => (c"HMAC", Some(ffi::OSSL_MAC_PARAM_DIGEST)),
    }
}

/// A MAC with its key.
pub(super) struct MacContext<L: Libcrypto> {
    library: PhantomData<L>,
    mac: *mut ffi::EVP_MAC,
    context: *mut ffi::EVP_MAC_CTX,
    length: usize,
}

impl<L: Libcrypto> MacContext<L> {
    pub(super) fn new(source: Source<L>, algorithm: Algorithm, key: &[u8]) -> Result<Self, Error> {
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
        let length = algorithm.shape().digest;
        let made = MacContext { library: PhantomData, mac, context, length };
        if mac.is_null() {
            last_error::<L>();
            return Err(Unsupported::BuildOption.into());
        }
        succeeded::<L>(status)?;
        Ok(made)
    }

    /// Begins a message. An empty key keeps the current one.
    #[inline]
    pub(super) fn start(&self, key: &[u8]) -> Result<(), Error> {
        let pointer = if key.is_empty() { ptr::null() } else { key.as_ptr() };
        // SAFETY: the context is live; a null key keeps the current one.
        succeeded::<L>(unsafe { L::EVP_MAC_init(self.context, pointer, key.len(), ptr::null()) })
    }

    /// # Safety
    /// There are `length` bytes at `part`, and a message has begun.
    #[inline]
    pub(super) unsafe fn update(&self, part: *const u8, length: usize) -> Result<(), Error> {
        // SAFETY: as promised by the caller; the context is live.
        succeeded::<L>(unsafe { L::EVP_MAC_update(self.context, part, length) })
    }

    /// # Safety
    /// There is room for a MAC at `output`, and a message has begun.
    #[inline]
    pub(super) unsafe fn finish(&self, output: *mut u8) -> Result<(), Error> {
        let mut written = 0;
        // SAFETY: as promised by the caller; the context is live.
        succeeded::<L>(unsafe { L::EVP_MAC_final(self.context, output, &mut written, self.length) })
    }
}

impl<L: Libcrypto> Drop for MacContext<L> {
    fn drop(&mut self) {
        // SAFETY: we own both, null is allowed, and nothing uses them afterwards.
        unsafe {
            L::EVP_MAC_CTX_free(self.context);
            L::EVP_MAC_free(self.mac);
        }
    }
}

pub(super) struct MacSession<'a, L: Libcrypto> {
    context: MacContext<L>,
    keys: &'a [&'a [u8]],
    jobs: RawJobs<'a>,
    phase: Phase,
    /// Whether a key is good for one message only.
    one_time_key: bool,
}

impl<'a, L: Libcrypto> MacSession<'a, L> {
    pub(super) fn open(
        source: Source<L>,
        algorithm: Algorithm,
        phase: Phase,
        keys: &'a [&'a [u8]],
        jobs: RawJobs<'a>,
    ) -> Result<Self, Error> {
        let key = keys.first().ok_or(Unsupported::Length)?;
        let context = MacContext::new(source, algorithm, key)?;
        let one_time_key = algorithm == Algorithm::Poly1305;
        Ok(MacSession { context, keys, jobs, phase, one_time_key })
    }
}

impl<L: Libcrypto> Session for MacSession<'_, L> {
    #[inline]
    fn submit(&mut self, job: usize) -> Result<Progress, Error> {
        let job = self.jobs.job(job)?;
        match self.phase {
            Phase::Message if !self.one_time_key => self.context.start(&[])?,
            Phase::Message | Phase::MessageWithKey | Phase::Setup => {
                self.context.start(self.keys[job.key])?
            }
            Phase::Update => {}
        }
        if self.phase == Phase::Setup {
            return Ok(Progress::Done);
        }
        // SAFETY: a message has begun; the output has the MAC's length.
        unsafe {
            self.context.update(job.input, self.jobs.message)?;
            if self.phase != Phase::Update {
                self.context.finish(job.output)?;
            }
        }
        Ok(Progress::Done)
    }

    fn output(&self, job: usize) -> Option<&[u8]> {
        self.jobs.output(job)
    }
}
