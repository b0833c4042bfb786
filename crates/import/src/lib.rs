//! Other tools' logs as records, next to what cpb measures and what tables publish.
//!
//! A format is one file, which begins with the tool's output and its pitfalls, and one line in [`FORMATS`]. A figure
//! keeps its characters and its line number. A value that is not a valid figure keeps a flag with the reason. Parts
//! of a log may be missing: an importer tolerates absent parts, and is strict with each number that it uses.

mod algorithms;
mod bench_slope;
mod bencher;
mod bssl;
mod cpb_csv;
mod cryptsetup;
mod draft;
mod google_benchmark;
mod json;
mod mbedtls;
mod openssl;
mod prefix;
mod sanity;
mod sbc_bench;
mod speed_table;
mod text;
mod wolfcrypt;

pub mod naming;

use anyhow::{Result, anyhow, bail};
use cpb_core::Operation;
use cpb_record::Record;
use cpb_record::store;
use draft::Draft;
use std::path::Path;
use text::Text;

/// A supported format.
#[derive(Debug)]
pub struct Format {
    /// Its name on the command line.
    pub name: &'static str,
    /// The tool, as shown to users.
    pub tool: &'static str,
    /// Whether a line is one that only this tool prints.
    tells: fn(&str) -> bool,
    /// Reads a log.
    read: fn(&Text, &Options) -> Result<Draft>,
    /// Whether a line that is not UTF-8 makes the rest unreadable.
    strict: bool,
    /// Whether a log may be a single line.
    one_line: bool,
}

/// All formats. A format whose output contains that of another one comes before it.
pub const FORMATS: &[Format] = &[
    sbc_bench::FORMAT,
    openssl::FORMAT,
    mbedtls::FORMAT,
    cryptsetup::FORMAT,
    wolfcrypt::FORMAT,
    bench_slope::FORMAT,
    bssl::FORMAT,
    google_benchmark::FORMAT,
    bencher::FORMAT,
    cpb_csv::FORMAT,
];

/// Facts that a log does not contain and that the user may know.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Whether the command measured wall-clock time instead of CPU time: `openssl speed -elapsed`.
    pub elapsed: bool,
    /// The direction of ciphers, if the log does not contain the command: `openssl speed -decrypt`.
    pub direction: Option<Operation>,
}

/// The format with this name.
///
/// # Errors
/// Returns an error if no format has that name.
pub fn format(name: &str) -> Result<&'static Format> {
    let all = || FORMATS.iter().map(|format| format.name);
    let found = FORMATS.iter().find(|format| format.name == name);
    found.ok_or_else(|| {
        let known = all().collect::<Vec<_>>().join(", ");
        anyhow!("unknown format '{name}'; choose one of: {known}")
    })
}

/// Reads a log; `-` is standard input. If `format` is `None`, the format is detected.
///
/// # Errors
/// Returns an error if the log cannot be read, is not text, or was not printed by a known tool.
pub fn read(path: &Path, format: Option<&Format>, options: &Options) -> Result<Record> {
    let piped = path == Path::new("-");
    let named = if piped { "standard input".into() } else { path.to_string_lossy() };
    let name = if piped { None } else { path.file_name() };
    let name = name.map_or("standard-input".into(), |name| name.to_string_lossy());
    text::read(path)
        .and_then(|bytes| parse(&name, bytes, format, options))
        .map_err(|error| anyhow!("{named}: {error:#}"))
}

/// Parses a log's bytes into a record. `name` is the log's name in the record.
///
/// # Errors
/// Returns the same errors as [`read`], with the line number if a single line causes the error.
pub fn parse(
    name: &str,
    bytes: Vec<u8>,
    format: Option<&Format>,
    options: &Options,
) -> Result<Record> {
    let text = Text::new(bytes)?;
    let format = match format {
        Some(format) => format,
        None => detect(&text)?,
    };
    if !format.one_line {
        text.check_lines()?;
    }
    if format.strict {
        text.check_encoding()?;
    }
    let mut draft = (format.read)(&text, options)?;
    sanity::check(&mut draft);
    if let Some(line) = text.replaced {
        draft.warnings.push(format!("Line {line} is not UTF-8; invalid bytes were replaced."));
    }
    store::as_read(draft.record(name, format))
}

/// Whether `bytes` has at least one line of a known tool.
pub fn is_log(bytes: Vec<u8>) -> bool {
    Text::new(bytes).and_then(|text| detect(&text).map(|_| ())).is_ok()
}

/// The first format in the list that recognises at least one line.
fn detect(text: &Text) -> Result<&'static Format> {
    if text.whole().starts_with("{\"cpb\":") {
        bail!("line 1: this is already a record of cpb; use `cpb show`");
    }
    let mut place = FORMATS.len();
    for line in text.lines() {
        let told = FORMATS[..place].iter().position(|format| (format.tells)(&line.text));
        place = told.unwrap_or(place);
        if place == 0 {
            break;
        }
    }
    FORMATS.get(place).ok_or_else(|| {
        let known: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
        let lines = text.whole().lines().count();
        anyhow!(
            "none of its {lines} lines belongs to a known log format ({}); set the format with --format",
            known.join(", ")
        )
    })
}
