//! The contract between something that can be measured and the loop that measures it.
//!
//! A provider opens a *session* for one workload: keys are scheduled, contexts allocated, devices claimed,
//! jobs borrowed. From then on, the loop refers to jobs by their index. A software provider implements only
//! [`Session::submit`]. An engine with a queue also implements `build`, `start_all`, `complete`, and, if it
//! supports [`Notice::Last`](crate::Notice::Last), `complete_all`.

use crate::error::{Error, Unsupported};
use crate::memory_read::{MemoryReadWorkload, Pattern, Region, Width};
use crate::round::OwnLoop;
use crate::sums;
use crate::workload::CryptoWorkload;
use serde::{Deserialize, Serialize};

/// The identity of the executor: reports compare executors, not just names.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Identity<'a> {
    /// The provider's name as a user types it: `openssl`, `mbedtls:c`.
    pub provider: &'a str,
    /// Version of the library or kernel.
    pub version: &'a str,
    /// What runs the operation, as reported by that layer itself.
    pub executor: &'a str,
    /// Compiler, flags, masks: what is needed to repeat the build.
    pub options: &'a str,
}

/// One message to process. Its lengths are those of the workload; a provider may rely on this.
pub struct Job<'b> {
    /// The index of the session's key to use.
    pub key: usize,
    /// IV, nonce or initial counter block; empty if the algorithm has none.
    pub iv: &'b [u8],
    /// Associated data of an AEAD, or the header of a record.
    pub associated: &'b [u8],
    /// The message and where its result goes.
    pub data: Data<'b>,
    /// Tag of an AEAD: written by Encrypt, verified by Decrypt. Also a signature or an encapsulation; otherwise
    /// empty.
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
    /// Pointers to the input and to the output, for code that uses pointers. They are valid for the lengths
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

/// Where a provider says that its operations run, as far as the layer beneath reports it. Reports compare
/// this with what the system counted, because a claim alone proves nothing.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Claim {
    /// On the CPU, in the runner's own process.
    #[default]
    Process,
    /// On the CPU, in the kernel: its driver has no device.
    Kernel,
    /// On the CPU, in the kernel, although for the same algorithm the kernel lists a driver with a device and
    /// a higher priority: it fell back to software.
    Fallback,
    /// In a device, by its driver.
    Engine,
    /// The layer beneath does not report it.
    Unknown,
}

/// Something that can run workloads.
pub trait Provider {
    /// The identity of the executor. Must be cheap, and the same for the life of the process.
    fn identity(&self) -> Identity<'_>;

    /// Where the executor runs, as reported by the layer beneath.
    fn claim(&self) -> Claim {
        Claim::Process
    }

    /// How many interrupts the executor's engine has raised since some fixed moment, counting only the lines
    /// that belong to its driver's devices. For software in a kernel, those of the engines that could have
    /// done the same. `None` if there are no such lines, or if they cannot be read. Called before and after a
    /// round, outside the timed region.
    fn interrupts(&self) -> Option<u64> {
        None
    }

    /// How many jobs the executor's engine has done since some fixed moment, as its own registers count them.
    /// `None` for a provider that does not drive an engine itself, unless the engine's driver shows its count.
    /// Called like [`Provider::interrupts`].
    fn jobs(&self) -> Option<u64> {
        None
    }

    /// The number of jobs that fill the queue, for workloads that keep it full ([`Depth::Ring`](crate::Depth)).
    /// A provider that answers `Full` earlier is not wrong; the rest of the jobs then wait in memory.
    fn ring(&self) -> usize {
        // Enough for any known engine (a job ring of the CAAM has at most 1024 entries).
        1024
    }

    /// Whether the same keys and messages always give the same outputs. If a generator adds entropy that
    /// cannot be set, its outputs cannot be known. They are then checked for their length and for being
    /// distinct.
    fn repeats(&self, _workload: &CryptoWorkload) -> bool {
        true
    }

    /// Returns the reason if a session for `workload` cannot be opened here. Must not allocate a device or
    /// change state. `session` may still fail for reasons that only an attempt can show.
    fn supports(&self, workload: &CryptoWorkload) -> Result<(), Unsupported>;

    /// The implementation of memory reads, if this provider has one: the contract of that family of
    /// workloads.
    fn memory_reader(&self) -> Option<&dyn MemoryReader> {
        None
    }

    /// Opens a session, passes it to `body`, closes it, and returns the result of `body`.
    ///
    /// Jobs stay borrowed for all that time. Before it returns, whether with success or failure, the provider
    /// quiesces its engine, so that nothing writes to a job's buffers any more. For
    /// [`Phase::Setup`](crate::Phase::Setup) the session is one of the key schedule alone.
    fn session(
        &self,
        workload: &CryptoWorkload,
        keys: &[&[u8]],
        jobs: &mut [Job<'_>],
        body: &mut dyn FnMut(&mut dyn Session) -> Result<(), Error>,
    ) -> Result<(), Error>;
}

/// The working set of a session. Each buffer is [`MemoryReadWorkload::buffer`] bytes long and begins on a
/// page boundary, so the two buffers of a pair map to the same place in every cache that a page fits into.
#[derive(Clone, Copy)]
pub enum WorkingSet<'b> {
    /// For [`Pattern::Linear`].
    Linear(&'b [u8]),
    /// For [`Pattern::PingPong`].
    PingPong(&'b [u8], &'b [u8]),
}

impl WorkingSet<'_> {
    /// Whether this is the working set that `workload` states. A provider that reads through pointers relies
    /// on it.
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

