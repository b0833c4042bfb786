//! How much a round measures.

use crate::fake::{COSTS, Call, Costs, Plan, READY, RENEWAL};
use crate::ran::{Ran, run, taken};
use crate::{fixed, forms};
use cpb_core::measure::Budget;
use cpb_core::{Build, Dispatch, Ticks};
use proptest::prelude::*;
use proptest::sample::select;

/// A software provider whose operations take `each` ticks.
fn software(each: u64) -> Plan {
    Plan {
        on_the_spot: 100,
        costs: Costs { build: 0, submit: 0, service: each, ..COSTS },
        ..Plan::default()
    }
}

/// The calls before the round reported that it was ready, and those after.
fn before_and_after_ready(ran: &Ran) -> (&[Call], &[Call]) {
    let mut parts = ran.diary.split(|call| *call == Call::Ready);
    let (before, after) = (parts.next(), parts.next());
    assert!(parts.next().is_none(), "ready once");
    before.zip(after).expect("ready in every round")
}

fn readings(calls: &[Call]) -> impl DoubleEndedIterator<Item = u64> + '_ {
    calls.iter().filter_map(|call| match call {
        Call::Read(time) => Some(*time),
        _ => None,
    })
}

proptest! {
    #[test]
    fn iterations_are_found_so_that_a_batch_takes_the_time_asked_for(
        each in 1u64..300_000, percent in 1u64..50_000, batches in 0u64..20,
    ) {
        let target = (each * percent / 100).max(1);
        let warmup = Ticks(batches * target);
        let budget = Budget { warmup, batch: Ticks(target), ..fixed(2, 0) };
        let ran = run(&software(each), 1, Dispatch::SERIAL, false, &budget);
        let taken = ran.outcome.expect("nothing was planted that fails");
        let ticks = ran.samples[0].ticks.0;
        prop_assert!(taken.iterations == 1 || ticks <= target + COSTS.reading);
        // No further operation would have fitted, apart from the cost of one clock reading.
        prop_assert!(ticks + each + each.div_ceil(2) >= target - target / 4);
    }

    #[test]
    fn a_queue_fills_its_batch_as_well(
        service in 1u64..50_000, target in 100_000u64..300_000,
        dispatch in select(forms(4)), jobs in 4usize..20,
    ) {
        let dispatch = Dispatch { build: Build::InLoop, ..dispatch };
        let plan = Plan { costs: Costs { service, ..COSTS }, ..Plan::default() };
        let budget = Budget { batch: Ticks(target), ..fixed(1, 0) };
        let ran = run(&plan, jobs, dispatch, false, &budget);
        prop_assert!(ran.outcome.is_ok());
        let ticks = ran.samples[0].ticks.0;
        let one = COSTS.build + COSTS.submit + COSTS.start + service + COSTS.notice;
        // One sixteenth is added because the last jobs of the batches used to find the size are cheaper.
        let most = target + target / 16 + one;
        prop_assert!(ticks <= most && ticks + one >= target / 2, "{ticks} of {target}");
    }
}

#[test]
fn a_batch_that_is_built_before_is_never_longer_than_the_jobs_there_are() {
    let budget = Budget { batch: Ticks(1_000_000), ..fixed(2, 0) };
    for dispatch in forms(3) {
        if dispatch.build == Build::Before {
            let ran = run(&Plan::default(), 5, dispatch, false, &budget);
            assert_eq!(ran.outcome.map(|taken| taken.iterations), Ok(5));
            let ran = run(&Plan::default(), 5, dispatch, false, &fixed(2, 100));
            assert_eq!(ran.outcome.map(|taken| taken.iterations), Ok(5));
        }
    }
}

#[test]
fn iterations_that_are_given_are_used_as_they_are() {
    for iterations in [1, 7, 1_000] {
        let budget = Budget { warmup: Ticks(10_000), batch: Ticks(50), ..fixed(2, iterations) };
        let ran = run(&software(10), 3, Dispatch::SERIAL, false, &budget);
        assert_eq!(ran.outcome.map(|taken| taken.iterations), Ok(iterations));
        let regions = ran.regions();
        assert!(regions.iter().all(|r| r.taken() == iterations as usize));
    }
}

#[test]
fn a_batch_of_any_length_may_be_asked_for() {
    // Jobs are built beforehand, so a batch has no more operations than there are jobs.
    for (batch, iterations) in [(0, 1), (1, 1), (1 << 63, 4), (u64::MAX, 4)] {
        let budget = Budget { batch: Ticks(batch), ..fixed(1, 0) };
        let ran = run(&software(1_000), 4, Dispatch::ALL_AT_ONCE, false, &budget);
        assert_eq!(ran.outcome.map(|taken| taken.iterations), Ok(iterations));
    }
}

#[test]
fn an_operation_of_half_a_batch_to_three_quarters_does_not_go_on_for_ever() {
    for each in [501, 600, 700, 749, 340, 370] {
        let budget = Budget { batch: Ticks(1_000), ..fixed(1, 0) };
        let ran = run(&software(each), 1, Dispatch::SERIAL, false, &budget);
        let fitting = (1_000 / each) as u32;
        assert_eq!(ran.outcome.map(|taken| taken.iterations), Ok(fitting));
    }
}

