//! Answers an engineer's questions about records: which path at which size, what it costs, and how certain that is.

use crate::advice::{self, Advice, Border, PathPair};
use crate::cost::{self, Cost, Cpu, Load};
use crate::crossover;
use crate::evidence_policy::{Metric, meaningful};
use crate::fit::{self, Fit, NoFit};
use crate::flash_reads::{self, InlineDecryption};
use crate::location::Confidence;
use crate::missing::NoFigure;
use crate::one_pass::{self, OnePass};
use crate::paths::{self, Path, Subject, Task, WrongPath};
use crate::predict::{Prediction, predict};
use crate::queue_gain::{self, QueueGain};
use crate::ratio::Verdict;
use crate::retired::{self, RetiredLine, RetiredPerOperation, Share};
use crate::run_info;
use crate::uncertain::{Bounded, Uncertain};
use crate::units::{Bytes, Nanoseconds, OperationsPerSecond, SecondsPerMegabyte, Times};
use cpb_record::{Evidence, Outcome, Record, Round};
use serde::Serialize;

/// If more threads raise the rate by less than this share, they are not worth their cores.
const WORTH_A_THREAD: f64 = 0.05;

/// The user's own message length or load.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Question {
    /// Message length in bytes; `None` for key pairs.
    pub bytes: Option<u32>,
    /// Operations per second.
    pub rate: Option<OperationsPerSecond>,
}

/// Which path to take at the requested size.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Answer {
    /// Message length in bytes.
    pub bytes: u32,
    /// The paths that the advice for this size recommends. Empty if there is no advice.
    pub take: Vec<String>,
    /// Whether the advice changes near this size and either path may lose much (see [`Border::open`]).
    pub open: bool,
    /// If the size was not measured, other paths that may be faster: their lower bound is below the upper bound of
    /// the recommended paths.
    pub maybe: Vec<String>,
    /// Whether the paths to take were measured at this size.
    pub measured: bool,
}

/// The complete explanation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Explanation {
    /// Tasks that can be explained, in the order of the records.
    pub tasks: Vec<Explained>,
    /// The instructions of paths, of records whose times mean nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub counted: Vec<CountedPath>,
    /// Published times beside what these instructions predict.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub predictions: Vec<Prediction>,
    /// What decryption adds to reads of flash.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inline_decryption: Vec<InlineDecryption>,
    /// The gain from messages in flight.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub queues: Vec<QueueGain>,
    /// Encryption and MAC in one pass beside two.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub one_pass: Vec<OnePass>,
    /// The gain from more threads.
    pub scaling: Vec<PathScaling>,
    /// The user's question.
    pub question: Option<Question>,
    /// The number of tasks with one path at one size, where there is nothing to compare or fit.
    pub alone: usize,
    /// The number of memory reads, which have no choice of paths: the program decides how it reads.
    #[serde(skip_serializing_if = "is_zero")]
    pub memory_reads: usize,
    /// Cells without a figure, with the reason.
    pub without: Vec<(String, NoFigure)>,
    /// Problems that affect the records' figures, without duplicates.
    pub warnings: Vec<String>,
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// One task.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Explained {
    /// The machine.
    pub machine: String,
    /// The task to be done.
    pub subject: Subject,
    /// The number of threads.
    pub threads: u8,
    /// The kind of evidence.
    pub evidence: Evidence,
    /// Whether each figure is a single reading, so that intervals come from their scatter.
    pub single_readings: bool,
    /// The costs of each path.
    pub paths: Vec<Costs>,
    /// The paths that are not recommended at any size, because they gave a wrong answer at some.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub wrong: Vec<WrongPath>,
    /// The pairs of the other paths, or the reason why they are not compared.
    pub pairs: Result<Vec<PathPair>, &'static str>,
    /// The paths to take. They lose at most [`advice::LOSS`] to the fastest path at each measured size.
    pub advice: Vec<Advice>,
    /// The same advice in few ranges, with a larger loss if necessary.
    pub verdict: Vec<Advice>,
    /// The variants that cost the same as their library at every size, as (variant, library).
    pub same: Vec<(String, String)>,
    /// The answer for the requested size. `None` if there was no request, or if the size is outside the measured
    /// ones.
    pub answer: Option<Answer>,
}

impl Explained {
    /// The verdict on one path compared with another at a size. `None` if they were not compared there.
    pub(crate) fn standing(&self, one: &str, other: &str, bytes: u32) -> Option<Verdict> {
        let pairs = self.pairs.as_ref().ok()?;
        advice::standing(pairs, one, other, bytes).map(|standing| standing.verdict)
    }
}

