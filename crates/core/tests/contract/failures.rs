//! One failed job fails the round, after all other jobs have completed.

use crate::dispatch::{Asked, any_round};
use crate::fake::{Call, Plan, failure};
use crate::ran::run;
use crate::{fixed, forms};
use cpb_core::{Depth, Error};
use proptest::prelude::*;

/// A round in which some of the jobs of the warm-up or of the first batches fail.
fn failing_round() -> impl Strategy<Value = (Asked, Vec<u64>)> {
    any_round()
        .prop_flat_map(|asked| {
            let least = (u64::from(asked.budget.iterations)).min(asked.jobs as u64);
            let fails = proptest::collection::vec(0..least, 1..4);
            (Just(asked), fails)
        })
        .prop_map(|(mut asked, fails)| {
            asked.plan.on_the_spot = 0;
            (asked, fails)
        })
}

/// The first completion that was a failure.
fn first_failure(diary: &[Call]) -> Option<Error> {
    diary.iter().find_map(|call| match call {
        Call::Complete(Some(completion)) => completion.result.err(),
        Call::Finish(finished) => finished.result.err(),
        _ => None,
    })
}

proptest! {
    #[test]
    fn a_failed_job_fails_the_round_and_all_others_come_back(
        (mut asked, fails) in failing_round()
    ) {
        asked.plan.fails = fails;
        let ran = asked.run();
        let first = first_failure(&ran.diary);
        prop_assert!(first.is_some());
        prop_assert_eq!(ran.outcome.err(), first);
        prop_assert_eq!(ran.left, 0);
        if asked.dispatch.depth != Depth::Jobs(1) {
            let batch = asked.budget.iterations as usize;
            let whole = ran.order().len() == batch || ran.order().len() == batch.min(asked.jobs);
            prop_assert!(whole, "a failed job does not stop the others");
        }
    }

    #[test]
    fn a_wrong_answer_fails_the_round_if_each_is_checked_and_only_then(
        (mut asked, wrong) in failing_round()
    ) {
        asked.plan.wrong = wrong;
        let ran = asked.run();
        if asked.checked {
            prop_assert_eq!(ran.outcome, Err(Error::WrongAnswer));
        } else {
            prop_assert!(ran.outcome.is_ok());
        }
        prop_assert_eq!(ran.left, 0);
    }
}

#[test]
fn a_failure_after_the_warm_up_is_seen_as_well() {
    for dispatch in forms(3) {
        for order in [5, 11, 17, 18] {
            let plan = Plan { fails: vec![order], ..Plan::default() };
            let budget = cpb_core::measure::Budget { latencies: 1, ..fixed(2, 6) };
            let ran = run(&plan, 6, dispatch, false, &budget);
            assert_eq!(ran.outcome, Err(failure(order)), "{dispatch:?}");
            assert_eq!(ran.left, 0);
        }
    }
}

#[test]
fn a_software_provider_that_fails_ends_the_round_at_once() {
    for dispatch in forms(3) {
        let plan = Plan { on_the_spot: 100, fails: vec![2], ..Plan::default() };
        let ran = run(&plan, 6, dispatch, true, &fixed(2, 6));
        assert_eq!(ran.outcome, Err(failure(2)));
        assert_eq!(ran.order(), [0, 1, 2]);
    }
}

#[test]
fn an_engine_that_dies_ends_the_round_after_one_time_out() {
    for dispatch in forms(3) {
        for checked in [false, true] {
            for order in [0, 5, 6, 13] {
                let plan = Plan { dies: Some(order), ..Plan::default() };
                let ran = run(&plan, 6, dispatch, checked, &fixed(2, 6));
                assert_eq!(ran.outcome, Err(Error::Timeout), "{dispatch:?}");
                let last_taken = ran.order().len() as u64 - 1;
                assert!((order..order + 6).contains(&last_taken));
            }
        }
    }
}

#[test]
fn a_submit_that_fails_ends_the_round_with_the_rest_left_to_the_provider() {
    for dispatch in forms(3) {
        let plan = Plan {
            on_the_spot: 50,
            fails: (0..100).collect(),
            spread: Some(100),
            ..Plan::default()
        };
        let ran = run(&plan, 6, dispatch, false, &fixed(2, 6));
        assert!(matches!(ran.outcome, Err(Error::Engine { .. })));
    }
}
