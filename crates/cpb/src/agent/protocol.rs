//! The protocol between a host and the agent on another machine.
//!
//! A connection begins with one line of JSON from the host, an [`Order`], and one line back, an [`Answer`].
//! After [`Answer::Started`] the connection is the standard input and output of the program that was started.
//! When that program ends, the agent sends a NUL, which no frame contains, and one line that says how it
//! ended, an [`End`].

use anyhow::{Context, Result, anyhow};
use cpb_core::catalog;
use cpb_core::kernel::KernelSurvey;
use cpb_record::Machine;
use serde::{Deserialize, Serialize};
use std::io::{Read, Write};

/// The port on which the agent listens in a guest.
pub const PORT: u16 = 7000;

/// What the agent prints on the console as soon as it can be reached.
pub const READY: &str = "cpb agent ready";

/// The longest line that is accepted as an order or an answer.
const LONGEST: usize = 256 * 1024;

/// An order of the host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// Describe the machine, including the state of this CPU.
    About {
        /// The CPU.
        cpu: usize,
    },
    /// Start a runner for a provider.
    Runner {
        /// Its name.
        provider: String,
        /// The CPUs to measure on.
        cpus: Vec<usize>,
        /// Cycles of a multiplication on these CPUs, if known.
        latency: Option<u32>,
    },
    /// Start a command.
    Exec {
        /// Program and arguments.
        command: Vec<String>,
    },
}

/// The answer to an order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// The answer to [`Order::About`].
    About(Box<About>),
    /// The program runs and owns the connection from here on.
    Started,
    /// The order was refused, for this reason.
    Refused(String),
}

/// A machine, as the agent on it describes it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct About {
    /// Version of its cpb.
    pub version: String,
    /// The CPUs that its cpb may use.
    pub cpus: Vec<usize>,
    /// The machine that it sees, and its state.
    pub machine: Machine,
    /// The providers of its cpb, which may be built with fewer than the host's.
    pub providers: Vec<Listed>,
    /// The executors that are probed if the user selects none.
    pub usual: Vec<String>,
    /// What the crypto API of its kernel offers.
    pub kernel: KernelSurvey,
}

/// A provider of a cpb.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Listed {
    /// Its name.
    pub name: String,
    /// Whether it is an interface to many executors.
    pub interface: bool,
}

impl Answer {
    /// The description of a machine, if its cpb has this cpb's version.
    ///
    /// # Errors
    /// Returns an error if the version differs, or if this is another kind of answer. `machine` is its name.
    pub fn about(self, machine: &str) -> Result<About> {
        match self {
            Answer::About(about) if about.version == env!("CARGO_PKG_VERSION") => Ok(*about),
            Answer::About(about) => Err(anyhow!(
                "the cpb on {machine} has version {}, this one {}: rebuild it with `make static`",
                about.version,
                env!("CARGO_PKG_VERSION")
            )),
            other => Err(anyhow!("the agent on {machine} sent an unexpected answer: {other:?}")),
        }
    }
}

impl Listed {
    /// The providers of this cpb.
    pub fn own() -> Vec<Listed> {
        let listed = |entry: &catalog::Entry| Listed {
            name: entry.name.to_owned(),
            interface: entry.is_interface(),
        };
        catalog::LIST.iter().map(listed).collect()
    }
}

/// How a started program ended.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct End {
    /// Exit status; `None` if a signal ended it.
    pub status: Option<i32>,
    /// How it ended, in words.
    pub how: String,
    /// The last line it wrote to standard error.
    pub last: String,
}

/// Sends an order over a connection, which has a timeout, and returns the answer.
///
/// # Errors
/// Returns an error if no answer comes, or if another version of cpb wrote it.
pub fn ask(stream: &mut (impl Read + Write), order: &Order) -> Result<Answer> {
    write_line(stream, order)?;
    serde_json::from_str(&read_line(stream)?).context(
        "the cpb there was built from different sources than this one; rebuild it with `make static`",
    )
}

/// Reads up to the end of a line, and no byte further.
pub(super) fn read_line(stream: &mut impl Read) -> Result<String> {
    let mut line = Vec::new();
    let mut byte = [0];
    while line.len() < LONGEST {
        stream.read_exact(&mut byte)?;
        if byte[0] == b'\n' {
            return Ok(String::from_utf8(line)?);
        }
        line.push(byte[0]);
    }
    anyhow::bail!("more than {LONGEST} bytes without the end of a line")
}

/// Writes a value as one line of JSON.
pub(super) fn write_line(stream: &mut impl Write, value: &impl Serialize) -> Result<()> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    stream.write_all(&line)?;
    Ok(())
}
