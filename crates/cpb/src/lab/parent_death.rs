//! A program that cannot outlive its host: `cpb leash PARENT PROGRAM ARGUMENTS...`.
//!
//! The kernel kills the program when the thread that started it is gone, also after a `kill -9` of cpb. No
//! second process is needed that could itself be killed.

use anyhow::{Context, Result, bail};
use rustix::process::{Signal, getppid, set_parent_process_death_signal};
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Executes `program` in this process.
///
/// # Errors
/// Returns an error if it cannot be started; otherwise does not return.
pub fn exec(parent: i32, program: &OsString, arguments: &[OsString]) -> Result<()> {
    // The setting survives exec(2): prctl(2), PR_SET_PDEATHSIG.
    set_parent_process_death_signal(Some(Signal::KILL)).context("cannot be tied to the host")?;
    // The host may have died before the call.
    if getppid().map(|pid| pid.as_raw_nonzero().get()) != Some(parent) {
        bail!("the host is gone");
    }
    let error = Command::new(program).args(arguments).exec();
    Err(error).with_context(|| format!("cannot start {}", program.display()))
}
