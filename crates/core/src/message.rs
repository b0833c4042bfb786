//! The messages between a host and a runner. Each message is the body of one [frame](crate::frame). The host
//! asks and the runner answers.
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
//! A request that cannot be served is answered with Failed. The runner sends nothing while a round is timed.

use crate::check::{Case, Finding};
use crate::clock::Ticks;
use crate::error::{Error, Unsupported};
use crate::measure::Budget;
use crate::provider::{Claim, Identity};
use crate::sample::{Sample, Steps};
use crate::workload::Workload;
use heapless::Vec;
use serde::{Deserialize, Serialize};

/// A message from the host.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub enum Request<'a> {
    /// Asks the runner to identify itself. The frame's version field serves as the handshake.
    Hello,
    /// Asks for the description of provider number `provider`.
    Describe {
        /// Index from 0.
        provider: u8,
    },
    /// Asks the provider to run a known answer.
    Check {
        /// Index of the provider.
        provider: u8,
        /// The known answer.
        #[serde(borrow)]
        case: Case<'a>,
    },
    /// Asks whether this can be measured, without measuring it.
    Supports {
        /// Index of the provider.
        provider: u8,
        /// What would be measured.
        workload: Workload,
    },
    /// Starts a measurement.
    Round {
        /// Index of the provider.
        provider: u8,
        /// What to measure.
        workload: Workload,
        /// How much to measure.
        budget: Budget,
        /// The number of threads that measure at once, each pinned to a different CPU; at least 1.
        threads: u8,
    },
    /// Ends the runner.
    Stop,
}

/// The most samples in one reply.
pub const SAMPLES: usize = 16;
/// The most histogram buckets in one reply.
pub const LATENCIES: usize = 32;

/// A message from the runner.
// A reply is short-lived, and there is no allocator to box its samples with.
#[allow(clippy::large_enum_variant)]
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum Reply<'a> {
    /// The runner and its clock.
    Hello(#[serde(borrow)] Hello<'a>),
    /// A provider.
    Description {
        /// The executor.
        #[serde(borrow)]
        identity: Identity<'a>,
        /// Where it executes, as far as the provider can tell.
        claim: Claim,
    },
    /// No provider has that number.
    Absent,
    /// The provider is known but cannot run here.
    Unavailable {
        /// The provider's name as a user types it.
        provider: &'a str,
        /// The kind of thing that is missing.
        reason: Unsupported,
        /// The name of what is missing.
        detail: &'a str,
    },
    /// The outcome of a check.
    Finding(Finding),
    /// Whether a workload can be measured.
    Supports(Result<(), Unsupported>),
    /// Raw samples of one thread, in the order in which they were taken.
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
        /// Whether other operations were in flight, as many as the workload's dispatch says. Otherwise each
        /// operation ran alone.
        in_flight: bool,
        /// Some of its buckets.
        buckets: Vec<(u16, u32), LATENCIES>,
        /// The largest value of the thread.
        max: Ticks,
    },
    /// The round is over and all its results have been sent.
    Round(Round),
    /// The round or other request failed.
    Failed(Error),
}

/// What a runner reports about itself.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Hello<'a> {
    /// Its version.
    pub runner: &'a str,
    /// How many providers it has.
    pub providers: u8,
    /// Its clock.
    pub clock: ClockDescription,
    /// The board that it runs on, if there is no operating system that the host could query.
    pub board: Option<Board<'a>>,
}

/// What a board without an operating system reports about itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Board<'a> {
    /// Its name: that of its folder in firmware/boards.
    pub name: &'a str,
    /// The core, by its CPUID register.
    pub cpuid: u32,
    /// Whether the core's cycle counter works: QEMU's cores have none, Cortex-M7 boards do.
    pub cycle_counter: bool,
}

