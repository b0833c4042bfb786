//! The contract: what a thing that can be measured owes to the loop that measures it.
//!
//! A provider opens a *session* for one workload: keys are scheduled, contexts allocated, devices
//! claimed, jobs borrowed. The loop then names jobs by their index. A software provider writes
//! [`Session::submit`] alone. An engine with a queue also writes `build`, `start_all`, `complete`,
//! and `complete_all` if it supports [`Notice::Last`](crate::Notice::Last).

use crate::error::{Error, Unsupported};
use crate::memory_read::{MemoryReadWorkload, Pattern};
use crate::workload::CryptoWorkload;
use serde::{Deserialize, Serialize};

/// Who executes: reports compare executors, never bare names.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Identity<'a> {
    /// The provider's name as a user types it: `openssl`, `mbedtls:c`.
    pub provider: &'a str,
    /// Version of the library or kernel.
    pub version: &'a str,
    /// What runs the operation, as that layer itself reports it.
    pub executor: &'a str,
    /// Compiler, flags, masks: what another build would have to repeat.
    pub options: &'a str,
}

/// One message to work on. Lengths are those of the workload; a provider may rely on it.
pub struct Job<'b> {
    /// Which of the session's keys.
    pub key: usize,
    /// IV, nonce or initial counter block; empty where the algorithm has none.
    pub iv: &'b [u8],
    /// Associated data of an AEAD, header of a record.
    pub associated: &'b [u8],
    /// The message and where its result goes.
    pub data: Data<'b>,
    /// Tag of an AEAD: written by Encrypt, verified by Decrypt; else empty.
    pub tag: &'b mut [u8],
}

/// Input and output of a job.
pub enum Data<'b> {
    /// Two buffers that do not overlap.
    Apart {
        /// What is read.
        input: &'b [u8],
        /// What is written, as long as [`Lengths`](crate::Lengths) says.
        output: &'b mut [u8],
    },
    /// The result overwrites the message.
    InPlace(&'b mut [u8]),
}

impl Data<'_> {
    /// Where to read and where to write, for code that speaks in pointers. Valid for the lengths
    /// that the workload gives, as long as the job is borrowed.
    pub fn pointers(&mut self) -> (*const u8, *mut u8) {
        match self {
            Data::Apart { input, output } => (input.as_ptr(), output.as_mut_ptr()),
            Data::InPlace(buffer) => {
                let pointer = buffer.as_mut_ptr();
                (pointer.cast_const(), pointer)
            }
        }
    }

    /// What the job wrote.
    pub fn output(&self) -> &[u8] {
        match self {
            Data::Apart { output, .. } => output,
            Data::InPlace(buffer) => buffer,
        }
    }
}

/// Where a provider says that its operations run, as far as the layer beneath tells it. Reports hold
/// this against what the system counted: a claim alone proves nothing.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Claim {
    /// On the CPU, in the runner's own process.
    #[default]
    Process,
    /// On the CPU, in the kernel: its driver has no device.
    Kernel,
    /// On the CPU, in the kernel, although the kernel lists a driver with a device for the same
    /// algorithm and with a higher priority: it fell back to software.
    Fallback,
    /// In a device, by its driver.
    Engine,
    /// The layer beneath does not tell.
    Unknown,
}

/// Something that can run workloads.
pub trait Provider {
    /// Who executes. Cheap; the same answer for the life of the process.
    fn identity(&self) -> Identity<'_>;

    /// Where the executor runs, as the layer beneath it tells.
    fn claim(&self) -> Claim {
        Claim::Process
    }

    /// How many interrupts the executor's engine has raised since some fixed moment, by the lines
    /// that belong to its driver's devices alone; for software in a kernel, those of the engines
    /// that could have done the same. `None` if there are no such lines, or they cannot be read.
    /// Asked before and after a round, outside the timed region.
    fn interrupts(&self) -> Option<u64> {
        None
    }

    /// Whether the same keys and messages lead to the same outputs again. A generator that adds
    /// entropy which nobody can set has none that could be known: its outputs are looked at for
    /// their length and for being distinct.
    fn repeats(&self, _workload: &CryptoWorkload) -> bool {
        true
    }

    /// Whether a session for `workload` can be opened here, and if not, why. Must not allocate a
    /// device or change state; `session` may still fail for reasons only trying can show.
    fn supports(&self, workload: &CryptoWorkload) -> Result<(), Unsupported>;

    /// What reads memory, if this provider does: the contract of that family of workloads.
    fn memory_reader(&self) -> Option<&dyn MemoryReader> {
        None
    }

