//! A machine that ssh leads to.

use super::with_agent::WithAgent;
use super::{Kind, Request, Target};
use crate::discovery::Discovered;
use crate::probe;
use crate::remote::{Address, Remote};
use crate::transport::{Affinity, Timeouts};
use anyhow::{Result, bail};
use cpb_core::kernel::KernelSurvey;
use cpb_record::{Machine, State};
use std::path::PathBuf;

/// `ssh:HOST`.
pub(super) const KIND: Kind = Kind {
    form: "`ssh:HOST`",
    about: "a machine that ssh leads to",
    has_a_list: false,
    takes_runners: true,
    open: |request| match request.name.strip_prefix("ssh:") {
        Some(address) => Ok(Some(Box::new(open(address, request)?))),
        None => Ok(None),
    },
};

fn open(address: &str, request: &Request<'_>) -> Result<WithAgent<Remote>> {
    let ([] | [_]) = request.runners[..] else {
        bail!("over ssh --runner names the one cpb that is copied there, not several");
    };
    let address = Address {
        folder: request.board.as_ref().map(|board| board.folder.clone()).unwrap_or_default(),
        cpb: request.runners.first().cloned(),
        ..Address::parse(address)?
    };
    let say = |what: &str| (request.say)(&format!("ssh: {what}"));
    let host = Remote::connect(&address, request.stop, &say)?;
    Ok(WithAgent { host, timeouts: request.timeouts(Timeouts::USUAL) })
}

impl Target for WithAgent<Remote> {
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

    /// `--runner` names the cpb that is there already.
    fn discover(
        &self,
        wanted: &[String],
        _: &[PathBuf],
        affinity: &Affinity,
    ) -> Result<Vec<Discovered>> {
        WithAgent::discover(self, wanted, affinity)
    }

    fn end(&self, before: &Machine, cpu: usize) -> (State, Vec<String>) {
        let mut warnings = self.host.warnings().to_vec();
        // Without a connection there is nobody to ask.
        let reached = self.host.lost().is_none();
        let state = reached.then(|| self.machine(cpu).ok()).flatten().map(|machine| machine.state);
        if let Some(state) = &state {
            warnings.extend(probe::changes(before, state));
        }
        (state.unwrap_or_default(), warnings)
    }

    fn has_a_state(&self) -> bool {
        true
    }

    fn loses_connections(&self) -> bool {
        true
    }
}
