//! Does nothing, for any workload: what is left is the harness's own floor.

use crate::Entry;
use cpb_core::{CryptoWorkload, Error, Identity, Job, Progress, Provider, Session, Unsupported};

pub(crate) const ENTRY: Entry = Entry {
    name: "null",
    about: "does nothing: the harness's own floor",
    environment: Vec::new,
    variants: None,
    open: |_| Ok(Box::new(Null)),
};

struct Null;

impl Provider for Null {
    fn identity(&self) -> Identity<'_> {
        Identity {
            provider: ENTRY.name,
            version: env!("CARGO_PKG_VERSION"),
            executor: "nobody",
            options: "",
        }
    }

    fn supports(&self, workload: &CryptoWorkload) -> Result<(), Unsupported> {
        workload.valid()
    }

    fn session(
        &self,
        workload: &CryptoWorkload,
        _keys: &[&[u8]],
        _jobs: &mut [Job<'_>],
        body: &mut dyn FnMut(&mut dyn Session) -> Result<(), Error>,
    ) -> Result<(), Error> {
        workload.valid()?;
        body(&mut NullSession)
    }
}

struct NullSession;

impl Session for NullSession {
    fn submit(&mut self, _job: usize) -> Result<Progress, Error> {
        Ok(Progress::Done)
    }
}
