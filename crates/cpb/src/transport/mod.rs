//! How frames reach a runner, and what the host asks of one.

pub mod agent;
pub mod conversation;
pub mod process;
pub(crate) mod ready;
pub mod serial;
pub mod sim;

use self::agent::{Afar, Inside};
use self::conversation::Conversation;
use self::process::Program;
use self::serial::Serial;
use self::sim::Simulator;
use crate::probe;
use crate::vectors::OwnedCase;
use cpb_core::check::Finding;
use cpb_core::measure::Budget;
use cpb_core::message::{Board, ClockDescription, Round};
use cpb_core::{Claim, CryptoWorkload, Error, Histogram, Sample, Unsupported};
use cpb_record::Machine;
use cpb_record::budget::Seconds;
use cpb_record::evidence;
use std::ffi::OsString;
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// A provider, and how to start a runner for it.
#[derive(Clone, Debug, PartialEq)]
pub struct Source {
    /// The provider's name.
    pub name: String,
    /// What starts a runner that has it.
    pub way: Way,
    /// The provider's number in that runner.
    pub provider: u8,
    /// Whether an interface told of it, rather than the list of providers.
    pub found: bool,
}

/// How a runner is started.
#[derive(Clone, Debug, PartialEq)]
pub enum Way {
    /// As a process of this machine.
    Program(Program),
    /// By the agent on another machine: in a guest of the lab, over ssh.
    Inside(Inside),
    /// On a board, which does nothing else.
    Board(Line),
}

/// How a board is reached.
#[derive(Clone, Debug, PartialEq)]
pub enum Line {
    /// By a serial line.
    Serial(Serial),
    /// It is simulated.
    Simulator(Simulator),
}

impl Line {
    /// What it is called.
    pub fn name(&self) -> String {
        match self {
            Line::Serial(line) => line.device.display().to_string(),
            Line::Simulator(simulator) => simulator.name(),
        }
    }

    /// Opens it and shakes hands.
    ///
    /// # Errors
    /// Nobody answers as a runner of this version.
    pub fn start(&self, patience: &Patience) -> Result<Conversation, Lost> {
        match self {
            Line::Serial(line) => line.start(patience),
            Line::Simulator(simulator) => simulator.start(patience),
        }
    }
}

impl Way {
    /// The same way to another of cpb's own providers.
    pub fn serving(&self, provider: &str) -> Way {
        match self {
            Way::Program(program) => Way::Program(Program {
                arguments: vec!["runner".into(), provider.into()],
                ..program.clone()
            }),
            Way::Inside(Inside { machine, .. }) => {
                Way::Inside(Inside { machine: machine.clone(), provider: provider.to_owned() })
            }
            Way::Board(line) => Way::Board(line.clone()),
        }
    }
}

impl Source {
    /// Starts a runner and shakes hands.
    ///
    /// # Errors
    /// It cannot be started, or does not answer as a runner of this version.
    pub fn start(&self, place: &Place, patience: &Patience) -> Result<Conversation, Lost> {
        match &self.way {
            Way::Program(program) => program.start(place, patience),
            Way::Inside(inside) => inside.start(place, patience),
            Way::Board(line) => line.start(patience),
        }
    }
}

impl Source {
    /// Why its machine cannot be reached any more in this sitting, if it cannot.
    pub fn cut_off(&self) -> Option<String> {
        match &self.way {
            Way::Inside(Inside { machine: Afar::Remote(remote), .. }) => remote.lost(),
            Way::Inside(_) | Way::Program(_) | Way::Board(_) => None,
        }
    }

    /// What its runner is called in a pass: providers of the same name share one. A board is one runner,
    /// whatever it has.
    pub fn runner(&self) -> String {
        match &self.way {
            Way::Program(_) | Way::Inside(_) => self.name.clone(),
            Way::Board(line) => line.name(),
        }
    }
}

/// Where a runner is to measure.
#[derive(Clone, Debug, Default)]
pub struct Place {
    /// The CPUs of a round's threads.
    pub cpus: Vec<usize>,
    /// Cycles of a multiplication on them, if an earlier runner found out.
    pub latency: Option<u32>,
}

impl Place {
    /// As `cpb runner` takes it.
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

/// What the host may wait for, and when it stops waiting.
#[derive(Clone, Debug)]
pub struct Patience {
    /// Longest wait for an answer that needs no long work.
    pub answer: Duration,
    /// Set when the user wants to stop.
    pub stop: Arc<AtomicBool>,
}

impl Patience {
    /// Longest wait for an answer of a runner on a real machine ...
    pub const USUAL: Duration = Duration::from_secs(10);
    /// ... and on an emulated one, which runs tens of times slower.
    pub const SLOW: Duration = Duration::from_secs(60);

    /// With runners on this machine: `named`, if the user says how long; else what fits the machine.
    pub fn here(named: Option<Seconds>, stop: &Arc<AtomicBool>) -> Patience {
        let usual = || Patience::with(&probe::machine(Path::new("/"), 0));
        let answer = named.map_or_else(usual, Seconds::duration);
        Patience { answer, stop: Arc::clone(stop) }
    }

    /// What fits a machine.
    fn with(machine: &Machine) -> Duration {
        if evidence::emulated(machine).is_some() { Patience::SLOW } else { Patience::USUAL }
    }
}

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

/// What a board without an operating system says of itself.
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
        /// Where that is, as far as the provider is told.
        claim: Claim,
        /// Compiler, flags, masks.
        options: String,
        /// The runner's clock.
        clock: ClockDescription,
    },
    /// It does not.
    Unavailable {
        /// Its name.
        provider: String,
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
    /// Times of operations with others in flight, likewise.
    pub latency_in_flight: Histogram,
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
    /// Whether it makes sense to try the same again. Not if it hung or took its machine along.
    pub again: bool,
}

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.error, self.detail)
    }
}

impl std::error::Error for Lost {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_emulated_machine_has_more_time_to_answer() {
        let fixture = |name: &str| {
            let machines = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/machines");
            Patience::with(&probe::machine(&machines.join(name), 0))
        };
        assert_eq!(fixture("qemu-virt-riscv64"), Patience::SLOW);
        assert_eq!(fixture("raspberry-pi-4"), Patience::USUAL);
        let stop = Arc::default();
        let named = Patience::here(Some(Seconds(7.0)), &stop);
        assert_eq!(named.answer, Duration::from_secs(7), "the user's word goes first");
    }
}
