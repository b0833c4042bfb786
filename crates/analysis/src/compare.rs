//! Compares two runs, or two providers.
//!
//! A ratio is the cost of the second divided by the cost of the first: above 1 the second is slower. Within a run,
//! ratios are taken pass by pass. Two runs have no passes in common, and they differ by more than their passes show:
//! each adds [`RUN_SCATTER`] to the error, and that part does not average out over cells. If the passes of a cell lie
//! on two levels, the levels are compared, so it does not matter how often a run drew which level.
//!
//! Times of emulated CPUs mean nothing. If both runs are emulated, the instructions of their operations are compared,
//! which hardly depend on the host: see [`crate::retired`].
//!
//! A small difference at one size that does not show at the neighbouring sizes is not reported as a difference.
//! Processes draw such speeds at their start (from the addresses of their stack and tables), and all processes of a
//! run may draw the same.
//!
//! Hundreds of cells are compared at once. The confidence of *faster* and *slower* is such that in 99 of 100
//! comparisons of equal things no difference is reported at all (Holm 1979).

mod counterpart;
mod differences;

use crate::evidence_policy::{Metric, meaningful};
use crate::levels::{self, Found};
use crate::paths::{self, Point, Subject, Task, Tasks};
use crate::ratio::{Basis, Verdict, is_tie};
use crate::retired;
use crate::run_info;
use crate::uncertain::{Bounded, Uncertain};
use crate::units::Times;
use counterpart::{Machines, machine};
use cpb_record::Record;
use serde::Serialize;
use std::collections::{BTreeSet, HashMap};

/// Standard deviation between runs, as a share, that passes do not show. In ten runs of the default plan
/// (`bench/repeatability.py`), 0.05 % was enough for 97 of 100 intervals to contain the other runs' figures. Those
/// runs were of one hour and one boot, so this is twice that.
pub const RUN_SCATTER: f64 = 0.001;

/// Degrees of freedom of [`RUN_SCATTER`], which was estimated from ten runs.
const RUN_FREEDOM: usize = 9;

/// The comparison of two runs or providers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Compared {
    /// A description of the first, for readers.
    pub first: String,
    /// A description of the second.
    pub second: String,
    /// Differences between them other than their figures, each a sentence.
    pub differences: Vec<String>,
    /// The warnings of both records, without duplicates.
    pub warnings: Vec<String>,
    /// The cells that both have, in the order of the first.
    pub cells: Vec<ComparedCell>,
    /// The means over all cells of an algorithm and operation, or of a provider.
    pub families: Vec<MeanRatio>,
    /// The number of cells that only one of them has a figure for, on machines that both have.
    pub unpaired: usize,
    /// Machines that only the first has, and machines that only the second has.
    pub apart: [Vec<String>; 2],
}

/// A cell that both have.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ComparedCell {
    /// The machine, if there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
    /// The task.
    pub subject: Subject,
    /// The number of threads.
    pub threads: u8,
    /// The provider; if two providers are compared, the second.
    pub provider: String,
    /// The provider of the first, if it is not evident otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub against: Option<String>,
    /// Message length in bytes.
    pub bytes: u32,
    /// Cost of the second divided by the cost of the first.
    pub ratio: Bounded<Times>,
    /// The verdict on the second.
    pub verdict: Verdict,
    /// What the ratio was computed from.
    pub metric: Basis,
    /// The first's levels, if the passes of both lie on two levels, as if each process drew one at its start. The
    /// ratio is between levels if the passes of either lie on two.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub levels: Option<Found>,
    /// Whether it would be slower or faster, but the neighbouring sizes are not.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub alone: bool,
    #[serde(skip)]
    log: Uncertain,
}

/// The geometric mean of the ratios of an algorithm and operation, a provider, or a pair of providers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MeanRatio {
    /// The machine, if there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
    /// What the cells have in common.
    pub of: Kind,
    /// The number of cells.
    pub cells: usize,
    /// The mean.
    pub ratio: Bounded<Times>,
    /// The verdict on the second over all cells.
    pub verdict: Verdict,
}

/// What the cells of a family have in common.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// The task.
    Subject(Subject),
    /// The provider. A build that is slightly slower everywhere shows here, even if no single cell is significant.
    Provider(String),
    /// The provider of the first and that of the second. If names differ, a mean over several pairs would mean
    /// nothing.
    Pair(String, String),
}

/// Which cells of two records are compared with each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pairs<'a> {
    /// Cells of providers with the same name. A published table has different names: if the records share none, each
    /// provider is compared with each.
    ByName,
    /// Cells of the first provider, in the first record, with those of the second provider, in the second record.
    Between(&'a str, &'a str),
}

