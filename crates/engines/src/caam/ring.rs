//! A job ring: its registers, its errors, its halt and reset, and its interrupt.

use super::{Configuration, Timing, later};
use cpb_drivers::caam::registers::{self, jr, jrcfg, jrcr, jrint, ring_error};

/// How a ring stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Halt {
    #[default]
    Runs,
    /// Jobs in flight are finished. Those in the ring stay there.
    Parking,
    /// Jobs in flight are finished. Those in the ring are given back without being run.
    Flushing,
    /// It does nothing. Whether it was flushed.
    Halted(bool),
}

/// A ring.
#[derive(Clone, Debug, Default)]
pub(super) struct Ring {
    input_base: [u32; 2],
    output_base: [u32; 2],
    pub(super) input_size: u32,
    pub(super) output_size: u32,
    /// Jobs that the engine has not fetched.
    pub(super) pending: u32,
    /// Finished jobs that software has not removed.
    pub(super) full: u32,
    /// Jobs in the engine.
    pub(super) in_flight: u32,
    /// Entries.
    pub(super) read_index: u32,
    pub(super) write_index: u32,
    pub(super) status: u32,
    pub(super) interrupt: u32,
    pub(super) configuration: [u32; 2],
    pub(super) halt: Halt,
    /// When the oldest finished job that no interrupt has told of was finished.
    waiting_since: Option<u64>,
}

impl Ring {
    /// Whether it has a job for a controller.
    pub(super) fn is_ready(&self) -> bool {
        let runs = matches!(self.halt, Halt::Runs | Halt::Flushing);
        runs && self.pending > 0
            && self.input_size > 0
            && self.full + self.in_flight < self.output_size
    }

    /// The address of the input ring.
    pub(super) fn input(&self, configuration: &Configuration) -> u64 {
        configuration.format(false).address(self.input_base)
    }

    /// The address of the output ring.
    pub(super) fn output(&self, configuration: &Configuration) -> u64 {
        configuration.format(false).address(self.output_base)
    }

    pub(super) fn read(&self, offset: u32) -> u32 {
        match offset {
            jr::IRBAR => self.input_base[0],
            0x04 => self.input_base[1],
            jr::IRSR => self.input_size,
            jr::IRSAR => self.input_size.saturating_sub(self.pending),
            jr::ORBAR => self.output_base[0],
            0x24 => self.output_base[1],
            jr::ORSR => self.output_size,
            jr::ORSFR => self.full,
            jr::JRSTAR => self.status,
            jr::JRINTR => self.interrupt,
            jr::JRCFGR_MS => self.configuration[0],
            jr::JRCFGR_LS => self.configuration[1],
            jr::IRRIR => 4 * self.read_index,
            jr::ORWIR => 8 * self.write_index,
            _ => 0,
        }
    }

    pub(super) fn write(&mut self, offset: u32, value: u32, now: u64, timing: &Timing) {
        let size = value & registers::RING_ENTRIES;
        match offset {
            jr::IRBAR | 0x04 | jr::IRSR if self.pending > 0 && !self.is_halted() => {
                self.error(ring_error::INPUT_BUSY);
            }
            jr::ORBAR | 0x24 | jr::ORSR if self.full + self.in_flight > 0 && !self.is_halted() => {
                self.error(ring_error::OUTPUT_BUSY);
            }
            jr::IRBAR | 0x04 => self.input_base[(offset / 4) as usize] = value,
            jr::ORBAR | 0x24 => self.output_base[(offset / 4 - 8) as usize] = value,
            jr::IRSR => (self.input_size, self.read_index) = (size, 0),
            jr::ORSR => (self.output_size, self.write_index) = (size, 0),
            jr::IRJAR if size > self.input_size - self.pending.min(self.input_size) => {
                self.error(ring_error::ADDED);
            }
            jr::IRJAR => self.pending += size,
            jr::ORJRR if size > self.full => self.error(ring_error::REMOVED),
            jr::ORJRR => self.remove(size, now),
            jr::JRINTR => self.acknowledge(value, now, timing),
            jr::JRCFGR_MS => self.configuration[0] = value,
            jr::JRCFGR_LS => {
                self.configuration[1] = value;
                self.update_interrupt(now, timing);
            }
            jr::JRCR => self.command(value),
            _ => {}
        }
    }

    /// Checks the rings' addresses when jobs are added: a multiple of 4 is a must.
    pub(super) fn check_bases(&mut self, configuration: &Configuration) -> bool {
        let input = !self.input(configuration).is_multiple_of(4);
        let output = !self.output(configuration).is_multiple_of(4);
        if input || output {
            self.pending = 0;
            self.error(if input { ring_error::INPUT_BASE } else { ring_error::OUTPUT_BASE });
        }
        !input && !output
    }

