//! Identified cores, for a terminal and for documents.

use super::format::short;
use super::table::{left, length, paint, right, wrap};
use super::terminal::{Styles, write_note, write_styled_note};
use crate::ascii;
use cpb_analysis::identify::{Candidate, Identified, Implied, Misfit, Name};
use cpb_analysis::units::Hertz;
use serde::Serialize;
use std::fmt::Write;

/// The cores of one log, record or machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Found {
    /// The file; empty for this machine.
    pub file: String,
    /// The machine, as far as known.
    pub machine: String,
    /// The software that computed.
    pub tool: String,
    /// Its cores.
    pub cores: Vec<Identified>,
}

const COLUMNS: [&str; 7] =
    ["cores", "reported", "identified", "sure", "stated", "measured", "implied"];
/// The index of the first column with numbers.
const NUMBERS: usize = 3;
const GAP: usize = 2;
/// Longer names are cut, but only in a table.
const MOST_NAME: usize = 18;
const LEAST_PLACE: usize = 12;
const LEAST_WORD: usize = 10;
/// Clocks that are closer than this count as the same.
const SAME_CLOCK: f64 = 0.015;
const MOST_CANDIDATES: usize = 3;
/// For a log without suitable figures.
const NOTHING: &str = "there are no figures for AES-CBC encryption of a stream";

/// Renders for a terminal of `width` columns.
pub fn render(found: &[Found], width: usize, colour: bool) -> String {
    let styles = Styles::new(colour);
    let mut text = String::new();
    for found in found {
        if !text.is_empty() {
            text.push('\n');
        }
        for line in wrap(&heading(found), width) {
            paint(&mut text, styles.look.heading, &line);
            text.push('\n');
        }
        if found.cores.is_empty() {
            write_note(&mut text, "nothing", NOTHING, width);
            continue;
        }
        let cores = merged(&found.cores);
        table(&mut text, &cores, width, styles);
        if cores.iter().all(consistent) {
            let words = "reported, measured and implied values agree within 3%";
            write_note(&mut text, "verdict", words, width);
        }
        for (cores, words, wrong) in verdicts(&cores) {
            let style = if wrong { styles.warning } else { anstyle::Style::new() };
            let word = if wrong { "verdict" } else { "note" };
            write_styled_note(&mut text, word, &format!("{cores}: {words}"), width, style);
        }
        for core in found.cores.iter().filter(|core| !core.context.is_empty()) {
            let words = format!("{}: {}", core.place, core.context.words());
            write_note(&mut text, "context", &words, width);
        }
    }
    let notes = legend(found);
    if !notes.is_empty() {
        text.push('\n');
    }
    for words in notes {
        write_note(&mut text, "note", &words, width);
    }
    text
}

/// The same as one table in Markdown: a row for each type of core and clock.
pub fn render_markdown(found: &[Found]) -> String {
    let mut text = String::from(
        "| log | cores | reported | identified | sure | MHz stated | measured | implied | verdict |\n\
         |---|---|---|---|---:|---:|---:|---:|---|\n",
    );
    for found in found {
        let merged = merged(&found.cores);
        if merged.is_empty() {
            let file = found.file.replace('|', "\\|");
            let _ = writeln!(text, "| {file} | - | - | - | - | - | - | - | {NOTHING} |");
        }
        for (cores, row) in merged.iter().zip(rows(&merged)) {
            let said = verdicts(std::slice::from_ref(cores)).into_iter();
            let said: Vec<String> = said.map(|(_, words, _)| words).collect();
            let said = match consistent(cores) {
                true => std::iter::once("agrees".to_owned()).chain(said).collect(),
                false => said,
            };
            let said = said.join("; ");
            let cells = std::iter::once(found.file.clone()).chain(row).chain([said]);
            let cells: Vec<String> = cells.map(|cell| cell.replace('|', "\\|")).collect();
            let _ = writeln!(text, "| {} |", cells.join(" | "));
        }
    }
    text
}

fn heading(found: &Found) -> String {
    let words = [&found.file, &found.machine, &found.tool];
    let words: Vec<&str> =
        words.into_iter().map(|word| word.trim()).filter(|word| !word.is_empty()).collect();
    words.join("; ")
}

/// Joins cores with the same results at nearly the same clocks.
fn merged(cores: &[Identified]) -> Vec<Identified> {
    let mut merged: Vec<Identified> = Vec::new();
    for core in cores {
        match merged.iter_mut().find(|known| alike(known, core)) {
            Some(known) => known.place = joined(&known.place, &core.place),
            None => merged.push(core.clone()),
        }
    }
    merged
}

fn alike(a: &Identified, b: &Identified) -> bool {
    let near = |a: Option<Hertz>, b: Option<Hertz>| match (a, b) {
        (Some(a), Some(b)) => (a / b - 1.0).abs() < SAME_CLOCK,
        (a, b) => a.is_none() && b.is_none(),
    };
    let named = |core: &Identified| matches!(core.implied, Implied::Named(_));
    let numbered = |core: &Identified| core.place.starts_with("cpu");
    [a, b].into_iter().all(|core| named(core) && numbered(core))
        && (&a.reported, said(&a.implied)) == (&b.reported, said(&b.implied))
        && a.verdicts == b.verdicts
        && near(a.stated_clock, b.stated_clock)
        && near(a.measured_clock, b.measured_clock)
}

