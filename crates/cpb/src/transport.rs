//! How frames reach a runner, and the host's requests to it.

pub mod agent;
pub mod conversation;
pub mod process;
pub(crate) mod ready;
pub mod serial;
pub mod sim;

use self::conversation::Conversation;
use cpb_core::message::{Board, Round};
use cpb_core::{Error, Histogram, Sample};
use cpb_record::evidence;
use cpb_record::{Machine, ProviderRecord};
use std::ffi::OsString;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// A provider, and how to start a runner for it.
#[derive(Clone, Debug)]
pub struct RunnerSpec {
    /// The provider's name.
    pub name: String,
    /// What starts a runner that has it.
    pub launch: Arc<dyn Launch>,
    /// The provider's number in that runner.
    pub provider: u8,
    /// Whether an interface reported it, instead of the list of providers.
    pub found: bool,
}

/// Starts runners: a program on this machine, the agent of another machine, the line to a board.
pub trait Launch: fmt::Debug + Send + Sync {
    /// Starts a runner and shakes hands with it.
    ///
    /// # Errors
    /// Returns an error if it cannot be started, or does not answer as a runner of this version.
    fn start(&self, affinity: &Affinity, timeouts: &Timeouts) -> Result<Conversation, RunnerError>;

    /// What starts a runner for another of cpb's own providers in the same place.
    fn serving(&self, provider: &str) -> Arc<dyn Launch>;

    /// The name of the one runner with all providers, as on a board. `None` if each provider has its own.
    fn shared(&self) -> Option<String> {
        None
    }

    /// Why no runner can be started there any more in this run; `None` if one can.
    fn lost(&self) -> Option<String> {
        None
    }
}

impl RunnerSpec {
    /// The name of its runner in a pass; providers with the same name share a runner.
    pub fn runner(&self) -> String {
        self.launch.shared().unwrap_or_else(|| self.name.clone())
    }
}

/// Where a runner measures.
#[derive(Clone, Debug, Default)]
pub struct Affinity {
    /// The CPUs for a round's threads.
    pub cpus: Vec<usize>,
    /// Cycles of a multiplication on these CPUs, if an earlier runner measured it.
    pub latency: Option<u32>,
}

impl Affinity {
    /// The arguments of `cpb runner`.
    pub fn arguments(&self) -> Vec<OsString> {
        let mut arguments = Vec::new();
        if !self.cpus.is_empty() {
            let list: Vec<String> = self.cpus.iter().map(usize::to_string).collect();
            arguments.extend(["--cpus".into(), list.join(",").into()]);
        }
        if let Some(latency) = self.latency {
            arguments.extend(["--latency".into(), latency.to_string().into()]);
        }
        arguments
    }
}

/// How long the host waits, and when it stops waiting.
#[derive(Clone, Debug)]
pub struct Timeouts {
    /// The longest wait for an answer that needs no long work.
    pub answer: Duration,
    /// Set when the user wants to stop.
    pub stop: Arc<AtomicBool>,
}

impl Timeouts {
    /// The longest wait for an answer of a runner on a real machine ...
    pub const USUAL: Duration = Duration::from_secs(10);
    /// ... and on an emulated one, which runs tens of times slower.
    pub const SLOW: Duration = Duration::from_secs(60);

    /// The wait that suits a machine.
    pub fn fitting(machine: &Machine) -> Duration {
        if evidence::emulated(machine).is_some() { Timeouts::SLOW } else { Timeouts::USUAL }
    }
}

/// What a board without an operating system reports about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoardIdentity {
    /// Its name.
    pub name: String,
    /// The CPUID register of its core.
    pub cpuid: u32,
    /// Whether the core's cycle counter counts.
    pub cycle_counter: bool,
}

impl From<Board<'_>> for BoardIdentity {
    fn from(Board { name, cpuid, cycle_counter }: Board<'_>) -> Self {
        BoardIdentity { name: name.to_owned(), cpuid, cycle_counter }
    }
}

/// What a runner reports about one of its providers.
#[derive(Clone, Debug, PartialEq)]
pub struct Description {
    /// Its name.
    pub provider: String,
    /// Whether it is available here, and how.
    pub state: ProviderRecord,
}

/// Everything that a runner observed in a round.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// Its raw samples, by thread.
    pub samples: Vec<Vec<Sample>>,
    /// Times of single operations, all threads together.
    pub latency: Histogram,
    /// Times of operations with others in flight, all threads together.
    pub latency_in_flight: Histogram,
    /// The rest.
    pub round: Round,
    /// Core cycles of the reference chain in this process.
    pub reference_cycles: u32,
}

/// A runner that will not answer any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunnerError {
    /// [`Error::Crashed`] or [`Error::Timeout`].
    pub error: Error,
    /// What happened to it, in words.
    pub detail: String,
    /// Whether the same may be tried again. Not if the runner hung or crashed its machine.
    pub again: bool,
}

impl fmt::Display for RunnerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.error, self.detail)
    }
}

impl std::error::Error for RunnerError {}
