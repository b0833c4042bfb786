//! Everything that reports need from a record, as plain data.

use crate::agreement;
use crate::batches::{self, Scale};
use crate::comparison::{self, Comparison};
use crate::estimate::{self, Estimate};
use crate::evidence_policy::{Metric, meaningful};
use crate::execution::{self, Execution};
use crate::latency::{self, Latency};
use crate::location::{LEAST, median, quantile};
use crate::missing::NoFigure;
use crate::passes::Passes;
use crate::ratio;
use crate::run_info::{Checks, CoreClock, Run};
use crate::smt::Alone;
use crate::units::{BytesPerSecond, Cycles, CyclesPerByte, Hertz, Interval, Nanoseconds, Times};
use cpb_core::catalog;
use cpb_core::{Error, Workload};
use cpb_record::{Cell, Evidence, NotMeasuredReason, Outcome, Record, Round};
use serde::Serialize;
use std::collections::{BTreeSet, HashMap};

/// The results computed from a record.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// What was run.
    pub run: Run,
    /// The core's clock; `None` if it is unknown.
    pub clock: Option<CoreClock>,
    /// The harness overhead (floor), which every figure includes.
    pub floor: Option<Floor>,
    /// How noisy the run was.
    pub noise: Option<Noise>,
    /// The known-answer checks.
    pub checks: Checks,
    /// All cells, in the plan's order.
    pub cells: Vec<Row>,
    /// The comparison of the providers of each workload, in the same order.
    pub comparisons: Vec<Comparison>,
}

/// A figure, or the reason why it is missing.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Known<T> {
    /// The figure.
    Measured(T),
    /// The reason why the figure is missing.
    Without(NoFigure),
}

impl<T> Known<T> {
    /// The figure, or `None`.
    pub fn measured(&self) -> Option<&T> {
        match self {
            Known::Measured(figure) => Some(figure),
            Known::Without(_) => None,
        }
    }
}

impl<T> From<Result<T, NoFigure>> for Known<T> {
    fn from(result: Result<T, NoFigure>) -> Known<T> {
        match result {
            Ok(figure) => Known::Measured(figure),
            Err(reason) => Known::Without(reason),
        }
    }
}

/// One cell.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// Name of the provider.
    pub provider: String,
    /// What the provider runs.
    pub workload: Workload,
    /// The number of threads.
    pub threads: u8,
    /// Its figures.
    pub figures: Known<Box<Figures>>,
    /// Where it was executed; `None` if nothing ran, and for the harness's own floor.
    pub execution: Option<Box<Execution>>,
}

/// The figures of one cell.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figures {
    /// Rate of all threads together; `None` for a workload without bytes.
    #[serde(rename = "bytes_per_second")]
    pub rate: Option<Estimate<BytesPerSecond>>,
    /// The time that a thread takes for an operation.
    #[serde(rename = "ns_per_operation")]
    pub time: Estimate<Nanoseconds>,
    /// The same in core cycles; `None` if the core's clock is unknown.
    #[serde(rename = "cycles_per_operation")]
    pub cycles: Option<Estimate<Cycles>>,
    /// The same per byte of message.
    pub cycles_per_byte: Option<Estimate<CyclesPerByte>>,
    /// The gain from several threads compared with one, if both were measured.
    pub scaling: Option<Scaling>,
    /// Times of single operations.
    pub latency: Known<Latency>,
    /// Times of operations that had others in flight, if there were any and the clock resolves them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency_in_flight: Option<Latency>,
    /// The passes that the figures are based on; each starts new processes.
    pub processes: usize,
    /// The number of batches.
    pub batches: u32,
    /// How many of them were discarded because the core's clock changed.
    pub unsteady: u32,
    /// How many of them were discarded because another thread ran on the same core.
    pub crowded: u32,
}

impl Figures {
    /// Half the interval's width of the leading figure, as a share of it: cycles if they are known, otherwise time.
    pub fn precision(&self) -> Option<f64> {
        self.cycles.map_or_else(|| self.time.precision(), |cycles| cycles.precision())
    }
}

/// Rate of several threads divided by the rate of one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Scaling {
    /// The ratio.
    pub value: Times,
    /// The 95 % confidence interval.
    pub interval: Option<Interval<Times>>,
}

