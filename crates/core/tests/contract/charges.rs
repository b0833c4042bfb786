//! What a sample includes, to the tick.

use crate::fake::{COSTS, Costs, Plan};
use crate::ran::run;
use crate::{fixed, forms};
use cpb_core::{Build, Depth, Dispatch, Notice, Ticks};

const OPERATIONS: u64 = 6;

/// Ticks of each batch of [`OPERATIONS`] operations, in a session with the same number of jobs.
fn ticks(costs: Costs, dispatch: Dispatch, checked: bool) -> Vec<u64> {
    let plan = Plan { costs, ..Plan::default() };
    let jobs = OPERATIONS as usize;
    let ran = run(&plan, jobs, dispatch, checked, &fixed(3, OPERATIONS as u32));
    assert_eq!(ran.outcome.map(|taken| taken.samples), Ok(3));
    ran.samples.iter().map(|sample| sample.ticks.0).collect()
}

#[test]
fn one_at_a_time_pays_for_build_submit_start_engine_and_notice_of_each_and_for_one_reading() {
    let each = COSTS.build + COSTS.submit + COSTS.start + COSTS.service + COSTS.notice;
    for notice in [Notice::Each, Notice::Last] {
        let serial = Dispatch { notice, ..Dispatch::SERIAL };
        assert_eq!(ticks(COSTS, serial, false), [OPERATIONS * each + COSTS.reading; 3]);
    }
}

#[test]
fn what_is_built_before_the_clock_starts_is_not_paid_for() {
    let serial = Dispatch { build: Build::Before, ..Dispatch::SERIAL };
    let each = COSTS.submit + COSTS.start + COSTS.service + COSTS.notice;
    assert_eq!(ticks(COSTS, serial, false), [OPERATIONS * each + COSTS.reading; 3]);
}

#[test]
fn all_at_once_pays_for_the_submits_one_doorbell_the_engine_and_one_notice() {
    for service in [5, COSTS.service] {
        let costs = Costs { service, ..COSTS };
        let submits = OPERATIONS * COSTS.submit;
        let expected = submits + COSTS.start + OPERATIONS * service + COSTS.notice + COSTS.reading;
        for checked in [false, true] {
            assert_eq!(ticks(costs, Dispatch::ALL_AT_ONCE, checked), [expected; 3]);
        }
    }
}

#[test]
fn noticing_each_of_a_ring_of_finished_jobs_pays_for_each_notice() {
    let costs = Costs { service: 0, ..COSTS };
    for checked in [false, true] {
        let each = Dispatch { notice: Notice::Each, ..Dispatch::ALL_AT_ONCE };
        let expected = OPERATIONS * (COSTS.submit + COSTS.notice) + COSTS.start + COSTS.reading;
        assert_eq!(ticks(costs, each, checked), [expected; 3]);
    }
}

#[test]
fn a_queue_that_goes_on_being_filled_hides_building_behind_the_engine() {
    let dispatch = Dispatch { build: Build::InLoop, depth: Depth::Jobs(2), notice: Notice::Each };
    let first = 2 * (COSTS.build + COSTS.submit) + COSTS.start;
    let expected = first + OPERATIONS * COSTS.service + COSTS.notice + COSTS.reading;
    assert_eq!(ticks(COSTS, dispatch, false), [expected; 3]);
}

#[test]
fn a_full_ring_is_paid_for_but_the_refused_job_is_not_built_again() {
    let plan = Plan { ring: 1, ..Plan::default() };
    let dispatch = Dispatch { build: Build::InLoop, depth: Depth::Jobs(2), notice: Notice::Each };
    let ran = run(&plan, 2, dispatch, false, &fixed(1, 3));
    // The second and the third job are built and rejected, each before the job ahead is started.
    let start = COSTS.full + COSTS.start + COSTS.service + COSTS.notice;
    let first = 2 * COSTS.build + COSTS.submit + start;
    let second = COSTS.submit + COSTS.build + start;
    let third = COSTS.submit + COSTS.start + COSTS.service + COSTS.notice;
    assert_eq!(ran.samples[0].ticks, Ticks(first + second + third + COSTS.reading));
}

#[test]
fn a_software_provider_pays_for_build_and_work_alone() {
    let plan = Plan { on_the_spot: 100, ..Plan::default() };
    for dispatch in forms(3) {
        let ran = run(&plan, 6, dispatch, true, &fixed(2, 6));
        let build = match dispatch.build {
            Build::InLoop => COSTS.build,
            Build::Before => 0,
        };
        let expected = Ticks(6 * (build + COSTS.submit + COSTS.service) + COSTS.reading);
        assert!(ran.samples.iter().all(|sample| sample.ticks == expected));
        assert!(ran.answers_right());
    }
}

#[test]
fn the_reference_chain_runs_between_batches_and_one_reading_serves_two() {
    for dispatch in forms(3) {
        let ran = run(&Plan::default(), 4, dispatch, false, &fixed(3, 4));
        let around: Vec<_> =
            ran.samples.iter().map(|s| (s.before.chain.0, s.after.chain.0)).collect();
        let first = COSTS.reference;
        let expected = [(first, first + 1), (first + 1, first + 2), (first + 2, first + 3)];
        assert_eq!(around, expected);
    }
}

#[test]
fn the_time_of_a_single_operation_is_its_own_whole_time() {
    let budget = cpb_core::measure::Budget { latencies: 5, ..fixed(1, 4) };
    let each = COSTS.submit + COSTS.start + COSTS.service + COSTS.notice + COSTS.reading;
    for dispatch in forms(3) {
        let ran = run(&Plan::default(), 4, dispatch, false, &budget);
        let build = match dispatch.build {
            Build::InLoop => COSTS.build,
            Build::Before => 0,
        };
        assert_eq!(ran.latency.max, Ticks(each + build), "{dispatch:?}");
        assert_eq!(ran.singles(), 5);
    }
}
