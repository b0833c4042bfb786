//! Sessions that run one function for each job.

use crate::Body;
use crate::raw_jobs::{RawJob, RawJobs};
use cpb_core::{Error, Phase, Progress, Session};

/// A session that calls `run` for each submitted job.
pub struct Submit<'a, F> {
    /// The session's jobs.
    pub jobs: &'a RawJobs<'a>,
    /// See [`Session::period`].
    pub period: u32,
    /// The function that runs a job.
    pub run: F,
}

impl<F: FnMut(&RawJob) -> Result<(), Error>> Session for Submit<'_, F> {
    #[inline]
    fn submit(&mut self, job: usize) -> Result<Progress, Error> {
        (self.run)(self.jobs.job(job)?)?;
        Ok(Progress::Done)
    }

    fn period(&self) -> u32 {
        self.period
    }

    fn output(&self, job: usize) -> Option<&[u8]> {
        self.jobs.output(job)
    }
}

/// Passes a session to `body` that calls `run` for each job. No job does work for others.
///
/// # Errors
/// Returns any error from `body`.
pub fn each(
    jobs: &RawJobs<'_>,
    run: impl FnMut(&RawJob) -> Result<(), Error>,
    body: Body<'_>,
) -> Result<(), Error> {
    body(&mut Submit { jobs, period: 1, run })
}

/// Passes a session of key agreements to `body`: `peer` reads a job's public key, and `derive` computes the
/// secret from it. In `Update`, the first job's public key is read before the clock starts and used for every
/// job.
///
/// # Errors
/// Returns any error from `body`, or an error if the first peer's key is invalid.
pub fn agree<P>(
    jobs: &RawJobs<'_>,
    phase: Phase,
    mut peer: impl FnMut(&RawJob) -> Result<P, Error>,
    mut derive: impl FnMut(&RawJob, &P) -> Result<(), Error>,
    body: Body<'_>,
) -> Result<(), Error> {
    if phase == Phase::Update {
        let peer = peer(jobs.job(0)?)?;
        return each(jobs, |job| derive(job, &peer), body);
    }
    let both = |job: &RawJob| {
        let peer = peer(job)?;
        derive(job, &peer)
    };
    each(jobs, both, body)
}
