//! Loads and stores, except for the simplest.

use super::Done;
use crate::decode::{BELOW, WRITE_BACK};
use crate::fault::{Exit, Fault};
use crate::insn::{Address, Insn, Op};
use crate::machine::Machine;

impl Machine {
    #[inline(always)]
    pub(crate) fn read32(&mut self, address: u32) -> Result<u32, Exit> {
        match self.memory.read::<4>(address, &self.timing) {
            Some(bytes) => Ok(u32::from_le_bytes(bytes)),
            None => self.read_elsewhere(address, 4),
        }
    }

    #[inline(always)]
    pub(crate) fn read16(&mut self, address: u32) -> Result<u32, Exit> {
        match self.memory.read::<2>(address, &self.timing) {
            Some(bytes) => Ok(u32::from(u16::from_le_bytes(bytes))),
            None => self.read_elsewhere(address, 2),
        }
    }

    #[inline(always)]
    pub(crate) fn read8(&mut self, address: u32) -> Result<u32, Exit> {
        match self.memory.read::<1>(address, &self.timing) {
            Some([byte]) => Ok(u32::from(byte)),
            None => self.read_elsewhere(address, 1),
        }
    }

    #[inline(always)]
    pub(crate) fn write32(&mut self, address: u32, value: u32) -> Done {
        if self.memory.write(address, value.to_le_bytes(), &self.timing) {
            return Ok(());
        }
        self.write_elsewhere(address, 4, value)
    }

    #[inline(always)]
    pub(crate) fn write16(&mut self, address: u32, value: u32) -> Done {
        if self.memory.write(address, (value as u16).to_le_bytes(), &self.timing) {
            return Ok(());
        }
        self.write_elsewhere(address, 2, value)
    }

    #[inline(always)]
    pub(crate) fn write8(&mut self, address: u32, value: u32) -> Done {
        if self.memory.write(address, [value as u8], &self.timing) {
            return Ok(());
        }
        self.write_elsewhere(address, 1, value)
    }

    /// Reads a word in an access that must always be aligned, regardless of CCR: multiples, pairs,
    /// exclusives.
    pub(super) fn read_aligned(&mut self, address: u32) -> Result<u32, Exit> {
        aligned(address, 4)?;
        self.read32(address)
    }

    pub(super) fn write_aligned(&mut self, address: u32, value: u32) -> Done {
        aligned(address, 4)?;
        self.write32(address, value)
    }

    /// The address of an access, and the new value of the base register.
    fn addressed(&self, i: &Insn) -> (u32, u32) {
        let base = self.reg(i.rn);
        let moved = base.wrapping_add(i.imm);
        match i.shift {
            form if form == Address::Post as u8 => (base, moved),
            form if form == Address::Register as u8 => {
                (base.wrapping_add(self.reg(i.rm) << i.amount), base)
            }
            form if form == Address::Pre as u8 => (moved, moved),
            _ => (moved, base),
        }
    }

    pub(super) fn load_written(&mut self, i: &Insn) -> Done {
        let (address, base) = self.addressed(i);
        let value = match i.op {
            Op::LdrW => self.read32(address)?,
            Op::LdrbW => self.read8(address)?,
            Op::LdrhW => self.read16(address)?,
            Op::LdrsbW => self.read8(address)? as i8 as u32,
            _ => self.read16(address)? as i16 as u32,
        };
        self.set(i.rn, base);
        self.give(i, value)
    }

    pub(super) fn store_written(&mut self, i: &Insn) -> Done {
        let (address, base) = self.addressed(i);
        let value = self.reg(i.rd);
        match i.op {
            Op::StrW => self.write32(address, value)?,
            Op::StrbW => self.write8(address, value)?,
            _ => self.write16(address, value)?,
        }
        self.set(i.rn, base);
        Ok(())
    }

    pub(super) fn load_pc(&mut self, i: &Insn) -> Done {
        let (address, base) = self.addressed(i);
        let target = self.read32(address)?;
        if i.shift == Address::Pre as u8 || i.shift == Address::Post as u8 {
            self.set(i.rn, base);
        }
        self.exchange(target, i.rn == 13)
    }

    pub(super) fn load_two(&mut self, i: &Insn) -> Done {
        let (address, base) = self.addressed(i);
        let first = self.read_aligned(address)?;
        let second = self.read_aligned(address.wrapping_add(4))?;
        if i.shift != Address::Offset as u8 {
            self.set(i.rn, base);
        }
        self.set(i.rd, first);
        self.set(i.ra, second);
        Ok(())
    }

    pub(super) fn store_two(&mut self, i: &Insn) -> Done {
        let (address, base) = self.addressed(i);
        self.write_aligned(address, self.reg(i.rd))?;
        self.write_aligned(address.wrapping_add(4), self.reg(i.ra))?;
        if i.shift != Address::Offset as u8 {
            self.set(i.rn, base);
        }
        Ok(())
    }

    /// The address of the lowest register of a load or store multiple, and the new value of the base.
    pub(super) fn multiple(&self, i: &Insn, words: u32) -> (u32, u32) {
        let (base, form) = (self.reg(i.rn), u32::from(i.ra));
        let (low, moved) = if form & BELOW != 0 {
            let below = base.wrapping_sub(words * 4);
            (below, below)
        } else {
            (base, base.wrapping_add(words * 4))
        };
        (low, if form & WRITE_BACK != 0 { moved } else { base })
    }

    pub(super) fn load_many(&mut self, i: &Insn) -> Done {
        let (mut address, base) = self.multiple(i, i.imm.count_ones());
        let mut values = [0; 16];
        for (register, value) in values.iter_mut().enumerate() {
            if i.imm >> register & 1 != 0 {
                *value = self.read_aligned(address)?;
                address = address.wrapping_add(4);
            }
        }
        self.set(i.rn, base);
        for register in (0..15).filter(|r| i.imm >> r & 1 != 0) {
            self.r[register] = values[register];
        }
        if i.imm >> 15 != 0 {
            return self.exchange(values[15], i.rn == 13);
        }
        Ok(())
    }

    pub(super) fn store_many(&mut self, i: &Insn) -> Done {
        let (mut address, base) = self.multiple(i, i.imm.count_ones());
        for register in (0..15).filter(|r| i.imm >> r & 1 != 0) {
            self.write_aligned(address, self.r[register])?;
            address = address.wrapping_add(4);
        }
        self.set(i.rn, base);
        Ok(())
    }
}

pub(super) fn aligned(address: u32, size: u32) -> Done {
    if address & (size - 1) == 0 { Ok(()) } else { Err(Exit::Fault(Fault::Unaligned(address))) }
}
