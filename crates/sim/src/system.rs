//! The core's private devices at 0xE000_0000: interrupt controller, system control, timers, MPU.

mod nvic;
mod systick;

pub(crate) use nvic::{Nvic, number};
pub(crate) use systick::SysTick;

use crate::memory::Memory;
use crate::memory::mpu::Mpu;

/// CFSR's bits (B3.2.15).
pub(crate) mod cfsr {
    pub(crate) const IACCVIOL: u32 = 1;
    pub(crate) const DACCVIOL: u32 = 1 << 1;
    pub(crate) const MMARVALID: u32 = 1 << 7;
    pub(crate) const PRECISERR: u32 = 1 << 9;
    pub(crate) const BFARVALID: u32 = 1 << 15;
    pub(crate) const UNDEFINSTR: u32 = 1 << 16;
    pub(crate) const INVSTATE: u32 = 1 << 17;
    pub(crate) const NOCP: u32 = 1 << 19;
    pub(crate) const UNALIGNED: u32 = 1 << 24;
    pub(crate) const DIVBYZERO: u32 = 1 << 25;
}

/// The further effect of a register write.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    None,
    /// The MPU or the caches changed.
    Memory,
    /// AIRCR: reset.
    Reset,
}

/// The registers.
#[derive(Default)]
pub(crate) struct System {
    pub(crate) nvic: Nvic,
    pub(crate) systick: SysTick,
    pub(crate) mpu: Mpu,
    pub(crate) vtor: u32,
    pub(crate) cfsr: u32,
    pub(crate) hfsr: u32,
    pub(crate) fault_address: u32,
    pub(crate) handlers: u32,
    ccr: u32,
    scr: u32,
    cpacr: u32,
    csselr: u32,
    demcr: u32,
    fpccr: u32,
    dwt_control: u32,
    /// The value that CYCCNT was set to, minus the cycle at which it was set.
    cycle_offset: u32,
    tcm: [u32; 2],
}

/// CCR: caches and branch prediction.
const DATA_CACHE: u32 = 1 << 16;
const INSTRUCTION_CACHE: u32 = 1 << 17;
const DIVISION_TRAP: u32 = 1 << 4;

impl System {
    pub(crate) fn new() -> Self {
        // On a Cortex-M7, STKALIGN and branch prediction are always on. TCMs are enabled after reset, and so
        // is lazy stacking of floating-point registers.
        System { ccr: 1 << 9 | 1 << 18, tcm: [1; 2], fpccr: 3 << 30, ..System::default() }
    }

    pub(crate) fn traps_division(&self) -> bool {
        self.ccr & DIVISION_TRAP != 0
    }

    pub(crate) fn allows_float(&self) -> bool {
        self.cpacr >> 20 & 3 != 0
    }

    /// The cycle counter at cycle `now`. It stands still while it is off.
    pub(crate) fn cycle_count(&self, now: u64) -> u32 {
        let on = self.dwt_control & 1 != 0 && self.demcr >> 24 & 1 != 0;
        if on { (now as u32).wrapping_add(self.cycle_offset) } else { self.cycle_offset }
    }

    /// Reads the word at `address`.
    pub(crate) fn read(&mut self, address: u32, now: u64, memory: &Memory, active: u16) -> u32 {
        match address {
            0xE000_1000 => 4 << 28 | self.dwt_control,
            0xE000_1004 => self.cycle_count(now),
            0xE000_E004 => 7,
            0xE000_E010..0xE000_E020 => self.systick.read(address & 0xF, now),
            0xE000_E100..0xE000_E600 => self.nvic.read(address - 0xE000_E000),
            0xE000_ED00 => 0x411F_C272,
            0xE000_ED04 => self.nvic.state(active),
            0xE000_ED08 => self.vtor,
            0xE000_ED0C => 0xFA05_0000 | self.nvic.grouping << 8,
            0xE000_ED10 => self.scr,
            0xE000_ED14 => self.ccr,
            0xE000_ED18..0xE000_ED24 => self.nvic.system_priorities(address - 0xE000_ED18),
            0xE000_ED24 => self.handlers & 0x0007_0000 | self.nvic.handler_state(),
            0xE000_ED28 => self.cfsr,
            0xE000_ED2C => self.hfsr,
            0xE000_ED34 | 0xE000_ED38 => self.fault_address,
            0xE000_ED78 => 0x0900_0003,
            0xE000_ED7C => 0x8303_C003,
            0xE000_ED80 if self.csselr & 1 != 0 => memory.instructions.size_id(),
            0xE000_ED80 => memory.data.size_id(),
            0xE000_ED84 => self.csselr,
            0xE000_ED88 => self.cpacr,
            0xE000_ED90..0xE000_EDBC => self.mpu.read(address - 0xE000_ED90),
            0xE000_EDFC => self.demcr,
            0xE000_EF34 => self.fpccr,
            0xE000_EF40 => 0x1011_0221,
            0xE000_EF44 => 0x1200_0011,
            0xE000_EF48 => 0x40,
            0xE000_EF90 | 0xE000_EF94 => self.tcm[(address >> 2 & 1) as usize],
            _ => 0,
        }
    }

