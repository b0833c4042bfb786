//! Records with known costs and the noise of real runs, to test whether the analysis finds the costs again.
//!
//! Each generated round is a random round of a real run. Its batches are scaled from the cost of that cell to the
//! planted cost, and it keeps its readings of the reference chain and the burst. Depending on the seed, two states of
//! the core's clock, drift, and bursts of other work are added.

use crate::records::{self, Case};
use cpb_analysis::advice::PathPair;
use cpb_analysis::batches::Scale;
use cpb_analysis::crossover::{Contest, Crossing};
use cpb_analysis::explain::explain;
use cpb_analysis::fit::Shape;
use cpb_analysis::location::Location;
use cpb_analysis::passes::Passes;
use cpb_analysis::units::Bytes;
use cpb_core::message::ClockDescription;
use cpb_core::{Algorithm, CryptoWorkload, Operation, Ticks};
use cpb_record::{Batch, Cell, Line, Outcome, Reading, Record, Round};
use serde::Deserialize;

/// The sizes in the generated runs.
pub const SIZES: [u32; 6] = [16, 64, 256, 1024, 4096, 16384];
/// Core cycles per nanosecond.
const GIGAHERTZ: f64 = 3.7;
/// Cost of a clock reading in the generated records, in ticks of a nanosecond.
const READING: u64 = 19;
/// The two paths, with names that the generated header has.
const SOFTWARE: &str = "openssl";
const ENGINE: &str = "mbedtls:c";

/// Rounds of one real cell, and their costs.
pub struct Source {
    cost: u64,
    rounds: Vec<RealRound>,
    /// Cycles of an operation according to the analysis.
    location: f64,
    /// Logarithms of passes' cycles, from which resampling draws.
    logs: Vec<f64>,
}

/// Cycles of the reference chain, operations per batch, and batches as [ticks, chain and burst before, chain and
/// burst after].
#[derive(Deserialize)]
struct RealRound(u32, u32, Vec<[u64; 5]>);

#[derive(Deserialize)]
struct RealCell {
    clock_cost: u64,
    rounds: Vec<RealRound>,
}

/// The noise of a quiet machine and of a loaded machine, by cell.
pub fn noise() -> [Vec<Source>; 2] {
    [include_str!("noise/quiet.jsonl"), include_str!("noise/loaded.jsonl")].map(|text| {
        // The first line describes the others.
        text.lines().skip(1).map(source).collect()
    })
}

fn source(line: &str) -> Source {
    let cell: RealCell = serde_json::from_str(line).expect("a cell's rounds");
    let clock = clock(cell.clock_cost);
    let rounds: Vec<Round> =
        (0..).zip(&cell.rounds).map(|(pass, real)| as_round(real, pass)).collect();
    let passes = Passes::of(&rounds, Scale { clock: &clock, alone: None }).expect("figures");
    let logs: Vec<f64> = passes.all.iter().filter_map(|pass| Some(pass.cycles?.0.ln())).collect();
    let location = Location::of(&logs).expect("passes").value.exp();
    Source { cost: cell.clock_cost, rounds: cell.rounds, location, logs }
}

fn clock(cost: u64) -> ClockDescription {
    ClockDescription {
        frequency: 1_000_000_000,
        resolution: Ticks(20),
        cost: Ticks(cost),
        ..ClockDescription::default()
    }
}

fn as_round(real: &RealRound, pass: u32) -> Round {
    let batch =
        |[ticks, c1, b1, c2, b2]: &[u64; 5]| Batch(*ticks, Reading(*c1, *b1), Reading(*c2, *b2));
    Round {
        pass,
        reference_cycles: real.0,
        iterations: real.1,
        samples: vec![real.2.iter().map(batch).collect()],
        ..template()
    }
}

/// A round that provides values for irrelevant fields.
fn template() -> Round {
    let record = records::record(Case::Emulated);
    let rounds = record.cells.into_iter().find_map(|(_, outcome)| match outcome {
        Outcome::Measured(rounds) => rounds.into_iter().next(),
        Outcome::NotMeasured(_) => None,
    });
    rounds.expect("a round")
}

