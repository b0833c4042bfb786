//! `cpb check`: a matrix of providers and known answers.

use super::{DONE, FAILED, output};
use crate::discovery::Discovered;
use crate::run::known_answers;
use crate::target::{self, Local, Request, Target, Wanted};
use crate::transport::conversation::Conversation;
use crate::transport::{Affinity, RunnerError, Timeouts};
use crate::vectors::Vectors;
use anyhow::{Result, bail};
use clap::Args;
use cpb_core::catalog;
use cpb_core::memory_read::{Pattern, Width};
use cpb_core::{Algorithm, Error, MemoryReadWorkload};
use cpb_record::budget::Seconds;
use cpb_record::names;
use cpb_record::{Check, Checked, NotMeasuredReason, ProviderRecord};
use cpb_report::{left, right};
use std::collections::BTreeMap;
use std::num::NonZero;
use std::panic::resume_unwind;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

#[derive(Args)]
#[command(
    after_help = "Each number counts the known answers that the provider got right: published \
    vectors (NIST, RFC, Wycheproof), forged tags and invalid lengths.\n\nExamples:\n  cpb check\n  \
    cpb check --provider openssl --algorithm aes-256-gcm"
)]
pub(super) struct Arguments {
    /// Check only these providers
    #[arg(short, long, value_delimiter = ',')]
    provider: Vec<String>,
    /// Check only these algorithms
    #[arg(short, long, value_delimiter = ',')]
    algorithm: Vec<String>,
    /// Check the providers of another machine, such as imxrt1060-sim or ssh:HOST (`cpb list targets`)
    #[arg(long, value_name = "TARGET")]
    target: Option<String>,
    /// Speed of a board's serial line, in bits per second [default: 115200]
    #[arg(long, value_name = "NUMBER")]
    baud: Option<u32>,
    /// Also check the providers of this program
    #[arg(long, value_name = "PROGRAM")]
    runner: Vec<PathBuf>,
    /// Give up on a provider that does not answer for this long [default: 10s, on an emulated machine 60s]
    #[arg(long, value_name = "TIME")]
    timeout: Option<Seconds>,
}

pub(super) fn run(arguments: Arguments) -> Result<u8> {
    let place = place(&arguments)?;
    let vectors = Vectors::load()?;
    let mut algorithms = names::list("algorithm", &arguments.algorithm, Algorithm::ALL)?;
    if algorithms.is_empty() {
        algorithms = Algorithm::ALL.to_vec();
    }
    let known = place.discover(&arguments.provider, &arguments.runner, &Affinity::default())?;
    let known: Vec<&Discovered> =
        known.iter().filter(|known| catalog::computes(&known.spec.name)).collect();
    let names: Vec<&str> = known.iter().map(|known| known.spec.name.as_str()).collect();
    let rows = rows(&algorithms, &names);
    let at_once = if place.is_here() { cpus() } else { 1 };
    let columns = columns(&known, &rows, &vectors, place.timeouts(), at_once);
    // A library of one's own or an engine has a few algorithms; the rows of all others would hide them.
    let named = arguments.target.is_some() || names.iter().all(|name| is_own_library(name));
    let brief = arguments.algorithm.is_empty() && named;
    output::print(&matrix(&rows, &columns, output::width(), brief))?;
    if columns.iter().any(|column| column.gave_up || !column.wrong.is_empty()) {
        return Ok(FAILED);
    }
    if columns.iter().all(|column| column.right.iter().all(Option::is_none)) {
        bail!(
            "nothing was checked: none of the selected providers is available here and supports these algorithms"
        );
    }
    Ok(DONE)
}

/// The machine whose providers are checked.
fn place(arguments: &Arguments) -> Result<Box<dyn Target>> {
    let stop = Arc::default();
    let Some(name) = &arguments.target else {
        return Ok(Box::new(Local::new(arguments.timeout, &stop)));
    };
    target::open(Request {
        name,
        board: None,
        runners: &arguments.runner,
        baud: arguments.baud,
        timeout: arguments.timeout,
        wanted: Wanted { providers: &arguments.provider, ..Wanted::default() },
        say: &output::say,
        stop: &stop,
    })
}

fn cpus() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get)
}

fn is_own_library(name: &str) -> bool {
    catalog::find(name).is_some_and(|choice| choice.entry.name == catalog::C_LIBRARY)
}

