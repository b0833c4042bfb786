//! Records as one self-contained page: it needs no network and no other file.
//!
//! [`comparison()`] is the page for a comparison of two runs or providers, in the same frame.
//!
//! The headline comes first, then the figures by algorithm and operation, the executors, the environment, and
//! every cell. Each file here is one of these parts; [`plot`] draws, [`tables`] lays out
//! [`Block`](super::table::Block)s, which the terminal shows too. Nothing is computed here.
//!
//! Records are untrusted data: all their text goes through maud, which escapes it, and none goes into
//! scripts, styles or plots. The page is readable without its script, which only sorts and filters.

mod answer;
mod axis;
mod cells;
mod comparison;
mod environment;
mod evidence;
mod figures;
mod flash;
mod forest;
mod labels;
mod lead;
mod marks;
mod operations;
mod page;
mod plot;
mod shown;
mod tables;

use crate::groups::{Group, groups};
use anyhow::Result;
pub use comparison::render as comparison;
use cpb_analysis::explain::{Explained, Explanation, explain};
use cpb_analysis::flash_reads;
use cpb_analysis::paths::Subject;
use cpb_analysis::predict::predict;
use cpb_analysis::summary::{Summary, summarise};
use cpb_record::Record;
use marks::Marks;
use operations::Operation;

/// A page for named records.
///
/// # Errors
/// Never fails in practice; the result type is that of drawing.
pub fn render(records: &[(String, Record)]) -> Result<String> {
    let parts = parts(records);
    let mut marks = Marks::default();
    for part in &parts {
        part.names().for_each(|name| marks.add(&name));
    }
    let reads: Vec<_> = records.iter().flat_map(|(_, record)| flash_reads::of(record)).collect();
    let flash = flash::section(&reads, &marks);
    Ok(page::show(&parts, flash.as_ref(), &marks)?.into_string())
}

/// A measured record.
struct Measured<'a> {
    /// Its index among the page's measured records.
    place: usize,
    name: &'a str,
    summary: Summary,
    explanation: Explanation,
}

/// All records of published tables; they are explained together.
struct Published<'a> {
    records: Vec<(&'a str, &'a Record)>,
    explanation: Explanation,
}

enum Part<'a> {
    Measured(Box<Measured<'a>>),
    Published(Box<Published<'a>>),
}

/// Measured records in their order, followed by the published ones.
fn parts(records: &[(String, Record)]) -> Vec<Part<'_>> {
    let (published, measured): (Vec<_>, Vec<_>) =
        records.iter().partition(|(_, record)| !record.published.is_empty());
    let mut parts: Vec<Part<'_>> = measured
        .into_iter()
        .enumerate()
        .map(|(place, (name, record))| {
            let (summary, mut explanation) = (summarise(record), explain([record], None));
            explanation.predictions = predict(record, published.iter().map(|(_, record)| record));
            Part::Measured(Box::new(Measured { place, name, summary, explanation }))
        })
        .collect();
    if !published.is_empty() {
        let explanation = explain(published.iter().map(|(_, record)| record), None);
        let records = published.iter().map(|(name, record)| (name.as_str(), record)).collect();
        parts.push(Part::Published(Box::new(Published { records, explanation })));
    }
    parts
}

impl Part<'_> {
    fn name(&self) -> String {
        match self {
            Part::Measured(part) => part.name.to_owned(),
            Part::Published(part) => {
                let names: Vec<&str> = part.records.iter().map(|(name, _)| *name).collect();
                names.join(", ")
            }
        }
    }

    fn explanation(&self) -> &Explanation {
        match self {
            Part::Measured(part) => &part.explanation,
            Part::Published(part) => &part.explanation,
        }
    }

    /// The number of machines among its tasks.
    fn machines(&self) -> usize {
        let mut machines: Vec<&str> =
            self.explanation().tasks.iter().map(|task| task.machine.as_str()).collect();
        machines.sort_unstable();
        machines.dedup();
        machines.len()
    }

    /// The anchor of a task, by its index.
    fn anchor(&self, task: usize) -> String {
        match self {
            Part::Measured(part) => format!("run-{}-{task}", part.place),
            Part::Published(_) => format!("published-{task}"),
        }
    }

    /// The names of all paths, in the order of the list of providers.
    fn names(&self) -> Box<dyn Iterator<Item = String> + '_> {
        match self {
            Part::Measured(part) => {
                let groups = groups(&part.summary);
                let names = groups.iter().flat_map(|group| &group.providers);
                let names: Vec<String> = names.map(|name| (*name).to_owned()).collect();
                Box::new(names.into_iter())
            }
            Part::Published(part) => {
                let paths = part.explanation.tasks.iter().flat_map(|task| &task.paths);
                let named = part.records.iter().flat_map(|(_, record)| &record.sources);
                let named = named.flat_map(|source| source.paths.keys().cloned());
                Box::new(paths.map(|path| path.provider.clone()).chain(named))
            }
        }
    }

    /// Its operations, each with an anchor.
    fn operations(&self, marks: &Marks) -> Vec<(String, Operation)> {
        let anchored = |operation: Operation, task: Option<usize>, place: usize| {
            let anchor = match task {
                Some(task) => self.anchor(task),
                None => format!("{}-more-{place}", self.anchor(0)),
            };
            (anchor, operation)
        };
        match self {
            Part::Published(part) => {
                let tasks = part.explanation.tasks.iter().enumerate();
                let show = |(place, task)| {
                    anchored(operations::published(task, marks), Some(place), place)
                };
                tasks.map(show).collect()
            }
            Part::Measured(part) => {
                let groups = groups(&part.summary);
                let fewest = groups.iter().map(|group| group.threads).min().unwrap_or(1);
                let shown = groups.iter().filter(|group| group.threads == fewest);
                let show = |(place, group): (usize, &Group<'_>)| {
                    let task = task_of(&part.explanation, group);
                    let explained = task.map(|(_, task)| task);
                    let operation =
                        operations::measured(&part.summary, &groups, group, explained, marks);
                    anchored(operation, task.map(|(place, _)| place), place)
                };
                shown.enumerate().map(show).collect()
            }
        }
    }
}

/// The task that explains a group.
fn task_of<'a>(explanation: &'a Explanation, group: &Group<'_>) -> Option<(usize, &'a Explained)> {
    let mut tasks = explanation.tasks.iter().enumerate();
    tasks.find(|(_, task)| {
        let Subject::Measured(workload) = &task.subject else { return false };
        workload == group.workload() && task.threads == group.threads
    })
}
