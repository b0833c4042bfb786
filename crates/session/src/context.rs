//! Sessions of libraries that keep one context for an algorithm, and take a key, a message, or the next
//! part of one. What a phase is made of is the same for all of them.

use crate::Body;
use crate::raw_jobs::{RawJob, RawJobs};
use alloc::vec;
use alloc::vec::Vec;
use core::ffi::c_void;
use cpb_core::{Algorithm, CryptoWorkload, Error, Operation, Phase, Progress, Session};

/// A library's context for one algorithm in one direction. Pointers of jobs are valid for [`Lengths`].
pub trait Context {
    /// Takes a key, whose length has been checked. A hash has none.
    ///
    /// # Errors
    /// The library's.
    fn key(&mut self, _key: &[u8]) -> Result<(), Error> {
        Ok(())
    }

    /// Begins a message with the key that is there: IV and associated data. Nothing for who is ready since
    /// the key, or since the last message's end, or takes a message in one call.
    ///
    /// # Errors
    /// The library's.
    #[inline]
    fn begin(&mut self, _job: &RawJob) -> Result<(), Error> {
        Ok(())
    }

    /// The next part of it.
    ///
    /// # Errors
    /// The library's; [`Error::Refused`] where the tag does not fit.
    fn part(&mut self, job: &RawJob) -> Result<(), Error>;

    /// Its end: a digest is written, a tag written or verified.
    ///
    /// # Errors
    /// As of a part.
    #[inline]
    fn end(&mut self, _job: &RawJob) -> Result<(), Error> {
        Ok(())
    }
}

/// Memory of a context that the caller holds, zeroed, aligned as malloc would, and never moved.
pub struct Memory(Vec<u128>);

impl Memory {
    /// So many bytes.
    pub fn new(bytes: u32) -> Memory {
        Memory(vec![0; (bytes as usize).div_ceil(size_of::<u128>())])
    }

    /// Where it is.
    #[inline]
    pub fn pointer(&mut self) -> *mut c_void {
        self.0.as_mut_ptr().cast()
    }
}

/// What all jobs of a session have in common.
#[derive(Clone, Copy)]
pub struct Lengths {
    /// Of a message.
    pub message: usize,
    /// Of its associated data.
    pub associated: usize,
    /// Of its tag.
    pub tag: usize,
    /// Of its digest.
    pub digest: usize,
    /// Whether messages are decrypted.
    pub decrypts: bool,
}

impl Lengths {
    /// Those of a workload.
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

/// Hands a session of `context` to `body`. `keys` fit the algorithm.
///
/// # Errors
/// The library does not take the first key, or does not begin, or what `body` returns.
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
        // Its key is good for one message.
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
            // Of a hash there is none.
            if let Some(key) = self.keys.get(job.key) {
                self.context.key(key)?;
            }
        }
        match self.phase {
            Phase::Message | Phase::MessageWithKey => {
                self.context.begin(job)?;
                self.context.part(job)?;
                self.context.end(job)?;
            }
            Phase::Update => self.context.part(job)?,
            Phase::Setup => {}
        }
        Ok(Progress::Done)
    }

    fn output(&self, job: usize) -> Option<&[u8]> {
        self.jobs.output(job)
    }
}
