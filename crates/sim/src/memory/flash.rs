//! Serial flash behind its controller (FlexSPI) and, on some chips, an inline engine (OTFAD), modelled only for the time
//! of reading it in place. A new address costs a command; the bytes after it stream into the prefetch buffer, and every
//! window of the stream costs something on top. The controller runs ahead of the core as far as the buffer goes.
//!
//! The figures are in the chip's file. The controller's registers are not modelled.

use crate::chip::Timing;
use std::ops::RangeInclusive;

/// The bytes that the controller reads ahead, and the window of a stream: its AHB buffer.
const AHEAD: u32 = 1024;

/// What the controller answers at a time, and a line of the cache.
const BEAT: u32 = 8;
const LINE: u32 = 32;

/// What differs between flash that is passed on as it is and flash that is decrypted, in core cycles.
#[derive(Clone, Copy)]
struct Passage {
    /// A read of data that is in the buffer.
    buffered: f64,
    /// For each window of a stream, beyond its bytes.
    window: f64,
}

pub(crate) struct Flash {
    /// The current stream: its first byte, and the time at which the wires begin to carry it.
    first: u32,
    begun: f64,
    /// The furthest offset in the stream that was asked for.
    furthest: u32,
    passage: Passage,
    /// The line that arrives, and the time at which all of it is there.
    line: u32,
    line_done: f64,
    /// The part of a cycle that the core was not charged yet.
    owed: f64,
    first_byte: f64,
    per_byte: f64,
    plain: Passage,
    decrypted: Passage,
    /// Where the inline engine decrypts.
    pub(super) decrypts: Vec<RangeInclusive<u32>>,
}

impl Flash {
    pub(crate) fn new(rules: &Timing) -> Self {
        let plain = Passage { buffered: rules.flash_buffered, window: rules.flash_window };
        let decrypted = Passage { buffered: rules.otfad_buffered, window: rules.otfad_window };
        Flash {
            first: u32::MAX,
            begun: 0.0,
            furthest: 0,
            passage: plain,
            line: u32::MAX,
            line_done: 0.0,
            owed: 0.0,
            first_byte: rules.flash_first,
            per_byte: rules.flash_byte,
            plain,
            decrypted,
            decrypts: Vec::new(),
        }
    }

    /// Core cycles from cycle `now` until the core has the bytes at `address` that it reads without a cache.
    pub(crate) fn read(&mut self, now: u64, address: u32) -> u32 {
        let now = now as f64;
        let arrives = self.arrival(now, address & !(BEAT - 1), BEAT);
        self.whole((arrives - now).max(self.passage.buffered))
    }

    /// Core cycles from cycle `now` until the beat at `address` has arrived, of a line that the data cache asks for. The
    /// rest of the line arrives behind it: see [`arriving`](Self::arriving).
    pub(crate) fn begin_line(&mut self, now: u64, address: u32) -> u32 {
        let line = address & !(LINE - 1);
        let now = now as f64;
        let done = self.arrival(now, line, LINE);
        (self.line, self.line_done) = (line, done);
        self.whole((self.beat(address) - now).max(0.0))
    }

    /// Core cycles from cycle `now` until the bytes at `address` are in the data cache, which has begun to fill their
    /// line.
    pub(crate) fn arriving(&mut self, now: u64, address: u32) -> u32 {
        let now = now as f64;
        if now >= self.line_done || address & !(LINE - 1) != self.line {
            return 0;
        }
        self.whole((self.beat(address) - now).max(0.0))
    }

    /// Core cycles from cycle `now` until the whole line at `address` has arrived, for code.
    pub(crate) fn line(&mut self, now: u64, address: u32) -> u32 {
        let now = now as f64;
        let done = self.arrival(now, address & !(LINE - 1), LINE);
        self.whole((done - now).max(self.passage.buffered))
    }

    /// The time at which a beat of the line that arrives is there.
    fn beat(&self, address: u32) -> f64 {
        let behind = LINE - BEAT - (address & (LINE - 1) & !(BEAT - 1));
        self.line_done - f64::from(behind) * self.per_byte
    }

