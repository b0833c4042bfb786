//! Where a run measures: this machine, a guest of the lab, a machine that ssh or a command leads to, a board.
//!
//! A kind of target is one file below and one line in [`KINDS`]. What is the same for machines with cpb's agent on
//! them is in [`with_agent`].

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
    /// They cannot be found out.
    fn cpus(&self) -> Result<Vec<usize>>;

    /// The machine, with the state of `cpu` now.
    ///
    /// # Errors
    /// It gives no answer.
    fn machine(&self, cpu: usize) -> Result<Machine>;

    /// What its kernel's crypto offers. `None` if it has none, or gives no answer.
    fn kernel(&self, cpu: usize) -> Option<KernelSurvey>;

    /// The providers called `wanted`, all if it is empty, with how their runners are started; and those of the
    /// programs in `runners`, where a target takes any. See [`crate::discovery::discover`].
    ///
    /// # Errors
    /// A name that does not exist, or a runner that does not answer.
    fn discover(
        &self,
        wanted: &[String],
        runners: &[PathBuf],
        affinity: &Affinity,
    ) -> Result<Vec<Discovered>>;

    /// The state at the end of a run that began with `before`, and what spoiled the figures meanwhile.
    fn end(&self, before: &Machine, cpu: usize) -> (State, Vec<String>);

    /// How much of a cell is measured in one pass.
    fn budget(&self) -> Budget<Duration> {
        schedule::BUDGET
    }

    /// Whether it is the machine that cpb runs on: other cpbs here may be on the same CPUs.
    fn is_here(&self) -> bool {
        false
    }

    /// Whether what spoils figures in its state (load, governor) is its user's to mend.
    fn has_a_state(&self) -> bool {
        false
    }

    /// Whether a runner that crashed may have lost its connection only, so that a run that is gone on with tries
    /// its cell again.
    fn loses_connections(&self) -> bool {
        false
    }
}

/// What is asked for by `--target`, and what the command line says beside it.
pub struct Request<'a> {
    /// The name of a target: `ssh:HOST`, ...
    pub name: &'a str,
    /// The file of the board that led to it, if one did.
    pub board: Option<named::NamedBoard>,
    /// The programs of `--runner`.
    pub runners: &'a [PathBuf],
    /// Bits per second of a serial line.
    pub baud: Option<u32>,
    /// How long a runner has for an answer, if the user says so.
    pub timeout: Option<Seconds>,
    /// What the run will want of the machine.
    pub wanted: Wanted<'a>,
    /// Tells the user what takes long.
    pub say: &'a dyn Fn(&str),
    /// Set when the user wants to stop.
    pub stop: &'a Arc<AtomicBool>,
}

/// What a run wants of a machine: some can tell before they are booted that they do not have it.
#[derive(Clone, Copy, Default)]
pub struct Wanted<'a> {
    /// The CPU that is named.
    pub cpu: Option<usize>,
    /// The numbers of threads.
    pub threads: &'a [u8],
    /// The providers.
    pub providers: &'a [String],
}

impl Request<'_> {
    /// What the user says, or else `usual`.
    fn timeouts(&self, usual: Duration) -> Timeouts {
        Timeouts {
            answer: self.timeout.map_or(usual, Seconds::duration),
            stop: Arc::clone(self.stop),
        }
    }
}

/// A kind of target.
pub struct Kind {
    /// How it is named, for people: `ssh:HOST`.
    pub form: &'static str,
    /// What it is.
    pub about: &'static str,
    /// Whether there is a list of all that it may name.
    pub has_a_list: bool,
    /// Whether `--runner` means something to it.
    takes_runners: bool,
    /// Reaches it. `None` if the name is of another kind.
    open: fn(&Request<'_>) -> Opened,
}

/// The target, if its name is of the kind that was asked.
type Opened = Result<Option<Box<dyn Target>>>;

/// All kinds, in the order in which they are tried.
pub const KINDS: &[Kind] =
    &[local::KIND, ssh::KIND, exec::KIND, board::SERIAL, board::SIMULATED, guest::KIND];

/// Reaches a target; a name may be that of a board's file.
///
/// # Errors
/// There is none of that name, or it cannot be reached: both say why.
pub fn open(request: Request<'_>) -> Result<Box<dyn Target>> {
    let board = named::named(request.name)?;
    let name = board.as_ref().map_or(request.name.to_owned(), |board| board.target.clone());
    let request = Request { name: &name, board, ..request };
    for kind in KINDS {
        let opened = || (kind.open)(&request);
        // What is refused is refused before anything is reached.
        if !request.runners.is_empty() && !kind.takes_runners {
            continue;
        }
        if let Some(target) = opened()? {
            return Ok(target);
        }
    }
    if !request.runners.is_empty() {
        bail!("--runner: with --target only over ssh, where it names the cpb to copy there");
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