    fn is_halted(&self) -> bool {
        matches!(self.halt, Halt::Halted(_))
    }

    /// Notes an error; the write that caused it has no effect.
    pub(super) fn error(&mut self, kind: u32) {
        let fields = jrint::ERROR_TYPE_MASK << jrint::ERROR_TYPE | 0x3FFF << jrint::ERROR_INDEX;
        let index = ((8 * self.write_index) & 0x3FFF) << jrint::ERROR_INDEX;
        self.interrupt =
            self.interrupt & !fields | jrint::ERROR | kind << jrint::ERROR_TYPE | index;
    }

    fn remove(&mut self, count: u32, now: u64) {
        self.full -= count;
        if self.full == 0 {
            // Otherwise, software that clears the interrupt before it removes the jobs would be told twice (assumed).
            self.interrupt &= !jrint::DONE;
            self.waiting_since = None;
        } else if count > 0 && self.waiting_since.is_some() {
            self.waiting_since = Some(now);
        }
    }

    fn acknowledge(&mut self, value: u32, now: u64, timing: &Timing) {
        if value & jrint::ERROR != 0 {
            let fields = jrint::ERROR_TYPE_MASK << jrint::ERROR_TYPE | 0x3FFF << jrint::ERROR_INDEX;
            self.interrupt &= !(jrint::ERROR | fields);
        }
        if value & jrint::HALT != 0 && self.is_halted() {
            self.halt = Halt::Runs;
            self.interrupt &= !jrint::HALT;
        }
        if value & jrint::DONE != 0 {
            self.interrupt &= !jrint::DONE;
            self.waiting_since = (self.full > 0).then_some(now);
            self.update_interrupt(now, timing);
        }
    }

    fn command(&mut self, value: u32) {
        if value & jrcr::RESET != 0 {
            match self.halt {
                Halt::Halted(_) => {
                    *self = Ring {
                        configuration: [0, jrcfg::MASKED & self.configuration[1]],
                        ..Ring::default()
                    };
                    return;
                }
                Halt::Flushing => return self.error(ring_error::RESET_EARLY),
                Halt::Runs | Halt::Parking => self.halt = Halt::Flushing,
            }
        } else if value & jrcr::PARK != 0 && self.halt == Halt::Runs {
            self.halt = Halt::Parking;
        }
        if !self.is_halted() && self.halt != Halt::Runs {
            self.interrupt = self.interrupt & !jrint::HALT | jrint::HALTING;
        }
        self.try_halt();
    }

    /// Halts the ring if it was told to and nothing is left to do.
    pub(super) fn try_halt(&mut self) {
        let halted = match self.halt {
            Halt::Parking => self.in_flight == 0,
            Halt::Flushing => self.in_flight == 0 && self.pending == 0,
            _ => false,
        };
        if halted {
            self.halt = Halt::Halted(self.halt == Halt::Flushing);
            self.interrupt = self.interrupt & !jrint::HALT | jrint::HALTED;
        }
    }

    /// Notes that a job has been written to the output ring.
    pub(super) fn finish(&mut self, status: u32, now: u64, timing: &Timing) {
        self.status = status;
        self.full += 1;
        self.write_index = (self.write_index + 1) % self.output_size.max(1);
        self.waiting_since.get_or_insert(now);
        self.update_interrupt(now, timing);
    }

    /// Raises the interrupt if enough jobs are finished, or the oldest has waited long enough.
    pub(super) fn update_interrupt(&mut self, now: u64, timing: &Timing) {
        let coalesces = self.configuration[1] & jrcfg::COALESCE != 0;
        let count = if coalesces { self.configuration[1] >> jrcfg::COUNT & 0xFF } else { 1 };
        let is_late = self.timer(timing).is_some_and(|end| end <= now);
        if self.waiting_since.is_some() && (self.full >= count.max(1) || is_late) {
            self.interrupt |= jrint::DONE;
            self.waiting_since = None;
        }
    }

    /// When the timer of coalescing expires.
    pub(super) fn timer(&self, timing: &Timing) -> Option<u64> {
        let [_, low] = self.configuration;
        let units = f64::from(low >> jrcfg::TIMER);
        let coalesces = low & jrcfg::COALESCE != 0;
        self.waiting_since
            .filter(|_| coalesces)
            .map(|since| later(since, units * timing.coalescing))
    }

    /// The state of the interrupt line.
    pub(super) fn line(&self) -> bool {
        self.interrupt & (jrint::DONE | jrint::ERROR) != 0
            && self.configuration[1] & jrcfg::MASKED == 0
    }
}
