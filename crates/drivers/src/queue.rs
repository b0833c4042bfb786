//! What every provider with a queue refuses before its engine sees it.

use core::time::Duration;
use cpb_core::{
    Build, Bus, CryptoWorkload, Depth, Dispatch, DmaAddress, Error, Job, Notice, Unsupported,
};

/// How long a driver waits for an interrupt.
pub(crate) const PATIENCE: Duration = Duration::from_millis(200);

/// How often a driver reads a register until it gives up: at least 0.1 s, in which the DCP encrypts 5 MB.
pub(crate) const POLLS: u32 = 2_000_000;

/// Checks that a queue of `length` jobs is deep enough. `runs_at_once` is for work that is never queued.
pub(crate) fn dispatched(
    dispatch: Dispatch,
    length: usize,
    runs_at_once: bool,
) -> Result<(), Unsupported> {
    let Dispatch { build, depth, notice } = dispatch;
    let too_deep = match depth {
        Depth::Jobs(jobs) => usize::from(jobs) > length,
        Depth::Ring => false,
    };
    let queued = depth != Depth::Jobs(1) || build == Build::Before || notice == Notice::Last;
    if too_deep || (queued && runs_at_once) { Err(Unsupported::Mode) } else { Ok(()) }
}

/// Checks the keys and jobs of a session. A job has the place in the queue that its number has, modulo the queue's
/// `length`; so jobs that are built before the clock starts must all have one of their own.
pub(crate) fn accepted(
    workload: &CryptoWorkload,
    keys: &[&[u8]],
    jobs: &[Job<'_>],
    length: usize,
    takes_key: impl Fn(&[u8]) -> bool,
) -> Result<(), Error> {
    let before = workload.dispatch.build == Build::Before;
    if jobs.len() > length && (before || !jobs.len().is_multiple_of(length)) {
        return Err(Unsupported::Memory.into());
    }
    let shape = workload.algorithm.shape();
    let fits = |job: &Job<'_>| {
        let whole = job.iv.len() == shape.iv && job.tag.len() == shape.tag;
        whole && job.key < keys.len().max(1)
    };
    let keyed = keys.iter().all(|key| takes_key(key)) && (shape.key == 0 || !keys.is_empty());
    if keyed && jobs.iter().all(fits) { Ok(()) } else { Err(Unsupported::Length.into()) }
}

/// The bus address of a buffer.
pub(crate) fn address(bus: &impl Bus, buffer: &[u8]) -> Result<u32, Error> {
    let DmaAddress(address) = bus.dma_address(buffer).ok_or(Unsupported::Memory)?;
    Ok(address)
}
