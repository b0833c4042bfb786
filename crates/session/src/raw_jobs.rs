//! A session's jobs as pointers, for C functions.

use alloc::vec::Vec;
use cpb_core::Lengths;
use cpb_core::{Checking, Dispatch, KeyUse, Phase};
use cpb_core::{CryptoWorkload, Error, Job, Kind, Unsupported};

/// Pointers into one job, valid as long as the session's jobs are borrowed.
pub struct RawJob {
    /// The index of its key.
    pub key: usize,
    /// Its IV, nonce or counter.
    pub iv: *const u8,
    /// Its associated data.
    pub associated: *const u8,
    /// The input.
    pub input: *const u8,
    /// Where the answer goes; in place, this is the input.
    pub output: *mut u8,
    /// Where a tag or a signature is read or written.
    pub tag: *mut u8,
}

/// All jobs of a session, and their common lengths.
pub struct RawJobs<'a> {
    jobs: Vec<RawJob>,
    /// Message length.
    pub message: usize,
    /// Length of the associated data.
    pub associated: usize,
    output: usize,
    // The buffers stay borrowed, for writing, as long as the pointers are used.
    _borrowed: core::marker::PhantomData<&'a mut [u8]>,
}

impl<'a> RawJobs<'a> {
    /// Takes the pointers after checking that all lengths are those of the workload. FFI calls rely on this.
    ///
    /// # Errors
    /// Returns an error if a buffer has another length, if a job's key does not exist, or if there is no job.
    pub fn new(
        workload: &CryptoWorkload,
        keys: &[&[u8]],
        jobs: &'a mut [Job<'_>],
    ) -> Result<Self, Error> {
        let shape = workload.algorithm.shape();
        let message = workload.message as usize;
        let Lengths { key, associated, input, output, tag } = workload.lengths();
        let fits = |job: &Job<'_>| {
            let given = match &job.data {
                cpb_core::Data::Apart { input, .. } => input.len(),
                cpb_core::Data::InPlace(buffer) => buffer.len(),
            };
            (job.iv.len(), job.tag.len(), job.associated.len()) == (shape.iv, tag, associated)
                && (given, job.data.output().len()) == (input, output)
                && (key == 0 || job.key < keys.len())
        };
        if !jobs.iter().all(fits) || jobs.is_empty() {
            return Err(Unsupported::Length.into());
        }
        let jobs = jobs.iter_mut().map(|job| {
            let (input, output) = job.data.pointers();
            RawJob {
                key: job.key,
                iv: job.iv.as_ptr(),
                associated: job.associated.as_ptr(),
                input,
                output,
                tag: job.tag.as_mut_ptr(),
            }
        });
        let borrowed = core::marker::PhantomData;
        Ok(RawJobs { jobs: jobs.collect(), message, associated, output, _borrowed: borrowed })
    }

    /// The job with index `job`.
    ///
    /// # Errors
    /// Returns [`Error::Contract`] if no job has that index.
    #[inline]
    pub fn job(&self, job: usize) -> Result<&RawJob, Error> {
        self.jobs.get(job).ok_or(Error::Contract)
    }

    /// All jobs, in order.
    pub fn all(&self) -> &[RawJob] {
        &self.jobs
    }

    /// The output of the job with index `job`.
    pub fn output(&self, job: usize) -> Option<&[u8]> {
        let job = self.jobs.get(job)?;
        // SAFETY: `new` checked that the output has this length. It is borrowed for 'a, and the C library
        // that writes to it is not running while `self` is borrowed here.
        Some(unsafe { core::slice::from_raw_parts(job.output, self.output) })
    }
}

/// Rejects what a library that works on the caller's thread cannot do: more than one job at a time, and a
/// different key per message unless the key schedule is part of the message's time.
///
/// # Errors
/// Returns an error if the workload is invalid, or asks for something that such a library cannot do.
pub fn software_supports(workload: &CryptoWorkload) -> Result<(), Unsupported> {
    workload.valid()?;
    if workload.algorithm.shape().kind == Kind::Copy {
        return Err(Unsupported::Algorithm);
    }
    let with_key = workload.phase == Phase::MessageWithKey || workload.phase == Phase::Setup;
    if workload.dispatch != Dispatch::SERIAL
        || (workload.keys == KeyUse::PerMessage && !with_key)
        || (workload.checking == Checking::Each && workload.phase == Phase::Setup)
    {
        return Err(Unsupported::Mode);
    }
    Ok(())
}
