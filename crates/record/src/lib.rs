//! A record: everything that one run observed, with enough context for a reader who was not there.
//!
//! It is a file of JSON lines. The first is the [`Header`]. Then come known-answer checks, rounds and cells without a
//! figure, in the order in which they happened. The last is the [`End`], which is missing if the run was killed. A
//! record contains no averages: `cpb-analysis` computes figures from it, as often as needed. A record of published
//! figures contains their sources and cells instead of rounds.

pub mod budget;
mod cores;
pub mod evidence;
pub mod foreign;
mod machine;
pub mod names;
pub mod plan;
mod published;
pub mod settings;
pub mod size;
pub mod store;

pub use cores::{ClockReading, CoreContext, Cores, When};
pub use machine::{EngineCount, Machine, State};
pub use published::{Flag, FlagKind, Printed, Published, PublishedPath, Quantity, Source};

use cpb_core::catalog;
use cpb_core::message::{ClockDescription, Counters};
use cpb_core::{
    Algorithm, Claim, CryptoWorkload, Error, MemoryReadWorkload, Operation, Reference, Unsupported,
    Workload,
};
use serde::{Deserialize, Serialize};
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::fmt;

/// Version of this schema. A reader accepts this version and every earlier one.
pub const SCHEMA: u32 = 1;

/// One line of a record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Line {
    /// The first line.
    Cpb(Box<Header>),
    /// The result of known-answer checks.
    Check(Check),
    /// One round of one cell.
    Round(Round),
    /// A cell without a figure.
    #[serde(rename = "without")]
    NotMeasured(NotMeasured),
    /// The source of the published cells that follow.
    Source(Source),
    /// One cell of a published table.
    Published(Published),
    /// A problem that affects the figures, found during the run.
    Warning(String),
    /// The last line.
    End(End),
}

/// What was run, where, and by which version of cpb.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// [`SCHEMA`].
    pub schema: u32,
    /// Version of cpb.
    pub version: String,
    /// When the run began, RFC 3339, UTC.
    pub began: String,
    /// What kind of evidence the figures are.
    pub evidence: Evidence,
    /// Where the providers ran: `ssh:HOST`, `lab:GUEST` or a board's name; empty for the machine that cpb ran on.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub target: String,
    /// The machine and the state it was in.
    pub machine: crate::Machine,
    /// What was planned to be measured.
    pub plan: plan::Plan,
    /// The CPUs that were measured. Single-threaded cells use the first.
    pub cpus: Vec<usize>,
    /// The providers, by name.
    pub providers: BTreeMap<String, ProviderRecord>,
    /// The kernel's crypto drivers, if a provider used them or was meant to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<Box<cpb_core::kernel::KernelSurvey>>,
    /// Problems that affect the figures, each with a remedy.
    pub warnings: Vec<String>,
}

/// What a figure rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Evidence {
    /// Measured on the real machine.
    Hardware,
    /// Measured on an emulated CPU, so the times mean nothing.
    Emulated,
    /// Computed by cpb's own simulator.
    Simulated,
    /// Copied from a published table.
    Published,
    /// Read from another tool's log.
    Imported,
}

/// A provider's description of itself, or the reason why it is unavailable.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "state")]
pub enum ProviderRecord {
    /// It runs on this machine.
    Available {
        /// Version of the library.
        version: String,
        /// What runs the operation, as that layer reports it.
        executor: String,
        /// Where the operation runs, as far as the provider knows.
        claim: Claim,
        /// Compiler, flags, masks.
        options: String,
        /// The runner's clock. The length of its reference chain differs between processes; see [`Round`].
        clock: ClockDescription,
    },
    /// It does not run on this machine.
    Unavailable {
        /// The kind of thing that is missing.
        reason: Unsupported,
        /// The name of the missing thing.
        detail: String,
    },
}

impl ProviderRecord {
    /// The clock of the provider's runner, or `None` if the provider is unavailable.
    pub fn clock(&self) -> Option<&ClockDescription> {
        match self {
            ProviderRecord::Available { clock, .. } => Some(clock),
            ProviderRecord::Unavailable { .. } => None,
        }
    }
}

/// The beginning of a provider's description if its runner did not answer in time.
pub const NO_ANSWER: &str = "no answer for ";

/// One row of figures: a provider, a workload and a number of threads.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Cell {
    /// Name of the provider.
    pub provider: String,
    /// What the provider runs.
    pub workload: Workload,
    /// The number of threads that run it at once.
    pub threads: u8,
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.provider, self.workload)?;
        if self.threads > 1 { write!(f, " threads={}", self.threads) } else { Ok(()) }
    }
}

