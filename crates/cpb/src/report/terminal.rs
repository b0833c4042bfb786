//! The table an engineer acts on.

use super::blocks::{self, MARGINS, Rates, SHOWN};
use super::groups::{Comparisons, Group, groups};
use super::table::{Look, fits, paint, render as table, wrap};
use super::{by_size, execution, notes};
use crate::analysis::summary::Summary;
use anstyle::{AnsiColor, Style};

/// What to show.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Every size, every number of threads, and the latency of single operations.
    pub all: bool,
    /// One column a message size, one block a figure, whatever the plan says.
    pub by_size: bool,
}

/// The report for a terminal of `width` columns.
pub fn render(summary: &Summary, width: usize, colour: bool, options: &Options) -> String {
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
    let by_size = options.by_size || summary.run.by_size;
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
        write_notes(&mut text, summary, &groups, by_size, width, styles);
        return text;
    }
    let rates = Rates {
        comparisons: &comparisons,
        fastest: styles.fastest,
        cycles: summary.clock.is_some() || notes::counts_cycles(summary),
        gains: summary.comparisons.iter().any(|comparison| !comparison.gains.is_empty()),
        all: options.all,
    };
    let tried = MARGINS.map(|margins| rates.blocks(&shown, margins));
    // If none fits, it becomes a list, which has room for everything.
    let blocks = tried.iter().find(|blocks| fits(blocks, width)).unwrap_or(&tried[0]);
    let mut tables = vec![table(blocks, width, styles.look)];
    if most > fewest {
        tables.push(table(&blocks::threads(&groups), width, styles.look));
    }
    if options.all {
        let latencies: Vec<_> = shown.iter().filter_map(|group| blocks::latencies(group)).collect();
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
    if execution::wanted(summary) {
        let who = execution::blocks(&groups);
        if !who.is_empty() {
            text.push_str(&table(&who, width, styles.look));
            text.push('\n');
            write_faint(&mut text, execution::LEGEND, width, styles.look.faint);
            text.push('\n');
        }
    }
    write_notes(&mut text, summary, &groups, by_size, width, styles);
    text
}

fn write_notes(
    text: &mut String,
    summary: &Summary,
    groups: &[Group<'_>],
    by_size: bool,
    width: usize,
    styles: Styles,
) {
    for (word, words) in notes::missing(groups) {
        write_note(text, &word, &words, width);
    }
    if execution::wanted(summary) || summary.run.kernel.is_some() {
        for (word, words) in execution::notes(summary, groups, by_size) {
            let style = if word == "unproven" { styles.warning } else { Style::new() };
            write_styled_note(text, &word, &words, width, style);
        }
    }
    for (word, words) in notes::facts(summary) {
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
    /// Headings and what is faint.
    pub(crate) look: Look,
    /// The fastest figure, and what to do.
    pub(crate) fastest: Style,
    /// What spoils figures.
    pub(crate) warning: Style,
}

impl Styles {
    /// With colours, or none at all.
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
    for line in wrap(&notes::title(summary), width) {
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
    let has_key_pairs = |group: &&Group<'_>| group.workload().algorithm.has_key_pairs();
    let in_bytes = !shown.iter().all(has_key_pairs);
    let mut words = vec![match in_bytes {
        true => {
            "MB/s (1 MB = 1,000,000 bytes; 1 KiB = 1024 bytes) ± half of the 95% interval over passes"
        }
        false => "± half of the 95% interval over passes",
    }];
    words.push("* fastest, = fastest together");
    if shown.iter().any(has_key_pairs) {
        words.push("ops/s: operations per second; p99: 99 of 100 operations take no longer");
    }
    if rates.cycles && in_bytes {
        words.push("c/byte: core cycles per byte at the largest size");
    }
    if rates.gains {
        words.push(
            "gain: so many times as fast is the same library with the CPU's crypto instructions",
        );
    }
    let mut words = words.join("; ");
    let most = shown.iter().map(|group| group.sizes.len()).max().unwrap_or(0);
    if most > SHOWN && !rates.all {
        words.push_str(&format!("; {SHOWN} of {most} sizes shown: `cpb show --all` shows all"));
    }
    words.push('.');
    write_faint(text, &words, width, styles.look.faint);
}

/// A word at the left and wrapped text beside it.
pub(crate) fn write_note(text: &mut String, word: &str, words: &str, width: usize) {
    write_styled_note(text, word, words, width, Style::new());
}

/// The same in a style.
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
