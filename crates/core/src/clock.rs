//! Time: what a target must offer so that the loop can be timed on it.

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
    /// A clock that went backwards gives 0, which is below every resolution and so never a figure.
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

/// What the core is like at one moment: how long two pieces of code of known length take. The cost
/// of one clock reading is contained in each.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Reference {
    /// Of the reference chain, a run of dependent instructions that takes
    /// [`Clock::reference_cycles`] core cycles: their quotient is the core's effective clock.
    pub chain: Ticks,
    /// Of the burst: independent instructions, as many at once as the core can run. It takes longer
    /// against the chain while another thread runs on the same core (SMT), which leaves the chain
    /// as fast as ever.
    pub burst: Ticks,
}

/// A steady clock, and where the core's clock is not the same one, a way to sense the core's.
pub trait Clock {
    /// The time now. Monotonic; not steered by any time service. Must not be reordered with the
    /// code around it: a reading is taken after all earlier instructions have finished.
    fn now(&self) -> Ticks;

    /// Ticks per second.
    fn frequency(&self) -> u64;

    /// The least difference of two readings that is not zero, and what a reading itself costs,
    /// whichever is larger. Nothing shorter than this is ever a figure.
    fn resolution(&self) -> Ticks;

    /// What the core is like now. `None` where no reference chain is known to be right (emulation),
    /// or `now` counts core cycles itself.
    fn reference(&self) -> Option<Reference> {
        None
    }

    /// Core cycles of one reference chain; 0 where there is none.
    fn reference_cycles(&self) -> u32 {
        0
    }
}
