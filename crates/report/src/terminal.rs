//! The table for a terminal.

use super::groups::{Comparisons, Group, groups};
use super::latencies::latencies;
use super::rates::{MARGINS, Rates, SHOWN};
use super::table::{Look, fits, length, paint, render as table, render_apart as table_apart, wrap};
use super::threads::threads;
use super::{by_size, execution, footnotes, memory_read, one_pass, queue_gain, verdict};
use anstyle::{AnsiColor, Style};
use cpb_analysis::explain::Explanation;
use cpb_analysis::summary::Summary;
use cpb_record::ProviderRecord;
use std::collections::HashMap;

/// The content of the report.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Every provider, size and number of threads, the latency of single operations, and all details of the run.
    pub all: bool,
    /// One column per message size and one block per figure, whatever the plan says.
    pub by_size: bool,
    /// The verdict below the figures, where it stays visible on a terminal.
    pub verdict_last: bool,
}

/// Without `all`, the report of a plan like the default one is no longer than this.
const SCREEN: usize = 50;

/// Each group shows at least this many providers, however many groups there are.
const LEAST_ROWS: usize = 2;

/// Renders the report for a terminal of `width` columns.
pub fn render(
    summary: &Summary,
    explanation: &Explanation,
    width: usize,
    colour: bool,
    options: &Options,
) -> String {
    let groups = groups(summary);
    let comparisons = Comparisons::of(summary);
    let (fewest, most) = (
        groups.iter().map(|group| group.threads).min().unwrap_or(1),
        groups.iter().map(|group| group.threads).max().unwrap_or(1),
    );
    let shown: Vec<&Group<'_>> = groups
        .iter()
        .filter(|group| (options.all || group.threads == fewest) && !group.meaningless())
        .collect();

    let styles = Styles::new(colour);
    let mut text = String::new();
    write_title(&mut text, summary, width, styles);
    let mut verdict = String::new();
    write_verdict(&mut verdict, explanation, width, styles);
    if !options.verdict_last && !verdict.is_empty() {
        text.push_str(&verdict);
        text.push('\n');
    }
    write_one_pass(&mut text, explanation, width);
    write_queues(&mut text, explanation, width, styles);
    let by_size = options.by_size || summary.run.by_size;
    let mut facts = String::new();
    write_notes(&mut facts, summary, &groups, by_size, width, styles, options.all);
    if by_size {
        for group in &groups {
            let heading = format!("{}, by message size in bytes", group.heading);
            write_faint(&mut text, &heading, width, styles.look.heading);
            text.push('\n');
            text.push_str(&table(
                &by_size::blocks(summary, group, options.all),
                width,
                styles.look,
            ));
            text.push('\n');
        }
        if !groups.is_empty() {
            write_faint(&mut text, by_size::LEGEND, width, styles.look.faint);
            text.push('\n');
        }
    } else {
        let (shown, reads) = memory_read::apart(&shown);
        let labels = labels(summary);
        let taken =
            [&text, &verdict, &facts].map(|part| part.lines().count()).iter().sum::<usize>();
        let rates = Rates {
            comparisons: &comparisons,
            fastest: styles.fastest,
            cycles: summary.clock.is_some() || footnotes::counts_cycles(summary),
            gains: summary.comparisons.iter().any(|comparison| !comparison.gains.is_empty()),
            all: options.all,
            best: best(&shown, taken + LEGEND),
            labels: &labels,
        };
        let tried = MARGINS.map(|margins| rates.blocks(&shown, margins));
        // If nothing fits, the table becomes a list, which has room for everything.
        let blocks = tried.iter().find(|blocks| fits(blocks, width)).unwrap_or(&tried[0]);
        let between = if options.all { "\n" } else { "" };
        let mut tables = vec![table_apart(blocks, width, styles.look, between)];
        if most > fewest {
            tables.push(table(&threads(&groups), width, styles.look));
        }
        if options.all {
            let latencies: Vec<_> = shown.iter().filter_map(|group| latencies(group)).collect();
            tables.push(table(&latencies, width, styles.look));
        }
        for table in tables.iter().filter(|table| !table.is_empty()) {
            text.push_str(table);
            text.push('\n');
        }
        if !shown.is_empty() {
            write_legend(&mut text, &shown, width, &rates, styles);
            text.push('\n');
        }
        if !reads.is_empty() {
            text.push_str(&table(&memory_read::blocks(&reads), width, styles.look));
            text.push('\n');
            write_faint(&mut text, memory_read::LEGEND, width, styles.look.faint);
            text.push('\n');
        }
        if execution::wanted(summary) {
            let who = execution::blocks(&groups);
            if !who.is_empty() {
                text.push_str(&table(&who, width, styles.look));
                text.push('\n');
                write_faint(&mut text, execution::LEGEND, width, styles.look.faint);
                text.push('\n');
            }
        }
    }
    text.push_str(&facts);
    if options.verdict_last && !verdict.is_empty() {
        text.push('\n');
        text.push_str(&verdict);
    }
    text
}

