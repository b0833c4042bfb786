//! Tables with every size in GitHub's Markdown, for documents and pull requests.

use super::format::{margin, megabytes, short, significant, time};
use super::groups::{Comparisons, Group, groups};
use super::latencies::latencies;
use super::rates::{far, operations};
use super::table::{Block, Place};
use super::{by_size, execution, footnotes, memory_read, published};
use cpb_analysis::summary::{Known, Row, Summary, summarise};
use cpb_record::Record;
use cpb_record::size::Size;

/// The legend of tables for cryptography.
const RATES: &str = "\nRates in MB/s (1 MB = 1,000,000 bytes; 1 KiB = 1024 bytes) with half of the 95% \
             interval over passes; **bold**: fastest, or a tie with it; ?: may be the fastest; gain: speed-up \
             from the CPU's crypto instructions, at the largest size.\n\n";

/// Renders the report as Markdown.
pub fn render(summary: &Summary) -> String {
    let groups = groups(summary);
    let comparisons = Comparisons::of(summary);
    let mut text = format!("# {}\n", escape(&footnotes::title(summary)));
    if summary.run.by_size {
        for group in &groups {
            text.push_str(&format!(
                "\n## {}, by message size in bytes\n\n",
                escape(&group.heading)
            ));
            write_by_size(&mut text, group, &by_size::blocks(summary, group, true));
        }
        text.push_str(&format!("\n{}\n\n", escape(by_size::LEGEND)));
    } else {
        let shown: Vec<&Group<'_>> = groups.iter().filter(|group| !group.meaningless()).collect();
        let (shown, reads) = memory_read::apart(&shown);
        for group in &shown {
            text.push_str(&format!("\n## {}\n\n", escape(&group.heading)));
            write_group(&mut text, group, &comparisons);
        }
        let queued = shown.iter().filter(|group| group.has_latency_in_flight());
        for block in queued.filter_map(|group| latencies(group)) {
            text.push_str(&format!("\n## {}\n\n", escape(&block.heading)));
            write_block(&mut text, &block, "provider");
        }
        for block in memory_read::blocks(&reads) {
            text.push_str(&format!("\n## {}\n\n", escape(&block.heading)));
            write_block(&mut text, &block, "load");
        }
        if !reads.is_empty() {
            text.push_str(&format!("\n{}\n\n", escape(memory_read::LEGEND)));
        }
        if !shown.is_empty() || reads.is_empty() {
            text.push_str(RATES);
        }
        if groups.iter().any(|group| group.has_key_pairs()) {
            text.push_str("For key pairs: ops/s: operations per second; ");
            text.push_str("p99: 99 of 100 operations take no longer.\n\n");
        }
        if execution::wanted(summary) {
            for block in execution::blocks(&groups) {
                text.push_str(&format!("## {}\n\n", escape(&block.heading)));
                write_block(&mut text, &block, "provider");
                text.push('\n');
            }
            text.push_str(&format!("{}\n\n", escape(execution::LEGEND)));
        }
    }
    for (word, words) in footnotes::missing(&groups) {
        text.push_str(&format!("- {word}: {}\n", escape(&words)));
    }
    if execution::wanted(summary) || summary.run.kernel.is_some() {
        for (word, words) in execution::notes(summary, &groups, summary.run.by_size) {
            text.push_str(&format!("- {word}: {}\n", escape(&words)));
        }
    }
    for (word, words) in footnotes::facts(summary, true) {
        text.push_str(&format!("- {word}: {}\n", escape(&words)));
    }
    text
}

/// Several records, one after the other.
pub fn of_records(records: &[(String, Record)]) -> String {
    let one = |(_, record): &(String, Record)| match record.published.as_slice() {
        [] => render(&summarise(record)),
        _ => published::render_markdown(record),
    };
    records.iter().map(one).collect::<Vec<_>>().join("\n")
}

