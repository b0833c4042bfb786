//! Exceptions: which are enabled, pending and active, and which is taken next (B1.5, B3.4).

/// Exception numbers (B1.5.2).
pub(crate) mod number {
    pub(crate) const NMI: u16 = 2;
    pub(crate) const HARD_FAULT: u16 = 3;
    pub(crate) const MEMORY: u16 = 4;
    pub(crate) const BUS: u16 = 5;
    pub(crate) const USAGE: u16 = 6;
    pub(crate) const SUPERVISOR_CALL: u16 = 11;
    pub(crate) const PEND_SV: u16 = 14;
    pub(crate) const SYS_TICK: u16 = 15;
}

const COUNT: usize = 16 + 240;
/// The controllers of the i.MX RT and the MPS2 implement at most four bits of a priority.
const PRIORITY_BITS: u8 = 0xF0;

pub(crate) struct Nvic {
    enabled: [bool; COUNT],
    pending: [bool; COUNT],
    active: [bool; COUNT],
    priority: [u8; COUNT],
    pub(crate) grouping: u32,
}

impl Default for Nvic {
    fn default() -> Self {
        let mut enabled = [false; COUNT];
        enabled[..16].fill(true);
        Nvic {
            enabled,
            pending: [false; COUNT],
            active: [false; COUNT],
            priority: [0; COUNT],
            grouping: 0,
        }
    }
}

impl Nvic {
    /// The priority of an exception. Lower values are more urgent.
    pub(crate) fn priority_of(&self, number: u16) -> i32 {
        match number {
            0..=1 => -3,
            number::NMI => -2,
            number::HARD_FAULT => -1,
            _ => i32::from(self.priority[usize::from(number) % COUNT]),
        }
    }

    /// The most urgent group priority of all active exceptions; 256 if none is active.
    pub(crate) fn active_priority(&self) -> i32 {
        (2..COUNT as u16)
            .filter(|n| self.active[usize::from(*n)])
            .map(|n| self.group(self.priority_of(n)))
            .min()
            .unwrap_or(256)
    }

    /// The part of a priority that decides about preemption (B1.5.4).
    pub(crate) fn group(&self, priority: i32) -> i32 {
        if priority < 0 { priority } else { priority & !((2 << self.grouping) - 1) }
    }

    /// The next pending exception, if it is more urgent than `than`.
    pub(crate) fn next(&self, than: i32) -> Option<u16> {
        (2..COUNT as u16)
            .filter(|n| self.pending[usize::from(*n)] && self.enabled[usize::from(*n)])
            .min_by_key(|n| (self.priority_of(*n), *n))
            .filter(|n| self.group(self.priority_of(*n)) < than)
    }

    pub(crate) fn pend(&mut self, number: u16) {
        self.pending[usize::from(number) % COUNT] = true;
    }

    pub(crate) fn unpend(&mut self, number: u16) {
        self.pending[usize::from(number) % COUNT] = false;
    }

    pub(crate) fn begin(&mut self, number: u16) {
        self.pending[usize::from(number) % COUNT] = false;
        self.active[usize::from(number) % COUNT] = true;
    }

    pub(crate) fn end(&mut self, number: u16) {
        self.active[usize::from(number) % COUNT] = false;
    }

    pub(crate) fn is_active(&self, number: u16) -> bool {
        self.active[usize::from(number) % COUNT]
    }

    fn bits(flags: &[bool; COUNT], word: u32) -> u32 {
        let first = 16 + word as usize * 32;
        flags
            .iter()
            .skip(first)
            .take(32)
            .enumerate()
            .fold(0, |bits, (i, on)| bits | u32::from(*on) << i)
    }

    fn change(flags: &mut [bool; COUNT], word: u32, bits: u32, to: bool) {
        let first = 16 + word as usize * 32;
        for (i, flag) in flags.iter_mut().skip(first).take(32).enumerate() {
            if bits >> i & 1 != 0 {
                *flag = to;
            }
        }
    }

    /// Reads a register, by its offset from 0xE000_E000.
    pub(crate) fn read(&self, offset: u32) -> u32 {
        let word = offset >> 2 & 0x1F;
        match offset & !0x7F {
            0x100 | 0x180 => Nvic::bits(&self.enabled, word),
            0x200 | 0x280 => Nvic::bits(&self.pending, word),
            0x300 => Nvic::bits(&self.active, word),
            0x400..0x600 => self.four_priorities(16 + (offset - 0x400) as usize),
            _ => 0,
        }
    }

    pub(crate) fn write(&mut self, offset: u32, value: u32) {
        let word = offset >> 2 & 0x1F;
        match offset & !0x7F {
            0x100 => Nvic::change(&mut self.enabled, word, value, true),
            0x180 => Nvic::change(&mut self.enabled, word, value, false),
            0x200 => Nvic::change(&mut self.pending, word, value, true),
            0x280 => Nvic::change(&mut self.pending, word, value, false),
            0x400..0x600 => self.set_four_priorities(16 + (offset - 0x400) as usize, value),
            _ => {}
        }
    }

    fn four_priorities(&self, first: usize) -> u32 {
        let four = self.priority.iter().skip(first & !3).take(4);
        four.enumerate().fold(0, |word, (i, p)| word | u32::from(*p) << (8 * i))
    }

    fn set_four_priorities(&mut self, first: usize, value: u32) {
        for (priority, byte) in self.priority.iter_mut().skip(first & !3).zip(value.to_le_bytes()) {
            *priority = byte & PRIORITY_BITS;
        }
    }

    /// Reads SHPR1 to SHPR3.
    pub(crate) fn system_priorities(&self, offset: u32) -> u32 {
        self.four_priorities(4 + offset as usize)
    }

    pub(crate) fn set_system_priorities(&mut self, offset: u32, value: u32) {
        self.set_four_priorities(4 + offset as usize, value);
    }

    /// The value of ICSR.
    pub(crate) fn state(&self, active: u16) -> u32 {
        let next = u32::from(self.next(i32::MAX).unwrap_or(0));
        u32::from(self.pending[usize::from(number::NMI)]) << 31
            | u32::from(self.pending[usize::from(number::PEND_SV)]) << 28
            | u32::from(self.pending[usize::from(number::SYS_TICK)]) << 26
            | next << 12
            | u32::from(active)
    }

    pub(crate) fn write_state(&mut self, value: u32) {
        let raised = [(31, number::NMI), (28, number::PEND_SV), (26, number::SYS_TICK)];
        for (_, number) in raised.iter().filter(|(bit, _)| value >> bit & 1 != 0) {
            self.pend(*number);
        }
        let cleared = [(27, number::PEND_SV), (25, number::SYS_TICK)];
        for (_, number) in cleared.iter().filter(|(bit, _)| value >> bit & 1 != 0) {
            self.unpend(*number);
        }
    }

    /// The active bits of SHCSR.
    pub(crate) fn handler_state(&self) -> u32 {
        [(4, 0), (5, 1), (6, 3), (11, 7), (14, 10), (15, 11)]
            .iter()
            .fold(0, |word, (number, bit)| word | u32::from(self.active[*number]) << bit)
    }
}