    /// The time at which `size` bytes at `address` have arrived.
    fn arrival(&mut self, now: f64, address: u32, size: u32) -> f64 {
        let offset = address.wrapping_sub(self.first);
        let behind = self.furthest.saturating_sub(AHEAD / 2);
        if !(behind..self.furthest.saturating_add(AHEAD)).contains(&offset) {
            // The wires are busy until a line has arrived as a whole.
            self.first = address;
            self.begun = now.max(self.line_done) + self.first_byte;
            self.furthest = 0;
            let is_decrypted = self.decrypts.iter().any(|range| range.contains(&address));
            self.passage = if is_decrypted { self.decrypted } else { self.plain };
            return self.begun + f64::from(size) * self.per_byte;
        }
        if offset > self.furthest {
            // The controller waited while its buffer was full.
            let full = self.on_wires(self.furthest.saturating_add(AHEAD));
            self.begun += (now - full).max(0.0);
            self.furthest = offset;
        }
        self.on_wires(offset.saturating_add(size))
    }

    /// The time at which the wires have carried so many bytes of the stream.
    fn on_wires(&self, bytes: u32) -> f64 {
        let windows = f64::from(bytes.saturating_sub(1) / AHEAD);
        self.begun + f64::from(bytes) * self.per_byte + windows * self.passage.window
    }

    /// Whole cycles; the rest is charged later.
    fn whole(&mut self, cycles: f64) -> u32 {
        let owed = self.owed + cycles;
        self.owed = owed.fract();
        owed as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flash() -> Flash {
        let rules = Timing {
            flash_first: 500.0,
            flash_byte: 20.0,
            flash_buffered: 50.0,
            flash_window: 300.0,
            otfad_buffered: 40.0,
            otfad_window: 900.0,
            ..Timing::default()
        };
        Flash::new(&rules)
    }

    #[test]
    fn what_follows_comes_at_the_rate_of_the_wires() {
        let mut flash = flash();
        assert_eq!(flash.begin_line(0, 0x1000), 500 + 8 * 20);
        assert_eq!(flash.arriving(660, 0x1018), 24 * 20);
        assert_eq!(flash.arriving(1140, 0x1018), 0);
        assert_eq!(flash.begin_line(1140, 0x1020), 8 * 20);
        // The buffer is full of what follows.
        assert_eq!(flash.begin_line(100_000, 0x1040), 0);
        assert_eq!(flash.read(200_000, 0x1060), 50);
        assert_eq!(flash.begin_line(300_000, 0x9000), 500 + 8 * 20);
    }

    #[test]
    fn the_controller_does_not_run_further_ahead_than_its_buffer() {
        let mut flash = flash();
        flash.read(0, 0x1000);
        // Read after a long time, and then what was too far away to be read ahead.
        assert_eq!(flash.read(1_000_000, 0x1008), 50);
        assert!(flash.read(1_000_050, 0x1008 + AHEAD - 8) > 50);
    }

    #[test]
    fn a_jump_waits_for_the_line_that_arrives() {
        let mut flash = flash();
        assert_eq!(flash.begin_line(0, 0x1000), 660);
        assert_eq!(flash.begin_line(660, 0x9000), 480 + 660);
    }

    #[test]
    fn a_window_costs_more_and_decrypted_flash_has_its_own_figures() {
        for (decrypts, window) in [(vec![], 300), (vec![0x1000..=0x1FFF], 900)] {
            let mut flash = Flash { decrypts, ..flash() };
            let mut now = 0;
            for line in 0..64 {
                now += u64::from(flash.line(now, 0x1000 + 32 * line));
            }
            assert_eq!(now, 500 + 2048 * 20 + window);
        }
    }

    #[test]
    fn parts_of_cycles_add_up() {
        let mut flash = Flash { plain: Passage { buffered: 50.25, window: 0.0 }, ..flash() };
        flash.read(0, 0x1000);
        let waits: u32 = (0..4).map(|_| flash.read(1_000_000, 0x1000)).sum();
        assert_eq!(waits, 201);
    }
}
