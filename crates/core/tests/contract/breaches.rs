//! A provider that breaks the contract is reported, and the loop neither hangs nor panics.

use crate::fake::{Breach, Plan};
use crate::ran::run;
use crate::{fixed, forms};
use cpb_core::{Build, Depth, Dispatch, Error, Notice};
use proptest::prelude::*;
use proptest::sample::select;

const BREACHES: [Breach; 6] = [
    Breach::Twice,
    Breach::NoSuchJob,
    Breach::NotInFlight,
    Breach::FullWhenIdle,
    Breach::NothingWhenBusy,
    Breach::NotStarted,
];

/// Whether `breach` can happen: if all jobs complete together, no completion names a job.
fn possible(breach: Breach, dispatch: Dispatch) -> bool {
    let names_a_job = matches!(breach, Breach::NoSuchJob | Breach::NotInFlight);
    let together = dispatch.notice == Notice::Last && dispatch.depth != Depth::Jobs(1);
    !(names_a_job && together)
}

/// Jobs that the provider takes in a round of one warm-up batch and two others.
const TAKEN: u64 = 18;

#[test]
fn every_breach_at_any_time_in_every_form_is_a_breach_of_contract() {
    for dispatch in forms(3) {
        for breach in BREACHES.into_iter().filter(|breach| possible(*breach, dispatch)) {
            for order in 0..TAKEN {
                // A ring that drains before each job can report Full while it is idle.
                let ring = if breach == Breach::FullWhenIdle { 1 } else { 4 };
                let plan = Plan { ring, breach: Some((breach, order)), ..Plan::default() };
                let ran = run(&plan, 6, dispatch, false, &fixed(2, 6));
                let context = format!("{breach:?} at {order}, {dispatch:?}");
                assert_eq!(ran.outcome, Err(Error::Contract), "{context}");
            }
        }
    }
}

/// The job that is submitted twice makes up for the lost one, so only a completion after the end reveals the
/// breach.
#[test]
fn a_second_completion_that_evens_out_is_told_by_what_still_comes() {
    for seed in 0..2_000 {
        let plan = Plan {
            ring: 4,
            spread: Some(1_845),
            early_full: 20,
            seed,
            breach: Some((Breach::Twice, 9)),
            ..Plan::default()
        };
        let ring = Dispatch { build: Build::InLoop, depth: Depth::Ring, notice: Notice::Each };
        let ran = run(&plan, 6, ring, false, &fixed(2, 6));
        assert_eq!(ran.outcome, Err(Error::Contract), "seed {seed}");
    }
}

proptest! {
    #[test]
    fn no_breach_is_taken_for_success_or_makes_the_loop_panic(
        breach in select(&BREACHES[..]),
        order in 0..TAKEN,
        (ring, spread, seed) in (1usize..8, 0u64..2_000, any::<u64>()),
        jobs in 1usize..7,
        checked in any::<bool>(),
        dispatch in (2u16..9).prop_flat_map(|depth| select(forms(depth))),
    ) {
        let plan = Plan {
            ring,
            spread: Some(spread),
            early_full: 20,
            seed,
            breach: Some((breach, order)),
            ..Plan::default()
        };
        let ran = run(&plan, jobs, dispatch, checked, &fixed(2, 6));
        let committed = ran.order().len() as u64 > order && possible(breach, dispatch);
        // With other jobs in flight, the engine is never idle at that time, so it cannot be full when idle.
        if committed && breach != Breach::FullWhenIdle {
            let told = matches!(ran.outcome, Err(Error::Contract | Error::WrongAnswer));
            prop_assert!(told, "{:?}", ran.outcome);
        }
    }
}
