//! Reads of memory, as NXP's AN13198 times them (sections 3.4.2 and 3.4.3): loads of one width and nothing else, from
//! one buffer or from two in turn, with the data cache filled, invalidated or off.
//!
//! The loads are not added up while the clock runs, because the core loads a word a cycle and would be slower with
//! additions. Instead, each session adds up the buffers once before the reads and once after them.

use core::arch::global_asm;
use core::cell::RefCell;
use cortex_m::Peripherals;
use cpb_core::catalog::MEMORY;
use cpb_core::memory_read::{BLOCK, Cache, Region, Width};
use cpb_core::{
    CryptoWorkload, Error, Identity, Job, MemoryReadWorkload, MemoryReader, Progress, Provider,
    Session, Unsupported, WorkingSet,
};

/// Reads `blocks` blocks from the first address on, or half of each block from each address. Returns the end of
/// what it read from the first one.
type Read = unsafe extern "C" fn(*const u8, *const u8, blocks: u32) -> *const u8;

unsafe extern "C" {
    fn cpb_read_linear_8(first: *const u8, second: *const u8, blocks: u32) -> *const u8;
    fn cpb_read_linear_16(first: *const u8, second: *const u8, blocks: u32) -> *const u8;
    fn cpb_read_linear_32(first: *const u8, second: *const u8, blocks: u32) -> *const u8;
    fn cpb_read_linear_burst(first: *const u8, second: *const u8, blocks: u32) -> *const u8;
    fn cpb_read_ping_pong_8(first: *const u8, second: *const u8, blocks: u32) -> *const u8;
    fn cpb_read_ping_pong_16(first: *const u8, second: *const u8, blocks: u32) -> *const u8;
    fn cpb_read_ping_pong_32(first: *const u8, second: *const u8, blocks: u32) -> *const u8;
}

/// A function that makes 64 loads a turn, or 16 bursts. A block takes two to the power of `$turns` turns. The counter
/// changes at the start of a turn, so that the branch at its end is known early and both issue beside loads.
macro_rules! reads {
    ($($name:literal, $save:literal, $turns:literal, $count:literal, $($load:literal),+ => $back:literal;)*) => {
        $(global_asm!(
            concat!(".section .text.", $name, ", \"ax\""),
            ".balign 32",
            concat!(".global ", $name),
            concat!(".type ", $name, ", %function"),
            ".thumb_func",
            concat!($name, ":"),
            $save,
            concat!("lsl r2, r2, #", $turns),
            ".balign 32",
            "2: subs.w r2, r2, #1",
            concat!(".rept ", $count),
            $($load,)+
            ".endr",
            "bne.w 2b",
            $back,
        );)*
    };
}

reads! {
    "cpb_read_linear_8", "", "3", "64", "ldrb.w r3, [r0], #1" => "bx lr";
    "cpb_read_linear_16", "", "2", "64", "ldrh.w r3, [r0], #2" => "bx lr";
    "cpb_read_linear_32", "", "1", "64", "ldr.w r3, [r0], #4" => "bx lr";
    "cpb_read_linear_burst", "push {{r4-r11, lr}}", "0", "16", "ldm.w r0!, {{r4-r11}}" => "pop {{r4-r11, pc}}";
    "cpb_read_ping_pong_8", "", "3", "32", "ldrb.w r3, [r0], #1", "ldrb.w r3, [r1], #1" => "bx lr";
    "cpb_read_ping_pong_16", "", "2", "32", "ldrh.w r3, [r0], #2", "ldrh.w r3, [r1], #2" => "bx lr";
    "cpb_read_ping_pong_32", "", "1", "32", "ldr.w r3, [r0], #4", "ldr.w r3, [r1], #4" => "bx lr";
}

/// The function for a workload; `None` if the core has no such load.
fn read_for(workload: &MemoryReadWorkload) -> Option<Read> {
    let [linear, ping_pong]: [Option<Read>; 2] = match workload.width {
        Width::Bits8 => [Some(cpb_read_linear_8), Some(cpb_read_ping_pong_8)],
        Width::Bits16 => [Some(cpb_read_linear_16), Some(cpb_read_ping_pong_16)],
        Width::Bits32 => [Some(cpb_read_linear_32), Some(cpb_read_ping_pong_32)],
        // The core loads a double word as two words.
        Width::Bits64 => [None, None],
        Width::Widest => [Some(cpb_read_linear_burst), None],
    };
    if workload.buffers() == 1 { linear } else { ping_pong }
}

/// A buffer in flash, filled when the image is built.
#[cfg(feature = "imxrt")]
#[repr(C, align(4096))]
struct InFlash([u8; IN_FLASH]);

/// The size of each buffer in flash, in bytes: that of AN13198's buffers.
#[cfg(feature = "imxrt")]
const IN_FLASH: usize = 16 << 10;

