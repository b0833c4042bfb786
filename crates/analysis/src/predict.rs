//! Predicts published times of a machine from instructions that were counted on another one, for example in a guest
//! whose CPU is emulated.
//!
//! A path costs its instructions, times a range of cycles an instruction, divided by the clock; if an engine does the
//! work, its time is added. Assumptions: the machine runs about the same instructions (another compiler and kernel
//! retire others), the range holds for the path, and CPU and engine do not work at the same time. The constants are in
//! `predict/machines.toml`, each with its source. A prediction that fails is shown with how far it is off.

use crate::fit;
use crate::paths::{self, Subject};
use crate::retired::{self, Share};
use crate::units::{Instructions, InstructionsPerByte, Interval, Megahertz, Nanoseconds, Unit};
use cpb_record::{Outcome, Record};
use serde::{Deserialize, Serialize};

const MACHINES: &str = include_str!("predict/machines.toml");

/// The published times of one path, and what the counts predict.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Prediction {
    /// The machine.
    pub machine: String,
    /// Its core, and the clock and ranges that were assumed, each with its source.
    pub assumptions: Vec<String>,
    /// The algorithm.
    pub algorithm: String,
    /// The published path.
    pub published: String,
    /// The path whose instructions were counted; `None` if none was.
    pub counted: Option<String>,
    /// The part that does not depend on the message's length.
    pub fixed: Option<Predicted<Instructions>>,
    /// The part for each byte.
    pub per_byte: Option<Predicted<InstructionsPerByte>>,
    /// What the prediction leaves out.
    pub lacks: String,
}

/// One figure.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Predicted<U> {
    /// What was counted.
    pub instructions: U,
    /// The engine's part of the prediction; zero for software.
    #[serde(rename = "engine_ns")]
    pub engine: Nanoseconds,
    /// The prediction.
    #[serde(rename = "predicted_ns")]
    pub predicted: Interval<Nanoseconds>,
    /// The published figure.
    #[serde(rename = "published_ns")]
    pub published: Nanoseconds,
    /// The share by which the published figure lies outside the range: below 0 if it is below the range, 0 if it is
    /// within.
    pub off: f64,
}

