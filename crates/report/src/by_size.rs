//! One column per message size and one block per figure, the traditional form for tables of accelerators,
//! followed by the resources that the operations took. For plans with `report = "by-size"`.

use super::format::{count, large, megabytes, share, short};
use super::groups::Group;
use super::table::{Block, Place};
use super::{execution, footnotes};
use cpb_analysis::execution::{CpuUse, Execution};
use cpb_analysis::missing::NoFigure;
use cpb_analysis::retired::RetiredPerOperation;
use cpb_analysis::summary::{Figures, Known, Row, Summary};
use cpb_analysis::uncertain::Bounded;
use cpb_analysis::units::Instructions;
use cpb_record::{Evidence, ProviderRecord};

/// How long `openssl speed` runs each size, in nanoseconds: its tables count the operations in 3 s.
const SPAN: f64 = 3e9;

/// The meaning of the blocks.
pub(crate) const LEGEND: &str = "Operations in 3 s and MB/s (1 MB = 1,000,000 bytes) use wall-clock time; \
     operations are computed from the measured rate. Interrupts: of the executor's engine, or of all engines for \
     software; context switches: voluntary and involuntary. Instructions: in the kernel while a measuring thread had the \
     CPU; whole CPU: interrupts and switches to the idle task as well. CPU: share of one CPU's time that the \
     measuring threads used, and CPU time per MB; all CPUs: busy share of the time of all CPUs.";

/// A figure: its name, and the function that gets it from a cell.
type SizeFigure = (&'static str, fn(&Row) -> Known<String>);

const FIGURES: [SizeFigure; 11] = [
    ("operations in 3 s", |row| timed(row, |figures| Some(large(SPAN / figures.time.value.0)))),
    ("MB/s", |row| timed(row, |figures| figures.rate.map(|rate| megabytes(rate.value)))),
    ("interrupts per operation", |row| {
        counted(row, |execution| execution.interrupts_per_operation.map(count))
    }),
    ("jobs per operation", |row| counted(row, |execution| execution.jobs_per_operation.map(count))),
    ("instructions per operation, user mode", |row| retired(row, |found| Some(&found.user))),
    ("instructions per operation, kernel", |row| retired(row, |found| found.kernel.as_ref())),
    ("instructions per operation, whole CPU", |row| retired(row, |found| found.cpu.as_ref())),
    ("context switches per operation", |row| {
        counted(row, |execution| execution.switches.map(|switches| count(switches.all())))
    }),
    ("CPU", |row| used(row, |cpu| Some(share(cpu.own)))),
    ("CPU ms/MB", |row| {
        used(row, |cpu| cpu.seconds_per_megabyte.map(|seconds| short(seconds.0 * 1e3)))
    }),
    ("all CPUs", |row| used(row, |cpu| cpu.machine.map(share))),
];

/// Figures that are shown only with `--all`.
const MORE: [SizeFigure; 4] = [
    ("involuntary context switches", |row| {
        counted(row, |execution| execution.switches.map(|switches| count(switches.involuntary)))
    }),
    ("CPU, user mode", |row| used(row, |cpu| cpu.user.map(share))),
    ("CPU, kernel mode", |row| used(row, |cpu| cpu.system.map(share))),
    ("all CPUs, softirq", |row| used(row, |cpu| cpu.softirq.map(share))),
];

fn timed(row: &Row, show: fn(&Figures) -> Option<String>) -> Known<String> {
    match &row.figures {
        Known::Measured(figures) => show(figures).ok_or(NoFigure::NotCounted).into(),
        Known::Without(reason) => Known::Without(reason.clone()),
    }
}

fn counted(row: &Row, show: fn(&Execution) -> Option<String>) -> Known<String> {
    match (&row.execution, &row.figures) {
        (Some(execution), _) => show(execution).ok_or(NoFigure::NotCounted).into(),
        (None, Known::Without(reason)) => Known::Without(reason.clone()),
        (None, Known::Measured(_)) => Known::Without(NoFigure::NotCounted),
    }
}

fn retired(
    row: &Row,
    of: fn(&RetiredPerOperation) -> Option<&Bounded<Instructions>>,
) -> Known<String> {
    match &row.execution {
        Some(execution) => {
            let found = execution.instructions.as_ref().and_then(of);
            found.map(|found| large(found.value.0)).ok_or(NoFigure::NotCounted).into()
        }
        None => counted(row, |_| None),
    }
}

fn used(row: &Row, show: fn(&CpuUse) -> Option<String>) -> Known<String> {
    match row.execution.as_deref().map(|execution| &execution.cpu) {
        Some(Known::Measured(cpu)) => show(cpu).ok_or(NoFigure::NotCounted).into(),
        Some(Known::Without(reason)) => Known::Without(reason.clone()),
        None => counted(row, |_| None),
    }
}

/// The blocks of a group: the executors, then each figure at each size.
pub(crate) fn blocks(summary: &Summary, group: &Group<'_>, more: bool) -> Vec<Block> {
    let mut blocks = vec![who(summary, group)];
    let figures = FIGURES.iter().chain(MORE.iter().filter(|_| more));
    blocks.extend(figures.filter_map(|(name, of)| block(summary, group, name, *of)));
    blocks
}

fn who(summary: &Summary, group: &Group<'_>) -> Block {
    let mut rows: Vec<(String, Vec<Place>)> = group
        .providers
        .iter()
        .map(|provider| {
            let words = execution::verdict_and_driver(group, provider);
            let words = words.or_else(|| common(group, provider).map(|why| why.to_string()));
            ((*provider).to_owned(), vec![Place::Note(words.unwrap_or_default())])
        })
        .collect();
    for (name, provider) in &summary.run.providers {
        if let ProviderRecord::Unavailable { reason, detail } = provider {
            let why = footnotes::unavailable(*reason, detail).to_owned();
            rows.push((name.clone(), vec![Place::Note(why)]));
        }
    }
    let columns = vec![String::new(); group.sizes.len()];
    Block { heading: "executor".to_owned(), columns, rows }
}

/// The reason why a provider has no figure at any size, if it is the same at all sizes.
fn common<'a>(group: &Group<'a>, provider: &str) -> Option<&'a NoFigure> {
    let rows = group.sizes.iter().filter_map(|size| group.row(provider, *size));
    let mut reasons = rows.map(|row| match &row.figures {
        Known::Without(reason) => Some(reason),
        Known::Measured(_) => None,
    });
    let first = reasons.next()??;
    reasons.all(|reason| reason == Some(first)).then_some(first)
}

