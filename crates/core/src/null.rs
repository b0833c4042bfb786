//! Does nothing, for any workload: what remains is the harness overhead, the floor.

use crate::error::{Error, Unsupported};
use crate::memory_read::MemoryReadWorkload;
use crate::provider::{Identity, Job, MemoryReader, Progress, Provider, Session, WorkingSet};
use crate::workload::CryptoWorkload;

/// The name that [`Null`] has on every target.
pub const NULL: &str = "null";

/// The provider that computes nothing.
pub struct Null;

impl Provider for Null {
    fn identity(&self) -> Identity<'_> {
        Identity {
            provider: NULL,
            version: env!("CARGO_PKG_VERSION"),
            executor: "nobody",
            options: "",
        }
    }

    fn ring(&self) -> usize {
        // As many as a small engine has: more would only take memory.
        64
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

    fn memory_reader(&self) -> Option<&dyn MemoryReader> {
        Some(self)
    }
}

impl MemoryReader for Null {
    fn supports(&self, workload: &MemoryReadWorkload) -> Result<(), Unsupported> {
        workload.valid()
    }

    fn session(
        &self,
        workload: &MemoryReadWorkload,
        _set: WorkingSet<'_>,
        _sum: &mut u64,
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
