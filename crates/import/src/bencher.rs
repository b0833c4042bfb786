//! Bencher Metric Format: `{"NAME": {"latency": {"value": 12.5}}}`. Latency is in nanoseconds, throughput in
//! operations a second. The format names neither a machine nor a tool.

use super::draft::{Draft, Table, printed};
use super::google_benchmark::done;
use super::json::{self, Lines, Pairs};
use super::text::{Text, printable};
use super::{Format, Options};
use anyhow::{Result, bail};
use cpb_record::{Printed, PublishedPath, Quantity};
use serde::Deserialize;
use std::collections::BTreeMap;

pub(super) const FORMAT: Format = Format {
    name: "bencher",
    tool: "a tool that writes Bencher Metric Format",
    tells: |line| line.contains("\"latency\":") || line.contains("\"throughput\":"),
    read,
    strict: true,
    one_line: true,
};

#[derive(Deserialize)]
struct Metric {
    value: f64,
}

fn read(text: &Text, _: &Options) -> Result<Draft> {
    let benchmarks: Pairs<Pairs<Metric>> = json::read(text)?;
    let mut draft = Draft::default();
    let mut lines = Lines::new(text);
    let mut paths = BTreeMap::new();
    for (name, metrics) in benchmarks.0 {
        let line = lines.of(&name);
        let name = printable(&name);
        let figures: Vec<Printed> = metrics
            .0
            .iter()
            .filter_map(|(measure, metric)| {
                let quantity = match measure.as_str() {
                    "latency" => Quantity::NanosecondsPerOperation,
                    "throughput" => Quantity::OperationsPerSecond,
                    _ => return None,
                };
                Some(printed(quantity, &metric.value.to_string(), line))
            })
            .collect();
        if figures.is_empty() {
            draft.warn(format!("{name} has neither latency nor throughput."));
            continue;
        }
        let threads = name.rsplit_once("/threads:").and_then(|(_, threads)| threads.parse().ok());
        let bare = name.rsplit_once("/threads:").map_or(name.as_str(), |(bare, _)| bare);
        let (provider, done) = done(bare, threads.unwrap_or(1));
        let table = Table { name: "benchmarks".into(), provider, ..Table::default() };
        draft.push(table.cell(&name, "", done, figures))?;
        paths.insert(table.provider, PublishedPath::default());
    }
    if paths.is_empty() {
        bail!("line 1: found no benchmark with latency or throughput");
    }
    let table = Table { name: "benchmarks".into(), ..Table::default() };
    let mut source = table.source("Bencher Metric Format", "", "the whole".into(), &[]);
    source.paths = paths;
    draft.sources.push(source);
    Ok(draft)
}
