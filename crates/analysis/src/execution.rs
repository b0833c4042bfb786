//! Where a cell was executed: the provider's claim, compared with what the system counted.
//!
//! A driver's name alone proves nothing: a driver may pass a request that it cannot run to software, and an interface
//! may select a different driver than expected. An engine that did the work raised interrupts for it, or its registers
//! counted the jobs. So a cell counts as *accelerated* only if the driver's name is known **and** its interrupts or
//! jobs are. Every other claim of an engine is *unproven*, with the reason.
//!
//! All shares are of wall-clock time, which a finished round always has. Unlike a rate over CPU time, none can be a
//! division by zero.

use crate::evidence_policy::{Metric, meaningful};
use crate::missing::NoFigure;
use crate::retired::{self, RetiredPerOperation};
use crate::summary::Known;
use crate::units::SecondsPerMegabyte;
use cpb_core::catalog;
use cpb_core::{Claim, Depth, Workload};
use cpb_record::{Cell, Evidence, ProviderRecord, Record, Round};
use serde::Serialize;

/// Fewer operations than this prove nothing, because one or two stray interrupts would suffice.
const LEAST_OPERATIONS: u64 = 20;

/// The counted interrupts must be at least this share of the fewest that an engine needs for its work. An engine that
/// gets one job at a time ends each with an interrupt. Given a queue, it may end as many as are in flight with one.
const ENOUGH: f64 = 0.5;

/// At least this share of the rounds must have [`ENOUGH`] interrupts. If another user keeps the engine busy for a
/// while, its interrupts on the same line do not count as evidence.
const MOST_ROUNDS: f64 = 0.9;

/// The least time of all CPUs together, in nanoseconds, for which a share of it is shown. Linux counts that time in
/// steps of 10 ms, and fewer than fifty steps are not accurate to a tenth.
const LEAST_MACHINE_TIME: u64 = 500_000_000;

/// Where a cell was executed, and what it took of the machine.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Execution {
    /// What ran the operations, as the layer beneath reports it: a driver's name.
    pub executor: String,
    /// Where the provider says that its executor runs.
    pub claim: Claim,
    /// The verdict that follows from the counts.
    pub verdict: ExecutorVerdict,
    /// Why it is unproven; otherwise `None`.
    pub reason: Option<String>,
    /// The number of counted operations in all rounds.
    pub operations: u64,
    /// Interrupts per operation of the executor's engine. For software, those of all engines of the machine, which
    /// should be idle then. `None` without such interrupt lines.
    pub interrupts_per_operation: Option<f64>,
    /// Jobs per operation that the executor's engine finished by its own count. `None` unless the provider drives the
    /// engine itself.
    pub jobs_per_operation: Option<f64>,
    /// Instructions per operation, where the CPU's counter can be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instructions: Option<RetiredPerOperation>,
    /// Context switches per operation; `None` if no operation was counted.
    pub switches: Option<Switches>,
    /// The cell's CPU use.
    pub cpu: Known<CpuUse>,
}

/// What the counts say about a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExecutorVerdict {
    /// An engine did it: the driver is known, and its interrupts or its jobs were counted.
    Accelerated,
    /// The CPU did it, with ordinary instructions or with its extensions.
    Software,
    /// The CPU did it in the kernel, although an engine's driver is present.
    FellBack,
    /// Not enough evidence.
    Unproven,
}

impl ExecutorVerdict {
    /// The verdict in one or two words, for tables.
    pub fn words(self) -> &'static str {
        match self {
            ExecutorVerdict::Accelerated => "accelerated",
            ExecutorVerdict::Software => "software",
            ExecutorVerdict::FellBack => "fell back",
            ExecutorVerdict::Unproven => "unproven",
        }
    }
}

/// Context switches per operation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Switches {
    /// Switches because a thread waited.
    #[serde(rename = "voluntary_per_operation")]
    pub voluntary: f64,
    /// Switches because other programs displaced a thread.
    #[serde(rename = "involuntary_per_operation")]
    pub involuntary: f64,
}

impl Switches {
    /// Switches of both kinds.
    pub fn all(self) -> f64 {
        self.voluntary + self.involuntary
    }
}

