//! cpb's own tables of comma-separated values (`cpb report -o cells.csv`), for figures that were exported to a
//! spreadsheet: those of measured records, and those of published and imported ones.

use super::draft::{Done, Draft, Table, flagged, printed};
use super::text::Text;
use super::{Format, Options};
use anyhow::{Result, anyhow, bail};
use cpb_record::foreign;
use cpb_record::{FlagKind, Printed, Quantity};
use csv::StringRecord;
use std::collections::HashMap;

pub(super) const FORMAT: Format = Format {
    name: "cpb-csv",
    tool: "cpb",
    tells: |line| {
        let line = line.strip_prefix("record,").unwrap_or(line);
        line.starts_with("provider,algorithm,operation,phase,message_bytes,")
            || line.starts_with("table,row,column,machine,core_hz,provider,")
    },
    read,
    strict: true,
    one_line: false,
};

/// The highest number of tables; cpb writes one per record.
const MOST: usize = 1024;

/// A row, accessed by the names of its columns.
struct CsvRow<'a> {
    columns: &'a HashMap<String, usize>,
    fields: &'a StringRecord,
}

impl CsvRow<'_> {
    fn of(&self, name: &str) -> &str {
        let place = self.columns.get(name);
        let field = place.and_then(|place| self.fields.get(*place)).unwrap_or_default();
        foreign::unquoted(field)
    }
}

fn read(text: &Text, _: &Options) -> Result<Draft> {
    let mut reader = csv::Reader::from_reader(text.whole().as_bytes());
    let columns: HashMap<String, usize> = {
        let names = reader.headers().map_err(|error| anyhow!("line 1: {error}"))?;
        names.iter().enumerate().map(|(place, name)| (name.trim().to_owned(), place)).collect()
    };
    let measured = columns.contains_key("time_ns");
    if !measured && !columns.contains_key("quantity") {
        bail!(
            "line 1: the columns are not those of cpb report: neither time_ns nor quantity exists"
        );
    }
    let mut draft = Draft::default();
    for row in reader.records() {
        let row = row.map_err(|error| {
            let line = error.position().map_or(1, csv::Position::line);
            anyhow!("line {line}: the number of fields differs from the first line")
        })?;
        let line = row.position().map_or(0, |place| place.line() as u32);
        let row = CsvRow { columns: &columns, fields: &row };
        if measured {
            of_measured(&mut draft, &row, line)?
        } else {
            of_published(&mut draft, &row, line)?
        }
    }
    if draft.cells.is_empty() {
        bail!("line 1: no row has a figure");
    }
    Ok(draft)
}

/// Reads a table with one row per cell.
fn of_measured(draft: &mut Draft, row: &CsvRow<'_>, line: u32) -> Result<()> {
    let figures: Vec<Printed> = [
        ("time_ns", Quantity::NanosecondsPerOperation),
        ("rate_bytes_per_second", Quantity::BytesPerSecond),
        ("cycles_per_byte", Quantity::CyclesPerByte),
    ]
    .into_iter()
    .filter(|(column, _)| !row.of(column).is_empty())
    .map(|(column, quantity)| printed(quantity, row.of(column), line))
    .collect();
    if figures.is_empty() {
        return Ok(());
    }
    let table = table(row, "cells");
    let threads = match row.of("threads") {
        "" | "1" => String::new(),
        threads => format!(", {threads} threads"),
    };
    let rest: Vec<&str> = row.of("workload").split('/').skip(4).collect();
    let rest = rest.iter().map(|part| format!(", {part}")).collect::<String>();
    let done = Done {
        algorithm: row.of("algorithm").to_owned(),
        operation: format!("{}{rest}{threads}", row.of("operation")),
        phase: phase(row),
        bytes: row.of("message_bytes").parse().ok(),
    };
    let words = format!("{} {}{threads}", row.of("provider"), row.of("workload"));
    add(draft, &table, row, table.cell(&words, "", done, figures))
}

/// Reads a table with one row per figure.
fn of_published(draft: &mut Draft, row: &CsvRow<'_>, line: u32) -> Result<()> {
    let heading = row.of("quantity");
    let quantity = Quantity::ALL.into_iter().find(|quantity| quantity.heading() == heading);
    let quantity = quantity.ok_or_else(|| anyhow!("line {line}: unknown quantity '{heading}'"))?;
    let kind = FlagKind::ALL.into_iter().find(|kind| kind.word() == row.of("flag"));
    let figure = printed(quantity, row.of("printed"), line);
    let figure = match kind {
        Some(kind) => flagged(figure, kind, row.of("flag_reason")),
        None => figure,
    };
    let same = |cell: &cpb_record::Published| {
        (cell.table.as_str(), cell.row.as_str(), cell.column.as_str(), cell.provider.as_str())
            == (row.of("table"), row.of("row"), row.of("column"), row.of("provider"))
    };
    if draft.cells.last().is_some_and(same) {
        return draft.push_figure(figure);
    }
    let mut table = table(row, row.of("table"));
    table.core_hz = row.of("core_hz").parse().ok();
    let done = Done {
        algorithm: row.of("algorithm").to_owned(),
        operation: row.of("operation").to_owned(),
        phase: phase(row),
        bytes: row.of("message_bytes").parse().ok(),
    };
    let cell = table.cell(row.of("row"), row.of("column"), done, vec![figure]);
    add(draft, &table, row, cell)
}

fn table(row: &CsvRow<'_>, name: &str) -> Table {
    let record = row.of("record");
    Table {
        name: if record.is_empty() { name.to_owned() } else { format!("{record}/{name}") },
        provider: row.of("provider").to_owned(),
        machine: row.of("machine").to_owned(),
        core_hz: None,
    }
}

fn phase(row: &CsvRow<'_>) -> &'static str {
    row.of("phase").parse().map_or("", cpb_core::Phase::name)
}

fn add(
    draft: &mut Draft,
    table: &Table,
    row: &CsvRow<'_>,
    cell: cpb_record::Published,
) -> Result<()> {
    let full = draft.sources.len() == MOST;
    match draft.sources.iter_mut().find(|source| source.table == table.name) {
        Some(source) => {
            source.paths.entry(table.provider.clone()).or_default();
        }
        None if full => {
            bail!("more than {MOST} tables, which cpb never writes")
        }
        None => {
            let evidence = row.of("evidence");
            let note = format!("Evidence according to the table: {evidence}.");
            let source = table.source("cpb", "", "its rows".into(), &[&note]);
            draft.sources.push(source);
        }
    }
    draft.push(cell)
}
