//! The memory bus as a register-level driver sees it.
//!
//! A driver that is written over this trait runs on a board (volatile access, real caches) and
//! against a device model on a host, unchanged.

/// An address as a DMA master on the bus sees it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct DmaAddress(pub u32);

/// Registers, DMA addresses and cache maintenance. All of it is ordered: an access is complete
/// before the next one begins.
pub trait Bus {
    /// Reads the 32-bit register at `address`.
    fn read(&mut self, address: u32) -> u32;

    /// Writes the 32-bit register at `address`.
    fn write(&mut self, address: u32, value: u32);

    /// Where a DMA master finds the first byte of `buffer`; `None` if no master can reach it.
    fn dma_address(&self, buffer: &[u8]) -> Option<DmaAddress>;

    /// Makes what the CPU wrote to `buffer` visible to DMA masters (cache clean).
    fn clean(&mut self, buffer: &[u8]);

    /// Drops the CPU's stale copies of `buffer` after a DMA master wrote it (cache invalidate).
    fn invalidate(&mut self, buffer: &mut [u8]);
}
