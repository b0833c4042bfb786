//! The summary as JSON, for programs: all of it, with the unit in each field's name.

use crate::analysis::summary::Summary;
use anyhow::Result;

/// The summary, indented.
///
/// # Errors
/// It holds something that JSON cannot.
pub fn render(summary: &Summary) -> Result<String> {
    let mut text = serde_json::to_string_pretty(summary)?;
    text.push('\n');
    Ok(text)
}