/// The CPU use of a cell, as shares of wall-clock time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CpuUse {
    /// Time that the measuring threads had a CPU; 1 is one CPU throughout.
    pub own: f64,
    /// The part of `own` in user mode; `None` if Linux has not counted any step of it.
    pub user: Option<f64>,
    /// The part of `own` in the kernel; `None` in the same case.
    pub system: Option<f64>,
    /// CPU time of the measuring threads; `None` without bytes.
    pub seconds_per_megabyte: Option<SecondsPerMegabyte>,
    /// The share of all CPUs' time in which they were busy, for any program. `None` if the rounds were too short, or
    /// if the plan does not set their duration (`counted-ms`).
    pub machine: Option<f64>,
    /// The part of `machine` in the kernel's deferred work after interrupts.
    pub softirq: Option<f64>,
}

/// Judges where `cell` was executed, from its rounds. `None` without rounds, and for the harness's own floor.
pub fn of(record: &Record, cell: &Cell, rounds: &[Round]) -> Option<Execution> {
    let ProviderRecord::Available { executor, claim, .. } =
        record.header.providers.get(&cell.provider)?
    else {
        return None;
    };
    if rounds.is_empty() || cell.provider == catalog::NULL {
        return None;
    }
    let (verdict, reason) = match judge(*claim, executor, &cell.workload, rounds) {
        Ok(verdict) => (verdict, None),
        Err(reason) => (ExecutorVerdict::Unproven, Some(reason)),
    };
    let totals = Totals::of(rounds);
    let per_operation = |count: u64| Some(count as f64 / totals.operations()?);
    Some(Execution {
        executor: executor.clone(),
        claim: *claim,
        verdict,
        reason,
        operations: totals.operations,
        interrupts_per_operation: totals.interrupts.and_then(per_operation),
        jobs_per_operation: totals.jobs.and_then(per_operation),
        instructions: retired::of(rounds, record.header.evidence),
        switches: per_operation(totals.voluntary)
            .zip(per_operation(totals.involuntary))
            .map(|(voluntary, involuntary)| Switches { voluntary, involuntary }),
        cpu: cpu(&totals, &cell.workload, record.header.evidence).into(),
    })
}

/// The verdict, or why it is unproven.
fn judge(
    claim: Claim,
    executor: &str,
    workload: &Workload,
    rounds: &[Round],
) -> Result<ExecutorVerdict, String> {
    let proof = proof(workload, rounds);
    match claim {
        Claim::Process => Ok(ExecutorVerdict::Software),
        Claim::Kernel | Claim::Fallback if proof.is_ok() => Err(format!(
            "{executor} claims to run on the CPU, but an engine raised interrupts for it"
        )),
        Claim::Kernel => Ok(ExecutorVerdict::Software),
        Claim::Fallback => Ok(ExecutorVerdict::FellBack),
        Claim::Engine | Claim::Unknown if executor.is_empty() => {
            Err("no driver is named".to_owned())
        }
        Claim::Engine | Claim::Unknown if proof.is_ok() => Ok(ExecutorVerdict::Accelerated),
        Claim::Engine => proof
            .map(|()| ExecutorVerdict::Accelerated)
            .map_err(|NoProof(why)| format!("{executor} drives an engine, but {why}")),
        Claim::Unknown => {
            Err(format!("it is unknown whether {executor} drives an engine or runs on the CPU"))
        }
    }
}

/// Why the interrupts do not prove that an engine did the work.
struct NoProof(String);

/// Whether the executor's engine raised interrupts for the operations.
fn proof(workload: &Workload, rounds: &[Round]) -> Result<(), NoProof> {
    let counted = |round: &&Round| round.counters.operations > 0;
    let rounds: Vec<&Round> = rounds.iter().filter(counted).collect();
    let operations: u64 = rounds.iter().map(|round| round.counters.operations).sum();
    if operations < LEAST_OPERATIONS {
        return Err(NoProof(format!("only {operations} operations were counted")));
    }
    if finished_jobs(&rounds) {
        return Ok(());
    }
    let per_operation: Option<Vec<(f64, f64)>> = rounds
        .iter()
        .map(|round| {
            let interrupts = round.counters.interrupts?;
            let share = interrupts as f64 / round.counters.operations as f64;
            Some((share, ENOUGH / in_flight(workload, round)))
        })
        .collect();
    let Some(per_operation) = per_operation else {
        let counts = rounds.iter().all(|round| round.counters.jobs.is_some());
        let words = if counts {
            "it finished fewer jobs than there were operations: something else may have done the work"
        } else {
            "it has no dedicated interrupt lines that could prove it"
        };
        return Err(NoProof(words.to_owned()));
    };
    let enough = per_operation.iter().filter(|(share, least)| share >= least).count();
    if enough as f64 >= MOST_ROUNDS * rounds.len() as f64 {
        return Ok(());
    }
    let words = match per_operation.iter().all(|(share, _)| *share == 0.0) {
        true => "its lines counted no interrupts".to_owned(),
        false => format!(
            "its lines counted enough interrupts in only {enough} of {} rounds",
            rounds.len()
        ),
    };
    Err(NoProof(format!("{words}: something else may have done the work")))
}