/// The number of lines of the legend and the empty lines around it.
const LEGEND: usize = 6;

/// The number of providers per group that fit if everything else takes `taken` lines.
fn best(groups: &[&Group<'_>], taken: usize) -> usize {
    let lines = |rows: usize| -> usize {
        groups.iter().map(|group| 1 + group.ranked().len().min(rows)).sum()
    };
    let most = groups.iter().map(|group| group.ranked().len()).max().unwrap_or(0);
    let fit = (LEAST_ROWS..=most).rev().find(|rows| taken + lines(*rows) <= SCREEN);
    fit.unwrap_or(LEAST_ROWS)
}

/// The names of providers; two versions of one library are shown with their versions.
fn labels(summary: &Summary) -> HashMap<String, String> {
    let library = |name: &str| {
        let name = name.split(':').next().unwrap_or(name);
        name.strip_suffix("-system").unwrap_or(name).to_owned()
    };
    let version = |name: &str| match summary.run.providers.get(name)? {
        ProviderRecord::Available { version, .. } => version
            .split_whitespace()
            .find(|word| word.starts_with(|c: char| c.is_ascii_digit()))
            .map(str::to_owned),
        ProviderRecord::Unavailable { .. } => None,
    };
    let names: Vec<&String> = summary
        .run
        .providers
        .iter()
        .filter(|(_, record)| matches!(record, ProviderRecord::Available { .. }))
        .map(|(name, _)| name)
        .collect();
    let is_twice = |name: &str| {
        let installed = |name: &str| name.split(':').next().is_some_and(|n| n.ends_with("-system"));
        names.iter().any(|o| library(o) == library(name) && installed(o) != installed(name))
    };
    let label = |name: &&String| Some(((**name).clone(), format!("{name} {}", version(name)?)));
    names.iter().filter(|name| is_twice(name)).filter_map(label).collect()
}

/// The verdict of each task, under a heading.
pub(crate) fn write_verdict(
    text: &mut String,
    explanation: &Explanation,
    width: usize,
    styles: Styles,
) {
    let lines = verdict::lines(explanation);
    let column = lines.iter().map(|(what, _)| length(what)).max().unwrap_or(0) + 2;
    if lines.is_empty() {
        return;
    }
    write_faint(text, "verdict: which path to take", width, styles.look.heading);
    for (what, words) in lines {
        let beside = width.saturating_sub(column + 2) >= BESIDE;
        let (indent, room) = match beside {
            true => (column + 2, width - column - 2),
            false => (4, width.saturating_sub(4).max(20)),
        };
        if !beside {
            text.push_str(&format!("  {what}\n"));
        }
        for (place, line) in wrap(&words, room).iter().enumerate() {
            let first = if place == 0 && beside { format!("  {what}") } else { String::new() };
            text.push_str(&format!("{first:<indent$}"));
            paint(text, styles.fastest, line);
            text.push('\n');
        }
    }
}

/// The least width of a verdict beside its operation.
const BESIDE: usize = 40;

fn write_notes(
    text: &mut String,
    summary: &Summary,
    groups: &[Group<'_>],
    by_size: bool,
    width: usize,
    styles: Styles,
    all: bool,
) {
    for (word, words) in footnotes::missing(groups) {
        write_note(text, &word, &words, width);
    }
    if execution::wanted(summary) || summary.run.kernel.is_some() {
        for (word, words) in execution::notes(summary, groups, by_size) {
            let style = if word == "unproven" { styles.warning } else { Style::new() };
            write_styled_note(text, &word, &words, width, style);
        }
    }
    for (word, words) in footnotes::facts(summary, all) {
        let style = match word {
            "warning" | "wrong" => styles.warning,
            _ => Style::new(),
        };
        write_styled_note(text, word, &words, width, style);
    }
}

fn write_faint(text: &mut String, words: &str, width: usize, style: Style) {
    for line in wrap(words, width) {
        paint(text, style, &line);
        text.push('\n');
    }
}

#[derive(Clone, Copy)]
pub(crate) struct Styles {
    /// Headings and secondary text.
    pub(crate) look: Look,
    /// The fastest figure, and recommendations.
    pub(crate) fastest: Style,
    /// Warnings about what spoils figures.
    pub(crate) warning: Style,
}

impl Styles {
    /// The styles with or without colours.
    pub(crate) fn new(colour: bool) -> Styles {
        let plain = Style::new();
        if !colour {
            return Styles {
                look: Look { heading: plain, faint: plain },
                fastest: plain,
                warning: plain,
            };
        }
        Styles {
            look: Look { heading: plain.bold(), faint: plain.dimmed() },
            fastest: plain.bold().fg_color(Some(AnsiColor::Green.into())),
            warning: plain.fg_color(Some(AnsiColor::Yellow.into())),
        }
    }
}

fn write_title(text: &mut String, summary: &Summary, width: usize, styles: Styles) {
    for line in wrap(&footnotes::title(summary), width) {
        paint(text, styles.look.heading, &line);
        text.push('\n');
    }
    text.push('\n');
}

fn write_legend(
    text: &mut String,
    shown: &[&Group<'_>],
    width: usize,
    rates: &Rates<'_>,
    styles: Styles,
) {
    let has_key_pairs = |group: &&Group<'_>| group.has_key_pairs();
    let in_bytes = !shown.iter().all(has_key_pairs);
    let marked = |mark| {
        let mut rows = shown.iter().flat_map(|group| group.rows());
        rows.any(|row| rates.comparisons.mark(row) == Some(mark))
    };
    let mut words = vec![match in_bytes {
        true => "MB/s (decimal) ± half of the 95% interval; * fastest",
        false => "± half of the 95% interval; * fastest",
    }];
    if marked('=') {
        words.push("= a tie with it (within 3%)");
    }
    if marked('?') {
        words.push("? may be the fastest");
    }
    if shown.iter().any(has_key_pairs) {
        words.push("ops/s: operations per second; p99: 99 of 100 operations take no longer");
    }
    if rates.cycles && in_bytes {
        words.push("c/byte: core cycles per byte at the largest size");
    }
    if rates.gains && rates.all {
        words.push("gain: speed-up from the CPU's crypto instructions");
    } else if rates.gains {
        words.push("gain: speed-up from crypto instructions");
    }
    let mut words = words.join("; ");
    let most = shown.iter().map(|group| group.sizes.len()).max().unwrap_or(0);
    let rows = shown.iter().map(|group| group.providers.len()).max().unwrap_or(0);
    let listed = shown.iter().map(|group| group.ranked().len().min(rates.best)).max().unwrap_or(0);
    if !rates.all && (most > SHOWN || rows > listed) {
        let mut parts = Vec::new();
        if rows > listed {
            parts.push(format!("{listed} of {rows} providers"));
        }
        if most > SHOWN {
            parts.push(format!("{SHOWN} of {most} sizes"));
        }
        words.push_str(&format!("; {} shown: `cpb show --all` shows all", parts.join(", ")));
    }
    words.push('.');
    write_faint(text, &words, width, styles.look.faint);
}

/// A label on the left with wrapped text beside it.
pub(crate) fn write_note(text: &mut String, word: &str, words: &str, width: usize) {
    write_styled_note(text, word, words, width, Style::new());
}

/// What one pass of encryption and MAC gains, then an empty line. Nothing if it was not measured.
pub(crate) fn write_one_pass(text: &mut String, explanation: &Explanation, width: usize) {
    let sentences: Vec<String> =
        explanation.one_pass.iter().filter_map(one_pass::sentence).collect();
    for words in &sentences {
        write_note(text, "one pass", words, width);
    }
    if !sentences.is_empty() {
        text.push('\n');
    }
}

/// What messages in flight gain: the verdict on each queue, then its figures, then an empty line. Nothing if nothing was
/// measured with more than one in flight.
pub(crate) fn write_queues(
    text: &mut String,
    explanation: &Explanation,
    width: usize,
    styles: Styles,
) {
    let verdicts: Vec<String> =
        explanation.queues.iter().filter_map(queue_gain::sentence).collect();
    for words in &verdicts {
        write_styled_note(text, "queue", words, width, styles.fastest);
    }
    let blocks: Vec<_> = explanation.queues.iter().flat_map(queue_gain::blocks).collect();
    if blocks.is_empty() {
        return;
    }
    if !verdicts.is_empty() {
        text.push('\n');
    }
    text.push_str(&table(&blocks, width, styles.look));
    text.push('\n');
    write_faint(text, queue_gain::LEGEND, width, styles.look.faint);
    text.push('\n');
}

/// The same with a style.
pub(crate) fn write_styled_note(
    text: &mut String,
    word: &str,
    words: &str,
    width: usize,
    style: Style,
) {
    const COLUMN: usize = 13;
    let room = width.saturating_sub(COLUMN).max(20);
    for (place, line) in wrap(words, room).iter().enumerate() {
        let word = if place == 0 { word } else { "" };
        paint(text, style, &format!("{word:<COLUMN$}{line}"));
        text.push('\n');
    }
}
