//! The times of single operations.

use crate::batches::{LEAST_STEPS, least_interval, nanoseconds};
use crate::missing::NoFigure;
use crate::units::Nanoseconds;
use cpb_core::Ticks;
use cpb_core::message::ClockDescription;
use cpb_core::sample::{BUCKETS, bucket, bucket_bounds};
use cpb_record::{Batch, Round};
use serde::Serialize;
use std::collections::BTreeMap;

/// Percentiles of the times of single operations. A percentile is missing if too few operations were timed for one of
/// them to lie above it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Latency {
    /// Half of the operations took at most this.
    #[serde(rename = "p50_ns")]
    pub p50: Nanoseconds,
    /// 90 % of the operations took at most this.
    #[serde(rename = "p90_ns")]
    pub p90: Option<Nanoseconds>,
    /// 99 % of the operations took at most this.
    #[serde(rename = "p99_ns")]
    pub p99: Option<Nanoseconds>,
    /// The longest timed operation.
    #[serde(rename = "max_ns")]
    pub max: Nanoseconds,
    /// The number of timed operations.
    pub operations: u64,
}

/// Computes the latency from all rounds of a cell together. A batch of one operation is also the time of a single
/// one: slow operations, such as generating an RSA key, have hardly any others.
///
/// # Errors
/// Returns an error if single operations are too short for the clock, or if none was timed.
pub fn of<'a>(
    rounds: impl IntoIterator<Item = &'a Round>,
    clock: &ClockDescription,
) -> Result<Latency, NoFigure> {
    let mut buckets: BTreeMap<u16, u64> = BTreeMap::new();
    let mut max = 0;
    for round in rounds {
        for (bucket, count) in &round.latency {
            *buckets.entry(*bucket).or_default() += u64::from(*count);
        }
        max = max.max(round.latency_max);
        let single = if round.iterations == 1 { round.samples.as_slice() } else { &[] };
        for Batch(ticks, ..) in single.iter().flatten() {
            *buckets.entry(bucket(Ticks(*ticks))).or_default() += 1;
            max = max.max(*ticks);
        }
    }
    summary(&buckets, max, clock)
}

/// Computes the latency of operations that had others in flight, from submission to completion.
///
/// # Errors
/// Returns an error if the operations are too short for the clock, or if none was timed.
pub fn in_flight<'a>(
    rounds: impl IntoIterator<Item = &'a Round>,
    clock: &ClockDescription,
) -> Result<Latency, NoFigure> {
    let mut buckets: BTreeMap<u16, u64> = BTreeMap::new();
    let mut max = 0;
    for times in rounds.into_iter().filter_map(|round| round.latency_in_flight.as_ref()) {
        for (bucket, count) in &times.buckets {
            *buckets.entry(*bucket).or_default() += u64::from(*count);
        }
        max = max.max(times.max);
    }
    summary(&buckets, max, clock)
}

fn summary(
    buckets: &BTreeMap<u16, u64>,
    max: u64,
    clock: &ClockDescription,
) -> Result<Latency, NoFigure> {
    let operations: u64 = buckets.values().sum();
    if operations == 0 {
        return Err(NoFigure::NotReached);
    }
    if clock.frequency == 0 {
        return Err(NoFigure::Broken("a clock without ticks"));
    }
    let cost = clock.cost.0 as f64;
    let middle = percentile(buckets, operations, 0.5, max);
    if middle - cost < LEAST_STEPS.saturating_mul(least_interval(clock)) as f64 {
        return Err(NoFigure::BelowResolution);
    }
    let time = |ticks: f64| nanoseconds(ticks - cost, clock);
    let at = |share: f64, least: u64| {
        (operations >= least).then(|| time(percentile(buckets, operations, share, max)))
    };
    Ok(Latency {
        p50: time(middle),
        p90: at(0.90, 10),
        p99: at(0.99, 100),
        max: time(max as f64),
        operations,
    })
}

