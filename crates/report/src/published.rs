//! Published tables as they were printed: the same rows and columns, figure by figure.

use super::table::{left, length, right, wrap};
use super::{markdown, terminal};
use anyhow::Result;
use cpb_record::foreign;
use cpb_record::{Evidence, FlagKind, Printed, Published, Quantity, Record, Source};
use serde::Serialize;

/// Separates the parts of a row's heading, if one heading covers several rows.
const PARTS: &str = " / ";
const GAP: usize = 2;
const INDENT: usize = 2;

/// The first line of each form.
fn evidence(record: &Record) -> &'static str {
    match record.header.evidence {
        Evidence::Imported => "imported: read from another tool's log, not measured by cpb",
        _ => "published: printed in a document, not measured by cpb",
    }
}

/// A table as a grid.
pub(crate) struct Grid<'a> {
    /// Its source.
    pub(crate) source: &'a Source,
    /// The quantity of all figures, if several columns share it.
    unit: Option<Quantity>,
    /// Headings.
    pub(crate) columns: Vec<String>,
    /// For each row the heading, with the quantity if there are several, and a text for each column.
    pub(crate) rows: Vec<(String, Vec<String>)>,
    /// The flags of figures: number of the note, kind and text.
    pub(crate) notes: Vec<(FlagKind, &'a str)>,
}

impl<'a> Grid<'a> {
    fn of(source: &'a Source, cells: &[&'a Published]) -> Grid<'a> {
        let columns = distinct(cells.iter().map(|cell| cell.column.as_str()));
        let rows = distinct(cells.iter().map(|cell| cell.row.as_str()));
        let quantities: Vec<Quantity> =
            distinct(cells.iter().flat_map(|cell| &cell.figures).map(|figure| figure.quantity));
        let mut grid =
            Grid { source, unit: None, columns: Vec::new(), rows: Vec::new(), notes: Vec::new() };
        let by_quantity = columns == [""];
        if by_quantity {
            grid.columns = quantities.iter().map(|quantity| quantity.heading().into()).collect();
        } else {
            grid.columns = columns.iter().map(|column| (*column).to_owned()).collect();
            grid.unit = (quantities.len() == 1).then(|| quantities[0]);
        }
        for row in rows {
            let of_row: Vec<&&Published> = cells.iter().filter(|cell| cell.row == row).collect();
            if by_quantity {
                let cell = of_row.first();
                let places = quantities.iter().map(|quantity| {
                    cell.map_or_else(String::new, |cell| grid.place(cell, *quantity))
                });
                let places = places.collect();
                grid.rows.push((row.to_owned(), places));
                continue;
            }
            for quantity in &quantities {
                let places = columns.iter().map(|column| {
                    let cell = of_row.iter().find(|cell| cell.column == *column);
                    cell.map_or_else(String::new, |cell| grid.place(cell, *quantity))
                });
                let places = places.collect();
                let heading = match grid.unit {
                    Some(_) => row.to_owned(),
                    None => format!("{row}{PARTS}{}", quantity.heading()),
                };
                grid.rows.push((heading, places));
            }
        }
        grid
    }

    /// A figure as printed, with the number of its flag's note.
    fn place(&mut self, cell: &'a Published, quantity: Quantity) -> String {
        let figure = cell.figures.iter().find(|figure| figure.quantity == quantity);
        let Some(Printed { printed, flag, .. }) = figure else { return String::new() };
        let Some(flag) = flag else { return printed.clone() };
        let note = (flag.kind, flag.why.as_str());
        let place = self.notes.iter().position(|known| *known == note).unwrap_or_else(|| {
            self.notes.push(note);
            self.notes.len() - 1
        });
        format!("{printed}[{}]", place + 1)
    }

    /// The place in the document, and the unit if all figures share one.
    pub(crate) fn place_and_unit(&self) -> String {
        match self.unit {
            Some(unit) => format!("{}, {}", self.source.place, unit.heading()),
            None => self.source.place.clone(),
        }
    }
}

fn distinct<T: PartialEq>(all: impl Iterator<Item = T>) -> Vec<T> {
    let mut found = Vec::new();
    for one in all {
        if !found.contains(&one) {
            found.push(one);
        }
    }
    found
}

/// The tables of a record.
pub(crate) fn grids(record: &Record) -> Vec<Grid<'_>> {
    let of = |source: &'_ Source| {
        record.published.iter().filter(|cell| cell.table == source.table).collect::<Vec<_>>()
    };
    record.sources.iter().map(|source| Grid::of(source, &of(source))).collect()
}

