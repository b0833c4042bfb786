//! The headline in two or three sentences: the path to take in most cases, by size, and the exceptions.

use super::answer::{paths, whole};
use super::marks::Marks;
use crate::explain_text::{LEAST_SHOWN, advise, size, what};
use crate::format::{percent, significant};
use cpb_analysis::explain::Explained;
use cpb_analysis::headline::{self, Exception, Headline};
use maud::{Markup, html};

/// The most exceptions that are named; the table below has all.
const NAMED: usize = 3;
/// The most equivalent paths that are named in an exception.
const EQUALS: usize = 2;
/// A gain below this is written with one more digit.
const SMALL_GAIN: f64 = 1.1;

/// The recommendation for some tasks, with their machines if these differ.
pub(super) fn show(tasks: &[&Explained], machines: bool, marks: &Marks) -> Markup {
    if let [task] = tasks
        && let [advice] = &task.advice[..]
    {
        let words = advise(advice, task);
        return html! {
            p class="lead" { "Take " (paths(&advice.take, marks)) " " (whole(&words.sizes)) "." }
        };
    }
    // Operations without a message have no size, so they get a separate sentence.
    let (sized, without): (Vec<&Explained>, Vec<&Explained>) =
        tasks.iter().copied().partition(|task| has_sizes(task));
    let both = !sized.is_empty() && !without.is_empty();
    let part = |tasks: &[&Explained], begin: &str| {
        let cases = headline::cases(tasks);
        headline::of(&cases).map(|headline| answer(&headline, tasks, machines, begin, marks))
    };
    html! {
        @if let Some(words) = part(&sized, "Take ") { (words) }
        @if let Some(words) = part(&without, if both { "For operations without a message, take " }
            else { "Take " }) { (words) }
    }
}

fn has_sizes(task: &Explained) -> bool {
    let mut sizes = task.paths.iter().flat_map(|costs| &costs.sizes);
    task.subject.has_sizes() && sizes.any(|cost| cost.bytes > 0)
}

fn answer(
    headline: &Headline<'_>,
    tasks: &[&Explained],
    machines: bool,
    begin: &str,
    marks: &Marks,
) -> Markup {
    let Headline { mains, won, cases, exceptions } = headline;
    let sized = tasks.iter().any(|task| has_sizes(task));
    let one = mains.len() == 1;
    let pronoun = if one { "it is" } else { "that is" };
    let count = count(*won, *cases, tasks.len(), sized);
    html! {
        p class="lead" {
            (begin)
            @for (place, main) in mains.iter().enumerate() {
                @if place > 0 { " and " }
                (marks.named(main.path))
                @if !one && place == 0 { " " (whole(&format!("up to {}", size(main.largest.into())))) }
                @if !one && place > 0 { " " (whole(&format!("from {}", size(main.least.into())))) }
            }
            @if won == cases && one {
                " for " (all(tasks.len())) @if sized { " at every size measured" }
                ": no other path is needed."
            } @else if 2 * won < *cases {
                @if one { " if only one path can be used" } @else { ", if only one path per size can be used" }
                ": " (pronoun) " the fastest, or level with the fastest, most often, but only in "
                (count) "."
            } @else {
                ": " (pronoun) " the fastest, or level with the fastest, in " (count) "."
            }
        }
        @if !exceptions.is_empty() {
            p class="exceptions" { (except(exceptions, tasks, machines, marks)) }
        }
    }
}

fn all(operations: usize) -> String {
    match operations {
        1 => "the one operation".to_owned(),
        2 => "both operations".to_owned(),
        many => format!("all {many} operations"),
    }
}

/// The number of cases, and what a case is.
fn count(won: usize, cases: usize, operations: usize, sized: bool) -> String {
    match (sized, won == cases) {
        (true, true) => format!("all {cases} cases ({operations} operations by size)"),
        (true, false) => format!("{won} of {cases} cases ({operations} operations by size)"),
        (false, _) => format!("{won} of {operations} operations"),
    }
}

fn except(
    exceptions: &[Exception<'_>],
    tasks: &[&Explained],
    machines: bool,
    marks: &Marks,
) -> Markup {
    let named = if exceptions.len() == NAMED + 1 { NAMED + 1 } else { NAMED };
    let (shown, more) = exceptions.split_at(named.min(exceptions.len()));
    html! {
        @if exceptions.len() == 1 { "The exception: " } @else { "The exceptions: " }
        @for (place, exception) in shown.iter().enumerate() {
            @let task = tasks[exception.task];
            @if place > 0 { "; " }
            (paths(&exception.take[..exception.take.len().min(EQUALS)], marks))
            " for " (what(&task.subject, task.threads))
            @if machines { " on " (task.machine) }
            @if let Some(sizes) = sizes(exception) { " " (whole(&sizes)) }
            @if let Some(gain) = exception.gain.filter(|gain| *gain < LEAST_SHOWN) {
                " (as fast as the other within " (percent((gain - 1.0).abs())) ")"
            } @else if let Some(gain) = exception.gain {
                " (" @if exception.least != exception.largest { "up to " }
                (times(gain)) "\u{a0}times as fast)"
            } @else { " (the other was not measured there)" }
        }
        @if !more.is_empty() {
            "; and " (more.len()) " with less to gain, in the table"
        }
        "."
    }
}

fn times(gain: f64) -> String {
    significant(gain, if gain < SMALL_GAIN { 3 } else { 2 })
}

/// The sizes of an exception in words; `None` if it holds for its whole task.
fn sizes(exception: &Exception<'_>) -> Option<String> {
    let Exception { least, largest, everywhere, .. } = *exception;
    match (size(least.into()), size(largest.into())) {
        _ if everywhere => None,
        (least, largest) if least == largest => Some(format!("at {least}")),
        (least, largest) => Some(format!("from {least} to {largest}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gains_have_the_digits_that_tell_them_from_one() {
        for (gain, words) in [(1.041, "1.04"), (1.34, "1.3"), (12.4, "12")] {
            assert_eq!(times(gain), words);
        }
    }
}
