//! Copies messages and does nothing else: the memory's bound on every computation.

use crate::algorithm::Kind;
use crate::error::{Error, Unsupported};
use crate::provider::{Data, Identity, Job, Progress, Provider, Session};
use crate::workload::{CryptoWorkload, Dispatch};

/// The name that [`Memcpy`] has on every target.
pub const MEMCPY: &str = "memcpy";

/// The provider that copies, with the `memcpy` that the program is linked with.
pub struct Memcpy<'a> {
    /// The library that `memcpy` comes from.
    pub executor: &'a str,
    /// What is known about the placement of `memcpy` and of the messages.
    pub options: &'a str,
}

impl Provider for Memcpy<'_> {
    fn identity(&self) -> Identity<'_> {
        Identity {
            provider: MEMCPY,
            version: env!("CARGO_PKG_VERSION"),
            executor: self.executor,
            options: self.options,
        }
    }

    fn supports(&self, workload: &CryptoWorkload) -> Result<(), Unsupported> {
        if workload.algorithm.shape().kind != Kind::Copy {
            return Err(Unsupported::Algorithm);
        }
        workload.valid()?;
        if workload.dispatch == Dispatch::SERIAL { Ok(()) } else { Err(Unsupported::Mode) }
    }

    fn session(
        &self,
        workload: &CryptoWorkload,
        _keys: &[&[u8]],
        jobs: &mut [Job<'_>],
        body: &mut dyn FnMut(&mut dyn Session) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.supports(workload)?;
        body(&mut Copies { jobs })
    }
}

struct Copies<'s, 'b> {
    jobs: &'s mut [Job<'b>],
}

impl Session for Copies<'_, '_> {
    fn submit(&mut self, job: usize) -> Result<Progress, Error> {
        let job = self.jobs.get_mut(job).ok_or(Error::Contract)?;
        let Data::Apart { input, output } = &mut job.data else {
            return Err(Unsupported::Mode.into());
        };
        if input.len() != output.len() {
            return Err(Unsupported::Length.into());
        }
        output.copy_from_slice(input);
        Ok(Progress::Done)
    }
}