impl<U: Unit> Predicted<U> {
    fn new(
        instructions: U,
        published: Nanoseconds,
        machine: &Machine,
        cost: &CyclesPerInstruction,
        engine: Nanoseconds,
    ) -> Predicted<U> {
        let at = |cycles: f64| {
            let time = instructions.number().max(0.0) * cycles * 1e3 / machine.clock.value.0;
            Nanoseconds(time + engine.0)
        };
        let predicted = Interval { low: at(cost.low), high: at(cost.high) };
        let off = match published.0 {
            time if time < predicted.low.0 => time / predicted.low.0 - 1.0,
            time if time > predicted.high.0 => time / predicted.high.0 - 1.0,
            _ => 0.0,
        };
        Predicted { instructions, engine, predicted, published, off }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MachinesFile {
    machine: Vec<Machine>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Machine {
    name: String,
    core: String,
    #[serde(rename = "mhz")]
    clock: Clock,
    kernel: CyclesPerInstruction,
    software: CyclesPerInstruction,
    engine: Engine,
    path: Vec<PredictedPath>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Clock {
    value: Megahertz,
    source: String,
}

/// Cycles an instruction.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CyclesPerInstruction {
    low: f64,
    high: f64,
    source: String,
}

/// The time of an engine, in microseconds a job and nanoseconds a byte.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Engine {
    name: String,
    job_us: f64,
    #[serde(rename = "ns-per-byte")]
    per_byte: Nanoseconds,
    source: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PredictedPath {
    published: String,
    counted: Vec<String>,
    cost: CostKind,
    lacks: String,
}

#[derive(Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum CostKind {
    /// The kernel's code, and an engine.
    Kernel,
    /// A library.
    Software,
}

impl Machine {
    fn assumptions(&self, kind: CostKind) -> Vec<String> {
        let Machine { core, clock, engine, .. } = self;
        let mut all = vec![format!("{core} at {} MHz: {}", clock.value.0, clock.source)];
        let range = self.range(kind);
        all.push(format!(
            "{} to {} cycles an instruction: {}",
            range.low, range.high, range.source
        ));
        if kind == CostKind::Kernel {
            let Engine { name, job_us, per_byte, source } = engine;
            all.push(format!("{name}: {job_us} µs a job and {} ns a byte: {source}", per_byte.0));
        }
        all
    }

    fn range(&self, kind: CostKind) -> &CyclesPerInstruction {
        match kind {
            CostKind::Kernel => &self.kernel,
            CostKind::Software => &self.software,
        }
    }
}

/// Predicts the published times that counts of `record` say something about. Empty without counts or without such
/// times.
pub fn predict<'a>(
    record: &Record,
    published: impl IntoIterator<Item = &'a Record>,
) -> Vec<Prediction> {
    let counted = record.cells.iter().any(|(_, outcome)| match outcome {
        Outcome::Measured(rounds) => rounds.iter().any(|round| round.counters.retired.is_some()),
        Outcome::NotMeasured(_) => false,
    });
    let machines =
        toml::from_str::<MachinesFile>(MACHINES).map(|file| file.machine).unwrap_or_default();
    if !counted {
        return Vec::new();
    }
    let mut predictions = Vec::new();
    for task in &paths::of_records(published).all {
        let Some(machine) = machines.iter().find(|machine| machine.name == task.machine) else {
            continue;
        };
        let Subject::Published { algorithm, operation, .. } = &task.subject else { continue };
        for path in &task.paths {
            let known = machine.path.iter().find(|known| known.published == path.provider);
            let fit = fit::of(&path.scattered_times(), &[]);
            let Some((known, fit)) = known.zip(fit.ok()) else { continue };
            let (Some(first), Some(last)) = (fit.lines.first(), fit.lines.last()) else { continue };
            let name = known
                .counted
                .iter()
                .find(|name| sizes(record, name, algorithm, operation.as_deref()).is_some());
            let counts = name.and_then(|name| {
                retired::line(&sizes(record, name, algorithm, operation.as_deref())?)
            });
            let range = machine.range(known.cost);
            let engine = |time: f64| match known.cost {
                CostKind::Kernel => Nanoseconds(time),
                CostKind::Software => Nanoseconds(0.0),
            };
            let fixed = counts.as_ref().map(|counts| {
                let engine = engine(machine.engine.job_us * 1e3);
                Predicted::new(counts.fixed.value, first.fixed.value, machine, range, engine)
            });
            let per_byte = counts.as_ref().map(|counts| {
                let engine = engine(machine.engine.per_byte.0);
                Predicted::new(counts.per_byte.value, last.per_byte.value, machine, range, engine)
            });
            predictions.push(Prediction {
                machine: machine.name.clone(),
                assumptions: machine.assumptions(known.cost),
                algorithm: algorithm.clone(),
                published: path.provider.clone(),
                counted: counts.and(name.cloned()),
                fixed,
                per_byte,
                lacks: known.lacks.clone(),
            });
        }
    }
    predictions
}

/// Counts of a provider by size: of the whole CPU, or of the thread if those of the CPU are unknown. `None` without
/// any.
fn sizes(
    record: &Record,
    provider: &str,
    algorithm: &str,
    operation: Option<&str>,
) -> Option<Vec<fit::Sized>> {
    let mut sizes = Vec::new();
    for (cell, outcome) in &record.cells {
        let subject = Subject::Measured(cell.workload);
        let is_its = cell.provider == provider
            && cell.threads == 1
            && subject.algorithm() == algorithm
            && operation.is_none_or(|operation| subject.operation() == Some(operation));
        if let Outcome::Measured(rounds) = outcome
            && is_its
        {
            let cost = retired::per_operation(rounds, Share::Cpu)
                .or_else(|| retired::per_operation(rounds, Share::Task))?;
            sizes.push(fit::Sized { bytes: cell.workload.size().into(), cost });
        }
    }
    sizes.sort_by(|a, b| a.bytes.total_cmp(&b.bytes));
    (!sizes.is_empty()).then_some(sizes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{noisy_rounds, record};
    use cpb_core::message::Retired;
    use cpb_core::{Algorithm, CryptoWorkload, Operation, Workload};
    use cpb_record::{Round, store};

    /// A path of a guest that retires `fixed` instructions, and `per_byte` for each byte.
    fn path(provider: &str, fixed: u64, per_byte: u64) -> Vec<Vec<Round>> {
        let of_size = |bytes: u32| {
            let mut rounds = noisy_rounds(bytes.into(), 4, 1000.0, 0.01);
            for round in &mut rounds {
                round.cell.provider = provider.to_owned();
                round.cell.workload = Workload::Crypto(CryptoWorkload::new(
                    Algorithm::Aes128Cbc,
                    Operation::Encrypt,
                    bytes,
                ));
                let cpu = Some(10 * (fixed + per_byte * u64::from(bytes)));
                round.counters.retired =
                    Some(Retired { operations: 10, user: 10, kernel: Some(0), cpu });
            }
            rounds
        };
        [16, 1024, 16384].map(of_size).into()
    }

    fn imx6() -> Vec<Record> {
        ["software", "cryptodev", "af_alg"]
            .map(|name| {
                let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../records/imx6-");
                store::read(format!("{folder}{name}.jsonl").as_ref()).expect("a record")
            })
            .into()
    }

    #[test]
    fn a_planted_path_is_predicted_within_its_range_and_beyond_it_by_how_much() {
        // 25,000 instructions are 50 to 75 µs at 996 MHz, and the engine takes 11 µs.
        let cells = path("af_alg:cbc-aes-caam", 25_000, 1).into_iter().chain(path(
            "openssl:nocrypto",
            500,
            90,
        ));
        let predictions = predict(&record(cells), &imx6());
        let find = |name: &str| {
            let found = predictions.iter().find(|found| found.published == name);
            found.expect("a published path").clone()
        };
        let fixed = find("af_alg").fixed.expect("counts");
        assert!((fixed.instructions.0 - 25_000.0).abs() < 50.0, "{fixed:?}");
        assert!((fixed.predicted.low.0 - 61_250.0).abs() < 300.0, "{fixed:?}");
        assert!((fixed.predicted.high.0 - 86_350.0).abs() < 300.0, "{fixed:?}");
        assert!((fixed.published.0 - 74_100.0).abs() < 500.0 && fixed.off == 0.0, "{fixed:?}");
        // 90 instructions a byte are far more than the published software needs.
        let slope = find("software").per_byte.expect("counts");
        assert!((slope.published.0 - 28.6).abs() < 0.2, "{slope:?}");
        assert!(slope.off < -0.4 && slope.off > -0.6, "{slope:?}");
        let absent = find("cryptodev");
        assert_eq!((absent.counted, absent.fixed), (None, None));
    }

    #[test]
    fn without_counts_nothing_is_predicted() {
        let cells = path("af_alg:cbc-aes-caam", 25_000, 1).into_iter().map(|mut rounds| {
            rounds.iter_mut().for_each(|round| round.counters.retired = None);
            rounds
        });
        assert_eq!(predict(&record(cells), &imx6()), []);
    }
}
