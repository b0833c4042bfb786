// Contexts and sessions of one variant of Mbed TLS, included before the files of its algorithms: by
// ../mbedtls.rs once a variant, where `library` is that variant; by ../mbedtls_system/shared.rs, where it is
// the installed one; and by the firmware's for the version that it has. Each function of theirs opens a context
// and gives `body` a closure that runs one job.
//
// SAFETY, for every call into C in all of them: contexts are boxed and stay where they were initialised
// until they are freed; keys have the algorithm's length; a job's pointers are valid for the
// lengths in `jobs`, which `RawJobs::new` compared with the buffers themselves.

use super::Body;
use super::ffi;
use crate::raw_jobs::{RawJob, RawJobs};
use alloc::boxed::Box;
use core::ffi::{c_int, c_void};
use cpb_core::{CryptoWorkload, Error, Operation, Phase, Progress, Session, Unsupported};

/// A context in its box, freed when it is dropped.
struct Context<T> {
    context: Box<T>,
    free: unsafe extern "C" fn(*mut T),
}

impl<T> Context<T> {
    fn new(
        uninit: T,
        init: unsafe extern "C" fn(*mut T),
        free: unsafe extern "C" fn(*mut T),
    ) -> Self {
        let mut context = Box::new(uninit);
        // SAFETY: room for a context, in its final place.
        unsafe { init(&mut *context) };
        Context { context, free }
    }

    #[inline]
    fn get(&mut self) -> *mut T {
        &mut *self.context
    }
}

impl<T> Drop for Context<T> {
    fn drop(&mut self) {
        // SAFETY: was initialised in `new`, is freed once.
        unsafe { (self.free)(self.get()) };
    }
}

/// A session whose whole work is one function of the job.
struct Submit<'a, F> {
    jobs: &'a RawJobs<'a>,
    run: F,
}

impl<F: FnMut(&RawJob) -> Result<(), Error>> Session for Submit<'_, F> {
    #[inline]
    fn submit(&mut self, job: usize) -> Result<Progress, Error> {
        (self.run)(self.jobs.job(job)?)?;
        Ok(Progress::Done)
    }

    fn output(&self, job: usize) -> Option<&[u8]> {
        self.jobs.output(job)
    }
}
