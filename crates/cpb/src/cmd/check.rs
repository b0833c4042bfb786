//! `cpb check`: the known answers of every provider, as a matrix.

use super::{DONE, FAILED, output};
use crate::names;
use crate::record::{ProviderRecord, Reason};
use crate::run::known_answers;
use crate::sources::{self, Home, Known};
use crate::transport::{Patience, Place};
use crate::vectors::Vectors;
use anyhow::{Result, bail};
use clap::Args;
use cpb_core::{Algorithm, Error, Operation};
use std::path::PathBuf;
use std::time::Duration;

#[derive(Args)]
#[command(after_help = "Each number is how many known answers were given right, out of published \
    vectors (NIST, RFC, Wycheproof), forged tags and impossible lengths.\n\nExamples:\n  cpb check\n  \
    cpb check --provider openssl --algorithm aes-256-gcm")]
pub(super) struct Arguments {
    /// Only these providers
    #[arg(short, long, value_delimiter = ',')]
    provider: Vec<String>,
    /// Only these algorithms
    #[arg(short, long, value_delimiter = ',')]
    algorithm: Vec<String>,
    /// Check the providers of this program, too
    #[arg(long, value_name = "PROGRAM")]
    runner: Vec<PathBuf>,
}

pub(super) fn run(arguments: Arguments) -> Result<u8> {
    let patience = Patience { answer: Duration::from_secs(10), stop: Default::default() };
    let vectors = Vectors::load()?;
    let mut algorithms = names::list("algorithm", &arguments.algorithm, Algorithm::ALL)?;
    if algorithms.is_empty() {
        algorithms = Algorithm::ALL.to_vec();
    }
    let known = sources::discover(
        &arguments.provider,
        &arguments.runner,
        &Home::Here,
        &Place::default(),
        &patience,
    )?;
    let mut columns = Vec::new();
    for known in known.iter().filter(|known| cpb_providers::computes(&known.source.name)) {
        columns.push(Column::check(known, &algorithms, &vectors, &patience)?);
    }
    output::print(&matrix(&algorithms, &columns))?;
    if columns.iter().any(|column| !column.wrong.is_empty()) {
        return Ok(FAILED);
    }
    if columns.iter().all(|column| column.right.iter().all(Option::is_none)) {
        bail!("nothing was checked: no provider that is named is here and computes one of these");
    }
    Ok(DONE)
}

/// One provider's answers.
struct Column {
    name: String,
    /// Why there are none at all.
    absent: Option<String>,
    /// By algorithm and operation: how many were right, and how many answers could not be known;
    /// none if it does not have them.
    right: Vec<Option<(u32, u32)>>,
    /// What was wrong, in words, by place in `right`.
    wrong: Vec<(usize, String)>,
}

impl Column {
    fn check(
        known: &Known,
        algorithms: &[Algorithm],
        vectors: &Vectors,
        patience: &Patience,
    ) -> Result<Column> {
        let name = known.source.name.clone();
        let mut column = Column { name, absent: None, right: Vec::new(), wrong: Vec::new() };
        if let ProviderRecord::Unavailable { detail, .. } = known.record() {
            column.absent = Some(detail);
            return Ok(column);
        }
        let start = || known.source.start(&Place::default(), patience);
        let mut runner = start()?;
        for what in rows(algorithms) {
            let (check, reason) = known_answers(&mut runner, &known.source, vectors, what);
            let right = check.map_or((0, 0), |check| (check.right, check.distinct));
            let answer = match reason {
                None => Some(right),
                Some(Reason::Unsupported(_)) => None,
                Some(Reason::Failed { error, detail }) => {
                    column.wrong.push((column.right.len(), format!("{error}: {detail}")));
                    if error != Error::WrongAnswer {
                        runner = start()?;
                    }
                    Some(right)
                }
            };
            column.right.push(answer);
        }
        Ok(column)
    }

    fn cell(&self, row: usize) -> String {
        if self.wrong.iter().any(|(place, _)| *place == row) {
            return "WRONG".to_owned();
        }
        match self.right.get(row) {
            Some(Some((0, distinct @ 1..))) => format!("~{distinct}"),
            Some(Some((right, _))) => right.to_string(),
            _ => "-".to_owned(),
        }
    }
}

fn rows(algorithms: &[Algorithm]) -> Vec<(Algorithm, Operation)> {
    let with = |&algorithm: &Algorithm| {
        algorithm.operations().iter().map(move |operation| (algorithm, *operation))
    };
    algorithms.iter().flat_map(with).collect()
}

/// Algorithms down, providers across, and what went wrong in words below.
fn matrix(algorithms: &[Algorithm], columns: &[Column]) -> String {
    const FIRST: usize = 26;
    // A provider's variant goes under its name, so that five of them fit in 80 columns.
    let parts: Vec<(&str, &str)> = columns
        .iter()
        .map(|column| column.name.split_once(':').unwrap_or((&column.name, "")))
        .collect();
    let line = |first: String, cells: Vec<String>| {
        let mut line = format!("{first:<FIRST$}");
        for (cell, (name, variant)) in cells.iter().zip(&parts) {
            let width = name.len().max(variant.len()).max(5) + 2;
            line += &format!("{cell:>width$}");
        }
        line + "\n"
    };
    let heading = |part: fn(&(&str, &str)) -> String| parts.iter().map(part).collect();
    let mut text = line("known answers right".to_owned(), heading(|part| part.0.to_owned()));
    if parts.iter().any(|(_, variant)| !variant.is_empty()) {
        text += &line(String::new(), heading(|part| part.1.to_owned()));
    }
    let rows = rows(algorithms);
    for (row, (algorithm, operation)) in rows.iter().enumerate() {
        let cells = columns.iter().map(|column| column.cell(row)).collect();
        text += &line(format!("{algorithm:<18}{operation}"), cells);
    }
    let counts = || columns.iter().flat_map(|column| column.right.iter().flatten());
    let total: u32 = counts().map(|(right, _)| right).sum();
    let wrong: usize = columns.iter().map(|column| column.wrong.len()).sum();
    text += &format!("\n{total} known answers right, {wrong} algorithms wrong\n");
    if counts().any(|(_, distinct)| *distinct > 0) {
        text += "~ random bytes that cannot be known: answered in full, each time anew\n";
    }
    for column in columns {
        if let Some(absent) = &column.absent {
            text += &format!("{}: not here: {absent}\n", column.name);
        }
        for (row, what) in &column.wrong {
            let (algorithm, operation) = rows[*row];
            text += &format!("{} {algorithm} {operation}: {what}\n", column.name);
        }
    }
    text
}