/// Compares two runs, cell by cell.
pub fn runs(first: &Record, second: &Record, pairs: Pairs) -> Compared {
    let timeless = [first, second]
        .iter()
        .all(|record| meaningful(Metric::Rate, record.header.evidence).is_err());
    let share = retired::widest([first, second]);
    let [tasks, others] = [first, second].map(|record| match timeless {
        true => paths::counted(record, share),
        false => paths::of_records([record]),
    });
    let machines = Machines::of([
        counterpart::machines(first, &tasks),
        counterpart::machines(second, &others),
    ]);
    let [alone_here, alone_there] = machines.alone();
    let [ours, theirs] = [(&tasks, first, alone_here), (&others, second, alone_there)].map(
        |(tasks, record, alone)| {
            let met = |(task, ..): &Placed| !alone.contains(&machine(record, task));
            points(tasks).filter(met).collect::<Vec<_>>()
        },
    );
    let names = |points: &[Placed]| -> BTreeSet<String> {
        points.iter().map(|(_, name, _)| (*name).to_owned()).collect()
    };
    let own_names = !(first.published.is_empty() && second.published.is_empty());
    let each = own_names && names(&ours).is_disjoint(&names(&theirs));
    let paired = |one: &str, other: &str| match pairs {
        Pairs::Between(first, second) => one == first && other == second,
        Pairs::ByName => each || one == other,
    };
    let mut found: HashMap<Key, Vec<usize>> = HashMap::new();
    for (place, (task, _, point)) in theirs.iter().enumerate() {
        found.entry(key(task, point)).or_default().push(place);
    }
    let (mut rows, mut met, mut alone) = (Vec::new(), BTreeSet::new(), 0);
    for (task, provider, point) in ours {
        let of_this_key = found.get(&key(task, point)).into_iter().flatten();
        let mates = of_this_key.filter(|place| {
            let (other, name, _) = theirs[**place];
            paired(provider, name)
                && machines.are(machine(first, task), machine(second, other))
                && counterpart::same(&task.subject, &other.subject)
        });
        let before = rows.len();
        for place in mates {
            let (other, name, other_point) = theirs[*place];
            met.insert(*place);
            // If cpb measured one of the tasks, that one describes it best.
            let said = if matches!(task.subject, Subject::Measured(_)) { task } else { other };
            let against = (pairs == Pairs::ByName && each).then(|| provider.to_owned());
            let machine = machines.name(machine(first, task), machine(second, other));
            rows.push(ComparedCell {
                against,
                machine,
                ..row(said, name, point, other_point, true)
            });
        }
        let in_question = !matches!(pairs, Pairs::Between(first, _) if first != provider);
        alone += usize::from(rows.len() == before && in_question);
    }
    let in_question =
        |(_, name, _): &&Placed| !matches!(pairs, Pairs::Between(_, second) if second != *name);
    alone += theirs.iter().filter(in_question).count() - met.len();
    let whose = |record: &Record, place: usize| match pairs {
        Pairs::ByName => name(record),
        Pairs::Between(one, other) => format!("{} of {}", [one, other][place], name(record)),
    };
    Compared {
        first: whose(first, 0),
        second: whose(second, 1),
        differences: differences::between(first, second, pairs, &rows),
        warnings: run_info::once(first.warnings.iter().chain(&second.warnings)),
        unpaired: alone,
        apart: machines.alone().clone().map(|names| names.into_iter().map(str::to_owned).collect()),
        families: families(&rows, true),
        cells: judged(rows, true),
    }
}

/// Compares two providers of one run.
pub fn providers(record: &Record, first: &str, second: &str) -> Compared {
    let tasks = paths::of_records([record]);
    let place = |task: &Task, point: &Point| {
        (task.machine.clone(), task.subject.clone(), task.threads, point.bytes)
    };
    let found: HashMap<_, &Point> = points(&tasks)
        .filter(|(_, provider, _)| *provider == second)
        .map(|(task, _, point)| (place(task, point), point))
        .collect();
    let several = tasks.all.iter().any(|task| task.machine != tasks.all[0].machine);
    let mut rows = Vec::new();
    for (task, provider, point) in points(&tasks).filter(|(_, provider, _)| *provider == first) {
        let Some(other) = found.get(&place(task, point)) else { continue };
        let (machine, provider) = (several.then(|| task.machine.clone()), provider.to_owned());
        let row = row(task, &provider, point, other, false);
        rows.push(ComparedCell { machine, provider: second.into(), ..row });
    }
    let named = |(_, provider, _): &Placed| [first, second].contains(provider);
    Compared {
        first: first.into(),
        second: second.into(),
        differences: Vec::new(),
        warnings: run_info::once(&record.warnings),
        unpaired: points(&tasks).filter(named).count() - 2 * rows.len(),
        apart: [Vec::new(), Vec::new()],
        families: families(&rows, false),
        cells: judged(rows, false),
    }
}

