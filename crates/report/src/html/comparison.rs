//! The page of a comparison: what changed, by how much, and how sure this is.
//!
//! The headline comes first, then the changes, all cells by operation as forest plots, a table of every cell,
//! and other differences between the two: their configuration and their noise.

use super::cells::{sortable, words as number};
use super::environment;
use super::forest::{Bar, Change, Forest, change};
use super::marks::Marks;
use super::operations::notes_list;
use super::page::{frame, minute, sections};
use super::tables::scrolled;
use crate::compare::{apart, drawn};
use crate::explain_text::{size, what};
use crate::format::{evidence_word, percent};
use crate::groups::in_words;
use anyhow::Result;
use cpb_analysis::compare::{Compared, ComparedCell, Kind, MeanRatio};
use cpb_analysis::location::median;
use cpb_analysis::paths::Subject;
use cpb_analysis::ratio::{Basis, TIE, Verdict};
use cpb_analysis::uncertain::Bounded;
use cpb_analysis::units::Times;
use cpb_record::Record;
use maud::{Markup, html};
use std::collections::BTreeSet;

/// The most changed cells in the first plot; the others are among the cells of their operation.
const DRAWN: usize = 24;

/// The meaning of a verdict on this page.
fn meaning(verdict: Verdict) -> Change {
    match verdict {
        Verdict::Slower => Change::Slower,
        Verdict::Faster => Change::Faster,
        Verdict::Tie => Change::Same,
        Verdict::Unknown => Change::Unknown,
    }
}

/// The page for a comparison of these named records: one record with two providers, or two records.
///
/// # Errors
/// Never fails in practice; the result type is that of drawing.
pub fn render(compared: &Compared, records: &[(String, Record)]) -> Result<String> {
    let title = format!("{} compared with {}", compared.second, compared.first);
    let cells = ordered(compared);
    let changed = changed(&cells)?;
    let main = html! {
        div class="two" {
            section id="answer" {
                h2 { (answer(records)) }
                (lead(&cells))
                @if let Some(changed) = changed { (changed) }
            }
            section id="figures" {
                h2 { "By operation and provider" }
                (families(compared)?)
            }
        }
        section id="all" {
            h2 { "Every cell" }
            (table(&cells))
        }
        section id="environment" {
            h2 { "Other differences" }
            (differences(compared))
            div class="sides" {
                @for (name, record) in records {
                    div {
                        h3 { (name) }
                        (environment::of_record(record))
                    }
                }
            }
        }
    };
    Ok(frame(&title, &Marks::default(), &header(compared, records), &main).into_string())
}

/// The title of the first section; between two providers of one run, nothing "changes".
fn answer(records: &[(String, Record)]) -> &'static str {
    if records.len() == 1 { "How they compare" } else { "What changed" }
}

fn header(compared: &Compared, records: &[(String, Record)]) -> Markup {
    html! {
        header {
            p class="eyebrow" { "cpb compare" }
            h1 { (compared.second) " against " (compared.first) }
            p class="question" {
                "Cost of the second divided by cost of the first, cell by cell: above 1 the second is slower."
            }
            @for (name, record) in records {
                p class="meta" {
                    span class="tag" { (evidence_word(record.header.evidence)) } " " (name) ", plan " (record.header.plan.name)
                    @if !record.header.began.is_empty() { ", started " (minute(&record.header.began)) }
                    @if !record.header.machine.words().is_empty() {
                        ", " (record.header.machine.words())
                    }
                }
            }
            (sections(&[
                ("answer", answer(records)),
                ("figures", "By operation"),
                ("all", "Every cell"),
                ("environment", "Other differences"),
            ]))
        }
    }
}

/// All cells, the most important first: slower ones by how much, then faster ones, then the others.
fn ordered(compared: &Compared) -> Vec<&ComparedCell> {
    let mut cells: Vec<&ComparedCell> = compared.cells.iter().collect();
    let size = |row: &ComparedCell| row.ratio.value.0.ln().abs();
    cells.sort_by(|one, other| {
        let by_kind = meaning(one.verdict).cmp(&meaning(other.verdict));
        by_kind.then(size(other).total_cmp(&size(one)))
    });
    cells
}

