//! `cpb agent` and `cpb leash`, hidden: what the lab starts.

use super::DONE;
use crate::agent;
use crate::lab::leash;
use anyhow::Result;
use clap::Args;
use std::ffi::OsString;

pub(super) fn run() -> Result<u8> {
    agent::serve()?;
    Ok(DONE)
}

#[derive(Args)]
pub(super) struct Leash {
    /// Process that must be the parent
    parent: i32,
    /// Program and arguments
    #[arg(last = true, required = true)]
    command: Vec<OsString>,
}

pub(super) fn leash(arguments: Leash) -> Result<u8> {
    if let Some((program, arguments_of_it)) = arguments.command.split_first() {
        leash::exec(arguments.parent, program, arguments_of_it)?;
    }
    Ok(DONE)
}
