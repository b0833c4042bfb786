//! One round of one workload in one thread: prepare memory, measure, look at the answers.
//!
//! It needs an allocator and nothing else, so that a process of Linux and a board's firmware lay out
//! the same buffers, run the same loop and check the same answers. What a target adds, it does when
//! it is told that a [`Stage`] is reached.

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod answers;
mod arena;

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use cpb_core::measure::{self, Budget, Expected, Queue, Setting, Store, Taken};
use cpb_core::message::{self, Reply};
use cpb_core::{
    Checking, Clock, CryptoWorkload, Depth, Error, Histogram, Phase, Placement, Provider, Sample,
    Unsupported,
};

/// What is measured, by what, and with what.
pub struct Plan<'a, C> {
    /// Who runs it.
    pub provider: &'a dyn Provider,
    /// What is run.
    pub workload: &'a CryptoWorkload,
    /// How much of it.
    pub budget: &'a Budget,
    /// What times it.
    pub clock: &'a C,
    /// Whether there are answers to look at: a provider that does nothing has none.
    pub computes: bool,
    /// Where messages and outputs lie while they are timed; `None`: in memory of the allocator's.
    pub memory: Option<&'a mut [u8]>,
}

/// What a round saw.
pub struct Seen {
    /// Raw samples, in the order they were taken.
    pub samples: Vec<Sample>,
    /// Times of single operations.
    pub latency: Histogram,
    /// Times of operations with others in flight; `None` with depth 1.
    pub latency_in_flight: Option<Box<Histogram>>,
    /// Operations a batch.
    pub iterations: u32,
    /// Operations that were run, with the warm-up.
    pub operations: u64,
    /// CRC-64 over the outputs and tags of all jobs; 0 where they cannot be foretold.
    pub output: u64,
}

impl Seen {
    /// What tells a host of it: samples and latencies of thread number `thread`.
    pub fn replies(&self, thread: u8) -> impl Iterator<Item = Reply<'static>> + '_ {
        let samples = self.samples.chunks(message::SAMPLES);
        let samples = samples
            .map(move |some| Reply::Samples { thread, samples: some.iter().copied().collect() });
        let in_flight = self.latency_in_flight.iter().map(|times| (true, &**times));
        let latencies = core::iter::once((false, &self.latency)).chain(in_flight);
        samples.chain(latencies.flat_map(move |(in_flight, times)| {
            let (filled, max): (Vec<_>, _) = (times.filled().collect(), times.max);
            let batches = filled.len().div_ceil(message::LATENCIES);
            (0..batches).map(move |batch| {
                let some = filled.iter().skip(batch * message::LATENCIES).take(message::LATENCIES);
                let buckets = some.copied().collect();
                Reply::Latencies { thread, in_flight, buckets, max }
            })
        }))
    }
}

/// How far a round has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stage {
    /// Memory is ready, the session is about to be opened.
    Prepared,
    /// The session is open: counting begins.
    Open,
    /// Measuring begins: threads that measure together wait for each other here.
    WarmedUp,
    /// Everything is done that counts: counting ends.
    Done,
}

/// Whether `workload` can be measured with `provider` again and again.
///
/// # Errors
/// The provider's reason, or that a round would destroy what it works on.
pub fn repeatable(provider: &dyn Provider, workload: &CryptoWorkload) -> Result<(), Unsupported> {
    provider.supports(workload)?;
    let overwritten = workload.placement == Placement::InPlace;
    let once_only =
        workload.algorithm.refuses(workload.operation) && workload.phase != Phase::Update;
    if overwritten && once_only {
        // After the first time the ciphertext is gone, and its tag or MAC refuses what took its place.
        return Err(Unsupported::Mode);
    }
    Ok(())
}

/// Measures, and tells `reached` how far it has come.
///
/// # Errors
/// What the provider reported, that there is not enough memory, or [`Error::WrongAnswer`].
pub fn run<C: Clock>(plan: Plan<'_, C>, reached: &mut dyn FnMut(Stage)) -> Result<Seen, Error> {
    let Plan { provider, workload, budget, clock, computes, memory } = plan;
    let mut arena = answers::prepare(provider, workload, memory)?;
    let right = answers::first(provider, workload, &mut arena, computes)?;

    let mut samples = vec![Sample::default(); budget.batches.into()];
    let mut latency = Histogram::default();
    let mut latency_in_flight = (workload.dispatch.depth != Depth::Jobs(1)).then(on_the_heap);
    let mut ring = vec![0; arena.jobs()];
    let mut queue = Queue::new(&mut ring);
    let each = (workload.checking == Checking::Each)
        .then_some(Expected { outputs: &right.outputs, length: arena.output_length() });
    let mut taken = Taken::default();
    let (keys, mut jobs) = arena.parts();
    reached(Stage::Prepared);
    provider.session(workload, &keys, &mut jobs, &mut |session| {
        reached(Stage::Open);
        let mut store = Store {
            samples: &mut samples,
            latency: &mut latency,
            latency_in_flight: latency_in_flight.as_deref_mut(),
        };
        let (dispatch, budget) = (workload.dispatch, *budget);
        let ready = &mut || reached(Stage::WarmedUp);
        let setting = Setting { clock, dispatch, expected: each, budget, ready };
        taken = measure::round(session, setting, &mut queue, &mut store)?;
        reached(Stage::Done);
        Ok(())
    })?;
    drop(jobs);
    samples.truncate(taken.samples);
    let operations = queue.submitted();
    let foretold = provider.repeats(workload) && workload.algorithm.foretold(workload.operation);
    let output = if foretold { right.checksum() } else { 0 };
    answers::check_after(provider, workload, arena, right, operations, computes)?;
    let iterations = taken.iterations;
    Ok(Seen { samples, latency, latency_in_flight, iterations, operations, output })
}

/// An empty histogram that is not on the stack, which is small on a board.
#[inline(never)]
fn on_the_heap() -> Box<Histogram> {
    Box::default()
}
