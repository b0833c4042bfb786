//! Reads memory with loads of one width. The loads are explicit instructions, so no compiler merges, splits or
//! drops them: `x86_64.rs` and `aarch64.rs`. On other CPUs they are volatile reads (`portable.rs`).

#[cfg(target_arch = "aarch64")]
#[path = "memory/aarch64.rs"]
mod loads;
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
#[path = "memory/portable.rs"]
mod loads;
#[cfg(target_arch = "x86_64")]
#[path = "memory/x86_64.rs"]
mod loads;

use crate::Implementation;
use core::ops::Range;
use cpb_core::catalog::MEMORY;
use cpb_core::memory_read::{Cache, Region, Width};
use cpb_core::{
    CryptoWorkload, Error, Identity, Job, MemoryReadWorkload, MemoryReader, Progress, Provider,
    Session, Unsupported, WorkingSet,
};

pub(crate) const ENTRY: Implementation = Implementation {
    name: MEMORY,
    environment: Vec::new,
    executors: None,
    open: |_| Ok(Box::new(MemoryLoads { executor: executor() })),
};

/// Buffers begin at multiples of this, so that no load crosses a cache line.
const ALIGNMENT: usize = 64;

/// Reads the buffers in blocks: one buffer linearly, or half of each block from each of two buffers. Returns
/// the sum of the words.
type Read = unsafe fn(ReadFrom) -> u64;

/// Where to read: all of the first range and, if there are two buffers, as many bytes from the second address
/// on.
#[derive(Clone)]
struct ReadFrom {
    first: Range<*const u8>,
    second: *const u8,
}

/// The functions that make loads of one width.
#[derive(Clone, Copy)]
struct Loads {
    /// Reads one buffer.
    linear: Read,
    /// Reads two buffers in turn.
    ping_pong: Read,
}

/// The widest loads of this CPU.
#[derive(Clone, Copy)]
struct Widest {
    /// What they are called.
    name: &'static str,
    /// The bits that one load reads.
    bits: u32,
    loads: Loads,
}

/// The widest vectors of this CPU, if it has any that cpb knows.
fn widest() -> Option<Widest> {
    loads::vectors().into_iter().next()
}

fn executor() -> String {
    match widest() {
        Some(Widest { name, bits, .. }) => {
            format!("the CPU's loads; the widest: {name}, {bits} bits")
        }
        None => "the CPU's loads; no vectors".to_owned(),
    }
}

struct MemoryLoads {
    executor: String,
}

impl MemoryLoads {
    fn loads(width: Width) -> Result<Loads, Unsupported> {
        let [bits_8, bits_16, bits_32, bits_64] = loads::WORDS;
        let words = match width {
            Width::Widest => return widest().map(|widest| widest.loads).ok_or(Unsupported::Device),
            Width::Bits8 => bits_8,
            Width::Bits16 => bits_16,
            Width::Bits32 => bits_32,
            Width::Bits64 => bits_64,
        };
        words.ok_or(Unsupported::Mode)
    }
}

impl Provider for MemoryLoads {
    fn identity(&self) -> Identity<'_> {
        Identity {
            provider: MEMORY,
            version: env!("CARGO_PKG_VERSION"),
            executor: &self.executor,
            options: loads::OPTIONS,
        }
    }

    fn supports(&self, _: &CryptoWorkload) -> Result<(), Unsupported> {
        Err(Unsupported::Algorithm)
    }

    fn session(
        &self,
        _: &CryptoWorkload,
        _: &[&[u8]],
        _: &mut [Job<'_>],
        _: &mut dyn FnMut(&mut dyn Session) -> Result<(), Error>,
    ) -> Result<(), Error> {
        Err(Unsupported::Algorithm.into())
    }

    fn memory_reader(&self) -> Option<&dyn MemoryReader> {
        Some(self)
    }
}

impl MemoryReader for MemoryLoads {
    fn supports(&self, workload: &MemoryReadWorkload) -> Result<(), Unsupported> {
        workload.valid()?;
        if workload.region != Region::Ram {
            return Err(Unsupported::Device);
        }
        if workload.cache != Cache::Filled {
            // A process can neither switch the cache off nor empty it on all CPUs.
            return Err(Unsupported::Mode);
        }
        MemoryLoads::loads(workload.width).map(drop)
    }

    fn session(
        &self,
        workload: &MemoryReadWorkload,
        set: WorkingSet<'_>,
        sum: &mut u64,
        body: &mut dyn FnMut(&mut dyn Session) -> Result<(), Error>,
    ) -> Result<(), Error> {
        MemoryReader::supports(self, workload)?;
        if !set.fits(workload) {
            return Err(Unsupported::Length.into());
        }
        let Loads { linear, ping_pong } = MemoryLoads::loads(workload.width)?;
        let aligned = |bytes: &[u8]| bytes.as_ptr().addr().is_multiple_of(ALIGNMENT);
        let all_aligned = match set {
            WorkingSet::Linear(all) => aligned(all),
            WorkingSet::PingPong(first, second) => aligned(first) && aligned(second),
        };
        if !all_aligned {
            return Err(Error::Contract);
        }
        let (read, buffers) = match set {
            WorkingSet::Linear(all) => {
                (linear, ReadFrom { first: all.as_ptr_range(), second: core::ptr::null() })
            }
            WorkingSet::PingPong(first, second) => {
                (ping_pong, ReadFrom { first: first.as_ptr_range(), second: second.as_ptr() })
            }
        };
        body(&mut Reads { read, buffers, mask: workload.width.mask(), sum, _set: set })
    }
}

struct Reads<'s, 'b> {
    read: Read,
    buffers: ReadFrom,
    mask: u64,
    sum: &'s mut u64,
    /// Borrowed while it is read.
    _set: WorkingSet<'b>,
}

impl Session for Reads<'_, '_> {
    fn submit(&mut self, job: usize) -> Result<Progress, Error> {
        if job != 0 {
            return Err(Error::Contract);
        }
        // SAFETY: `session` checked that the buffers have the length that the workload states, which is a whole
        // number of blocks, that they are aligned, and that the CPU has these loads. The buffers are borrowed
        // as long as `self` is.
        let sum = unsafe { (self.read)(self.buffers.clone()) };
        *self.sum = self.sum.wrapping_add(sum & self.mask);
        Ok(Progress::Done)
    }
}

#[cfg(test)]
mod tests;
