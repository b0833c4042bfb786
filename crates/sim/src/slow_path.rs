//! Accesses that the fast path does not handle: other windows of the MPU, the core's private devices, the
//! chip's devices, and addresses without any device.

use crate::exec::Done;
use crate::fault::{Exit, Fault};
use crate::machine::Machine;
use crate::memory::mpu::Attributes;
use crate::system::Effect;

/// The core's private devices (B3.1).
const PRIVATE: std::ops::Range<u32> = 0xE000_0000..0xE010_0000;

impl Machine {
    /// The permitted uses of `address`, and the range to which they apply.
    pub(crate) fn attributes(&self, address: u32, range: (u32, u32)) -> (Attributes, (u32, u32)) {
        let handler = self.faultmask || matches!(self.exception, 2 | 3);
        self.system.mpu.look_up(address, self.is_privileged(), handler, range)
    }

    #[cold]
    pub(crate) fn read_elsewhere(&mut self, address: u32, size: u32) -> Result<u32, Exit> {
        if PRIVATE.contains(&address) {
            return self.read_private(address, size);
        }
        let Some(range) = self.memory_range(address) else {
            return self.read_device(address, size);
        };
        let (found, window) = self.attributes(address, range);
        if !found.readable {
            return Err(Exit::Fault(Fault::Protection(address)));
        }
        self.memory.allow(self.memory.region_of(address), window, found, false);
        if size > 1 && window.1 - address < size - 1 {
            // Across the window's end: byte by byte, each with its own window.
            return (0..size).try_fold(0, |word, byte| {
                Ok(word | self.read8(address.wrapping_add(byte))? << (8 * byte))
            });
        }
        match size {
            1 => self.memory.read::<1>(address, &self.timing).map(|[byte]| u32::from(byte)),
            2 => self
                .memory
                .read::<2>(address, &self.timing)
                .map(|b| u32::from(u16::from_le_bytes(b))),
            _ => self.memory.read::<4>(address, &self.timing).map(u32::from_le_bytes),
        }
        .ok_or(Exit::Fault(Fault::Bus(address)))
    }

    #[cold]
    pub(crate) fn write_elsewhere(&mut self, address: u32, size: u32, value: u32) -> Done {
        if PRIVATE.contains(&address) {
            return self.write_private(address, size, value);
        }
        let Some(range) = self.memory_range(address) else {
            return self.write_device(address, size, value);
        };
        let (found, window) = self.attributes(address, range);
        if !found.writable {
            return Err(Exit::Fault(Fault::Protection(address)));
        }
        self.memory.allow(self.memory.region_of(address), window, found, true);
        if size > 1 && window.1 - address < size - 1 {
            return (0..size)
                .try_for_each(|byte| self.write8(address.wrapping_add(byte), value >> (8 * byte)));
        }
        let written = match size {
            1 => self.memory.write(address, [value as u8], &self.timing),
            2 => self.memory.write(address, (value as u16).to_le_bytes(), &self.timing),
            _ => self.memory.write(address, value.to_le_bytes(), &self.timing),
        };
        if written { Ok(()) } else { Err(Exit::Fault(Fault::Bus(address))) }
    }

    fn memory_range(&self, address: u32) -> Option<(u32, u32)> {
        let range = self.memory.range(self.memory.region_of(address))?;
        (range.0..=range.1).contains(&address).then_some(range)
    }

    fn read_private(&mut self, address: u32, size: u32) -> Result<u32, Exit> {
        if !self.is_privileged() {
            return Err(Exit::Fault(Fault::Bus(address)));
        }
        let word = address & !3;
        let now = self.timing.now();
        let value = self.system.read(word, now, &self.memory, self.exception);
        if word == 0xE000_1004 {
            self.mark_counter();
        }
        Ok(part(value, address, size))
    }

    fn write_private(&mut self, address: u32, size: u32, value: u32) -> Done {
        if !self.is_privileged() {
            return Err(Exit::Fault(Fault::Bus(address)));
        }
        let word = address & !3;
        let now = self.timing.now();
        let whole = if size == 4 {
            value
        } else {
            let old = self.system.read(word, now, &self.memory, self.exception);
            merged(old, address, size, value)
        };
        match self.system.write(word, whole, now, &mut self.memory) {
            Effect::Memory => self.memory_changed(),
            Effect::Reset => return Err(Exit::Reset),
            Effect::None => {}
        }
        self.memory.look();
        Ok(())
    }

    fn read_device(&mut self, address: u32, size: u32) -> Result<u32, Exit> {
        let now = self.timing.now();
        self.memory.charge_device(false);
        self.memory.access.address = address;
        let found = self.devices.read(address & !3, now, &mut self.memory, &mut self.console);
        if self.console.stop.is_some() {
            self.memory.look();
        }
        let value = found.ok_or_else(|| self.nothing_at(address))?;
        Ok(part(value, address, size))
    }

    fn write_device(&mut self, address: u32, size: u32, value: u32) -> Done {
        self.memory.charge_device(true);
        self.memory.access.address = address;
        // A narrow write reaches the device as a word with the bytes in their place.
        let whole = merged(0, address, size, value);
        let (now, console) = (self.timing.now(), &mut self.console);
        let written = self.devices.write(address & !3, whole, now, &mut self.memory, console);
        self.memory.look();
        if written { Ok(()) } else { Err(self.nothing_at(address)) }
    }

    /// The exit for an access that nothing answers: there is no device, or only one that the simulator does
    /// not model.
    fn nothing_at(&self, address: u32) -> Exit {
        match self.devices.unmodelled(address) {
            Some(_) => Exit::Unmodelled(address),
            None => Exit::Fault(Fault::Bus(address)),
        }
    }
}

fn mask(size: u32) -> u32 {
    u32::MAX >> (32 - 8 * size)
}

fn part(word: u32, address: u32, size: u32) -> u32 {
    word >> (8 * (address & 3)) & mask(size)
}

fn merged(word: u32, address: u32, size: u32, value: u32) -> u32 {
    let shift = 8 * (address & 3);
    word & !(mask(size) << shift) | (value & mask(size)) << shift
}