    /// Opens a session, hands it to `body`, closes it, and returns what `body` returned.
    ///
    /// Jobs stay borrowed for all that time. Before it returns, in success or failure, the
    /// provider quiesces its engine: nothing writes to a job's buffers any more. For
    /// [`Phase::Setup`](crate::Phase::Setup) the session is the key schedule's own.
    fn session(
        &self,
        workload: &CryptoWorkload,
        keys: &[&[u8]],
        jobs: &mut [Job<'_>],
        body: &mut dyn FnMut(&mut dyn Session) -> Result<(), Error>,
    ) -> Result<(), Error>;
}

/// The working set of a session. Each buffer is [`MemoryReadWorkload::buffer`] bytes long and begins on a page of its
/// own, so the two of a pair lie at the same place in every cache that a page fits into.
#[derive(Clone, Copy)]
pub enum WorkingSet<'b> {
    /// For [`Pattern::Linear`].
    Linear(&'b [u8]),
    /// For [`Pattern::PingPong`].
    PingPong(&'b [u8], &'b [u8]),
}

impl WorkingSet<'_> {
    /// Whether it is what `workload` states: a provider that reads through pointers relies on it.
    pub fn fits(&self, workload: &MemoryReadWorkload) -> bool {
        let length = workload.buffer();
        match (self, workload.pattern) {
            (WorkingSet::Linear(all), Pattern::Linear) => all.len() == length,
            (WorkingSet::PingPong(one, other), Pattern::PingPong) => {
                (one.len(), other.len()) == (length, length)
            }
            _ => false,
        }
    }
}

/// What reads memory.
pub trait MemoryReader {
    /// Whether a session for `workload` can be opened here, and if not, why.
    fn supports(&self, workload: &MemoryReadWorkload) -> Result<(), Unsupported>;

    /// Opens a session whose only job, number 0, is to read `set` once, and hands it to `body`.
    ///
    /// Every byte is read exactly once in an operation, by loads of the workload's width and in its order: no load is
    /// left out, merged with another or divided. Each operation adds to `sum` what [`truth`](crate::sums::truth) says, wrapping at 64 bits,
    /// so after the session `sum` has grown by the truth as often as a job was submitted.
    fn session(
        &self,
        workload: &MemoryReadWorkload,
        set: WorkingSet<'_>,
        sum: &mut u64,
        body: &mut dyn FnMut(&mut dyn Session) -> Result<(), Error>,
    ) -> Result<(), Error>;
}

/// An open session. Job numbers are indices into the slice given to [`Provider::session`].
pub trait Session {
    /// Prepares what `submit` will hand over (a descriptor). Untimed where the workload's dispatch
    /// says Before. A job is built anew each time before it is submitted.
    fn build(&mut self, _job: usize) -> Result<(), Error> {
        Ok(())
    }

    /// Hands the job to the engine, or does all of it. A job that is `Queued` need not run before
    /// [`Session::start_all`]. `Full` means that nothing was taken and that at least one earlier job
    /// is still in flight: the loop starts what it handed over, waits, and submits the job again.
    fn submit(&mut self, job: usize) -> Result<Progress, Error>;

    /// The doorbell: starts every job that was queued since the last call. It hands a chain to a
    /// channel, adds to a job ring's count, or kicks a virtqueue. The loop calls it once each time
    /// it has filled the queue, and always before it waits. By the time it returns, the engine
    /// sees what the CPU wrote ([`Bus::barrier`](crate::Bus::barrier)).
    fn start_all(&mut self) -> Result<(), Error> {
        Ok(())
    }

    /// Waits for one started job, in any order, and gives its completion; `None` if nothing is in
    /// flight. Used with [`Notice::Each`](crate::Notice::Each), with depth 1, and by the
    /// known-answer check. Fails with [`Error::Timeout`] after a time that the provider sets: it
    /// never hangs.
    fn complete(&mut self) -> Result<Option<Completion>, Error> {
        Ok(None)
    }

    /// Waits, once, for the last of all started jobs, and tells of all of them together: none of
    /// them is given by [`Session::complete`] any more. Used with
    /// [`Notice::Last`](crate::Notice::Last). Fails with [`Error::Timeout`], as `complete` does.
    fn complete_all(&mut self) -> Result<Finished, Error> {
        Ok(Finished { jobs: 0, result: Ok(()) })
    }

    /// After how many operations what one costs repeats itself, at least 1. A library may do work in
    /// one of so many that belongs to all of them; batches are then of whole periods.
    fn period(&self) -> u32 {
        1
    }

    /// What a finished job wrote, for workloads that check each answer while the clock runs.
    fn output(&self, _job: usize) -> Option<&[u8]> {
        None
    }
}

/// What became of a submitted job.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Progress {
    /// Finished; no completion will follow.
    Done,
    /// In flight: one completion follows, or [`Session::complete_all`] counts it.
    Queued,
    /// Not taken: complete something first.
    Full,
}

/// A finished job.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Completion {
    /// Its index.
    pub job: usize,
    /// How it went. An error here is that job's alone; the session goes on.
    pub result: Result<(), Error>,
}

/// All jobs that were in flight, finished.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Finished {
    /// How many they are.
    pub jobs: usize,
    /// The first failure among them. The session goes on.
    pub result: Result<(), Error>,
}