/// The source of a table.
pub(crate) fn origin(source: &Source) -> String {
    let parts = [source.title.as_str(), &source.publisher, &source.date];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("; ")
}

/// A description of each path.
pub(crate) fn paths(source: &Source) -> Vec<String> {
    let words = source.paths.iter().map(|(name, path)| {
        let parts = [&path.version, &path.executor, &path.options];
        let parts: Vec<&str> =
            parts.into_iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
        match parts.join(", ") {
            parts if parts.is_empty() => name.clone(),
            parts => format!("{name}: {parts}"),
        }
    });
    words.collect()
}

/// Renders for a terminal of `width` columns.
pub fn render(record: &Record, width: usize) -> String {
    let mut text = String::new();
    for line in wrap(&format!("{}: {}", record.header.plan.name, evidence(record)), width) {
        text.push_str(&line);
        text.push('\n');
    }
    for grid in grids(record) {
        text.push('\n');
        let none = if grid.rows.is_empty() { " No figures." } else { "" };
        for line in wrap(&format!("{}.{none}", grid.place_and_unit()), width) {
            text.push_str(&line);
            text.push('\n');
        }
        if !grid.rows.is_empty() {
            write_grid(&mut text, &grid, width);
        }
        text.push('\n');
        terminal::write_note(&mut text, "source", &origin(grid.source), width);
        for words in paths(grid.source) {
            terminal::write_note(&mut text, "path", &words, width);
        }
        for note in &grid.source.notes {
            terminal::write_note(&mut text, "note", note, width);
        }
        for (place, (kind, why)) in grid.notes.iter().enumerate() {
            let words = format!("{}: {why}", kind.word());
            terminal::write_note(&mut text, &format!("[{}]", place + 1), &words, width);
        }
    }
    if !record.warnings.is_empty() {
        text.push('\n');
    }
    for warning in &record.warnings {
        terminal::write_note(&mut text, "warning", warning, width);
    }
    text
}

fn write_grid(text: &mut String, grid: &Grid<'_>, width: usize) {
    let split: Vec<(Option<&str>, &str)> = grid
        .rows
        .iter()
        .map(|(heading, _)| match heading.rsplit_once(PARTS) {
            Some((over, last)) => (Some(over), last),
            None => (None, heading.as_str()),
        })
        .collect();
    let label = split.iter().map(|(_, last)| INDENT + length(last)).max().unwrap_or(0);
    let room = width.saturating_sub(label).max(1);
    let widths: Vec<usize> = (0..grid.columns.len())
        .map(|column| {
            let words = grid.columns[column].split_whitespace().map(length).max().unwrap_or(0);
            let places = grid.rows.iter().map(|(_, places)| length(&places[column]));
            GAP + places.max().unwrap_or(0).max(words)
        })
        .collect();
    for columns in even(&widths, room) {
        text.push('\n');
        let headings: Vec<Vec<String>> =
            columns.clone().map(|place| wrap(&grid.columns[place], widths[place] - GAP)).collect();
        let lines = headings.iter().map(Vec::len).max().unwrap_or(0);
        for line in 0..lines {
            let mut words = " ".repeat(label);
            for (heading, place) in headings.iter().zip(columns.clone()) {
                // Headings are aligned at the bottom.
                let above = lines - heading.len();
                let word = line.checked_sub(above).map_or("", |line| heading[line].as_str());
                words += &right(word, widths[place]);
            }
            text.push_str(words.trim_end());
            text.push('\n');
        }
        let mut over = None;
        for ((above, last), (_, places)) in split.iter().zip(&grid.rows) {
            if over != *above {
                over = *above;
                for line in wrap(over.unwrap_or_default(), width) {
                    text.push_str(&line);
                    text.push('\n');
                }
            }
            let name = format!("{:INDENT$}{last}", "");
            let mut words = left(&name, label);
            for place in columns.clone() {
                words += &right(&places[place], widths[place]);
            }
            text.push_str(words.trim_end());
            text.push('\n');
        }
    }
}

/// Splits columns into as few groups as fit into `room`, as even as possible.
fn even(widths: &[usize], room: usize) -> Vec<std::ops::Range<usize>> {
    let fits = |groups: &Vec<std::ops::Range<usize>>| {
        groups.iter().all(|group| widths[group.clone()].iter().sum::<usize>() <= room)
    };
    let split = |count: usize| {
        let at = |group: usize| group * widths.len() / count;
        (0..count).map(|group| at(group)..at(group + 1)).collect::<Vec<_>>()
    };
    let all = widths.len().max(1);
    (1..=all).map(split).find(fits).unwrap_or_else(|| split(all))
}

