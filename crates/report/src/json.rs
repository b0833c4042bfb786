//! The summary as JSON, for programs: all of it, with the unit in each field's name.

use super::published;
use anyhow::Result;
use cpb_analysis::summary::{Summary, summarise};
use cpb_record::Record;

/// The summary, indented.
///
/// # Errors
/// It holds something that JSON cannot.
pub fn render(summary: &Summary) -> Result<String> {
    let mut text = serde_json::to_string_pretty(summary)?;
    text.push('\n');
    Ok(text)
}

/// Records that each have a name: one as it is, several as an object with their names for keys.
///
/// # Errors
/// They hold something that JSON cannot.
pub fn of_records(records: &[(String, Record)]) -> Result<String> {
    let one = |record: &Record| match record.sources.as_slice() {
        [] => render(&summarise(record)),
        _ => published::render_json(record),
    };
    if let [(_, record)] = records {
        return one(record);
    }
    let mut text = "{\n".to_owned();
    for (place, (name, record)) in records.iter().enumerate() {
        let end = if place + 1 < records.len() { ",\n" } else { "\n" };
        let name = serde_json::to_string(name)?;
        text.push_str(&format!("{name}: {}{end}", one(record)?.trim_end()));
    }
    Ok(text + "}\n")
}