    /// Writes the word at `address`.
    pub(crate) fn write(
        &mut self,
        address: u32,
        value: u32,
        now: u64,
        memory: &mut Memory,
    ) -> Effect {
        match address {
            0xE000_1000 => {
                // The count is kept when the counter is switched off or on.
                let count = self.cycle_count(now);
                self.dwt_control = value & 1;
                self.set_cycle_count(count, now);
            }
            0xE000_1004 => self.set_cycle_count(value, now),
            0xE000_EDFC => {
                let count = self.cycle_count(now);
                self.demcr = value;
                self.set_cycle_count(count, now);
            }
            0xE000_E010..0xE000_E020 => self.systick.write(address & 0xF, value, now),
            0xE000_E100..0xE000_E600 => self.nvic.write(address - 0xE000_E000, value),
            0xE000_EF00 => self.nvic.pend(16 + (value & 0x1FF) as u16),
            0xE000_ED04 => self.nvic.write_state(value),
            0xE000_ED08 => self.vtor = value & !0x7F,
            0xE000_ED0C if value >> 16 == 0x05FA => {
                self.nvic.grouping = value >> 8 & 7;
                if value & 4 != 0 {
                    return Effect::Reset;
                }
            }
            0xE000_ED10 => self.scr = value & 0x16,
            0xE000_ED14 => {
                self.ccr = value | 1 << 9 | 1 << 18;
                memory.enable_caches(value & DATA_CACHE != 0, value & INSTRUCTION_CACHE != 0);
                return Effect::Memory;
            }
            0xE000_ED18..0xE000_ED24 => {
                self.nvic.set_system_priorities(address - 0xE000_ED18, value);
            }
            0xE000_ED24 => self.handlers = value & 0x0007_0000,
            0xE000_ED28 => self.cfsr &= !value,
            0xE000_ED2C => self.hfsr &= !value,
            0xE000_ED84 => self.csselr = value & 0xF,
            0xE000_ED88 => self.cpacr = value,
            0xE000_ED90..0xE000_EDBC => {
                self.mpu.write(address - 0xE000_ED90, value);
                return Effect::Memory;
            }
            0xE000_EF34 => self.fpccr = value,
            0xE000_EF50..0xE000_EF7C => maintain(memory, address & 0xFF, value),
            0xE000_EF90 | 0xE000_EF94 => self.tcm[(address >> 2 & 1) as usize] = value,
            _ => {}
        }
        Effect::None
    }

    fn set_cycle_count(&mut self, count: u32, now: u64) {
        let on = self.dwt_control & 1 != 0 && self.demcr >> 24 & 1 != 0;
        self.cycle_offset = if on { count.wrapping_sub(now as u32) } else { count };
    }
}

/// Cache maintenance (B2.2.7).
fn maintain(memory: &mut Memory, register: u32, value: u32) {
    let written = match register {
        0x50 => {
            memory.instructions.invalidate();
            false
        }
        0x58 => memory.instructions.maintain(value, false, true),
        0x5C => memory.data.maintain(value, false, true),
        0x60 => memory.data.maintain_way(value, false, true),
        0x64 | 0x68 => memory.data.maintain(value, true, false),
        0x6C => memory.data.maintain_way(value, true, false),
        0x70 => memory.data.maintain(value, true, true),
        0x74 => memory.data.maintain_way(value, true, true),
        _ => false,
    };
    memory.settle();
    match register {
        0x5C | 0x70 => memory.check_maintenance(value, true, true),
        0x60 | 0x74 => memory.check_maintenance(value, false, true),
        0x64 | 0x68 => memory.check_maintenance(value, true, false),
        0x6C => memory.check_maintenance(value, false, false),
        _ => {}
    }
    if written {
        memory.write_line_back();
    }
}