/// Joins `cpu0-cpu3` and `cpu4` to `cpu0-cpu4`.
fn joined(a: &str, b: &str) -> String {
    let number = |word: &str| word.strip_prefix("cpu")?.parse::<u32>().ok();
    let (start, end) = a.rsplit_once('-').unwrap_or((a, a));
    let (next, last) = b.rsplit_once('-').unwrap_or((b, b));
    match (number(end), number(next)) {
        (Some(end), Some(next)) if end + 1 == next && !a.contains(',') => format!("{start}-{last}"),
        _ => format!("{a}, {b}"),
    }
}

fn rows(cores: &[Identified]) -> Vec<[String; 7]> {
    let mhz = |clock: Option<Hertz>| {
        clock.map_or("-".to_owned(), |clock| format!("{:.0}", clock.0 / 1e6))
    };
    let told = |word: &str| if word.is_empty() { "-".to_owned() } else { word.to_owned() };
    let row = |core: &Identified| {
        let sure = match &core.implied {
            Implied::Named(name) => format!("{:.0}%", name.confidence * 100.0),
            _ => "-".to_owned(),
        };
        [
            told(&core.place),
            told(&core.reported),
            said(&core.implied),
            sure,
            mhz(core.stated_clock),
            mhz(core.measured_clock),
            mhz(core.implied_clock.map(|(low, high)| Hertz((low.0 * high.0).sqrt()))),
        ]
    };
    cores.iter().map(row).collect()
}

/// The name, or why the core is not named.
fn said(implied: &Implied) -> String {
    match implied {
        Implied::Named(Name { core: Some(core), .. }) => core.clone(),
        Implied::Named(name) => name.family.clone(),
        Implied::Unknown { .. } => "unknown".to_owned(),
        Implied::NotApplicable { .. } => "not applicable".to_owned(),
        Implied::Accelerator { .. } => "accelerator?".to_owned(),
    }
}

fn table(text: &mut String, cores: &[Identified], width: usize, styles: Styles) {
    let mut rows = rows(cores);
    for row in &mut rows {
        row[0] = cut(&row[0], MOST_NAME);
        row[1] = cut(without_revision(&row[1]), MOST_NAME);
    }
    let mut widths = COLUMNS.map(length);
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(length(cell));
        }
    }
    // If there is not enough room, names are shortened.
    for (column, least) in [(0, LEAST_PLACE), (1, LEAST_WORD), (2, LEAST_WORD)] {
        let whole = widths.iter().sum::<usize>() + GAP * (widths.len() - 1);
        let less = whole.saturating_sub(width);
        widths[column] = widths[column].saturating_sub(less).max(widths[column].min(least));
    }
    let line = |cells: [&str; 7]| {
        let mut line = String::new();
        for (column, (cell, width)) in cells.into_iter().zip(widths).enumerate() {
            let (cell, gap) = (cut(cell, width), if column == 0 { 0 } else { GAP });
            line += &" ".repeat(gap);
            line += &if column >= NUMBERS { right(&cell, width) } else { left(&cell, width) };
        }
        line.trim_end().to_owned()
    };
    paint(text, styles.look.faint, &line(COLUMNS));
    text.push('\n');
    for row in &rows {
        text.push_str(&line(row.each_ref().map(String::as_str)));
        text.push('\n');
    }
}

/// `Cortex-A55` for `Cortex-A55 r2p0`.
fn without_revision(core: &str) -> &str {
    match core.rsplit_once(" r") {
        Some((name, revision)) if revision.starts_with(|c: char| c.is_ascii_digit()) => name,
        _ => core,
    }
}

/// Cuts a word to at most `most` columns.
fn cut(word: &str, most: usize) -> String {
    const MORE: &str = "…";
    let word = ascii::shown(word);
    match length(&word) > most {
        true => word.chars().take(most.saturating_sub(length(MORE))).collect::<String>() + MORE,
        false => word.into_owned(),
    }
}

/// Whether the core was named, something was there to compare the name with, and both agree.
fn consistent(core: &Identified) -> bool {
    let doubtful =
        |verdict: &Misfit| verdict.is_wrong() || matches!(verdict, Misfit::NotInData { .. });
    let compared = !core.reported.is_empty() || core.stated_clock.or(core.measured_clock).is_some();
    matches!(core.implied, Implied::Named(_)) && compared && !core.verdicts.iter().any(doubtful)
}