/// The result in a few sentences; `cells` are ordered.
fn lead(cells: &[&ComparedCell]) -> Markup {
    let of = |change: Change| cells.iter().filter(move |row| meaning(row.verdict) == change);
    let count = |change: Change| of(change).count();
    let (slower, faster) = (count(Change::Slower), count(Change::Faster));
    let (unknown, same) = (count(Change::Unknown), count(Change::Same));
    let all = cells.len();
    let most = |change: Change, word: &str| {
        let row = of(change).next()?;
        let among = if count(change) == 1 { ": ".to_owned() } else { format!(", {word} ") };
        Some(format!("{among}{} ({})", cell(row), self::change(row.ratio.value.0)))
    };
    let is = |count: usize| if count == 1 { "is" } else { "are" };
    let of_all = format!("of {all} {}", if all == 1 { "cell" } else { "cells" });
    let noise = noise(cells);
    html! {
        p class="lead" {
            @if slower > 0 {
                (slower) " " (of_all) " " (is(slower)) " slower"
                (most(Change::Slower, "most").unwrap_or_default()) ". "
            }
            @if faster > 0 {
                (faster) " " @if slower == 0 { (of_all) " " } (is(faster)) " faster"
                (most(Change::Faster, "most").unwrap_or_default()) ". "
            }
            @if slower + faster == 0 && unknown < all {
                "No cell of " (all) " got slower or faster by more than the noise. "
            }
            @if same > 0 {
                @if slower + faster + unknown > 0 { (same) " others cost" } @else { "All cost" }
                " the same to within " (band()) ". "
            }
            @if unknown > 0 {
                "For " @if unknown == all { "all " } (unknown)
                " there is no verdict: the samples are too few or too noisy. "
            }
        }
        @if let Some((typical, worst)) = noise {
            p class="faint" {
                "Noise: half of the 95% interval of a ratio is " (percent(typical))
                " for a typical cell and " (percent(worst)) " for the worst one."
            }
        }
    }
}

/// How close costs must be to count as the same.
fn band() -> String {
    format!("{:.0}%", TIE * 100.0)
}

/// Half of a ratio's interval as a share: of the median cell, and the largest.
fn noise(cells: &[&ComparedCell]) -> Option<(f64, f64)> {
    let shares: Vec<f64> = cells
        .iter()
        .filter_map(|row| {
            let interval = row.ratio.interval?;
            Some((interval.high.0 - interval.low.0) / 2.0 / row.ratio.value.0)
        })
        .collect();
    Some((median(&shares)?, shares.iter().copied().fold(0.0, f64::max)))
}

/// The measured operation, its provider and its size.
fn cell(row: &ComparedCell) -> String {
    let (name, detail) = (long_name(row), detail(row));
    if detail.is_empty() { name } else { format!("{name} at {detail}") }
}

/// The provider; if the names differ, both.
fn who(row: &ComparedCell) -> String {
    match &row.against {
        None => row.provider.clone(),
        Some(first) => format!("{} / {first}", row.provider),
    }
}

fn long_name(row: &ComparedCell) -> String {
    let machine = row.machine.as_ref().map(|name| format!(" on {name}")).unwrap_or_default();
    format!("{} {}{machine}", who(row), what(&row.subject, row.threads))
}

/// The message length; empty if there is no message.
fn detail(row: &ComparedCell) -> String {
    if row.bytes == 0 || !row.subject.has_sizes() { String::new() } else { size(row.bytes.into()) }
}

fn bar(name: String, detail: String, ratio: &Bounded<Times>, verdict: Verdict) -> Bar {
    Bar {
        name,
        detail,
        ratio: ratio.value.0,
        interval: ratio.interval.map(|interval| (interval.low.0, interval.high.0)),
        change: meaning(verdict),
    }
}

/// The changed cells as a plot. `None` if no cell changed.
fn changed(cells: &[&ComparedCell]) -> Result<Option<Markup>> {
    let moved: Vec<&&ComparedCell> = cells
        .iter()
        .filter(|row| matches!(meaning(row.verdict), Change::Slower | Change::Faster))
        .collect();
    let shown = &moved[..moved.len().min(DRAWN)];
    let bars = shown.iter().map(|row| bar(long_name(row), detail(row), &row.ratio, row.verdict));
    let forest = Forest { title: "Changed cells and their change".into(), bars: bars.collect() };
    let Some(plot) = forest.draw()? else { return Ok(None) };
    Ok(Some(html! {
        figure { (scrolled(&forest.title, plot)) }
        @if moved.len() > shown.len() {
            p class="faint" {
                "The " (shown.len()) " that changed most; all " (moved.len()) " are below."
            }
        }
    }))
}

