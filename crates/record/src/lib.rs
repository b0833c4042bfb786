//! A record: everything one run saw, with enough beside it to be understood later by a stranger.
//!
//! It is a file of JSON lines. The first is the [`Header`]; then come, in the order things
//! happened, known-answer checks, rounds and cells that gave no figure; the last is the [`End`],
//! which a killed run does not have. Nothing in it is a mean: figures are computed from it by
//! `cpb-analysis`, again and again if need be. A record of published figures has their sources
//! and cells in place of rounds.

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

pub use cores::{ClockReading, Cores, When};
pub use machine::{Machine, State};
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

/// Version of this schema. A reader takes this one and every earlier one.
pub const SCHEMA: u32 = 1;

/// One line of a record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Line {
    /// The first line.
    Cpb(Box<Header>),
    /// Known answers were tried.
    Check(Check),
    /// One round of one cell.
    Round(Round),
    /// A cell that gave no figure.
    #[serde(rename = "without")]
    NotMeasured(NotMeasured),
    /// Where the published cells that follow are from.
    Source(Source),
    /// One cell of a published table.
    Published(Published),
    /// Something that spoils the figures, found while running.
    Warning(String),
    /// The last line.
    End(End),
}

/// What was run, on what, by what.
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
    /// Where the providers ran: `ssh:HOST`, `lab:GUEST`, a board's name; empty for the machine that cpb ran on.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub target: String,
    /// The machine and the state it was in.
    pub machine: crate::Machine,
    /// What was to be measured.
    pub plan: plan::Plan,
    /// The CPUs that were measured, the first for single-threaded cells.
    pub cpus: Vec<usize>,
    /// Who executes, by provider name.
    pub providers: BTreeMap<String, ProviderRecord>,
    /// What the kernel's crypto offers, if a provider reaches it or was to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<Box<cpb_core::kernel::KernelSurvey>>,
    /// What spoils the figures, in words, with what to do about it.
    pub warnings: Vec<String>,
}

/// What a figure rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Evidence {
    /// Measured on the real machine.
    Hardware,
    /// Measured on an emulated CPU: no time means anything.
    Emulated,
    /// Computed by cpb's own simulator.
    Simulated,
    /// Printed in a table by someone.
    Published,
    /// Read from another tool's log.
    Imported,
}

/// Who executes, as the runner says, or why it does not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "state")]
pub enum ProviderRecord {
    /// It runs here.
    Available {
        /// Version of the library.
        version: String,
        /// What runs the operation, as that layer reports it.
        executor: String,
        /// Where that is, as far as the provider is told.
        claim: Claim,
        /// Compiler, flags, masks.
        options: String,
        /// The runner's clock. Its reference chain differs from process to process; see [`Round`].
        clock: ClockDescription,
    },
    /// It does not.
    Unavailable {
        /// What sort of thing is missing.
        reason: Unsupported,
        /// It, by name.
        detail: String,
    },
}

impl ProviderRecord {
    /// The clock of its runner, if it runs here.
    pub fn clock(&self) -> Option<&ClockDescription> {
        match self {
            ProviderRecord::Available { clock, .. } => Some(clock),
            ProviderRecord::Unavailable { .. } => None,
        }
    }
}

/// How the words about a provider begin whose runner gave no answer in time.
pub const NO_ANSWER: &str = "no answer for ";

/// One row of figures: who, what, and in how many threads.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Cell {
    /// Name of the provider.
    pub provider: String,
    /// What it does.
    pub workload: Workload,
    /// In how many threads at once.
    pub threads: u8,
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.provider, self.workload)?;
        if self.threads > 1 { write!(f, " threads={}", self.threads) } else { Ok(()) }
    }
}

/// The known answers of workloads that have them in common.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Check {
    /// Name of the provider.
    pub provider: String,
    /// What they are of.
    #[serde(flatten)]
    pub what: Checked,
    /// Cases with the right answer.
    pub right: u32,
    /// Cases whose answer cannot be known, of a generator that adds entropy of its own: all that was
    /// asked for was written, and something else each time.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub distinct: u32,
    /// Cases whose answer is drawn anew each time, as some signatures are and every key pair: its
    /// counterpart took it, and not what was tampered with.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub round_trips: u32,
    /// Cases that this provider cannot run.
    pub unsupported: u32,
    /// The first case with a wrong answer: its id and what went wrong.
    pub wrong: Option<String>,
}

/// What known answers are of: workloads that share them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Checked {
    /// Cryptographic operations, whatever the size and the phase.
    Crypto {
        /// The algorithm.
        algorithm: Algorithm,
        /// The operation.
        operation: Operation,
    },
    /// Reads of memory, whatever the size.
    MemoryRead {
        /// With a working set of 0 bytes.
        workload: MemoryReadWorkload,
    },
}

