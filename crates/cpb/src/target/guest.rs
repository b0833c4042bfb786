//! A guest of the lab.

use super::with_agent::{AgentMachine, WithAgent};
use super::{Kind, Wanted};
use crate::discovery;
use crate::lab::definition::Definition;
use crate::lab::guest::Guest;
use crate::schedule;
use crate::transport::Timeouts;
use anyhow::{Result, bail};
use cpb_core::measure::Budget;
use cpb_record::{Machine, State};
use std::time::Duration;

/// The prefix of such a target's name.
pub const PREFIX: &str = "lab:";

/// `lab:GUEST`.
pub(super) const KIND: Kind = Kind {
    form: "`lab:GUEST`",
    about: "a guest of the lab (`cpb lab list`)",
    has_a_list: true,
    takes_runners: false,
    open: |request| {
        let Some(name) = request.name.strip_prefix(PREFIX) else { return Ok(None) };
        fits(&Definition::find(name)?, &request.wanted)?;
        let say = |what: &str| (request.say)(&format!("lab: {what}"));
        let host = Guest::boot(name, false, request.stop, &say)?;
        Ok(Some(Box::new(WithAgent { host, timeouts: request.timeouts(Timeouts::SLOW) })))
    },
};

/// Refuses what a guest cannot do, before it is booted.
fn fits(guest: &Definition, wanted: &Wanted<'_>) -> Result<()> {
    let (name, cpus) = (&guest.name, guest.cpus());
    let whole = match cpus {
        1 => "one CPU, number 0".to_owned(),
        several => format!("{several} CPUs, numbered from 0"),
    };
    if let Some(cpu) = wanted.cpu.filter(|cpu| *cpu >= cpus) {
        bail!("the guest {name} has no CPU {cpu}: it has {whole}");
    }
    let most: usize = wanted.threads.iter().copied().max().unwrap_or(1).into();
    if most > cpus {
        bail!("{most} threads need {most} CPUs; the guest {name} has {whole}");
    }
    discovery::known(wanted.providers)
}

impl AgentMachine for Guest {
    const BUDGET: Budget<Duration> = schedule::SLOW_BUDGET;
    const HAS_A_STATE: bool = false;
    const LOSES_CONNECTIONS: bool = false;

    /// The load and clocks of a guest mean nothing, and a dead guest has no state.
    fn end(&self, _: &Machine, machine: impl FnOnce() -> Option<Machine>) -> (State, Vec<String>) {
        let mut warnings = Vec::new();
        if self.deaths() > 0 {
            let times = if self.deaths() == 1 { "once" } else { "more than once" };
            warnings.push(format!("The guest died {times} and was booted again."));
        }
        let engine = self.engine_count();
        let machine = self.is_alive().then(machine).flatten();
        let state = machine.map(|machine| machine.state).unwrap_or_default();
        (State { engine, ..state }, warnings)
    }
}
