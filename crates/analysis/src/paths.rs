//! The tasks in records, and the paths that can run each. Fits, crossovers and advice are computed from them.
//!
//! Measured cells are compared only within their record, because only there are passes adjacent in time. Published
//! tables of one machine are compared with each other, even across records.

use crate::agreement;
use crate::cost::{Cpu, MeasuredCost};
use crate::evidence_policy::{Metric, meaningful};
use crate::fit::{self, Sized};
use crate::latency::{self, Latency};
use crate::levels::{self, Levels};
use crate::location::Scatter;
use crate::missing::NoFigure;
use crate::passes::{Pass, Passes};
use crate::retired::{self, Share};
use crate::smt::Alone;
use crate::summary;
use crate::uncertain::Uncertain;
use crate::units::{Nanoseconds, Unit};
use cpb_core::catalog;
use cpb_core::memory_read::{self, Region};
use cpb_core::{Algorithm, Workload};
use cpb_record::{Cell, Evidence, Outcome, Published, Record};
use serde::Serialize;
use std::collections::BTreeSet;

/// A task, without its size.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Subject {
    /// A workload with a size of 0.
    Measured(Workload),
    /// A task in the words of a published table.
    Published {
        /// The algorithm.
        algorithm: String,
        /// The operation.
        operation: Option<String>,
        /// The phase.
        phase: Option<String>,
        /// Whether there are messages; operations on key pairs have none.
        #[serde(skip)]
        has_sizes: bool,
    },
}

impl Subject {
    /// The algorithm's name; for memory reads, the name of the family.
    pub fn algorithm(&self) -> &str {
        match self {
            Subject::Measured(Workload::Crypto(workload)) => workload.algorithm.name(),
            Subject::Measured(_) => memory_read::FAMILY,
            Subject::Published { algorithm, .. } => algorithm,
        }
    }

    /// Whether its message length can be chosen; operations on key pairs have a fixed length.
    pub fn has_sizes(&self) -> bool {
        match self {
            Subject::Measured(Workload::Crypto(workload)) => !workload.algorithm.has_key_pairs(),
            Subject::Measured(_) => true,
            Subject::Published { has_sizes, .. } => *has_sizes,
        }
    }

    /// The operation's name, if known.
    pub fn operation(&self) -> Option<&str> {
        match self {
            Subject::Measured(Workload::Crypto(workload)) => Some(workload.operation.name()),
            Subject::Measured(_) => None,
            Subject::Published { operation, .. } => operation.as_deref(),
        }
    }

    /// The phase's name, if known.
    pub fn phase(&self) -> Option<&str> {
        match self {
            Subject::Measured(Workload::Crypto(workload)) => Some(workload.phase.name()),
            Subject::Measured(_) => None,
            Subject::Published { phase, .. } => phase.as_deref(),
        }
    }

    /// Whether several paths can run it, one of which must be chosen. A memory read has no choice: the program
    /// determines how it reads, and whether the flash is encrypted.
    pub fn has_paths(&self) -> bool {
        match self {
            Subject::Measured(workload) => workload.crypto().is_some(),
            Subject::Published { algorithm, .. } => algorithm.parse::<Region>().is_err(),
        }
    }

    /// Sizes are multiples of this number of bytes.
    pub fn block(&self) -> usize {
        let algorithm = match self {
            Subject::Measured(Workload::Crypto(workload)) => Some(workload.algorithm),
            Subject::Measured(_) => return memory_read::BLOCK as usize,
            Subject::Published { algorithm, .. } => algorithm.parse::<Algorithm>().ok(),
        };
        algorithm.map_or(1, |algorithm| algorithm.shape().block.max(1))
    }
}