/// A plot of all means, and a folded one with all cells of each operation or pair.
fn families(compared: &Compared) -> Result<Markup> {
    let name = |family: &MeanRatio| {
        let of = match &family.of {
            Kind::Subject(subject) => what(subject, 1),
            Kind::Provider(name) => name.clone(),
            Kind::Pair(first, second) => format!("{second} / {first}"),
        };
        match &family.machine {
            Some(machine) => format!("{of} on {machine}"),
            None => of,
        }
    };
    let cells = |family: &MeanRatio| match family.cells {
        1 => "1 cell".to_owned(),
        many => format!("{many} cells"),
    };
    let bars = compared
        .families
        .iter()
        .map(|family| bar(name(family), cells(family), &family.ratio, family.verdict));
    let means = Forest {
        title: "Geometric means over all cells of an operation, and of a provider".into(),
        bars: bars.collect(),
    };
    let mut folds = Vec::new();
    // The cells of a provider are already among the cells of operations.
    let folded = |family: &&MeanRatio| !matches!(family.of, Kind::Provider(_));
    for family in compared.families.iter().filter(folded) {
        let rows: Vec<&ComparedCell> =
            compared.cells.iter().filter(|row| belongs(row, family)).collect();
        let forest = Forest { title: format!("Cells of {}", name(family)), bars: bars_of(&rows) };
        let Some(plot) = forest.draw()? else { continue };
        let count = |change| rows.iter().filter(|row| meaning(row.verdict) == change).count();
        let (slower, faster) = (count(Change::Slower), count(Change::Faster));
        folds.push(html! {
            details class="algorithm" {
                summary {
                    h3 { (name(family)) }
                    span class="faint" {
                        (cells(family))
                        @if slower > 0 { ", " (slower) " slower" }
                        @if faster > 0 { ", " (faster) " faster" }
                    }
                }
                figure { (scrolled(&forest.title, plot)) }
            }
        });
    }
    Ok(html! {
        p class="faint" {
            "Bars are 95% intervals. The band marks the same cost, ±" (band())
            ". Means are geometric, over all cells of an operation or of a provider."
        }
        @if let Some(plot) = means.draw()? { figure { (scrolled(&means.title, plot)) } }
        @for fold in folds { (fold) }
    })
}

fn belongs(row: &ComparedCell, family: &MeanRatio) -> bool {
    let kind = match &family.of {
        Kind::Subject(subject) => row.against.is_none() && *subject == row.subject,
        Kind::Provider(name) => *name == row.provider,
        Kind::Pair(first, second) => row.against.as_ref() == Some(first) && row.provider == *second,
    };
    kind && row.machine == family.machine
}

/// The cells of a family by provider and size; a repeated name is shown once.
fn bars_of(rows: &[&ComparedCell]) -> Vec<Bar> {
    let mut sorted: Vec<&ComparedCell> = rows.to_vec();
    let mut order: Vec<String> = Vec::new();
    for name in rows.iter().map(|row| name_in_family(row)) {
        if !order.contains(&name) {
            order.push(name);
        }
    }
    sorted.sort_by_key(|row| {
        let name = name_in_family(row);
        (order.iter().position(|known| *known == name), row.bytes)
    });
    let mut last = String::new();
    let mut bars = Vec::new();
    for row in sorted {
        let name = name_in_family(row);
        let shown = if name == last { String::new() } else { name.clone() };
        bars.push(bar(shown, detail(row), &row.ratio, row.verdict));
        last = name;
    }
    bars
}

fn name_in_family(row: &ComparedCell) -> String {
    match (&row.against, row.threads) {
        (Some(_), threads) => what(&row.subject, threads),
        (None, 1) => who(row),
        (None, threads) => format!("{}, {threads} threads", who(row)),
    }
}

