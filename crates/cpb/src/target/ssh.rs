//! A machine that is reached by ssh.

use super::with_agent::{AgentMachine, WithAgent};
use super::{Kind, Request};
use crate::probe;
use crate::remote::{Address, Remote};
use crate::transport::Timeouts;
use anyhow::{Result, bail};
use cpb_record::{Machine, State};

/// `ssh:HOST`.
pub(super) const KIND: Kind = Kind {
    form: "`ssh:HOST`",
    about: "a machine that ssh reaches",
    has_a_list: false,
    takes_runners: true,
    open: |request| match request.name.strip_prefix("ssh:") {
        Some(address) => Ok(Some(Box::new(open(address, request)?))),
        None => Ok(None),
    },
};

fn open(address: &str, request: &Request<'_>) -> Result<WithAgent<Remote>> {
    let ([] | [_]) = request.runners[..] else {
        bail!("over ssh, --runner takes a single program: the cpb that is copied there");
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

impl AgentMachine for Remote {
    const HAS_A_STATE: bool = true;
    const LOSES_CONNECTIONS: bool = true;

    fn end(
        &self,
        before: &Machine,
        machine: impl FnOnce() -> Option<Machine>,
    ) -> (State, Vec<String>) {
        let mut warnings = self.warnings().to_vec();
        // Without a connection the machine cannot be asked.
        let state = self.lost().is_none().then(machine).flatten().map(|machine| machine.state);
        if let Some(state) = &state {
            warnings.extend(probe::changes(before, state));
        }
        (state.unwrap_or_default(), warnings)
    }
}