/// The cost of a path in nanoseconds: a fixed part, a part per byte, and from some size on an additional cost.
#[derive(Clone, Copy, Debug)]
pub struct Planted {
    /// Fixed cost.
    pub fixed: f64,
    /// Cost per byte.
    pub per_byte: f64,
    /// From this size on, these amounts are added to each.
    pub switch: Option<(u32, f64, f64)>,
}

impl Planted {
    /// The cost at a size.
    pub fn at(&self, bytes: f64) -> f64 {
        let (fixed, per_byte) = match self.switch {
            Some((from, fixed, per_byte)) if bytes >= f64::from(from) => (fixed, per_byte),
            _ => (0.0, 0.0),
        };
        self.fixed + fixed + (self.per_byte + per_byte) * bytes
    }
}

/// Disturbances added to the real noise.
#[derive(Clone, Copy, Debug)]
struct Disturbance {
    /// Whether the core's clock is in one of two states, each for a whole round.
    states: bool,
    /// How much the clock slows down from the first pass to the last.
    drift: f64,
    /// Share of batches that other work delays.
    bursts: f64,
}

/// A generated run.
pub struct Run {
    /// The record.
    pub record: Record,
    /// The width of a 95 % interval of the crossover at the planted size if the noise is known; `None` if no sizes
    /// enclose the crossover.
    pub oracle: Option<f64>,
}

/// Generates a run with two planted paths, in the noise that the seed selects.
pub fn run(
    noise: &[Vec<Source>; 2],
    software: Planted,
    engine: Planted,
    meet: f64,
    seed: u64,
) -> Run {
    let mut random = fastrand::Rng::with_seed(seed ^ 0x9e37_79b9_7f4a_7c15);
    let sources = &noise[random.usize(..2)];
    let passes = random.u32(12..60);
    let modelled = random.bool();
    let disturbance = Disturbance {
        states: modelled && random.bool(),
        drift: if modelled { 0.02 * random.f64() } else { 0.0 },
        bursts: if modelled { 0.1 * random.f64() } else { 0.0 },
    };
    let template = template();
    let mut lines = Vec::new();
    let mut cells: Vec<(f64, f64, &Source)> = Vec::new();
    for (provider, planted) in [(SOFTWARE, software), (ENGINE, engine)] {
        for size in SIZES {
            // The real cell whose noise is used.
            let source = &sources[random.usize(..sources.len())];
            let time = planted.at(size.into());
            cells.push((size.into(), time, source));
            let workload =
                CryptoWorkload::new(Algorithm::Aes256Cbc, Operation::Encrypt, size).into();
            let cell = Cell { provider: provider.into(), workload, threads: 1 };
            for pass in 0..passes {
                let drift = 1.0 + disturbance.drift * f64::from(pass) / f64::from(passes);
                let round = disturbed(source, time, drift, disturbance, &mut random);
                lines.push(Line::Round(
                    Round { cell: cell.clone(), pass, output: "1".into(), ..template.clone() }
                        .with(round),
                ));
            }
        }
    }
    let header = records::record(Case::Empty).header;
    let oracle = oracle(&cells, meet, passes, &mut random);
    Run { record: Record::assemble(header, lines), oracle }
}

/// The random parts of a round.
struct Drawn {
    reference_cycles: u32,
    iterations: u32,
    batches: Vec<Batch>,
}

trait With {
    fn with(self, drawn: Drawn) -> Round;
}

impl With for Round {
    fn with(self, drawn: Drawn) -> Round {
        Round {
            reference_cycles: drawn.reference_cycles,
            iterations: drawn.iterations,
            samples: vec![drawn.batches],
            ..self
        }
    }
}

