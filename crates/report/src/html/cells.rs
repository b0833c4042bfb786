//! Every figure of every cell. The page's script sorts and filters the table and exports it as CSV.

use super::Measured;
use super::tables::scrolled_as;
use crate::groups::{Comparisons, in_words};
use crate::{format, published};
use cpb_analysis::execution::{CpuUse, Execution};
use cpb_analysis::latency::Latency;
use cpb_analysis::summary::{Figures, Known, Row};
use cpb_core::Claim;
use cpb_record::Record;
use maud::{Markup, html};

/// A table with more rows gets a fixed height: its content is laid out only when it is about to become
/// visible, and the height of the page does not change.
const MANY: usize = 60;

/// A cell, and what it is compared with.
struct Cell<'a> {
    run: &'a str,
    row: &'a Row,
    comparisons: &'a Comparisons<'a>,
}

type Text = fn(&Cell<'_>) -> String;
type Number = fn(&Cell<'_>) -> Option<f64>;

/// The content of a column. The heading contains the unit of numbers.
enum Column {
    Text(&'static str, Text),
    Number(&'static str, Number),
}
use Column::{Number as N, Text as T};

const COLUMNS: &[Column] = &[
    T("path", |cell| cell.row.provider.clone()),
    T("record", |cell| cell.run.to_owned()),
    T("algorithm", |cell| format::algorithm(&cell.row.workload)),
    T("operation", |cell| format::operation(&cell.row.workload)),
    T("variant", variant),
    N("size (B)", |cell| Some(cell.row.workload.size().into())),
    N("threads", |cell| Some(cell.row.threads.into())),
    T("fastest", |cell| match cell.comparisons.mark(cell.row) {
        Some('=') => "tie".to_owned(),
        Some(_) => "yes".to_owned(),
        None => String::new(),
    }),
    N("MB/s", |cell| Some(figures(cell)?.rate?.value.0 / 1e6)),
    N("time (ns)", |cell| Some(figures(cell)?.time.value.0)),
    N("± (%)", |cell| Some(figures(cell)?.time.precision()? * 100.0)),
    N("cycles", |cell| Some(figures(cell)?.cycles?.value.0)),
    N("cycles ± (%)", |cell| Some(figures(cell)?.cycles?.precision()? * 100.0)),
    N("cycles/byte", |cell| Some(figures(cell)?.cycles_per_byte?.value.0)),
    N("extensions gain (×)", |cell| Some(cell.comparisons.gain(cell.row)?.value.0)),
    N("threads gain (×)", |cell| Some(figures(cell)?.scaling?.value.0)),
    N("p50 (ns)", |cell| Some(figures(cell)?.latency.measured()?.p50.0)),
    N("p90 (ns)", |cell| Some(figures(cell)?.latency.measured()?.p90?.0)),
    N("p99 (ns)", |cell| Some(figures(cell)?.latency.measured()?.p99?.0)),
    N("longest (ns)", |cell| Some(figures(cell)?.latency.measured()?.max.0)),
    N("in flight p50 (ns)", |cell| Some(in_flight(cell)?.p50.0)),
    N("in flight p90 (ns)", |cell| Some(in_flight(cell)?.p90?.0)),
    N("in flight p99 (ns)", |cell| Some(in_flight(cell)?.p99?.0)),
    N("in flight longest (ns)", |cell| Some(in_flight(cell)?.max.0)),
    N("passes", |cell| Some(figures(cell)?.processes as f64)),
    N("batches", |cell| Some(figures(cell)?.batches.into())),
    N("unsteady batches", |cell| Some(figures(cell)?.unsteady.into())),
    N("crowded batches", |cell| Some(figures(cell)?.crowded.into())),
    T("executed", |cell| {
        execution(cell).map(|found| found.verdict.words().to_owned()).unwrap_or_default()
    }),
    T("executor", |cell| {
        // A library executes itself; masks are described once, with the paths.
        let found = execution(cell).filter(|found| found.claim != Claim::Process);
        found.map(|found| found.executor.clone()).unwrap_or_default()
    }),
    N("irq/op", |cell| execution(cell)?.interrupts_per_operation),
    N("jobs/op", |cell| execution(cell)?.jobs_per_operation),
    N("user instructions/op", |cell| Some(execution(cell)?.instructions?.user.value.0)),
    N("kernel instructions/op", |cell| Some(execution(cell)?.instructions?.kernel?.value.0)),
    N("CPU instructions/op", |cell| Some(execution(cell)?.instructions?.cpu?.value.0)),
    N("ctx/op", |cell| Some(execution(cell)?.switches?.all())),
    N("CPU (%)", |cell| Some(cpu(cell)?.own * 100.0)),
    N("CPU user (%)", |cell| Some(cpu(cell)?.user? * 100.0)),
    N("CPU system (%)", |cell| Some(cpu(cell)?.system? * 100.0)),
    N("CPU (ms/MB)", |cell| Some(cpu(cell)?.seconds_per_megabyte?.0 * 1e3)),
    N("all CPUs (%)", |cell| Some(cpu(cell)?.machine? * 100.0)),
    N("softirq (%)", |cell| Some(cpu(cell)?.softirq? * 100.0)),
    T("without a figure", |cell| match &cell.row.figures {
        Known::Measured(_) => String::new(),
        Known::Without(reason) => format!("{}: {reason}", reason.short()),
    }),
];

fn variant(cell: &Cell<'_>) -> String {
    let words = in_words(&cell.row.workload, 1);
    words.split_once(", ").map(|(_, variant)| variant.to_owned()).unwrap_or_default()
}

fn figures<'a>(cell: &Cell<'a>) -> Option<&'a Figures> {
    cell.row.figures.measured().map(AsRef::as_ref)
}

fn in_flight<'a>(cell: &Cell<'a>) -> Option<&'a Latency> {
    figures(cell)?.latency_in_flight.as_ref()
}