/// The remarks, the cores that they concern, and whether something is wrong. The same text appears once.
fn verdicts(cores: &[Identified]) -> Vec<(String, String, bool)> {
    let mut said: Vec<(String, String, bool)> = Vec::new();
    for core in cores {
        let reason = match &core.implied {
            Implied::Named(_) => None,
            // A verdict says the same and has the figures.
            Implied::Unknown { .. } if core.verdicts.iter().any(Misfit::spoils_names) => None,
            Implied::Unknown { why, candidates } => Some((unknown(why, candidates), false)),
            Implied::NotApplicable { why } => Some((why.clone(), false)),
            Implied::Accelerator { why } => Some((format!("accelerator suspected: {why}"), true)),
        };
        let verdicts = core.verdicts.iter().map(|verdict| (words(verdict), verdict.is_wrong()));
        for (words, wrong) in reason.into_iter().chain(verdicts) {
            match said.iter_mut().find(|known| known.1 == words) {
                Some(known) => known.0 = format!("{}, {}", known.0, core.place),
                None => said.push((core.place.clone(), words, wrong)),
            }
        }
    }
    said
}

fn unknown(why: &str, candidates: &[Candidate]) -> String {
    let one = |candidate: &Candidate| {
        format!(
            "{} at {:.0} MHz ({:.0}%)",
            candidate.family,
            candidate.implied_clock.0 / 1e6,
            candidate.probability * 100.0
        )
    };
    match candidates {
        [] => format!("unknown: {why}"),
        some => {
            let some: Vec<String> = some.iter().take(MOST_CANDIDATES).map(one).collect();
            format!("unknown: {why}; best candidates: {}", some.join(" or "))
        }
    }
}

/// A verdict in words.
fn words(verdict: &Misfit) -> String {
    let mhz = |clock: &Hertz| format!("{:.0} MHz", clock.0 / 1e6);
    let off = |one: &Hertz, other: &Hertz| format!("{:+.0}%", (*one / *other - 1.0) * 100.0);
    match verdict {
        Misfit::AboveBound { bits, score, bound } => format!(
            "wrong clock, wrong core or an accelerator: AES-{bits} at {:.0} kB/s per MHz, but two \
             cycles per round allow only {:.0}",
            score.0, bound.0
        ),
        Misfit::KeyOrder { bits, longer } => format!(
            "AES-{bits} is slower than AES-{longer}, which has more rounds: the rows come from several \
             cores or clocks"
        ),
        Misfit::StatedClock { stated, actual, measured } => format!(
            "the stated clock is wrong: {} stated, {} {} ({})",
            mhz(stated),
            mhz(actual),
            if *measured { "measured" } else { "implied by the figures" },
            off(stated, actual)
        ),
        Misfit::MeasuredClock { measured, implied } => format!(
            "the figures do not fit the measured clock: {} measured, {} implied ({})",
            mhz(measured),
            mhz(implied),
            off(measured, implied)
        ),
        Misfit::RanSlower { measured, implied, reported } => {
            let core = match reported {
                Some(reported) => format!("if it is a {reported} as reported, it"),
                None => "the core".to_owned(),
            };
            let (slow, fast) = (mhz(implied), mhz(measured));
            format!(
                "{core} ran slower than its measured clock: {slow} implied, {fast} measured ({})",
                off(implied, measured)
            )
        }
        Misfit::NotInData { reported } => {
            format!("cpb has no data for {reported}, so the figures cannot confirm that name")
        }
        Misfit::ClockMoved { low, high } => {
            format!("the clock changed: {} and {} measured", mhz(low), mhz(high))
        }
        Misfit::AnotherCore { reported, family } => {
            format!("reported as {reported} ({family}), but the figures do not fit that core")
        }
        Misfit::ReportedNeeds { reported, clock } => {
            format!("as the reported {reported} it would run at {}", mhz(clock))
        }
        Misfit::ExtensionNotUsed => {
            "the CPU features list AES instructions, but the software did not use them".to_owned()
        }
        Misfit::ExtensionNotListed => {
            "the figures show AES instructions, but the CPU features do not list them".to_owned()
        }
        Misfit::Extension { listed, gain, agree } => {
            let listed = if *listed { "listed" } else { "not listed" };
            let gain =
                format!("AES instructions are {listed}, and AES-256 gains {}×", short(*gain));
            match agree {
                Some(true) => format!("{gain} with them"),
                Some(false) => format!("{gain}: a contradiction"),
                None => format!("{gain}: too little with AES instructions, too much without"),
            }
        }
        Misfit::RunsApart { share } => {
            format!(
                "runs with the same key differ by {:.0}%; the fastest one is used",
                share * 100.0
            )
        }
        Misfit::NotPinned { elsewhere } => {
            format!("not pinned: the figures may come from {}", elsewhere.join(" or "))
        }
    }
}

/// The members of the families that were named.
fn legend(found: &[Found]) -> Vec<String> {
    let mut legend: Vec<String> = Vec::new();
    for core in found.iter().flat_map(|found| &found.cores) {
        if let Implied::Named(name) = &core.implied
            && name.core.is_none()
        {
            let words = format!("{}: {}", name.family, name.about);
            if !legend.contains(&words) {
                legend.push(words);
            }
        }
    }
    legend
}
