//! The memory bus as a register-level driver sees it.
//!
//! A driver written for this trait runs unchanged on a board (volatile access, real caches) and against a
//! device model on a host. The shortest example is in `tests/contract/driver.rs`.

use crate::error::Error;
use core::time::Duration;

/// An address as seen by a DMA master on the bus.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct DmaAddress(pub u32);

/// An interrupt line, by its number in the chip's manual.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Interrupt(pub u16);

/// Registers, DMA addresses, cache maintenance, and their ordering.
///
/// Register accesses happen in the order of the calls. Only [`Bus::barrier`] orders memory writes and cache
/// maintenance relative to register accesses.
pub trait Bus {
    /// Reads the 32-bit register at `address`.
    fn read(&mut self, address: u32) -> u32;

    /// Writes the 32-bit register at `address`.
    fn write(&mut self, address: u32, value: u32);

    /// The address at which a DMA master sees the first byte of `buffer`; `None` if no master can reach it.
    fn dma_address(&self, buffer: &[u8]) -> Option<DmaAddress>;

    /// Makes what the CPU wrote to `buffer` visible to DMA masters (cache clean). Complete after the next
    /// barrier.
    fn clean(&mut self, buffer: &[u8]);

    /// Drops the CPU's stale copies of `buffer` after a DMA master wrote it (cache invalidate).
    fn invalidate(&mut self, buffer: &mut [u8]);

    /// Completes all earlier accesses before any later one begins (Arm: DSB). A driver needs it between the
    /// last write to a descriptor and the doorbell.
    fn barrier(&mut self);

    /// Waits at most `limit` until the device raises `line`. Returns at once if the line is already raised,
    /// so an interrupt between the doorbell and this call is not lost. The driver clears the cause in the
    /// device.
    ///
    /// # Errors
    /// Returns [`Error::Timeout`] if the line was not raised in time.
    fn wait_for_interrupt(&mut self, line: Interrupt, limit: Duration) -> Result<(), Error>;
}
