//! `cpb show`: a record again, in any form.

use super::{DONE, output};
use crate::analysis::summary::summarise;
use crate::{report, store};
use anyhow::Result;
use clap::Args;
use std::path::PathBuf;

#[derive(Args)]
#[command(after_help = "Examples:\n  cpb show cpb-results/default-20260101T120000Z.jsonl\n  \
    cpb show --all RECORD        every size, with latencies\n  cpb show --csv RECORD > cells.csv")]
pub(super) struct Arguments {
    /// The record
    record: PathBuf,
    /// Show every size, and the latency of single operations
    #[arg(long)]
    all: bool,
    /// Show one column a message size, one block a figure
    #[arg(long)]
    by_size: bool,
    #[command(flatten)]
    form: output::Form,
}

pub(super) fn run(arguments: Arguments) -> Result<u8> {
    let record = store::read(&arguments.record)?;
    if !record.sources.is_empty() {
        output::show_published(&record, &arguments.form)?;
        return Ok(DONE);
    }
    let summary = summarise(&record);
    let options = report::terminal::Options { all: arguments.all, by_size: arguments.by_size };
    output::show(&summary, &arguments.form, &options)?;
    Ok(DONE)
}