/// The answers of all providers, in their order. Here, as many providers are asked at once as there are CPUs,
/// because nothing is timed. Their runners are started before that: qemu-user may hang a process that is
/// started while another thread computes. Elsewhere there may be a single line, so they take turns.
fn columns(
    known: &[&Discovered],
    rows: &[Checked],
    vectors: &Vectors,
    timeouts: &Timeouts,
    at_once: usize,
) -> Vec<Column> {
    let start = |known: &Discovered| known.spec.launch.start(&Affinity::default(), timeouts);
    if at_once == 1 {
        let check = |known: &&Discovered| {
            let runner = known.available().then(|| start(known));
            Column::check(known, runner, || start(known), rows, vectors)
        };
        return known.iter().map(check).collect();
    }
    let runners: Vec<Option<Result<Conversation, RunnerError>>> =
        known.iter().map(|known| known.available().then(|| start(known))).collect();
    let waiting = Mutex::new(known.iter().zip(runners).enumerate());
    let next = || waiting.lock().unwrap_or_else(PoisonError::into_inner).next();
    let work = || {
        let mut done = Vec::new();
        while let Some((place, (known, runner))) = next() {
            let restart = || start(known);
            done.push((place, Column::check(known, runner, restart, rows, vectors)));
        }
        done
    };
    let mut done: Vec<(usize, Column)> = thread::scope(|scope| {
        let workers: Vec<_> = (0..at_once.min(known.len())).map(|_| scope.spawn(work)).collect();
        let joined = workers.into_iter().map(|worker| worker.join());
        joined.flat_map(|done| done.unwrap_or_else(|panic| resume_unwind(panic))).collect()
    });
    done.sort_by_key(|(place, _)| *place);
    done.into_iter().map(|(_, column)| column).collect()
}

/// How many answers were shown to be right, and in which way.
#[derive(Clone, Copy, Default)]
struct Shown {
    right: u32,
    distinct: u32,
    round_trips: u32,
}

impl Shown {
    fn of(check: &Check) -> Shown {
        let Check { right, distinct, round_trips, .. } = *check;
        Shown { right, distinct, round_trips }
    }
}

/// One provider's answers.
struct Column {
    name: String,
    /// Why the provider gave no answers, or stopped giving them.
    absent: Option<String>,
    /// Whether the reason is that the runner died or was too slow.
    gave_up: bool,
    /// By algorithm and operation; `None` if the provider does not support it.
    right: Vec<Option<Shown>>,
    /// The failures.
    wrong: Vec<Wrong>,
}

/// A failure at one algorithm and operation.
struct Wrong {
    /// Its index in the [`rows`].
    row: usize,
    /// Whether no answer came at all, because the runner died or was too slow.
    unanswered: bool,
    /// The failure in words.
    words: String,
}

impl Column {
    fn check(
        known: &Discovered,
        runner: Option<Result<Conversation, RunnerError>>,
        restart: impl Fn() -> Result<Conversation, RunnerError>,
        rows: &[Checked],
        vectors: &Vectors,
    ) -> Column {
        let name = known.spec.name.clone();
        let mut column =
            Column { name, absent: None, gave_up: false, right: Vec::new(), wrong: Vec::new() };
        if let ProviderRecord::Unavailable { detail, .. } = known.record() {
            let silent = known.silent();
            column.gave_up = silent.is_some();
            column.absent = Some(silent.unwrap_or_else(|| format!("not available: {detail}")));
        }
        let mut runner = match runner {
            None => return column,
            Some(Ok(runner)) => runner,
            Some(Err(lost)) => {
                (column.absent, column.gave_up) = (Some(lost.to_string()), true);
                return column;
            }
        };
        for &what in rows {
            let (check, reason) = known_answers(&mut runner, &known.spec, vectors, what);
            let right = check.as_ref().map(Shown::of).unwrap_or_default();
            let answer = match reason {
                None => Some(right),
                Some(NotMeasuredReason::Unsupported(_)) => None,
                Some(NotMeasuredReason::Failed { error, detail }) => {
                    let unanswered = matches!(error, Error::Crashed | Error::Timeout);
                    let (row, words) = (
                        column.right.len(),
                        format!("{}: {detail}", catalog::error_words(&known.spec.name, error)),
                    );
                    column.wrong.push(Wrong { row, unanswered, words });
                    if error != Error::WrongAnswer {
                        runner = match restart() {
                            Ok(runner) => runner,
                            Err(lost) => {
                                column.right.push(Some(right));
                                let words = format!("the remaining rows were not checked: {lost}");
                                column.absent = Some(words);
                                return column;
                            }
                        };
                    }
                    Some(right)
                }
            };
            column.right.push(answer);
        }
        column
    }

