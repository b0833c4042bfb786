//! Memory reads.

use crate::pages::{PAGE, Pages};
use crate::{Measuring, Plan, Seen, Stage};
use cpb_core::check::once;
use cpb_core::memory_read::{Pattern, Region};
use cpb_core::sums;
use cpb_core::{Clock, Error, MemoryReadWorkload, MemoryReader, Provider, Unsupported, WorkingSet};

/// The implementation of memory reads by `provider`.
pub(crate) fn reader(provider: &dyn Provider) -> Result<&dyn MemoryReader, Unsupported> {
    provider.memory_reader().ok_or(Unsupported::Algorithm)
}

/// Measures memory reads. The sum is compared with the expected one twice: after one untimed operation, and
/// after all of them.
pub(crate) fn run<C: Clock>(
    mut plan: Plan<'_, C>,
    workload: &MemoryReadWorkload,
    reached: &mut dyn FnMut(Stage),
) -> Result<Seen, Error> {
    let Plan { provider, computes, .. } = plan;
    let memory = plan.memory.take();
    let reader = reader(provider)?;
    workload.valid()?;
    let (length, count) = (workload.buffer(), workload.buffers());
    let mut pages;
    // A provider that reads nothing needs no particular memory.
    let [first, second] = if workload.region == Region::Ram || !computes {
        let stride = length.next_multiple_of(PAGE);
        pages = Pages::zeroed(stride * count, memory).ok_or(Unsupported::Memory)?;
        let mut buffers = pages.bytes().chunks_exact_mut(stride).take(count);
        [0, 1].map(|index| {
            let Some(buffer) = buffers.next() else { return &[][..] };
            sums::fill(index, &mut buffer[..length]);
            &buffer[..length]
        })
    } else {
        let [first, second] = reader.resident(workload.region).ok_or(Unsupported::Device)?;
        let (first, second) = (first.get(..length), second.get(..length));
        [first.ok_or(Unsupported::Memory)?, second.ok_or(Unsupported::Memory)?]
    };
    let set = match workload.pattern {
        Pattern::Linear => WorkingSet::Linear(first),
        Pattern::PingPong => WorkingSet::PingPong(first, second),
    };
    let truth = sums::truth(workload);
    let is_right = |sum: u64, operations: u64| !computes || sum == truth.wrapping_mul(operations);

    let mut sum = 0;
    reader.session(workload, set, &mut sum, &mut |session| once(session, 0))?;
    if !is_right(sum, 1) {
        return Err(Error::WrongAnswer);
    }
    let mut measuring = Measuring::new(&plan, plan.workload.dispatch(), 1);
    let mut sum = 0;
    reached(Stage::Prepared);
    reader
        .session(workload, set, &mut sum, &mut |session| measuring.round(session, None, reached))?;
    if !is_right(sum, measuring.operations) {
        return Err(Error::WrongAnswer);
    }
    Ok(measuring.seen(truth))
}
