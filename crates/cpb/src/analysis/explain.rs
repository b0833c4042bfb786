//! What an engineer asks of records: which path at which size, what it costs, how sure that is.

use crate::analysis::advice::{self, Advice, Compared};
use crate::analysis::cost::{self, Cpu, Load};
use crate::analysis::crossover;
use crate::analysis::facts;
use crate::analysis::fit::{self, Fit, NoFit};
use crate::analysis::location::Confidence;
use crate::analysis::meaningful::{Metric, meaningful};
use crate::analysis::no_figure::NoFigure;
use crate::analysis::paths::{self, Path, Subject, Task};
use crate::analysis::uncertain::{Bounded, Uncertain};
use crate::analysis::units::{Nanoseconds, Times};
use crate::record::{Evidence, Record};
use serde::Serialize;

/// Threads that add less than this share to the rate are not worth their cores.
const WORTH_A_THREAD: f64 = 0.05;

/// A user's own load.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Question {
    /// Message length in bytes; what is done with key pairs is asked for without.
    pub bytes: Option<u32>,
    /// Operations a second.
    pub rate: f64,
}

/// Everything explained.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Explanation {
    /// Tasks with something to say of, in the order of the records.
    pub tasks: Vec<Explained>,
    /// How more threads help.
    pub scaling: Vec<Scaling>,
    /// What was asked.
    pub question: Option<Question>,
    /// Tasks with one path at one size only: there is nothing to compare or fit.
    pub alone: usize,
    /// Cells without a figure, and why.
    pub without: Vec<(String, NoFigure)>,
    /// What spoils the records' figures, each once.
    pub warnings: Vec<String>,
}

/// One task.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Explained {
    /// On which machine.
    pub machine: String,
    /// What is to be done.
    pub subject: Subject,
    /// In how many threads.
    pub threads: u8,
    /// What it rests on.
    pub evidence: Evidence,
    /// Whether each figure is a single reading, so that intervals are of their scatter.
    pub single_readings: bool,
    /// Each path's costs.
    pub paths: Vec<Costs>,
    /// Pairs of paths; or why they are not compared.
    pub pairs: Result<Vec<Compared>, &'static str>,
    /// What to take.
    pub advice: Vec<Advice>,
}

/// What one path costs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Costs {
    /// Name of the provider.
    pub provider: String,
    /// Costs at any size, or why there is no line through them.
    pub fit: Result<Fit, NoFit>,
    /// At each measured size.
    pub sizes: Vec<SizeCost>,
    /// What the user's own load takes; none if the size is beyond the measured ones.
    pub load: Option<Load>,
}

/// What one path costs at one size.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SizeCost {
    /// Message length in bytes.
    pub bytes: u32,
    /// Time of an operation.
    #[serde(rename = "time_ns")]
    pub time: Bounded<Nanoseconds>,
    /// CPU time of it, where it is known.
    pub cpu: Option<Cpu>,
    /// Share of a core that operations one after another keep busy.
    pub cpu_share: Option<f64>,
    /// CPU seconds for a megabyte.
    pub cpu_seconds_per_megabyte: Option<f64>,
}

/// How a path's rate grows with threads, at its largest size.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Scaling {
    /// What is done.
    pub subject: Subject,
    /// By whom.
    pub provider: String,
    /// Message length in bytes.
    pub bytes: u32,
    /// Rate of so many threads by that of the fewest: (threads, ratio).
    pub rates: Vec<(u8, Bounded<Times>)>,
    /// The number of threads after which more add less than the noise, or than 5 %; none: each more
    /// gained something.
    pub stops_at: Option<u8>,
}