/// The costs of one path.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Costs {
    /// Name of the provider.
    pub provider: String,
    /// The cost at any size, or the reason why there is no fit.
    pub fit: Result<Fit, NoFit>,
    /// The cost at each measured size.
    pub sizes: Vec<SizeCost>,
    /// The cost of an operation at the requested size. `None` if it is outside the measured ones.
    pub asked: Option<Cost>,
    /// The resources that the requested load takes.
    pub load: Option<Load>,
}

/// The cost of one path at one size.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SizeCost {
    /// Message length in bytes.
    pub bytes: u32,
    /// Time of an operation.
    #[serde(rename = "time_ns")]
    pub time: Bounded<Nanoseconds>,
    /// CPU time of an operation, if known.
    pub cpu: Option<Cpu>,
    /// The share of a core that consecutive operations keep busy.
    pub cpu_share: Option<f64>,
    /// CPU time per megabyte of message.
    pub cpu_seconds_per_megabyte: Option<SecondsPerMegabyte>,
}

/// The instructions of one path.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CountedPath {
    /// The machine.
    pub machine: String,
    /// The task.
    pub subject: Subject,
    /// Name of the provider.
    pub provider: String,
    /// Instructions of the measuring threads, in user mode and in the kernel, at any size. `None` with too few sizes,
    /// or if they are on no line.
    pub task: Option<RetiredLine>,
    /// Those of the whole CPU.
    pub cpu: Option<RetiredLine>,
    /// Instructions at each size, in bytes.
    pub sizes: Vec<(u32, RetiredPerOperation)>,
}

/// How a path's rate grows with the number of threads, at its largest size.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PathScaling {
    /// The task.
    pub subject: Subject,
    /// The provider.
    pub provider: String,
    /// Message length in bytes.
    pub bytes: u32,
    /// Rate with more threads divided by the rate with the fewest, as (threads, ratio).
    pub rates: Vec<(u8, Bounded<Times>)>,
    /// The number of threads after which more add less than the noise or 5 %; `None` if each additional thread gained
    /// something.
    pub stops_at: Option<u8>,
}

/// Explains several records together.
pub fn explain<'a>(
    records: impl IntoIterator<Item = &'a Record>,
    question: Option<Question>,
) -> Explanation {
    let records: Vec<&Record> = records.into_iter().collect();
    let tasks = paths::of_records(records.iter().copied());
    let choices = tasks.all.iter().filter(|task| task.subject.has_paths());
    let (alone, worth): (Vec<&Task>, Vec<&Task>) =
        choices.partition(|task| task.paths.len() == 1 && task.paths[0].points.len() == 1);
    let single = tasks.all.iter().map(|task| task.threads).min().unwrap_or(1);
    let fewest = worth.iter().filter(|task| task.threads == single);
    let mut warnings = run_info::once(records.iter().flat_map(|record| &record.warnings));
    warnings.extend(without_interval(&tasks.all));
    let published: Vec<&Record> =
        records.iter().copied().filter(|record| !record.published.is_empty()).collect();
    Explanation {
        counted: records.iter().flat_map(|record| counted(record)).collect(),
        predictions: records
            .iter()
            .flat_map(|record| predict(record, published.iter().copied()))
            .collect(),
        tasks: fewest.map(|task| one(task, question)).collect(),
        inline_decryption: flash_reads::inline_decryption(
            &records.iter().flat_map(|record| flash_reads::of(record)).collect::<Vec<_>>(),
        ),
        one_pass: records.iter().flat_map(|record| one_pass::of(record)).collect(),
        queues: records.iter().flat_map(|record| queue_gain::of(record)).collect(),
        scaling: scaling(&tasks.all),
        question,
        memory_reads: tasks.all.iter().filter(|task| !task.subject.has_paths()).count(),
        alone: alone.iter().filter(|task| task.threads == single).count(),
        without: tasks.without,
        warnings,
    }
}

