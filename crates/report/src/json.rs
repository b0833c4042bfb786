//! The complete summary as JSON, for programs. Field names contain the unit.

use super::published;
use anyhow::Result;
use cpb_analysis::summary::{Summary, summarise};
use cpb_record::Record;

/// Renders the summary, indented.
///
/// # Errors
/// Returns an error if it contains something that JSON cannot represent.
pub fn render(summary: &Summary) -> Result<String> {
    let mut text = serde_json::to_string_pretty(summary)?;
    text.push('\n');
    Ok(text)
}

/// Named records: a single one as it is, several as an object with their names as keys.
///
/// # Errors
/// Returns an error if they contain something that JSON cannot represent.
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
