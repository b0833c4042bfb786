//! The executors, and the resources that they took besides time. Shown if the kernel or an engine may have
//! done the work; libraries in the runner's own process need no proof.

use super::format::{count, large, share};
use super::groups::Group;
use super::table::{Block, Place};
use cpb_analysis::execution::{CpuUse, Execution, ExecutorVerdict};
use cpb_analysis::missing::NoFigure;
use cpb_analysis::summary::{Known, Row, Summary};
use cpb_core::Claim;
use cpb_core::kernel::kernel_name;
use cpb_core::kernel::{Availability, SurveyedDriver};
use cpb_record::ProviderRecord;
use cpb_record::size::Size;

/// Whether any provider of the run declares that its operations run outside its own process.
pub(crate) fn wanted(summary: &Summary) -> bool {
    summary.run.providers.values().any(outside)
}

fn outside(provider: &ProviderRecord) -> bool {
    matches!(provider, ProviderRecord::Available { claim, .. } if *claim != Claim::Process)
}

/// The columns of [`blocks`] after the provider.
pub(crate) const COLUMNS: [&str; 8] =
    ["", "irq/op", "jobs/op", "ctx/op", "ins/op", "ins/op, CPU", "CPU", "all CPUs"];

/// The meaning of the columns.
pub(crate) const LEGEND: &str = "irq/op: interrupts of the executor's engine per operation, or of all engines \
     for software; jobs/op: jobs that the engine finished, by its own count; ctx/op: context switches per \
     operation; ins/op: instructions per operation of the measuring threads, in user mode and in the kernel, and of \
     the whole CPU, with interrupts and switches to the idle task; CPU: share of one CPU's time that the measuring threads used; all CPUs: busy share of the \
     time of all CPUs; ranges are over message sizes.";

/// One block for each group with a known executor.
pub(crate) fn blocks(groups: &[Group<'_>]) -> Vec<Block> {
    let mut blocks = Vec::new();
    for group in groups {
        let rows: Vec<(String, Vec<Place>)> = group
            .providers
            .iter()
            .filter_map(|provider| {
                let all = executions(group, provider);
                (!all.is_empty()).then(|| ((*provider).to_owned(), places(&all)))
            })
            .collect();
        if rows.is_empty() {
            continue;
        }
        // An empty column, as in an emulator, is left out.
        let filled = |column: &usize| {
            rows.iter().any(|(_, places)| !matches!(places[*column], Place::Blank))
        };
        let kept: Vec<usize> = (0..COLUMNS.len()).filter(filled).collect();
        let row = |(name, places): &(String, Vec<Place>)| {
            (name.clone(), kept.iter().map(|column| places[*column].clone()).collect())
        };
        blocks.push(Block {
            heading: format!("executor of {}", group.heading),
            columns: kept.iter().map(|column| COLUMNS[*column].to_owned()).collect(),
            rows: rows.iter().map(row).collect(),
        });
    }
    blocks
}

fn executions<'a>(group: &Group<'a>, provider: &str) -> Vec<&'a Execution> {
    let rows = group.sizes.iter().filter_map(|size| group.row(provider, *size));
    rows.filter_map(|row| row.execution.as_deref()).collect()
}

fn places(all: &[&Execution]) -> Vec<Place> {
    let numbers = |of: &dyn Fn(&Execution) -> Option<f64>, show: fn(f64) -> String| {
        let known: Vec<f64> = all.iter().filter_map(|execution| of(execution)).collect();
        let least = known.iter().copied().reduce(f64::min).map(show);
        let most = known.iter().copied().reduce(f64::max).map(show);
        match (least, most) {
            (Some(least), Some(most)) if least == most => Place::figure(least, String::new()),
            (Some(least), Some(most)) => {
                Place::figure(format!("{}–{most}", least.trim_end_matches('%')), String::new())
            }
            _ => Place::Blank,
        }
    };
    let cpu = |of: fn(&CpuUse) -> Option<f64>| {
        move |execution: &Execution| execution.cpu.measured().and_then(of)
    };
    vec![
        Place::Word(verdict(all)),
        numbers(&|execution| execution.interrupts_per_operation, count),
        numbers(&|execution| execution.jobs_per_operation, count),
        numbers(&|execution| execution.switches.map(|switches| switches.all()), count),
        numbers(&|execution| Some(execution.instructions?.task?.value.0), large),
        numbers(&|execution| Some(execution.instructions?.cpu?.value.0), large),
        numbers(&cpu(|cpu| Some(cpu.own)), share),
        numbers(&cpu(|cpu| cpu.machine), share),
    ]
}

