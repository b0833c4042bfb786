//! One row per cell, for spreadsheets and scripts. Column names end with the unit.

use super::groups::Comparisons;
use super::published;
use crate::format;
use anyhow::{Result, bail};
use cpb_analysis::estimate::Estimate;
use cpb_analysis::execution::Execution;
use cpb_analysis::latency::Latency;
use cpb_analysis::summary::{Figures, Known, Row, Summary, summarise};
use cpb_analysis::units::{Interval, Unit};
use cpb_record::Record;
use cpb_record::foreign;

/// Renders the header and the rows.
///
/// # Errors
/// Never fails in practice; the result type is the writer's.
pub fn render(summary: &Summary) -> Result<String> {
    let comparisons = Comparisons::of(summary);
    let mut writer = ::csv::Writer::from_writer(Vec::new());
    writer.write_record(COLUMNS)?;
    for row in &summary.cells {
        let fields = values(row, summary, &comparisons).into_iter().map(foreign::field);
        writer.write_record(fields)?;
    }
    Ok(String::from_utf8(writer.into_inner()?)?)
}

/// Named records as one table; if there are several, the first column is the record. Published tables have
/// other columns than measured records, so the two do not fit into one table.
///
/// # Errors
/// Returns an error if measured and published records are mixed.
pub fn of_records(records: &[(String, Record)]) -> Result<String> {
    let is_published = |(_, record): &&(String, Record)| !record.sources.is_empty();
    let count = records.iter().filter(is_published).count();
    if count > 0 && count < records.len() {
        bail!("measured and published records do not fit into one table; write separate files");
    }
    let mut writer = ::csv::Writer::from_writer(Vec::new());
    for (place, (name, record)) in records.iter().enumerate() {
        let table = match record.sources.as_slice() {
            [] => render(&summarise(record))?,
            _ => published::render_csv(record)?,
        };
        let mut rows = ::csv::ReaderBuilder::new().has_headers(false).from_reader(table.as_bytes());
        for (number, row) in rows.records().enumerate() {
            let row = row?;
            let first = match number {
                0 => "record",
                _ => &foreign::field(name.clone()),
            };
            if number > 0 || place == 0 {
                let first = (records.len() > 1).then_some(first);
                writer.write_record(first.into_iter().chain(&row))?;
            }
        }
    }
    Ok(String::from_utf8(writer.into_inner()?)?)
}

const COLUMNS: [&str; 67] = [
    "provider",
    "algorithm",
    "operation",
    "phase",
    "message_bytes",
    "associated_bytes",
    "threads",
    "workload",
    "evidence",
    "outcome",
    "reason",
    "rate_bytes_per_second",
    "rate_low_bytes_per_second",
    "rate_high_bytes_per_second",
    "time_ns",
    "time_low_ns",
    "time_high_ns",
    "time_between_passes_ratio",
    "time_within_passes_ratio",
    "cycles",
    "cycles_low",
    "cycles_high",
    "cycles_between_passes_ratio",
    "cycles_within_passes_ratio",
    "cycles_per_byte",
    "cycles_per_byte_low",
    "cycles_per_byte_high",
    "latency_p50_ns",
    "latency_p90_ns",
    "latency_p99_ns",
    "latency_max_ns",
    "latency_operations",
    "latency_in_flight_p50_ns",
    "latency_in_flight_p90_ns",
    "latency_in_flight_p99_ns",
    "latency_in_flight_max_ns",
    "latency_in_flight_operations",
    "scaling_ratio",
    "scaling_low_ratio",
    "scaling_high_ratio",
    "fastest",
    "extensions_gain_ratio",
    "extensions_gain_low_ratio",
    "extensions_gain_high_ratio",
    "extensions_gain_verdict",
    "extensions_gain_metric",
    "processes",
    "batches",
    "unsteady_batches",
    "crowded_batches",
    "executor",
    "executed",
    "executed_reason",
    "counted_operations",
    "interrupts_per_operation",
    "jobs_per_operation",
    "user_instructions_per_operation",
    "kernel_instructions_per_operation",
    "cpu_instructions_per_operation",
    "voluntary_switches_per_operation",
    "involuntary_switches_per_operation",
    "cpu_ratio",
    "cpu_user_ratio",
    "cpu_system_ratio",
    "cpu_seconds_per_megabyte",
    "machine_cpu_ratio",
    "machine_softirq_ratio",
];

/// The number of [`Execution`] columns, at the end of a row.
const EXECUTION: usize = 16;

