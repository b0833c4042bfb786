//! `cpb compare`: did anything get slower or faster?

use super::filter::{Filter, Sizes};
use super::report::{names, same_file};
use super::{DONE, FAILED, file, output};
use crate::inputs::{self, Told};
use anyhow::{Context, Result, bail};
use clap::Args;
use cpb_analysis::compare::{self, Compared, Kind, Pairs};
use cpb_analysis::ratio::Verdict;
use cpb_analysis::units::Times;
use cpb_record::Record;
use cpb_record::budget::Percent;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

#[derive(Args)]
#[command(
    after_help = "A ratio is the cost of the second divided by the cost of the first: above 1 the second is \
    slower.\n\nExit status: 0 success, 1 slower than --fail-if-slower allows, 2 bad input or nothing to \
    compare.\n\nExamples:\n  cpb compare BEFORE.jsonl AFTER.jsonl\n  \
    cpb compare BEFORE.jsonl AFTER.jsonl --fail-if-slower 3%\n  \
    cpb compare BEFORE.jsonl AFTER.jsonl -o changes.html\n  \
    cpb compare RECORD.jsonl --between openssl,mbedtls:c\n  \
    cpb compare imxrt-mbedtls RECORD.jsonl        a published table and a record\n  \
    cpb compare imxrt-mbedtls RECORD.jsonl --between software:none,mbedtls"
)]
pub(super) struct Arguments {
    /// The first record: a file, a published record from `cpb list records`, or a log of another tool
    first: PathBuf,
    /// The second record
    second: Option<PathBuf>,
    #[command(flatten)]
    filter: Filter,
    #[command(flatten)]
    sizes: Sizes,
    #[command(flatten)]
    told: Told,
    /// Two providers: of one record, or one of each record
    #[arg(long, value_name = "FIRST,SECOND", value_parser = between)]
    between: Option<(String, String)>,
    /// Exit with status 1 if a cell is slower by more than this share beyond doubt. If both records are emulated,
    /// their instructions an operation are compared
    #[arg(long, value_name = "SHARE")]
    fail_if_slower: Option<Percent>,
    /// Write an HTML page, or JSON if FILE ends in .json, instead of printing the table
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    output: Option<PathBuf>,
    /// Replace FILE if it exists
    #[arg(long, requires = "output", help_heading = "Output")]
    overwrite: bool,
    /// Print everything as JSON
    #[arg(long, conflicts_with = "output", help_heading = "Output")]
    json: bool,
}

pub(super) fn run(arguments: Arguments) -> Result<u8> {
    let sources: Vec<PathBuf> =
        std::iter::once(&arguments.first).chain(&arguments.second).cloned().collect();
    if let Some(output) = &arguments.output {
        if sources.iter().any(|source| same_file(source, output)) {
            bail!("-o {}: this file is one of the records; choose another file", output.display());
        }
        file::may_replace(output, arguments.overwrite)?;
    }
    let mut records = Vec::new();
    for (path, record) in sources.iter().zip(inputs::one_each(&sources, arguments.told)?) {
        inputs::check_figures(path, &record)?;
        records.push(arguments.filter.applied_to(&arguments.sizes, path, record)?);
    }
    let mut records = records.into_iter();
    let (first, second) = (records.next().context("a first record")?, records.next());
    let (path, between) = (&arguments.first, &arguments.between);
    let compared = match (&second, between) {
        (None, None) => bail!(
            "compare with what? Add a second record, or two providers with --between FIRST,SECOND"
        ),
        (None, Some((one, other))) => {
            has(&first, path, one)?;
            has(&first, path, other)?;
            compare::providers(&first, one, other)
        }
        (Some(second), None) => compare::runs(&first, second, Pairs::ByName),
        (Some(second), Some((one, other))) => {
            has(&first, path, one)?;
            has(second, arguments.second.as_ref().unwrap_or(path), other)?;
            compare::runs(&first, second, Pairs::Between(one, other))
        }
    };
    let Some(output) = &arguments.output else {
        return conclude(&compared, Destination::of(arguments.json), arguments.fail_if_slower);
    };
    let records = names(&sources).into_iter().zip(std::iter::once(first).chain(second));
    let file = Page { path: output, records: &records.collect::<Vec<_>>() };
    conclude(&compared, Destination::File(file), arguments.fail_if_slower)
}

/// The destination of a comparison.
enum Destination<'a> {
    /// Standard output, as a table.
    Table,
    /// Standard output, as JSON.
    Json,
    /// A file.
    File(Page<'a>),
}

impl Destination<'_> {
    fn of(json: bool) -> Destination<'static> {
        if json { Destination::Json } else { Destination::Table }
    }
}

