//! sbc-bench (Thomas Kaiser): a script that runs several benchmarks on a single-board computer and uploads one long
//! log.
//!
//! The importer reads the results of `openssl speed -elapsed -evp aes-N-cbc` on each cluster, and the clocks that the
//! script requests from the kernel and measures by counting (mhz, by Willy Tarreau) before and after. Versions
//! differ. Up to 0.6 there are two rows per algorithm: on the first and the last CPU if there are more than four,
//! otherwise two on any CPU. Later versions have one row per cluster, pinned, or two rows for a single cluster, not
//! pinned. AES-128 and 192, labels with the core's type, the topology and a validation may be present or not. Any
//! part may be missing, so each is read independently. `openssl speed` times one step of an endless message: phase
//! `update`.

mod clock;
mod clusters;
mod context;
mod log;

use super::draft::Draft;
use super::speed_table::{self, SIZES, SpeedRow};
use super::text::Text;
use super::{Format, Options, algorithms};
use anyhow::Result;
use clusters::Rows;
use cpb_record::{ClockReading, Cores, Published, PublishedPath, Source, When};
use log::Log;
use std::collections::BTreeMap;

pub(super) const FORMAT: Format = Format {
    name: "sbc-bench",
    tool: "sbc-bench",
    tells: log::tells,
    read,
    strict: false,
    one_line: false,
};

/// Clocks that differ by more than this share are not the same.
const ONE_CLOCK: f64 = 0.03;

fn read(text: &Text, _: &Options) -> Result<Draft> {
    let log = Log::read(text);
    let mut draft = Draft::default();
    draft.machine = log.machine();
    draft.began = log.began();
    let (tables, warnings) = clusters::tables(&log);
    for warning in log.warnings().into_iter().chain(warnings) {
        draft.warn(warning);
    }
    for table in tables {
        add(&mut draft, &log, table)?;
    }
    if draft.cells.is_empty() {
        draft.warn("The log has no OpenSSL figures: that part is missing or failed.");
    }
    Ok(draft)
}

/// Adds the rows of one cluster.
fn add(draft: &mut Draft, log: &Log, rows: Rows) -> Result<()> {
    let Rows { table, cores, condition, rows } = rows;
    let place = match (rows.first(), rows.last()) {
        (Some((_, first)), Some((_, last))) if first.line < last.line => {
            format!("{}, lines {} to {}", heading(&cores, condition), first.line, last.line)
        }
        (Some((_, row)), _) => format!("{}, line {}", heading(&cores, condition), row.line),
        (None, _) => heading(&cores, condition),
    };
    let path = PublishedPath {
        version: log.openssl.clone(),
        executor: String::new(),
        options: "openssl speed -elapsed -evp ALGORITHM, one thread".to_owned(),
    };
    // Clusters about which nothing else is known are distinguished by their number.
    let number = table.strip_prefix("openssl-").filter(|number| number.parse::<u32>().is_ok());
    let number = number.filter(|_| cores.cpus.is_empty() && cores.name.is_empty());
    let number = number.map_or_else(String::new, |number| format!("cluster {number}"));
    let machine = [log.called().to_owned(), cpus(&cores.cpus), cores.name.clone(), number];
    let machine =
        machine.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(", ");
    let core_hz = core_hz(&cores);
    let operation = match condition {
        "" => "encrypt".to_owned(),
        condition => format!("encrypt, {condition}"),
    };
    for (heading, row) in &rows {
        for (column, (rate, line)) in row.rates.iter().enumerate() {
            let bytes = log.sizes(row).get(column).copied();
            draft.push(Published {
                table: table.clone(),
                row: heading.clone(),
                column: bytes
                    .map_or_else(|| format!("column {}", column + 1), |b| format!("{b} bytes")),
                machine: machine.clone(),
                core_hz,
                provider: "openssl".to_owned(),
                algorithm: algorithms::ours(&row.name),
                operation: Some(operation.clone()),
                phase: Some("update".to_owned()),
                bytes,
                figures: vec![speed_table::figure(rate, *line)],
            })?;
        }
    }
    draft.sources.push(Source {
        table,
        title: String::new(),
        publisher: log.tool(),
        date: log.date.clone(),
        place,
        paths: BTreeMap::from([("openssl".to_owned(), path)]),
        notes: notes(log, &cores),
        cores: Some(Box::new(cores)),
    });
    Ok(())
}

fn heading(cores: &Cores, condition: &str) -> String {
    let cpus = match cores.cpus.as_slice() {
        [] => String::new(),
        all => format!(" on {}", cpus(all)),
    };
    let condition = if condition.is_empty() { String::new() } else { format!(", {condition}") };
    format!("OpenSSL{cpus}{condition}")
}

fn notes(log: &Log, cores: &Cores) -> Vec<String> {
    let mut notes = Vec::new();
    if cores.pinned == Some(false) {
        notes.push("Not pinned: its rows may come from any core, or from several.".to_owned());
    }
    if !cores.context.is_empty() {
        notes.push(format!("Besides: {}.", cores.context.words()));
    }
    if !log.soc.is_empty() {
        notes.push(format!("SoC guessed by the log: {}.", log.soc));
    }
    if !log.compatible.is_empty() {
        notes.push(format!("Device tree: {}.", log.compatible.join(", ")));
    }
    notes
}

/// cpu0-cpu3; empty if no CPU is known.
fn cpus(numbers: &[u32]) -> String {
    match numbers {
        [] => String::new(),
        [one] => format!("cpu{one}"),
        [first, .., last] => format!("cpu{first}-cpu{last}"),
    }
}

/// The clock during the figures, if the readings before and after them agree.
fn core_hz(cores: &Cores) -> Option<u64> {
    let of = |when| cores.fastest(when).and_then(ClockReading::measured);
    let khz = match (of(When::Before), of(When::After)) {
        (Some(before), Some(after)) => {
            let ratio = after as f64 / before as f64;
            ((1.0 - ONE_CLOCK)..=(1.0 + ONE_CLOCK)).contains(&ratio).then_some((before + after) / 2)
        }
        (before, after) => before.or(after),
    };
    Some(khz? * 1000)
}

impl Log {
    /// The sizes of a row's columns.
    fn sizes(&self, row: &SpeedRow) -> &[u32] {
        match &self.sizes {
            sizes if sizes.len() >= row.rates.len() => sizes,
            // 1.0.2 had five sizes.
            _ if row.rates.len() == SIZES.len() - 1 => &SIZES[..SIZES.len() - 1],
            _ => &SIZES,
        }
    }
}
