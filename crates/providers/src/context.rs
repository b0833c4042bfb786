//! Sessions of libraries that keep one context for an algorithm, and take a key, a message, or the next
//! part of one. What a phase is made of is the same for all of them.

use crate::raw_jobs::{RawJob, RawJobs};
use cpb_core::{CryptoWorkload, Error, Operation, Phase, Progress, Session};

/// A library's context for one algorithm in one direction. Pointers of jobs are valid for [`Lengths`].
pub(crate) trait Context {
    /// Takes a key, whose length has been checked.
    fn key(&mut self, key: &[u8]) -> Result<(), Error>;

    /// Begins a message with the key that is there: IV and associated data.
    fn begin(&mut self, job: &RawJob) -> Result<(), Error>;

    /// The next part of it.
    fn part(&mut self, job: &RawJob) -> Result<(), Error>;

    /// Its end: a digest is written, a tag written or verified.
    fn end(&mut self, job: &RawJob) -> Result<(), Error>;
}

/// What all jobs of a session have in common.
#[derive(Clone, Copy)]
pub(crate) struct Lengths {
    pub(crate) message: usize,
    pub(crate) associated: usize,
    pub(crate) tag: usize,
    pub(crate) digest: usize,
    pub(crate) decrypts: bool,
}

impl Lengths {
    pub(crate) fn of(workload: &CryptoWorkload) -> Lengths {
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
pub(crate) fn run<C: Context>(
    mut context: C,
    phase: Phase,
    keys: &[&[u8]],
    jobs: &RawJobs<'_>,
    body: &mut dyn FnMut(&mut dyn Session) -> Result<(), Error>,
) -> Result<(), Error> {
    let first = jobs.job(0)?;
    if let Some(key) = keys.get(first.key) {
        context.key(key)?;
    }
    if phase == Phase::Update {
        context.begin(first)?;
    }
    body(&mut ContextSession { context, phase, keys, jobs })
}

struct ContextSession<'a, C> {
    context: C,
    phase: Phase,
    keys: &'a [&'a [u8]],
    jobs: &'a RawJobs<'a>,
}

impl<C: Context> Session for ContextSession<'_, C> {
    #[inline]
    fn submit(&mut self, job: usize) -> Result<Progress, Error> {
        let job = self.jobs.job(job)?;
        if matches!(self.phase, Phase::MessageWithKey | Phase::Setup) {
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
