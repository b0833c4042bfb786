//! Google Benchmark's JSON (`--benchmark_format=json`, `--benchmark_out`).
//!
//! For each benchmark, `real_time` is used, in its own `time_unit`. Rates (`bytes_per_second`) are relative to CPU
//! time unless the program requested otherwise, so they are kept but not used. Aggregates (mean, median, stddev)
//! usually come with the repetitions from which they were computed. If they do not, the median or the mean is used.
//! What was measured follows only from the name: words in it that look like an algorithm, an operation and a length
//! are taken as such.

use super::draft::{Done, Draft, Table, flagged, printed};
use super::json::{self, Bounded, Lines};
use super::text::{Text, printable};
use super::{Format, Options, algorithms};
use anyhow::{Result, bail};
use cpb_core::{Algorithm, CryptoWorkload, Operation};
use cpb_record::{FlagKind, Printed, PublishedPath, Quantity};
use serde::Deserialize;
use std::collections::{BTreeMap, HashMap};

pub(super) const FORMAT: Format = Format {
    name: "google-benchmark",
    tool: "Google Benchmark",
    tells: |line| line.contains("\"benchmarks\"") && line.contains(':'),
    read,
    strict: true,
    one_line: true,
};

#[derive(Deserialize)]
struct Document {
    #[serde(default)]
    context: Context,
    benchmarks: Bounded<Benchmark>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Context {
    date: String,
    host_name: String,
    executable: String,
    num_cpus: u32,
    cpu_scaling_enabled: bool,
    library_build_type: String,
    /// Present only if cpb wrote the file; rates are then relative to the wall clock.
    cpb_version: String,
}

#[derive(Deserialize)]
#[serde(default)]
struct Benchmark {
    name: String,
    aggregate_name: Option<String>,
    real_time: Option<f64>,
    time_unit: String,
    bytes_per_second: Option<f64>,
    threads: u32,
    error_occurred: bool,
    error_message: String,
}

impl Default for Benchmark {
    fn default() -> Benchmark {
        Benchmark {
            name: String::new(),
            aggregate_name: None,
            real_time: None,
            time_unit: "ns".to_owned(),
            bytes_per_second: None,
            threads: 1,
            error_occurred: false,
            error_message: String::new(),
        }
    }
}

const BY_CPU_TIME: &str = "CPU time, unless the program selected wall-clock time";

fn read(text: &Text, _: &Options) -> Result<Draft> {
    let Document { context, benchmarks } = json::read(text)?;
    let table = Table {
        name: "benchmarks".into(),
        machine: printable(&context.host_name),
        ..Table::default()
    };
    let mut draft = Draft::default();
    draft.machine.name.clone_from(&table.machine);
    draft.machine.cpus = context.num_cpus as usize;
    let began: Option<jiff::Timestamp> = context.date.parse().ok();
    draft.began =
        began.map(|began| began.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()).unwrap_or_default();
    if context.cpu_scaling_enabled {
        draft.warn(
            "The CPU's clock was not fixed: Google Benchmark reports that scaling was enabled.",
        );
    }
    if context.library_build_type == "debug" {
        draft.warn("Google Benchmark itself was built for debugging.");
    }
    let single = benchmarks.0.iter().any(|one| one.aggregate_name.is_none());
    let median = benchmarks.0.iter().any(|one| one.aggregate_name.as_deref() == Some("median"));
    let by_clock = !context.cpb_version.is_empty();
    let mut lines = Lines::new(text);
    let mut paths = BTreeMap::new();
    let mut runs: HashMap<String, usize> = HashMap::new();
    let version = printable(&context.executable);
    for one in &benchmarks.0 {
        let line = lines.of(&one.name);
        let wanted = match one.aggregate_name.as_deref() {
            None => true,
            Some("median") => !single,
            Some("mean") => !single && !median,
            Some(_) => false,
        };
        if !wanted {
            continue;
        }
        let name = printable(&one.name);
        if one.error_occurred {
            draft.warn(format!("{name}: {}.", printable(&one.error_message)));
            continue;
        }
        let (provider, done) = done(&name, one.threads);
        let run = runs.entry(name.clone()).or_default();
        *run += 1;
        let row = if *run > 1 { format!("{name}, run {run}") } else { name };
        let path = Table { provider, ..table.clone() };
        draft.push(path.cell(&row, "", done, figures(one, by_clock, line)))?;
        paths.insert(
            path.provider,
            PublishedPath { version: version.clone(), ..PublishedPath::default() },
        );
    }
    if paths.is_empty() {
        bail!("line 1: benchmarks is empty, so there are no figures");
    }
    let mut source = table.source(FORMAT.tool, "", "benchmarks".into(), &[]);
    source.date = printable(&context.date);
    source.paths = paths;
    draft.sources.push(source);
    Ok(draft)
}

fn figures(one: &Benchmark, by_clock: bool, line: u32) -> Vec<Printed> {
    let factor = match one.time_unit.as_str() {
        "ns" => 1.0,
        "us" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        _ => f64::NAN,
    };
    let time = one.real_time.map_or(f64::NAN, |time| time * factor);
    let mut figures = vec![printed(Quantity::NanosecondsPerOperation, &number(time), line)];
    if let Some(rate) = one.bytes_per_second {
        let rate = printed(Quantity::BytesPerSecond, &number(rate), line);
        let flag = |rate| flagged(rate, FlagKind::Unverified, BY_CPU_TIME);
        figures.push(if by_clock { rate } else { flag(rate) });
    }
    figures
}

fn number(number: f64) -> String {
    format!("{number}")
}

/// The provider and the task in a name such as `openssl/aes-256-cbc/encrypt/message/16384`, which cpb exports, or
/// `BM_Sha256/1024`.
pub(super) fn done(name: &str, threads: u32) -> (String, Done) {
    let mut workload = None;
    if let Some((provider, id)) = name.split_once('/') {
        workload = id.parse::<CryptoWorkload>().ok().map(|workload| (provider, workload));
    }
    if let Some((provider, workload)) = workload {
        // Differences from the default workload follow the length.
        let rest: Vec<&str> = name.split('/').skip(5).collect();
        let operation = [&[workload.operation.name()], rest.as_slice()].concat().join(", ");
        let done = Done {
            algorithm: workload.algorithm.name().to_owned(),
            operation: condition(&operation, threads),
            phase: workload.phase.name(),
            bytes: Some(workload.message),
        };
        return (provider.to_owned(), done);
    }
    let parts: Vec<&str> = name.split(['/', ' ', ':']).collect();
    let known = |part: &&str| {
        let part = part.trim_start_matches("BM_").replace('_', "-");
        let name = algorithms::ours(&part);
        Algorithm::ALL.iter().any(|known| known.name() == name).then_some(name)
    };
    let algorithm = parts.iter().find_map(known);
    let operation = parts.iter().find_map(|part| part.to_lowercase().parse::<Operation>().ok());
    let operation = operation.map(Operation::name).unwrap_or_default();
    let bytes = parts.iter().rev().find_map(|part| part.parse().ok());
    let done = Done {
        algorithm: algorithm.unwrap_or_else(|| name.to_owned()),
        operation: condition(operation, threads),
        phase: "",
        bytes,
    };
    ("program".to_owned(), done)
}

fn condition(operation: &str, threads: u32) -> String {
    match (operation, threads) {
        (operation, 0 | 1) => operation.to_owned(),
        ("", threads) => format!("{threads} threads"),
        (operation, threads) => format!("{operation}, {threads} threads"),
    }
}