/// One figure; `None` if no provider has it, as with interrupts of a library.
fn block(
    summary: &Summary,
    group: &Group<'_>,
    name: &str,
    of: fn(&Row) -> Known<String>,
) -> Option<Block> {
    let columns = group.sizes.iter().map(ToString::to_string).collect();
    let heading = name.to_owned();
    let mut rows = Vec::new();
    let mut refused = None;
    for provider in &group.providers {
        let found: Vec<Option<Known<String>>> =
            group.sizes.iter().map(|size| group.row(provider, *size).map(of)).collect();
        let by_evidence =
            |known: &&Known<String>| matches!(known, Known::Without(NoFigure::Meaningless(_)));
        if found.iter().flatten().any(|known| by_evidence(&known)) {
            refused = Some(refusal(summary.run.evidence));
        }
        if found.iter().flatten().any(|known| known.measured().is_some()) {
            rows.push(((*provider).to_owned(), found.into_iter().map(place).collect()));
        }
    }
    match (rows.is_empty(), refused) {
        (false, _) => Some(Block { heading, columns, rows }),
        (true, Some(words)) => Some(Block { heading, columns, rows: vec![(words, Vec::new())] }),
        (true, None) => None,
    }
}

fn place(known: Option<Known<String>>) -> Place {
    match known {
        Some(Known::Measured(text)) => Place::figure(text, String::new()),
        Some(Known::Without(NoFigure::NotCounted)) | None => Place::Blank,
        Some(Known::Without(reason)) => Place::Word(reason.short()),
    }
}

/// A refusal, and the evidence that causes it.
fn refusal(evidence: Evidence) -> String {
    format!("refused: {}", format!("{evidence:?}").to_lowercase())
}