/// Whether the engine's own registers counted at least one finished job for nearly every operation of every round.
fn finished_jobs(rounds: &[&Round]) -> bool {
    rounds.iter().all(|round| {
        let operations = round.counters.operations as f64;
        round.counters.jobs.is_some_and(|jobs| jobs as f64 >= MOST_ROUNDS * operations)
    })
}

/// The number of jobs that one interrupt can have ended.
fn in_flight(workload: &Workload, round: &Round) -> f64 {
    match workload.dispatch().depth {
        Depth::Jobs(depth) => depth.max(1).into(),
        Depth::Ring => round.iterations.max(1).into(),
    }
}

/// The sums of the counters over all rounds of a cell.
#[derive(Default)]
struct Totals {
    operations: u64,
    wall_ns: u64,
    cpu_ns: u64,
    user_ns: u64,
    system_ns: u64,
    voluntary: u64,
    involuntary: u64,
    interrupts: Option<u64>,
    jobs: Option<u64>,
    busy_ns: u64,
    softirq_ns: u64,
    total_ns: u64,
}

impl Totals {
    fn of(rounds: &[Round]) -> Totals {
        let mut totals = Totals { interrupts: Some(0), jobs: Some(0), ..Totals::default() };
        for counters in rounds.iter().map(|round| &round.counters) {
            let machine = counters.machine.unwrap_or_default();
            let add = |sum: &mut u64, more: u64| *sum = sum.saturating_add(more);
            add(&mut totals.operations, counters.operations);
            add(&mut totals.wall_ns, counters.wall_ns);
            add(&mut totals.cpu_ns, counters.cpu_ns);
            add(&mut totals.user_ns, counters.user_ns);
            add(&mut totals.system_ns, counters.system_ns);
            add(&mut totals.voluntary, counters.voluntary.into());
            add(&mut totals.involuntary, counters.involuntary.into());
            add(&mut totals.busy_ns, machine.busy_ns);
            add(&mut totals.softirq_ns, machine.softirq_ns);
            add(&mut totals.total_ns, machine.total_ns);
            let sum = totals.interrupts.zip(counters.interrupts);
            totals.interrupts = sum.map(|(sum, more)| sum.saturating_add(more));
            let sum = totals.jobs.zip(counters.jobs);
            totals.jobs = sum.map(|(sum, more)| sum.saturating_add(more));
        }
        totals
    }

    fn operations(&self) -> Option<f64> {
        (self.operations > 0).then_some(self.operations as f64)
    }
}

fn cpu(totals: &Totals, workload: &Workload, evidence: Evidence) -> Result<CpuUse, NoFigure> {
    meaningful(Metric::CpuUse, evidence).map_err(NoFigure::Meaningless)?;
    let Some(operations) = totals.operations() else { return Err(NoFigure::NotCounted) };
    if totals.wall_ns == 0 {
        return Err(NoFigure::Broken("operations that took no time"));
    }
    let own = totals.cpu_ns as f64 / totals.wall_ns as f64;
    let modes = totals.user_ns.saturating_add(totals.system_ns);
    let part = |ns: u64| (modes > 0).then(|| own * ns as f64 / modes as f64);
    let long_enough = totals.total_ns >= LEAST_MACHINE_TIME;
    let share = |ns: u64| long_enough.then(|| ns as f64 / totals.total_ns as f64);
    let megabytes = operations * workload.bytes() as f64 / 1e6;
    Ok(CpuUse {
        own,
        user: part(totals.user_ns),
        system: part(totals.system_ns),
        seconds_per_megabyte: (megabytes > 0.0)
            .then(|| SecondsPerMegabyte(totals.cpu_ns as f64 / 1e9 / megabytes)),
        machine: share(totals.busy_ns),
        softirq: share(totals.softirq_ns),
    })
}

#[cfg(test)]
#[path = "execution_tests.rs"]
mod tests;