fn write_group(text: &mut String, group: &Group<'_>, comparisons: &Comparisons<'_>) {
    let largest = *group.sizes.last().unwrap_or(&0);
    let in_operations = group.has_key_pairs();
    let mut columns = vec!["provider".to_owned()];
    if in_operations {
        columns.extend(["ops/s", "p99"].map(str::to_owned));
    }
    columns.extend(group.sizes.iter().map(|size| match size {
        0 => "time".to_owned(),
        size => Size::from(*size).to_string(),
    }));
    columns.push(if largest == 0 { "cycles" } else { "cycles/byte" }.to_owned());
    columns.push("gain".to_owned());
    head(text, &columns, 1);
    for provider in &group.providers {
        let mut places = vec![format!("`{provider}`")];
        let row = group.row(provider, largest);
        let figures = row.and_then(|row| row.figures.measured());
        if in_operations {
            let both = [operations, far].map(|place| row.map_or(Place::Blank, place));
            places.extend(both.iter().map(place_text));
        }
        places.extend(group.sizes.iter().map(|size| {
            group.row(provider, *size).map(|row| figure(row, comparisons)).unwrap_or_default()
        }));
        places.push(
            figures
                .and_then(|figures| match figures.cycles_per_byte {
                    Some(cycles) => Some(format!(
                        "{} {}",
                        significant(cycles.value.0, 4),
                        margin(cycles.precision())
                    )),
                    None => figures.cycles.map(|cycles| {
                        format!("{} {}", short(cycles.value.0), margin(cycles.precision()))
                    }),
                })
                .unwrap_or_default(),
        );
        let gain = row.and_then(|row| comparisons.gain(row));
        places.push(
            gain.map(|gain| format!("{}× {}", short(gain.value.0), margin(gain.precision())))
                .unwrap_or_default(),
        );
        line(text, &places);
    }
}

/// Blocks with the same columns as one table; the first columns identify the row.
fn write_by_size(text: &mut String, group: &Group<'_>, blocks: &[Block]) {
    let mut columns = vec![String::new(), String::new()];
    columns.extend(group.sizes.iter().map(ToString::to_string));
    head(text, &columns, 2);
    for block in blocks {
        for (place, (name, places)) in block.rows.iter().enumerate() {
            let heading = if place == 0 { escape(&block.heading) } else { String::new() };
            // A row without places is a statement about all sizes: a refusal.
            let name = if places.is_empty() { escape(name) } else { format!("`{name}`") };
            let mut texts = vec![heading, name];
            texts.extend(places.iter().map(place_text));
            texts.resize(columns.len(), String::new());
            line(text, &texts);
        }
    }
}

fn write_block(text: &mut String, block: &Block, corner: &str) {
    let mut columns = vec![corner.to_owned()];
    columns.extend(block.columns.iter().cloned());
    head(text, &columns, 1);
    for (name, places) in &block.rows {
        let mut texts = vec![format!("`{name}`")];
        texts.extend(places.iter().map(place_text));
        line(text, &texts);
    }
}

fn place_text(place: &Place) -> String {
    match place {
        Place::Blank => String::new(),
        Place::Figure { number, margin, .. } => format!("{number} {margin}").trim_end().to_owned(),
        Place::Word(word) => format!("*{word}*"),
        Place::Note(words) => escape(words),
    }
}

/// The names of the columns; columns after the first `left` are aligned to the right.
fn head(text: &mut String, columns: &[String], left: usize) {
    line(text, columns);
    let rule = |place| if place < left { "---" } else { "---:" }.to_owned();
    line(text, &(0..columns.len()).map(rule).collect::<Vec<_>>());
}

fn figure(row: &Row, comparisons: &Comparisons<'_>) -> String {
    let figures = match &row.figures {
        Known::Measured(figures) => figures,
        Known::Without(reason) => return format!("*{}*", reason.short()),
    };
    let (number, margin) = match &figures.rate {
        Some(rate) => (megabytes(rate.value), margin(rate.precision())),
        None => (time(figures.time.value), margin(figures.time.precision())),
    };
    let number = match comparisons.mark(row) {
        Some('?') => format!("?{number}"),
        Some(_) => format!("**{number}**"),
        None => number,
    };
    match &figures.scaling {
        Some(scaling) => format!("{number} {margin} ({}×)", short(scaling.value.0)),
        None => format!("{number} {margin}"),
    }
}

/// A line of a table.
pub(crate) fn line(text: &mut String, places: &[String]) {
    text.push_str(&format!("| {} |\n", places.join(" | ")));
}

/// Escapes text of a system, so that it is not interpreted as Markdown.
pub(crate) fn escape(words: &str) -> String {
    let mut text = String::new();
    for character in words.chars() {
        match character {
            '|' | '*' | '_' | '`' | '<' | '[' | '\\' => text.extend(['\\', character]),
            '\n' | '\r' => text.push(' '),
            other => text.push(other),
        }
    }
    text
}
