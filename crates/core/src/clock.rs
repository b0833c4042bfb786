//! Time: what a target must provide so that the loop can be timed on it.

use core::ops::{Add, Sub};
use serde::{Deserialize, Serialize};

/// A reading of a [`Clock`], or the difference of two, in that clock's own ticks.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Ticks(pub u64);

impl Sub for Ticks {
    type Output = Ticks;
    /// A clock that went backwards gives 0. That is below every resolution, so it never becomes a figure.
    fn sub(self, earlier: Ticks) -> Ticks {
        Ticks(self.0.saturating_sub(earlier.0))
    }
}

impl Add for Ticks {
    type Output = Ticks;
    fn add(self, other: Ticks) -> Ticks {
        Ticks(self.0.saturating_add(other.0))
    }
}

/// The state of the core at one moment: how long two pieces of code of known length take. Each includes the
/// cost of one clock reading.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Reference {
    /// Time of the reference chain, a run of dependent instructions that takes [`Clock::reference_cycles`]
    /// core cycles. The quotient is the core's effective clock.
    pub chain: Ticks,
    /// Time of the burst: independent instructions, as many at once as the core can run. Relative to the
    /// chain it takes longer while another thread runs on the same core (SMT); the chain itself does not slow
    /// down.
    pub burst: Ticks,
}

/// A steady clock. If the core runs on a different clock, it also offers a way to measure that one.
pub trait Clock {
    /// The current time. It must be monotonic and not adjusted by any time service. It must not be reordered
    /// with the surrounding code: a reading is taken after all earlier instructions have finished.
    fn now(&self) -> Ticks;

    /// Ticks per second.
    fn frequency(&self) -> u64;

    /// The larger of two values: the smallest non-zero difference between two readings, and the cost of a
    /// reading. A shorter time is never reported as a figure.
    fn resolution(&self) -> Ticks;

    /// The current state of the core. `None` if no reference chain is known to be right (emulation), or if
    /// `now` already counts core cycles.
    fn reference(&self) -> Option<Reference> {
        None
    }

    /// Core cycles of one reference chain; 0 if the clock has no chain.
    fn reference_cycles(&self) -> u32 {
        0
    }
}