/// What a host must know about a clock to convert its ticks to time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct ClockDescription {
    /// Ticks per second.
    pub frequency: u64,
    /// The smallest meaningful interval.
    pub resolution: Ticks,
    /// The cost of one reading, contained once in each sample and each reference.
    pub cost: Ticks,
    /// Core cycles of the reference chain; 0 if the core's clock is unknown.
    pub reference_cycles: u32,
    /// Core cycles of one link of that chain, determined by running two chains together; 0 if unknown.
    pub multiply_latency: u8,
    /// Whether the ticks are core cycles themselves.
    pub counts_cycles: bool,
}

/// A finished round.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Round {
    /// Operations per batch.
    pub iterations: u32,
    /// CRC-64 over the outputs and tags of all jobs; for a memory read, the [sum](crate::sums) that one
    /// operation computes. All providers must agree on it. 0 if the output cannot be predicted: see
    /// [`Provider::repeats`](crate::Provider::repeats).
    pub output: u64,
    /// What the system counted during the round, for all threads together.
    pub counters: Counters,
}

/// What the system counted from when every thread's session was open until the last thread had done its work:
/// warm-up, batches and single operations. A count is 0 if the system does not provide it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Counters {
    /// Operations that were run. All other counts belong to these operations.
    pub operations: u64,
    /// Wall time of the round including its warm-up, in nanoseconds.
    pub wall_ns: u64,
    /// CPU time of the measuring threads, in nanoseconds.
    pub cpu_ns: u64,
    /// The part of the CPU time in user mode. Linux divides CPU time in steps of some milliseconds, so this
    /// is coarse for one round but not in the sum of many rounds.
    pub user_ns: u64,
    /// The part in the kernel, with the same limitation.
    pub system_ns: u64,
    /// Context switches requested by the threads by waiting.
    pub voluntary: u32,
    /// Context switches not requested by the threads.
    pub involuntary: u32,
    /// Page faults.
    pub faults: u32,
    /// Core cycles in user mode by the CPU's own counter, if the system allows reading it.
    pub cycles: Option<u64>,
    /// Instructions in user mode, under the same condition.
    pub instructions: Option<u64>,
    /// Interrupts of the executor's own engine; while software works, those of all engines present. `None` if
    /// there are no such interrupt lines.
    pub interrupts: Option<u64>,
    /// Jobs that the executor's own engine did, as its registers count them. `None` unless the provider drives the
    /// engine itself, or the engine's driver shows its count.
    #[serde(default)]
    pub jobs: Option<u64>,
    /// What a batch that was run only for this retired. `None` if the CPU's counter of instructions cannot be read.
    #[serde(default)]
    pub retired: Option<Retired>,
    /// Where the time of operations went that ran one at a time. `None` unless the provider has a loop of its own that
    /// tells it.
    #[serde(default)]
    pub steps: Option<Steps>,
    /// The most stack, in bytes, that the session used below the point of its opening; `None` on systems that
    /// allocate stack on demand.
    pub stack: Option<u32>,
    /// CPU time of the whole machine; `None` unless the round was extended to a minimum time
    /// ([`Budget::counted`]), or if the system does not report it.
    pub machine: Option<CpuTime>,
}

/// Instructions that the CPUs retired for some operations of a round, without those of the harness.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Retired {
    /// The operations.
    pub operations: u64,
    /// Instructions of the measuring threads in user mode.
    pub user: u64,
    /// Instructions in the kernel while a measuring thread had the CPU; `None` if the system does not allow reading
    /// them.
    pub kernel: Option<u64>,
    /// All instructions of the measuring threads' CPUs: also interrupts and the work after them, switches to the idle
    /// task and back, and other programs. A CPU that waits for an interrupt retires none. `None` as for `kernel`, and
    /// if the CPU does not wait but spins while it idles.
    pub cpu: Option<u64>,
}

/// CPU time of all CPUs of a machine together, in nanoseconds. Linux reports it in steps of some
/// milliseconds, so it is coarse for one round but not in the sum of many rounds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct CpuTime {
    /// Time in which a CPU was busy with anything.
    pub busy_ns: u64,
    /// The part of the busy time spent in the kernel's deferred work after interrupts.
    pub softirq_ns: u64,
    /// Time of all CPUs present, busy or not.
    pub total_ns: u64,
}
