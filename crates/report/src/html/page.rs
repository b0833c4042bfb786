//! The frame of the page: its head, layout, style and script.

use super::marks::Marks;
use super::operations::{Operation, notes_list};
use super::{Part, Published, answer, cells, environment, evidence, tables};
use crate::explain_text::remarks;
use crate::footnotes::first_of;
use crate::format::{evidence_word, thousands};
use crate::{one_pass, queue_gain, retired};
use anyhow::Result;
use cpb_analysis::evidence_policy::{Metric, meaningful};
use cpb_record::Evidence;
use maud::{DOCTYPE, Markup, PreEscaped, html};

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");

/// Nothing is fetched, whatever a record contains.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; \
     img-src data:; base-uri 'none'; form-action 'none'";

/// With more algorithms than this, all but the first are folded.
const OPEN: usize = 3;

/// The whole page.
pub(super) fn show(parts: &[Part<'_>], flash: Option<&Markup>, marks: &Marks) -> Result<Markup> {
    let title = title(parts);
    let figures = figures(parts, marks)?;
    let (measured, printed) = cells(parts);
    let main = html! {
        (answer::show(parts, marks))
        @if let Some(flash) = flash { (flash) }
        (figures)
        @for part in parts { (one_pass(part)) (queues(part, marks)) (instructions(part, marks)) }
        (evidence::show(parts, marks))
        (environment::show(parts))
        section id="all" {
            h2 { "Every figure" }
            @if measured.is_none() && printed.is_none() { p { "There are no figures." } }
            @if let Some(table) = measured { (table) }
            @if let Some(table) = printed { (table) }
        }
    };
    Ok(frame(&title, marks, &header(parts, &title, flash.is_some()), &main))
}

/// What one pass of encryption and MAC gains.
fn one_pass(part: &Part<'_>) -> Markup {
    let sentences = part.explanation().one_pass.iter().filter_map(one_pass::sentence);
    let notes: Vec<_> = sentences.map(|words| ("one pass", words)).collect();
    html! {
        @if !notes.is_empty() {
            section {
                h2 { "Encryption and MAC in one pass" }
                (notes_list(&notes))
            }
        }
    }
}

/// What messages in flight gain.
fn queues(part: &Part<'_>, marks: &Marks) -> Markup {
    let found = &part.explanation().queues;
    let blocks: Vec<_> = found.iter().flat_map(queue_gain::blocks).collect();
    let verdicts = found.iter().filter_map(queue_gain::sentence).map(|words| ("queue", words));
    html! {
        @if !blocks.is_empty() {
            section {
                h2 { "Messages in flight" }
                (notes_list(&verdicts.collect::<Vec<_>>()))
                @for block in &blocks { (tables::block(block, "way", marks)) }
                p class="faint" { (queue_gain::LEGEND) }
            }
        }
    }
}

/// The instructions of a record whose times mean nothing, and what they predict of the published times on the page.
fn instructions(part: &Part<'_>, marks: &Marks) -> Markup {
    let blocks = retired::blocks(part.explanation());
    html! {
        @if !blocks.is_empty() {
            section {
                h2 { "Instructions" }
                @for block in &blocks { (tables::block(block, "path", marks)) }
                (notes_list(&retired::notes(part.explanation())))
            }
        }
    }
}

/// The frame of any page: head, style and script around the content.
pub(super) fn frame(title: &str, marks: &Marks, header: &Markup, main: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="generator" content=(concat!("cpb ", env!("CARGO_PKG_VERSION")));
                link rel="icon" href="data:,";
                title { "cpb: " (title) }
                style { (PreEscaped(STYLE)) (PreEscaped(marks.switches())) }
            }
            body {
                (marks.symbols())
                (header)
                main { (main) }
                footer {
                    "Made by cpb " (env!("CARGO_PKG_VERSION"))
                    ". 1 MB = 1,000,000 bytes; 1 KiB = 1024 bytes; ± is half of the 95% interval."
                }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    }
}

/// Links to the page's sections: anchors and their titles.
pub(super) fn sections(all: &[(&str, &str)]) -> Markup {
    html! {
        nav aria-label="Sections" {
            @for (anchor, words) in all { a href=(format!("#{anchor}")) { (words) } }
            button type="button" id="theme" hidden { "Dark" }
        }
    }
}