/// The cost of the null provider's operation: the loop, the call, the bookkeeping.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Floor {
    /// In nanoseconds.
    #[serde(rename = "ns_per_operation")]
    pub time: Nanoseconds,
    /// In core cycles.
    #[serde(rename = "cycles_per_operation")]
    pub cycles: Option<Cycles>,
}

/// How noisy a run was, as shares of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Noise {
    /// Half the interval's width of the median cell.
    pub precision: Option<f64>,
    /// Half the interval's width of the worst cell.
    pub worst: Option<f64>,
    /// Spread of the passes of the median cell.
    pub between: Option<f64>,
    /// Spread of the batches inside a pass, of the median cell.
    pub within: Option<f64>,
    /// The number of batches.
    pub batches: u64,
    /// How many of them were discarded because the core's clock changed.
    pub unsteady: u64,
    /// How many of them were discarded because another thread ran on the same core.
    pub crowded: u64,
}

/// Computes everything that reports need.
pub fn summarise(record: &Record) -> Summary {
    let suspects = agreement::disagreements(record);
    let evidence = record.header.evidence;
    let alone = Alone::of_record(record);
    let mut passes: HashMap<&Cell, Passes> = HashMap::new();
    let mut refusals: HashMap<&Cell, NoFigure> = HashMap::new();
    let mut numbers = BTreeSet::new();
    for (cell, outcome) in &record.cells {
        if let Outcome::Measured(rounds) = outcome {
            numbers.extend(rounds.iter().map(|round| round.pass));
        }
        let found = match suspects.get(cell) {
            Some(reason) => Err(reason.clone()),
            None => of_cell(record, cell, outcome, alone),
        };
        match found {
            Ok(found) => drop(passes.insert(cell, found)),
            Err(reason) => drop(refusals.insert(cell, reason)),
        }
    }
    let row = |(cell, outcome): &(Cell, Outcome)| {
        let figures = match (passes.get(cell), outcome) {
            (Some(found), Outcome::Measured(rounds)) => {
                Ok(Box::new(figures(record, cell, rounds, found, &passes)))
            }
            _ => Err(refusals.get(cell).cloned().unwrap_or(NoFigure::NotReached)),
        };
        Row {
            provider: cell.provider.clone(),
            workload: cell.workload,
            threads: cell.threads,
            figures: figures.into(),
            execution: match outcome {
                Outcome::Measured(rounds) => execution::of(record, cell, rounds).map(Box::new),
                Outcome::NotMeasured(_) => None,
            },
        }
    };
    let cells: Vec<Row> = record.cells.iter().map(row).collect();
    let noise = meaningful(Metric::Noise, evidence).is_ok().then(|| noise(&cells)).flatten();
    let noise = noise.map(|noise| with_lost(noise, record, &refusals, alone));
    Summary {
        run: Run::of(record, numbers.len()),
        clock: meaningful(Metric::Cycles, evidence).is_ok().then(|| clock(&passes)).flatten(),
        floor: floor(&cells),
        noise,
        checks: Checks::of(record),
        comparisons: comparisons(record, &passes, evidence),
        cells,
    }
}

/// The passes of a cell, or the reason why they give no figure.
pub(crate) fn of_cell(
    record: &Record,
    cell: &Cell,
    outcome: &Outcome,
    alone: Option<Alone>,
) -> Result<Passes, NoFigure> {
    let rounds = match outcome {
        Outcome::Measured(rounds) => rounds,
        Outcome::NotMeasured(NotMeasuredReason::Unsupported(reason)) => {
            return Err(NoFigure::Unsupported(reason.to_string()));
        }
        Outcome::NotMeasured(NotMeasuredReason::Failed { error, detail }) => {
            return Err(failed(&cell.provider, *error, detail));
        }
    };
    meaningful(Metric::Rate, record.header.evidence).map_err(NoFigure::Meaningless)?;
    let clock =
        record.clock(&cell.provider).ok_or(NoFigure::Broken("a provider without a clock"))?;
    let passes = Passes::of(rounds, Scale { clock, alone })?;
    let counted = passes.all.len();
    // Nothing can disturb a simulated run.
    if counted < LEAST && record.header.evidence == Evidence::Hardware {
        let measured: BTreeSet<u32> = rounds.iter().map(|round| round.pass).collect();
        return Err(NoFigure::FewPasses { counted, passes: measured.len() });
    }
    Ok(passes)
}

