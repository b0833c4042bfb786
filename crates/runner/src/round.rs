//! One round of one workload: prepare memory, measure in one or several threads, look at the
//! answers.

use crate::arena::Arena;
use crate::counters::{self, SharedCounters, ThreadCounters};
use crate::{pin, vector_state};
use cpb_core::check::once;
use cpb_core::frame::output_checksum;
use cpb_core::measure::{self, Budget, Expected, Queue, Setting, Store, Taken};
use cpb_core::message::{Counters, Round};
use cpb_core::{
    Checking, Clock, CryptoWorkload, Error, Histogram, Kind, Operation, Phase, Placement, Provider,
    Sample, Ticks, Unsupported,
};
use std::sync::Barrier;

/// Updates of a stream that are looked at, before and after it is timed.
const STREAM_UPDATES: usize = 3;

/// What one thread saw.
pub(crate) struct ThreadRound {
    pub(crate) samples: Vec<Sample>,
    pub(crate) latency: Histogram,
}

type Outcome = Result<(ThreadRound, Taken, Counters, u64), Error>;

/// Measures `workload` in `cpus.len()` threads, each on its CPU; a single one on the CPU where the
/// caller is.
pub(crate) fn run<C: Clock + Sync>(
    provider: &(dyn Provider + Sync),
    workload: &CryptoWorkload,
    budget: &Budget,
    clock: &C,
    cpus: &[usize],
) -> Result<(Vec<ThreadRound>, Round), Error> {
    provider.supports(workload)?;
    let overwritten = workload.placement == Placement::InPlace;
    let once_only = workload.algorithm.shape().kind == Kind::Aead
        && workload.operation == Operation::Decrypt
        && workload.phase != Phase::Update;
    if overwritten && once_only {
        // After the first time the ciphertext is gone, and its tag refuses what took its place.
        return Err(Unsupported::Mode.into());
    }
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
        // The threads and this one, which counts while they wait.
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
        let (thread, taken, counters, output) = outcome?;
        if index > 0 && output != round.output {
            return Err(Error::WrongAnswer);
        }
        round.iterations = taken.iterations;
        round.output = output;
        seen.push(thread);
        used.push(counters);
    }
    round.counters = counters::sum(&used);
    if let [before, after] = &shared[..] {
        before.add_to(&mut round.counters, after);
    }
    Ok((seen, round))
}

/// How far a thread has come.
#[derive(Clone, Copy, PartialEq)]
enum Stage {
    /// Its session is open: counting begins.
    Open,
    /// It begins to measure.
    WarmedUp,
    /// It has done its work: counting has ended.
    Done,
}

/// How often threads that measure together wait for each other: twice at [`Stage::Open`] and
/// [`Stage::Done`], for in between the counts that they share are read, and once between the two.
const MEETINGS: u8 = 5;

/// A thread's meetings with the others. One that fails keeps the rest of them when it is dropped, so
/// that it does not leave the others waiting.
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
    workload: &CryptoWorkload,
    budget: &Budget,
    clock: &C,
    reached: &mut dyn FnMut(Stage),
) -> Outcome {
    let mut arena = prepare(provider, workload)?;
    let right = first_answers(provider, workload, &mut arena)?;

    let mut samples = vec![Sample::default(); budget.batches.into()];
    let mut latency = Histogram::default();
    let mut ring = vec![0; arena.jobs()];
    let mut queue = Queue::new(&mut ring);
    let each = (workload.checking == Checking::Each)
        .then_some(Expected { outputs: &right.outputs, length: arena.output_length() });
    let mut taken = Taken::default();
    let mut counted = Counters::default();
    let (keys, mut jobs) = arena.parts();
    vector_state::clear();
    provider.session(workload, &keys, &mut jobs, &mut |session| {
        reached(Stage::Open);
        let counters = ThreadCounters::start();
        let mut store = Store { samples: &mut samples, latency: &mut latency };
        let (dispatch, budget) = (workload.dispatch, *budget);
        let ready = &mut || reached(Stage::WarmedUp);
        let setting = Setting { clock, dispatch, expected: each, budget, ready };
        taken = measure::round(session, setting, &mut queue, &mut store)?;
        counted = Counters { operations: queue.submitted(), ..counters.stop() };
        reached(Stage::Done);
        Ok(())
    })?;
    drop(jobs);
    samples.truncate(taken.samples);
    let run = queue.submitted();
    let checksum = right.checksum();
    check_after(provider, workload, arena, right, run)?;
    Ok((ThreadRound { samples, latency }, taken, counted, checksum))
}

