//! What a host and a runner say to each other. Each message is the body of one
//! [frame](crate::frame); the host asks, the runner answers.
//!
//! | request | replies |
//! |---|---|
//! | Hello | Hello |
//! | Describe | Description, Unavailable, or Absent |
//! | Check | Finding |
//! | Supports | Supports |
//! | Round | Samples and Latencies of each thread, as many as it takes, then Round |
//! | Stop | none: the runner ends |
//!
//! A request that cannot be served is answered with Failed. Nothing is sent while a round is timed.

use crate::check::{Case, Finding};
use crate::clock::Ticks;
use crate::error::{Error, Unsupported};
use crate::measure::Budget;
use crate::provider::{Claim, Identity};
use crate::sample::Sample;
use crate::workload::Workload;
use heapless::Vec;
use serde::{Deserialize, Serialize};

/// Asked by the host.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub enum Request<'a> {
    /// Who are you? The frame's own version field is the handshake.
    Hello,
    /// What is provider number `provider`?
    Describe {
        /// Index from 0.
        provider: u8,
    },
    /// Is this known answer right?
    Check {
        /// Index of the provider.
        provider: u8,
        /// The known answer.
        #[serde(borrow)]
        case: Case<'a>,
    },
    /// Can this be measured, without measuring it?
    Supports {
        /// Index of the provider.
        provider: u8,
        /// What would be measured.
        workload: Workload,
    },
    /// Measure.
    Round {
        /// Index of the provider.
        provider: u8,
        /// What to measure.
        workload: Workload,
        /// How much.
        budget: Budget,
        /// In how many threads at once, each pinned to a CPU of its own; at least 1.
        threads: u8,
    },
    /// End.
    Stop,
}

/// Samples in one reply.
pub const SAMPLES: usize = 16;
/// Histogram buckets in one reply.
pub const LATENCIES: usize = 32;

/// Answered by the runner.
// A reply is made, sent and gone, where there is no allocator to box its samples with.
#[allow(clippy::large_enum_variant)]
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum Reply<'a> {
    /// The runner and its clock.
    Hello(#[serde(borrow)] Hello<'a>),
    /// A provider.
    Description {
        /// Who executes.
        #[serde(borrow)]
        identity: Identity<'a>,
        /// Where, as far as the provider is told.
        claim: Claim,
    },
    /// There is no provider of that number.
    Absent,
    /// The provider is known but cannot run here.
    Unavailable {
        /// The provider's name as a user types it.
        provider: &'a str,
        /// What sort of thing is missing.
        reason: Unsupported,
        /// It, by its name.
        detail: &'a str,
    },
    /// The outcome of a check.
    Finding(Finding),
    /// Whether a workload can be measured.
    Supports(Result<(), Unsupported>),
    /// Raw samples of one thread, in the order they were taken.
    Samples {
        /// Thread, from 0.
        thread: u8,
        /// Some of its samples.
        samples: Vec<Sample, SAMPLES>,
    },
    /// Times of operations of one thread: (bucket, count).
    Latencies {
        /// Thread, from 0.
        thread: u8,
        /// Whether others were in flight, as many as the workload's dispatch says. Otherwise each
        /// operation was alone.
        in_flight: bool,
        /// Some of its buckets.
        buckets: Vec<(u16, u32), LATENCIES>,
        /// Its largest value.
        max: Ticks,
    },
    /// The round is over and everything about it has been sent.
    Round(Round),
    /// The round, or whatever was asked, failed.
    Failed(Error),
}

/// What a runner says of itself.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Hello<'a> {
    /// Its version.
    pub runner: &'a str,
    /// How many providers it has.
    pub providers: u8,
    /// Its clock.
    pub clock: ClockDescription,
    /// The board that it runs on, where there is no system that the host could ask.
    pub board: Option<Board<'a>>,
}

/// What a board without an operating system says of itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Board<'a> {
    /// Its name: that of its folder in firmware/boards.
    pub name: &'a str,
    /// The core, by its CPUID register.
    pub cpuid: u32,
    /// Whether the core's cycle counter counts: QEMU's cores have none, Cortex-M7 boards do.
    pub cycle_counter: bool,
}

/// What a host must know of a clock to make time of its ticks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct ClockDescription {
    /// Ticks per second.
    pub frequency: u64,
    /// The least interval that means anything.
    pub resolution: Ticks,
    /// What one reading costs: contained once in each sample and each reference.
    pub cost: Ticks,
    /// Core cycles of the reference chain; 0 where the core's clock is unknown.
    pub reference_cycles: u32,
    /// Core cycles of one link of that chain, as two chains together found it; 0 where unknown.
    pub multiply_latency: u8,
    /// Whether the ticks are core cycles themselves.
    pub counts_cycles: bool,
}

/// A finished round.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Round {
    /// Operations a batch.
    pub iterations: u32,
    /// CRC-64 over the outputs and tags of all jobs; of a memory read the [sum](crate::sums) that one operation
    /// finds. Providers must agree on it. 0 where there is
    /// nothing that could be foretold: see [`Provider::repeats`](crate::Provider::repeats).
    pub output: u64,
    /// What the system counted while the round ran, all threads together.
    pub counters: Counters,
}

/// What the system counted from the moment that every thread's session was open until the last had
/// done its work: warm-up, batches and single operations. 0 where it counts no such thing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Counters {
    /// Operations that were run: what all other counts belong to.
    pub operations: u64,
    /// Wall time of the round with its warm-up, in nanoseconds.
    pub wall_ns: u64,
    /// CPU time of the measuring threads, in nanoseconds.
    pub cpu_ns: u64,
    /// The part of it in user mode. Linux tells the parts in steps of some milliseconds, so those
    /// of one round are coarse and the sum of many is not.
    pub user_ns: u64,
    /// The part in the kernel, likewise.
    pub system_ns: u64,
    /// Context switches that the threads asked for by waiting.
    pub voluntary: u32,
    /// Context switches that they did not ask for.
    pub involuntary: u32,
    /// Page faults.
    pub faults: u32,
    /// Core cycles in user mode by the CPU's own counter, where the system lets us read it.
    pub cycles: Option<u64>,
    /// Instructions likewise.
    pub instructions: Option<u64>,
    /// Interrupts of the executor's own engine, and while software works of all engines that there
    /// are; none where there are no such lines.
    pub interrupts: Option<u64>,
    /// The most stack, in bytes, that the session needed below its opening; none where a system
    /// gives out stack as it is needed.
    pub stack: Option<u32>,
    /// CPU time of the whole machine; none unless the round was made to last
    /// ([`Budget::counted`]), or where the system does not tell.
    pub machine: Option<CpuTime>,
}

/// CPU time of all CPUs of a machine together, in nanoseconds. Linux tells it in steps of some
/// milliseconds, so one round's is coarse and the sum of many is not.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct CpuTime {
    /// In which a CPU did something, whatever it was.
    pub busy_ns: u64,
    /// Of that, in the kernel's deferred work after interrupts.
    pub softirq_ns: u64,
    /// In which there was a CPU, busy or not.
    pub total_ns: u64,
}
