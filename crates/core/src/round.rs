//! A round: how much is measured, where its results go, and the loop of a session that runs it by itself.

use crate::clock::Ticks;
use crate::error::Error;

use crate::sample::{Histogram, Sample, Steps};
use serde::{Deserialize, Serialize};

/// How much to measure in one round. A runner uses the ticks of its own clock. A host does not know that
/// clock yet and uses [`Duration`](core::time::Duration)s.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Budget<Time = Ticks> {
    /// Time to run before the first batch, not measured.
    pub warmup: Time,
    /// How long a batch should take.
    pub batch: Time,
    /// The round stops after this time, counted from the first batch, even with fewer batches. At least one
    /// batch and one [period](crate::Session::period) of single operations are always taken.
    pub limit: Time,
    /// The maximum number of batches.
    pub batches: u16,
    /// The maximum number of single operations to time after the batches. If the workload has more than one
    /// job in flight, the same number is then timed in flight.
    pub latencies: u16,
    /// Operations per batch; 0: determined from [`Budget::batch`], in whole [periods](crate::Session::period).
    pub iterations: u32,
    /// The round continues, with batches that are not kept, until this much time has passed since the first
    /// batch: some of the system's counters have coarse steps. 0: it does not continue.
    pub counted: Time,
}

/// Where a round stores its results: memory of the caller, so nothing is allocated here.
pub struct Store<'a> {
    /// Filled from the front. Its length limits the number of batches.
    pub samples: &'a mut [Sample],
    /// Times of single operations.
    pub latency: &'a mut Histogram,
    /// Times from submission to completion of operations that filled the queue: with depth 4, those that
    /// found three others in flight. Stays empty with depth 1; `None` if they are not to be timed.
    pub latency_in_flight: Option<&'a mut Histogram>,
}

/// What a round took.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Taken {
    /// Batches in [`Store::samples`].
    pub samples: usize,
    /// Operations per batch.
    pub iterations: u32,
}

/// The loop of a session whose jobs no other loop can dispatch, because one call runs a whole round: a module of the
/// kernel takes a workload and returns what it timed. It does what [`measure::round`](crate::measure::round) does, in
/// the session's own dispatch, and stores the same results.
pub trait OwnLoop {
    /// Runs one round. All times, of the budget and of the results, are in ticks of the clock that the caller measures
    /// with. Samples have no readings of a reference chain; the caller adds its own. If `expected` has the concatenated
    /// outputs of all jobs, each answer is compared with its part while the clock runs.
    ///
    /// # Errors
    /// Returns the error of the first operation that failed, or [`Error::WrongAnswer`].
    fn round(
        &mut self,
        budget: &Budget,
        expected: Option<&[u8]>,
        store: &mut Store<'_>,
    ) -> Result<OwnRound, Error>;
}

/// What such a loop took.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct OwnRound {
    /// As for any round.
    pub taken: Taken,
    /// Operations that were run, including the warm-up.
    pub operations: u64,
    /// Where the time of single operations went; `None` if the loop does not tell.
    pub steps: Option<Steps>,
}
