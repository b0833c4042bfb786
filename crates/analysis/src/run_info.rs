//! Facts about a run: where and with what it ran, how long it took, and findings other than figures.

use crate::units::{Hertz, Interval, Seconds};
use cpb_core::Error;
use cpb_core::kernel::KernelSurvey;
use cpb_record::plan::Layout;
use cpb_record::{EngineCount, Machine};
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
    /// The question that the plan answers.
    pub reason: String,
    /// Whether the plan asks for a report with one column per message size.
    pub by_size: bool,
    /// When the run began, RFC 3339, UTC.
    pub began: String,
    /// How long its segments took together; `None` if the run was killed or is still going on.
    pub seconds: Option<Seconds>,
    /// Whether it was stopped early.
    pub interrupted: bool,
    /// Passes over all cells.
    pub passes: usize,
    /// The kind of evidence.
    pub evidence: Evidence,
    /// The machine and its state.
    pub machine: Machine,
    /// The CPUs that were measured.
    pub cpus: Vec<usize>,
    /// The providers, or the reasons why they are unavailable.
    pub providers: BTreeMap<String, ProviderRecord>,
    /// The kernel's crypto drivers, if they were listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel: Option<Box<KernelSurvey>>,
    /// What a guest's engine says that it did, if it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub engine: Option<EngineCount>,
    /// Problems that affect the figures.
    pub warnings: Vec<String>,
}

impl Run {
    /// The facts about a record; `passes` is counted from its rounds.
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
            engine: record.end.as_ref().and_then(|end| end.state.engine.clone()),
            warnings: once(&record.warnings),
        }
    }
}

/// Warnings without duplicates. A resumed run repeats those that still apply.
pub fn once<'a>(warnings: impl IntoIterator<Item = &'a String>) -> Vec<String> {
    let mut kept: Vec<String> = Vec::new();
    for warning in warnings {
        if !kept.contains(warning) {
            kept.push(warning.clone());
        }
    }
    kept
}

/// The time of measuring only, without the pauses between segments, as far as the rounds show.
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

/// The known-answer checks of all providers.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Checks {
    /// Cases with the correct answer.
    pub right: u32,
    /// Cases whose answer cannot be known, because the generator adds entropy.
    #[serde(skip_serializing_if = "is_zero")]
    pub distinct: u32,
    /// Cases whose answer is random and was accepted by its counterpart.
    #[serde(skip_serializing_if = "is_zero")]
    pub round_trips: u32,
    /// Cases that a provider cannot run.
    pub unsupported: u32,
    /// The first incorrect case of each provider, algorithm and operation, in words.
    pub wrong: Vec<String>,
}

impl Checks {
    /// The checks of a record.
    pub fn of(record: &Record) -> Checks {
        let mut checks = Checks::default();
        for check in &record.checks {
            checks.right = checks.right.saturating_add(check.right);
            checks.distinct = checks.distinct.saturating_add(check.distinct);
            checks.round_trips = checks.round_trips.saturating_add(check.round_trips);
            checks.unsupported = checks.unsupported.saturating_add(check.unsupported);
            if let Some(wrong) = &check.wrong {
                checks.wrong.push(format!("{} {}: {wrong}", check.provider, check.what));
            }
        }
        checks
    }

    /// How many entries of `wrong` are missing answers, not incorrect ones.
    pub fn unanswered(&self) -> usize {
        self.wrong.iter().filter(|words| Checks::is_unanswered(words)).count()
    }

    /// Whether an entry of `wrong` means that there was no answer: the runner died or was too slow.
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
    /// The median over all cells and passes.
    pub median: Hertz,
    /// The range that contains 90 % of them.
    pub range: Interval<Hertz>,
}
