//! Identifies a core by its speed at AES-CBC, and checks whether its clock is what the system states.
//!
//! With the Armv8 Crypto Extensions, AES-CBC encryption is a chain of dependent rounds, so its rate divided by the
//! core's clock is a constant of the core ([`cores`]). Two properties do not depend on the clock: how the three key
//! lengths compare, and the cost of a call in units of a block (`shape`). `naming` weighs all of it for the known
//! cores and for an unknown core. `verdicts` lists contradictions.
//!
//! What the system reports of its core is shown next to the name, but it is never used to find the name. Otherwise
//! the two could never contradict each other.
//!
//! The method assumes OpenSSL's code for AES-CBC, one thread, and an endless stream (`openssl speed`, phase
//! `update`).

pub mod cores;
mod naming;
mod of_record;
mod of_table;
mod shape;
#[cfg(test)]
mod tests;
mod verdicts;

pub use naming::{Candidate, Name};
pub use of_record::{observed, told};
pub use shape::Rates;
pub use verdicts::Misfit;

use crate::units::{BytesPerKilocycle, Hertz};
use cores::Cores;
use cpb_record::CoreContext;
use serde::Serialize;

/// What is known about one core, or about cores of one type and clock.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Observed {
    /// The cores, in the notation of the log or the system: `cpu0-cpu3`.
    pub place: String,
    /// The name that the system reports; empty if unknown.
    pub reported: String,
    /// Instruction set in the notation of `uname -m`; empty if unknown.
    pub architecture: String,
    /// Features that the kernel lists; `None` if unknown.
    pub features: Option<Vec<String>>,
    /// The highest clock that the system claims.
    pub stated_clock: Option<Hertz>,
    /// Clocks that were measured before and after the figures.
    pub measured_clocks: Vec<Hertz>,
    /// Other types of core in the machine that may have produced figures that were not pinned. Empty if the figures
    /// were pinned, or if there are no other types.
    pub elsewhere: Vec<String>,
    /// Rates of AES-CBC encryption.
    pub rates: Rates,
    /// How far apart runs with the same key were at long messages, as a share. The fastest run counts.
    pub apart: f64,
    /// The tool that measured the rates: `OpenSSL 1.1.1f`.
    pub tool: String,
    /// Rate with the crypto instructions divided by the rate without, for AES-256 at the largest size.
    pub unmasked: Option<f64>,
    /// The sign by which the CPU is emulated, if it is.
    pub emulated: Option<String>,
    /// What else the log measured.
    pub context: CoreContext,
}

/// What the figures of one core imply, and the contradictions.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Identified {
    /// The cores.
    pub place: String,
    /// The name that the system reports; empty if unknown.
    pub reported: String,
    /// The core that the figures imply.
    pub implied: Implied,
    /// For each key length in bits, the rate divided by the measured clock, or by the stated clock if none was
    /// measured.
    pub scores: Vec<(u16, BytesPerKilocycle)>,
    /// The clock that the system states.
    #[serde(rename = "stated_hz")]
    pub stated_clock: Option<Hertz>,
    /// The measured clock. If there are several, the one that fits the name best, or else the first.
    #[serde(rename = "measured_hz")]
    pub measured_clock: Option<Hertz>,
    /// The clock that the figures imply, lowest and highest; only for a named core or family.
    #[serde(rename = "implied_hz")]
    pub implied_clock: Option<(Hertz, Hertz)>,
    /// Contradictions and remarks.
    pub verdicts: Vec<Misfit>,
    /// What else the log measured.
    #[serde(skip_serializing_if = "CoreContext::is_empty")]
    pub context: CoreContext,
}

/// What figures imply about the core.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Implied {
    /// A core or family.
    Named(Name),
    /// A core with the extension that could not be named.
    Unknown {
        /// The reason.
        why: String,
        /// Possible cores, the most likely first.
        candidates: Vec<Candidate>,
    },
    /// The method does not apply to this core.
    NotApplicable {
        /// The reason.
        why: String,
    },
    /// An engine, not the core, seems to have computed the figures.
    Accelerator {
        /// The sign of it.
        why: String,
    },
}

/// Identifies `observed` by the constants of `cores`.
pub fn identify(observed: &Observed, cores: &Cores) -> Identified {
    let scores = naming::scores(observed);
    let implied = match verdicts::not_applicable(observed, &scores) {
        Some(implied) => implied,
        None => naming::name(observed, cores),
    };
    let (measured_clock, implied_clock) = match &implied {
        Implied::Named(name) => naming::clocks(observed, cores, name),
        _ => (observed.measured_clocks.first().copied(), None),
    };
    let mut identified = Identified {
        place: observed.place.clone(),
        reported: observed.reported.clone(),
        implied,
        scores,
        stated_clock: observed.stated_clock,
        measured_clock,
        implied_clock,
        verdicts: Vec::new(),
        context: observed.context.clone(),
    };
    identified.verdicts = verdicts::verdicts(observed, cores, &identified);
    identified
}
