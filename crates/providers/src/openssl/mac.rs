//! Sessions of message authentication codes.

use super::ffi::Libcrypto;
use super::{Source, evp_name, ffi, last_error, succeeded};
use crate::raw_jobs::RawJobs;
use core::ffi::CStr;
use core::marker::PhantomData;
use core::ptr;
use cpb_core::{Algorithm, Error, Phase, Progress, Session, Unsupported};

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

pub(super) struct MacSession<'a, L: Libcrypto> {
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
    pub(super) fn open(
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