/// A figure with its provider and task.
type Placed<'a> = (&'a Task, &'a str, &'a Point);

fn points(tasks: &Tasks) -> impl Iterator<Item = Placed<'_>> {
    tasks.all.iter().flat_map(|task| {
        task.paths.iter().flat_map(move |path| {
            path.points.iter().map(move |point| (task, path.provider.as_str(), point))
        })
    })
}

/// What cells of two runs must have in common before they are compared in detail: algorithm, threads, message length.
type Key<'a> = (&'a str, u8, u32);

fn key<'a>(task: &'a Task, point: &Point) -> Key<'a> {
    (task.subject.algorithm(), task.threads, point.bytes)
}

fn row(task: &Task, provider: &str, first: &Point, second: &Point, apart: bool) -> ComparedCell {
    let counts = first.instructions.as_ref().zip(second.instructions.as_ref());
    let (metric, [first_cost, second_cost]) = match (counts, &first.cycles, &second.cycles) {
        (Some((first, second)), ..) => (Basis::Instructions, [first, second]),
        (None, Some(first), Some(second)) => (Basis::Cycles, [first, second]),
        _ => (Basis::Time, [&first.time, &second.time]),
    };
    let [one, other] = [first_cost, second_cost].map(|cost| {
        let log = cost.ln(1.0, 0.0);
        if apart { log.apart() } else { log }
    });
    let levels = [first, second].map(|point| {
        let leads = point.cycles.is_some() == (metric == Basis::Cycles);
        point.levels.as_ref().filter(|_| apart && leads)
    });
    let log = levels::difference((&one, levels[0]), (&other, levels[1]));
    ComparedCell {
        machine: None,
        subject: task.subject.clone(),
        threads: task.threads,
        provider: provider.to_owned(),
        against: None,
        bytes: first.bytes,
        ratio: scattered(&log, apart).map(f64::exp),
        verdict: Verdict::Unknown,
        metric,
        levels: levels[0].and(levels[1]).map(|levels| levels.found),
        alone: false,
        log,
    }
}

/// Adds the scatter between runs if `apart`.
fn scattered(log: &Uncertain, apart: bool) -> Uncertain {
    match apart && !log.is_single() {
        true => log.scattered(RUN_SCATTER * 2f64.sqrt(), RUN_FREEDOM),
        false => log.clone(),
    }
}

/// The difference between two runs that all their cells share.
fn between_runs() -> Uncertain {
    Uncertain::single(0.0).scattered(RUN_SCATTER * 2f64.sqrt(), RUN_FREEDOM)
}

/// The probability that all verdicts of one comparison are correct if nothing differs. The rest is divided equally
/// between cells and means.
const SURE: f64 = 0.99;

fn judged(mut rows: Vec<ComparedCell>, apart: bool) -> Vec<ComparedCell> {
    let logs: Vec<Uncertain> = rows.iter().map(|row| scattered(&row.log, apart)).collect();
    for (row, verdict) in rows.iter_mut().zip(verdicts(&logs)) {
        row.verdict = verdict;
    }
    let alone = |row: &ComparedCell| apart && differs(row.verdict) && stands_alone(row, &rows);
    let alone: Vec<bool> = rows.iter().map(alone).collect();
    for (row, _) in rows.iter_mut().zip(alone).filter(|(_, alone)| *alone) {
        (row.verdict, row.alone) = (Verdict::Unknown, true);
    }
    rows
}

fn differs(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::Slower | Verdict::Faster)
}

/// Processes on an unchanged machine drew levels that were up to 20 % apart (libgcrypt's AES-CBC decryption).
const DRAWN: f64 = 0.25;

/// A neighbouring size confirms a difference if it shows this share of it. If four times the bytes double the time, a
/// fixed cost that grows by 10 % still shows there as half of the difference.
const SHOWN: f64 = 0.25;

