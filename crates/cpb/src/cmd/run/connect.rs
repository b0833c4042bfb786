//! Where a run measures: the machine and its CPUs.

use super::Arguments;
use crate::cmd::output;
use crate::target::{self, Request, Target, Wanted};
use crate::transport::Affinity;
use anyhow::{Context, Result, bail};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Connects to the machine to measure.
pub(super) fn connect(
    target: &str,
    arguments: &Arguments,
    wanted: Wanted<'_>,
    stop: &Arc<AtomicBool>,
) -> Result<Box<dyn Target>> {
    target::open(Request {
        name: target,
        board: None,
        runners: &arguments.runner,
        baud: arguments.baud,
        timeout: arguments.timeout,
        wanted,
        say: if arguments.quiet { &|_| () } else { &output::say },
        stop,
    })
}

/// These CPUs, before anything is known about them.
pub(super) fn affinity(cpus: &[usize]) -> Affinity {
    Affinity { cpus: cpus.to_vec(), latency: None }
}

/// The CPUs to measure on: the chosen one first, then more CPUs for more threads.
pub(super) fn cpus(
    target: &dyn Target,
    chosen: Option<usize>,
    threads: &[u8],
) -> Result<Vec<usize>> {
    let mut allowed = target.cpus()?;
    let list = || allowed.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
    let first = match chosen {
        Some(cpu) if allowed.contains(&cpu) => cpu,
        Some(cpu) => bail!("this process may not use CPU {cpu}; it may use {}", list()),
        None => *allowed.last().context("this process may not use any CPU")?,
    };
    let most = threads.iter().copied().max().unwrap_or(1).into();
    if most > allowed.len() {
        bail!(
            "{most} threads need {most} CPUs; this process may use {}: {}",
            allowed.len(),
            list()
        );
    }
    allowed.retain(|cpu| *cpu != first);
    allowed.insert(0, first);
    allowed.truncate(most);
    Ok(allowed)
}
