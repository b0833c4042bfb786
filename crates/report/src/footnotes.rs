//! Sentences of reports: why figures are missing, and facts about the run.

use super::format::{hertz, percent, short, thousands, time};
use super::groups::Group;
use cpb_analysis::grade::{self, Grade, Level};
use cpb_analysis::location::LEAST;
use cpb_analysis::missing::NoFigure;
use cpb_analysis::run_info::Checks;
use cpb_analysis::summary::{Known, Summary};
use cpb_analysis::units::Seconds;
use cpb_core::Unsupported;
use cpb_core::catalog;
use cpb_record::EngineCount;
use cpb_record::NO_ANSWER;
use cpb_record::size::Size;
use cpb_record::{Evidence, ProviderRecord};

/// The most names or questions that are listed.
const FEW: usize = 3;

/// The first few items of a list and the number of the others, for headings and notes.
pub(crate) fn first_of(words: &[&str], between: &str) -> String {
    match words.len() {
        count if count > FEW + 1 => {
            format!("{} and {} more", words[..FEW].join(between), count - FEW)
        }
        _ => words.join(between),
    }
}

/// Each reason for missing figures in words, with the cells that it concerns.
pub(crate) fn missing(groups: &[Group<'_>]) -> Vec<(String, String)> {
    let mut notes: Vec<(&NoFigure, Vec<(&str, String)>)> = Vec::new();
    let mut all = true;
    for group in groups {
        for provider in &group.providers {
            let mut sizes: Vec<(&NoFigure, Vec<u32>)> = Vec::new();
            for size in &group.sizes {
                match group.row(provider, *size).map(|row| &row.figures) {
                    Some(Known::Without(reason)) => push(&mut sizes, reason, *size),
                    Some(Known::Measured(_)) => all = false,
                    None => {}
                }
            }
            for (reason, sizes_without) in sizes {
                let mut what = group.heading.clone();
                if sizes_without.len() < group.sizes.len() {
                    let sizes: Vec<String> =
                        sizes_without.iter().map(|size| Size::from(*size).to_string()).collect();
                    what = format!("{what} at {}", sizes.join(" and "));
                }
                push(&mut notes, reason, (provider, what));
            }
        }
    }
    let only = all && notes.len() == 1;
    let note = |(reason, cells): (&NoFigure, Vec<(&str, String)>)| {
        // A refusal follows from the run's evidence and so concerns everything that could have been measured.
        let of_all = only || matches!(reason, NoFigure::Meaningless(_));
        let cells = if of_all { "all cells".to_owned() } else { named(&cells) };
        (reason.short().to_owned(), format!("{reason}: {cells}"))
    };
    notes.into_iter().map(note).collect()
}

/// Up to this many cells are listed one by one; with more, cells with the same providers are grouped.
const ONE_BY_ONE: usize = 6;

/// Cells, each by its provider and what it is.
fn named(cells: &[(&str, String)]) -> String {
    if cells.len() <= ONE_BY_ONE {
        let one = |(provider, what): &(&str, String)| format!("{provider} {what}");
        return cells.iter().map(one).collect::<Vec<_>>().join("; ");
    }
    let mut lacking: Vec<(&str, Vec<&str>)> = Vec::new();
    for (provider, what) in cells {
        push(&mut lacking, what.as_str(), *provider);
    }
    let mut whole: Vec<(Vec<&str>, Vec<&str>)> = Vec::new();
    for (what, providers) in lacking {
        push(&mut whole, providers, what);
    }
    let words = |(providers, whats): &(Vec<&str>, Vec<&str>)| {
        // The operation follows the algorithm, which is named once.
        let mut algorithms: Vec<(&str, Vec<&str>)> = Vec::new();
        for what in whats {
            let (algorithm, done) = what.split_once(' ').unwrap_or((what, ""));
            push(&mut algorithms, algorithm, done);
        }
        let one = |(algorithm, done): &(&str, Vec<&str>)| {
            format!("{algorithm} {}", done.join("/")).trim_end().to_owned()
        };
        let whats: Vec<String> = algorithms.iter().map(one).collect();
        format!("{}: {}", providers.join(", "), whats.join(", "))
    };
    whole.iter().map(words).collect::<Vec<_>>().join("; ")
}

/// Adds a value to its key; keys keep the order in which they came.
fn push<K: PartialEq, V>(all: &mut Vec<(K, Vec<V>)>, key: K, value: V) {
    match all.iter_mut().find(|(known, _)| *known == key) {
        Some((_, values)) => values.push(value),
        None => all.push((key, vec![value])),
    }
}

/// One line that names the run.
pub(crate) fn title(summary: &Summary) -> String {
    let run = &summary.run;
    format!("{}: {}", run.plan, run.machine.words())
}

/// The facts of a run: a label and the text. Without `all`, only facts that a reader of its figures needs.
pub(crate) fn facts(summary: &Summary, all: bool) -> Vec<(&'static str, String)> {
    let run = &summary.run;
    let mut facts = vec![("run", run_words(summary))];
    facts.extend(machine(summary).map(|words| ("machine", words)));
    if all || run.evidence != Evidence::Hardware {
        facts.push(("evidence", evidence(summary)));
    }
    facts.extend(run.engine.as_ref().map(|count| ("engine", engine_count(count))));
    if all {
        facts.extend(details(summary));
    }
    facts.extend(few_passes(summary).map(|words| ("passes", words)));
    facts.extend(unknown(summary).map(|words| ("unclear", words)));
    facts.push(("checks", checks(summary)));
    let label = |words: &str| if Checks::is_unanswered(words) { "no answer" } else { "wrong" };
    facts.extend(summary.checks.wrong.iter().map(|words| (label(words), words.clone())));
    for (name, provider) in &run.providers {
        if let ProviderRecord::Unavailable { reason, detail } = provider {
            let why = if detail.is_empty() { reason.to_string() } else { detail.clone() };
            facts.push((unavailable(*reason, detail), format!("{name}: {why}")));
        }
    }
    facts.extend(run.warnings.iter().map(|warning| ("warning", warning.clone())));
    facts
}

/// What an engine says that it did, beside what the guest's kernel counted for each operation.
pub fn engine_count(count: &EngineCount) -> String {
    let EngineCount { jobs, failed, commands, bytes, interrupts, deepest, job_us, times_of } =
        count;
    let [jobs, failed, commands, bytes, interrupts] =
        [jobs, failed, commands, bytes, interrupts].map(|count| *count);
    let mut stated = String::new();
    if *job_us > 0 {
        stated += &format!("; each takes {job_us} µs of the host's time at least, as stated");
    }
    if !times_of.is_empty() {
        stated += &format!(
            "; each takes at least the time of {times_of}'s constants, on the host's clock, as stated"
        );
    }
    format!(
        "by its own count, since the guest booted: {} jobs with {} commands and {} bytes, {} with an error, {} \
         interrupts; at most {} at a time{stated}",
        thousands(jobs + failed),
        thousands(commands),
        thousands(bytes),
        thousands(failed),
        thousands(interrupts),
        thousands((*deepest).into()),
    )
}

/// How suitable the machine was for measuring. `None` if no time was measured.
fn machine(summary: &Summary) -> Option<String> {
    let grade = grade::of(summary);
    let measured = summary.cells.iter().any(|row| row.figures.measured().is_some());
    (measured && grade.level != Level::None).then(|| graded(&grade))
}

/// A grade in words.
pub(crate) fn graded(Grade { level, reasons }: &Grade) -> String {
    let place = match level {
        Level::Good => "good conditions for measuring",
        Level::Fair => "fair conditions for measuring",
        Level::Poor => "poor conditions for measuring",
        Level::None => "times cannot be measured here",
    };
    format!("{place}: {}", reasons.join("; "))
}

/// What would decide which provider is the fastest, if that is unclear.
fn unknown(summary: &Summary) -> Option<String> {
    let open: Vec<_> =
        summary.comparisons.iter().filter(|comparison| !comparison.unknown.is_empty()).collect();
    let needs =
        open.iter().flat_map(|comparison| &comparison.unknown).filter_map(|(_, needs)| *needs);
    let most = needs.fold(0.0, f64::max);
    (!open.is_empty()).then(|| {
        let cells = match open.len() {
            1 => "which is fastest at one message size".to_owned(),
            many => format!("which is fastest at {many} message sizes"),
        };
        let seconds = summary.run.seconds.map(|seconds| seconds * most);
        match seconds {
            Some(seconds) if most >= 1.0 && seconds <= LONGEST => {
                format!(
                    "{cells} (?): a run of about {:.0} s would decide it (`--budget`)",
                    seconds.0
                )
            }
            Some(_) if most >= 1.0 => {
                format!("{cells} (?): the differences are too small for the noise here")
            }
            _ => format!("{cells} (?): measure longer (`--budget`)"),
        }
    })
}

/// A longer run than this is not suggested.
const LONGEST: Seconds = Seconds(3600.0);

/// The state of the machine during the measurement.
fn details(summary: &Summary) -> Vec<(&'static str, String)> {
    let mut facts = Vec::new();
    if summary.noise.is_some() || summary.clock.is_some() || counts_cycles(summary) {
        facts.push(("clock", clock(summary)));
    }
    if let Some(floor) = &summary.floor {
        let cycles = floor.cycles.map(|cycles| format!(", {} cycles", short(cycles.0)));
        facts.push((
            "floor",
            format!(
                "{}{} per operation: the harness itself, included in each figure",
                time(floor.time),
                cycles.unwrap_or_default()
            ),
        ));
    }
    if let Some(noise) = &summary.noise {
        let part = |words: &str, share: Option<f64>| {
            share.map(|share| format!("{words} {}", percent(share)))
        };
        let parts = [
            part("passes differ by", noise.between),
            part("batches by", noise.within),
            noise.precision.map(|share| format!("intervals are ±{}", percent(share))),
            noise.worst.map(|share| format!("at worst ±{}", percent(share))),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        if !parts.is_empty() {
            let metric = if summary.clock.is_some() { "in cycles, " } else { "" };
            facts.push(("noise", format!("{metric}{}", parts.join(", "))));
        }
        if summary.clock.is_some() {
            let share = |count: u64| match count {
                0 => "none".to_owned(),
                count => percent(count as f64 / noise.batches.max(1) as f64),
            };
            let words = match (noise.unsteady, noise.crowded) {
                (0, 0) => format!("none of {} batches", thousands(noise.batches)),
                (unsteady, crowded) => format!(
                    "{} of {} batches: the core's clock changed or something interrupted; {}: \
                     another thread ran on the same core",
                    share(unsteady),
                    thousands(noise.batches),
                    share(crowded)
                ),
            };
            facts.push(("discarded", words));
        }
    }
    facts
}

/// The number of cells with too few passes for an interval, if there are any.
fn few_passes(summary: &Summary) -> Option<String> {
    let measured = summary.cells.iter().filter(|row| row.provider != catalog::NULL);
    let passes: Vec<usize> = measured
        .filter_map(|row| row.figures.measured().map(|figures| figures.processes))
        .collect();
    let few = passes.iter().filter(|passes| **passes < LEAST).count();
    let whose = match passes.len() {
        all if all == few => "all cells".to_owned(),
        all => format!("{few} of {all} cells"),
    };
    (few > 0).then(|| {
        format!(
            "fewer than three for {whose}, so no interval (±?) and no verdict: raise --budget or select \
             fewer with -p/-a"
        )
    })
}

/// Why a provider is unavailable, in a word or two.
pub(crate) fn unavailable(reason: Unsupported, detail: &str) -> &'static str {
    match reason {
        // It may be available, but slow.
        _ if detail.starts_with(NO_ANSWER) => "no answer",
        Unsupported::Policy => "by policy",
        Unsupported::Permission => "permission",
        _ => "unavailable",
    }
}

fn run_words(summary: &Summary) -> String {
    let run = &summary.run;
    let passes = match run.passes {
        1 => "1 pass".to_owned(),
        passes => format!("{passes} passes"),
    };
    let cpus: Vec<String> = run.cpus.iter().map(ToString::to_string).collect();
    let cpus = match cpus.as_slice() {
        [] => String::new(),
        [one] => format!(" on CPU {one}"),
        many => format!(" on CPUs {}", many.join(", ")),
    };
    let counted = counted(summary);
    let seconds = run.seconds.map(|seconds| format!(" in {:.0} s", seconds.0)).unwrap_or_default();
    let stopped = if run.interrupted { ", stopped early" } else { "" };
    format!("{passes}{cpus}{seconds}{stopped}{counted}; started {}, cpb {}", run.began, run.version)
}

/// The number of passes that counted for a cell, if some were discarded.
fn counted(summary: &Summary) -> String {
    let measured = summary.cells.iter().filter(|row| row.provider != catalog::NULL);
    let mut counted: Vec<usize> = measured
        .filter_map(|row| row.figures.measured().map(|figures| figures.processes))
        .collect();
    counted.sort_unstable();
    match (counted.first(), counted.last()) {
        (Some(least), Some(most)) if least < most => {
            let middle = counted[counted.len() / 2];
            format!("; {least} to {most} counted for a cell, {middle} for most")
        }
        _ => String::new(),
    }
}

fn evidence(summary: &Summary) -> String {
    let words = match summary.run.evidence {
        Evidence::Hardware => "measured on this machine",
        Evidence::Emulated => "emulated CPU: answers are valid, times are not",
        Evidence::Simulated => "computed by cpb's simulator",
        Evidence::Published => "printed in a published table, not measured by cpb",
        Evidence::Imported => "read from another tool's log",
    };
    match summary.run.machine.virtualisation.as_str() {
        "" => words.to_owned(),
        _ if summary.run.evidence == Evidence::Simulated => words.to_owned(),
        under => format!("{words}; it runs under {under}"),
    }
}

/// A clock is steady if its highest and lowest readings differ by less than this factor.
const STEADY: f64 = 1.005;

/// Whether the clock that timed the run counts cycles itself, so that no reference chain is needed.
pub(crate) fn counts_cycles(summary: &Summary) -> bool {
    summary.clock.is_none() && summary.floor.as_ref().is_some_and(|floor| floor.cycles.is_some())
}

fn clock(summary: &Summary) -> String {
    match &summary.clock {
        None if counts_cycles(summary) => "the core's own cycle counter".to_owned(),
        None => "unknown: no cycles".to_owned(),
        Some(clock) => {
            let (low, high) = (clock.range.low, clock.range.high);
            let range = format!("{} by the reference chain", hertz(clock.median));
            if high.0 / low.0 < STEADY {
                return range;
            }
            let (low, high) = (hertz(low), hertz(high));
            format!("{range}, from {low} to {high}: rates vary with it, cycles do not")
        }
    }
}

fn checks(summary: &Summary) -> String {
    check_words(&summary.checks)
}

fn check_words(checks: &Checks) -> String {
    let mut words = match checks.right {
        0 if checks.wrong.is_empty() => "no known answer was tried".to_owned(),
        0 => "no known answer right".to_owned(),
        right => format!("{} known answers right", thousands(right.into())),
    };
    if checks.distinct > 0 {
        let tried = thousands(checks.distinct.into());
        words.push_str(&format!(
            ", {tried} requests for random bytes answered in full and differently each time (they have no \
             known answer)"
        ));
    }
    if checks.round_trips > 0 {
        let came_back = thousands(checks.round_trips.into());
        words.push_str(&format!(", {came_back} round trips of random results"));
    }
    if checks.unsupported > 0 {
        words.push_str(&format!(", {} unsupported", thousands(checks.unsupported.into())));
    }
    let unanswered = checks.unanswered();
    for (count, what) in [(checks.wrong.len() - unanswered, "WRONG"), (unanswered, "UNANSWERED")] {
        if count > 0 {
            words.push_str(&format!(", {count} {what}"));
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_that_were_tried_are_never_said_not_to_have_been() {
        let words = |right, wrong: &[&str]| {
            let wrong = wrong.iter().map(|words| (*words).to_owned()).collect();
            check_words(&Checks { right, wrong, ..Checks::default() })
        };
        let wrong = "af_alg:x aes-128-cbc encrypt: SP 800-38A F.2.1 (message, apart): wrong answer";
        let slow = "af_alg:x sha-256 hash: FIPS 180: no answer in time: no answer for 10.0 s";
        let died = "af_alg:x sha-1 hash: FIPS 180: the runner died: it exited with status 1";
        assert_eq!(words(0, &[]), "no known answer was tried");
        assert_eq!(words(0, &[wrong]), "no known answer right, 1 WRONG");
        assert_eq!(words(0, &[slow]), "no known answer right, 1 UNANSWERED");
        assert_eq!(words(7, &[wrong, slow, died]), "7 known answers right, 1 WRONG, 2 UNANSWERED");
    }

    #[test]
    fn many_cells_go_together_by_who_lacks_them() {
        let cell = |provider, what: &str| (provider, what.to_owned());
        let few = [cell("a", "sha-256 hash"), cell("b", "sha-256 hash at 16 B")];
        assert_eq!(named(&few), "a sha-256 hash; b sha-256 hash at 16 B");

        let mut many = Vec::new();
        for what in ["x25519 key-agreement", "x25519 generate-key", "ed25519 sign"] {
            many.extend(["a", "b"].map(|provider| cell(provider, what)));
        }
        many.push(cell("a", "memcpy copy"));
        assert_eq!(
            named(&many),
            "a, b: x25519 key-agreement/generate-key, ed25519 sign; a: memcpy copy"
        );
    }
}
