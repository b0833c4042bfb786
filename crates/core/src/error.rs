//! Why something is not measured, and why something that should have worked did not.

use core::fmt;
use serde::{Deserialize, Serialize};

/// Why something is not measured here. Not a failure.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unsupported {
    /// The provider does not have the algorithm or the operation.
    Algorithm,
    /// Not in this way: in place, queued, key per message.
    Mode,
    /// Not at this length: block multiples, limits of an interface.
    Length,
    /// The algorithm or the interface has no such phase.
    Phase,
    /// Left out when the library was built.
    BuildOption,
    /// Forbidden by the system's policy.
    Policy,
    /// This user may not.
    Permission,
    /// The device, library or CPU feature is not here.
    Device,
    /// It does not fit in memory.
    Memory,
    /// The library is known to do it wrong, or to take forgeries for right.
    Defect,
}

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Unsupported::Algorithm => "the provider does not have this algorithm or operation",
            Unsupported::Mode => "the provider cannot run it in this way",
            Unsupported::Length => "the algorithm or the interface does not take this length",
            Unsupported::Phase => "the algorithm or the interface has no such phase",
            Unsupported::BuildOption => "left out when the library was built",
            Unsupported::Policy => "forbidden by the system's policy",
            Unsupported::Permission => "this user is not permitted to",
            Unsupported::Device => "the device, library or CPU feature is not here",
            Unsupported::Memory => "it does not fit in memory",
            Unsupported::Defect => {
                "the library is known to do it wrong, or to take forgeries for right"
            }
        })
    }
}

/// Why something that should have worked did not.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Error {
    /// The answer was not the known one.
    WrongAnswer,
    /// The tag did not verify: the right answer to a forgery, a failure for anything else.
    Refused,
    /// No answer in time.
    Timeout,
    /// The library or the kernel reported this code.
    Device(i32),
    /// The provider broke its contract with the loop ([`crate::provider`]): a completion for a job that was not in
    /// flight, another number of finished jobs than were in flight, `Full` with nothing in flight.
    Contract,
    /// The runner died.
    Crashed,
    /// It turned out, on trying, not to be possible here.
    Unsupported(Unsupported),
    /// An engine that the provider drives itself reported this.
    Engine {
        /// The device's status, as its register or ring holds it.
        code: u32,
        /// What the device's manual says that it means.
        meaning: Meaning,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::WrongAnswer => f.write_str("wrong answer"),
            Error::Refused => f.write_str("the authentication tag was refused"),
            Error::Timeout => f.write_str("no answer in time"),
            Error::Device(code) => write!(f, "error {code} from the library or device"),
            Error::Contract => f.write_str("the provider broke its contract with the loop"),
            Error::Crashed => f.write_str("the runner died"),
            Error::Unsupported(reason) => write!(f, "unsupported: {reason}"),
            Error::Engine { code, meaning } => {
                write!(f, "error {code:#010x} from the device: {meaning}")
            }
        }
    }
}

impl core::error::Error for Error {}

/// What an engine's error means. A driver translates the codes of its device; what none of these
/// says is [`Meaning::Undocumented`]. A tag that does not verify is [`Error::Refused`] instead.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Meaning {
    /// The device does not accept the descriptor. (DCP: setup error; CAAM: DECO errors.)
    Descriptor,
    /// The device cannot read the descriptor or the message. (DCP: packet and source errors.)
    Read,
    /// The device cannot write the result. (DCP: destination error.)
    Write,
    /// The key is missing, locked, or of the wrong length. (virtio: key rejected.)
    Key,
    /// The message has a length that the mode does not take. (CAAM: CCB data size error.)
    Length,
    /// The device failed, or gave a job up, and needs a reset. (CAAM: hardware error, watchdog.)
    Hardware,
    /// The manual does not list the code.
    Undocumented,
}

impl fmt::Display for Meaning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Meaning::Descriptor => "it does not accept the descriptor",
            Meaning::Read => "it cannot read the descriptor or the message",
            Meaning::Write => "it cannot write the result",
            Meaning::Key => "the key is missing, locked, or of the wrong length",
            Meaning::Length => "the mode does not take a message of this length",
            Meaning::Hardware => "the device failed and needs a reset",
            Meaning::Undocumented => "its manual does not list this code",
        })
    }
}

impl From<Unsupported> for Error {
    fn from(reason: Unsupported) -> Error {
        Error::Unsupported(reason)
    }
}
