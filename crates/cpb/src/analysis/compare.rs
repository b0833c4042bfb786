//! Two runs, or two providers of one run, held against each other.
//!
//! A ratio is cost of the second by cost of the first: above 1 the second is slower. Within a run it is
//! taken pass by pass. Runs have no passes in common, and differ by more than their passes tell: each
//! adds [`RUN_SCATTER`] to the error, and that does not average out over cells.

use crate::analysis::location::Confidence;
use crate::analysis::paths::{self, Point, Subject, Task, Tasks};
use crate::analysis::ratio::{Metric, Verdict};
use crate::analysis::uncertain::{Bounded, Uncertain};
use crate::analysis::units::Times;
use crate::record::{ProviderRecord, Record};
use serde::Serialize;
use std::collections::HashMap;

/// Standard deviation from run to run, as a share, that passes do not show. In ten runs of the default
/// plan (`bench/repeatability.py`) 0.05 % made 97 of 100 intervals hold the other runs' figures; those
/// were of one hour and one boot, so twice that.
pub const RUN_SCATTER: f64 = 0.001;

/// Degrees of freedom of that: it was found in ten runs.
const RUN_FREEDOM: usize = 9;

/// Everything that can be said of two runs or providers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Compared {
    /// What the first is, for people.
    pub first: String,
    /// What the second is.
    pub second: String,
    /// What differs between them beside their figures, each a sentence.
    pub differences: Vec<String>,
    /// Cells that both have, in the order of the first.
    pub cells: Vec<Row>,
    /// All cells of an algorithm and operation together.
    pub families: Vec<Family>,
    /// How many cells only one of them has a figure of.
    pub unpaired: usize,
}

/// A cell of both.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// What is done.
    pub subject: Subject,
    /// In how many threads.
    pub threads: u8,
    /// The provider; of two providers the second.
    pub provider: String,
    /// Message length in bytes.
    pub bytes: u32,
    /// Cost of the second by that of the first.
    pub ratio: Bounded<Times>,
    /// Whether the second is faster or slower, 99 times of 100.
    pub verdict: Verdict,
    /// What was compared.
    pub metric: Metric,
    #[serde(skip)]
    log: Uncertain,
}

/// The geometric mean of an algorithm's and operation's ratios.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Family {
    /// What is done.
    pub subject: Subject,
    /// How many cells.
    pub cells: usize,
    /// The mean.
    pub ratio: Bounded<Times>,
    /// Whether the second is faster or slower over all.
    pub verdict: Verdict,
}

/// Compares two runs, cell by cell.
pub fn runs(first: &Record, second: &Record) -> Compared {
    let [tasks, others] = [first, second].map(|record| paths::of_records([record]));
    let found: HashMap<Key, &Point> = points(&others)
        .map(|(task, provider, point)| (key(task, provider, point), point))
        .collect();
    let mut rows = Vec::new();
    for (task, provider, point) in points(&tasks) {
        let Some(other) = found.get(&key(task, provider, point)) else { continue };
        rows.push(row(task, provider, point, other, true));
    }
    let all = points(&tasks).count() + points(&others).count();
    Compared {
        first: name(first),
        second: name(second),
        differences: differences(first, second),
        unpaired: all - 2 * rows.len(),
        families: families(&rows, true),
        cells: rows,
    }
}

/// Compares two providers of one run.
pub fn providers(record: &Record, first: &str, second: &str) -> Compared {
    let tasks = paths::of_records([record]);
    let found: HashMap<Key, &Point> = points(&tasks)
        .filter(|(_, provider, _)| *provider == second)
        .map(|(task, provider, point)| (key(task, provider, point), point))
        .collect();
    let mut rows = Vec::new();
    for (task, provider, point) in points(&tasks).filter(|(_, provider, _)| *provider == first) {
        let Some(other) = found.get(&key(task, second, point)) else { continue };
        rows.push(Row { provider: second.into(), ..row(task, provider, point, other, false) });
    }
    let named = |(_, provider, _): &(&Task, &str, &Point)| [first, second].contains(provider);
    Compared {
        first: first.into(),
        second: second.into(),
        differences: Vec::new(),
        unpaired: points(&tasks).filter(named).count() - 2 * rows.len(),
        families: families(&rows, false),
        cells: rows,
    }
}