impl Checked {
    /// What must be checked before `workload` is measured.
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

/// One round of one cell, raw.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Round {
    /// The cell.
    #[serde(flatten)]
    pub cell: Cell,
    /// Which pass over all cells; rounds of one pass are adjacent in time, and each pass has runner
    /// processes of its own.
    pub pass: u32,
    /// When it was written, in milliseconds of measuring time since the run began.
    pub at_ms: u64,
    /// Core cycles of the reference chain in this process; 0: the core's clock is unknown.
    pub reference_cycles: u32,
    /// Operations a batch.
    pub iterations: u32,
    /// Checksum of the outputs, hexadecimal: the same for every provider. Zeros where nothing could
    /// be foretold.
    pub output: String,
    /// Batches, by thread.
    pub samples: Vec<Vec<Batch>>,
    /// Times of single operations, all threads together: (bucket, count).
    pub latency: Vec<(u16, u32)>,
    /// The longest of them, in clock ticks.
    pub latency_max: u64,
    /// Times from submission to completion of operations that had others in flight, all threads
    /// together; none with one operation at a time, and in records from before they were measured.
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
    /// The longest of them, in clock ticks.
    pub max: u64,
}

/// A batch: its ticks, and what the core was like before and after.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Batch(pub u64, pub Reading, pub Reading);

/// Ticks of the reference chain, and of the burst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reading(pub u64, pub u64);

impl From<Reference> for Reading {
    fn from(reference: Reference) -> Reading {
        Reading(reference.chain.0, reference.burst.0)
    }
}

/// A cell that gave no figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NotMeasured {
    /// The cell.
    #[serde(flatten)]
    pub cell: Cell,
    /// Why.
    pub outcome: NotMeasuredReason,
}

/// Why a cell gave no figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NotMeasuredReason {
    /// It cannot be measured here. Not a failure.
    Unsupported(Unsupported),
    /// It should have worked and did not.
    Failed {
        /// What sort of failure.
        error: Error,
        /// What happened, in words: the wrong case, the signal.
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
    /// When, RFC 3339, UTC.
    pub ended: String,
    /// Whether it ended before its budget was used: the user stopped it, or a connection was lost.
    pub interrupted: bool,
    /// The machine's changeable state afterwards; that from before is in the header.
    pub state: crate::State,
    /// What spoils the figures, as far as only the end can tell.
    pub warnings: Vec<String>,
}

/// A whole record in memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// The first line.
    pub header: Header,
    /// Known-answer checks.
    pub checks: Vec<Check>,
    /// Cells in the plan's order, with what is known of each.
    pub cells: Vec<(Cell, Outcome)>,
    /// Where published cells are from.
    pub sources: Vec<Source>,
    /// Published cells, in the order of their tables.
    pub published: Vec<Published>,
    /// Warnings of header, run and end.
    pub warnings: Vec<String>,
    /// The last line; none for a run that was killed or goes on.
    pub end: Option<End>,
}

/// What is known of a cell.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// Its rounds.
    Measured(Vec<Round>),
    /// No figure, and why. Rounds from before a failure are no figures either.
    NotMeasured(NotMeasuredReason),
}

impl Record {
    /// Puts the lines of a file together. A resumed run has ends in the middle: only the last line's
    /// counts.
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
            // What comes after an end is of another segment, which has an end of its own or none yet.
            record.end = None;
            match line {
                Line::Cpb(_) => {}
                Line::Check(check) => {
                    // Each segment of a run tries them: the last time counts.
                    match checked.entry((check.provider.clone(), check.what)) {
                        Entry::Occupied(place) => record.checks[*place.get()] = check,
                        Entry::Vacant(place) => {
                            place.insert(record.checks.len());
                            record.checks.push(check);
                        }
                    }
                }
                Line::Round(mut round) => {
                    // A large record is mostly this, and its reader leaves room for more.
                    round.samples.iter_mut().for_each(Vec::shrink_to_fit);
                    round.samples.shrink_to_fit();
                    let place = outcome(&mut record.cells, &round.cell);
                    if let Outcome::NotMeasured(_) = record.cells[place].1 {
                        // A later segment reached its machine again.
                        record.cells[place].1 = Outcome::Measured(Vec::new());
                    }
                    if let Outcome::Measured(rounds) = &mut record.cells[place].1 {
                        if rounds.len() == rounds.capacity() {
                            // Not twice as much: see above.
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

    /// Workloads as the plan names them, by size, providers as `cpb list` does: rounds come in random
    /// order, and of sizes that the plan does not have, if it lets a run refine.
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

    /// The rounds of measured cells, and the number of the pass that comes after them.
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