/// The workload's memory; for Decrypt with what this provider encrypted.
fn prepare(provider: &dyn Provider, workload: &CryptoWorkload) -> Result<Arena, Error> {
    let mut arena = Arena::new(workload).ok_or(Unsupported::Memory)?;
    if workload.operation == Operation::Decrypt && workload.phase != Phase::Setup {
        let encrypt = CryptoWorkload {
            operation: Operation::Encrypt,
            phase: Phase::Message,
            placement: Placement::Apart,
            ..*workload
        };
        let mut source = Arena::new(&encrypt).ok_or(Unsupported::Memory)?;
        run_once(provider, &encrypt, &mut source)?;
        arena.set_inputs(&source.outputs(), source.tags());
    }
    Ok(arena)
}

/// What the jobs come to.
#[derive(PartialEq)]
struct Answers {
    outputs: Vec<u8>,
    tags: Vec<Vec<u8>>,
}

impl Answers {
    fn of(arena: &mut Arena) -> Answers {
        Answers { outputs: arena.outputs(), tags: arena.tags().to_vec() }
    }

    fn checksum(&self) -> u64 {
        let tags = self.tags.iter().map(Vec::as_slice);
        output_checksum(core::iter::once(self.outputs.as_slice()).chain(tags))
    }

    /// Only the first `jobs` of them.
    fn truncate(&mut self, jobs: usize) {
        let length = self.outputs.len() / self.tags.len().max(1);
        self.outputs.truncate(length * jobs);
        self.tags.truncate(jobs);
    }
}

/// What this provider answers, untimed, to every job; the arena is as before afterwards, with
/// outputs cleared. A decryption must give the message back.
fn first_answers(
    provider: &dyn Provider,
    workload: &CryptoWorkload,
    arena: &mut Arena,
) -> Result<Answers, Error> {
    if workload.phase == Phase::Setup {
        return Ok(Answers { outputs: Vec::new(), tags: Vec::new() });
    }
    let (inputs, tags) = (arena.inputs(), arena.tags().to_vec());
    run_once(provider, workload, arena)?;
    let answers = Answers::of(arena);
    let whole_messages = workload.phase != Phase::Update;
    if workload.operation == Operation::Decrypt && whole_messages && computes(provider) {
        let mut plain = Arena::new(workload).ok_or(Unsupported::Memory)?;
        if answers.outputs != plain.inputs() {
            return Err(Error::WrongAnswer);
        }
    }
    arena.set_inputs(&inputs, &tags);
    Ok(answers)
}

/// After the timed batches the answers must still be the right ones.
///
/// Whole messages that went from buffer to buffer are simply looked at: what is there was written
/// by the timed operations. A stream, and a message that overwrote itself again and again, have
/// moved on; there the first answers are asked for once more.
fn check_after(
    provider: &dyn Provider,
    workload: &CryptoWorkload,
    mut arena: Arena,
    mut right: Answers,
    run: u64,
) -> Result<(), Error> {
    let last = if workload.phase == Phase::Update || workload.placement == Placement::InPlace {
        let mut again = prepare(provider, workload)?;
        first_answers(provider, workload, &mut again)?
    } else if workload.phase == Phase::Setup || !computes(provider) {
        return Ok(());
    } else {
        let reached = usize::try_from(run).unwrap_or(usize::MAX).min(arena.jobs());
        right.truncate(reached);
        let mut answers = Answers::of(&mut arena);
        answers.truncate(reached);
        answers
    };
    if last == right { Ok(()) } else { Err(Error::WrongAnswer) }
}

/// Whether there are answers to look at: the null provider computes none.
fn computes(provider: &dyn Provider) -> bool {
    provider.identity().provider != cpb_providers::NULL
}

/// Runs every job once, or for a stream the first few updates, in a session of its own, untimed.
fn run_once(
    provider: &dyn Provider,
    workload: &CryptoWorkload,
    arena: &mut Arena,
) -> Result<(), Error> {
    let times = if workload.phase == Phase::Update { STREAM_UPDATES } else { 1 };
    let (keys, mut jobs) = arena.parts();
    let count = jobs.len();
    provider.session(workload, &keys, &mut jobs, &mut |session| {
        (0..count).try_for_each(|job| (0..times).try_for_each(|_| once(session, job)))
    })
}