fn title(parts: &[Part<'_>]) -> String {
    let machines: Vec<String> = parts.iter().map(machines).collect();
    machines.join(" and ")
}

fn machines(part: &Part<'_>) -> String {
    match part {
        Part::Measured(part) => part.summary.run.machine.words(),
        Part::Published(part) => {
            let tasks = part.explanation.tasks.iter().map(|task| task.machine.as_str());
            // Reads of flash are in no task.
            let reads =
                part.explanation.inline_decryption.iter().map(|found| found.machine.as_str());
            let mut names: Vec<&str> = Vec::new();
            for name in tasks.chain(reads).filter(|name| !name.is_empty()) {
                if !names.contains(&name) {
                    names.push(name);
                }
            }
            first_of(&names, "; ")
        }
    }
}

fn header(parts: &[Part<'_>], title: &str, reads_flash: bool) -> Markup {
    let mut all = vec![("answer", "Answer")];
    all.extend(reads_flash.then_some(("flash", "Reads of flash")));
    all.extend([
        ("figures", "Figures"),
        ("evidence", "Executors"),
        ("environment", "Environment"),
        ("all", "Every figure"),
    ]);
    html! {
        header {
            p class="eyebrow" { "cpb report" }
            h1 { (title) }
            @for part in parts {
                p class="question" { (question(part)) }
                p class="meta" { (meta(part)) }
            }
            (sections(&all))
        }
    }
}

fn question(part: &Part<'_>) -> String {
    match part {
        Part::Measured(part) => part.summary.run.reason.clone(),
        Part::Published(part) => {
            let reasons = part.records.iter().map(|(_, record)| record.header.plan.reason.as_str());
            first_of(&reasons.collect::<Vec<_>>(), " ")
        }
    }
}

fn meta(part: &Part<'_>) -> Markup {
    let warnings = environment::warnings(part);
    html! {
        @match part {
            Part::Published(part) => {
                @for word in evidence_words(part) { span class="tag" { (word) } " " }
                "published by others, not measured by cpb; " (part.records.len())
                @if part.records.len() == 1 { " record" } @else { " records" }
            }
            Part::Measured(part) => {
                @let run = &part.summary.run;
                @let class = if run.evidence == Evidence::Hardware { "tag" } else { "tag odd" };
                span class=(class) { (evidence_word(run.evidence)) }
                " plan " (run.plan) ", " (run.passes) " passes"
                @if let Some(seconds) = run.seconds {
                    " in " (thousands(seconds.0.round() as u64)) " s"
                }
                @if run.interrupted { ", stopped early" }
                ", " time datetime=(run.began) { (minute(&run.began)) }
            }
        }
        @if warnings > 0 {
            " " a class="tag odd" href="#environment" {
                (warnings) @if warnings == 1 { " warning" } @else { " warnings" }
            }
        }
    }
}

/// A time stamp to the minute; other text is returned unchanged.
pub(super) fn minute(stamp: &str) -> String {
    match stamp.parse::<jiff::Timestamp>() {
        Ok(time) => time.strftime("%Y-%m-%d %H:%M UTC").to_string(),
        Err(_) => stamp.to_owned(),
    }
}

/// The kinds of evidence of a part's records, each once.
fn evidence_words(part: &Published<'_>) -> Vec<&'static str> {
    let mut words: Vec<&str> =
        part.records.iter().map(|(_, record)| evidence_word(record.header.evidence)).collect();
    words.sort_unstable();
    words.dedup();
    words
}

/// All operations, by algorithm.
fn figures(parts: &[Part<'_>], marks: &Marks) -> Result<Markup> {
    let mut shown = Vec::new();
    for part in parts {
        let mut algorithms: Vec<(String, Vec<(String, Operation)>)> = Vec::new();
        for (anchor, operation) in part.operations(marks) {
            match algorithms.iter_mut().find(|(known, _)| *known == operation.algorithm) {
                Some((_, all)) => all.push((anchor, operation)),
                None => algorithms.push((operation.algorithm.clone(), vec![(anchor, operation)])),
            }
        }
        let few = algorithms.len() <= OPEN;
        let mut folds = Vec::new();
        for (place, (algorithm, operations)) in algorithms.iter().enumerate() {
            let all: Result<Vec<Markup>> =
                operations.iter().map(|(id, operation)| operation.show(id, marks)).collect();
            let count = operations.len();
            folds.push(html! {
                details class="algorithm" open[few || place == 0] {
                    summary {
                        h3 { (algorithm) }
                        span class="faint" {
                            (count) @if count == 1 { " operation" } @else { " operations" }
                        }
                    }
                    @for operation in all? { (operation) }
                }
            });
        }
        shown.push((part, folds));
    }
    let all: usize = shown.iter().map(|(_, folds)| folds.len()).sum();
    Ok(html! {
        section id="figures" {
            h2 {
                "Figures"
                @if all > 0 { button type="button" id="unfold" hidden { "Unfold all" } }
            }
            @if parts.iter().any(drawn) { p class="faint" { (reading(parts)) } }
            @for (part, folds) in &shown {
                @if parts.len() > 1 { p class="part" { (part.name()) } }
                @for fold in folds { (fold) }
            }
        }
    })
}

/// Whether its evidence supports anything that can be drawn.
fn drawn(part: &Part<'_>) -> bool {
    match part {
        Part::Measured(part) => meaningful(Metric::Rate, part.summary.run.evidence).is_ok(),
        Part::Published(_) => true,
    }
}

/// How to read the plots.
fn reading(parts: &[Part<'_>]) -> String {
    let fitted = parts.iter().any(|part| {
        remarks(part.explanation()).iter().any(|(_, words)| words.starts_with("time = fixed"))
    });
    let mut words =
        "Both axes are logarithmic. Whiskers are 95% intervals, drawn if they are longer than a \
         marker; * is the fastest, = is fastest together with others. Dots only connect the markers \
         of one path."
            .to_owned();
    if fitted {
        words += " Lines are fitted costs, time = fixed + bytes × per byte, if such a line describes the \
             path. A ring marks a crossover, grey its 95% interval.";
    }
    words
}

type TablePair = (Option<Markup>, Option<Markup>);

fn cells(parts: &[Part<'_>]) -> TablePair {
    let measured: Vec<_> = parts
        .iter()
        .filter_map(|part| match part {
            Part::Measured(part) => Some(part.as_ref()),
            Part::Published(_) => None,
        })
        .collect();
    let published = parts.iter().find_map(|part| match part {
        Part::Published(part) => cells::published(&part.records),
        Part::Measured(_) => None,
    });
    (cells::measured(&measured), published)
}
