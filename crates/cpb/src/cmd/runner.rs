//! `cpb runner`, hidden: cpb as its own runner.

use anyhow::{Context, Result};
use clap::Args;
use std::ffi::OsString;

#[derive(Args)]
pub(super) struct Arguments {
    /// CPUs to run on, one per thread
    #[arg(long, value_delimiter = ',')]
    cpus: Vec<usize>,
    /// Cycles of a multiplication on these CPUs, as an earlier runner measured it
    #[arg(long)]
    latency: Option<u32>,
    /// Providers to serve [default: all that are built in]
    providers: Vec<OsString>,
}

pub(super) fn run(arguments: Arguments) -> Result<u8> {
    let place = cpb_runner::Affinity { cpus: &arguments.cpus, latency: arguments.latency };
    cpb_runner::run(&arguments.providers, place).context("runner")?;
    Ok(super::DONE)
}