/// A task, and the paths that were measured for it.
#[derive(Clone, Debug)]
pub struct Task {
    /// Index of its record. A published task from several records has the index of the first.
    pub run: usize,
    /// The machine.
    pub machine: String,
    /// What is to be done.
    pub subject: Subject,
    /// The number of threads.
    pub threads: u8,
    /// The kind of evidence.
    pub evidence: Evidence,
    /// The paths, in the order of the records.
    pub paths: Vec<Path>,
    /// Those of the paths that gave a wrong answer to this algorithm and operation at some size. They have figures for
    /// the other sizes, but are not recommended for any.
    pub wrong: Vec<WrongPath>,
}

/// A path that gave a wrong answer to an algorithm and operation, at any of its sizes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WrongPath {
    /// Name of the provider.
    pub provider: String,
    /// The sizes of the messages with wrong answers, ascending.
    pub sizes: Vec<u32>,
    /// How it is known.
    pub why: String,
}

impl Task {
    /// The paths that can be recommended.
    pub fn right(&self) -> impl Iterator<Item = &Path> {
        let is_right =
            |path: &&Path| self.wrong.iter().all(|wrong| wrong.provider != path.provider);
        self.paths.iter().filter(is_right)
    }
}

/// A path, with the sizes at which it was measured.
#[derive(Clone, Debug)]
pub struct Path {
    /// Name of the provider.
    pub provider: String,
    /// The points, by ascending size.
    pub points: Vec<Point>,
}

/// A path at one size.
#[derive(Clone, Debug)]
pub struct Point {
    /// Message length or working set in bytes. 0 if the workload has neither.
    pub bytes: u32,
    /// Time that a thread takes for an operation, in nanoseconds; not a number in tasks of [`counted`].
    pub time: Uncertain,
    /// The same in core cycles, where they are known.
    pub cycles: Option<Uncertain>,
    /// Instructions of an operation; only in tasks of [`counted`].
    pub instructions: Option<Uncertain>,
    /// The two levels, if the passes' leading figures (cycles if known) lie on two.
    pub levels: Option<Levels>,
    /// CPU time of an operation; only for one thread.
    pub cpu: Option<Cpu>,
    /// Times of single operations.
    pub latency: Option<Latency>,
}

impl Point {
    fn without_time(bytes: u32) -> Point {
        let time = Uncertain::single(f64::NAN);
        let (cycles, instructions, levels, cpu, latency) = Default::default();
        Point { bytes, time, cycles, instructions, levels, cpu, latency }
    }
}

impl Path {
    /// Times by size.
    pub fn times(&self) -> Vec<Sized> {
        let sized = |point: &Point| Sized { bytes: point.bytes.into(), cost: point.time.clone() };
        self.points.iter().map(sized).collect()
    }

    /// Times by size. If they are single readings close to a line, their scatter about the line is their error. If no
    /// line is close to them, the deviation from a line says nothing about their noise.
    pub fn scattered_times(&self) -> Vec<Sized> {
        let times = self.times();
        let single = self.points.iter().all(|point| point.time.is_single());
        if single { fit::with_scatter(&times) } else { times }
    }

    /// Cycles by size; empty unless they are known at every size.
    pub fn cycles(&self) -> Vec<Sized> {
        let sized =
            |point: &Point| Some(Sized { bytes: point.bytes.into(), cost: point.cycles.clone()? });
        self.points.iter().map(sized).collect::<Option<_>>().unwrap_or_default()
    }

    /// All costs by size, for interpolation between sizes.
    pub fn costs(&self) -> Vec<MeasuredCost> {
        let at = |(point, timed): (&Point, Sized)| MeasuredCost {
            bytes: point.bytes.into(),
            time: timed.cost.bounded(),
            cpu: point.cpu.map(|cpu| cpu.total),
            p99: point.latency.and_then(|latency| latency.p99),
        };
        self.points.iter().zip(self.scattered_times()).map(at).collect()
    }
}

/// The tasks of some records, and the cells that are in no task.
#[derive(Clone, Debug, Default)]
pub struct Tasks {
    /// The tasks, in the order of the records.
    pub all: Vec<Task>,
    /// Cells without a figure, or with a figure that is left out, as (cell, reason).
    pub without: Vec<(String, NoFigure)>,
}