fn disturbed(
    source: &Source,
    time: f64,
    drift: f64,
    disturbance: Disturbance,
    random: &mut fastrand::Rng,
) -> Drawn {
    let real = &source.rounds[random.usize(..source.rounds.len())];
    let iterations = (200_000.0 / time).ceil();
    let state = if disturbance.states && random.bool() { 1.15 } else { 1.0 };
    let slow = drift * state;
    let net = |ticks: u64| ticks.saturating_sub(source.cost) as f64;
    let reading = |ticks: u64, slow: f64| (net(ticks) * slow).round() as u64 + READING;
    let batches = real.2.iter().map(|[ticks, c1, b1, c2, b2]| {
        let share = net(*ticks) / (f64::from(real.1) * source.location);
        let cycles = time * GIGAHERTZ * iterations;
        let late = if random.f64() < disturbance.bursts { 60_000.0 * random.f64() } else { 0.0 };
        // The clock steps inside one batch in fifty.
        let step = if disturbance.states && random.u8(..50) == 0 { 1.15 } else { 1.0 };
        Batch(
            (cycles * share * slow + late).round() as u64 + READING,
            Reading(reading(*c1, slow), reading(*b1, slow)),
            Reading(reading(*c2, slow * step), reading(*b2, slow * step)),
        )
    });
    Drawn { reference_cycles: real.0, iterations: iterations as u32, batches: batches.collect() }
}

/// The width of the interval that is possible if the scatter of each cell's location is known.
fn oracle(
    cells: &[(f64, f64, &Source)],
    meet: f64,
    passes: u32,
    random: &mut fastrand::Rng,
) -> Option<f64> {
    let above = SIZES.iter().position(|size| f64::from(*size) > meet)?;
    let (low, high) = (f64::from(SIZES[above.checked_sub(1)?]), f64::from(SIZES[above]));
    let share = (meet - low) / (high - low);
    let mut variance = 0.0;
    let mut difference = [0.0; 2];
    for (place, (bytes, time, source)) in cells.iter().enumerate() {
        let part = match *bytes {
            bytes if bytes == low => 1.0 - share,
            bytes if bytes == high => share,
            _ => continue,
        };
        variance += (part * time * scatter(source, passes, random)).powi(2);
        let sign = if place < SIZES.len() { 1.0 } else { -1.0 };
        difference[usize::from(*bytes == high)] += sign * time;
    }
    let slope = (difference[1] - difference[0]) / (high - low);
    Some(2.0 * 1.96 * variance.sqrt() / slope.abs())
}

/// Standard deviation of the location of this many passes drawn from a source, in logarithms.
fn scatter(source: &Source, passes: u32, random: &mut fastrand::Rng) -> f64 {
    const DRAWS: usize = 60;
    let locations: Vec<f64> = (0..DRAWS)
        .map(|_| {
            let draw = |_| source.logs[random.usize(..source.logs.len())];
            let logs: Vec<f64> = (0..passes).map(draw).collect();
            Location::of(&logs).map_or(0.0, |location| location.value)
        })
        .collect();
    let mean = locations.iter().sum::<f64>() / DRAWS as f64;
    let squares: f64 = locations.iter().map(|location| (location - mean).powi(2)).sum();
    (squares / (DRAWS - 1) as f64).sqrt()
}

/// How often the planted values were found.
#[derive(Clone, Debug, Default)]
pub struct Score {
    /// The number of runs with a crossover.
    pub crossing: u32,
    /// The number of those in which it lies in the only printed interval.
    pub inside: u32,
    /// The errors of the estimates by straight lines, as multiples of the width of the oracle's interval.
    pub off: Vec<f64>,
    /// The number of runs without a crossover.
    pub without: u32,
    /// The number of those that report "never".
    pub said_rightly: u32,
    /// The number of those that report a crossover.
    pub made_up: u32,
    /// The number of runs with a crossover that report "never".
    pub said_wrongly: u32,
    /// The number of runs with a switch inside a path.
    pub switches: u32,
    /// The number of those in which it was found between the right sizes.
    pub found: u32,
}

