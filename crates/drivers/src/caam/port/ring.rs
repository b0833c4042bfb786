//! The port's job ring: four entries, one job at a time.

use crate::caam::descriptor::Format;
use crate::caam::registers::{jr, jrint};
use crate::caam::ring::{Lines, set_up};
use crate::caam::{POLLS, address, error};
use cpb_core::{Bus, Error, Meaning};

/// Entries of the ring.
const ENTRIES: usize = 4;

/// The memory that driver and engine share. It must be where a bus master can reach it.
#[repr(C)]
pub struct Memory {
    input: Lines<[[u8; 4]; ENTRIES]>,
    output: Lines<[[u8; 8]; ENTRIES]>,
    /// Small results: the caller's own place may share a cache line with something that the core writes meanwhile.
    pub(super) small: Lines<[u8; 64]>,
}

impl Memory {
    /// Nothing but zeros.
    pub const EMPTY: Memory = Memory {
        input: Lines([[0; 4]; ENTRIES]),
        output: Lines([[0; 8]; ENTRIES]),
        small: Lines([0; 64]),
    };
}

/// The ring. It polls: its interrupt is never used.
pub(super) struct Ring<'w> {
    base: u32,
    pub(super) memory: &'w mut Memory,
    /// Where the next job is entered.
    next: usize,
    /// Jobs that ended without an error.
    pub(super) finished: u64,
}

impl<'w> Ring<'w> {
    pub(super) fn new(
        bus: &mut impl Bus,
        base: u32,
        memory: &'w mut Memory,
    ) -> Result<Self, Error> {
        let mut ring = Ring { base, memory, next: 0, finished: 0 };
        ring.reset(bus)?;
        Ok(ring)
    }

    fn reset(&mut self, bus: &mut impl Bus) -> Result<(), Error> {
        self.next = 0;
        self.memory.output.0 = [[0; 8]; ENTRIES];
        set_up(bus, self.base, &self.memory.input.0, &self.memory.output.0)
    }

    /// Runs a descriptor and waits for it.
    ///
    /// # Errors
    /// The error that the engine reports, or [`Error::Timeout`]. The ring takes the next job in any case.
    pub(super) fn run(&mut self, bus: &mut impl Bus, descriptor: &[u8]) -> Result<(), Error> {
        let first = Format::RT1170.bytes(address(bus, descriptor)?);
        bus.clean(descriptor);
        let entry = &mut self.memory.input.0[self.next];
        *entry = first;
        bus.clean(entry);
        self.next = (self.next + 1) % ENTRIES;
        bus.barrier();
        bus.write(self.base + jr::IRJAR, 1);
        match self.wait(bus, first) {
            Some(0) => {
                self.finished += 1;
                Ok(())
            }
            Some(status) => Err(error(status)),
            None => {
                let interrupt = bus.read(self.base + jr::JRINTR);
                self.reset(bus)?;
                if interrupt & jrint::ERROR != 0 {
                    return Err(Error::Engine { code: interrupt, meaning: Meaning::Hardware });
                }
                Err(Error::Timeout)
            }
        }
    }

    /// Waits for the job with this descriptor and takes it from the output ring. Returns its status.
    fn wait(&mut self, bus: &mut impl Bus, first: [u8; 4]) -> Option<u32> {
        for _ in 0..POLLS {
            // The port asks twice, the second time with interrupts off.
            if bus.read(self.base + jr::ORSFR) == 0 || bus.read(self.base + jr::ORSFR) == 0 {
                continue;
            }
            let output = &mut self.memory.output.0;
            bus.invalidate(output.as_flattened_mut());
            // It does not keep an index of its own but searches from the beginning.
            let Some(entry) = output.iter_mut().find(|entry| entry[..4] == first) else { continue };
            let [.., a, b, c, d] = *entry;
            *entry = [0; 8];
            bus.clean(entry);
            bus.write(self.base + jr::ORJRR, 1);
            return Some(Format::RT1170.word([a, b, c, d]));
        }
        None
    }
}
