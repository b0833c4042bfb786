//! One round of one workload in one or more threads, and what Linux counts meanwhile.

use crate::counters::{self, SharedCounters, ThreadCounters};
use crate::retired::Meter;
use crate::{pin, vector_state};
use cpb_core::catalog;
use cpb_core::measure::Budget;
use cpb_core::message::{Counters, Round};
use cpb_core::{Clock, Error, Provider, Ticks, Unsupported, Workload};
use cpb_round::{Plan, Seen, Stage};
use std::sync::Barrier;

type Outcome = Result<(Seen, Counters), Error>;

/// Measures `workload` in `cpus.len()` threads, each pinned to its CPU. A single thread runs on the caller's
/// current CPU.
pub(crate) fn run<C: Clock + Sync>(
    provider: &(dyn Provider + Sync),
    workload: &Workload,
    budget: &Budget,
    clock: &C,
    cpus: &[usize],
) -> Result<(Vec<Seen>, Round), Error> {
    cpb_round::repeatable(provider, workload)?;
    let mut shared = Vec::new();
    let mut read = || shared.push(SharedCounters::read(provider, budget.counted > Ticks(0)));
    let outcomes: Vec<Outcome> = if let [_] = cpus {
        let mut reached = |stage| {
            if stage != Stage::WarmedUp {
                read();
            }
        };
        vec![thread(provider, workload, budget, clock, &mut reached)]
    } else {
        // The measuring threads and this one, which reads the shared counts while they wait.
        let barrier = Barrier::new(cpus.len() + 1);
        std::thread::scope(|scope| {
            let start = |cpu: usize| {
                let mut meetings = Meetings { barrier: &barrier, left: MEETINGS };
                move || {
                    pin::pin(cpu).map_err(|_| Unsupported::Device)?;
                    thread(provider, workload, budget, clock, &mut |stage| meetings.reached(stage))
                }
            };
            let threads: Vec<_> = cpus.iter().map(|cpu| scope.spawn(start(*cpu))).collect();
            let mut meetings = Meetings { barrier: &barrier, left: MEETINGS };
            meetings.wait();
            read();
            meetings.reached(Stage::WarmedUp);
            meetings.wait();
            meetings.wait();
            read();
            drop(meetings);
            threads.into_iter().map(|thread| thread.join().unwrap_or(Err(Error::Crashed))).collect()
        })
    };
    let (mut seen, mut used) = (Vec::new(), Vec::new());
    let mut round = Round::default();
    for (index, outcome) in outcomes.into_iter().enumerate() {
        let (thread, counters) = outcome?;
        if index > 0 && thread.output != round.output {
            return Err(Error::WrongAnswer);
        }
        round.iterations = thread.iterations;
        round.output = thread.output;
        seen.push(thread);
        used.push(counters);
    }
    round.counters = counters::sum(&used);
    if let [before, after] = &shared[..] {
        before.add_to(&mut round.counters, after);
    }
    Ok((seen, round))
}

/// How often threads that measure together wait for each other: twice each at [`Stage::Open`] and
/// [`Stage::Done`], because the shared counts are read in between, and once at [`Stage::WarmedUp`].
const MEETINGS: u8 = 5;

/// The points at which a thread waits for the others. A thread that fails passes the remaining ones when this
/// is dropped, so the others do not wait forever.
struct Meetings<'a> {
    barrier: &'a Barrier,
    left: u8,
}

impl Meetings<'_> {
    fn wait(&mut self) {
        self.left -= 1;
        self.barrier.wait();
    }

    fn reached(&mut self, stage: Stage) {
        self.wait();
        if stage != Stage::WarmedUp {
            self.wait();
        }
    }
}

impl Drop for Meetings<'_> {
    fn drop(&mut self) {
        while self.left > 0 {
            self.wait();
        }
    }
}

fn thread<C: Clock>(
    provider: &dyn Provider,
    workload: &Workload,
    budget: &Budget,
    clock: &C,
    reached: &mut dyn FnMut(Stage),
) -> Outcome {
    let computes = provider.identity().provider != catalog::NULL;
    let mut meter = Meter::open();
    let counting = meter.is_some();
    let plan = Plan { provider, workload, budget, clock, computes, counting, memory: None };
    let (mut counters, mut counted) = (None, Counters::default());
    let seen = cpb_round::run(plan, &mut |stage| match stage {
        Stage::Prepared => vector_state::clear(),
        Stage::Open => {
            reached(stage);
            counters = Some(ThreadCounters::start());
        }
        Stage::WarmedUp => reached(stage),
        Stage::Counting(step) => {
            if let Some(meter) = &mut meter {
                meter.reached(step);
            }
        }
        Stage::Done => {
            counted = counters.take().map(ThreadCounters::stop).unwrap_or_default();
            reached(stage);
        }
    })?;
    counted.operations = seen.operations;
    counted.steps = seen.steps;
    counted.retired = meter.as_ref().and_then(Meter::retired);
    Ok((seen, counted))
}