/// One word for all message sizes.
pub(crate) fn verdict(all: &[&Execution]) -> &'static str {
    let mut verdicts = all.iter().map(|execution| execution.verdict);
    match verdicts.next() {
        None => "",
        Some(first) if verdicts.all(|verdict| verdict == first) => first.words(),
        Some(_) => "mixed",
    }
}

/// The verdict and, if it is not part of the provider's name, the driver.
pub(crate) fn verdict_and_driver(group: &Group<'_>, provider: &str) -> Option<String> {
    let all = executions(group, provider);
    let first = all.first()?;
    let verdict = verdict(&all);
    let named = provider.ends_with(&first.executor) || first.claim == Claim::Process;
    Some(if named { verdict.to_owned() } else { format!("{verdict}: {}", first.executor) })
}

/// Details that do not fit into the blocks: which driver a kernel used, why an executor is unproven, and at
/// which sizes if not at all of them.
pub(crate) fn notes(
    summary: &Summary,
    groups: &[Group<'_>],
    by_size: bool,
) -> Vec<(String, String)> {
    let mut notes = Vec::new();
    // In the layout by size, the first block shows the drivers.
    let drivers = summary.run.providers.iter().filter(|_| !by_size);
    for (name, provider) in drivers {
        if let ProviderRecord::Available { executor, .. } = provider
            && outside(provider)
            && !name.ends_with(executor.as_str())
        {
            notes.push(("executor".to_owned(), format!("{name}: {executor}")));
        }
    }
    let mut reasons: Vec<(&str, ExecutorVerdict, Vec<String>)> = Vec::new();
    for group in groups {
        for provider in &group.providers {
            for size in &group.sizes {
                let row = group.row(provider, *size);
                let Some(execution) = row.and_then(|row| row.execution.as_deref()) else {
                    continue;
                };
                let Some(words) = reason(execution) else { continue };
                let cell = format!("{provider} {} at {}", group.heading, Size::from(*size));
                match reasons.iter_mut().find(|(known, ..)| *known == words) {
                    Some((.., cells)) => cells.push(cell),
                    None => reasons.push((words, execution.verdict, vec![cell])),
                }
            }
        }
    }
    for (words, verdict, cells) in reasons {
        let many = cells.len() > 1;
        let others = if many { format!(" and {} more", cells.len() - 1) } else { String::new() };
        notes.push((verdict.words().to_owned(), format!("{words}: {}{others}", cells[0])));
    }
    notes.extend(engines(summary));
    let refused = groups.iter().flat_map(|group| group.rows()).find_map(cpu_refused);
    notes.extend(refused.map(|words| ("refused".to_owned(), words.to_owned())));
    notes
}

/// Engines that the kernel lists for the measured algorithms and that AF_ALG does not reach, and drivers that
/// failed the kernel's self-test.
fn engines(summary: &Summary) -> Vec<(String, String)> {
    let Some(kernel) = &summary.run.kernel else { return Vec::new() };
    let wanted = |name: &str| {
        let kernels = |algorithm| kernel_name(algorithm).is_some_and(|(_, its)| its == name);
        summary.cells.iter().filter_map(|row| row.workload.crypto()).any(|it| kernels(it.algorithm))
    };
    let barred = |found: &&SurveyedDriver| {
        let engine = !found.devices.is_empty() && found.reach != Availability::Reachable;
        wanted(&found.driver.name) && (engine || found.reach == Availability::SelftestFailed)
    };
    let note = |found: &SurveyedDriver| {
        let words = match found.devices.as_slice() {
            [] => format!("{}, through AF_ALG: {}", found.driver.driver, found.reach),
            devices => {
                let devices = devices.join(", ");
                format!("{} of {devices}, through AF_ALG: {}", found.driver.driver, found.reach)
            }
        };
        ("driver".to_owned(), words)
    };
    kernel.drivers.iter().filter(barred).map(note).collect()
}

fn reason(execution: &Execution) -> Option<&str> {
    match execution.verdict {
        ExecutorVerdict::FellBack => {
            Some("an engine's driver is present, but the kernel did not use it")
        }
        _ => execution.reason.as_deref(),
    }
}

fn cpu_refused(row: &Row) -> Option<&'static str> {
    match row.execution.as_deref()?.cpu {
        Known::Without(NoFigure::Meaningless(words)) => Some(words),
        _ => None,
    }
}