/// Every cell; the page's script can sort and filter the table.
fn table(cells: &[&ComparedCell]) -> Markup {
    let heads = HEADS.map(|(name, text, _)| (name, text));
    let rows: Vec<Vec<String>> =
        cells.iter().map(|row| HEADS.iter().map(|(.., words)| words(row)).collect()).collect();
    let filled: Vec<usize> =
        (0..heads.len()).filter(|column| rows.iter().any(|row| !row[*column].is_empty())).collect();
    let heads: Vec<(&str, bool)> = filled.iter().map(|column| heads[*column]).collect();
    let rows = rows
        .iter()
        .map(|row| filled.iter().map(|column| row[*column].clone()).collect::<Vec<String>>());
    sortable("compared", "Every cell of both", &heads, rows)
}

/// A column: its heading, whether it is text, and the content for a row.
type Heading = (&'static str, bool, fn(&ComparedCell) -> String);

const HEADS: [Heading; 14] = [
    ("path", true, |row| row.provider.clone()),
    ("against", true, |row| row.against.clone().unwrap_or_default()),
    ("machine", true, |row| row.machine.clone().unwrap_or_default()),
    ("algorithm", true, |row| row.subject.algorithm().to_owned()),
    ("operation", true, |row| row.subject.operation().unwrap_or_default().to_owned()),
    ("variant", true, variant),
    ("message (B)", false, |row| row.bytes.to_string()),
    ("threads", false, |row| row.threads.to_string()),
    ("verdict", true, |row| meaning(row.verdict).word().to_owned()),
    ("ratio (×)", false, |row| number(row.ratio.value.0)),
    ("change (%)", false, |row| percents(row.ratio.value.0)),
    ("from (%)", false, |row| bound(row, |(low, _)| low)),
    ("to (%)", false, |row| bound(row, |(_, high)| high)),
    ("compared in", true, |row| match row.metric {
        Basis::Cycles => "cycles".to_owned(),
        Basis::Time => "time".to_owned(),
        Basis::Instructions => "instructions".to_owned(),
    }),
];

fn variant(row: &ComparedCell) -> String {
    match &row.subject {
        Subject::Measured(workload) => {
            let words = in_words(workload, 1);
            words.split_once(", ").map(|(_, variant)| variant.to_owned()).unwrap_or_default()
        }
        Subject::Published { phase, .. } => phase.clone().unwrap_or_default(),
    }
}

fn percents(ratio: f64) -> String {
    format!("{:.2}", (ratio - 1.0) * 100.0)
}

fn bound(row: &ComparedCell, end: fn((f64, f64)) -> f64) -> String {
    let interval = row.ratio.interval.filter(|interval| interval.high.0.is_finite());
    let ends = interval.map(|interval| (interval.low.0, interval.high.0));
    ends.map(|ends| percents(end(ends))).unwrap_or_default()
}

/// Differences besides the figures, and what could not be compared.
fn differences(compared: &Compared) -> Markup {
    let mut notes: Vec<(&str, String)> =
        compared.differences.iter().map(|words| ("differs", words.clone())).collect();
    if compared.differences.is_empty() {
        notes.push(("differs", "nothing that is in the records".to_owned()));
    }
    notes.extend(drawn(compared));
    if compared.unpaired > 0 {
        let words = format!("{} cells have a figure in only one of the two", compared.unpaired);
        notes.push(("left out", words));
    }
    for (names, whose) in apart(compared).into_iter().zip(["first", "second"]) {
        notes.extend(
            names.map(|names| ("left out", format!("machines only in the {whose}: {names}"))),
        );
    }
    let metrics: BTreeSet<&str> = compared
        .cells
        .iter()
        .map(|row| match row.metric {
            Basis::Cycles => "core cycles",
            Basis::Time => "wall-clock time",
            Basis::Instructions => "instructions",
        })
        .collect();
    let metrics: Vec<&str> = metrics.into_iter().collect();
    notes.push(("compared in", metrics.join(", or in ")));
    notes.extend(compared.warnings.iter().map(|warning| ("warning", warning.clone())));
    notes_list(&notes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_matters_comes_first() {
        let mut changes = [Change::Same, Change::Unknown, Change::Faster, Change::Slower];
        changes.sort();
        let expected = [Change::Slower, Change::Faster, Change::Unknown, Change::Same];
        assert_eq!(changes, expected);
    }
}