    fn cell(&self, row: usize) -> String {
        if let Some(wrong) = self.wrong.iter().find(|wrong| wrong.row == row) {
            return if wrong.unanswered { "FAILED" } else { "WRONG" }.to_owned();
        }
        match self.right.get(row) {
            Some(Some(Shown { right: 0, distinct: count @ 1.., .. })) => format!("~{count}"),
            Some(Some(Shown { right: 0, round_trips: count @ 1.., .. })) => format!("↔{count}"),
            Some(Some(shown)) => shown.right.to_string(),
            _ => "-".to_owned(),
        }
    }
}

/// What is checked of these algorithms. If they are all algorithms, memory reads are checked as well. Rows
/// that none of the providers is meant for are left out.
fn rows(algorithms: &[Algorithm], providers: &[&str]) -> Vec<Checked> {
    let of_algorithm = |&algorithm: &Algorithm| {
        let operations = algorithm.operations().iter();
        operations.map(move |&operation| Checked::Crypto { algorithm, operation })
    };
    let mut rows: Vec<Checked> = algorithms.iter().flat_map(of_algorithm).collect();
    if providers.iter().all(|name| *name == catalog::MEMORY) {
        rows.clear();
    }
    let any_reads = providers.iter().any(|name| catalog::reads_memory(name));
    if algorithms == Algorithm::ALL && any_reads {
        for &width in Width::ALL {
            rows.extend(Pattern::ALL.iter().map(|&pattern| Checked::MemoryRead {
                workload: MemoryReadWorkload::new(width, pattern, 0),
            }));
        }
    }
    rows
}

/// Width of the column for algorithms; a longer name gets its own line.
const NAME: usize = 18;

/// Width of the first column: algorithm and operation.
const FIRST: usize = 31;

/// A provider's name and its variant. The variant goes on the next line, so that five providers fit.
fn heading(column: &Column) -> (&str, &str) {
    column.name.split_once(':').unwrap_or((&column.name, ""))
}

fn width(column: &Column) -> usize {
    let (name, variant) = heading(column);
    name.len().max(variant.len()).max(5) + 2
}

/// Splits columns into blocks of at most `most` characters, unless a single column is wider.
fn blocks(columns: &[Column], most: usize) -> Vec<&[Column]> {
    let mut blocks = Vec::new();
    let mut rest = columns;
    while !rest.is_empty() {
        let mut used = FIRST;
        let fit = |column: &&Column| {
            used += width(column);
            used <= most
        };
        let (block, others) = rest.split_at(rest.iter().take_while(fit).count().max(1));
        blocks.push(block);
        rest = others;
    }
    blocks
}

/// Algorithms down, providers across, as many at a time as fit; failures follow in words. A block leaves out
/// algorithms that none of its providers supports, if there are several blocks or the matrix is to be brief.
fn matrix(rows: &[Checked], columns: &[Column], width: usize, brief: bool) -> String {
    let mut text = String::new();
    let mut heading = "known answers right";
    let blocks = blocks(columns, width);
    for block in &blocks {
        text += &block_text(heading, rows, block, brief || blocks.len() > 1);
        text.push('\n');
        heading = "";
    }
    let counts = || columns.iter().flat_map(|column| column.right.iter().flatten());
    let total: u32 = counts().map(|shown| shown.right).sum();
    let (unanswered, wrong): (Vec<&Wrong>, Vec<&Wrong>) =
        columns.iter().flat_map(|column| &column.wrong).partition(|wrong| wrong.unanswered);
    text += &format!("{total} known answers right, {} algorithms wrong", wrong.len());
    if !unanswered.is_empty() {
        text += &format!(", {} without an answer", unanswered.len());
    }
    text.push('\n');
    if brief {
        text += &unsupported(rows, columns);
    } else if columns.iter().any(|column| column.right.iter().any(Option::is_none)) {
        text += "- not supported: `cpb run` with this algorithm shows the reason\n";
    }
    if counts().any(|shown| shown.distinct > 0) {
        text += "~ random bytes, which have no known answer: full length, different each time\n";
    }
    if counts().any(|shown| shown.round_trips > 0) {
        text += "↔ results that are random by design: verified with the inverse operation\n";
    }
    for column in columns {
        if let Some(absent) = &column.absent {
            text += &format!("{}: {absent}\n", column.name);
        }
        for Wrong { row, words, .. } in &column.wrong {
            text += &format!("{} {}: {words}\n", column.name, rows[*row]);
        }
    }
    text
}

