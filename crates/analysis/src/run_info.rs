//! What a run was: where, by what, how long, and what was found out beside the figures.

use crate::units::{Hertz, Interval, Seconds};
use cpb_core::Error;
use cpb_core::kernel::KernelSurvey;
use cpb_record::Machine;
use cpb_record::plan::Layout;
use cpb_record::{Evidence, Outcome, ProviderRecord, Record};
use serde::Serialize;
use std::collections::BTreeMap;

/// A run without its figures.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Run {
    /// Version of cpb.
    pub version: String,
    /// The plan's name.
    pub plan: String,
    /// The question that it answers.
    pub reason: String,
    /// Whether it asks for a report with one column a message size.
    pub by_size: bool,
    /// When the run began, RFC 3339, UTC.
    pub began: String,
    /// How long its segments took together; none for a run that was killed or goes on.
    pub seconds: Option<Seconds>,
    /// Whether it was stopped before its time.
    pub interrupted: bool,
    /// Passes over all cells.
    pub passes: usize,
    /// What the figures rest on.
    pub evidence: Evidence,
    /// The machine and its state.
    pub machine: Machine,
    /// The CPUs that were measured.
    pub cpus: Vec<usize>,
    /// Who executes, or why not.
    pub providers: BTreeMap<String, ProviderRecord>,
    /// What the kernel's crypto offers, where that was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel: Option<Box<KernelSurvey>>,
    /// What spoils the figures.
    pub warnings: Vec<String>,
}

impl Run {
    /// Of a record; `passes` is counted from its rounds.
    pub fn of(record: &Record, passes: usize) -> Run {
        let header = &record.header;
        Run {
            version: header.version.clone(),
            plan: header.plan.name.clone(),
            reason: header.plan.reason.clone(),
            by_size: header.plan.report == Layout::BySize,
            began: header.began.clone(),
            seconds: seconds(record),
            interrupted: record.end.as_ref().is_none_or(|end| end.interrupted),
            passes,
            evidence: header.evidence,
            machine: header.machine.clone(),
            cpus: header.cpus.clone(),
            providers: header.providers.clone(),
            kernel: header.kernel.clone(),
            warnings: once(&record.warnings),
        }
    }
}

/// Warnings, each once: a resumed run repeats those that still hold.
pub fn once<'a>(warnings: impl IntoIterator<Item = &'a String>) -> Vec<String> {
    let mut kept: Vec<String> = Vec::new();
    for warning in warnings {
        if !kept.contains(warning) {
            kept.push(warning.clone());
        }
    }
    kept
}

/// What rounds tell is the time of measuring alone, without what lies between segments.
fn seconds(record: &Record) -> Option<Seconds> {
    let ended: jiff::Timestamp = record.end.as_ref()?.ended.parse().ok()?;
    let rounds = record.cells.iter().flat_map(|(_, outcome)| match outcome {
        Outcome::Measured(rounds) => rounds.as_slice(),
        Outcome::NotMeasured(_) => &[],
    });
    if let Some(last) = rounds.map(|round| round.at_ms).max() {
        return Some(Seconds(last as f64 / 1e3));
    }
    let began: jiff::Timestamp = record.header.began.parse().ok()?;
    let seconds = (ended - began).total(jiff::Unit::Second).ok()?;
    (seconds >= 0.0).then_some(Seconds(seconds))
}

/// Known answers of all providers.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Checks {
    /// Right ones.
    pub right: u32,
    /// Those whose answer cannot be known: of a generator that adds entropy of its own.
    #[serde(skip_serializing_if = "is_zero")]
    pub distinct: u32,
    /// Those whose answer is drawn anew each time, and that came back from their counterpart.
    #[serde(skip_serializing_if = "is_zero")]
    pub round_trips: u32,
    /// Those that a provider cannot run.
    pub unsupported: u32,
    /// The first wrong one of each provider, algorithm and operation, in words.
    pub wrong: Vec<String>,
}

impl Checks {
    /// Of a record.
    pub fn of(record: &Record) -> Checks {
        let mut checks = Checks::default();
        for check in &record.checks {
            checks.right += check.right;
            checks.distinct += check.distinct;
            checks.round_trips += check.round_trips;
            checks.unsupported += check.unsupported;
            if let Some(wrong) = &check.wrong {
                checks.wrong.push(format!("{} {}: {wrong}", check.provider, check.what));
            }
        }
        checks
    }

    /// How many of `wrong` are no wrong answers.
    pub fn unanswered(&self) -> usize {
        self.wrong.iter().filter(|words| Checks::is_unanswered(words)).count()
    }

    /// Whether one of `wrong` tells of no answer: the runner died or was too slow.
    pub fn is_unanswered(wrong: &str) -> bool {
        [Error::Crashed, Error::Timeout].iter().any(|error| wrong.contains(&format!(": {error}")))
    }
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// The core's effective clock while it was measured.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CoreClock {
    /// The middle one of all cells and passes.
    pub median: Hertz,
    /// Nine of ten lie between these.
    pub range: Interval<Hertz>,
}
