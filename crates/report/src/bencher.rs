//! Bencher Metric Format: `latency` in nanoseconds and `throughput` in operations per second, each with the
//! bounds of its 95 % interval if known.

use super::named;
use anyhow::Result;
use cpb_analysis::units::Nanoseconds;
use cpb_record::Record;
use serde_json::{Map, Value, json};

/// All cells with figures.
///
/// # Errors
/// Returns an error if they contain something that JSON cannot represent.
pub fn of_records(records: &[(String, Record)]) -> Result<String> {
    let mut document = Map::new();
    for cell in named::all(records) {
        let metric = |value: f64, bounds: Option<(f64, f64)>| match bounds {
            Some((low, high)) => {
                json!({ "value": value, "lower_value": low, "upper_value": high })
            }
            None => json!({ "value": value }),
        };
        let each = |time: Nanoseconds| 1e9 * f64::from(cell.threads) / time.0;
        let bounds = cell.interval.map(|interval| (each(interval.high), each(interval.low)));
        let throughput = metric(each(cell.time), bounds);
        let mut name = cell.name;
        if cell.threads > 1 {
            name += &format!("/threads:{}", cell.threads);
        }
        let bounds = cell.interval.map(|interval| (interval.low.0, interval.high.0));
        let latency = metric(cell.time.0, bounds);
        document.insert(name, json!({ "latency": latency, "throughput": throughput }));
    }
    Ok(serde_json::to_string_pretty(&Value::Object(document))? + "\n")
}
