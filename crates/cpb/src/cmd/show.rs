//! `cpb show`: a record, in any form.

use super::filter::{Filter, Sizes};
use super::{DONE, output};
use crate::inputs::{self, Told};
use anyhow::Result;
use clap::Args;
use cpb_record::Record;
use std::path::PathBuf;

#[derive(Args)]
#[command(after_help = "Examples:\n  cpb show cpb-results/default-20260101T120000Z.jsonl\n  \
    cpb show --all RECORD        every size, with latencies\n  cpb show --csv RECORD > cells.csv\n  \
    cpb show imx6-software       a published table, see `cpb list records`")]
pub(super) struct Arguments {
    /// The record: a file, or a published record from `cpb list records`
    record: PathBuf,
    /// Show every provider and size, the latency of single operations, and all details of the run
    #[arg(long)]
    all: bool,
    /// Show one column per message size and one block per figure
    #[arg(long)]
    by_size: bool,
    #[command(flatten)]
    filter: Filter,
    #[command(flatten)]
    sizes: Sizes,
    #[command(flatten)]
    told: Told,
    #[command(flatten)]
    form: output::Form,
}

pub(super) fn run(arguments: Arguments) -> Result<u8> {
    let named = std::slice::from_ref(&arguments.record);
    let records =
        arguments.filter.applied(&arguments.sizes, inputs::records(named, arguments.told)?)?;
    let records: Vec<(String, Record)> =
        records.into_iter().map(|(path, record)| (path.display().to_string(), record)).collect();
    let (all, by_size) = (arguments.all, arguments.by_size);
    let options = cpb_report::terminal::Options { all, by_size, verdict_last: false };
    match records.as_slice() {
        [(_, record)] => output::show_record(record, &arguments.form, &options)?,
        _ => output::show_records(&records, &arguments.form, &options)?,
    }
    Ok(DONE)
}
