//! How frames reach a runner, and what the host asks of one.

pub mod process;

use crate::vectors::OwnedCase;
use cpb_core::check::Finding;
use cpb_core::measure::Budget;
use cpb_core::message::{ClockDescription, Round};
use cpb_core::{CryptoWorkload, Error, Histogram, Sample, Unsupported};
use std::fmt;

/// A program that measures: a process, a board, a simulator.
pub trait Runner {
    /// What it says of its provider number `provider`; `None` past the last.
    ///
    /// # Errors
    /// It did not answer.
    fn describe(&mut self, provider: u8) -> Result<Option<Description>, Lost>;

    /// Tries one known answer.
    ///
    /// # Errors
    /// It did not answer.
    fn check(&mut self, provider: u8, case: &OwnedCase) -> Result<Finding, Lost>;

    /// Whether it can measure `workload`.
    ///
    /// # Errors
    /// It did not answer.
    fn supports(
        &mut self,
        provider: u8,
        workload: &CryptoWorkload,
    ) -> Result<Result<(), Unsupported>, Lost>;

    /// Measures `workload` once, in `threads` threads. A round is stateless: everything is opened
    /// anew and closed again. The inner error is the provider's; the runner goes on.
    ///
    /// # Errors
    /// It did not answer: it is lost, and with it this round.
    fn round(
        &mut self,
        provider: u8,
        workload: &CryptoWorkload,
        budget: &Budget,
        threads: u8,
    ) -> Result<Result<Seen, Error>, Lost>;
}

/// What a runner says of one of its providers.
#[derive(Clone, Debug, PartialEq)]
pub enum Description {
    /// It runs here.
    Available {
        /// Its name.
        provider: String,
        /// Version of the library.
        version: String,
        /// What runs the operation.
        executor: String,
        /// Compiler, flags, masks.
        options: String,
        /// The runner's clock.
        clock: ClockDescription,
    },
    /// It does not.
    Unavailable {
        /// What sort of thing is missing.
        reason: Unsupported,
        /// It, by name.
        detail: String,
    },
}

/// Everything a runner saw in a round.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// Its raw samples, by thread.
    pub samples: Vec<Vec<Sample>>,
    /// Times of single operations, all threads together.
    pub latency: Histogram,
    /// The rest.
    pub round: Round,
    /// Core cycles of the reference chain in this process.
    pub reference_cycles: u32,
}

/// A runner that will not answer any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lost {
    /// [`Error::Crashed`] or [`Error::Timeout`].
    pub error: Error,
    /// What became of it, in words.
    pub detail: String,
}

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.error, self.detail)
    }
}

impl std::error::Error for Lost {}
