//! `cpb doctor`: how suitable this machine is for measuring.

use super::{BAD_INPUT, DONE, FAILED, INTERRUPTED, output, run};
use crate::library;
use crate::run::Ended;
use anyhow::{Context, Result};
use clap::Args;
use cpb_analysis::grade::{self, Level};
use cpb_analysis::summary::summarise;
use cpb_record::store;
use cpb_report::doctor::render;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

#[derive(Args)]
#[command(
    after_help = "Exit status: 0 good or fair conditions, 1 poor ones, or times cannot be measured.\n\nExamples:\n  \
    cpb doctor                 takes two seconds\n  \
    cpb doctor --cpu 3         another CPU\n  \
    cpb doctor && cpb run      measure only on a suitable machine"
)]
pub(super) struct Arguments {
    /// CPU to check [default: the last CPU that this process may use]
    #[arg(long, value_name = "NUMBER")]
    cpu: Option<usize>,
    /// Print the grade as JSON
    #[arg(long, help_heading = "Output")]
    json: bool,
}

pub(super) fn run(arguments: Arguments) -> Result<u8> {
    let stop = Arc::new(AtomicBool::new(false));
    run::stop_on_signals(Arc::clone(&stop))?;
    let allowed =
        cpb_runner::pin::allowed().context("cannot determine which CPUs this process may use")?;
    let Some(cpu) = arguments.cpu.or(allowed.last().copied()) else {
        anyhow::bail!("this process may not use any CPU");
    };
    // The record is not needed afterwards.
    let path = std::env::temp_dir().join(format!("cpb-doctor-{}.jsonl", std::process::id()));
    let measured =
        run::measure(library::carried_plan(library::DOCTOR)?, cpu, true, &stop, Some(path.clone()));
    let record = store::read(&path);
    // The record may never have been created.
    let _ = std::fs::remove_file(&path);
    match measured? {
        None | Some((_, Ended::Interrupted)) => return Ok(INTERRUPTED),
        Some(_) => {}
    }
    let summary = summarise(&record?);
    let grade = grade::of(&summary);
    if arguments.json {
        output::print_json(&(serde_json::to_string_pretty(&grade)? + "\n"))?;
    } else {
        output::print(&render(&summary, &grade, output::width()))?;
    }
    Ok(match grade.level {
        Level::Good | Level::Fair => DONE,
        Level::Poor => FAILED,
        Level::None if summary.cells.is_empty() => BAD_INPUT,
        Level::None => FAILED,
    })
}
