//! The headline: which path to take, for each operation and message length, and why.

use super::marks::Marks;
use super::operations::refused;
use super::{Measured, Part};
use crate::analysis::advice::Reason;
use crate::analysis::explain::Explained;
use crate::record::Evidence;
use crate::report::explain_words::{advise, what};
use crate::report::numbers::thousands;
use maud::{Markup, html};

/// The answer of all parts.
pub(super) fn show(parts: &[Part<'_>], marks: &Marks) -> Markup {
    html! {
        section id="answer" {
            h2 { "Which path" }
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
    if advised.is_empty() {
        let words = "No path can be named: no two were measured at the same task.";
        return html! { p class="lead" { (words) } };
    }
    html! {
        p class="lead" { (lead(advised.iter().map(|(_, task)| *task), marks)) }
        @if single_readings(tasks) {
            p class="faint" {
                "Single readings from a document: "
                "within 5% without a fitted line they are called a tie."
            }
        }
        (table(part, &advised, marks))
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

/// What counts where times do not.
fn without(part: &Measured<'_>, why: &str, marks: &Marks) -> Markup {
    let summary = &part.summary;
    let verdicts = super::evidence::verdicts(summary);
    html! {
        p class="lead" { "No path is named, and no rate is shown." }
        p class="refused" { "Refused, " (why) "." }
        ul class="plain" {
            @if summary.run.evidence == Evidence::Emulated {
                @let wrong = summary.checks.wrong.len();
                li {
                    (thousands(summary.checks.right.into())) " known answers were right"
                    @if wrong > 0 { ", " (wrong) " were wrong" } "."
                }
            }
            @for (name, verdict) in &verdicts { li { (marks.named(name)) ": " (verdict) } }
        }
    }
}

/// One sentence for all tasks.
fn lead<'a>(tasks: impl Iterator<Item = &'a Explained>, marks: &Marks) -> Markup {
    let tasks: Vec<&Explained> = tasks.collect();
    if let [task] = &tasks[..]
        && let [advice] = &task.advice[..]
    {
        let words = advise(advice, task);
        return html! { "Take " (paths(&advice.take, marks)) " " (whole(&words.sizes)) "." };
    }
    // Who is taken at every size, how often; the first of as many first.
    let mut winners: Vec<(&[String], usize)> = Vec::new();
    for task in &tasks {
        let [advice] = &task.advice[..] else { continue };
        match winners.iter_mut().find(|(take, _)| *take == advice.take) {
            Some((_, count)) => *count += 1,
            None => winners.push((&advice.take, 1)),
        }
    }
    winners.sort_by_key(|(_, count)| usize::MAX - count);
    let all = tasks.len();
    let by_size = tasks.iter().filter(|task| task.advice.len() > 1).count();
    let ties = tasks.iter().filter(|task| tied(task)).count();
    match winners.first() {
        Some((take, count)) if take.len() == 1 && 2 * count >= all => html! {
            "Take " (paths(take, marks)) " for " (of(*count, all)) " at every size measured"
            @if by_size > 0 { "; for " (by_size) " it depends on the size" }
            @if ties > 0 { "; " (ties) @if ties == 1 { " is a tie" } @else { " are ties" } }
            "."
        },
        _ => html! {
            "No single path is the one for all " (all) " operations"
            @if by_size > 0 { "; for " (by_size) " it depends on the size" }
            @if ties > 0 { "; " (ties) @if ties == 1 { " is a tie" } @else { " are ties" } }
            "."
        },
    }
}

/// Whether no path is to be preferred at any size.
fn tied(task: &Explained) -> bool {
    matches!(&task.advice[..], [advice] if advice.reason == Reason::Tie)
}

fn of(count: usize, all: usize) -> String {
    match (count, all) {
        (1, 1) => "the one operation".to_owned(),
        (count, all) if count == all => format!("all {all} operations"),
        (count, all) => format!("{count} of {all} operations"),
    }
}

fn paths(take: &[String], marks: &Marks) -> Markup {
    html! {
        @for (place, name) in take.iter().enumerate() {
            @if place > 0 { " or " }
            (marks.named(name))
        }
    }
}

/// No line ends between a number and its unit.
fn whole(words: &str) -> String {
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
            caption { "What to take, by operation and message length" }
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
                                @if advice.take.len() > 1 { " " span class="tie" { "tie" } }
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