fn failed(provider: &str, error: Error, detail: &str) -> NoFigure {
    let words = catalog::error_words(provider, error);
    let words = match detail {
        "" => words.to_string(),
        detail => format!("{words}: {detail}"),
    };
    if error == Error::WrongAnswer { NoFigure::WrongAnswer(words) } else { NoFigure::Failed(words) }
}

fn figures(
    record: &Record,
    cell: &Cell,
    rounds: &[Round],
    found: &Passes,
    all: &HashMap<&Cell, Passes>,
) -> Figures {
    let evidence = record.header.evidence;
    let bytes = cell.workload.bytes() as f64;
    // A workload that moves no bytes, or only appears to, has no rate.
    let has_bytes = bytes > 0.0 && cell.provider != catalog::NULL;
    let time = estimate::time(found);
    let cycles = estimate::cycles(found).filter(|_| meaningful(Metric::Cycles, evidence).is_ok());
    let single = Cell { threads: 1, ..cell.clone() };
    let scaling = all
        .get(&single)
        .filter(|_| cell.threads > 1 && meaningful(Metric::Scaling, evidence).is_ok())
        .and_then(|single| ratio::time(single, found).ok())
        .map(|ratio| ratio.scaled(cell.threads.into()))
        .map(|(value, interval)| Scaling { value, interval });
    let clock = meaningful(Metric::Latency, evidence)
        .map_err(NoFigure::Meaningless)
        .and_then(|()| record.clock(&cell.provider).ok_or(NoFigure::NotReached));
    let in_flight = |clock: &&_| latency::in_flight(rounds, clock).ok();
    let latency_in_flight = clock.as_ref().ok().and_then(in_flight);
    let latency = clock.and_then(|clock| latency::of(rounds, clock));
    Figures {
        rate: has_bytes.then(|| time.under(f64::from(cell.threads) * bytes * 1e9)),
        time,
        cycles,
        cycles_per_byte: cycles.filter(|_| has_bytes).map(|cycles| cycles.times(1.0 / bytes)),
        scaling,
        latency: latency.into(),
        latency_in_flight,
        processes: found.all.len(),
        batches: found.batches,
        unsteady: found.unsteady,
        crowded: found.crowded,
    }
}

fn comparisons(
    record: &Record,
    passes: &HashMap<&Cell, Passes>,
    evidence: Evidence,
) -> Vec<Comparison> {
    let mut order: Vec<(Workload, u8)> = Vec::new();
    let mut groups: HashMap<(Workload, u8), Vec<(&str, &Passes)>> = HashMap::new();
    for (cell, _) in &record.cells {
        let what = (cell.workload, cell.threads);
        let group = groups.entry(what).or_insert_with(|| {
            order.push(what);
            Vec::new()
        });
        group.extend(passes.get(cell).map(|passes| (cell.provider.as_str(), passes)));
    }
    let compare =
        |what: &(Workload, u8)| comparison::compare(what.0, what.1, &groups[what], evidence);
    order.iter().map(compare).collect()
}

fn clock(passes: &HashMap<&Cell, Passes>) -> Option<CoreClock> {
    let all = passes.values().flat_map(|passes| &passes.all);
    let clocks: Vec<f64> = all.filter_map(|pass| Some(pass.clock?.0)).collect();
    Some(CoreClock {
        median: Hertz(median(&clocks)?),
        range: Interval {
            low: Hertz(quantile(&clocks, 0.05)?),
            high: Hertz(quantile(&clocks, 0.95)?),
        },
    })
}

fn floor(cells: &[Row]) -> Option<Floor> {
    let nulls: Vec<&Figures> = cells
        .iter()
        .filter(|row| row.provider == catalog::NULL && row.threads == 1)
        .filter_map(|row| row.figures.measured())
        .map(Box::as_ref)
        .collect();
    let middle = |figures: Vec<f64>| median(&figures);
    Some(Floor {
        time: Nanoseconds(middle(nulls.iter().map(|figures| figures.time.value.0).collect())?),
        cycles: middle(
            nulls
                .iter()
                .filter_map(|figures| figures.cycles.map(|cycles| cycles.value.0))
                .collect(),
        )
        .map(Cycles),
    })
}