/// The instructions of a record's paths, if its times mean nothing.
fn counted(record: &Record) -> Vec<CountedPath> {
    let evidence = record.header.evidence;
    if meaningful(Metric::Rate, evidence).is_ok() {
        return Vec::new();
    }
    let mut all: Vec<CountedPath> = Vec::new();
    for task in &paths::counted(record, retired::widest([record])).all {
        for path in &task.paths {
            let cells = record.cells.iter().filter(|(cell, _)| {
                cell.provider == path.provider
                    && cell.threads == task.threads
                    && Subject::Measured(cell.workload.with_size(0)) == task.subject
            });
            let rounds = cells.filter_map(|(cell, outcome)| match outcome {
                Outcome::Measured(rounds) => Some((cell.workload.size(), rounds.as_slice())),
                Outcome::NotMeasured(_) => None,
            });
            let rounds: Vec<(u32, &[Round])> = rounds.collect();
            let line = |share| {
                let sized = |(bytes, rounds): &(u32, &[Round])| {
                    let cost = retired::per_operation(rounds, share)?;
                    Some(fit::Sized { bytes: (*bytes).into(), cost })
                };
                retired::line(&rounds.iter().map(sized).collect::<Option<Vec<_>>>()?)
            };
            let sizes = rounds
                .iter()
                .filter_map(|(bytes, rounds)| Some((*bytes, retired::of(rounds, evidence)?)));
            all.push(CountedPath {
                machine: task.machine.clone(),
                subject: task.subject.clone(),
                provider: path.provider.clone(),
                task: line(Share::Task),
                cpu: line(Share::Cpu),
                sizes: sizes.collect(),
            });
        }
    }
    all
}

/// The number of measured figures without an interval, and what that means for the explanation, as a sentence.
fn without_interval(tasks: &[Task]) -> Option<String> {
    let measured = tasks.iter().filter(|task| task.evidence == Evidence::Hardware);
    let points = measured.flat_map(|task| &task.paths).flat_map(|path| &path.points);
    let unsure = points.filter(|point| point.time.margin(Confidence::Shown).is_none()).count();
    (unsure > 0).then(|| {
        format!(
            "{unsure} of these figures have no interval, because they have fewer than three passes. \
             Differences above {:.0}% count as real there, but may be chance. Measure longer \
             (--budget).",
            100.0 * crossover::SINGLE
        )
    })
}

fn one(task: &Task, question: Option<Question>) -> Explained {
    let fits: Vec<Result<Fit, NoFit>> = task.paths.iter().map(fit_of).collect();
    let right: Vec<Path> = task.right().cloned().collect();
    let right_fits: Vec<Result<Fit, NoFit>> = right.iter().map(fit_of).collect();
    let pairs = meaningful(Metric::AcrossExecutors, task.evidence)
        .map(|()| advice::compare(&right, &right_fits));
    let (advice, verdict, same) = match &pairs {
        // One path is no choice, unless it is what wrong answers left.
        Ok(pairs) if task.paths.len() > 1 => (
            advice::advise(&right, &right_fits, pairs, advice::LOSS),
            advice::verdict(&right, &right_fits, pairs),
            advice::same(&right, pairs),
        ),
        _ => Default::default(),
    };
    let points = task.paths.iter().flat_map(|path| &path.points);
    let asked = |path: &Path| {
        let bytes = match task.subject.has_sizes() {
            true => question?.bytes?,
            false => path.points.first()?.bytes,
        };
        Some((bytes, cost::at(&path.costs(), bytes.into())?))
    };
    let paths =
        task.paths.iter().zip(fits).map(|(path, fit)| costs(path, fit, asked(path), question));
    let paths: Vec<Costs> = paths.collect();
    let bytes = question.and_then(|question| question.bytes).filter(|_| task.subject.has_sizes());
    Explained {
        machine: task.machine.clone(),
        subject: task.subject.clone(),
        threads: task.threads,
        evidence: task.evidence,
        single_readings: points.clone().all(|point| point.time.is_single()),
        answer: bytes.and_then(|bytes| answer(bytes, &advice, &paths)),
        paths,
        wrong: task.wrong.clone(),
        pairs,
        advice,
        verdict,
        same,
    }
}

