//! The places where a run can measure: this machine, a guest of the lab, a machine that is reached by ssh or
//! by a command, a board.
//!
//! Each kind of target is one file below and one entry in [`KINDS`]. The common part of machines with cpb's
//! agent is in [`with_agent`].

mod board;
mod exec;
pub mod guest;
mod local;
pub mod named;
mod ssh;
mod with_agent;

pub use local::Local;

use crate::discovery::Discovered;
use crate::schedule;
use crate::transport::{Affinity, Timeouts};
use anyhow::{Result, bail};
use cpb_core::kernel::KernelSurvey;
use cpb_core::measure::Budget;
use cpb_record::budget::Seconds;
use cpb_record::{Machine, State, names};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// A machine that is measured.
pub trait Target {
    /// How long its runners have for an answer.
    fn timeouts(&self) -> &Timeouts;

    /// The CPUs that may be measured.
    ///
    /// # Errors
    /// Returns an error if they cannot be determined.
    fn cpus(&self) -> Result<Vec<usize>>;

    /// The machine, with the current state of `cpu`.
    ///
    /// # Errors
    /// Returns an error if it does not answer.
    fn machine(&self, cpu: usize) -> Result<Machine>;

    /// What the kernel's crypto API offers. `None` if the kernel has no crypto API, or if it does not answer.
    fn kernel(&self, cpu: usize) -> Option<KernelSurvey>;

    /// The providers named in `wanted` (all of them if it is empty) with how to start their runners, and the
    /// providers of the programs in `runners`, if the target accepts any. See [`crate::discovery::discover`].
    ///
    /// # Errors
    /// Returns an error if a name does not exist, or if a runner does not answer.
    fn discover(
        &self,
        wanted: &[String],
        runners: &[PathBuf],
        affinity: &Affinity,
    ) -> Result<Vec<Discovered>>;

    /// The state at the end of a run that began with `before`, and warnings about what spoiled the figures meanwhile.
    fn end(&self, before: &Machine, cpu: usize) -> (State, Vec<String>);

    /// How much of a cell is measured in one pass.
    fn budget(&self) -> Budget<Duration> {
        schedule::BUDGET
    }

    /// Whether it is the machine that cpb runs on, where other cpbs may use the same CPUs.
    fn is_here(&self) -> bool {
        false
    }

    /// Whether the user can change what spoils figures in its state (load, governor).
    fn has_a_state(&self) -> bool {
        false
    }

    /// Whether a runner that seems to have crashed may only have lost its connection, so that a resumed run
    /// tries its cell again.
    fn loses_connections(&self) -> bool {
        false
    }
}

/// The target in `--target`, with the options that concern it.
pub struct Request<'a> {
    /// The name of a target: `ssh:HOST`, ...
    pub name: &'a str,
    /// The board's file that led to this target, if there is one.
    pub board: Option<named::NamedBoard>,
    /// The programs of `--runner`.
    pub runners: &'a [PathBuf],
    /// Bits per second of a serial line.
    pub baud: Option<u32>,
    /// How long a runner has for an answer, if the user says so.
    pub timeout: Option<Seconds>,
    /// What the run will need from the machine.
    pub wanted: Wanted<'a>,
    /// Reports steps that take time.
    pub say: &'a dyn Fn(&str),
    /// Set when the user wants to stop.
    pub stop: &'a Arc<AtomicBool>,
}

/// What a run needs from a machine: some targets can refuse it before they are booted.
#[derive(Clone, Copy, Default)]
pub struct Wanted<'a> {
    /// The selected CPU.
    pub cpu: Option<usize>,
    /// The numbers of threads.
    pub threads: &'a [u8],
    /// The providers.
    pub providers: &'a [String],
}

impl Request<'_> {
    /// The user's timeout, or else `usual`.
    fn timeouts(&self, usual: Duration) -> Timeouts {
        Timeouts {
            answer: self.timeout.map_or(usual, Seconds::duration),
            stop: Arc::clone(self.stop),
        }
    }
}

/// A kind of target.
pub struct Kind {
    /// The form of its names, for people: `ssh:HOST`.
    pub form: &'static str,
    /// A description.
    pub about: &'static str,
    /// Whether all its names can be listed.
    pub has_a_list: bool,
    /// Whether it accepts `--runner`.
    takes_runners: bool,
    /// Connects to it. Returns `None` if the name is of another kind.
    open: fn(&Request<'_>) -> Opened,
}

/// The target, or `None` if the name is of another kind.
type Opened = Result<Option<Box<dyn Target>>>;

/// All kinds, in the order in which they are tried.
pub const KINDS: &[Kind] =
    &[local::KIND, ssh::KIND, exec::KIND, board::SERIAL, board::SIMULATED, guest::KIND];

/// Connects to a target; the name may be the name of a board's file.
///
/// # Errors
/// Returns an error if no target has this name, or if it cannot be reached. The message says why.
pub fn open(request: Request<'_>) -> Result<Box<dyn Target>> {
    let board = named::named(request.name)?;
    let name = board.as_ref().map_or(request.name.to_owned(), |board| board.target.clone());
    let request = Request { name: &name, board, ..request };
    for kind in KINDS {
        let opened = || (kind.open)(&request);
        // Invalid options are refused before any connection is made.
        if !request.runners.is_empty() && !kind.takes_runners {
            continue;
        }
        if let Some(target) = opened()? {
            return Ok(target);
        }
    }
    if !request.runners.is_empty() {
        bail!(
            "--runner: this target does not accept it; with --target, only ssh does, for the cpb to copy there"
        );
    }
    let boards = named::names();
    let boards: Vec<&str> = boards.iter().map(String::as_str).collect();
    let near = match names::near(&name, &boards) {
        near if near.is_empty() => ": a".to_owned(),
        near => format!(", did you mean {}? A", near.join(" or ")),
    };
    let forms: Vec<&str> =
        KINDS.iter().map(|kind| kind.form).filter(|form| !form.is_empty()).collect();
    bail!(
        "unknown target '{name}'{near} target is {}, or the name of a board: {} (`cpb list targets` shows all)",
        forms.join(", "),
        boards.join(", ")
    );
}