/// A file for a comparison, and the records that the page describes beside it.
struct Page<'a> {
    path: &'a Path,
    /// The compared records, each with its name.
    records: &'a [(String, Record)],
}

impl Page<'_> {
    /// Writes a page, or JSON if the file's name ends in `.json`.
    fn write(&self, compared: &Compared) -> Result<()> {
        let text = match self.path.extension().and_then(|ending| ending.to_str()) {
            Some("html" | "htm") => cpb_report::html::comparison(compared, self.records)?,
            Some("json") => json(compared)?,
            _ => bail!(
                "-o {}: a comparison is written as a page or as JSON; use a file name that ends in .html or \
                 .json",
                self.path.display()
            ),
        };
        file::write(self.path, text)?;
        output::say(&format!("report: {}", self.path.display()));
        Ok(())
    }
}

fn json(compared: &Compared) -> Result<String> {
    Ok(serde_json::to_string_pretty(compared)? + "\n")
}

/// Two names separated by a comma.
fn between(text: &str) -> Result<(String, String), String> {
    match text.split(',').map(str::trim).collect::<Vec<_>>().as_slice() {
        [one, other] if !one.is_empty() && !other.is_empty() => {
            Ok(((*one).to_owned(), (*other).to_owned()))
        }
        _ => Err("write two names separated by a comma, such as openssl,mbedtls:c".to_owned()),
    }
}

/// Returns an error if `record` has no provider `name`; the error lists the providers that it has.
fn has(record: &Record, path: &Path, name: &str) -> Result<()> {
    let published = record.sources.iter().flat_map(|source| source.paths.keys());
    let known: BTreeSet<&str> =
        record.header.providers.keys().chain(published).map(String::as_str).collect();
    if known.contains(name) {
        return Ok(());
    }
    let known: Vec<&str> = known.into_iter().collect();
    bail!("--between: {} has no provider '{name}'; it has: {}", path.display(), known.join(", "))
}

/// Compares two runs, prints the result and returns the exit status.
///
/// # Errors
/// Returns an error if they have nothing in common, or if standard output cannot be written.
pub(super) fn with(
    first: &Record,
    second: &Record,
    json: bool,
    fail_if_slower: Option<Percent>,
) -> Result<u8> {
    conclude(&compare::runs(first, second, Pairs::ByName), Destination::of(json), fail_if_slower)
}

fn conclude(
    compared: &Compared,
    form: Destination<'_>,
    fail_if_slower: Option<Percent>,
) -> Result<u8> {
    if compared.cells.is_empty() {
        let machines = match cpb_report::compare::apart(compared) {
            [Some(first), Some(second)] => {
                format!("; they have no machine in common ({first}; {second})")
            }
            _ => String::new(),
        };
        bail!(
            "nothing to compare: {} and {} have no cell with a figure in common{machines} (`cpb show` \
             says why a cell has no figure; `--between` compares providers with different names)",
            compared.first,
            compared.second
        );
    }
    match form {
        Destination::Table => {
            output::print(&cpb_report::compare::render(
                compared,
                output::width(),
                output::colour(),
            ))?;
        }
        Destination::Json => output::print_json(&json(compared)?)?,
        Destination::File(file) => file.write(compared)?,
    }
    let Some(allowed) = fail_if_slower else { return Ok(DONE) };
    if compared.cells.iter().all(|row| row.ratio.interval.is_none()) {
        bail!("--fail-if-slower: no cell has a verdict, because a single figure has no interval");
    }
    let slower = slower(compared, allowed.0);
    let too_much = match cpb_report::compare::is_of_instructions(compared) {
        true => "more instructions an operation than allowed",
        false => "slower than allowed",
    };
    for words in &slower {
        output::say(&format!("cpb: {too_much}: {words}"));
    }
    Ok(if slower.is_empty() { DONE } else { FAILED })
}

/// Cells that are slower beyond doubt by more than the allowed share, and providers that are slower over all
/// their cells, each in words.
fn slower(compared: &Compared, allowed: f64) -> Vec<String> {
    let is_slower =
        |verdict: Verdict, ratio: Times| verdict == Verdict::Slower && ratio.0 > 1.0 + allowed;
    let cells = compared.cells.iter().filter(|row| is_slower(row.verdict, row.ratio.value));
    let families = compared.families.iter().filter(|family| {
        matches!(family.of, Kind::Provider(_)) && is_slower(family.verdict, family.ratio.value)
    });
    let families = families.filter_map(cpb_report::compare::family);
    cells.map(cpb_report::compare::cell).chain(families).collect()
}