/// Collects all tasks of some records.
pub fn of_records<'a>(records: impl IntoIterator<Item = &'a Record>) -> Tasks {
    let mut tasks = Tasks::default();
    for (run, record) in records.into_iter().enumerate() {
        // Tasks before this index belong to other records.
        let own = tasks.all.len();
        measured(run, record, &mut tasks, own);
        for cell in &record.published {
            published(run, record.header.evidence, cell, &mut tasks);
        }
    }
    for path in tasks.all.iter_mut().flat_map(|task| &mut task.paths) {
        path.points.sort_by_key(|point| point.bytes);
    }
    tasks
}

/// Collects the tasks of a record whose operations' instructions were counted, as costs of this `share` of them. For
/// records whose times mean nothing.
pub fn counted(record: &Record, share: Share) -> Tasks {
    let mut tasks = Tasks::default();
    let evidence = record.header.evidence;
    if let Err(why) = meaningful(Metric::Instructions, evidence) {
        tasks.without.push((record.header.plan.name.clone(), NoFigure::Meaningless(why)));
        return tasks;
    }
    let suspects = agreement::disagreements(record);
    for (cell, outcome) in &record.cells {
        let Outcome::Measured(rounds) = outcome else { continue };
        if !catalog::computes(&cell.provider) || suspects.contains_key(cell) {
            continue;
        }
        let Some(instructions) = retired::per_operation(rounds, share) else {
            tasks.without.push((cell.to_string(), NoFigure::NotCounted));
            continue;
        };
        let bytes = cell.workload.size();
        let scatter = retired::scatter(rounds) * instructions.value;
        let instructions = instructions.scattered(scatter, retired::FREEDOM);
        let point = Point { instructions: Some(instructions), ..Point::without_time(bytes) };
        add(&mut task_of(cell, record, 0, &mut tasks.all).paths, &cell.provider, point);
    }
    for path in tasks.all.iter_mut().flat_map(|task| &mut task.paths) {
        path.points.sort_by_key(|point| point.bytes);
    }
    tasks
}

/// The task of a cell among `tasks`, which are of its record; added if it is not there.
fn task_of<'t>(cell: &Cell, record: &Record, run: usize, tasks: &'t mut Vec<Task>) -> &'t mut Task {
    let subject = Subject::Measured(cell.workload.with_size(0));
    let is_it =
        |task: &Task| task.run == run && task.subject == subject && task.threads == cell.threads;
    let place = tasks.iter().position(is_it).unwrap_or_else(|| {
        let (threads, evidence) = (cell.threads, record.header.evidence);
        let (machine, paths) = (record.header.machine.words(), Vec::new());
        let wrong = Vec::new();
        tasks.push(Task { run, machine, subject, threads, evidence, paths, wrong });
        tasks.len() - 1
    });
    &mut tasks[place]
}

fn measured(run: usize, record: &Record, tasks: &mut Tasks, own: usize) {
    let suspects = agreement::disagreements(record);
    let alone = Alone::of_record(record);
    let mut wrong = Vec::new();
    for (cell, outcome) in &record.cells {
        // Floors compute nothing, so they are not paths.
        if !catalog::computes(&cell.provider) {
            continue;
        }
        let passes = match suspects.get(cell) {
            Some(reason) => Err(reason.clone()),
            None => summary::of_cell(record, cell, outcome, alone),
        };
        let point = passes
            .and_then(|passes| point(record, cell, outcome, &passes).ok_or(NoFigure::NotReached));
        match point {
            Ok(point) => {
                let task = task_of(cell, record, run, &mut tasks.all);
                add(&mut task.paths, &cell.provider, point);
            }
            Err(reason) => {
                if let NoFigure::WrongAnswer(why) = &reason {
                    wrong.push((cell, why.clone()));
                }
                tasks.without.push((cell.to_string(), reason));
            }
        }
    }
    for task in &mut tasks.all[own..] {
        task.wrong = wrong_paths(task, &wrong);
    }
}

