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
mod crypto;
mod memory_read;
mod pages;

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use cpb_core::measure::{self, Budget, Expected, Queue, Setting, Store, Taken};
use cpb_core::message::{self, Reply};
use cpb_core::{
    Clock, Depth, Dispatch, Error, Histogram, Provider, Sample, Session, Unsupported, Workload,
};

/// What is measured, by what, and with what.
pub struct Plan<'a, C> {
    /// Who runs it.
    pub provider: &'a dyn Provider,
    /// What is run.
    pub workload: &'a Workload,
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
    /// CRC-64 over the outputs and tags of all jobs, or the sum that a memory read finds; 0 where they cannot be foretold.
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

/// Whether a session for `workload` can be opened, and if not, why.
///
/// # Errors
/// The provider's reason.
pub fn supports(provider: &dyn Provider, workload: &Workload) -> Result<(), Unsupported> {
    match workload {
        Workload::Crypto(workload) => provider.supports(workload),
        Workload::MemoryRead(workload) => memory_read::reader(provider)?.supports(workload),
        // A family that was added to cpb-core alone.
        _ => Err(Unsupported::Algorithm),
    }
}

/// Whether `workload` can be measured with `provider` again and again.
///
/// # Errors
/// The provider's reason, or that a round would destroy what it works on.
pub fn repeatable(provider: &dyn Provider, workload: &Workload) -> Result<(), Unsupported> {
    supports(provider, workload)?;
    match workload {
        Workload::Crypto(workload) => crypto::repeatable(workload),
        _ => Ok(()),
    }
}

/// Measures, and tells `reached` how far it has come.
///
/// # Errors
/// What the provider reported, that there is not enough memory, or [`Error::WrongAnswer`].
pub fn run<C: Clock>(plan: Plan<'_, C>, reached: &mut dyn FnMut(Stage)) -> Result<Seen, Error> {
    match plan.workload {
        Workload::Crypto(workload) => crypto::run(plan, workload, reached),
        Workload::MemoryRead(workload) => memory_read::run(plan, workload, reached),
        _ => Err(Unsupported::Algorithm.into()),
    }
}

/// The loop's side of a round, whatever the family: where samples go, and which jobs are free.
struct Measuring<'a, C> {
    budget: &'a Budget,
    clock: &'a C,
    dispatch: Dispatch,
    samples: Vec<Sample>,
    latency: Histogram,
    latency_in_flight: Option<Box<Histogram>>,
    ring: Vec<u16>,
    taken: Taken,
    operations: u64,
}

impl<'a, C: Clock> Measuring<'a, C> {
    fn new(budget: &'a Budget, clock: &'a C, dispatch: Dispatch, jobs: usize) -> Self {
        Measuring {
            budget,
            clock,
            dispatch,
            samples: vec![Sample::default(); budget.batches.into()],
            latency: Histogram::default(),
            latency_in_flight: (dispatch.depth != Depth::Jobs(1)).then(on_the_heap),
            ring: vec![0; jobs],
            taken: Taken::default(),
            operations: 0,
        }
    }

    /// One round in an open session.
    fn round(
        &mut self,
        session: &mut dyn Session,
        expected: Option<Expected<'_>>,
        reached: &mut dyn FnMut(Stage),
    ) -> Result<(), Error> {
        let mut queue = Queue::new(&mut self.ring);
        reached(Stage::Open);
        let mut store = Store {
            samples: &mut self.samples,
            latency: &mut self.latency,
            latency_in_flight: self.latency_in_flight.as_deref_mut(),
        };
        let ready = &mut || reached(Stage::WarmedUp);
        let (clock, dispatch, budget) = (self.clock, self.dispatch, *self.budget);
        let setting = Setting { clock, dispatch, expected, budget, ready };
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
            output,
        }
    }
}

/// An empty histogram that is not on the stack, which is small on a board.
#[inline(never)]
fn on_the_heap() -> Box<Histogram> {
    Box::default()
}
