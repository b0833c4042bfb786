//! Which core is it, by how fast it computes AES-CBC? And is its clock what the system says?
//!
//! With the Armv8 Crypto Extensions, AES-CBC encryption is a chain of dependent rounds: its rate over the
//! core's clock is a constant of the core ([`cores`]). Two things follow that no clock is needed for: how
//! the three key lengths compare, and how much a call costs in units of a block (`shape`). `naming`
//! weighs all of it against the known cores and against a core that is none of them; `verdicts` says
//! what does not fit together.
//!
//! What a system reports of its core is shown beside the name and never used to find it: a contradiction
//! between them would otherwise be impossible.
//!
//! Assumes OpenSSL's code for AES-CBC, one thread, and a stream without end (`openssl speed`, phase
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
use serde::Serialize;

/// What is known of one core, or of cores of one type and clock.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Observed {
    /// Which ones, as the log or the system has it: `cpu0-cpu3`.
    pub place: String,
    /// What the system calls them; empty: not told.
    pub reported: String,
    /// Instruction set, as `uname -m` has it; empty: not told.
    pub architecture: String,
    /// Features that the kernel lists; none: not told.
    pub features: Option<Vec<String>>,
    /// The highest clock that the system claims.
    pub stated_clock: Option<Hertz>,
    /// Clocks that somebody measured around the figures.
    pub measured_clocks: Vec<Hertz>,
    /// Other types of core that the machine has, on which figures may have been made if nothing was
    /// pinned; none: it was, or there are none.
    pub elsewhere: Vec<String>,
    /// Rates of AES-CBC encryption.
    pub rates: Rates,
    /// How far apart runs of the same key were at long messages, as a share; the fastest counts.
    pub apart: f64,
    /// What made them: `OpenSSL 1.1.1f`.
    pub tool: String,
    /// Rate with the crypto instructions over that without, of AES-256 at the largest size.
    pub unmasked: Option<f64>,
    /// By which sign the CPU is emulated, if it is.
    pub emulated: Option<String>,
}

/// What the figures imply.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Identified {
    /// Which cores.
    pub place: String,
    /// What the system calls them; empty: not told.
    pub reported: String,
    /// What the figures imply.
    pub implied: Implied,
    /// Rate by the measured clock, or else by the stated one, for each key length in bits.
    pub scores: Vec<(u16, BytesPerKilocycle)>,
    /// The clock that the system claims.
    #[serde(rename = "stated_hz")]
    pub stated_clock: Option<Hertz>,
    /// The clock that was measured: of several the one that fits the name best, else the first.
    #[serde(rename = "measured_hz")]
    pub measured_clock: Option<Hertz>,
    /// The clock that the figures imply, lowest and highest; of a named core or family only.
    #[serde(rename = "implied_hz")]
    pub implied_clock: Option<(Hertz, Hertz)>,
    /// What does not fit together.
    pub verdicts: Vec<Misfit>,
}

/// What figures imply of the core.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Implied {
    /// A core or family.
    Named(Name),
    /// A core with the extension, but not which.
    Unknown {
        /// Why not.
        why: String,
        /// What it may be, the likeliest first.
        candidates: Vec<Candidate>,
    },
    /// The method says nothing of this core.
    NotApplicable {
        /// Why not.
        why: String,
    },
    /// An engine, not the core, seems to have computed.
    Accelerator {
        /// By what sign.
        why: String,
    },
}

/// What the figures of `observed` imply, by the constants of `cores`.
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
    };
    identified.verdicts = verdicts::verdicts(observed, cores, &identified);
    identified
}
