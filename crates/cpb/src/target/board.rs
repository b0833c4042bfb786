//! A board without an operating system, on a serial line or simulated. Its firmware is one runner with all
//! providers, and everything known about the board comes from the firmware.

use super::{Kind, Request, Target};
use crate::discovery::Discovered;
use crate::probe;
use crate::transport::serial::{self, Serial};
use crate::transport::sim::Simulator;
use crate::transport::{Affinity, BoardIdentity, Launch, RunnerError, RunnerSpec, Timeouts};
use anyhow::{Result, anyhow, bail};
use cpb_core::catalog;
use cpb_core::kernel::KernelSurvey;
use cpb_record::{Machine, State, names};
use std::path::PathBuf;
use std::sync::Arc;

/// `serial:DEVICE`.
pub(super) const SERIAL: Kind = Kind {
    form: "`serial:DEVICE`",
    about: "a board with cpb's firmware behind a serial line",
    has_a_list: false,
    takes_runners: false,
    open: |request| {
        let Some(device) = request.name.strip_prefix("serial:") else { return Ok(None) };
        let of_board = request.board.as_ref().and_then(|board| board.baud);
        let baud = request.baud.or(of_board).unwrap_or(serial::BAUD);
        let line = Serial { device: device.into(), baud };
        let board = reach(line, request, Timeouts::USUAL, probe::of_board)?;
        Ok(Some(Box::new(board)))
    },
};

/// `CHIP-sim`.
pub(super) const SIMULATED: Kind = Kind {
    form: "`CHIP-sim`",
    about: "a simulated board, with cpb's firmware",
    has_a_list: true,
    takes_runners: false,
    open: |request| {
        let Some(simulator) = Simulator::named(request.name)? else { return Ok(None) };
        let board = reach(simulator, request, Timeouts::SLOW, probe::of_simulated_board)?;
        Ok(Some(Box::new(board)))
    },
};

/// A board that has answered.
struct Board {
    launch: Arc<dyn Launch>,
    timeouts: Timeouts,
    machine: Machine,
}

/// Asks the device at the end of a line for its identity.
fn reach(
    line: impl Launch + 'static,
    request: &Request<'_>,
    usual: std::time::Duration,
    machine: fn(&BoardIdentity) -> Machine,
) -> Result<Board> {
    let timeouts = request.timeouts(usual);
    let runner =
        line.start(&Affinity::default(), &timeouts).map_err(|lost| anyhow!("{}", lost.detail))?;
    let Some(board) = runner.board() else {
        let name = line.shared().unwrap_or_default();
        bail!(
            "{name}: the device on this line did not answer as a cpb board; use `--runner` for a program"
        );
    };
    let machine = machine(board);
    drop(runner);
    Ok(Board { launch: Arc::new(line), timeouts, machine })
}

impl Target for Board {
    fn timeouts(&self) -> &Timeouts {
        &self.timeouts
    }

    fn cpus(&self) -> Result<Vec<usize>> {
        Ok(vec![0])
    }

    fn machine(&self, _: usize) -> Result<Machine> {
        Ok(self.machine.clone())
    }

    fn kernel(&self, _: usize) -> Option<KernelSurvey> {
        None
    }

    fn discover(
        &self,
        wanted: &[String],
        _: &[PathBuf],
        affinity: &Affinity,
    ) -> Result<Vec<Discovered>> {
        let gone = |lost: RunnerError| anyhow!("{}", lost.detail);
        let mut runner = self.launch.start(affinity, &self.timeouts).map_err(gone)?;
        let mut found = Vec::new();
        for provider in 0..=u8::MAX {
            let Some(description) = runner.describe(provider).map_err(gone)? else { break };
            let (name, launch) = (description.provider.clone(), Arc::clone(&self.launch));
            let spec = RunnerSpec { name, launch, provider, found: false };
            found.push(Discovered { spec, description: Ok(description) });
        }
        let wanted = names::whole(wanted);
        let wanted: Vec<String> = wanted.iter().map(|name| name.trim().to_owned()).collect();
        let names: Vec<&str> = found.iter().map(|found| found.spec.name.as_str()).collect();
        // A name that resembles none of these may be another board's, or that of software for Linux.
        let is_elsewhere = |name: &&String| {
            !names.contains(&name.as_str()) && names::near(name, &names).is_empty()
        };
        if let Some(name) = wanted.iter().find(is_elsewhere) {
            bail!("this board's firmware has no provider '{name}'; it has {}", names.join(", "));
        }
        names::places("provider", &wanted, &names)?;
        found.retain(|found| {
            let name = &found.spec.name;
            wanted.is_empty() || wanted.contains(name) || name == catalog::NULL
        });
        Ok(found)
    }

    fn end(&self, _: &Machine, _: usize) -> (State, Vec<String>) {
        Default::default()
    }
}