/// The result of the known-answer checks that some workloads share.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Check {
    /// Name of the provider.
    pub provider: String,
    /// The workloads that share the checks.
    #[serde(flatten)]
    pub what: Checked,
    /// Cases with the correct answer.
    pub right: u32,
    /// Cases whose answer cannot be known, because the generator adds entropy. The check is that all requested bytes
    /// were written and that each call wrote different ones.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub distinct: u32,
    /// Cases whose answer is random, such as some signatures and every key pair. The check is that the counterpart
    /// accepted the answer and rejected a modified one.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub round_trips: u32,
    /// Cases that this provider cannot run.
    pub unsupported: u32,
    /// The first case with a wrong answer: its id and what went wrong.
    pub wrong: Option<String>,
}

/// What known answers apply to: all workloads that share them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Checked {
    /// Cryptographic operations of any size and phase.
    Crypto {
        /// The algorithm.
        algorithm: Algorithm,
        /// The operation.
        operation: Operation,
    },
    /// Memory reads of any size.
    MemoryRead {
        /// The workload, with a working set of 0 bytes.
        workload: MemoryReadWorkload,
    },
}

impl Checked {
    /// The check that must pass before `workload` is measured.
    pub fn of(workload: &Workload) -> Option<Checked> {
        match *workload {
            Workload::Crypto(CryptoWorkload { algorithm, operation, .. }) => {
                Some(Checked::Crypto { algorithm, operation })
            }
            Workload::MemoryRead(workload) => {
                Some(Checked::MemoryRead { workload: MemoryReadWorkload { bytes: 0, ..workload } })
            }
            _ => None,
        }
    }
}

impl fmt::Display for Checked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Checked::Crypto { algorithm, operation } => write!(f, "{algorithm} {operation}"),
            Checked::MemoryRead { workload: MemoryReadWorkload { width, pattern, .. } } => {
                write!(f, "memory-read {width} {pattern}")
            }
        }
    }
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// One round of one cell, as raw data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Round {
    /// The cell.
    #[serde(flatten)]
    pub cell: Cell,
    /// The pass that the round belongs to. Rounds of one pass are adjacent in time, and each pass starts new runner
    /// processes.
    pub pass: u32,
    /// When the round was written, in milliseconds of measuring time since the run began.
    pub at_ms: u64,
    /// Core cycles of the reference chain in this process; 0 if the core's clock is unknown.
    pub reference_cycles: u32,
    /// Operations per batch.
    pub iterations: u32,
    /// Checksum of the outputs, in hexadecimal. It is the same for every provider, and all zeros where no output can
    /// be predicted.
    pub output: String,
    /// Batches, by thread.
    pub samples: Vec<Vec<Batch>>,
    /// Times of single operations, all threads together: (bucket, count).
    pub latency: Vec<(u16, u32)>,
    /// The longest single operation, in clock ticks.
    pub latency_max: u64,
    /// Times from submission to completion of operations that had others in flight, all threads together. `None` if
    /// operations ran one at a time, and in records from before cpb measured these times.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_in_flight: Option<Times>,
    /// What the system counted.
    pub counters: Counters,
}

/// Times of operations.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Times {
    /// (bucket, count).
    pub buckets: Vec<(u16, u32)>,
    /// The longest operation, in clock ticks.
    pub max: u64,
}

/// A batch: its ticks, and the reference measurements before and after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Batch(pub u64, pub Reading, pub Reading);

/// Ticks of the reference chain and of the burst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reading(pub u64, pub u64);

impl From<Reference> for Reading {
    fn from(reference: Reference) -> Reading {
        Reading(reference.chain.0, reference.burst.0)
    }
}

/// A cell without a figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NotMeasured {
    /// The cell.
    #[serde(flatten)]
    pub cell: Cell,
    /// The reason.
    pub outcome: NotMeasuredReason,
}

/// Why a cell has no figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NotMeasuredReason {
    /// It cannot be measured on this machine. This is not a failure.
    Unsupported(Unsupported),
    /// It should have worked and did not.
    Failed {
        /// The kind of failure.
        error: Error,
        /// What happened, in words: the incorrect case, or the signal.
        detail: String,
    },
}

impl fmt::Display for NotMeasuredReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotMeasuredReason::Unsupported(reason) => write!(f, "unsupported: {reason}"),
            NotMeasuredReason::Failed { error, detail } if detail.is_empty() => {
                write!(f, "failed: {error}")
            }
            NotMeasuredReason::Failed { error, detail } => write!(f, "failed: {error}: {detail}"),
        }
    }
}

/// How the run ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct End {
    /// When the run ended, RFC 3339, UTC.
    pub ended: String,
    /// Whether it ended before its budget was used: the user stopped it, or a connection was lost.
    pub interrupted: bool,
    /// The machine's changeable state after the run; the header has the state before it.
    pub state: crate::State,
    /// Problems that affect the figures and that only the end of the run can show.
    pub warnings: Vec<String>,
}