fn noise(cells: &[Row]) -> Option<Noise> {
    let measured: Vec<&Figures> =
        cells.iter().filter_map(|row| row.figures.measured()).map(Box::as_ref).collect();
    let middle = |share: &dyn Fn(&Figures) -> Option<f64>| {
        median(&measured.iter().filter_map(|figures| share(figures)).collect::<Vec<f64>>())
    };
    let leading = |figures: &Figures| match figures.cycles {
        Some(cycles) => (cycles.between, cycles.within),
        None => (figures.time.between, figures.time.within),
    };
    (!measured.is_empty()).then(|| Noise {
        precision: middle(&Figures::precision),
        worst: measured.iter().filter_map(|figures| figures.precision()).reduce(f64::max),
        between: middle(&|figures| leading(figures).0),
        within: middle(&|figures| leading(figures).1),
        batches: measured.iter().map(|figures| u64::from(figures.batches)).sum(),
        unsteady: measured.iter().map(|figures| u64::from(figures.unsteady)).sum(),
        crowded: measured.iter().map(|figures| u64::from(figures.crowded)).sum(),
    })
}

/// Adds the batches of cells in which all batches were discarded.
fn with_lost(
    mut noise: Noise,
    record: &Record,
    refusals: &HashMap<&Cell, NoFigure>,
    alone: Option<Alone>,
) -> Noise {
    for (cell, outcome) in &record.cells {
        let (
            Outcome::Measured(rounds),
            Some(NoFigure::AllDiscarded | NoFigure::FewPasses { .. }),
            Some(clock),
        ) = (outcome, refusals.get(cell), record.clock(&cell.provider))
        else {
            continue;
        };
        let scale = Scale { clock, alone };
        for figures in rounds.iter().filter_map(|round| batches::normalise(round, scale).ok()) {
            noise.batches += u64::from(figures.taken);
            noise.unsteady += u64::from(figures.unsteady);
            noise.crowded += u64::from(figures.crowded);
        }
    }
    noise
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{noisy_rounds, record};

    fn cell(provider: &str, time: f64, threads: u8) -> Vec<Round> {
        let mut rounds = noisy_rounds(time as u64, 12, time, 0.001);
        for round in &mut rounds {
            round.cell.provider = provider.into();
            round.cell.threads = threads;
            let samples = round.samples[0].clone();
            round.samples.resize(threads.into(), samples);
        }
        rounds
    }

    #[test]
    fn planted_rates_gains_floor_and_scaling_are_found() {
        let cells = [
            cell("null", 50.0, 1),
            cell("openssl", 10_000.0, 1),
            cell("openssl:nocrypto", 50_000.0, 1),
            cell("openssl", 11_000.0, 4),
        ];
        let summary = summarise(&record(cells.into_iter()));
        let near = |figure: f64, truth: f64| (figure / truth - 1.0).abs() < 0.002;
        let figures = |place: usize| summary.cells[place].figures.measured().unwrap();
        assert!(near(figures(1).rate.unwrap().value.0, 16384.0 / 10e-6));
        assert!(near(figures(1).cycles_per_byte.unwrap().value.0, 30_000.0 / 16384.0));
        assert!(near(figures(3).rate.unwrap().value.0, 4.0 * 16384.0 / 11e-6));
        assert!(near(figures(3).scaling.unwrap().value.0, 4.0 / 1.1));
        assert!(near(summary.floor.unwrap().time.0, 50.0));
        assert!(near(summary.comparisons[0].gains[0].ratio.value.0, 5.0));
        assert_eq!(summary.comparisons[0].fastest, ["openssl"]);
        assert!(near(summary.clock.unwrap().median.0, 3e9));
        assert_eq!(summary.noise.unwrap().batches, 3 * 120 + 480);
    }

    #[test]
    fn an_emulated_cpu_gives_no_figure_at_all() {
        let mut record = record([cell("openssl", 10_000.0, 1)].into_iter());
        record.header.evidence = Evidence::Emulated;
        let summary = summarise(&record);
        assert!(matches!(summary.cells[0].figures, Known::Without(NoFigure::Meaningless(_))));
        assert_eq!((summary.clock, summary.floor, summary.noise), (None, None, None));
    }

    #[test]
    fn a_summary_of_nothing_is_a_summary() {
        let summary = summarise(&record(std::iter::empty()));
        assert!(summary.cells.is_empty() && summary.noise.is_none());
    }
}
