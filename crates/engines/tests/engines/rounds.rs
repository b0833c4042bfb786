//! Rounds of the timed loop, and jobs, for the tests of every engine's provider.

use crate::bus::Time;
use cpb_core::measure::Budget;
use cpb_core::{
    Build, Data, Depth, Dispatch, Error, Job, Notice, Progress, Provider, Session, Ticks, Workload,
};

pub(crate) const BUDGET: Budget = Budget {
    warmup: Ticks(0),
    batch: Ticks(0),
    limit: Ticks(u64::MAX),
    batches: 2,
    latencies: 4,
    iterations: 130,
    counted: Ticks(0),
};

/// A round in memory of its own.
pub(crate) fn plan<'p>(
    provider: &'p dyn Provider,
    workload: &'p Workload,
    clock: &'p Time,
) -> cpb_round::Plan<'p, Time> {
    cpb_round::Plan {
        provider,
        workload,
        budget: &BUDGET,
        clock,
        computes: true,
        counting: false,
        memory: None,
    }
}

/// Every form of dispatch with these depths.
pub(crate) fn forms(depths: &[Depth]) -> Vec<Dispatch> {
    let mut forms = Vec::new();
    for &build in Build::ALL {
        for &depth in depths {
            forms.extend(Notice::ALL.iter().map(|&notice| Dispatch { build, depth, notice }));
        }
    }
    forms
}

/// Jobs that hash `abc`.
pub(crate) fn of_abc(digests: &mut [[u8; 32]]) -> Vec<Job<'_>> {
    let job = |output| {
        let data = Data::Apart { input: b"abc", output };
        Job { key: 0, iv: &[], associated: &[], data, tag: &mut [] }
    };
    digests.iter_mut().map(|output| job(&mut output[..])).collect()
}

/// Builds and submits a job that is taken.
pub(crate) fn submit(session: &mut dyn Session, job: usize) -> Result<(), Error> {
    session.build(job)?;
    assert_eq!(session.submit(job), Ok(Progress::Queued));
    Ok(())
}
