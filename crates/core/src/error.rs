//! Why something is not measured, and why something failed.

use core::fmt;
use serde::{Deserialize, Serialize};

/// The reason why something is not measured here. Not a failure.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unsupported {
    /// The provider does not have the algorithm or the operation.
    Algorithm,
    /// Not supported in this mode: in place, queued, key per message.
    Mode,
    /// Not supported at this length: block multiples, limits of an interface.
    Length,
    /// The algorithm or the interface has no such phase.
    Phase,
    /// Left out when the library was built.
    BuildOption,
    /// Forbidden by system policy.
    Policy,
    /// This user lacks the permission.
    Permission,
    /// The device, library or CPU feature is not present.
    Device,
    /// It does not fit in memory.
    Memory,
    /// The library is known to compute it wrongly, or to accept forgeries.
    Defect,
}

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Unsupported::Algorithm => "the provider does not support this algorithm or operation",
            Unsupported::Mode => "the provider cannot run it in this way",
            Unsupported::Length => "the algorithm or the interface does not support this length",
            Unsupported::Phase => "the algorithm or the interface has no such phase",
            Unsupported::BuildOption => "left out when the library was built",
            Unsupported::Policy => "forbidden by the system's policy",
            Unsupported::Permission => "this user lacks the permission",
            Unsupported::Device => "the device, library or CPU feature is not available",
            Unsupported::Memory => "it does not fit in memory",
            Unsupported::Defect => {
                "the library is known to compute it wrongly, or to accept forgeries"
            }
        })
    }
}

/// The reason why something failed that should have worked.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Error {
    /// The answer was not the known one.
    WrongAnswer,
    /// The tag did not verify: the right answer to a forgery, and a failure otherwise.
    Refused,
    /// No answer in time.
    Timeout,
    /// The library or the kernel reported this code.
    Device(i32),
    /// The provider broke its contract with the loop ([`crate::provider`]): a completion for a job that was not in
    /// flight, a wrong number of finished jobs, or `Full` with nothing in flight.
    Contract,
    /// The runner died.
    Crashed,
    /// An attempt showed that it is not possible here.
    Unsupported(Unsupported),
    /// The error reported by an engine that the provider drives itself.
    Engine {
        /// The device's status, as its register or ring holds it.
        code: u32,
        /// Its meaning according to the device's manual.
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

/// The meaning of an engine's error. A driver translates its device's codes; a code that fits no other
/// variant is [`Meaning::Undocumented`]. A tag that does not verify is reported as [`Error::Refused`]
/// instead.
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
    /// The mode does not support a message of this length. (CAAM: CCB data size error.)
    Length,
    /// The device failed or abandoned a job, and needs a reset. (CAAM: hardware error, watchdog.)
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
