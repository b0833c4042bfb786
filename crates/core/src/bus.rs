//! The memory bus as a register-level driver sees it.
//!
//! A driver that is written over this trait runs on a board (volatile access, real caches) and
//! against a device model on a host, unchanged. `tests/contract/driver.rs` is the shortest one.

use crate::error::Error;
use core::time::Duration;

/// An address as a DMA master on the bus sees it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct DmaAddress(pub u32);

/// An interrupt line, by the number that the chip's manual gives it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Interrupt(pub u16);

/// Registers, DMA addresses, cache maintenance, and the order of it all.
///
/// Accesses to registers happen in the order of the calls. Writes to memory, and cache maintenance,
/// are ordered against them by [`Bus::barrier`] alone.
pub trait Bus {
    /// Reads the 32-bit register at `address`.
    fn read(&mut self, address: u32) -> u32;

    /// Writes the 32-bit register at `address`.
    fn write(&mut self, address: u32, value: u32);

    /// Where a DMA master finds the first byte of `buffer`; `None` if no master can reach it.
    fn dma_address(&self, buffer: &[u8]) -> Option<DmaAddress>;

    /// Makes what the CPU wrote to `buffer` visible to DMA masters (cache clean), by the next
    /// barrier.
    fn clean(&mut self, buffer: &[u8]);

    /// Drops the CPU's stale copies of `buffer` after a DMA master wrote it (cache invalidate).
    fn invalidate(&mut self, buffer: &mut [u8]);

    /// Completes every earlier access before any later one begins (Arm: DSB). A driver needs it
    /// between the last write to a descriptor and the doorbell.
    fn barrier(&mut self);

    /// Waits until the device raises `line`, at most for `limit`. Returns at once if the line is
    /// raised already: an interrupt between the doorbell and this call is not lost. The driver
    /// clears its cause in the device.
    ///
    /// # Errors
    /// [`Error::Timeout`] if the line was not raised in time.
    fn wait_for_interrupt(&mut self, line: Interrupt, limit: Duration) -> Result<(), Error>;
}
