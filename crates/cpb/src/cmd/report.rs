//! `cpb report`: records as one page, or in the forms that `cpb show` has.

use super::{DONE, output};
use crate::record::Record;
use crate::{report, store};
use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

#[derive(Args)]
#[command(after_help = "Examples:\n  cpb report RECORD.jsonl -o report.html\n  \
    cpb report records/imx6-*.jsonl -o imx6.html\n  \
    cpb report RECORD.jsonl -o cells.csv\n\n\
    The page needs no network and no other file; with several records they stand in it one after \
    the other, and published tables of one machine together.")]
pub(super) struct Arguments {
    /// The records
    #[arg(required = true)]
    records: Vec<PathBuf>,
    /// Where to write; without it, standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The form; without it, by the ending of FILE, else a page
    #[arg(long, value_enum)]
    format: Option<Format>,
}

/// The forms of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// One page for a browser
    Html,
    /// One line a cell, or a printed figure
    Csv,
    /// Everything that is computed
    Json,
    /// Tables
    Markdown,
    /// Google Benchmark's JSON, for tools that read it
    GoogleBenchmark,
    /// Bencher Metric Format
    Bencher,
}

impl Format {
    /// By the ending of a file's name.
    fn of(path: &Path) -> Option<Format> {
        match path.extension()?.to_str()? {
            "html" | "htm" => Some(Format::Html),
            "csv" => Some(Format::Csv),
            "json" => Some(Format::Json),
            "md" | "markdown" => Some(Format::Markdown),
            _ => None,
        }
    }
}

pub(super) fn run(arguments: Arguments) -> Result<u8> {
    let output = arguments.output.as_deref();
    let format = arguments.format.or_else(|| Format::of(output?)).unwrap_or(Format::Html);
    if output.is_none() && format == Format::Html && std::io::stdout().is_terminal() {
        bail!("a page is for a browser, not for a terminal: name a file by -o report.html");
    }
    let read = arguments.records.iter().map(|path| store::read(path));
    let read: Vec<Record> = read.collect::<Result<_>>()?;
    let records: Vec<(String, Record)> = names(&arguments.records).into_iter().zip(read).collect();
    let text = match format {
        Format::Html => report::html::render(&records)?,
        Format::Csv => report::csv::of_records(&records)?,
        Format::Json => report::json::of_records(&records)?,
        Format::Markdown => report::markdown::of_records(&records),
        Format::GoogleBenchmark => report::google_benchmark::of_records(&records)?,
        Format::Bencher => report::bencher::of_records(&records)?,
    };
    match output {
        None => output::print(&text)?,
        Some(path) => {
            if arguments.records.iter().any(|record| same_file(record, path)) {
                bail!("{} is one of the records: name another file by -o", path.display());
            }
            let written = std::fs::write(path, text);
            written.with_context(|| format!("cannot write {}", path.display()))?;
            output::say(&format!("report: {}", path.display()));
        }
    }
    Ok(DONE)
}

/// What a report calls records: their files without folder and ending; those of one name as they were
/// given, with a number if that was the same as well.
fn names(paths: &[PathBuf]) -> Vec<String> {
    let stem = |path: &PathBuf| {
        path.file_stem().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
    };
    let mut names: Vec<String> = Vec::new();
    for path in paths {
        let alone = paths.iter().filter(|other| stem(other) == stem(path)).count() == 1;
        let name = if alone { stem(path) } else { path.display().to_string() };
        let numbered = (2..).map(|number| format!("{name} ({number})"));
        let mut all = std::iter::once(name.clone()).chain(numbered);
        names.extend(all.find(|name| !names.contains(name)));
    }
    names
}

fn same_file(one: &Path, other: &Path) -> bool {
    let canonical = |path: &Path| path.canonicalize().ok();
    canonical(one).is_some_and(|one| canonical(other) == Some(one))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_form_follows_from_the_ending_of_the_file() {
        let cases =
            [("a.html", Some(Format::Html)), ("a/b.md", Some(Format::Markdown)), ("a", None)];
        for (path, format) in cases {
            assert_eq!(Format::of(Path::new(path)), format, "{path}");
        }
    }

    #[test]
    fn no_two_records_have_one_name() {
        let names = |paths: &[&str]| names(&paths.iter().map(PathBuf::from).collect::<Vec<_>>());
        assert_eq!(names(&["records/imx6-software.jsonl", "b.jsonl"]), ["imx6-software", "b"]);
        assert_eq!(names(&["a/run.jsonl", "b/run.jsonl"]), ["a/run.jsonl", "b/run.jsonl"]);
        assert_eq!(names(&["run.jsonl", "run.jsonl"]), ["run.jsonl", "run.jsonl (2)"]);
    }
}
