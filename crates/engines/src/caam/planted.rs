//! Faults that the owner plants, to see what a driver and its users make of them.

use crate::{BusError, Memory};

/// What goes wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PlantedFault {
    /// The descriptor's first word is not a header.
    Descriptor,
    /// The entry of the output ring cannot be written, which is an error of the ring.
    OutputRing,
    /// The job never ends.
    NeverEnds,
}

/// A fault of some jobs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Planted {
    /// What goes wrong.
    pub fault: PlantedFault,
    /// How many jobs begin before the first one that has it.
    pub after: u64,
    /// How many jobs have it.
    pub jobs: u64,
}

impl Planted {
    /// The fault of the job that begins now, if it has one.
    pub(super) fn begin(&mut self) -> Option<PlantedFault> {
        if self.after > 0 {
            self.after -= 1;
            return None;
        }
        self.jobs = self.jobs.checked_sub(1)?;
        Some(self.fault)
    }
}

/// Memory in which the word at an address has all of its bits inverted.
pub(super) struct Inverted<'m> {
    pub(super) memory: &'m mut dyn Memory,
    pub(super) address: u64,
}

impl Memory for Inverted<'_> {
    fn read(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), BusError> {
        self.memory.read(address, bytes)?;
        let word = self.address..self.address.saturating_add(4);
        for (at, byte) in (address..).zip(bytes) {
            if word.contains(&at) {
                *byte = !*byte;
            }
        }
        Ok(())
    }

    fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), BusError> {
        self.memory.write(address, bytes)
    }
}