/// Whether a difference may come from a drawn level: it is small, and the next sizes on both sides do not show it.
fn stands_alone(row: &ComparedCell, rows: &[ComparedCell]) -> bool {
    let beside = || {
        let same = |other: &&ComparedCell| {
            (&other.subject, other.threads, &other.provider, &other.against, &other.machine)
                == (&row.subject, row.threads, &row.provider, &row.against, &row.machine)
        };
        rows.iter().filter(same)
    };
    let below = beside().filter(|other| other.bytes < row.bytes).max_by_key(|other| other.bytes);
    let above = beside().filter(|other| other.bytes > row.bytes).min_by_key(|other| other.bytes);
    let mut neighbours = below.into_iter().chain(above).peekable();
    let denies = |other: &ComparedCell| {
        other.log.value * row.log.value.signum() < SHOWN * row.log.value.abs()
    };
    // A process draws a speed, but no number of instructions.
    row.metric != Basis::Instructions
        && neighbours.peek().is_some()
        && row.log.value.abs() < DRAWN.ln_1p()
        && neighbours.all(denies)
}

/// The verdicts on several logarithms of ratios, together as certain as [`SURE`] (Holm 1979). The one that is least
/// likely under equality is tested first, at the level for all of them; then the next, at the level for the rest.
fn verdicts(logs: &[Uncertain]) -> Vec<Verdict> {
    let mut chances: Vec<(usize, f64)> = logs
        .iter()
        .enumerate()
        .filter_map(|(place, log)| Some((place, log.chance_of_nothing()?)))
        .collect();
    chances.sort_by(|a, b| a.1.total_cmp(&b.1));
    let tried = chances.len();
    let differ = chances
        .iter()
        .enumerate()
        .take_while(|(rank, (_, chance))| *chance <= (1.0 - SURE) / 2.0 / (tried - rank) as f64)
        .map(|(_, (place, _))| *place)
        .collect::<BTreeSet<usize>>();
    let verdict = |(place, log): (usize, &Uncertain)| match differ.contains(&place) {
        true if log.value > 0.0 => Verdict::Slower,
        true => Verdict::Faster,
        false if is_tie(log) => Verdict::Tie,
        false => Verdict::Unknown,
    };
    logs.iter().enumerate().map(verdict).collect()
}

fn families(rows: &[ComparedCell], apart: bool) -> Vec<MeanRatio> {
    let mut families: Vec<(Option<&str>, Kind, Vec<&ComparedCell>)> = Vec::new();
    let providers = |row: &ComparedCell| match &row.against {
        None => Kind::Provider(row.provider.clone()),
        Some(first) => Kind::Pair(first.clone(), row.provider.clone()),
    };
    let subjects =
        |row: &ComparedCell| row.against.is_none().then(|| Kind::Subject(row.subject.clone()));
    let by_subject = rows.iter().filter_map(|row| Some((subjects(row)?, row)));
    // If two providers of one record are compared, each row names the second, so all rows would be one family.
    let by_provider = rows.iter().filter(|_| apart).map(|row| (providers(row), row));
    for (of, row) in by_subject.chain(by_provider) {
        let machine = row.machine.as_deref();
        match families.iter_mut().find(|(known, kind, _)| *known == machine && *kind == of) {
            Some((.., rows)) => rows.push(row),
            None => families.push((machine, of, vec![row])),
        }
    }
    let mean = |(.., rows): &(Option<&str>, Kind, Vec<&ComparedCell>)| {
        let logs = rows.iter().map(|row| &row.log);
        let share = 1.0 / rows.len() as f64;
        let terms = logs.map(|log| (share, log));
        match apart {
            true => Uncertain::sum_of_independent(terms.chain([(1.0, &between_runs())])),
            false => Uncertain::sum(terms),
        }
    };
    let means: Vec<Uncertain> = families.iter().map(mean).collect();
    let verdicts = verdicts(&means);
    let family = |(((machine, of, rows), mean), verdict): (_, Verdict)| {
        let (machine, of, rows, mean): (Option<&str>, Kind, Vec<&ComparedCell>, &Uncertain) =
            (machine, of, rows, mean);
        MeanRatio {
            machine: machine.map(str::to_owned),
            of,
            cells: rows.len(),
            ratio: mean.map(f64::exp),
            verdict,
        }
    };
    families.into_iter().zip(&means).zip(verdicts).map(family).collect()
}

