//! The chip's own bus, for drivers of engines: volatile registers, cache maintenance, and a wait for an interrupt.

use crate::interrupt;
use crate::memory::MEMORY;
use core::time::Duration;
use cortex_m::peripheral::SCB;
use cpb_core::{Bus, Clock, DmaAddress, Error, Interrupt};

/// The size of a cache line in bytes.
const LINE: usize = 32;

/// The bus as the core sees it. Every memory of the chip has the same address for the core and for bus masters.
pub(crate) struct ChipBus<'c, C> {
    scb: SCB,
    clock: &'c C,
}

impl<'c, C: Clock> ChipBus<'c, C> {
    /// Takes the core's cache maintenance, and lets interrupts through.
    pub(crate) fn new(scb: SCB, clock: &'c C) -> Self {
        // SAFETY: no line is unmasked until a driver waits for it.
        unsafe { cortex_m::interrupt::enable() };
        ChipBus { scb, clock }
    }

    /// Cleans the lines of a cached buffer that is not empty. Not inlined, like [`ChipBus::invalidate_lines`]: in a
    /// driver, whose buffers usually are in tightly coupled memory, the loops would only take registers.
    #[inline(never)]
    fn clean_lines(&mut self, buffer: &[u8]) {
        // Whole lines: the function counts them by the length alone.
        let start = buffer.as_ptr() as usize / LINE * LINE;
        let end = (buffer.as_ptr() as usize + buffer.len()).next_multiple_of(LINE);
        self.scb.clean_dcache_by_address(start, end - start);
    }

    /// Invalidates the lines of a cached buffer that is not empty.
    #[inline(never)]
    fn invalidate_lines(&mut self, buffer: &mut [u8]) {
        let start = buffer.as_ptr() as usize;
        let end = start + buffer.len();
        let (first, last) = (start.next_multiple_of(LINE), end / LINE * LINE);
        if last > first {
            // SAFETY: these lines hold nothing but the buffer, whose old content is not needed.
            unsafe { self.scb.invalidate_dcache_by_address(first, last - first) };
        }
        // Lines that the buffer shares with other data: what the core wrote there is kept.
        for edge in [start, end - 1].map(|edge| edge / LINE * LINE) {
            if !(first..last).contains(&edge) {
                self.scb.clean_invalidate_dcache_by_address(edge, LINE);
            }
        }
    }
}

/// Whether the data cache may hold lines of `buffer` that differ from memory.
fn is_cached(buffer: &[u8]) -> bool {
    let start = buffer.as_ptr() as usize as u32;
    start.wrapping_sub(MEMORY.ocram.start) < MEMORY.ocram.size
}

impl<C: Clock> Bus for ChipBus<'_, C> {
    #[inline]
    fn read(&mut self, address: u32) -> u32 {
        // SAFETY: a register of the engine, according to its driver.
        unsafe { (address as *const u32).read_volatile() }
    }

    #[inline]
    fn write(&mut self, address: u32, value: u32) {
        // SAFETY: a register of the engine, according to its driver.
        unsafe { (address as *mut u32).write_volatile(value) }
    }

    #[inline]
    fn dma_address(&self, buffer: &[u8]) -> Option<DmaAddress> {
        Some(DmaAddress(buffer.as_ptr() as usize as u32))
    }

    #[inline]
    fn clean(&mut self, buffer: &[u8]) {
        if is_cached(buffer) && !buffer.is_empty() {
            self.clean_lines(buffer);
        }
    }

    #[inline]
    fn invalidate(&mut self, buffer: &mut [u8]) {
        if is_cached(buffer) && !buffer.is_empty() {
            self.invalidate_lines(buffer);
        }
    }

    #[inline]
    fn barrier(&mut self) {
        cortex_m::asm::dsb();
    }

    fn wait_for_interrupt(&mut self, line: Interrupt, limit: Duration) -> Result<(), Error> {
        let start = self.clock.now();
        let ticks = (limit.as_micros() as u64).saturating_mul(self.clock.frequency()) / 1_000_000;
        interrupt::let_through(line);
        while !interrupt::was_taken(line) {
            if (self.clock.now() - start).0 > ticks {
                interrupt::hold(line);
                return Err(Error::Timeout);
            }
        }
        Ok(())
    }
}