/// The number of algorithms that no provider supports, as a line.
fn unsupported(rows: &[Checked], columns: &[Column]) -> String {
    let mut all = BTreeMap::new();
    for (row, what) in rows.iter().enumerate() {
        let is_meant = |algorithm| columns.iter().any(|c| catalog::is_for(&c.name, algorithm));
        if let Checked::Crypto { algorithm, .. } = what
            && is_meant(*algorithm)
        {
            let any = columns.iter().any(|column| column.cell(row) != "-");
            *all.entry(algorithm.name()).or_insert(false) |= any;
        }
    }
    let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
    match all.values().filter(|any| !**any).count() {
        0 => String::new(),
        1 => format!("1 algorithm is not supported by {}\n", names.join(", ")),
        many => format!("{many} algorithms are not supported by {}\n", names.join(", ")),
    }
}

fn block_text(title: &str, rows: &[Checked], columns: &[Column], only_theirs: bool) -> String {
    let line = |first: &str, cells: Vec<String>| {
        let mut line = left(first, FIRST);
        for (cell, column) in cells.iter().zip(columns) {
            line += &right(cell, width(column));
        }
        line.trim_end().to_owned() + "\n"
    };
    let has_any = |column: &Column| (0..rows.len()).any(|row| column.cell(row) != "-");
    if only_theirs && !columns.iter().any(has_any) {
        let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
        return format!("no known answers: {}\n", names.join(", "));
    }
    let names = columns.iter().map(|column| heading(column).0.to_owned()).collect();
    let mut text = line(title, names);
    if columns.iter().any(|column| !heading(column).1.is_empty()) {
        let variants = columns.iter().map(|column| heading(column).1.to_owned()).collect();
        text += &line("", variants);
    }
    for (row, what) in rows.iter().enumerate() {
        let cells: Vec<String> = columns.iter().map(|column| column.cell(row)).collect();
        if !only_theirs || cells.iter().any(|cell| cell != "-") {
            let Checked::Crypto { algorithm, operation } = what else {
                text += &line(&format!("{what} "), cells);
                continue;
            };
            let mut name = algorithm.name();
            if name.len() >= NAME {
                text += &format!("{name}\n");
                name = "";
            }
            text += &line(&format!("{name:<NAME$}{operation} "), cells);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const WIDTH: usize = 80;

    #[test]
    fn many_providers_are_shown_in_blocks_that_fit_with_the_algorithms_that_they_have() {
        let algorithms = [Algorithm::Aes128Cbc, Algorithm::Sha256, Algorithm::HmacDrbgSha512];
        let rows = rows(&algorithms, &["mbedtls:c"]);
        let column = |(number, name): (usize, &str)| Column {
            name: name.to_owned(),
            absent: None,
            gave_up: false,
            right: (0..4)
                .map(|row| (row == number % 4).then_some(Shown { right: 30, ..Shown::default() }))
                .collect(),
            wrong: Vec::new(),
        };
        let names = [
            "af_alg:cbc-aes-aesni",
            "af_alg:virtio_crypto_aes_cbc",
            "af_alg:sha256-generic",
            "af_alg:drbg_nopr_hmac_sha512",
            "af_alg:a-name-that-is-as-long-as-the-kernel-allows-one-to-be-in-all-here",
            "mbedtls:c",
        ];
        let columns: Vec<Column> = names.into_iter().enumerate().map(column).collect();
        let text = matrix(&rows, &columns, WIDTH, false);
        let longest = 2 + names[4].len() - "af_alg:".len() + FIRST;
        for line in text.lines() {
            let wide = line.contains("as-long") || columns[4].name.len() > 60 && line.len() > WIDTH;
            assert!(line.len() <= if wide { longest } else { WIDTH }, "{line}");
        }
        for name in names {
            assert!(text.contains(name.split(':').nth(1).unwrap_or(name)), "{name}: {text}");
        }
        // Each provider has one algorithm; a block with two providers shows the shared row once.
        assert!(text.matches("30").count() == names.len(), "{text}");
        assert!(text.lines().count() < 30, "{text}");

        // A block without any answer has no table.
        let none = |column: Column| Column { right: vec![None; 4], ..column };
        let text = matrix(&rows, &columns.into_iter().map(none).collect::<Vec<_>>(), WIDTH, false);
        assert!(
            text.contains("no known answers: mbedtls:c\n") && !text.contains("sha-256"),
            "{text}"
        );
        assert!(text.contains("- not supported"), "{text}");
    }
}
