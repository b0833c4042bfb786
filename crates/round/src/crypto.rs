//! Cryptographic operations.

use crate::{Measuring, Plan, Seen, Stage, answers};
use cpb_core::measure::Expected;
use cpb_core::{Checking, Clock, CryptoWorkload, Error, Phase, Placement, Unsupported};

/// Returns an error if a round destroys its own input.
pub(crate) fn repeatable(workload: &CryptoWorkload) -> Result<(), Unsupported> {
    let overwritten = workload.placement == Placement::InPlace;
    let once_only =
        workload.algorithm.refuses(workload.operation) && workload.phase != Phase::Update;
    if overwritten && once_only {
        // The first operation overwrites the ciphertext, so its tag or MAC does not verify after that.
        return Err(Unsupported::Mode);
    }
    Ok(())
}

pub(crate) fn run<C: Clock>(
    mut plan: Plan<'_, C>,
    workload: &CryptoWorkload,
    reached: &mut dyn FnMut(Stage),
) -> Result<Seen, Error> {
    let Plan { provider, computes, .. } = plan;
    let memory = plan.memory.take();
    let mut arena = answers::prepare(provider, workload, memory)?;
    let right = answers::first(provider, workload, &mut arena, computes)?;

    let mut measuring = Measuring::new(&plan, workload.dispatch, arena.jobs());
    let each = (workload.checking == Checking::Each)
        .then_some(Expected { outputs: &right.outputs, length: arena.output_length() });
    let (keys, mut jobs) = arena.parts();
    reached(Stage::Prepared);
    provider.session(workload, &keys, &mut jobs, &mut |session| {
        measuring.round(session, each, reached)
    })?;
    drop(jobs);
    let foretold = provider.repeats(workload) && workload.algorithm.foretold(workload.operation);
    let output = if foretold { right.checksum() } else { 0 };
    answers::check_after(provider, workload, arena, right, measuring.operations, computes)?;
    Ok(measuring.seen(output))
}
