//! Other tools' logs as records: what they printed, beside what cpb and published tables say.
//!
//! A format is one file, which opens with what the tool prints and what to beware of, and one line in
//! [`FORMATS`]. A figure keeps its characters and its line; what is no figure keeps a flag with the
//! reason. What a log is made of may be missing: an importer is tolerant of absent parts, and strict
//! with each number that it takes.

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
mod sanity;
mod sbc_bench;
mod speed_table;
mod text;
mod wolfcrypt;

pub mod naming;

use anyhow::{Result, anyhow, bail};
use cpb_record::Record;
use cpb_record::store;
use draft::Draft;
use std::path::Path;
use text::Text;

/// A format that can be read.
#[derive(Debug)]
pub struct Format {
    /// Its word on the command line.
    pub name: &'static str,
    /// The tool, for people.
    pub tool: &'static str,
    /// Whether a line is one that only this tool prints.
    tells: fn(&str) -> bool,
    /// What a text says.
    read: fn(&Text, &Options) -> Result<Draft>,
    /// Whether a line that is no UTF-8 spoils the rest.
    strict: bool,
    /// Whether all of it may be one line.
    one_line: bool,
}

/// All formats. One that contains another one's output comes before it.
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

/// What a log cannot tell and its reader knows.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// The command measured time on the clock, not CPU time: `openssl speed -elapsed`.
    pub elapsed: bool,
}

/// A format by its word.
///
/// # Errors
/// There is none of that name.
pub fn format(name: &str) -> Result<&'static Format> {
    let all = || FORMATS.iter().map(|format| format.name);
    let found = FORMATS.iter().find(|format| format.name == name);
    found.ok_or_else(|| {
        let known = all().collect::<Vec<_>>().join(", ");
        anyhow!("no format '{name}'; there are: {known}")
    })
}

/// Reads a log; `-` is standard input. Without a format, it is found out.
///
/// # Errors
/// It cannot be read, is no text, or no log of a known tool.
pub fn read(path: &Path, format: Option<&Format>, options: &Options) -> Result<Record> {
    let piped = path == Path::new("-");
    let named = if piped { "standard input".into() } else { path.to_string_lossy() };
    let name = if piped { None } else { path.file_name() };
    let name = name.map_or("standard-input".into(), |name| name.to_string_lossy());
    text::read(path)
        .and_then(|bytes| parse(&name, bytes, format, options))
        .map_err(|error| anyhow!("{named}: {error:#}"))
}

/// A log's bytes as a record. `name` is what the record calls the log.
///
/// # Errors
/// As [`read`]: with the number of the line, if it is one line's fault.
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
        draft.warnings.push(format!("Line {line} is not UTF-8; what cannot be read is replaced."));
    }
    store::as_read(draft.record(name, format))
}

/// Whether a line of `bytes` at least is one of a log that can be read.
pub fn is_log(bytes: Vec<u8>) -> bool {
    Text::new(bytes).and_then(|text| detect(&text).map(|_| ())).is_ok()
}

/// The first format in the list that one line at least is of.
fn detect(text: &Text) -> Result<&'static Format> {
    if text.whole().starts_with("{\"cpb\":") {
        bail!("line 1: is a record of cpb's already; cpb show shows it");
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
            "none of its {lines} lines is one of a log that cpb knows ({}); name its format by --format",
            known.join(", ")
        )
    })
}
