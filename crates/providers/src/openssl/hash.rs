//! Sessions of hash functions.

use super::ffi::Libcrypto;
use super::{Source, evp_name, ffi, last_error, succeeded};
use core::marker::PhantomData;
use core::ptr;
use cpb_core::{Algorithm, Error, Phase, Progress, Session, Unsupported};
use cpb_session::raw_jobs::RawJobs;

pub(super) struct HashSession<'a, L: Libcrypto> {
    library: PhantomData<L>,
    digest: *mut ffi::EVP_MD,
    context: *mut ffi::EVP_MD_CTX,
    jobs: RawJobs<'a>,
    phase: Phase,
}

impl<'a, L: Libcrypto> HashSession<'a, L> {
    pub(super) fn open(
        source: Source<L>,
        algorithm: Algorithm,
        phase: Phase,
        jobs: RawJobs<'a>,
    ) -> Result<Self, Error> {
        let digest = source.digest(evp_name(algorithm));
        // SAFETY: takes no arguments.
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
        // SAFETY: we own both, null is allowed, and nothing uses them afterwards.
        unsafe {
            L::EVP_MD_CTX_free(self.context);
            L::EVP_MD_free(self.digest);
        }
    }
}
