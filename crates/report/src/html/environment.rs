//! Where and how the records were measured, and what spoils the figures.

use super::operations::notes_list;
use super::{Measured, Part, Published};
use crate::explain_text::remarks;
use crate::groups::groups;
use crate::published::{Grid, grids, origin};
use crate::{footnotes, format};
use cpb_analysis::summary::summarise;
use cpb_analysis::units::Hertz;
use cpb_record::Machine;
use cpb_record::Record;
use maud::{Markup, html};

/// Notes with these labels report what spoils a figure.
const SPOILS: [&str; 2] = ["warning", "wrong"];

/// The environment of all parts.
pub(super) fn show(parts: &[Part<'_>]) -> Markup {
    html! {
        section id="environment" {
            h2 { "Environment and warnings" }
            @for part in parts {
                @if parts.len() > 1 { h3 { (part.name()) } }
                @match part {
                    Part::Measured(part) => { (measured(part)) }
                    Part::Published(part) => { (published(part)) }
                }
            }
        }
    }
}

/// The number of warnings of a part.
pub(super) fn warnings(part: &Part<'_>) -> usize {
    match part {
        Part::Measured(part) => footnotes::facts(&part.summary, true)
            .iter()
            .filter(|(word, _)| SPOILS.contains(word))
            .count(),
        Part::Published(part) => part.explanation.warnings.len(),
    }
}

fn measured(part: &Measured<'_>) -> Markup {
    let summary = &part.summary;
    let (spoils, facts): (Vec<_>, Vec<_>) =
        footnotes::facts(summary, true).into_iter().partition(|(word, _)| SPOILS.contains(word));
    let mut others: Vec<(String, String)> = footnotes::missing(&groups(summary));
    let explained = remarks(&part.explanation).into_iter();
    // Reasons for cells without a figure are already among the missing ones.
    let explained = explained.filter(|(word, _)| *word != "no figure");
    others.extend(explained.map(|(word, words)| (word.to_owned(), words)));
    html! {
        @if !spoils.is_empty() { (notes_list(&spoils)) }
        (notes_list(&facts))
        (notes_list(&machine(&summary.run.machine)))
        @if !others.is_empty() { (notes_list(&others)) }
    }
}

/// Where and how one record was measured, or in which document it was printed.
pub(super) fn of_record(record: &Record) -> Markup {
    if !record.published.is_empty() {
        let origins = record.sources.iter().map(|source| ("source", origin(source)));
        return notes_list(&origins.collect::<Vec<_>>());
    }
    let summary = summarise(record);
    html! {
        (notes_list(&footnotes::facts(&summary, true)))
        (notes_list(&machine(&summary.run.machine)))
    }
}

/// The system's description of the machine, without empty fields.
fn machine(machine: &Machine) -> Vec<(&'static str, String)> {
    let state = &machine.state;
    let kilohertz = |khz: u64| format::hertz(Hertz(khz as f64 * 1e3));
    let (least, most) = state.frequency_limits_khz;
    let degrees = state.temperature_millicelsius.map(|t| format!("{:.1} °C", t as f64 / 1e3));
    let cpus = match machine.cpus {
        0 => String::new(),
        cpus => cpus.to_string(),
    };
    let governor = match (state.governor.as_str(), most) {
        ("", _) => String::new(),
        (governor, 0) => governor.to_owned(),
        (governor, _) => format!("{governor}, {} to {}", kilohertz(least), kilohertz(most)),
    };
    let facts = [
        ("host", machine.name.clone()),
        ("board", machine.board.clone()),
        ("CPU", machine.cpu.clone()),
        ("core", machine.core.clone()),
        ("CPUs", cpus),
        ("features", machine.features.join(" ")),
        ("microcode", machine.microcode.clone()),
        ("governor", governor),
        ("temperature", degrees.unwrap_or_default()),
        ("kernel", machine.kernel.clone()),
        ("C library", machine.libc.clone()),
    ];
    facts.into_iter().filter(|(_, words)| !words.is_empty()).collect()
}

fn published(part: &Published<'_>) -> Markup {
    let grids: Vec<Grid<'_>> = part.records.iter().flat_map(|(_, record)| grids(record)).collect();
    let warnings = part.explanation.warnings.iter();
    let warnings: Vec<_> = warnings.map(|words| ("warning", words.clone())).collect();
    html! {
        @if !warnings.is_empty() { (notes_list(&warnings)) }
        (notes_list(&remarks(&part.explanation)))
        @for grid in &grids {
            details class="more" {
                summary { "As printed: " (grid.place_and_unit()) }
                (printed(grid))
                p class="faint" { (origin(grid.source)) }
                ul class="plain" {
                    @for note in &grid.source.notes { li { (note) } }
                    @for (place, (kind, why)) in grid.notes.iter().enumerate() {
                        li { "[" (place + 1) "] " (kind.word()) ": " (why) }
                    }
                }
            }
        }
    }
}

fn printed(grid: &Grid<'_>) -> Markup {
    let name = grid.place_and_unit();
    super::tables::scrolled(
        &name,
        html! {
            table {
                caption { (name) }
                thead { tr {
                    th scope="col" { "row" }
                    @for column in &grid.columns { th scope="col" class="n" { (column) } }
                } }
                tbody {
                    @for (heading, places) in &grid.rows {
                        tr {
                            th scope="row" { (heading) }
                            @for place in places { td class="n" { (place) } }
                        }
                    }
                }
            }
        },
    )
}