/// Renders GitHub's Markdown.
pub fn render_markdown(record: &Record) -> String {
    let escape = markdown::escape;
    let mut text = format!("# {}: {}\n", escape(&record.header.plan.name), evidence(record));
    for grid in grids(record) {
        text.push_str(&format!("\n## {}\n\n", escape(&grid.place_and_unit())));
        let mut columns = vec![String::new()];
        columns.extend(grid.columns.iter().map(|column| escape(column)));
        markdown::line(&mut text, &columns);
        let rules = (0..columns.len()).map(|place| if place == 0 { "---" } else { "---:" });
        markdown::line(&mut text, &rules.map(str::to_owned).collect::<Vec<_>>());
        for (heading, places) in &grid.rows {
            let mut line = vec![escape(heading)];
            line.extend(places.iter().map(|place| escape(place)));
            markdown::line(&mut text, &line);
        }
        text.push_str(&format!("\n- source: {}\n", escape(&origin(grid.source))));
        for words in paths(grid.source) {
            text.push_str(&format!("- path: {}\n", escape(&words)));
        }
        for note in &grid.source.notes {
            text.push_str(&format!("- note: {}\n", escape(note)));
        }
        for (place, (kind, why)) in grid.notes.iter().enumerate() {
            text.push_str(&format!("- \\[{}]: {}: {}\n", place + 1, kind.word(), escape(why)));
        }
    }
    for (place, warning) in record.warnings.iter().enumerate() {
        let start = if place == 0 { "\n" } else { "" };
        text.push_str(&format!("{start}- warning: {}\n", escape(warning)));
    }
    text
}

/// The columns of [`figures`].
pub(crate) const COLUMNS: [&str; 15] = [
    "table",
    "row",
    "column",
    "machine",
    "core_hz",
    "provider",
    "algorithm",
    "operation",
    "phase",
    "message_bytes",
    "quantity",
    "printed",
    "flag",
    "flag_reason",
    "evidence",
];

/// One row per figure.
pub(crate) fn figures(record: &Record) -> impl Iterator<Item = [String; COLUMNS.len()]> + '_ {
    let number = |number: Option<u64>| number.map(|n| n.to_string()).unwrap_or_default();
    let cells = record.published.iter();
    cells.flat_map(|cell| cell.figures.iter().map(move |figure| (cell, figure))).map(
        move |(cell, figure)| {
            let flag = figure.flag.as_ref();
            [
                cell.table.clone(),
                cell.row.clone(),
                cell.column.clone(),
                cell.machine.clone(),
                number(cell.core_hz),
                cell.provider.clone(),
                cell.algorithm.clone(),
                cell.operation.clone().unwrap_or_default(),
                cell.phase.clone().unwrap_or_default(),
                number(cell.bytes.map(u64::from)),
                figure.quantity.heading().to_owned(),
                figure.printed.clone(),
                flag.map(|flag| flag.kind.word().to_owned()).unwrap_or_default(),
                flag.map(|flag| flag.why.clone()).unwrap_or_default(),
                format!("{:?}", record.header.evidence).to_lowercase(),
            ]
        },
    )
}

/// Comma-separated values, one line per figure.
///
/// # Errors
/// Never fails in practice; the result type is the writer's.
pub fn render_csv(record: &Record) -> Result<String> {
    let mut writer = ::csv::Writer::from_writer(Vec::new());
    writer.write_record(COLUMNS)?;
    for figure in figures(record) {
        writer.write_record(figure.map(foreign::field))?;
    }
    Ok(String::from_utf8(writer.into_inner()?)?)
}

/// Sources and cells as JSON.
///
/// # Errors
/// Returns an error if they contain something that JSON cannot represent.
pub fn render_json(record: &Record) -> Result<String> {
    #[derive(Serialize)]
    struct Tables<'a> {
        evidence: cpb_record::Evidence,
        name: &'a str,
        reason: &'a str,
        sources: &'a [Source],
        published: &'a [Published],
    }
    let plan = &record.header.plan;
    let tables = Tables {
        evidence: record.header.evidence,
        name: &plan.name,
        reason: &plan.reason,
        sources: &record.sources,
        published: &record.published,
    };
    Ok(serde_json::to_string_pretty(&tables)? + "\n")
}