fn values(row: &Row, summary: &Summary, comparisons: &Comparisons<'_>) -> Vec<String> {
    let workload = &row.workload;
    let crypto = workload.crypto();
    let (outcome, reason) = match &row.figures {
        Known::Measured(_) => ("measured", String::new()),
        Known::Without(reason) => (reason.short(), reason.to_string()),
    };
    let mut values = vec![
        row.provider.clone(),
        format::algorithm(workload),
        format::operation(workload),
        crypto.map(|workload| workload.phase.to_string()).unwrap_or_default(),
        workload.size().to_string(),
        crypto.map(|workload| workload.associated.to_string()).unwrap_or_default(),
        row.threads.to_string(),
        workload.to_string(),
        format!("{:?}", summary.run.evidence).to_lowercase(),
        outcome.to_owned(),
        reason,
    ];
    if let Known::Measured(figures) = &row.figures {
        write_figures(&mut values, row, figures, comparisons);
    }
    values.resize(COLUMNS.len() - EXECUTION, String::new());
    if let Some(execution) = &row.execution {
        write_execution(&mut values, execution);
    }
    values.resize(COLUMNS.len(), String::new());
    values
}

fn write_figures(
    values: &mut Vec<String>,
    row: &Row,
    figures: &Figures,
    comparisons: &Comparisons<'_>,
) {
    estimate(values, figures.rate.as_ref());
    estimate(values, Some(&figures.time));
    values.extend([number(figures.time.between), number(figures.time.within)]);
    estimate(values, figures.cycles.as_ref());
    let spread =
        |spread: fn(&Estimate<_>) -> Option<f64>| number(figures.cycles.as_ref().and_then(spread));
    values.extend([spread(|cycles| cycles.between), spread(|cycles| cycles.within)]);
    estimate(values, figures.cycles_per_byte.as_ref());
    percentiles(values, figures.latency.measured());
    percentiles(values, figures.latency_in_flight.as_ref());
    values.push(number(figures.scaling.map(|scaling| scaling.value.0)));
    interval(values, figures.scaling.and_then(|scaling| scaling.interval));
    values.push(match comparisons.mark(row) {
        Some('=') => "tie".to_owned(),
        Some('?') => "unknown".to_owned(),
        Some(_) => "yes".to_owned(),
        None => String::new(),
    });
    let gain = comparisons.gain(row);
    values.push(number(gain.map(|gain| gain.value.0)));
    interval(values, gain.and_then(|gain| gain.interval));
    values.push(
        gain.map(|gain| format!("{:?}", gain.inverse().verdict).to_lowercase()).unwrap_or_default(),
    );
    values.push(gain.map(|gain| format!("{:?}", gain.metric).to_lowercase()).unwrap_or_default());
    values.push(figures.processes.to_string());
    values.extend(
        [figures.batches, figures.unsteady, figures.crowded].map(|count| count.to_string()),
    );
}

fn percentiles(values: &mut Vec<String>, latency: Option<&Latency>) {
    values.extend([
        number(latency.map(|latency| latency.p50.0)),
        number(latency.and_then(|latency| latency.p90).map(Unit::number)),
        number(latency.and_then(|latency| latency.p99).map(Unit::number)),
        number(latency.map(|latency| latency.max.0)),
        latency.map(|latency| latency.operations.to_string()).unwrap_or_default(),
    ]);
}

/// Writes the executor and the resources used. If the evidence does not support CPU use, the reason is
/// written in place of its first figure.
fn write_execution(values: &mut Vec<String>, execution: &Execution) {
    let retired = execution.instructions;
    values.extend([
        execution.executor.clone(),
        execution.verdict.words().to_owned(),
        execution.reason.clone().unwrap_or_default(),
        execution.operations.to_string(),
        number(execution.interrupts_per_operation),
        number(execution.jobs_per_operation),
        number(retired.map(|retired| retired.user.value.0)),
        number(retired.and_then(|retired| retired.kernel).map(|kernel| kernel.value.0)),
        number(retired.and_then(|retired| retired.cpu).map(|cpu| cpu.value.0)),
        number(execution.switches.map(|switches| switches.voluntary)),
        number(execution.switches.map(|switches| switches.involuntary)),
    ]);
    match &execution.cpu {
        Known::Measured(cpu) => values.extend(
            [
                Some(cpu.own),
                cpu.user,
                cpu.system,
                cpu.seconds_per_megabyte.map(|seconds| seconds.0),
                cpu.machine,
                cpu.softirq,
            ]
            .map(number),
        ),
        Known::Without(reason) => values.push(reason.short().to_owned()),
    }
}

fn estimate<U: Unit>(values: &mut Vec<String>, estimate: Option<&Estimate<U>>) {
    values.push(number(estimate.map(|estimate| estimate.value.number())));
    interval(values, estimate.and_then(|estimate| estimate.interval));
}

fn interval<U: Unit>(values: &mut Vec<String>, interval: Option<Interval<U>>) {
    values.push(number(interval.map(|interval| interval.low.number())));
    values.push(number(interval.map(|interval| interval.high.number())));
}

/// Six significant digits, more than any figure here needs.
fn number(value: Option<f64>) -> String {
    value.map(|value| super::format::significant(value, 6)).unwrap_or_default()
}