/// The paths of a task with a wrong answer to its algorithm and operation, in any phase, at any size, with any number of
/// threads.
fn wrong_paths(task: &Task, wrong: &[(&Cell, String)]) -> Vec<WrongPath> {
    let of_path = |path: &Path| {
        let is_its = |(cell, _): &&(&Cell, String)| {
            let subject = Subject::Measured(cell.workload);
            cell.provider == path.provider
                && (subject.algorithm(), subject.operation())
                    == (task.subject.algorithm(), task.subject.operation())
        };
        let (_, why) = wrong.iter().find(is_its)?;
        let sizes = wrong.iter().filter(is_its).map(|(cell, _)| cell.workload.size());
        let sizes: BTreeSet<u32> = sizes.collect();
        let (provider, sizes) = (path.provider.clone(), sizes.into_iter().collect());
        Some(WrongPath { provider, sizes, why: why.clone() })
    };
    task.paths.iter().filter_map(of_path).collect()
}

fn point(record: &Record, cell: &Cell, outcome: &Outcome, passes: &Passes) -> Option<Point> {
    let evidence = record.header.evidence;
    let time = passes.cost(|pass| Some(pass.time))?;
    let cycles = (passes.cycles_known() && meaningful(Metric::Cycles, evidence).is_ok())
        .then(|| passes.cost(|pass| pass.cycles))
        .flatten();
    // An operation with a random duration has no levels.
    let leading = |pass: &Pass| match cycles {
        Some(_) => pass.cycles.map(Unit::number),
        None => Some(pass.time.number()),
    };
    let levels = match passes.scatter {
        Scatter::Disturbed => levels::of(passes.all.iter().filter_map(leading)),
        Scatter::Intrinsic => None,
    };
    let rounds = match outcome {
        Outcome::Measured(rounds) => rounds.as_slice(),
        Outcome::NotMeasured(_) => &[],
    };
    let cpu = if cell.threads == 1 { Cpu::of(rounds, Nanoseconds(time.value)) } else { None };
    let latency = meaningful(Metric::Latency, evidence)
        .ok()
        .and_then(|()| latency::of(rounds, record.clock(&cell.provider)?).ok());
    let bytes = cell.workload.size();
    Some(Point { bytes, time, cycles, instructions: None, levels, cpu, latency })
}

fn published(run: usize, evidence: Evidence, cell: &Published, tasks: &mut Tasks) {
    let Some(time) = cell.nanoseconds() else { return };
    let bytes = cell.bytes.unwrap_or(0);
    let subject = Subject::Published {
        algorithm: cell.algorithm.clone(),
        operation: cell.operation.clone(),
        phase: cell.phase.clone(),
        has_sizes: cell.bytes.is_some(),
    };
    let place = tasks.all.iter().position(|task| {
        task.subject == subject && task.evidence == evidence && task.machine == cell.machine
    });
    let place = place.unwrap_or_else(|| {
        let machine = cell.machine.clone();
        let (paths, wrong) = Default::default();
        tasks.all.push(Task { run, machine, subject, threads: 1, evidence, paths, wrong });
        tasks.all.len() - 1
    });
    let time = Uncertain::single(time);
    let point = Point { time, ..Point::without_time(bytes) };
    if !add(&mut tasks.all[place].paths, &cell.provider, point) {
        let words = [&cell.provider, &cell.row, &cell.column].map(String::as_str);
        let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
        tasks.without.push((words.join(", "), NoFigure::Repeated));
    }
}

/// Adds a point to its path, unless the path already has one of that size.
fn add(paths: &mut Vec<Path>, provider: &str, point: Point) -> bool {
    match paths.iter_mut().find(|path| path.provider == provider) {
        Some(path) if path.points.iter().any(|known| known.bytes == point.bytes) => return false,
        Some(path) => path.points.push(point),
        None => paths.push(Path { provider: provider.to_owned(), points: vec![point] }),
    }
    true
}
