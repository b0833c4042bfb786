//! The time of an operation from submission to completion with others in flight, compared with its time
//! alone.

use crate::fake::{COSTS, Plan};
use crate::ran::{Ran, run};
use crate::{fixed, forms};
use cpb_core::measure::Budget;
use cpb_core::sample::bucket;
use cpb_core::{Build, Depth, Dispatch, Notice, Ticks};
use std::collections::BTreeMap;

/// A round with four times as many jobs as the depth. A batch has one operation more than there are jobs, and
/// that operation does not fill the queue.
fn ran(depth: u16, build: Build, notice: Notice, latencies: u16) -> Ran {
    let dispatch = Dispatch { build, depth: Depth::Jobs(depth), notice };
    let budget = Budget { latencies, ..fixed(1, 4 * u32::from(depth) + 1) };
    let ran = run(&Plan::default(), 4 * usize::from(depth), dispatch, true, &budget);
    assert!(ran.outcome.is_ok() && ran.answers_right());
    ran
}

/// The given counts of these times, by bucket.
fn buckets<const N: usize>(times: [(u64, u32); N]) -> BTreeMap<u16, u32> {
    let mut buckets = BTreeMap::new();
    for (ticks, count) in times {
        *buckets.entry(bucket(Ticks(ticks))).or_default() += count;
    }
    buckets
}

/// The time of the job that fills an idle engine's queue: its submission, the doorbell, `depth` jobs on the
/// engine, its notice, and a clock reading.
fn filling(depth: u16) -> u64 {
    let engine = u64::from(depth) * COSTS.service;
    COSTS.submit + COSTS.start + engine + COSTS.notice + COSTS.reading
}

#[test]
fn it_is_measured_at_the_depth_that_is_in_flight_beside_single_operations() {
    for depth in 2..40 {
        for &build in Build::ALL {
            let ran = ran(depth, build, Notice::Each, 4);
            let alone = filling(1) + if build == Build::InLoop { COSTS.build } else { 0 };
            assert_eq!(BTreeMap::from_iter(ran.latency.filled()), buckets([(alone, 4)]));

            // A later job is submitted while the engine is already working on the next one: after the notice
            // of the previous job, a clock reading, and its own building.
            let built = if build == Build::InLoop { COSTS.build } else { 0 };
            let later = u64::from(depth) * COSTS.service - built - COSTS.reading;
            let expected = buckets([(filling(depth), 1), (later, 3)]);
            let seen = BTreeMap::from_iter(ran.latency_in_flight.filled());
            assert_eq!(seen, expected, "depth {depth}, {build:?}");
            assert_eq!(ran.latency_in_flight.max, Ticks(filling(depth)));
        }
    }
}

#[test]
fn with_notice_last_it_lasts_until_all_have_finished() {
    for depth in 2..40 {
        let ran = ran(depth, Build::InLoop, Notice::Last, 6);
        let seen = BTreeMap::from_iter(ran.latency_in_flight.filled());
        assert_eq!(seen, buckets([(filling(depth), 6)]));
        assert_eq!(ran.latency_in_flight.max, Ticks(filling(depth)));
    }
}

#[test]
fn an_engine_that_takes_fewer_jobs_than_asked_for_is_timed_at_what_it_takes() {
    for &notice in Notice::ALL {
        let plan = Plan { ring: 3, ..Plan::default() };
        let ring = Dispatch { build: Build::Before, depth: Depth::Ring, notice };
        let budget = Budget { latencies: 1, ..fixed(1, 12) };
        let ran = run(&plan, 12, ring, false, &budget);
        // The fourth job was rejected before the doorbell.
        let expected = filling(3) + COSTS.full + COSTS.reading;
        assert_eq!(ran.latency_in_flight.max, Ticks(expected), "{notice:?}");
    }
}

#[test]
fn depth_one_and_work_on_the_spot_have_only_single_operations() {
    let software = Plan { on_the_spot: 100, ..Plan::default() };
    for dispatch in forms(3) {
        let budget = Budget { latencies: 5, ..fixed(1, 6) };
        let ran = run(&software, 6, dispatch, true, &budget);
        assert_eq!((ran.singles(), ran.latency_in_flight.filled().count()), (5, 0));
        let serial = Dispatch { depth: Depth::Jobs(1), ..dispatch };
        let ran = run(&Plan::default(), 6, serial, true, &budget);
        assert_eq!((ran.singles(), ran.latency_in_flight.filled().count()), (5, 0));
    }
}

#[test]
fn the_limit_ends_it_too_but_not_before_its_first_batch() {
    for dispatch in forms(3).into_iter().filter(|dispatch| dispatch.depth != Depth::Jobs(1)) {
        let budget = Budget { latencies: 1_000, limit: Ticks(0), ..fixed(1, 6) };
        let ran = run(&Plan::default(), 6, dispatch, false, &budget);
        let count: u32 = ran.latency_in_flight.filled().map(|(_, count)| count).sum();
        assert!((1..=4).contains(&count), "{count}, {dispatch:?}");
    }
}