    /// The sum of all words of this width, as [`truth`](crate::sums::truth) has it. For readers that do not add up
    /// what they read while the clock runs.
    pub fn sum(&self, width: Width) -> u64 {
        let (first, second): (&[u8], &[u8]) = match self {
            WorkingSet::Linear(all) => (all, &[]),
            WorkingSet::PingPong(first, second) => (first, second),
        };
        sums::sum(width, first).wrapping_add(sums::sum(width, second)) & width.mask()
    }
}

/// A provider's implementation of memory reads.
pub trait MemoryReader {
    /// Returns the reason if a session for `workload` cannot be opened here.
    fn supports(&self, workload: &MemoryReadWorkload) -> Result<(), Unsupported>;

    /// Two buffers of the same length in a memory that programs cannot write, filled by
    /// [`fill`](crate::sums::fill) before the program was started; `None` if `region` has no such buffers. A
    /// working set is the first bytes of one or both.
    fn resident(&self, _region: Region) -> Option<[&[u8]; 2]> {
        None
    }

    /// Opens a session whose only job, number 0, is to read `set` once, and passes it to `body`.
    ///
    /// An operation reads every byte exactly once, with loads of the workload's width and in its order. No
    /// load is left out, merged with another, or split. Each operation adds to `sum` the value that
    /// [`truth`](crate::sums::truth) returns, wrapping at 64 bits. After the session, `sum` has therefore
    /// grown by that value times the number of jobs submitted. A reader whose core loads as fast as it adds may
    /// instead add up the set before and after `body`, and report the content that it found for each job: its
    /// loads are then not proved one by one.
    ///
    /// With [`Cache::Invalidated`](crate::memory_read::Cache::Invalidated), [`Session::build`] empties the cache,
    /// untimed.
    fn session(
        &self,
        workload: &MemoryReadWorkload,
        set: WorkingSet<'_>,
        sum: &mut u64,
        body: &mut dyn FnMut(&mut dyn Session) -> Result<(), Error>,
    ) -> Result<(), Error>;
}

/// An open session. A job number is an index into the slice given to [`Provider::session`].
pub trait Session {
    /// Prepares what `submit` will hand over (a descriptor). Untimed if the workload's dispatch builds before
    /// the clock starts. A job is rebuilt each time before it is submitted.
    fn build(&mut self, _job: usize) -> Result<(), Error> {
        Ok(())
    }

    /// Hands the job to the engine, or runs it to completion. A job that is `Queued` need not run before
    /// [`Session::start_all`]. `Full` means that nothing was taken and that at least one earlier job is still
    /// in flight: the loop starts what it handed over, waits, and submits the job again.
    fn submit(&mut self, job: usize) -> Result<Progress, Error>;

    /// The doorbell: starts every job that was queued since the last call. Depending on the engine, it hands
    /// a chain to a channel, adds to a job ring's count, or kicks a virtqueue. The loop calls it once each
    /// time it has filled the queue, and always before it waits. When it returns, the engine sees what the
    /// CPU wrote ([`Bus::barrier`](crate::Bus::barrier)).
    fn start_all(&mut self) -> Result<(), Error> {
        Ok(())
    }

    /// Waits for one started job, in any order, and returns its completion; `None` if nothing is in flight.
    /// Used with [`Notice::Each`](crate::Notice::Each), with depth 1, and by the known-answer check. Returns
    /// [`Error::Timeout`] after a time that the provider sets: it never hangs.
    fn complete(&mut self) -> Result<Option<Completion>, Error> {
        Ok(None)
    }

    /// Waits once for the last of all started jobs and reports all of them together. [`Session::complete`] no
    /// longer returns any of them. Used with [`Notice::Last`](crate::Notice::Last). Returns
    /// [`Error::Timeout`] like `complete`.
    fn complete_all(&mut self) -> Result<Finished, Error> {
        Ok(Finished { jobs: 0, result: Ok(()) })
    }

    /// The number of operations after which the cost of an operation repeats, at least 1. A library may do
    /// work in one operation of a period that belongs to all of them, so batches consist of whole periods.
    fn period(&self) -> u32 {
        1
    }

    /// The session's own loop, for rounds that no loop outside it can run. Known answers still come from
    /// [`Session::submit`].
    fn own_loop(&mut self) -> Option<&mut dyn OwnLoop> {
        None
    }

    /// The output of a finished job, for workloads that check each answer while the clock runs.
    fn output(&self, _job: usize) -> Option<&[u8]> {
        None
    }
}

/// The state of a job after its submission.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Progress {
    /// Finished; no completion will follow.
    Done,
    /// In flight. One completion follows, or [`Session::complete_all`] counts it.
    Queued,
    /// Not taken: complete another job first.
    Full,
}

/// A finished job.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Completion {
    /// Its index.
    pub job: usize,
    /// Its result. An error here affects only this job; the session continues.
    pub result: Result<(), Error>,
}

/// The completion of all jobs that were in flight.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Finished {
    /// The number of jobs.
    pub jobs: usize,
    /// The first failure among them. The session continues.
    pub result: Result<(), Error>,
}