#[cfg(feature = "imxrt")]
#[unsafe(link_section = ".read_buffers")]
static BUFFERS: [InFlash; 2] = [
    InFlash(*include_bytes!(concat!(env!("OUT_DIR"), "/read-buffer-0"))),
    InFlash(*include_bytes!(concat!(env!("OUT_DIR"), "/read-buffer-1"))),
];

/// The core as a reader of memory.
pub(crate) struct Reads {
    /// What switches and invalidates the data cache.
    core: RefCell<Peripherals>,
    executor: &'static str,
}

impl Reads {
    /// `executor` says what data from flash passes through.
    pub(crate) fn new(executor: &'static str) -> Self {
        // SAFETY: only the registers of the data cache are used, which no one else does while a session is open.
        let core = RefCell::new(unsafe { Peripherals::steal() });
        Reads { core, executor }
    }

    /// Brings the cache into the state that an operation finds, except that it is not yet filled.
    fn prepare(&self, cache: Cache) {
        let Peripherals { SCB, CPUID, .. } = &mut *self.core.borrow_mut();
        match cache {
            Cache::Filled => {}
            // What other code wrote is kept.
            Cache::Invalidated => SCB.clean_invalidate_dcache(CPUID),
            Cache::Disabled => SCB.disable_dcache(CPUID),
        }
    }

    fn restore(&self, cache: Cache) {
        if cache == Cache::Disabled {
            let Peripherals { SCB, CPUID, .. } = &mut *self.core.borrow_mut();
            SCB.enable_dcache(CPUID);
        }
    }
}

impl Provider for Reads {
    fn identity(&self) -> Identity<'_> {
        Identity {
            provider: MEMORY,
            version: env!("CARGO_PKG_VERSION"),
            executor: self.executor,
            options: "64 loads a turn, or 16 of eight registers; no additions",
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

impl MemoryReader for Reads {
    fn supports(&self, workload: &MemoryReadWorkload) -> Result<(), Unsupported> {
        workload.valid()?;
        read_for(workload).ok_or(Unsupported::Mode)?;
        if workload.region == Region::Ram {
            // The image's options place the buffers in one memory, cached or not.
            let is_filled = workload.cache == Cache::Filled;
            return if is_filled { Ok(()) } else { Err(Unsupported::Mode) };
        }
        let [first, _] = self.resident(workload.region).ok_or(Unsupported::Device)?;
        if workload.buffer() <= first.len() { Ok(()) } else { Err(Unsupported::Memory) }
    }

    #[cfg(feature = "imxrt")]
    fn resident(&self, region: Region) -> Option<[&[u8]; 2]> {
        (region == Region::Flash).then(|| BUFFERS.each_ref().map(|buffer| &buffer.0[..]))
    }

    fn session(
        &self,
        workload: &MemoryReadWorkload,
        set: WorkingSet<'_>,
        sum: &mut u64,
        body: &mut dyn FnMut(&mut dyn Session) -> Result<(), Error>,
    ) -> Result<(), Error> {
        MemoryReader::supports(self, workload)?;
        let read = read_for(workload).ok_or(Unsupported::Mode)?;
        if !set.fits(workload) {
            return Err(Unsupported::Length.into());
        }
        let (first, second) = match set {
            WorkingSet::Linear(all) => (all.as_ptr_range(), core::ptr::null()),
            WorkingSet::PingPong(first, second) => (first.as_ptr_range(), second.as_ptr()),
        };
        if !first.start.addr().is_multiple_of(4) || !second.addr().is_multiple_of(4) {
            return Err(Error::Contract);
        }
        let before = set.sum(workload.width);
        let blocks = workload.bytes / BLOCK;
        let (reader, cache) = (self, workload.cache);
        let (end, start) = (first.end, first.start);
        let mut reading =
            Reading { reader, read, start, second, blocks, cache, operations: 0, end };
        self.prepare(cache);
        let result = body(&mut reading);
        self.restore(cache);
        result?;
        if reading.end != end || set.sum(workload.width) != before {
            return Err(Error::WrongAnswer);
        }
        *sum = sum.wrapping_add(before.wrapping_mul(reading.operations.into()));
        Ok(())
    }
}

struct Reading<'r> {
    reader: &'r Reads,
    read: Read,
    start: *const u8,
    second: *const u8,
    blocks: u32,
    cache: Cache,
    operations: u32,
    /// Where the last read ended.
    end: *const u8,
}

impl Session for Reading<'_> {
    fn build(&mut self, _job: usize) -> Result<(), Error> {
        if self.cache == Cache::Invalidated {
            self.reader.prepare(self.cache);
        }
        Ok(())
    }

    #[inline]
    fn submit(&mut self, _job: usize) -> Result<Progress, Error> {
        // SAFETY: `session` checked that the buffers have the length that the workload states, whole blocks, and
        // that they are aligned.
        self.end = unsafe { (self.read)(self.start, self.second, self.blocks) };
        self.operations = self.operations.wrapping_add(1);
        Ok(Progress::Done)
    }
}
