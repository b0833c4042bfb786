//! `cpb report`: records as one page, or in the forms of `cpb show`.

use super::filter::{Filter, Sizes};
use super::{DONE, file, output};
use crate::inputs::{self, Told};
use anyhow::{Result, bail};
use clap::{Args, ValueEnum};
use cpb_record::Record;
use cpb_record::foreign;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

#[derive(Args)]
#[command(after_help = "Examples:\n  cpb report RECORD.jsonl -o report.html\n  \
    cpb report imx6 -o imx6.html        published tables, see `cpb list records`\n  \
    cpb report RECORD.jsonl -o cells.csv\n\n\
    The page needs no network and no other file. Several records appear one after the other, published \
    tables of one machine together.")]
pub(super) struct Arguments {
    /// The records: files, published records from `cpb list records`, or logs of other tools, as FILE or NAME=FILE
    #[arg(required = true)]
    records: Vec<PathBuf>,
    #[command(flatten)]
    filter: Filter,
    #[command(flatten)]
    sizes: Sizes,
    #[command(flatten)]
    told: Told,
    /// File to write [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Replace FILE if it exists
    #[arg(long, requires = "output")]
    overwrite: bool,
    /// Output format [default: by the extension of FILE, .html, .csv, .json or .md; html without a FILE]
    #[arg(long, value_enum)]
    format: Option<Format>,
}

/// The forms of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// One HTML page
    Html,
    /// One line per cell, or per printed figure
    Csv,
    /// All computed results
    Json,
    /// Tables in Markdown
    Markdown,
    /// JSON in the format of Google Benchmark
    GoogleBenchmark,
    /// Bencher Metric Format
    Bencher,
}

impl Format {
    /// The format for a file extension.
    ///
    /// # Errors
    /// Returns an error if no format has this extension.
    fn of(path: &Path) -> Result<Format> {
        match path.extension().and_then(|ending| ending.to_str()).unwrap_or_default() {
            "html" | "htm" => Ok(Format::Html),
            "csv" => Ok(Format::Csv),
            "json" => Ok(Format::Json),
            "md" | "markdown" => Ok(Format::Markdown),
            _ => bail!(
                "--output {}: unknown extension; use .html (.htm), .csv, .json or .md (.markdown), or choose \
                 the format with --format",
                path.display()
            ),
        }
    }
}

pub(super) fn run(arguments: Arguments) -> Result<u8> {
    let output = arguments.output.as_deref();
    let format = match (arguments.format, output) {
        (Some(format), _) => format,
        (None, Some(path)) => Format::of(path)?,
        (None, None) => Format::Html,
    };
    if output.is_none() && format == Format::Html && std::io::stdout().is_terminal() {
        bail!("an HTML page is not printed on a terminal: write it to a file with -o report.html");
    }
    if let Some(path) = output {
        if arguments.records.iter().any(|record| same_file(record, path)) {
            bail!("-o {}: this file is one of the records; choose another file", path.display());
        }
        file::may_replace(path, arguments.overwrite)?;
    }
    let read = inputs::records(&arguments.records, arguments.told)?;
    let (paths, read): (Vec<PathBuf>, Vec<Record>) =
        arguments.filter.applied(&arguments.sizes, read)?.into_iter().unzip();
    let records: Vec<(String, Record)> = names(&paths).into_iter().zip(read).collect();
    let text = match format {
        Format::Html => cpb_report::html::render(&records)?,
        Format::Csv => cpb_report::csv::of_records(&records)?,
        Format::Json => cpb_report::json::of_records(&records)?,
        Format::Markdown => cpb_report::markdown::of_records(&records),
        Format::GoogleBenchmark => cpb_report::google_benchmark::of_records(&records)?,
        Format::Bencher => cpb_report::bencher::of_records(&records)?,
    };
    match output {
        None => match format {
            Format::Csv | Format::Markdown => output::print(&text)?,
            // The page itself declares UTF-8.
            Format::Html => output::print_as_it_is(&text)?,
            Format::Json | Format::GoogleBenchmark | Format::Bencher => output::print_json(&text)?,
        },
        Some(path) => {
            file::write(path, text)?;
            output::say(&format!("report: {}", path.display()));
        }
    }
    Ok(DONE)
}

/// The names of records in a report: file names without folder and extension. Records with the same name are
/// called by the path that was given, with a number if that is the same as well.
pub(super) fn names(paths: &[PathBuf]) -> Vec<String> {
    let stem = |path: &PathBuf| {
        let stem = path.file_stem().unwrap_or(path.as_os_str()).to_string_lossy();
        foreign::plain(&stem).into_owned()
    };
    let mut names: Vec<String> = Vec::new();
    for path in paths {
        let alone = paths.iter().filter(|other| stem(other) == stem(path)).count() == 1;
        let whole = || foreign::plain(&path.to_string_lossy()).into_owned();
        let name = if alone { stem(path) } else { whole() };
        let numbered = (2..).map(|number| format!("{name} ({number})"));
        let mut all = std::iter::once(name.clone()).chain(numbered);
        names.extend(all.find(|name| !names.contains(name)));
    }
    names
}

pub(super) fn same_file(one: &Path, other: &Path) -> bool {
    let canonical = |path: &Path| path.canonicalize().ok();
    canonical(one).is_some_and(|one| canonical(other) == Some(one))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_form_follows_from_the_ending_of_the_file() {
        for (path, format) in [("a.html", Format::Html), ("a/b.md", Format::Markdown)] {
            assert_eq!(Format::of(Path::new(path)).expect(path), format);
        }
        for path in ["a", "a.pdf", "html"] {
            let wrong = Format::of(Path::new(path)).expect_err(path).to_string();
            assert!(wrong.contains(path) && wrong.contains(".csv"), "{wrong}");
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