/// A whole record in memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// The first line.
    pub header: Header,
    /// Known-answer checks.
    pub checks: Vec<Check>,
    /// The cells in the plan's order, each with its outcome.
    pub cells: Vec<(Cell, Outcome)>,
    /// The sources of published cells.
    pub sources: Vec<Source>,
    /// Published cells, in the order of their tables.
    pub published: Vec<Published>,
    /// Warnings of header, run and end.
    pub warnings: Vec<String>,
    /// The last line; `None` if the run was killed or is still going on.
    pub end: Option<End>,
}

/// The outcome of a cell.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// Its rounds.
    Measured(Vec<Round>),
    /// No figure, with the reason. Rounds from before a failure do not count either.
    NotMeasured(NotMeasuredReason),
}

impl Record {
    /// Assembles the lines of a file. A resumed run has several end lines. Only an end line that is the file's last
    /// line counts.
    pub fn assemble(header: Header, lines: impl IntoIterator<Item = Line>) -> Record {
        let warnings = header.warnings.clone();
        let mut record = Record {
            header,
            checks: Vec::new(),
            cells: Vec::new(),
            sources: Vec::new(),
            published: Vec::new(),
            warnings,
            end: None,
        };
        let mut places: HashMap<Cell, usize> = HashMap::new();
        let mut checked: HashMap<(String, Checked), usize> = HashMap::new();
        let mut outcome = |cells: &mut Vec<(Cell, Outcome)>, cell: &Cell| {
            *places.entry(cell.clone()).or_insert_with(|| {
                cells.push((cell.clone(), Outcome::Measured(Vec::new())));
                cells.len() - 1
            })
        };
        for line in lines {
            // A line after an end line belongs to another segment, which has its own end line or none yet.
            record.end = None;
            match line {
                Line::Cpb(_) => {}
                Line::Check(check) => {
                    // Each segment of a run repeats the checks; the last result counts.
                    match checked.entry((check.provider.clone(), check.what)) {
                        Entry::Occupied(place) => record.checks[*place.get()] = check,
                        Entry::Vacant(place) => {
                            place.insert(record.checks.len());
                            record.checks.push(check);
                        }
                    }
                }
                Line::Round(mut round) => {
                    // Samples are most of a large record, and the parser reserves more memory than they need.
                    round.samples.iter_mut().for_each(Vec::shrink_to_fit);
                    round.samples.shrink_to_fit();
                    let place = outcome(&mut record.cells, &round.cell);
                    if let Outcome::NotMeasured(_) = record.cells[place].1 {
                        // A later segment reached the cell's machine again.
                        record.cells[place].1 = Outcome::Measured(Vec::new());
                    }
                    if let Outcome::Measured(rounds) = &mut record.cells[place].1 {
                        if rounds.len() == rounds.capacity() {
                            // Not doubled, to save memory (see above).
                            rounds.reserve_exact(rounds.len() / 4 + 4);
                        }
                        rounds.push(round);
                    }
                }
                Line::NotMeasured(NotMeasured { cell, outcome: reason }) => {
                    let place = outcome(&mut record.cells, &cell);
                    record.cells[place].1 = Outcome::NotMeasured(reason);
                }
                Line::Source(source) => record.sources.push(source),
                Line::Published(published) => record.published.push(published),
                Line::Warning(warning) => record.warnings.push(warning),
                Line::End(end) => {
                    record.warnings.extend(end.warnings.iter().cloned());
                    record.end = Some(end);
                }
            }
        }
        record.put_in_order();
        record
    }

    /// Sorts workloads as in the plan, then by size, and providers as `cpb list` does. Rounds come in random order,
    /// and a plan that lets a run refine produces sizes that it does not list.
    fn put_in_order(&mut self) {
        let mut places = HashMap::new();
        for workload in self.header.plan.workloads() {
            let place = places.len();
            places.entry(workload.with_size(0)).or_insert(place);
        }
        let place = |cell: &Cell| {
            let kind = places.get(&cell.workload.with_size(0)).copied();
            (kind, cell.workload.size())
        };
        let listed = |cell: &Cell| (catalog::place(&cell.provider), cell.provider.clone());
        self.cells.sort_by_cached_key(|(cell, _)| (place(cell), cell.threads, listed(cell)));
    }

    /// The rounds of measured cells, and the number of the pass that follows them.
    pub fn rounds(self) -> (HashMap<Cell, Vec<Round>>, u32) {
        let measured = self.cells.into_iter().filter_map(|(cell, outcome)| match outcome {
            Outcome::Measured(rounds) => Some((cell, rounds)),
            Outcome::NotMeasured(_) => None,
        });
        let measured: HashMap<Cell, Vec<Round>> = measured.collect();
        let next = measured.values().flatten().map(|round| round.pass + 1).max();
        (measured, next.unwrap_or(0))
    }

    /// The clock of `provider`'s runner.
    pub fn clock(&self, provider: &str) -> Option<&ClockDescription> {
        self.header.providers.get(provider)?.clock()
    }
}
