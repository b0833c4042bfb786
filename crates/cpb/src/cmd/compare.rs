//! `cpb compare`: did anything get slower or faster?

use super::{DONE, FAILED, output};
use crate::analysis::compare::{self, Compared, Pairs, Row};
use crate::analysis::ratio::Verdict;
use crate::budget::Percent;
use crate::record::Record;
use crate::{report, store};
use anyhow::{Result, bail};
use clap::Args;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

#[derive(Args)]
#[command(
    after_help = "Ratios are cost of the second by cost of the first: above 1 the second is \
    slower.\n\nExit status: 0 done, 1 slower than --fail-if-slower allows, 2 bad input or nothing to \
    compare.\n\nExamples:\n  cpb compare BEFORE.jsonl AFTER.jsonl\n  \
    cpb compare BEFORE.jsonl AFTER.jsonl --fail-if-slower 3%\n  \
    cpb compare RECORD.jsonl --between openssl,mbedtls:c\n  \
    cpb compare records/imxrt-mbedtls.jsonl RECORD.jsonl\n  \
    cpb compare TABLE.jsonl RECORD.jsonl --between software:none,mbedtls"
)]
pub(super) struct Arguments {
    /// The first record
    first: PathBuf,
    /// The second
    #[arg(required_unless_present = "between")]
    second: Option<PathBuf>,
    /// Two providers: of one record, or one of each
    #[arg(long, value_name = "FIRST,SECOND", value_parser = between)]
    between: Option<(String, String)>,
    /// Exit with status 1 if a cell is slower by more than this share, and surely slower
    #[arg(long, value_name = "SHARE")]
    fail_if_slower: Option<Percent>,
    /// Print everything as JSON
    #[arg(long, help_heading = "Output")]
    json: bool,
}

pub(super) fn run(arguments: Arguments) -> Result<u8> {
    let first = store::read(&arguments.first)?;
    let (path, between) = (&arguments.first, &arguments.between);
    let compared = match (&arguments.second, between) {
        (None, None) => bail!("name a second record, or two providers by --between FIRST,SECOND"),
        (None, Some((one, other))) => {
            has(&first, path, one)?;
            has(&first, path, other)?;
            compare::providers(&first, one, other)
        }
        (Some(second), None) => compare::runs(&first, &store::read(second)?, Pairs::ByName),
        (Some(path_of_second), Some((one, other))) => {
            let second = store::read(path_of_second)?;
            has(&first, path, one)?;
            has(&second, path_of_second, other)?;
            compare::runs(&first, &second, Pairs::Between(one, other))
        }
    };
    conclude(&compared, arguments.json, arguments.fail_if_slower)
}

/// Two names with a comma between.
fn between(text: &str) -> Result<(String, String), String> {
    match text.split(',').map(str::trim).collect::<Vec<_>>().as_slice() {
        [one, other] if !one.is_empty() && !other.is_empty() => {
            Ok(((*one).to_owned(), (*other).to_owned()))
        }
        _ => Err("two names with a comma between, such as openssl,mbedtls:c".to_owned()),
    }
}

/// Whether `record` knows the provider `name`; the error names those that it knows.
fn has(record: &Record, path: &Path, name: &str) -> Result<()> {
    let published = record.sources.iter().flat_map(|source| source.paths.keys());
    let known: BTreeSet<&str> =
        record.header.providers.keys().chain(published).map(String::as_str).collect();
    if known.contains(name) {
        return Ok(());
    }
    let known: Vec<&str> = known.into_iter().collect();
    bail!("--between: {} has no provider '{name}'; it has {}", path.display(), known.join(", "))
}

/// Compares two runs, prints that and says what the exit status is.
///
/// # Errors
/// They have nothing in common, or standard output cannot be written.
pub(super) fn with(
    first: &Record,
    second: &Record,
    json: bool,
    fail_if_slower: Option<Percent>,
) -> Result<u8> {
    conclude(&compare::runs(first, second, Pairs::ByName), json, fail_if_slower)
}

fn conclude(compared: &Compared, json: bool, fail_if_slower: Option<Percent>) -> Result<u8> {
    if compared.cells.is_empty() {
        let machines = match report::compare::apart(compared) {
            [Some(first), Some(second)] => {
                format!("; none of the one's machines ({first}) is one of the other's ({second})")
            }
            _ => String::new(),
        };
        bail!(
            "nothing to compare: {} and {} have no cell with a figure in common{machines} (`cpb show` \
             says why a cell has none; `--between` compares providers of different names)",
            compared.first,
            compared.second
        );
    }
    let text = if json {
        serde_json::to_string_pretty(compared)? + "\n"
    } else {
        report::compare::render(compared, output::width(), output::colour())
    };
    output::print(&text)?;
    let Some(allowed) = fail_if_slower else { return Ok(DONE) };
    if compared.cells.iter().all(|row| row.verdict == Verdict::Undecided) {
        bail!("--fail-if-slower: no cell has a verdict, for a single figure has no interval");
    }
    let slower = slower(compared, allowed.0);
    for row in &slower {
        output::say(&format!("cpb: slower than allowed: {}", report::compare::cell(row)));
    }
    Ok(if slower.is_empty() { DONE } else { FAILED })
}

/// Cells that are surely slower, and by more than is allowed.
fn slower(compared: &Compared, allowed: f64) -> Vec<&Row> {
    let cells = compared.cells.iter();
    cells
        .filter(|row| row.verdict == Verdict::Slower && row.ratio.value.0 > 1.0 + allowed)
        .collect()
}
