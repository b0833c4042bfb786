//! `cpb agent` and `cpb leash`, hidden: what cpb starts in guests, over ssh, and around other programs.

use super::DONE;
use crate::agent::server;
use crate::lab::parent_death;
use crate::remote;
use anyhow::Result;
use clap::Args;
use std::ffi::OsString;

#[derive(Args)]
pub(super) struct Arguments {
    /// Take orders on standard input, from a folder that contains only this file
    #[arg(long)]
    here: bool,
    /// Take orders on standard input
    #[arg(long, conflicts_with = "here")]
    stdio: bool,
}

pub(super) fn run(arguments: Arguments) -> Result<u8> {
    match (arguments.here, arguments.stdio) {
        (true, _) => remote::serve_from_own_folder()?,
        (_, true) => remote::serve()?,
        _ => server::serve()?,
    }
    Ok(DONE)
}

#[derive(Args)]
pub(super) struct Leash {
    /// Process ID that the parent must have
    parent: i32,
    /// Program and arguments
    #[arg(last = true, required = true)]
    command: Vec<OsString>,
}

pub(super) fn leash(arguments: Leash) -> Result<u8> {
    if let Some((program, arguments_of_it)) = arguments.command.split_first() {
        parent_death::exec(arguments.parent, program, arguments_of_it)?;
    }
    Ok(DONE)
}
