//! What a host and the agent on another machine say to each other.
//!
//! A connection begins with one line of JSON from the host, an [`Order`], and one back, an
//! [`Answer`]. After [`Answer::Started`] the connection is the standard input and output of what was
//! started, and nothing else goes over it until that ends: then come a NUL, which no frame contains,
//! and one line that says how it ended, an [`End`].

use anyhow::{Context, Result, anyhow};
use cpb_core::catalog;
use cpb_core::kernel::KernelSurvey;
use cpb_record::Machine;
use serde::{Deserialize, Serialize};
use std::io::{Read, Write};

/// Where it listens, in the guest.
pub const PORT: u16 = 7000;

/// What it prints on the console when it can be reached.
pub const READY: &str = "cpb agent ready";

/// The longest line that is taken for an order or an answer.
const LONGEST: usize = 256 * 1024;

/// The host's wish.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// Tell about the guest, with the state of this CPU.
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
        /// Cycles of a multiplication there, if they are known.
        latency: Option<u32>,
    },
    /// Start a command.
    Exec {
        /// Program and arguments.
        command: Vec<String>,
    },
}

/// What comes of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// To [`Order::About`].
    About(Box<About>),
    /// It runs, and has the connection from here on.
    Started,
    /// Why not.
    Refused(String),
}

/// A machine, told by itself.
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
    /// The executors that are looked at where nobody names any.
    pub usual: Vec<String>,
    /// What its kernel's crypto offers.
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
    /// What a machine says of itself, if its cpb is of this version.
    ///
    /// # Errors
    /// It is not, or this is another answer. `machine` is its name.
    pub fn about(self, machine: &str) -> Result<About> {
        match self {
            Answer::About(about) if about.version == env!("CARGO_PKG_VERSION") => Ok(*about),
            Answer::About(about) => Err(anyhow!(
                "the cpb on {machine} is {}, this is {}: `make static` builds it anew",
                about.version,
                env!("CARGO_PKG_VERSION")
            )),
            other => Err(anyhow!("the agent on {machine} answers {other:?}")),
        }
    }
}

impl Listed {
    /// Those of this cpb.
    pub fn own() -> Vec<Listed> {
        let listed = |entry: &catalog::Entry| Listed {
            name: entry.name.to_owned(),
            interface: entry.is_interface(),
        };
        catalog::LIST.iter().map(listed).collect()
    }
}

/// How what was started came to its end.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct End {
    /// Exit status; none if a signal ended it.
    pub status: Option<i32>,
    /// That in words.
    pub how: String,
    /// The last line it wrote to standard error.
    pub last: String,
}

/// Gives an order over a connection, which has a time-out: what comes of it.
///
/// # Errors
/// No answer, or none of this version's.
pub fn ask(stream: &mut (impl Read + Write), order: &Order) -> Result<Answer> {
    write_line(stream, order)?;
    serde_json::from_str(&read_line(stream)?).context(
        "the cpb there was built from another source than this one; `make static` builds it anew",
    )
}

/// Reads up to a line's end and no byte further.
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
    anyhow::bail!("more than {LONGEST} bytes without a line's end")
}

/// Writes a value as one line of JSON.
pub(super) fn write_line(stream: &mut impl Write, value: &impl Serialize) -> Result<()> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    stream.write_all(&line)?;
    Ok(())
}
