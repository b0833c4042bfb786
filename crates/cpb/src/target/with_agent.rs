//! What is the same for all machines with cpb's agent on them.

use crate::agent::protocol::About;
use crate::discovery::{self, Discovered, Offers};
use crate::transport::agent::{AgentHost, Inside};
use crate::transport::{Affinity, Timeouts};
use anyhow::Result;
use std::sync::Arc;

/// A machine with an agent on it, and how long that has for an answer.
pub(super) struct WithAgent<H> {
    pub(super) host: Arc<H>,
    pub(super) timeouts: Timeouts,
}

impl<H: AgentHost + 'static> WithAgent<H> {
    /// What the machine says of itself, now.
    pub(super) fn about(&self, cpu: usize) -> Result<About> {
        self.host.about(cpu, self.timeouts.answer)
    }

    /// The providers of the cpb there.
    pub(super) fn discover(
        &self,
        wanted: &[String],
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
        };
        discovery::discover(&offers, wanted, &[], affinity, &self.timeouts)
    }
}
