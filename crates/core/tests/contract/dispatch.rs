//! The calls that the loop makes, in every form of dispatch and with any ring.

use crate::fake::{Call, Plan};
use crate::ran::{Ran, Region, run, taken};
use crate::{fixed, forms};
use cpb_core::measure::Budget;
use cpb_core::{Build, Depth, Dispatch, Notice, Progress};
use proptest::prelude::*;
use proptest::sample::select;

/// The parameters of a round.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) plan: Plan,
    pub(crate) jobs: usize,
    pub(crate) dispatch: Dispatch,
    pub(crate) checked: bool,
    pub(crate) budget: Budget,
}

impl Asked {
    pub(crate) fn run(&self) -> Ran {
        run(&self.plan, self.jobs, self.dispatch, self.checked, &self.budget)
    }

    /// How many jobs the loop may have in flight.
    fn depth(&self) -> usize {
        match self.dispatch.depth {
            Depth::Jobs(depth) => self.jobs.min(depth.into()),
            Depth::Ring => self.jobs,
        }
    }
}

/// Any round that must succeed.
pub(crate) fn any_round() -> impl Strategy<Value = Asked> {
    let spread = proptest::option::of(0u64..2_000);
    let plan = (1usize..12, spread, 0u64..70, 0u64..=50, any::<u64>());
    let form = (2u16..9).prop_flat_map(|depth| select(forms(depth)));
    let budget = (1u16..4, 1u32..20, 0u16..3);
    (plan, 1usize..10, form, any::<bool>(), budget).prop_map(
        |(plan, jobs, dispatch, checked, (batches, iterations, latencies))| Asked {
            plan: Plan {
                ring: plan.0,
                spread: plan.1,
                early_full: plan.2,
                on_the_spot: plan.3,
                seed: plan.4,
                ..Plan::default()
            },
            jobs,
            dispatch,
            checked,
            budget: Budget { latencies, ..fixed(batches, iterations) },
        },
    )
}

fn is_build(call: &Call) -> bool {
    matches!(call, Call::Build(_))
}

/// Walks through one region and checks it against the rules of its dispatch.
fn keeps_the_rules(asked: &Asked, region: &Region<'_>, operations: usize) {
    let (depth, notice) = (asked.depth(), asked.dispatch.notice);
    let serial = asked.dispatch.depth == Depth::Jobs(1);
    let (mut unsent, mut in_flight, mut waiting, mut full) = (operations, 0, 0, false);
    let mut ready = None;
    let mut calls = region.calls.iter().peekable();
    while let Some(call) = calls.next() {
        if let Some(job) = taken(call) {
            unsent -= 1;
            if asked.dispatch.build == Build::InLoop {
                assert_eq!(ready.take(), Some(job), "each is built just before");
            }
        }
        match call {
            Call::Build(job) => {
                assert_eq!(ready.replace(*job), None, "one is built at a time");
                let next = calls.peek();
                assert!(matches!(next, Some(Call::Submit(next, _)) if next == job));
            }
            Call::Submit(_, Ok(Progress::Queued)) => {
                in_flight += 1;
                waiting += 1;
                assert!(in_flight <= depth, "no more in flight than asked for");
            }
            Call::Start(jobs) => {
                assert_eq!(*jobs, waiting, "one doorbell starts all that was submitted");
                assert!(in_flight == depth || full || unsent == 0, "the queue is filled first");
                waiting = 0;
                // The job that the engine rejected is still to be submitted.
                continue;
            }
            Call::Complete(Some(_)) => {
                assert!(notice == Notice::Each || serial, "no completion is taken singly");
                assert!(
                    in_flight == depth || full || unsent == 0,
                    "no job waits while there is room"
                );
                in_flight -= 1;
            }
            Call::Finish(finished) => {
                assert!(notice == Notice::Last && !serial, "each completion is noticed");
                assert!(
                    in_flight == depth || full || unsent == 0,
                    "no job waits while there is room"
                );
                assert_eq!(finished.jobs, in_flight);
                in_flight = 0;
            }
            _ => {}
        }
        full = matches!(call, Call::Submit(_, Ok(Progress::Full)));
    }
    assert_eq!((unsent, in_flight), (0, 0), "all of it is in the region");
}

