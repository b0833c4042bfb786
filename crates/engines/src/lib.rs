//! Models of crypto engines, at the level of registers, descriptors and memory.
//!
//! An engine is driven from outside and knows nothing of what drives it: a simulated chip, a test, or a virtual
//! machine. Its owner passes register accesses on, tells the time, lends the memory that the engine reaches as a bus
//! master, and connects its interrupt lines. Outputs are exact to the bit; times come from constants that the owner
//! supplies.
//!
//! To add an engine: a file with its registers and jobs that implements [`Engine`], and known answers in its tests.

#![forbid(unsafe_code)]

pub mod caam;
pub mod dcp;
pub mod otfad;

use core::fmt;

/// No memory answers at a bus address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BusError {
    /// The first address without an answer.
    pub address: u64,
}

impl fmt::Display for BusError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no memory answers at bus address {:#x}", self.address)
    }
}

impl std::error::Error for BusError {}

/// Memory as a bus master sees it: beside the CPU's caches, not through them.
pub trait Memory {
    /// Fills `bytes` from `address` on.
    ///
    /// # Errors
    /// Returns an error if a part of the range is no memory. `bytes` then has any content.
    fn read(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), BusError>;

    /// Writes `bytes` from `address` on.
    ///
    /// # Errors
    /// Returns an error if a part of the range cannot be written. The part before it may have been written.
    fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), BusError>;
}

/// A device model. All times are in ticks of the owner's clock, which never goes back.
///
/// The owner calls [`Engine::advance`] before each register access, and at the latest when [`Engine::next_event`] is
/// reached.
pub trait Engine {
    /// The engine's name in messages: `DCP`.
    fn name(&self) -> &'static str;

    /// Reads the 32-bit register at `offset` from the engine's base. Registers that do not exist read as 0.
    fn read(&mut self, offset: u32) -> u32;

    /// Writes the 32-bit register at `offset`. A job that this starts begins at `now`.
    fn write(&mut self, offset: u32, value: u32, now: u64);

    /// Performs everything that is due at `now` or earlier, in order.
    fn advance(&mut self, now: u64, memory: &mut dyn Memory);

    /// The time of the next change that no register access causes. `None` if the engine is idle.
    fn next_event(&self) -> Option<u64>;

    /// The state of the interrupt lines, one bit each, in the order in which the engine's documentation lists them.
    fn interrupts(&self) -> u32;

    /// Delays the running job: a transfer of it waited for another bus master.
    fn delay(&mut self, ticks: u64);
}
