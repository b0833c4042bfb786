//! Serial flash behind its controller (FlexSPI) and, on some chips, an inline engine (OTFAD), modelled only for the time
//! of reading it in place. A new address costs a command; the bytes after it stream into the prefetch buffer, and every
//! window of the stream costs something on top. The controller runs ahead of the core as far as the buffer goes.
//!
//! The clock and the sequence of a command are those of the program's [flash configuration block](ReadSequence), or
//! without one, those of the chip's file, which has all other figures. The controller's registers are not modelled.

use crate::chip::FlashTiming;
use crate::flash_configuration::ReadSequence;
use std::ops::RangeInclusive;

/// The window of a stream: the size of the controller's AHB buffer.
const WINDOW: u32 = 1024;

/// What the controller answers at a time, and a line of the cache.
const BEAT: u32 = 8;
const LINE: u32 = 32;

/// What differs between flash that is passed on as it is and flash that is decrypted, in core cycles.
#[derive(Clone, Copy, Default)]
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
    /// From a new address to its first byte.
    first_byte: f64,
    per_byte: f64,
    /// The bytes that the controller reads ahead.
    ahead: u32,
    plain: Passage,
    decrypted: Passage,
    /// What a stream costs in another context than the last that was decrypted, and that context.
    context: f64,
    last_context: usize,
    /// Where the inline engine decrypts, by context.
    pub(super) decrypts: Vec<RangeInclusive<u32>>,
}

impl Flash {
    pub(crate) fn new(rules: &FlashTiming) -> Self {
        let mut flash = Flash {
            first: u32::MAX,
            begun: 0.0,
            furthest: 0,
            passage: Passage::default(),
            line: u32::MAX,
            line_done: 0.0,
            owed: 0.0,
            first_byte: 0.0,
            per_byte: 0.0,
            ahead: rules.ahead,
            plain: Passage::default(),
            decrypted: Passage::default(),
            context: rules.otfad_context,
            last_context: 0,
            decrypts: Vec::new(),
        };
        flash.set_up(rules);
        flash
    }

    /// Takes over a clock and a sequence.
    pub(crate) fn set_up(&mut self, rules: &FlashTiming) {
        let FlashTiming { clock, sequence: ReadSequence { clocks, per_byte }, .. } = *rules;
        self.first_byte = (f64::from(clocks) + rules.first) * clock;
        self.per_byte = per_byte * clock;
        self.plain = Passage { buffered: rules.buffered, window: rules.window * clock };
        self.decrypted =
            Passage { buffered: rules.otfad_buffered, window: rules.otfad_window * clock };
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
        let behind = self.furthest.saturating_sub(self.ahead / 2);
        if !(behind..self.furthest.saturating_add(self.ahead)).contains(&offset) {
            // The wires are busy until a line has arrived as a whole.
            self.first = address;
            self.begun = now.max(self.line_done) + self.first_byte + self.pass(address);
            self.furthest = 0;
            return self.begun + f64::from(size) * self.per_byte;
        }
        if offset > self.furthest {
            // The controller waited while its buffer was full.
            let full = self.on_wires(self.furthest.saturating_add(self.ahead));
            self.begun += (now - full).max(0.0);
            self.furthest = offset;
        }
        self.on_wires(offset.saturating_add(size))
    }

    /// Chooses what a stream from `address` on passes through. Returns what this costs: the time to change to
    /// another context.
    fn pass(&mut self, address: u32) -> f64 {
        let context = self.decrypts.iter().position(|range| range.contains(&address));
        self.passage = if context.is_some() { self.decrypted } else { self.plain };
        let changes = context.is_some_and(|context| context != self.last_context);
        self.last_context = context.unwrap_or(self.last_context);
        if changes { self.context } else { 0.0 }
    }

    /// The time at which the wires have carried so many bytes of the stream.
    fn on_wires(&self, bytes: u32) -> f64 {
        let windows = f64::from(bytes.saturating_sub(1) / WINDOW);
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

    const RULES: FlashTiming = FlashTiming {
        clock: 10.0,
        sequence: ReadSequence { clocks: 20, per_byte: 2.0 },
        first: 30.0,
        ahead: 1024,
        buffered: 50.0,
        window: 30.0,
        otfad_buffered: 40.0,
        otfad_window: 90.0,
        otfad_context: 7.0,
    };

    fn flash() -> Flash {
        Flash::new(&RULES)
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
        assert!(flash.read(1_000_050, 0x1008 + 1024 - 8) > 50);
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
    fn a_controller_that_does_not_read_ahead_needs_a_command_for_each_line() {
        // Whether it keeps the beat of a single read is not known; one byte of it after the other shows it.
        for (ahead, again) in [(0, 500 + 8 * 20), (8, 50)] {
            let mut flash = Flash::new(&FlashTiming { ahead, ..RULES });
            assert_eq!(flash.line(0, 0x1000), 500 + 32 * 20);
            assert_eq!(flash.line(10_000, 0x1020), 500 + 32 * 20);
            assert_eq!(flash.read(20_000, 0x2000), 500 + 8 * 20);
            assert_eq!(flash.read(30_000, 0x2001), again);
            assert_eq!(flash.read(40_000, 0x2008), 500 + 8 * 20);
        }
    }

    #[test]
    fn a_stream_in_another_context_waits_for_it() {
        let mut flash = Flash { decrypts: vec![0x1000..=0x1FFF, 0x2000..=0x2FFF], ..flash() };
        let mut now = 0;
        for (address, context) in [(0x1000, 0), (0x2000, 7), (0x9000, 0), (0x2800, 0), (0x1000, 7)]
        {
            let wait = u64::from(flash.line(now, address));
            assert_eq!(wait, 500 + 32 * 20 + context, "{address:#x}");
            now += 100_000;
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