/// The value that a share of `total` does not exceed. The values of a bucket are taken to lie evenly between its
/// bounds, and none above `max`.
fn percentile(buckets: &BTreeMap<u16, u64>, total: u64, share: f64, max: u64) -> f64 {
    let rank = share * total as f64;
    let mut below = 0.0;
    for (&bucket, &count) in buckets {
        let count = count as f64;
        if below + count >= rank {
            let (low, next) = bucket_bounds(bucket);
            let unbounded = usize::from(bucket) + 1 >= BUCKETS;
            let high = if unbounded { max } else { next.0.min(max) } as f64;
            let low = (low.0 as f64).min(high);
            return low + (high - low) * (rank - below) / count;
        }
        below += count;
    }
    max as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{clock, round};
    use cpb_core::Histogram;
    use cpb_record::Times;

    fn rounds(values: impl Iterator<Item = u64>) -> Round {
        let mut histogram = Histogram::default();
        values.for_each(|value| histogram.add(Ticks(value)));
        let latency = histogram.filled().collect();
        Round { latency, latency_max: histogram.max.0, ..round(0, 1, Vec::new()) }
    }

    #[test]
    fn percentiles_are_right_to_a_bucket_and_do_not_exceed_the_longest() {
        let latency = of(&[rounds(10_021..=20_020)], &clock(20)).unwrap();
        let near = |figure: Nanoseconds, truth: f64| (figure.0 / truth - 1.0).abs() < 0.01;
        assert!(near(latency.p50, 15_000.0), "{latency:?}");
        assert!(near(latency.p90.unwrap(), 19_000.0), "{latency:?}");
        assert!(near(latency.p99.unwrap(), 19_900.0), "{latency:?}");
        assert_eq!((latency.max, latency.operations), (Nanoseconds(20_000.0), 10_000));
        let same = of(&[rounds(std::iter::repeat_n(5_020, 200))], &clock(20)).unwrap();
        assert!(same.p99.unwrap() <= same.max && same.p50 <= same.max, "{same:?}");
    }

    #[test]
    fn few_operations_have_no_far_percentiles_and_huge_ones_stay_finite() {
        let few = of(&[rounds([1000, u64::MAX / 2].into_iter())], &clock(20)).unwrap();
        assert_eq!((few.p90, few.p99), (None, None));
        assert_eq!(usize::from(bucket(Ticks(u64::MAX / 2))), BUCKETS - 1);
        assert!(few.max.0.is_finite());
    }

    #[test]
    fn a_batch_of_one_operation_is_one_that_was_timed() {
        let reading = cpb_record::Reading(1, 1);
        let batches = vec![vec![Batch(9_020, reading, reading); 12]];
        let slow = Round { samples: batches, ..rounds(std::iter::empty()) };
        let latency = of(std::slice::from_ref(&slow), &clock(20)).unwrap();
        assert_eq!((latency.operations, latency.max), (12, Nanoseconds(9_000.0)));
        let many = Round { iterations: 2, ..slow };
        assert_eq!(of(&[many], &clock(20)), Err(NoFigure::NotReached));
    }

    #[test]
    fn operations_with_others_in_flight_are_told_apart_from_single_ones() {
        let many = rounds(std::iter::repeat_n(40_020, 50));
        let times = Times { buckets: many.latency, max: many.latency_max };
        let both = Round { latency_in_flight: Some(times), ..rounds([10_020; 20].into_iter()) };
        let both = [both, rounds([10_020; 20].into_iter())];
        let (single, queued) = (of(&both, &clock(20)), in_flight(&both, &clock(20)));
        let (single, queued) = (single.unwrap(), queued.unwrap());
        assert_eq!((single.operations, single.max), (40, Nanoseconds(10_000.0)));
        assert_eq!((queued.operations, queued.max), (50, Nanoseconds(40_000.0)));
        assert_eq!(in_flight(&both[1..], &clock(20)), Err(NoFigure::NotReached));
    }

    #[test]
    fn operations_shorter_than_the_clock_can_tell_have_no_latency() {
        assert_eq!(of(&[rounds(100..200)], &clock(20)), Err(NoFigure::BelowResolution));
        assert_eq!(of(&[rounds(std::iter::empty())], &clock(20)), Err(NoFigure::NotReached));
    }
}