fn execution<'a>(cell: &Cell<'a>) -> Option<&'a Execution> {
    cell.row.execution.as_deref()
}

fn cpu<'a>(cell: &Cell<'a>) -> Option<&'a CpuUse> {
    execution(cell)?.cpu.measured()
}

/// All cells of all measured records; `None` without any.
pub(super) fn measured(parts: &[&Measured<'_>]) -> Option<Markup> {
    let comparisons: Vec<Comparisons<'_>> =
        parts.iter().map(|part| Comparisons::of(&part.summary)).collect();
    let cells: Vec<Cell<'_>> = parts
        .iter()
        .zip(&comparisons)
        .flat_map(|(part, comparisons)| {
            let run = if parts.len() > 1 { part.name } else { "" };
            part.summary.cells.iter().map(move |row| Cell { run, row, comparisons })
        })
        .collect();
    let text = |column: &Column, cell: &Cell<'_>| match column {
        T(_, text) => text(cell),
        N(_, number) => number(cell).filter(|n| n.is_finite()).map(words).unwrap_or_default(),
    };
    // Empty columns are left out.
    let columns: Vec<&Column> = COLUMNS
        .iter()
        .filter(|column| cells.iter().any(|cell| !text(column, cell).is_empty()))
        .collect();
    let heads = columns.iter().map(|column| match column {
        T(name, _) => (*name, true),
        N(name, _) => (*name, false),
    });
    let heads: Vec<(&str, bool)> = heads.collect();
    let rows = cells.iter().map(|cell| columns.iter().map(|c| text(c, cell)).collect());
    (!cells.is_empty()).then(|| sortable("cells", "Every cell", &heads, rows))
}

/// Whole numbers unchanged, others with five significant digits.
pub(super) fn words(number: f64) -> String {
    if number.fract() == 0.0 && number < 1e9 {
        return format!("{number:.0}");
    }
    format::significant(number, 5)
}

/// All figures of published tables; `None` without any.
pub(super) fn published(records: &[(&str, &Record)]) -> Option<Markup> {
    let heads = published::COLUMNS
        .map(|name| (name, !matches!(name, "core_hz" | "message_bytes" | "printed")));
    let rows = || records.iter().flat_map(|(_, record)| published::figures(record));
    rows().next()?;
    Some(sortable("printed", "Every printed figure", &heads, rows().map(Vec::from)))
}

/// A table that the page's script can sort: the headings, and whether their columns are text.
pub(super) fn sortable(
    id: &str,
    caption: &str,
    heads: &[(&str, bool)],
    rows: impl Iterator<Item = Vec<String>>,
) -> Markup {
    let class = |place: usize| (place > 0 && heads[place].1).then_some("t");
    let rows: Vec<Vec<String>> = rows.collect();
    html! {
        div class="tools" data-for=(id) hidden {
            label {
                "Filter "
                input type="search" autocomplete="off" placeholder="sha-256 openssl 16384";
            }
            output { (rows.len()) " rows" }
            button type="button" { "Download CSV" }
        }
        (scrolled_as(if rows.len() > MANY { "scroll tall many" } else { "scroll tall" }, caption, html! {
            table id=(id) class="cells" {
                caption { (caption) }
                thead { tr {
                    @for (place, (name, text)) in heads.iter().enumerate() {
                        th scope="col" class=[(*text || place == 0).then_some("t")] { (name) }
                    }
                } }
                tbody {
                    @for row in &rows {
                        tr {
                            @for (place, text) in row.iter().enumerate() {
                                @if place == 0 { th scope="row" { (text) } }
                                @else { td class=[class(place)] { (text) } }
                            }
                        }
                    }
                }
            }
        }))
    }
}
