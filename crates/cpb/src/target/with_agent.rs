//! The common part of all machines with cpb's agent.

use super::Target;
use crate::agent::protocol::About;
use crate::discovery::{self, Discovered, Offers};
use crate::schedule;
use crate::transport::agent::{AgentHost, Inside};
use crate::transport::{Affinity, Timeouts};
use anyhow::Result;
use cpb_core::kernel::KernelSurvey;
use cpb_core::measure::Budget;
use cpb_record::{Machine, State};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// A machine with an agent, and how long the agent has for an answer.
pub(super) struct WithAgent<H> {
    pub(super) host: Arc<H>,
    pub(super) timeouts: Timeouts,
}

/// How such machines differ as targets; see [`Target`].
pub(super) trait AgentMachine: AgentHost + Sized + 'static {
    /// See [`Target::budget`].
    const BUDGET: Budget<Duration> = schedule::BUDGET;
    /// See [`Target::has_a_state`].
    const HAS_A_STATE: bool;
    /// See [`Target::loses_connections`].
    const LOSES_CONNECTIONS: bool;

    /// See [`Target::end`]; `machine` asks for the machine's description again.
    fn end(
        &self,
        before: &Machine,
        machine: impl FnOnce() -> Option<Machine>,
    ) -> (State, Vec<String>);
}

impl<H: AgentMachine> WithAgent<H> {
    /// The current description of the machine.
    fn about(&self, cpu: usize) -> Result<About> {
        self.host.about(cpu, self.timeouts.answer)
    }
}

impl<H: AgentMachine> Target for WithAgent<H> {
    fn timeouts(&self) -> &Timeouts {
        &self.timeouts
    }

    fn cpus(&self) -> Result<Vec<usize>> {
        Ok(self.about(0)?.cpus)
    }

    fn machine(&self, cpu: usize) -> Result<Machine> {
        Ok(self.about(cpu)?.machine)
    }

    fn kernel(&self, cpu: usize) -> Option<KernelSurvey> {
        Some(self.about(cpu).ok()?.kernel)
    }

    /// The providers of the cpb on that machine. Over ssh, `--runner` names that cpb.
    fn discover(
        &self,
        wanted: &[String],
        _: &[PathBuf],
        affinity: &Affinity,
    ) -> Result<Vec<Discovered>> {
        let About { providers, usual, .. } =
            self.about(affinity.cpus.first().copied().unwrap_or(0))?;
        let offers = Offers {
            providers,
            usual: Box::new(move || usual.clone()),
            launch: Box::new(|name| {
                let machine: Arc<dyn AgentHost> = self.host.clone();
                Arc::new(Inside { machine, provider: name.to_owned() })
            }),
            // The agent starts the runners, not a thread of this process.
            one_by_one: false,
        };
        discovery::discover(&offers, wanted, &[], affinity, &self.timeouts)
    }

    fn end(&self, before: &Machine, cpu: usize) -> (State, Vec<String>) {
        self.host.end(before, || self.machine(cpu).ok())
    }

    fn budget(&self) -> Budget<Duration> {
        H::BUDGET
    }

    fn has_a_state(&self) -> bool {
        H::HAS_A_STATE
    }

    fn loses_connections(&self) -> bool {
        H::LOSES_CONNECTIONS
    }
}