fn points(tasks: &Tasks) -> impl Iterator<Item = (&Task, &str, &Point)> {
    tasks.all.iter().flat_map(|task| {
        task.paths.iter().flat_map(move |path| {
            path.points.iter().map(move |point| (task, path.provider.as_str(), point))
        })
    })
}

/// What makes cells of two runs the same: task, threads, provider, message length.
type Key<'a> = (&'a Subject, u8, &'a str, u32);

fn key<'a>(task: &'a Task, provider: &'a str, point: &Point) -> Key<'a> {
    (&task.subject, task.threads, provider, point.bytes)
}

fn row(task: &Task, provider: &str, first: &Point, second: &Point, apart: bool) -> Row {
    let (metric, [first_cost, second_cost]) = match (&first.cycles, &second.cycles) {
        (Some(first), Some(second)) => (Metric::Cycles, [first, second]),
        _ => (Metric::Time, [&first.time, &second.time]),
    };
    let [one, other] = [first_cost, second_cost].map(|cost| {
        let log = cost.ln(1.0, 0.0);
        if apart { log.apart() } else { log }
    });
    let log = Uncertain::sum([(1.0, &other), (-1.0, &one)]);
    let shown = scattered(&log, apart);
    Row {
        subject: task.subject.clone(),
        threads: task.threads,
        provider: provider.to_owned(),
        bytes: first.bytes,
        ratio: shown.map(f64::exp),
        verdict: verdict(&shown),
        metric,
        log,
    }
}

/// With the scatter of two runs, if they are two.
fn scattered(log: &Uncertain, apart: bool) -> Uncertain {
    match apart && !log.is_single() {
        true => log.scattered(RUN_SCATTER * 2f64.sqrt(), RUN_FREEDOM),
        false => log.clone(),
    }
}

fn verdict(log: &Uncertain) -> Verdict {
    match log.margin(Confidence::Verdict) {
        None => Verdict::Undecided,
        Some(margin) if log.value > margin => Verdict::Slower,
        Some(margin) if log.value < -margin => Verdict::Faster,
        Some(_) => Verdict::Indistinguishable,
    }
}

fn families(rows: &[Row], apart: bool) -> Vec<Family> {
    let mut families: Vec<(&Subject, Vec<&Row>)> = Vec::new();
    for row in rows {
        match families.iter_mut().find(|(subject, _)| **subject == row.subject) {
            Some((_, rows)) => rows.push(row),
            None => families.push((&row.subject, vec![row])),
        }
    }
    let family = |(subject, rows): (&Subject, Vec<&Row>)| {
        let share = 1.0 / rows.len() as f64;
        let mean = Uncertain::sum(rows.iter().map(|row| (share, &row.log)));
        let shown = scattered(&mean, apart);
        Family {
            subject: subject.clone(),
            cells: rows.len(),
            ratio: shown.map(f64::exp),
            verdict: verdict(&shown),
        }
    };
    families.into_iter().map(family).collect()
}

fn name(record: &Record) -> String {
    let header = &record.header;
    format!("{}, begun {}", header.plan.name, header.began)
}

/// What differs between two runs and may be why their figures do.
fn differences(first: &Record, second: &Record) -> Vec<String> {
    let mut differences = Vec::new();
    let mut differ = |what: &str, one: &str, other: &str| {
        if one != other {
            let told = |words: &str| if words.is_empty() { "not told" } else { words }.to_owned();
            differences.push(format!("{what}: {} and {}", told(one), told(other)));
        }
    };
    let (one, other) = (&first.header, &second.header);
    let evidence = |record: &Record| format!("{:?}", record.header.evidence).to_lowercase();
    differ("evidence", &evidence(first), &evidence(second));
    differ("run", ending(first), ending(second));
    differ("machine", &one.machine.words(), &other.machine.words());
    differ("microcode", &one.machine.microcode, &other.machine.microcode);
    differ("kernel", &one.machine.kernel, &other.machine.kernel);
    differ("cpb", &one.version, &other.version);
    for (name, provider) in &one.providers {
        let Some(other) = other.providers.get(name) else { continue };
        if let (
            ProviderRecord::Available { version, executor, options, .. },
            ProviderRecord::Available {
                version: other_version,
                executor: other_executor,
                options: other_options,
                ..
            },
        ) = (provider, other)
        {
            differ(&format!("version of {name}"), version, other_version);
            differ(&format!("executor of {name}"), executor, other_executor);
            if options != other_options {
                differences_of_build(name, &mut differ);
            }
        }
    }
    differences
}

