//! A block of registers that only store what was written: clocks, pins, power, and anything else that a
//! program sets up and then waits for. The chip's file lists the bits that always read as one or zero.

use crate::chip::DeviceDescription;
use std::collections::HashMap;

pub(super) struct Registers {
    words: HashMap<u32, u32>,
    ones: Vec<(u32, u32)>,
    zeros: Vec<(u32, u32)>,
    /// Whether each register is followed by those that set, clear and toggle its bits.
    four: bool,
}

impl Registers {
    pub(super) fn new(description: &DeviceDescription) -> Self {
        Registers {
            words: HashMap::new(),
            ones: description.ones.clone(),
            zeros: description.zeros.clone(),
            four: description.set_clear_toggle,
        }
    }

    pub(super) fn read(&self, offset: u32) -> u32 {
        let offset = if self.four { offset & !0xC } else { offset };
        let bits = |list: &[(u32, u32)]| {
            list.iter().filter(|(at, _)| *at == offset).fold(0, |bits, (_, more)| bits | more)
        };
        let word = self.words.get(&offset).copied().unwrap_or(0);
        (word | bits(&self.ones)) & !bits(&self.zeros)
    }

    pub(super) fn write(&mut self, offset: u32, value: u32) {
        if !self.four {
            self.words.insert(offset, value);
            return;
        }
        let word = self.words.entry(offset & !0xC).or_default();
        match offset & 0xC {
            0x0 => *word = value,
            0x4 => *word |= value,
            0x8 => *word &= !value,
            _ => *word ^= value,
        }
    }
}
