//! Reads memory by loads of one width. The loads are instructions that are written down, so no compiler merges, divides
//! or drops them: `x86_64.rs` and `aarch64.rs`. On other CPUs they are volatile reads (`portable.rs`).

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

/// Buffers begin at multiples of this, so that no load lies in two lines of a cache.
const ALIGNMENT: usize = 64;

/// Reads as many bytes as the first range is long, in blocks: linearly, or half of each block from another buffer. Gives
/// the sum of the words.
type Read = unsafe fn(ReadFrom) -> u64;

/// Where to read: all of the first range, and from the second address on as many bytes if there are two buffers.
#[derive(Clone)]
struct ReadFrom {
    first: Range<*const u8>,
    second: *const u8,
}

/// How the loads of one width are made.
#[derive(Clone, Copy)]
struct Loads {
    /// Of one buffer.
    linear: Read,
    /// Of two in turn.
    ping_pong: Read,
}

/// The widest loads of this CPU.
#[derive(Clone, Copy)]
struct Widest {
    /// What they are called.
    name: &'static str,
    /// Bits that one reads.
    bits: u32,
    loads: Loads,
}

fn executor() -> String {
    match loads::widest() {
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
        match width {
            Width::Widest => loads::widest().map(|widest| widest.loads).ok_or(Unsupported::Device),
            width => loads::of_words(width).ok_or(Unsupported::Mode),
        }
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
            // A process may neither switch the cache off nor empty it on all CPUs.
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
        let mask = match workload.width {
            Width::Bits8 => u8::MAX.into(),
            Width::Bits16 => u16::MAX.into(),
            Width::Bits32 => u32::MAX.into(),
            Width::Bits64 | Width::Widest => u64::MAX,
        };
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
        body(&mut Reads { read, buffers, mask, sum, _set: set })
    }
}

struct Reads<'s, 'b> {
    read: Read,
    buffers: ReadFrom,
    mask: u64,
    sum: &'s mut u64,
    /// Borrowed as long as it is read.
    _set: WorkingSet<'b>,
}

impl Session for Reads<'_, '_> {
    fn submit(&mut self, job: usize) -> Result<Progress, Error> {
        if job != 0 {
            return Err(Error::Contract);
        }
        // SAFETY: `session` found the buffers to be as long as the workload states, which is a whole number of blocks,
        // and to be aligned, and the CPU to have these loads; the buffers are borrowed as long as `self` is.
        let sum = unsafe { (self.read)(self.buffers.clone()) };
        *self.sum = self.sum.wrapping_add(sum & self.mask);
        Ok(Progress::Done)
    }
}

#[cfg(test)]
mod tests;