/// Whether a run got to its end: one that did not has fewer passes, and may lack cells.
fn ending(record: &Record) -> &'static str {
    match &record.end {
        _ if !record.published.is_empty() => "complete",
        None => "cut short or killed",
        Some(end) if end.interrupted => "stopped",
        Some(_) => "complete",
    }
}

/// Builds are too long to print: that they differ is what matters.
fn differences_of_build(name: &str, differ: &mut impl FnMut(&str, &str, &str)) {
    differ(&format!("build or mask of {name}"), "one", "another (`cpb show --json` has both)");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::fixtures::{noisy_rounds, record};
    use crate::machine::State;
    use crate::record::{End, Round};

    fn cell(seed: u64, provider: &str, time: f64) -> Vec<Round> {
        let mut rounds = noisy_rounds(seed, 20, time, 0.0005);
        for round in &mut rounds {
            round.cell.provider = provider.into();
        }
        rounds
    }

    fn run(seed: u64, times: &[(&str, f64)]) -> Record {
        let cells = times.iter().map(|(provider, time)| cell(seed, provider, *time));
        record(cells.collect::<Vec<_>>().into_iter())
    }

    #[test]
    fn a_planted_slowdown_between_runs_is_seen_and_run_to_run_scatter_is_not() {
        let first = run(1, &[("openssl", 1000.0), ("mbedtls:c", 5000.0)]);
        let second = run(2, &[("openssl", 1030.0), ("mbedtls:c", 5005.0)]);
        let compared = runs(&first, &second);
        let verdicts: Vec<(&str, Verdict)> =
            compared.cells.iter().map(|row| (row.provider.as_str(), row.verdict)).collect();
        let expected = [("openssl", Verdict::Slower), ("mbedtls:c", Verdict::Indistinguishable)];
        assert_eq!(verdicts, expected, "{compared:?}");
        assert!((compared.cells[0].ratio.value.0 / 1.03 - 1.0).abs() < 0.002);
        let family = &compared.families[0];
        assert!((family.ratio.value.0 / (1.03f64 * 1.001).sqrt() - 1.0).abs() < 0.002);
        assert_eq!((family.cells, compared.unpaired), (2, 0));
        assert!(compared.differences.is_empty());
    }

    #[test]
    fn providers_of_one_run_are_compared_pass_by_pass() {
        // The same noise in both: their ratio is exact.
        let record = run(1, &[("openssl", 1000.0), ("openssl:nocrypto", 1002.0)]);
        let compared = providers(&record, "openssl", "openssl:nocrypto");
        assert_eq!(compared.cells[0].verdict, Verdict::Slower, "{compared:?}");
        assert_eq!(compared.cells[0].provider, "openssl:nocrypto");
        assert!(providers(&record, "openssl", "mbedtls:c").cells.is_empty());
    }

    #[test]
    fn what_differs_is_said() {
        let first = run(1, &[("openssl", 1000.0)]);
        let mut second = run(1, &[("mbedtls:c", 1000.0)]);
        second.header.machine.cpu = "another".into();
        if let Some(ProviderRecord::Available { version, .. }) =
            second.header.providers.get_mut("openssl")
        {
            *version = "2".into();
        }
        second.end = Some(End {
            ended: String::new(),
            interrupted: true,
            state: State::default(),
            warnings: Vec::new(),
        });
        let compared = runs(&first, &second);
        let told = [
            "run: cut short or killed and stopped",
            "machine: not told and another",
            "version of openssl: 1 and 2",
        ];
        assert_eq!(compared.differences, told);
        assert_eq!((compared.cells.len(), compared.unpaired), (0, 2));
    }
}
