//! The headline: which path to take for each operation and message length, and why.

use super::marks::Marks;
use super::operations::refused;
use super::{Measured, Part, lead};
use crate::explain_text::{advise, not_recommended, what};
use crate::format::thousands;
use cpb_analysis::explain::Explained;
use cpb_record::Evidence;
use maud::{Markup, html};

/// The answer of all parts.
pub(super) fn show(parts: &[Part<'_>], marks: &Marks) -> Markup {
    html! {
        section id="answer" {
            h2 { "Which path to take" }
            @for part in parts {
                @if parts.len() > 1 { h3 { (part.name()) } }
                (of_part(part, marks))
            }
        }
    }
}

fn of_part(part: &Part<'_>, marks: &Marks) -> Markup {
    let tasks = &part.explanation().tasks;
    let advised: Vec<(usize, &Explained)> =
        tasks.iter().enumerate().filter(|(_, task)| !task.advice.is_empty()).collect();
    let why = match part {
        Part::Measured(measured) => refused(measured.summary.run.evidence),
        Part::Published(_) => None,
    };
    if let (Some(why), Part::Measured(measured)) = (why, part) {
        return without(measured, why, marks);
    }
    let refused = html! {
        @for task in tasks {
            @for words in not_recommended(task) {
                p class="refused" {
                    (what(&task.subject, task.threads)) ": do not take " (whole(&words)) "."
                }
            }
        }
    };
    if advised.is_empty() && tasks.iter().any(|task| !task.wrong.is_empty()) {
        return html! { p class="lead" { "No path can be recommended." } (refused) };
    }
    if tasks.is_empty() && part.explanation().memory_reads > 0 {
        let words = "Memory reads are no alternatives to choose from; their rates are below.";
        return html! { p class="lead" { (words) } };
    }
    if advised.is_empty() {
        let words = "No path can be recommended: no task has two measured paths.";
        return html! { p class="lead" { (words) } };
    }
    let all: Vec<&Explained> = advised.iter().map(|(_, task)| *task).collect();
    html! {
        (lead::show(&all, part.machines() > 1, marks))
        @if single_readings(tasks) {
            p class="faint" {
                "Single readings from a document: "
                "without a fitted line, differences below 5% are not distinguished."
            }
        }
        (table(part, &advised, marks))
        (refused)
        @for task in tasks.iter().filter(|task| task.advice.is_empty()) {
            @if let Err(why) = &task.pairs {
                p class="refused" { (what(&task.subject, task.threads)) ": no advice, " (why) }
            }
        }
    }
}

fn single_readings(tasks: &[Explained]) -> bool {
    tasks.iter().any(|task| task.single_readings)
}

/// The valid results of a run whose times are not valid.
fn without(part: &Measured<'_>, why: &str, marks: &Marks) -> Markup {
    let summary = &part.summary;
    let verdicts = super::evidence::verdicts(summary);
    html! {
        p class="lead" { "No path is recommended, and no rates are shown." }
        p class="refused" { "Refused, " (why) "." }
        ul class="plain" {
            @if summary.run.evidence == Evidence::Emulated {
                @let unanswered = summary.checks.unanswered();
                @let wrong = summary.checks.wrong.len() - unanswered;
                li {
                    (thousands(summary.checks.right.into())) " known answers were right"
                    @if wrong > 0 { ", " (wrong) " were wrong" }
                    @if unanswered > 0 { ", " (unanswered) " were not answered" } "."
                }
            }
            @for (name, verdict) in &verdicts { li { (marks.named(name)) ": " (verdict) } }
        }
    }
}

/// Equivalent paths.
pub(super) fn paths<N: AsRef<str>>(take: &[N], marks: &Marks) -> Markup {
    html! {
        @for (place, name) in take.iter().enumerate() {
            @if place > 0 { " or " }
            (marks.named(name.as_ref()))
        }
    }
}

/// Puts no-break spaces between numbers and their units.
pub(super) fn whole(words: &str) -> String {
    let units = ["B", "KiB", "MiB", "ns", "µs", "ms"];
    let mut text = String::new();
    for word in words.split(' ') {
        let unit = units.contains(&word.trim_end_matches([',', ';', ':']));
        text.push_str(if unit { "\u{a0}" } else { " " });
        text.push_str(word);
    }
    text.trim_start().to_owned()
}

fn table(part: &Part<'_>, tasks: &[(usize, &Explained)], marks: &Marks) -> Markup {
    html! {
        table class="answer" {
            caption { "Recommended paths, by operation and message length" }
            thead { tr {
                th scope="col" { "operation" }
                th scope="col" { "take" }
                th scope="col" { "message length" }
                th scope="col" { "why" }
            } }
            @for (place, task) in tasks {
                tbody {
                    @for (row, advice) in task.advice.iter().enumerate() {
                        @let words = advise(advice, task);
                        tr {
                            @if row == 0 {
                                th scope="rowgroup" rowspan=(task.advice.len()) {
                                    a href=(format!("#{}", part.anchor(*place))) {
                                        (what(&task.subject, task.threads))
                                    }
                                    @if part.machines() > 1 {
                                        " " span class="faint" { (task.machine) }
                                    }
                                }
                            }
                            td class="take" {
                                (paths(&advice.take, marks))
                                @if advice.take.len() > 1 {
                                    " " span class="tie" {
                                        @if task.single_readings { "not distinguished" } @else { "tie" }
                                    }
                                }
                            }
                            td class="sizes" { (whole(&words.sizes)) }
                            td class="why" { (whole(&words.why)) }
                        }
                    }
                }
            }
        }
    }
}
