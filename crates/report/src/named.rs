//! Cells in the terms of other tools' formats: a name, a time, a rate.

use cpb_analysis::summary::{Row, summarise};
use cpb_analysis::units::{BytesPerSecond, Interval, Nanoseconds};
use cpb_record::Record;
use std::collections::HashMap;

/// A cell that has a figure.
pub(super) struct Named {
    /// Provider and workload: `openssl/aes-256-cbc/encrypt/message/16384`; with several records, the record's
    /// name comes first.
    pub(super) name: String,
    /// The number of threads.
    pub(super) threads: u8,
    /// The time of one operation, with its 95 % interval if known.
    pub(super) time: Nanoseconds,
    pub(super) interval: Option<Interval<Nanoseconds>>,
    /// The rate of all threads together.
    pub(super) rate: Option<BytesPerSecond>,
    /// The machine, if the cells of one record are from several.
    pub(super) machine: String,
}

/// All cells of some records that have a figure.
pub(super) fn all(records: &[(String, Record)]) -> Vec<Named> {
    let mut named = Vec::new();
    for (name, record) in records {
        let first = named.len();
        if record.sources.is_empty() {
            named.extend(summarise(record).cells.iter().filter_map(measured));
        } else {
            published(record, &mut named);
        }
        if records.len() > 1 {
            for cell in &mut named[first..] {
                cell.name = format!("{name}/{}", cell.name);
            }
        }
    }
    named
}

fn measured(row: &Row) -> Option<Named> {
    let figures = row.figures.measured()?;
    Some(Named {
        name: format!("{}/{}", row.provider, row.workload),
        threads: row.threads,
        time: figures.time.value,
        interval: figures.time.interval,
        rate: figures.rate.as_ref().map(|rate| rate.value),
        machine: String::new(),
    })
}

fn published(record: &Record, named: &mut Vec<Named>) {
    let several = record.sources.len() > 1;
    let mut runs: HashMap<String, u32> = HashMap::new();
    for cell in &record.published {
        let Some(time) = cell.nanoseconds() else { continue };
        let told = [cell.operation.as_deref(), cell.phase.as_deref()].into_iter().flatten();
        let mut parts = vec![cell.provider.clone(), cell.algorithm.clone()];
        parts.extend(told.map(str::to_owned));
        parts.extend(cell.bytes.map(|bytes| bytes.to_string()));
        let mut name = parts.join("/");
        if several {
            name += &format!(" {}", cell.table);
        }
        let runs = runs.entry(name.clone()).or_insert(0);
        *runs += 1;
        if *runs > 1 {
            name += &format!(" run:{runs}");
        }
        named.push(Named {
            name,
            threads: 1,
            time: Nanoseconds(time),
            interval: None,
            rate: cell
                .bytes
                .filter(|bytes| *bytes > 0)
                .map(|bytes| BytesPerSecond(f64::from(bytes) * 1e9 / time)),
            machine: cell.machine.clone(),
        });
    }
}
