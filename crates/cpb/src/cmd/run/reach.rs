//! Where a run measures: the machine, and the CPUs of it.

use super::Arguments;
use crate::board::Board;
use crate::cmd::output;
use crate::lab::definition::Definition;
use crate::lab::guest::Guest;
use crate::remote::{Address, Remote};
use crate::sources::{self, Home};
use crate::targets;
use crate::transport::serial::{self, Serial};
use crate::transport::sim::Simulator;
use crate::transport::{Line, Patience, Place};
use anyhow::{Context, Result, bail};
use cpb_record::budget::Seconds;
use cpb_record::names;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The machine to measure, and how long to wait for its answers.
pub(super) fn reach(
    target: &str,
    arguments: &Arguments,
    stop: &Arc<AtomicBool>,
) -> Result<(Home, Patience)> {
    let patience = |usual| {
        let answer = arguments.timeout.map_or(usual, Seconds::duration);
        Patience { answer, stop: Arc::clone(stop) }
    };
    if target.is_empty() {
        return Ok((Home::Here, Patience::here(arguments.timeout, stop)));
    }
    let board = targets::named(target)?;
    let target = board.as_ref().map_or(target, |board| board.target.as_str());
    if let Some(address) = target.strip_prefix("ssh:") {
        let ([] | [_]) = arguments.runner[..] else {
            bail!("over ssh --runner names the one cpb that is copied there, not several");
        };
        let address = Address {
            folder: board.as_ref().map(|board| board.folder.clone()).unwrap_or_default(),
            cpb: arguments.runner.first().cloned(),
            ..Address::parse(address)?
        };
        let say: &dyn Fn(&str) = if arguments.quiet { &|_| () } else { &say };
        return Ok((
            Home::Remote(Remote::connect(&address, stop, say)?),
            patience(Patience::USUAL),
        ));
    }
    if !arguments.runner.is_empty() {
        bail!("--runner: with --target only over ssh, where it names the cpb to copy there");
    }
    if let Some(device) = target.strip_prefix("serial:") {
        let baud =
            arguments.baud.or(board.as_ref().and_then(|board| board.baud)).unwrap_or(serial::BAUD);
        let line = Line::Serial(Serial { device: device.into(), baud });
        let patience = patience(Patience::USUAL);
        return Ok((Home::Board(Box::new(Board::reach(line, &patience)?)), patience));
    }
    if let Some(simulator) = Simulator::named(target)? {
        let patience = patience(Patience::SLOW);
        let board = Board::reach(Line::Simulator(simulator), &patience)?;
        return Ok((Home::Board(Box::new(board)), patience));
    }
    let Some(guest) = target.strip_prefix("lab:") else {
        let boards = targets::names();
        let boards: Vec<&str> = boards.iter().map(String::as_str).collect();
        let near = match names::near(target, &boards) {
            near if near.is_empty() => ": a".to_owned(),
            near => format!(", did you mean {}? A", near.join(" or ")),
        };
        bail!(
            "unknown target '{target}'{near} target is `ssh:HOST`, `serial:DEVICE` for a board without an \
             operating system, `lab:GUEST`, `CHIP-sim` for a simulated board, or the name of a board: {} \
             (`cpb list targets` shows all)",
            boards.join(", ")
        );
    };
    let say: &dyn Fn(&str) = if arguments.quiet { &|_| () } else { &crate::cmd::lab::say };
    Ok((Home::Guest(Guest::boot(guest, false, stop, say)?), patience(Patience::SLOW)))
}

fn say(what: &str) {
    output::say(&format!("ssh: {what}"));
}

/// Refuses what a guest cannot do before it is booted for nothing.
pub(super) fn fits_guest(
    target: &str,
    chosen: Option<usize>,
    threads: &[u8],
    providers: &[String],
) -> Result<()> {
    let Some(guest) = target.strip_prefix("lab:") else { return Ok(()) };
    let guest = Definition::find(guest)?;
    let (name, cpus) = (&guest.name, guest.cpus());
    let whole = match cpus {
        1 => "one CPU, number 0".to_owned(),
        several => format!("{several} CPUs, from 0 on"),
    };
    if let Some(cpu) = chosen.filter(|cpu| *cpu >= cpus) {
        bail!("no CPU {cpu} in the guest {name}: it has {whole}");
    }
    let most: usize = threads.iter().copied().max().unwrap_or(1).into();
    if most > cpus {
        bail!("{most} threads need {most} CPUs; the guest {name} has {whole}");
    }
    sources::known(providers)
}

/// These CPUs, before anything is known of them.
pub(super) fn place(cpus: &[usize]) -> Place {
    Place { cpus: cpus.to_vec(), latency: None }
}

/// The CPUs to measure on: the chosen one first, then others for more threads.
pub(super) fn cpus(
    home: &Home,
    patience: &Patience,
    chosen: Option<usize>,
    threads: &[u8],
) -> Result<Vec<usize>> {
    let mut allowed = home.cpus(patience)?;
    let list = || allowed.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
    let first = match chosen {
        Some(cpu) if allowed.contains(&cpu) => cpu,
        Some(cpu) => bail!("no CPU {cpu} for this process; it may use {}", list()),
        None => *allowed.last().context("this process may use no CPU")?,
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
