//! What a runner measured, raw: nothing is subtracted or averaged.

use crate::clock::{Reference, Ticks};
use serde::{Deserialize, Serialize};

/// One timed batch.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Sample {
    /// Operations in the batch.
    pub iterations: u32,
    /// How long the batch took, including one clock reading.
    pub ticks: Ticks,
    /// The state of the core just before; zeros if there is no reference.
    pub before: Reference,
    /// The state of the core just after. Two adjacent batches share one reading.
    pub after: Reference,
}

/// The steps of operations that ran one at a time, with a reading of the clock after each step; all in clock ticks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Steps {
    /// The operations.
    pub operations: u64,
    /// Until the request was built, summed.
    pub build: Ticks,
    /// From then until the call that sends it returned: all of the work, if it is done on the CPU.
    pub dispatch: Ticks,
    /// From then until the loop ran again after the completion.
    pub completion: Ticks,
}

/// The number of buckets of a [`Histogram`].
pub const BUCKETS: usize = 32 * 28;

/// Latencies of single operations in buckets of fixed bounds, at most 1/32 (3.1 %) wide.
///
/// Each value below 32 has its own bucket. Above that, there are 32 buckets for every doubling. The last
/// bucket also takes all values of 2^32 and more.
#[derive(Clone, Debug)]
pub struct Histogram {
    counts: [u32; BUCKETS],
    /// The largest value seen, exactly.
    pub max: Ticks,
}

impl Default for Histogram {
    fn default() -> Self {
        Histogram { counts: [0; BUCKETS], max: Ticks(0) }
    }
}

impl Histogram {
    /// Adds one value.
    pub fn add(&mut self, value: Ticks) {
        self.add_many(bucket(value), 1);
        self.max = self.max.max(value);
    }

    /// Adds `count` values to bucket `index`. An index that does not exist is ignored.
    pub fn add_many(&mut self, index: u16, count: u32) {
        if let Some(bucket) = self.counts.get_mut(usize::from(index)) {
            *bucket = bucket.saturating_add(count);
        }
    }

    /// The buckets that are not empty, lowest first: (index, count).
    pub fn filled(&self) -> impl Iterator<Item = (u16, u32)> + '_ {
        let indexed = self.counts.iter().enumerate();
        indexed.filter(|(_, count)| **count > 0).map(|(index, count)| (index as u16, *count))
    }
}

/// The bucket that `value` belongs to.
pub fn bucket(value: Ticks) -> u16 {
    let value = value.0;
    if value < 32 {
        return value as u16;
    }
    let octave = value.ilog2() as usize; // at least 5
    let within = (value >> (octave - 5)) as usize - 32;
    ((octave - 4) * 32 + within).min(BUCKETS - 1) as u16
}

/// The smallest value that belongs to bucket `index`, and the smallest that belongs to the next one.
pub fn bucket_bounds(index: u16) -> (Ticks, Ticks) {
    let lower = |index: u64| {
        if index < 64 { index } else { (32 + index % 32) << (index / 32 - 1) }
    };
    (Ticks(lower(index.into())), Ticks(lower(u64::from(index) + 1)))
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_value_lies_between_the_bounds_of_its_bucket(value in 0u64..1 << 32) {
            let (lower, upper) = bucket_bounds(bucket(Ticks(value)));
            prop_assert!(lower.0 <= value && value < upper.0);
            prop_assert!(value < 32 || (upper.0 - lower.0) * 32 <= lower.0);
        }
    }

    #[test]
    fn a_huge_value_goes_to_the_last_bucket_and_stays_the_maximum() {
        let mut histogram = Histogram::default();
        histogram.add(Ticks(u64::MAX));
        histogram.add(Ticks(7));
        let filled: std::vec::Vec<_> = histogram.filled().collect();
        assert_eq!(filled, [(7, 1), (BUCKETS as u16 - 1, 1)]);
        assert_eq!(histogram.max, Ticks(u64::MAX));
    }
}
