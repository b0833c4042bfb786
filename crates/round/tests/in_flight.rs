//! What a round reports about operations that had others in flight.

use cpb_core::measure::Budget;
use cpb_core::message::Reply;
use cpb_core::{
    Algorithm, Clock, Completion, CryptoWorkload, Data, Depth, Dispatch, Error, Identity, Job,
    Operation, Progress, Provider, Session, Ticks, Unsupported,
};
use cpb_round::{Plan, Seen, run};
use std::cell::Cell;
use std::collections::VecDeque;

/// A clock that advances with the engine's work, and by one tick at each reading.
#[derive(Default)]
struct Time(Cell<u64>);

impl Time {
    fn spend(&self, ticks: u64) -> Ticks {
        self.0.set(self.0.get() + ticks);
        Ticks(self.0.get())
    }
}

impl Clock for &Time {
    fn now(&self) -> Ticks {
        self.spend(1)
    }

    fn frequency(&self) -> u64 {
        1_000_000_000
    }

    fn resolution(&self) -> Ticks {
        Ticks(1)
    }
}

const RING: usize = 8;

/// An engine that takes 1,000 ticks per job and runs jobs one after the other.
struct Engine<'t>(&'t Time);

impl Provider for Engine<'_> {
    fn identity(&self) -> Identity<'_> {
        Identity { provider: "engine", version: "1", executor: "none", options: "" }
    }

    fn supports(&self, workload: &CryptoWorkload) -> Result<(), Unsupported> {
        workload.valid()
    }

    fn ring(&self) -> usize {
        RING
    }

    fn session(
        &self,
        _workload: &CryptoWorkload,
        _keys: &[&[u8]],
        jobs: &mut [Job<'_>],
        body: &mut dyn FnMut(&mut dyn Session) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let (queued, started) = (VecDeque::new(), VecDeque::new());
        body(&mut Open { time: self.0, jobs, queued, started })
    }
}

struct Open<'s, 'b> {
    time: &'s Time,
    jobs: &'s mut [Job<'b>],
    queued: VecDeque<usize>,
    started: VecDeque<usize>,
}

impl Session for Open<'_, '_> {
    fn submit(&mut self, job: usize) -> Result<Progress, Error> {
        self.queued.push_back(job);
        Ok(Progress::Queued)
    }

    fn start_all(&mut self) -> Result<(), Error> {
        self.started.append(&mut self.queued);
        Ok(())
    }

    fn complete(&mut self) -> Result<Option<Completion>, Error> {
        let Some(job) = self.started.pop_front() else { return Ok(None) };
        self.time.spend(1_000);
        if let Data::Apart { input, output } = &mut self.jobs[job].data {
            output.iter_mut().zip(*input).for_each(|(to, from)| *to = !from);
        }
        Ok(Some(Completion { job, result: Ok(()) }))
    }
}

fn round(depth: Depth, memory: Option<&mut [u8]>) -> Result<Seen, Error> {
    let dispatch = Dispatch { depth, ..Dispatch::SERIAL };
    let plain = CryptoWorkload::new(Algorithm::Aes128Ctr, Operation::Encrypt, 64);
    let workload = CryptoWorkload { dispatch, ..plain };
    let budget = Budget {
        warmup: Ticks(0),
        batch: Ticks(0),
        limit: Ticks(u64::MAX),
        batches: 2,
        latencies: 8,
        iterations: 16,
        counted: Ticks(0),
    };
    let time = Time::default();
    let plan = Plan {
        provider: &Engine(&time),
        workload: &workload.into(),
        budget: &budget,
        clock: &&time,
        computes: true,
        counting: false,
        memory,
    };
    run(plan, &mut |_| ())
}

fn in_own_memory(depth: u16) -> Seen {
    round(Depth::Jobs(depth), None).expect("nothing fails here")
}

/// The number of operations in the replies and the longest time: of single operations, then of those in
/// flight.
fn told(seen: &Seen) -> [(u32, u64); 2] {
    let mut told = [(0, 0); 2];
    for reply in seen.replies(3) {
        if let Reply::Latencies { thread: 3, in_flight, buckets, max } = reply {
            let (count, longest) = &mut told[usize::from(in_flight)];
            *count += buckets.iter().map(|(_, count)| count).sum::<u32>();
            *longest = max.0;
        }
    }
    told
}

#[test]
fn operations_with_others_in_flight_are_told_beside_single_ones() {
    let [(single, alone), (queued, longest)] = told(&in_own_memory(4));
    assert_eq!((single, queued), (8, 8));
    assert!((1_000..1_010).contains(&alone), "{alone}");
    assert!((4_000..4_010).contains(&longest), "{longest}");
}

#[test]
fn one_operation_at_a_time_tells_single_ones_only() {
    let seen = in_own_memory(1);
    assert!(seen.latency_in_flight.is_none());
    let [(single, _), queued] = told(&seen);
    assert_eq!((single, queued), (8, (0, 0)));
}

#[test]
fn a_full_ring_has_as_many_jobs_as_the_provider_says() {
    let seen = round(Depth::Ring, None).expect("nothing fails here");
    let [_, (_, longest)] = told(&seen);
    assert!((8_000..8_020).contains(&longest), "{longest}");
}

#[test]
fn jobs_whose_pages_do_not_fit_in_lent_memory_take_less() {
    const LINE: usize = 64;
    const PAGE: usize = 4096;
    // Whole pages would take two for each job. The first page of the lent memory may begin a page later.
    let mut memory = vec![0; PAGE + 2 * LINE * RING];
    let seen = round(Depth::Ring, Some(&mut memory)).expect("lines fit");
    let in_pages = round(Depth::Ring, None).expect("nothing fails here");
    assert_eq!(seen.output, in_pages.output);
    let smaller = &mut memory[1..];
    assert_eq!(round(Depth::Ring, Some(smaller)).map(drop), Err(Unsupported::Memory.into()));
}
