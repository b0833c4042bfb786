//! The executors, and how they are known.

use super::marks::Marks;
use super::operations::notes_list;
use super::tables::{block, scrolled};
use super::{Measured, Part, Published};
use crate::execution;
use crate::groups::groups;
use cpb_analysis::execution::Execution;
use cpb_analysis::summary::Summary;
use cpb_core::Claim;
use cpb_core::catalog;
use cpb_record::ProviderRecord;
use maud::{Markup, html};

/// The evidence of all parts.
pub(super) fn show(parts: &[Part<'_>], marks: &Marks) -> Markup {
    html! {
        section id="evidence" {
            h2 { "Executors" }
            @for part in parts {
                @if parts.len() > 1 { h3 { (part.name()) } }
                @match part {
                    Part::Measured(part) => { (measured(part, marks)) }
                    Part::Published(part) => { (published(part, marks)) }
                }
            }
        }
    }
}

/// What is known about each path's executor, over all cells: the verdict and the driver.
pub(super) fn verdicts(summary: &Summary) -> Vec<(String, String)> {
    let mut names: Vec<&str> = Vec::new();
    for row in summary.cells.iter().filter(|row| row.execution.is_some()) {
        if !names.contains(&row.provider.as_str()) {
            names.push(&row.provider);
        }
    }
    let verdict = |name: &str| {
        let rows = summary.cells.iter().filter(|row| row.provider == name);
        let all: Vec<&Execution> = rows.filter_map(|row| row.execution.as_deref()).collect();
        execution::verdict(&all).to_owned()
    };
    names.iter().map(|name| ((*name).to_owned(), verdict(name))).collect()
}

fn claim(claim: Claim) -> &'static str {
    match claim {
        Claim::Process => "the runner's own process",
        Claim::Kernel => "the kernel, on the CPU",
        Claim::Fallback => "the kernel, on the CPU instead of an engine",
        Claim::Engine => "an engine",
        Claim::Unknown => "unknown",
    }
}

fn measured(part: &Measured<'_>, marks: &Marks) -> Markup {
    let summary = &part.summary;
    let verdicts = verdicts(summary);
    let verdict = |name: &str| {
        let found = verdicts.iter().find(|(known, _)| known == name);
        found.map(|(_, verdict)| verdict.as_str()).unwrap_or_default()
    };
    // Floors compute nothing and are not paths.
    let paths = summary.run.providers.iter().filter(|(name, _)| catalog::computes(name));
    let mut paths: Vec<_> = paths.collect();
    paths.sort_by_key(|(name, _)| catalog::place(name));
    let table = html! {
        table class="who" {
            caption { "Paths and their executors" }
            thead { tr {
                @for head in ["path", "verdict", "where", "version", "executor", "build"] {
                    th scope="col" { (head) }
                }
            } }
            tbody {
                @for (name, provider) in paths {
                    @if let ProviderRecord::Available { version, executor, claim: at, options, .. }
                        = provider
                    {
                        tr {
                            th scope="row" { (marks.named(name)) }
                            td { (verdict(name)) }
                            td { (claim(*at)) }
                            td { (version) }
                            td class="long" { (executor) }
                            td class="long" { (options) }
                        }
                    }
                }
            }
        }
    };
    let groups = groups(summary);
    let wanted = execution::wanted(summary);
    let blocks = if wanted { execution::blocks(&groups) } else { Vec::new() };
    let notes = if wanted || summary.run.kernel.is_some() {
        execution::notes(summary, &groups, false)
    } else {
        Vec::new()
    };
    html! {
        (scrolled("Paths and their executors", table))
        @if wanted {
            p class="faint" {
                "Accelerated: the driver is known, and its engine raised interrupts for the operations or counted them as jobs. "
                (execution::LEGEND)
            }
        } @else {
            p class="faint" { "Software: libraries in the runner's own process, on the CPU." }
        }
        @for one in &blocks { (block(one, "path", marks)) }
        @if !notes.is_empty() { (notes_list(&notes)) }
    }
}

fn published(part: &Published<'_>, marks: &Marks) -> Markup {
    let paths = part.records.iter().flat_map(|(_, record)| &record.sources);
    let rows = paths.flat_map(|source| source.paths.iter().map(move |path| (source, path)));
    let mut seen: Vec<(&str, &cpb_record::PublishedPath)> = Vec::new();
    for (_, (name, path)) in rows {
        if !seen.contains(&(name, path)) {
            seen.push((name, path));
        }
    }
    let table = html! {
        table class="who" {
            caption { "Paths, according to their documents" }
            thead { tr {
                @for head in ["path", "executor", "version", "options"] {
                    th scope="col" { (head) }
                }
            } }
            tbody {
                @for (name, path) in &seen {
                    tr {
                        th scope="row" { (marks.named(name)) }
                        td { (path.executor) }
                        td { (path.version) }
                        td class="long" { (path.options) }
                    }
                }
            }
        }
    };
    html! {
        (scrolled("Paths, according to their documents", table))
        p class="faint" {
            "cpb counted nothing; executors are as stated in the document or the log."
        }
    }
}
