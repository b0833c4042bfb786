//! Branches, system registers, hints, exclusive accesses.

use super::Done;
use super::load_store::aligned;
use crate::fault::{Exit, Fault};
use crate::insn::{Insn, Op, bit};
use crate::machine::{Machine, Went};

/// Only Thumb code can be executed, which bit 0 of a branch target must indicate.
fn thumb(target: u32) -> Done {
    if target & 1 == 1 { Ok(()) } else { Err(Exit::Fault(Fault::State(target))) }
}

impl Machine {
    /// The address of the instruction being executed.
    #[inline(always)]
    pub(crate) fn here(&self) -> u32 {
        self.r[15].wrapping_sub(4)
    }

    #[inline(always)]
    pub(super) fn goes_to(&mut self, target: u32, hit: bool, on_flags: bool) {
        if target == self.here() {
            self.memory.look();
        }
        self.next = target;
        self.went = Went { branched: true, taken: true, hit, on_flags };
    }

    #[inline(always)]
    pub(super) fn conditional(&mut self, i: &Insn, taken: bool, on_flags: bool) {
        let hit = self.timing.predictor.conditional(self.here(), i.imm, taken);
        if taken {
            self.goes_to(i.imm, hit, on_flags);
        } else {
            self.went = Went { branched: true, taken: false, hit, on_flags };
        }
    }

    /// BL and BLX: `target` has the Thumb bit.
    pub(super) fn call(&mut self, target: u32, direct: bool) -> Done {
        thumb(target)?;
        let (here, back) = (self.here(), self.next);
        self.set(14, back | 1);
        self.timing.predictor.call(back);
        let hit = direct || self.timing.predictor.indirect(here, target);
        self.calls.push(back, self.r[13], target & !1);
        self.goes_to(target & !1, hit, false);
        Ok(())
    }

    /// BX and loads of PC, which may return from a function or an exception.
    pub(super) fn exchange(&mut self, target: u32, returns: bool) -> Done {
        if target >= 0xF000_0000 && self.exception != 0 {
            return Err(Exit::ExceptionReturn(target));
        }
        thumb(target)?;
        let address = target & !1;
        let here = self.here();
        let hit = if returns {
            self.timing.predictor.back(address)
        } else {
            self.timing.predictor.indirect(here, address)
        };
        self.returned = true;
        self.goes_to(address, hit, false);
        Ok(())
    }

    /// A branch by a write to PC.
    pub(super) fn jump(&mut self, target: u32) -> Done {
        let here = self.here();
        let hit = self.timing.predictor.indirect(here, target & !1);
        self.goes_to(target & !1, hit, false);
        Ok(())
    }

    pub(super) fn control(&mut self, i: &Insn) -> Done {
        let (n, m) = (self.reg(i.rn), self.reg(i.rm));
        match i.op {
            Op::Tbb => {
                let step = self.read8(n.wrapping_add(m))?;
                self.jump(self.r[15].wrapping_add(step * 2))
            }
            Op::Tbh => {
                let step = self.read16(n.wrapping_add(m << 1))?;
                self.jump(self.r[15].wrapping_add(step * 2))
            }
            Op::Isb => {
                self.timing.drain(0);
                Ok(())
            }
            Op::Dmb | Op::Dsb | Op::Pld | Op::Sev => Ok(()),
            Op::Wfi => Err(Exit::Wait),
            Op::Wfe => Ok(()),
            Op::Dbg => {
                self.mark(i.imm);
                Ok(())
            }
            Op::Svc => Err(Exit::SupervisorCall),
            Op::Bkpt => Err(Exit::Breakpoint(i.imm as u8)),
            Op::Udf => Err(Exit::Fault(Fault::Undefined)),
            Op::Cps => {
                self.change_masks(i.imm);
                Ok(())
            }
            Op::Mrs => {
                let value = self.special_register(i.imm);
                self.give(i, value)
            }
            Op::Msr => {
                self.set_special_register(i.imm, u32::from(i.ra), n);
                Ok(())
            }
            _ => self.exclusive(i, n),
        }
    }

    fn exclusive(&mut self, i: &Insn, base: u32) -> Done {
        let address = base.wrapping_add(if i.imm == 0 { 0 } else { i.imm });
        let size = match i.op {
            Op::Ldrexb | Op::Strexb => 1,
            Op::Ldrexh | Op::Strexh => 2,
            _ => 4,
        };
        if i.op == Op::Clrex {
            self.reserved = None;
            return Ok(());
        }
        aligned(address, size)?;
        if matches!(i.op, Op::Ldrex | Op::Ldrexb | Op::Ldrexh) {
            let value = match size {
                1 => self.read8(address)?,
                2 => self.read16(address)?,
                _ => self.read32(address)?,
            };
            self.reserved = Some(address);
            return self.give(i, value);
        }
        let mine = self.reserved.take() == Some(address);
        if mine {
            let value = self.reg(i.ra);
            match size {
                1 => self.write8(address, value)?,
                2 => self.write16(address, value)?,
                _ => self.write32(address, value)?,
            }
        }
        self.give(i, u32::from(!mine))
    }

    fn change_masks(&mut self, form: u32) {
        if !self.is_privileged() {
            return;
        }
        let on = bit(form, 4);
        if bit(form, 1) {
            self.primask = on;
        }
        if bit(form, 0) {
            self.faultmask = on;
        }
        self.memory.look();
    }

    /// N, Z, C, V from bits 31 to 28.
    pub(crate) fn set_flags(&mut self, word: u32) {
        self.n = word & 1 << 31;
        self.z = u32::from(!bit(word, 30));
        self.c = bit(word, 29);
        self.v = bit(word, 28);
    }

    /// APSR: N, Z, C, V, Q and GE.
    pub(crate) fn flags(&self) -> u32 {
        self.n & 1 << 31
            | u32::from(self.z == 0) << 30
            | u32::from(self.c) << 29
            | u32::from(self.v) << 28
            | u32::from(self.q) << 27
            | u32::from(self.ge) << 16
    }

    /// MRS (B5.2.2).
    fn special_register(&self, number: u32) -> u32 {
        match number {
            0..=7 => {
                let flags = if number & 4 == 0 { self.flags() } else { 0 };
                let exception = if number & 1 != 0 { u32::from(self.exception) } else { 0 };
                flags | exception
            }
            8 => self.stack_pointer(false),
            9 => self.stack_pointer(true),
            16 => u32::from(self.primask),
            17 | 18 => u32::from(self.basepri),
            19 => u32::from(self.faultmask),
            20 => self.control,
            _ => 0,
        }
    }

    /// MSR (B5.2.3).
    fn set_special_register(&mut self, number: u32, mask: u32, value: u32) {
        if number <= 3 {
            if mask & 8 != 0 {
                self.set_flags(value);
                self.q = bit(value, 27);
            }
            if mask & 4 != 0 {
                self.ge = (value >> 16 & 0xF) as u8;
            }
            return;
        }
        if !self.is_privileged() {
            return;
        }
        match number {
            8 => self.set_stack_pointer(false, value),
            9 => self.set_stack_pointer(true, value),
            16 => self.primask = bit(value, 0),
            17 => self.basepri = value as u8,
            18 if value & 0xFF != 0 && (self.basepri == 0 || (value as u8) < self.basepri) => {
                self.basepri = value as u8;
            }
            19 => self.faultmask = bit(value, 0),
            20 => self.set_control(value),
            _ => {}
        }
        self.memory.look();
    }
}