/// The paths to take at a size, according to the advice. `None` outside the measured sizes.
fn answer(bytes: u32, advice: &[Advice], paths: &[Costs]) -> Option<Answer> {
    let holds = |advice: &&Advice| {
        let size = Bytes::from(bytes);
        advice.from.map_or(advice.least <= bytes, |border| border.bytes <= size)
            && advice.to.map_or(bytes <= advice.largest, |border| size < border.bytes)
    };
    let take = advice.iter().find(holds).map(|advice| advice.take.clone()).unwrap_or_default();
    let within = |border: Border| border.open && border.low < bytes && bytes < border.high;
    let open = advice.iter().any(|advice| advice.to.is_some_and(within));
    let of = |costs: &&Costs| take.contains(&costs.provider);
    let asked = || paths.iter().filter_map(|costs| Some((costs, costs.asked?)));
    asked().next()?;
    let end =
        |cost: &Cost| cost.time.interval.map_or(cost.time.value.0, |interval| interval.high.0);
    let begin =
        |cost: &Cost| cost.time.interval.map_or(cost.time.value.0, |interval| interval.low.0);
    let taken = asked().filter(|(costs, _)| of(costs)).map(|(_, cost)| end(&cost));
    let least = taken.fold(f64::INFINITY, f64::min);
    let measured = asked().filter(|(costs, _)| of(costs)).all(|(_, cost)| cost.between.is_none());
    let maybe = asked().filter(|(costs, cost)| !of(costs) && begin(cost) < least && !measured);
    Some(Answer {
        bytes,
        maybe: maybe.map(|(costs, _)| costs.provider.clone()).collect(),
        take,
        open,
        measured,
    })
}

fn fit_of(path: &Path) -> Result<Fit, NoFit> {
    // An operation without a message has no cost per byte.
    let with_bytes = path.points.iter().all(|point| point.bytes > 0);
    if !with_bytes {
        return Err(NoFit::FewSizes);
    }
    fit::of(&path.scattered_times(), &path.cycles())
}

fn costs(
    path: &Path,
    fit: Result<Fit, NoFit>,
    asked: Option<(u32, Cost)>,
    question: Option<Question>,
) -> Costs {
    let size = |(point, timed): (&paths::Point, fit::Sized)| {
        let bytes = Bytes::from(point.bytes);
        SizeCost {
            bytes: point.bytes,
            time: timed.cost.bounded(),
            cpu: point.cpu,
            cpu_share: point.cpu.map(|cpu| cpu.share(Nanoseconds(point.time.value))),
            cpu_seconds_per_megabyte: point
                .cpu
                .filter(|_| point.bytes > 0)
                .map(|cpu| cpu.seconds_per_megabyte(bytes)),
        }
    };
    Costs {
        provider: path.provider.clone(),
        fit,
        sizes: path.points.iter().zip(path.scattered_times()).map(size).collect(),
        asked: asked.map(|(_, cost)| cost),
        load: asked
            .zip(question.and_then(|question| question.rate))
            .map(|((bytes, cost), rate)| cost.load(bytes.into(), rate)),
    }
}

fn scaling(tasks: &[Task]) -> Vec<PathScaling> {
    let mut all: Vec<PathScaling> = Vec::new();
    for first in tasks {
        let mut same: Vec<&Task> = tasks
            .iter()
            .filter(|task| {
                task.subject == first.subject
                    && task.run == first.run
                    && task.machine == first.machine
                    && meaningful(Metric::Scaling, task.evidence).is_ok()
            })
            .collect();
        same.sort_by_key(|task| task.threads);
        if same.len() < 2 || !std::ptr::eq(same[0], first) {
            continue;
        }
        for path in &first.paths {
            all.extend(of_threads(first, path, &same));
        }
    }
    all
}

fn of_threads(first: &Task, path: &Path, same: &[&Task]) -> Option<PathScaling> {
    let bytes = path.points.last()?.bytes;
    // Rates as logarithms, so that a ratio becomes a difference.
    let rate = |task: &&Task| {
        let path = task.paths.iter().find(|other| other.provider == path.provider)?;
        let point = path.points.iter().find(|point| point.bytes == bytes)?;
        Some((task.threads, point.time.ln(-1.0, f64::from(task.threads).ln())))
    };
    let rates: Vec<(u8, Uncertain)> = same.iter().filter_map(rate).collect();
    let (_, fewest) = rates.first().filter(|_| rates.len() > 1)?;
    let gain = |pair: &[(u8, Uncertain)]| {
        let gain = Uncertain::sum([(1.0, &pair[1].1), (-1.0, &pair[0].1)]);
        let sure = gain.value > gain.margin(Confidence::Shown).unwrap_or(f64::INFINITY);
        sure && gain.value > (1.0 + WORTH_A_THREAD).ln()
    };
    let stops = rates.windows(2).find(|pair| !gain(pair)).map(|pair| pair[0].0);
    let ratio = |(threads, rate): &(u8, Uncertain)| {
        let ratio = Uncertain::sum([(1.0, rate), (-1.0, fewest)]);
        (*threads, ratio.map(f64::exp))
    };
    Some(PathScaling {
        subject: first.subject.clone(),
        provider: path.provider.clone(),
        bytes,
        rates: rates.iter().map(ratio).collect(),
        stops_at: stops,
    })
}