/// Explains some records together.
pub fn explain<'a>(
    records: impl IntoIterator<Item = &'a Record>,
    question: Option<Question>,
) -> Explanation {
    let records: Vec<&Record> = records.into_iter().collect();
    let tasks = paths::of_records(records.iter().copied());
    let (alone, worth): (Vec<&Task>, Vec<&Task>) =
        tasks.all.iter().partition(|task| task.paths.len() == 1 && task.paths[0].points.len() == 1);
    let single = tasks.all.iter().map(|task| task.threads).min().unwrap_or(1);
    let fewest = worth.iter().filter(|task| task.threads == single);
    let mut warnings = facts::once(records.iter().flat_map(|record| &record.warnings));
    warnings.extend(without_interval(&tasks.all));
    Explanation {
        tasks: fewest.map(|task| one(task, question)).collect(),
        scaling: scaling(&tasks.all),
        question,
        alone: alone.iter().filter(|task| task.threads == single).count(),
        without: tasks.without,
        warnings,
    }
}

/// How many measured figures have no interval, and what that means here.
fn without_interval(tasks: &[Task]) -> Option<String> {
    let measured = tasks.iter().filter(|task| task.evidence == Evidence::Hardware);
    let points = measured.flat_map(|task| &task.paths).flat_map(|path| &path.points);
    let unsure = points.filter(|point| point.time.margin(Confidence::Shown).is_none()).count();
    (unsure > 0).then(|| {
        format!(
            "Without an interval, being of fewer than three passes: {unsure} of these figures. What \
             differs by more than {:.0}% counts as different there, and may be chance. Measure for \
             longer.",
            100.0 * crossover::TIE
        )
    })
}

fn one(task: &Task, question: Option<Question>) -> Explained {
    let fits: Vec<Result<Fit, NoFit>> = task.paths.iter().map(fit_of).collect();
    let pairs = meaningful(Metric::AcrossExecutors, task.evidence)
        .map(|()| advice::compare(&task.paths, &fits));
    let advice = match &pairs {
        Ok(pairs) => advice::advise(&task.paths, &fits, pairs),
        Err(_) => Vec::new(),
    };
    let points = task.paths.iter().flat_map(|path| &path.points);
    let load = |path: &Path| {
        let asked = question?;
        let bytes = match task.subject.has_sizes() {
            true => asked.bytes?,
            false => path.points.first()?.bytes,
        };
        cost::load(&path.costs(), bytes.into(), asked.rate)
    };
    Explained {
        machine: task.machine.clone(),
        subject: task.subject.clone(),
        threads: task.threads,
        evidence: task.evidence,
        single_readings: points.clone().all(|point| point.time.is_single()),
        paths: task
            .paths
            .iter()
            .zip(fits)
            .map(|(path, fit)| costs(path, fit, load(path)))
            .collect(),
        pairs,
        advice,
    }
}

fn fit_of(path: &Path) -> Result<Fit, NoFit> {
    // What has no message has no cost of a byte.
    let with_bytes = path.points.iter().all(|point| point.bytes > 0);
    if !with_bytes {
        return Err(NoFit::FewSizes);
    }
    fit::of(&path.times(), &path.cycles())
}

fn costs(path: &Path, fit: Result<Fit, NoFit>, load: Option<Load>) -> Costs {
    let size = |(point, timed): (&paths::Point, fit::Sized)| {
        let bytes = f64::from(point.bytes);
        SizeCost {
            bytes: point.bytes,
            time: timed.cost.bounded(),
            cpu: point.cpu,
            cpu_share: point.cpu.map(|cpu| cpu.share(point.time.value)),
            cpu_seconds_per_megabyte: point
                .cpu
                .filter(|_| bytes > 0.0)
                .map(|cpu| cpu.seconds_per_megabyte(bytes)),
        }
    };
    Costs {
        provider: path.provider.clone(),
        fit,
        sizes: path.points.iter().zip(path.times()).map(size).collect(),
        load,
    }
}

fn scaling(tasks: &[Task]) -> Vec<Scaling> {
    let mut all: Vec<Scaling> = Vec::new();
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

fn of_threads(first: &Task, path: &Path, same: &[&Task]) -> Option<Scaling> {
    let bytes = path.points.last()?.bytes;
    // Rates as logarithms, so that their ratio is a difference.
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
    Some(Scaling {
        subject: first.subject.clone(),
        provider: path.provider.clone(),
        bytes,
        rates: rates.iter().map(ratio).collect(),
        stops_at: stops,
    })
}
