//! TOML files that users write: plans, boards, guests. The files are limited in size, and error messages stay short.

use anyhow::{Result, anyhow, ensure};
use serde::de::DeserializeOwned;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// The longest accepted file, in bytes.
const LONGEST: u64 = 1 << 20;

/// The longest line that an error message repeats.
const REPEATED: usize = 200;

/// The longest error message that is shown in full. A message may list everything that would be valid.
const LONGEST_MESSAGE: usize = 4096;

/// Reads a file that is at most 1 MiB long.
///
/// # Errors
/// Returns an error if the file cannot be read or is longer.
pub fn read(path: &Path) -> Result<String> {
    let mut text = String::new();
    File::open(path)?.take(LONGEST + 1).read_to_string(&mut text)?;
    ensure!(text.len() as u64 <= LONGEST, "it is longer than 1 MiB");
    Ok(text)
}

/// Parses a file's text.
///
/// # Errors
/// Returns an error if the text is not TOML or does not have the expected content. The message names the line and
/// repeats it if it is short.
pub fn parse<T: DeserializeOwned>(text: &str) -> Result<T> {
    toml::from_str(text).map_err(|error: toml::de::Error| {
        let place = error.span().map_or(0, |span| span.start).min(text.len());
        let number = text.as_bytes()[..place].iter().filter(|byte| **byte == b'\n').count();
        let line = text.split('\n').nth(number).unwrap_or_default();
        if line.len() <= REPEATED && error.message().len() <= LONGEST_MESSAGE {
            return anyhow!(error);
        }
        let what: String = error.message().chars().take(REPEATED).collect();
        anyhow!("line {}: {what}", number + 1)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Small {
        #[serde(rename = "number")]
        _number: u32,
    }

    #[test]
    fn what_is_wrong_in_a_long_line_is_said_in_a_short_one() {
        let long = "x".repeat(900_000);
        for text in [
            format!("\nnumber = \"{long}\""),
            format!("\n{long} = 1"),
            format!("\nnumber = 1 {long}"),
            format!("\n[{long}"),
            format!("\nnumber = \"\"\"\n{long}\"\"\""),
        ] {
            let said = parse::<Small>(&text).expect_err("it is wrong").to_string();
            assert!(said.starts_with("line 2: ") && said.len() < 300, "{}", said.len());
        }
        let short = parse::<Small>("number = -1").expect_err("it is wrong").to_string();
        assert!(short.contains("line 1") && short.contains("number = -1"), "{short}");
    }
}
