//! One round of one workload in one thread: prepare memory, measure, check the answers.
//!
//! It needs only an allocator, so a Linux process and a board's firmware lay out the same buffers, run the
//! same loop and check the same answers. A target adds its own actions in the callback that reports each
//! [`Stage`].

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod answers;
mod arena;
mod crypto;
mod memory_read;
mod pages;

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use cpb_core::measure::{self, Expected, Queue, Setting, Step};
use cpb_core::message::{self, Reply};
use cpb_core::round::{Budget, OwnLoop, OwnRound, Store, Taken};
use cpb_core::sample::Steps;
use cpb_core::{
    Clock, Depth, Dispatch, Error, Histogram, Provider, Sample, Session, Unsupported, Workload,
};

/// What is measured, and with what.
pub struct Plan<'a, C> {
    /// The provider that runs it.
    pub provider: &'a dyn Provider,
    /// The workload to run.
    pub workload: &'a Workload,
    /// How much to measure.
    pub budget: &'a Budget,
    /// The clock that times it.
    pub clock: &'a C,
    /// Whether there are answers to check: a provider that computes nothing has none.
    pub computes: bool,
    /// Whether something counts what batches retire: then some are run for it.
    pub counting: bool,
    /// Memory for messages and outputs while they are timed; `None`: memory from the allocator.
    pub memory: Option<&'a mut [u8]>,
}

/// The results of a round.
pub struct Seen {
    /// Raw samples, in the order in which they were taken.
    pub samples: Vec<Sample>,
    /// Times of single operations.
    pub latency: Histogram,
    /// Times of operations with others in flight; `None` with depth 1.
    pub latency_in_flight: Option<Box<Histogram>>,
    /// Operations per batch.
    pub iterations: u32,
    /// Operations that were run, including the warm-up.
    pub operations: u64,
    /// Where the time of single operations went; `None` if it was not told.
    pub steps: Option<Steps>,
    /// CRC-64 over the outputs and tags of all jobs, or the sum computed by a memory read; 0 if the output
    /// cannot be predicted.
    pub output: u64,
}

impl Seen {
    /// The messages that report it to a host: samples and latencies of thread number `thread`.
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

/// The progress of a round.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stage {
    /// Memory is ready; the session is about to be opened.
    Prepared,
    /// The session is open: counting begins.
    Open,
    /// Measuring begins: threads that measure together wait for each other here.
    WarmedUp,
    /// A batch begins or ends that is run to count what it retires.
    Counting(Step),
    /// All work that counts is done: counting ends.
    Done,
}

/// Checks whether a session for `workload` can be opened.
///
/// # Errors
/// Returns the provider's reason if it cannot be opened.
pub fn supports(provider: &dyn Provider, workload: &Workload) -> Result<(), Unsupported> {
    match workload {
        Workload::Crypto(workload) => provider.supports(workload),
        Workload::MemoryRead(workload) => memory_read::reader(provider)?.supports(workload),
        // A workload family that this crate does not implement.
        _ => Err(Unsupported::Algorithm),
    }
}

/// Checks whether `workload` can be measured repeatedly with `provider`.
///
/// # Errors
/// Returns the provider's reason, or an error if a round would destroy its own input.
pub fn repeatable(provider: &dyn Provider, workload: &Workload) -> Result<(), Unsupported> {
    supports(provider, workload)?;
    match workload {
        Workload::Crypto(workload) => crypto::repeatable(workload),
        _ => Ok(()),
    }
}

/// Measures, and calls `reached` at each stage.
///
/// # Errors
/// Returns the provider's error, [`Error::WrongAnswer`], or an error if there is not enough memory.
pub fn run<C: Clock>(plan: Plan<'_, C>, reached: &mut dyn FnMut(Stage)) -> Result<Seen, Error> {
    match plan.workload {
        Workload::Crypto(workload) => crypto::run(plan, workload, reached),
        Workload::MemoryRead(workload) => memory_read::run(plan, workload, reached),
        _ => Err(Unsupported::Algorithm.into()),
    }
}

/// The loop's side of a round for all workload families: where samples go, and which jobs are free.
struct Measuring<'a, C> {
    budget: &'a Budget,
    clock: &'a C,
    dispatch: Dispatch,
    counting: bool,
    samples: Vec<Sample>,
    latency: Histogram,
    latency_in_flight: Option<Box<Histogram>>,
    ring: Vec<u16>,
    taken: Taken,
    operations: u64,
    steps: Option<Steps>,
}

impl<'a, C: Clock> Measuring<'a, C> {
    fn new(plan: &Plan<'a, C>, dispatch: Dispatch, jobs: usize) -> Self {
        let Plan { budget, clock, counting, .. } = *plan;
        Measuring {
            budget,
            clock,
            dispatch,
            counting,
            samples: vec![Sample::default(); budget.batches.into()],
            latency: Histogram::default(),
            latency_in_flight: (dispatch.depth != Depth::Jobs(1)).then(on_the_heap),
            ring: vec![0; jobs],
            taken: Taken::default(),
            operations: 0,
            steps: None,
        }
    }

    /// Runs one round in an open session.
    fn round(
        &mut self,
        session: &mut dyn Session,
        expected: Option<Expected<'_>>,
        reached: &mut dyn FnMut(Stage),
    ) -> Result<(), Error> {
        reached(Stage::Open);
        let mut store = Store {
            samples: &mut self.samples,
            latency: &mut self.latency,
            latency_in_flight: self.latency_in_flight.as_deref_mut(),
        };
        let Measuring { clock, dispatch, counting, budget, .. } = *self;
        let budget = *budget;
        if let Some(own) = session.own_loop() {
            reached(Stage::WarmedUp);
            let round = own_round(own, clock, &budget, expected, &mut store)?;
            (self.taken, self.operations) = (round.taken, round.operations);
            self.steps = round.steps;
            reached(Stage::Done);
            return Ok(());
        }
        let mut queue = Queue::new(&mut self.ring);
        let step = &mut |step| match step {
            Step::Ready => reached(Stage::WarmedUp),
            step => reached(Stage::Counting(step)),
        };
        let setting = Setting { clock, dispatch, expected, budget, counting, reached: step };
        self.taken = measure::round(session, setting, &mut queue, &mut store)?;
        self.operations = queue.submitted();
        reached(Stage::Done);
        Ok(())
    }

    fn seen(mut self, output: u64) -> Seen {
        self.samples.truncate(self.taken.samples);
        Seen {
            samples: self.samples,
            latency: self.latency,
            latency_in_flight: self.latency_in_flight,
            iterations: self.taken.iterations,
            operations: self.operations,
            steps: self.steps,
            output,
        }
    }
}

/// Runs a round in a session's own loop, between two readings of the reference chain.
fn own_round<C: Clock>(
    own: &mut dyn OwnLoop,
    clock: &C,
    budget: &Budget,
    expected: Option<Expected<'_>>,
    store: &mut Store<'_>,
) -> Result<OwnRound, Error> {
    let before = clock.reference().unwrap_or_default();
    let round = own.round(budget, expected.map(|right| right.outputs), store)?;
    let after = clock.reference().unwrap_or_default();
    for sample in store.samples.iter_mut().take(round.taken.samples) {
        (sample.before, sample.after) = (before, after);
    }
    Ok(round)
}

/// An empty histogram on the heap: the stack of a board is small.
#[inline(never)]
fn on_the_heap() -> Box<Histogram> {
    Box::default()
}