fn name(record: &Record) -> String {
    let header = &record.header;
    match header.began.as_str() {
        "" => header.plan.name.clone(),
        began => format!("{}, started {began}", header.plan.name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{noisy_rounds, record};
    use cpb_core::message::Retired;
    use cpb_record::State;
    use cpb_record::{End, Evidence, ProviderRecord, Round};

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
        let compared = runs(&first, &second, Pairs::ByName);
        let verdicts: Vec<(&str, Verdict)> =
            compared.cells.iter().map(|row| (row.provider.as_str(), row.verdict)).collect();
        let expected = [("openssl", Verdict::Slower), ("mbedtls:c", Verdict::Tie)];
        assert_eq!(verdicts, expected, "{compared:?}");
        assert!((compared.cells[0].ratio.value.0 / 1.03 - 1.0).abs() < 0.002);
        let family = &compared.families[0];
        assert!((family.ratio.value.0 / (1.03f64 * 1.001).sqrt() - 1.0).abs() < 0.002);
        assert_eq!((family.cells, compared.unpaired), (2, 0));
        let own =
            compared.families.iter().find(|family| family.of == Kind::Provider("openssl".into()));
        assert_eq!(own.map(|family| (family.cells, family.verdict)), Some((1, Verdict::Slower)));
        assert!(compared.differences.is_empty());
    }

    /// An emulated run whose times are noise, and whose operations retire so many instructions.
    fn emulated(seed: u64, counts: &[(&str, u64)]) -> Record {
        let cell = |(provider, count): &(&str, u64)| {
            let mut rounds = cell(seed, provider, 1000.0 * seed as f64);
            for (pass, round) in rounds.iter_mut().enumerate() {
                // One operation in a hundred meets the clock's interrupt, in some passes.
                let kernel = Some(100 * (count - 80) + 3000 * (pass as u64 % 2));
                let cpu = kernel.map(|kernel| kernel + 8_000);
                let (operations, user) = (100, 8_000);
                round.counters.retired = Some(Retired { operations, user, kernel, cpu });
            }
            rounds
        };
        let mut record = record(counts.iter().map(cell).collect::<Vec<_>>().into_iter());
        record.header.evidence = Evidence::Emulated;
        record
    }

    #[test]
    fn two_emulated_runs_are_compared_by_their_instructions() {
        let first = emulated(1, &[("openssl", 10_000), ("mbedtls:c", 50_000)]);
        let second = emulated(2, &[("openssl", 10_400), ("mbedtls:c", 50_000)]);
        let compared = runs(&first, &second, Pairs::ByName);
        let verdicts: Vec<(Verdict, Basis)> =
            compared.cells.iter().map(|row| (row.verdict, row.metric)).collect();
        let expected =
            [(Verdict::Slower, Basis::Instructions), (Verdict::Tie, Basis::Instructions)];
        assert_eq!(verdicts, expected, "{compared:?}");
        assert!((compared.cells[0].ratio.value.0 / 1.04 - 1.0).abs() < 0.001, "{compared:?}");
        // Without counts there is nothing to compare.
        let mut uncounted = run(3, &[("openssl", 1000.0)]);
        uncounted.header.evidence = Evidence::Emulated;
        assert!(runs(&first, &uncounted, Pairs::ByName).cells.is_empty());
    }

    /// Ten runs of an unchanged machine: in one of them, all passes of OpenSSL's AES-CBC decryption of 256 bytes took
    /// 10 % longer; no other size did.
    #[test]
    fn a_difference_that_the_neighbouring_sizes_deny_is_not_said_to_be_one() {
        let run = |seed: u64, times: [f64; 3]| {
            let cell = |(place, time): (usize, f64)| {
                let mut rounds = cell(seed + place as u64, "openssl", time);
                for round in &mut rounds {
                    round.cell.workload = round.cell.workload.with_size([64, 256, 1024][place]);
                }
                rounds
            };
            record(times.into_iter().enumerate().map(cell).collect::<Vec<_>>().into_iter())
        };
        let verdicts = |times: [f64; 3]| {
            let compared = runs(&run(1, [100.0, 200.0, 600.0]), &run(11, times), Pairs::ByName);
            compared.cells.iter().map(|row| (row.verdict, row.alone)).collect::<Vec<_>>()
        };
        let (tie, slower) = ((Verdict::Tie, false), (Verdict::Slower, false));
        assert_eq!(verdicts([100.0, 220.0, 600.0]), [tie, (Verdict::Unknown, true), tie]);
        // A neighbour shows it as well, or it is larger than any drawn level.
        assert_eq!(verdicts([100.0, 220.0, 630.0]), [tie, slower, slower]);
        assert_eq!(verdicts([100.0, 260.0, 600.0]), [tie, slower, tie]);
    }

    #[test]
    fn providers_of_one_run_are_compared_pass_by_pass() {
        // Both have the same noise, so their ratio is exact.
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
        let compared = runs(&first, &second, Pairs::ByName);
        let told = [
            "run: cut off or killed and stopped",
            "machine: not stated and another",
            "version of openssl: 1 and 2",
        ];
        assert_eq!(compared.differences, told);
        assert_eq!((compared.cells.len(), compared.unpaired), (0, 2));
    }
}
