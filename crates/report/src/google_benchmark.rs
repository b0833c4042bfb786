//! Google Benchmark's JSON, for tools that read it. `real_time` is the time of one operation; rates use
//! wall-clock time. CPU time is left out, because cpb measures it for a round and not for a single operation.

use super::named;
use anyhow::Result;
use cpb_analysis::units::Interval;
use cpb_record::Record;
use serde_json::{Map, Value, json};

/// All cells with figures.
///
/// # Errors
/// Returns an error if they contain something that JSON cannot represent.
pub fn of_records(records: &[(String, Record)]) -> Result<String> {
    let header = records.first().map(|(_, record)| &record.header);
    let context = json!({
        "date": header.map_or("", |header| header.began.as_str()),
        "host_name": header.map_or("", |header| header.machine.name.as_str()),
        "executable": "cpb",
        "num_cpus": header.map_or(0, |header| header.machine.cpus),
        "cpb_version": env!("CARGO_PKG_VERSION"),
        "evidence": header.map(|header| header.evidence),
    });
    let benchmarks: Vec<Value> = named::all(records)
        .into_iter()
        .map(|cell| {
            let mut one = Map::new();
            one.insert("name".into(), cell.name.clone().into());
            one.insert("run_name".into(), cell.name.into());
            one.insert("run_type".into(), "iteration".into());
            one.insert("threads".into(), cell.threads.into());
            one.insert("real_time".into(), cell.time.0.into());
            one.insert("time_unit".into(), "ns".into());
            if let Some(rate) = cell.rate {
                one.insert("bytes_per_second".into(), rate.0.into());
            }
            if let Some(Interval { low, high }) = cell.interval {
                one.insert("real_time_low".into(), low.0.into());
                one.insert("real_time_high".into(), high.0.into());
            }
            if !cell.machine.is_empty() {
                one.insert("label".into(), cell.machine.into());
            }
            Value::Object(one)
        })
        .collect();
    let document = json!({ "context": context, "benchmarks": benchmarks });
    Ok(serde_json::to_string_pretty(&document)? + "\n")
}