/// Tests the seeds from `first` on. Of ten seeds, six have a crossover, two have none, and two have a switch.
pub fn score(first: u64, seeds: u64) -> Score {
    let noise = noise();
    let mut score = Score::default();
    for seed in first..first + seeds {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut between = |low: f64, high: f64| (low.ln() + (high / low).ln() * random.f64()).exp();
        let software =
            Planted { fixed: between(20.0, 500.0), per_byte: between(0.2, 30.0), switch: None };
        match seed % 10 {
            0..6 => {
                let meet = between(40.0, 8000.0);
                let per_byte = software.per_byte * between(0.05, 0.7);
                let fixed = software.fixed + meet * (software.per_byte - per_byte);
                let engine = Planted { fixed, per_byte, switch: None };
                let run = run(&noise, software, engine, meet, seed);
                crossing(&mut score, &run, meet);
            }
            6..8 => {
                let slower = between(1.01, 4.0);
                let fixed = software.fixed * between(slower, 100.0);
                let engine = Planted { fixed, per_byte: software.per_byte * slower, switch: None };
                let run = run(&noise, software, engine, f64::INFINITY, seed);
                never(&mut score, &run);
            }
            _ => {
                let from = [256, 1024][(seed % 2) as usize];
                let jump = between(1.3, 4.0) * software.at(from.into());
                let switch = Some((from, jump, -software.per_byte * 0.5));
                let switching = Planted { switch, ..software };
                let run = run(&noise, software, switching, f64::INFINITY, seed);
                switched(&mut score, &run, from);
            }
        }
    }
    score
}

fn pair(record: &Record) -> PathPair {
    let explanation = explain([record], None);
    let pairs = explanation.tasks[0].pairs.clone().expect("hardware may be compared");
    pairs.into_iter().next().expect("two paths")
}

fn crossing(score: &mut Score, run: &Run, meet: f64) {
    score.crossing += 1;
    match pair(&run.record).contest {
        Contest::Crosses(found) => {
            let [Crossing { bytes, low, high, .. }] = found[..] else { return };
            score.inside += u32::from((low.0..=high.0).contains(&meet));
            if let Some(oracle) = run.oracle {
                score.off.push((bytes.0 - meet).abs() / oracle);
            }
        }
        Contest::Never { .. } => score.said_wrongly += 1,
        Contest::Partly { .. } | Contest::Tie | Contest::Unknown => {}
    }
}

fn never(score: &mut Score, run: &Run) {
    score.without += 1;
    match pair(&run.record).contest {
        Contest::Never { .. } => score.said_rightly += 1,
        Contest::Crosses(_) => score.made_up += 1,
        Contest::Partly { .. } | Contest::Tie | Contest::Unknown => {}
    }
}

fn switched(score: &mut Score, run: &Run, from: u32) {
    score.switches += 1;
    let explanation = explain([&run.record], None);
    let costs = explanation.tasks[0].paths.iter().find(|costs| costs.provider == ENGINE);
    let shape = costs.and_then(|costs| costs.fit.as_ref().ok()).map(|fit| fit.shape);
    let right = |shape| match shape {
        Shape::Switch { after, before } => after < Bytes::from(from) && before == Bytes::from(from),
        Shape::Line | Shape::Poor => false,
    };
    score.found += u32::from(shape.is_some_and(right));
}

impl Score {
    /// The share of crossovers that lie in their printed interval.
    pub fn coverage(&self) -> f64 {
        f64::from(self.inside) / f64::from(self.crossing)
    }

    /// The share of all "never" reports that are right.
    pub fn never_right(&self) -> f64 {
        f64::from(self.said_rightly) / f64::from((self.said_rightly + self.said_wrongly).max(1))
    }

    /// The median error of the estimates, as a multiple of the width of the oracle's interval.
    pub fn off(&self) -> f64 {
        let mut off = self.off.clone();
        off.sort_unstable_by(f64::total_cmp);
        off.get(off.len() / 2).copied().unwrap_or(f64::INFINITY)
    }
}