#[test]
fn the_limit_ends_a_round_early_but_not_before_its_first_batch() {
    let each = COSTS.reference + 1_000;
    for (limit, batches) in [(0, 1), (1, 1), (3 * each, 3), (u64::MAX, 9)] {
        let budget = Budget { limit: Ticks(limit), ..fixed(9, 1) };
        let ran = run(&software(1_000), 1, Dispatch::SERIAL, false, &budget);
        assert_eq!(ran.samples.len(), batches, "limit {limit}");
    }
}

#[test]
fn the_limit_ends_the_single_operations_too() {
    let budget = Budget { limit: Ticks(20_000), latencies: 1_000, ..fixed(1, 1) };
    let ran = run(&software(1_000), 1, Dispatch::SERIAL, false, &budget);
    assert!((15..20).contains(&ran.singles()), "{}", ran.singles());
}

#[test]
fn what_is_done_once_in_a_period_is_in_every_batch_and_in_the_single_operations() {
    let plan = Plan { period: 32, ..software(1_000) };
    for (batch, periods) in [(200, 1), (30_000, 1), (90_000, 3)] {
        let budget = Budget { batch: Ticks(batch), latencies: 50, limit: Ticks(0), ..fixed(3, 0) };
        let limited = run(&plan, 1, Dispatch::SERIAL, false, &budget);
        assert_eq!(limited.outcome.map(|taken| taken.iterations), Ok(32 * periods));
        assert_eq!((limited.samples.len(), limited.singles()), (1, 32));

        let ran =
            run(&plan, 1, Dispatch::SERIAL, false, &Budget { limit: Ticks(u64::MAX), ..budget });
        assert_eq!((ran.samples.len(), ran.singles()), (3, 50));
        let each = u64::from(32 * periods) * 1_000 + u64::from(periods) * RENEWAL + COSTS.reading;
        assert!(ran.samples.iter().all(|sample| sample.ticks.0 == each), "{:?}", ran.samples);
    }
}

#[test]
fn no_more_batches_are_taken_than_asked_for_or_than_fit_the_store() {
    for batches in [0, 1, 5] {
        let ran = run(&software(1), 1, Dispatch::SERIAL, false, &fixed(batches, 10));
        assert_eq!(ran.samples.len(), usize::from(batches));
        assert_eq!(ran.regions().len(), 1 + usize::from(batches));
    }
}

#[test]
fn the_warm_up_takes_its_time_and_no_more_before_the_round_is_ready() {
    for iterations in [0, 3] {
        let budget = Budget { warmup: Ticks(100_000), batch: Ticks(5_000), ..fixed(1, iterations) };
        let ran = run(&software(100), 1, Dispatch::SERIAL, false, &budget);
        let (before, _) = before_and_after_ready(&ran);
        let ends = readings(before).next_back().unwrap_or_default();
        assert!((100_000..110_000).contains(&ends), "{ends}");
    }
}

#[test]
fn waiting_for_other_threads_is_in_no_sample_and_not_in_the_limit() {
    let budget = Budget { limit: Ticks(READY), ..fixed(9, 1) };
    for dispatch in forms(3) {
        let ran = run(&software(100), 3, dispatch, false, &budget);
        let (before, after) = before_and_after_ready(&ran);
        let sent = |calls: &[Call]| calls.iter().filter_map(taken).count();
        assert_eq!((sent(before), sent(after)), (1, 9));
        let begins = readings(after).next().unwrap_or_default();
        assert!(begins >= READY);
        assert!(ran.samples.iter().all(|sample| sample.ticks.0 < READY));
    }
}

#[test]
fn a_round_lasts_as_long_as_it_is_to_be_counted_and_keeps_no_batch_of_that() {
    let each = 1_000;
    let short = run(&software(each), 1, Dispatch::SERIAL, false, &fixed(2, 3));
    for counted in [1, 50_000, 100_000] {
        let budget = Budget { counted: Ticks(counted), latencies: 2, ..fixed(2, 3) };
        let ran = run(&software(each), 1, Dispatch::SERIAL, false, &budget);
        assert_eq!((ran.samples.len(), ran.singles()), (2, 2));
        let (_, after) = before_and_after_ready(&ran);
        let (first, last) = (readings(after).next(), readings(after).next_back());
        let lasted = last.zip(first).map_or(0, |(last, first)| last - first);
        assert!(lasted >= counted, "{lasted} of {counted}");
        // At most one batch and its clock readings longer.
        let kept = 8 * each + 3 * 2 * COSTS.reference;
        assert!(lasted <= counted.max(kept) + 3 * each + 100, "{lasted} of {counted}");
        let more = ran.submitted - short.submitted;
        assert!(more >= counted.saturating_sub(kept) / each, "{more} operations more");
    }
}