proptest! {
    #[test]
    fn a_round_keeps_the_rules_of_its_dispatch(asked in any_round()) {
        let ran = asked.run();
        let iterations = match asked.dispatch.build {
            Build::InLoop => asked.budget.iterations,
            Build::Before => asked.budget.iterations.min(asked.jobs as u32),
        };
        let taken = ran.outcome.expect("nothing was planted that fails");
        prop_assert_eq!(taken.iterations, iterations);
        prop_assert_eq!(taken.samples, usize::from(asked.budget.batches));

        let singles = usize::from(asked.budget.latencies);
        prop_assert_eq!(ran.singles(), singles);
        let regions = ran.regions();
        let (full_batches, single) = regions.split_at(regions.len() - singles);
        prop_assert_eq!(full_batches.len(), 1 + taken.samples);
        full_batches.iter().for_each(|region| keeps_the_rules(&asked, region, iterations as usize));
        single.iter().for_each(|region| keeps_the_rules(&asked, region, 1));

        let ticks: Vec<_> = ran.batches().iter().map(|region| region.ticks).collect();
        let sampled: Vec<_> = ran.samples.iter().map(|sample| sample.ticks).collect();
        prop_assert_eq!(ticks, sampled);
        prop_assert!(ran.samples.iter().all(|sample| sample.iterations == iterations));

        prop_assert_eq!(ran.left, 0);
        prop_assert!(ran.answers_right());
        let order = ran.order();
        prop_assert_eq!(ran.submitted, order.len() as u64);
        let turn = &order[..asked.jobs.min(order.len())];
        prop_assert!((0..turn.len()).all(|job| turn.contains(&job)), "jobs take turns");
        let builds = ran.diary.iter().filter(|call| is_build(call)).count();
        prop_assert_eq!(builds, order.len());
        if asked.dispatch.build == Build::Before {
            prop_assert!(regions.iter().all(|region| region.count(is_build) == 0));
        }
    }

    #[test]
    fn one_at_a_time_takes_the_jobs_in_turn(
        jobs in 1usize..9, iterations in 1u32..20, build in select(Build::ALL),
    ) {
        let serial = Dispatch { build, ..Dispatch::SERIAL };
        let ran = run(&Plan::default(), jobs, serial, true, &fixed(2, iterations));
        let order = ran.order();
        let in_turn: Vec<_> = (0..order.len()).map(|operation| operation % jobs).collect();
        prop_assert_eq!(order, in_turn);
    }
}

#[test]
fn jobs_do_complete_out_of_order_and_rings_do_fill_in_these_tests() {
    let plan = Plan { ring: 3, spread: Some(1_000), early_full: 20, ..Plan::default() };
    let ring = Dispatch { notice: Notice::Each, ..Dispatch::ALL_AT_ONCE };
    let ran = run(&plan, 8, ring, true, &fixed(4, 8));
    let completed = ran.diary.iter().filter_map(|call| match call {
        Call::Complete(completion) => completion.map(|completion| completion.job),
        _ => None,
    });
    assert_ne!(completed.collect::<Vec<_>>(), ran.order());
    let full = |call: &Call| matches!(call, Call::Submit(_, Ok(Progress::Full)));
    assert!(ran.diary.iter().any(full));
}

#[test]
fn as_many_jobs_fly_as_depth_ring_and_session_allow() {
    for (depth, ring, jobs, flying) in [
        (Depth::Jobs(1), 9, 9, 1),
        (Depth::Jobs(4), 9, 9, 4),
        (Depth::Jobs(4), 3, 9, 3),
        (Depth::Jobs(4), 9, 2, 2),
        (Depth::Ring, 9, 6, 6),
        (Depth::Ring, 5, 6, 5),
    ] {
        for mut dispatch in forms(4) {
            dispatch.depth = depth;
            let plan = Plan { ring, ..Plan::default() };
            let ran = run(&plan, jobs, dispatch, false, &fixed(2, 9));
            let (mut now, mut most) = (0i32, 0);
            for call in &ran.diary {
                match call {
                    Call::Submit(_, Ok(Progress::Queued)) => now += 1,
                    Call::Complete(Some(_)) => now -= 1,
                    Call::Finish(finished) => now -= finished.jobs as i32,
                    _ => {}
                }
                most = most.max(now);
            }
            assert_eq!(most, flying, "{dispatch:?} with {jobs} jobs, ring of {ring}");
        }
    }
}
