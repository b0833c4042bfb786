//! Sessions for libraries that keep one context per algorithm and pass it a key, a message, or the next part
//! of a message. The steps of each phase are the same for all of them.

use crate::Body;
use crate::raw_jobs::{RawJob, RawJobs};
use alloc::vec;
use alloc::vec::Vec;
use core::ffi::c_void;
use cpb_core::{Algorithm, CryptoWorkload, Error, Operation, Phase, Progress, Session};

/// A library's context for one algorithm in one direction. The pointers of jobs are valid for [`Lengths`].
pub trait Context {
    /// Sets a key whose length has been checked. A hash has no key.
    ///
    /// # Errors
    /// Returns an error if the library reports one.
    fn key(&mut self, _key: &[u8]) -> Result<(), Error> {
        Ok(())
    }

    /// Begins a message with the current key: sets IV and associated data. Does nothing for a context that is
    /// ready as soon as it has the key or has ended the last message, or that processes a message in one
    /// call.
    ///
    /// # Errors
    /// Returns an error if the library reports one.
    #[inline]
    fn begin(&mut self, _job: &RawJob) -> Result<(), Error> {
        Ok(())
    }

    /// Processes the next part of the message.
    ///
    /// # Errors
    /// Returns the library's error, or [`Error::Refused`] if the tag does not match.
    fn part(&mut self, job: &RawJob) -> Result<(), Error>;

    /// Ends the message: writes a digest, or writes or verifies a tag.
    ///
    /// # Errors
    /// Returns the same errors as [`Context::part`].
    #[inline]
    fn end(&mut self, _job: &RawJob) -> Result<(), Error> {
        Ok(())
    }
}

/// Memory for a context that the caller must provide: zeroed, aligned like memory from malloc, and never
/// moved.
pub struct Memory(Vec<u128>);

impl Memory {
    /// Allocates `bytes` bytes.
    pub fn new(bytes: u32) -> Memory {
        Memory(vec![0; (bytes as usize).div_ceil(size_of::<u128>())])
    }

    /// The address of the memory.
    #[inline]
    pub fn pointer(&mut self) -> *mut c_void {
        self.0.as_mut_ptr().cast()
    }
}

/// What all jobs of a session have in common.
#[derive(Clone, Copy)]
pub struct Lengths {
    /// Length of a message.
    pub message: usize,
    /// Length of its associated data.
    pub associated: usize,
    /// Length of its tag.
    pub tag: usize,
    /// Length of its digest.
    pub digest: usize,
    /// Whether messages are decrypted.
    pub decrypts: bool,
}

impl Lengths {
    /// The lengths of a workload.
    pub fn of(workload: &CryptoWorkload) -> Lengths {
        let shape = workload.algorithm.shape();
        Lengths {
            message: workload.message as usize,
            associated: workload.associated as usize,
            tag: shape.tag,
            digest: shape.digest,
            decrypts: workload.operation == Operation::Decrypt,
        }
    }
}

/// Passes a session with `context` to `body`. The `keys` must fit the algorithm.
///
/// # Errors
/// Returns an error if the library rejects the first key or cannot begin, or any error from `body`.
pub fn run<C: Context>(
    mut context: C,
    workload: &CryptoWorkload,
    keys: &[&[u8]],
    jobs: &RawJobs<'_>,
    body: Body<'_>,
) -> Result<(), Error> {
    let phase = workload.phase;
    let takes_key = match phase {
        Phase::MessageWithKey | Phase::Setup => true,
        // A Poly1305 key may be used for one message only.
        Phase::Message => workload.algorithm == Algorithm::Poly1305,
        Phase::Update => false,
    };
    let first = jobs.job(0)?;
    if let Some(key) = keys.get(first.key) {
        context.key(key)?;
    }
    if phase == Phase::Update {
        context.begin(first)?;
    }
    body(&mut ContextSession { context, phase, takes_key, keys, jobs })
}

struct ContextSession<'a, C> {
    context: C,
    phase: Phase,
    takes_key: bool,
    keys: &'a [&'a [u8]],
    jobs: &'a RawJobs<'a>,
}

impl<C: Context> Session for ContextSession<'_, C> {
    #[inline]
    fn submit(&mut self, job: usize) -> Result<Progress, Error> {
        let job = self.jobs.job(job)?;
        if self.takes_key {
            // A hash has no key.
            if let Some(key) = self.keys.get(job.key) {
                self.context.key(key)?;
            }
        }
        let whole = match self.phase {
            Phase::Message | Phase::MessageWithKey => true,
            Phase::Update => false,
            Phase::Setup => return Ok(Progress::Done),
        };
        if whole {
            self.context.begin(job)?;
        }
        // This is the only call, so the compiler inlines it into this function.
        self.context.part(job)?;
        if whole {
            self.context.end(job)?;
        }
        Ok(Progress::Done)
    }

    fn output(&self, job: usize) -> Option<&[u8]> {
        self.jobs.output(job)
    }
}
