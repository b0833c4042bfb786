//! A program that cannot outlive its host: `cpb leash PARENT PROGRAM ARGUMENTS...`.
//!
//! The kernel itself is the watchdog: it kills the program when the thread that started it is gone,
//! also after a `kill -9` of cpb, and there is no second process that could be killed instead.

use anyhow::{Context, Result, bail};
use rustix::process::{Signal, getppid, set_parent_process_death_signal};
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Becomes `program`.
///
/// # Errors
/// It cannot be started; there is no return otherwise.
pub fn exec(parent: i32, program: &OsString, arguments: &[OsString]) -> Result<()> {
    // Outlives exec(2): prctl(2), PR_SET_PDEATHSIG.
    set_parent_process_death_signal(Some(Signal::KILL)).context("cannot be tied to the host")?;
    // The host may have died before.
    if getppid().map(|pid| pid.as_raw_nonzero().get()) != Some(parent) {
        bail!("the host is gone");
    }
    let error = Command::new(program).args(arguments).exec();
    Err(error).with_context(|| format!("cannot start {}", program.display()))
}
