//! Serial flash behind its controller, modelled only for the time of reading it in place: a new address costs
//! a command, and the bytes after it stream into the prefetch buffer.
//!
//! The figures are in the chip's file. The controller's registers are not modelled.

use crate::chip::Timing;

/// The bytes that the controller reads ahead: its AHB buffer.
const AHEAD: u32 = 1024;

pub(crate) struct Flash {
    /// The current stream: its first byte, and the time at which that byte arrives.
    first: u32,
    begun: f64,
    first_byte: f64,
    per_byte: f64,
    buffered: f64,
}

impl Flash {
    pub(crate) fn new(rules: &Timing) -> Self {
        Flash {
            first: u32::MAX,
            begun: 0.0,
            first_byte: rules.flash_first,
            per_byte: rules.flash_byte,
            buffered: rules.flash_buffered,
        }
    }

    /// Core cycles from cycle `now` until `size` bytes at `address` have arrived.
    pub(crate) fn read(&mut self, now: u64, address: u32, size: u32) -> u32 {
        let now = now as f64;
        let offset = address.wrapping_sub(self.first);
        if offset >= AHEAD {
            self.first = address;
            self.begun = now + self.first_byte;
        }
        let end = address.wrapping_sub(self.first).saturating_add(size);
        let arrives = self.begun + f64::from(end) * self.per_byte;
        // Data that arrived long ago still has to cross the bus.
        let wait = (arrives - now).max(self.buffered);
        if end >= AHEAD / 2 {
            // The stream continues, and its window advances.
            self.begun += f64::from(end) * self.per_byte;
            self.first = self.first.wrapping_add(end);
        }
        wait.round() as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_follows_comes_at_the_rate_of_the_wires() {
        let rules = Timing { flash_first: 500.0, flash_byte: 20.0, ..Timing::default() };
        let mut flash = Flash::new(&rules);
        let first = flash.read(0, 0x1000, 32);
        assert_eq!(first, 500 + 32 * 20);
        let mut now = u64::from(first);
        assert_eq!(flash.read(now, 0x1020, 32), 32 * 20);
        now += 10_000;
        assert_eq!(flash.read(now, 0x1040, 32), 0);
        assert_eq!(flash.read(now, 0x9000, 32), 500 + 32 * 20);
    }
}
