//! Who executed a cell: what its provider claims, held against what the system counted.
//!
//! A driver's name alone proves nothing: a driver may hand a request it cannot run to software, and
//! an interface may take another driver than the one that was hoped for. An engine that did the work
//! has interrupted for it. So a cell is *accelerated* only by a name **and** interrupts; everything
//! else that claims an engine is *unproven*, with the reason.
//!
//! All shares are of wall-clock time, which a finished round always has: unlike a rate over CPU time,
//! none can be a division by nothing.

use crate::evidence_policy::{Metric, meaningful};
use crate::missing::NoFigure;
use crate::summary::Known;
use crate::units::SecondsPerMegabyte;
use cpb_core::catalog;
use cpb_core::{Claim, Depth, Workload};
use cpb_record::{Cell, Evidence, ProviderRecord, Record, Round};
use serde::Serialize;

/// Fewer operations than this prove nothing: a stray interrupt or two would do.
const LEAST_OPERATIONS: u64 = 20;

/// So much of the fewest interrupts that an engine can do its work with must have been counted. An
/// engine that is given one job at a time ends each with an interrupt; given a queue, it may end
/// as many as are in flight with one.
const ENOUGH: f64 = 0.5;

/// In so many of the rounds there must be [`ENOUGH`]: a line that another user of the engine keeps
/// busy for a while is none of our own.
const MOST_ROUNDS: f64 = 0.9;

/// The least of all CPUs' time, in nanoseconds, from which a share of it is worth showing: Linux
/// tells that time in steps of 10 ms, and fewer than fifty of them are good to no tenth.
const LEAST_MACHINE_TIME: u64 = 500_000_000;

/// Who executed a cell, and what it took of the machine.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Execution {
    /// What ran the operations, as the layer beneath reports it: a driver's name.
    pub executor: String,
    /// Where that is, as the provider is told.
    pub claim: Claim,
    /// What the counts make of it.
    pub verdict: ExecutorVerdict,
    /// Why it is unproven; none otherwise.
    pub reason: Option<String>,
    /// Operations that were counted, in all rounds.
    pub operations: u64,
    /// Interrupts of the executor's engine for each operation; for software, of all engines that the
    /// machine has, which stand still then. None without such lines.
    pub interrupts_per_operation: Option<f64>,
    /// Context switches for each operation; none if no operation was counted.
    pub switches: Option<Switches>,
    /// What it took of the CPUs.
    pub cpu: Known<CpuUse>,
}

/// What counts make of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExecutorVerdict {
    /// An engine did it: its driver is named, and its interrupts were counted.
    Accelerated,
    /// The CPU did it, by ordinary instructions or by its extensions.
    Software,
    /// The CPU did it in the kernel, although a driver of an engine is there.
    FellBack,
    /// Nothing tells.
    Unproven,
}

impl ExecutorVerdict {
    /// One or two words for a table.
    pub fn words(self) -> &'static str {
        match self {
            ExecutorVerdict::Accelerated => "accelerated",
            ExecutorVerdict::Software => "software",
            ExecutorVerdict::FellBack => "fell back",
            ExecutorVerdict::Unproven => "unproven",
        }
    }
}

/// Context switches for each operation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Switches {
    /// Those that the threads asked for by waiting.
    #[serde(rename = "voluntary_per_operation")]
    pub voluntary: f64,
    /// Those that they did not.
    #[serde(rename = "involuntary_per_operation")]
    pub involuntary: f64,
}

impl Switches {
    /// Of either kind.
    pub fn all(self) -> f64 {
        self.voluntary + self.involuntary
    }
}

/// What a cell took of the CPUs, as shares of wall-clock time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CpuUse {
    /// Time that the measuring threads had a CPU; 1 is one CPU all the time.
    pub own: f64,
    /// The part of `own` in user mode; none if Linux has not told of any step of it.
    pub user: Option<f64>,
    /// The part of `own` in the kernel, likewise.
    pub system: Option<f64>,
    /// CPU time of the measuring threads; none without bytes.
    pub seconds_per_megabyte: Option<SecondsPerMegabyte>,
    /// Share of all CPUs' time in which they did anything at all, for whomever; none if the rounds
    /// were too short to tell, or not made to last (`counted-ms` in a plan).
    pub machine: Option<f64>,
    /// The part of `machine` in the kernel's deferred work after interrupts.
    pub softirq: Option<f64>,
}

/// Who executed `cell`, by its rounds; none without rounds, and for the harness's own floor.
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
        switches: per_operation(totals.voluntary)
            .zip(per_operation(totals.involuntary))
            .map(|(voluntary, involuntary)| Switches { voluntary, involuntary }),
        cpu: cpu(&totals, &cell.workload, record.header.evidence).into(),
    })
}

/// The verdict, or why there is none.
fn judge(
    claim: Claim,
    executor: &str,
    workload: &Workload,
    rounds: &[Round],
) -> Result<ExecutorVerdict, String> {
    let proof = proof(workload, rounds);
    match claim {
        Claim::Process => Ok(ExecutorVerdict::Software),
        Claim::Kernel | Claim::Fallback if proof.is_ok() => {
            Err(format!("{executor} is said to run on the CPU, but an engine interrupted for it"))
        }
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
            Err(format!("nothing tells whether {executor} drives an engine or runs on the CPU"))
        }
    }
}

/// Why interrupts do not prove that an engine did the work.
struct NoProof(String);

/// Whether the executor's engine interrupted for the operations.
fn proof(workload: &Workload, rounds: &[Round]) -> Result<(), NoProof> {
    let counted = |round: &&Round| round.counters.operations > 0;
    let rounds: Vec<&Round> = rounds.iter().filter(counted).collect();
    let operations: u64 = rounds.iter().map(|round| round.counters.operations).sum();
    if operations < LEAST_OPERATIONS {
        return Err(NoProof(format!("only {operations} operations were counted")));
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
        return Err(NoProof("it has no interrupt lines of its own that could prove it".to_owned()));
    };
    let enough = per_operation.iter().filter(|(share, least)| share >= least).count();
    if enough as f64 >= MOST_ROUNDS * rounds.len() as f64 {
        return Ok(());
    }
    let words = match per_operation.iter().all(|(share, _)| *share == 0.0) {
        true => "its lines counted no interrupt".to_owned(),
        false => format!(
            "its lines counted enough interrupts in {enough} of {} rounds only",
            rounds.len()
        ),
    };
    Err(NoProof(format!("{words}: something else may have done the work")))
}

/// How many jobs one interrupt can have ended.
fn in_flight(workload: &Workload, round: &Round) -> f64 {
    match workload.dispatch().depth {
        Depth::Jobs(depth) => depth.max(1).into(),
        Depth::Ring => round.iterations.max(1).into(),
    }
}

/// The sums of what all rounds of a cell counted.
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
    busy_ns: u64,
    softirq_ns: u64,
    total_ns: u64,
}

impl Totals {
    fn of(rounds: &[Round]) -> Totals {
        let mut totals = Totals { interrupts: Some(0), ..Totals::default() };
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
