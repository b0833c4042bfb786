//! The effect of each instruction, with one file per group. The frequent ones are in a jump table here.

mod alu;
mod control;
mod dsp;
mod float;
mod load_store;
mod multiply;
mod softfloat;

use crate::fault::Exit;
use crate::insn::{CARRY_KEPT, Insn, Op, Shift};
use crate::machine::Machine;
pub(crate) use alu::condition_holds;
use alu::{add_with_carry, shift_by};

/// The outcome of an instruction.
pub(crate) type Done = Result<(), Exit>;

impl Machine {
    #[inline(always)]
    pub(crate) fn reg(&self, register: u8) -> u32 {
        self.r[usize::from(register)]
    }

    #[inline(always)]
    pub(crate) fn set(&mut self, register: u8, value: u32) {
        self.r[usize::from(register)] = value;
    }

    /// Executes `i`. `r[15]` contains its address plus four, `next` the address of the instruction after it.
    #[inline(always)]
    #[rustfmt::skip]
    pub(crate) fn execute(&mut self, i: &Insn) -> Done {
        let (n, m) = (self.reg(i.rn), self.reg(i.rm));
        match i.op {
            Op::AndI => self.logical(i, n & i.imm, self.constant_carry(i)),
            Op::BicI => self.logical(i, n & !i.imm, self.constant_carry(i)),
            Op::OrrI => self.logical(i, n | i.imm, self.constant_carry(i)),
            Op::OrnI => self.logical(i, n | !i.imm, self.constant_carry(i)),
            Op::EorI => self.logical(i, n ^ i.imm, self.constant_carry(i)),
            Op::MovI => self.logical(i, i.imm, self.constant_carry(i)),
            Op::MvnI => self.logical(i, !i.imm, self.constant_carry(i)),
            Op::AndR => self.logical(i, n & m, self.c),
            Op::BicR => self.logical(i, n & !m, self.c),
            Op::OrrR => self.logical(i, n | m, self.c),
            Op::OrnR => self.logical(i, n | !m, self.c),
            Op::EorR => self.logical(i, n ^ m, self.c),
            Op::MovR => self.logical(i, m, self.c),
            Op::MvnR => self.logical(i, !m, self.c),
            Op::AndS => { let (m, c) = self.shifted(i, m); self.logical(i, n & m, c) }
            Op::BicS => { let (m, c) = self.shifted(i, m); self.logical(i, n & !m, c) }
            Op::OrrS => { let (m, c) = self.shifted(i, m); self.logical(i, n | m, c) }
            Op::OrnS => { let (m, c) = self.shifted(i, m); self.logical(i, n | !m, c) }
            Op::EorS => { let (m, c) = self.shifted(i, m); self.logical(i, n ^ m, c) }
            Op::MovS => { let (m, c) = self.shifted(i, m); self.logical(i, m, c) }
            Op::MvnS => { let (m, c) = self.shifted(i, m); self.logical(i, !m, c) }
            Op::AddI => self.sum(i, n, i.imm, false),
            Op::AdcI => self.sum(i, n, i.imm, self.c),
            Op::SubI => self.sum(i, n, !i.imm, true),
            Op::SbcI => self.sum(i, n, !i.imm, self.c),
            Op::RsbI => self.sum(i, !n, i.imm, true),
            Op::AddR => self.sum(i, n, m, false),
            Op::AdcR => self.sum(i, n, m, self.c),
            Op::SubR => self.sum(i, n, !m, true),
            Op::SbcR => self.sum(i, n, !m, self.c),
            Op::RsbR => self.sum(i, !n, m, true),
            Op::AddS => { let (m, _) = self.shifted(i, m); self.sum(i, n, m, false) }
            Op::AdcS => { let (m, _) = self.shifted(i, m); self.sum(i, n, m, self.c) }
            Op::SubS => { let (m, _) = self.shifted(i, m); self.sum(i, n, !m, true) }
            Op::SbcS => { let (m, _) = self.shifted(i, m); self.sum(i, n, !m, self.c) }
            Op::RsbS => { let (m, _) = self.shifted(i, m); self.sum(i, !n, m, true) }
            Op::LslReg => self.shift(i, n, Shift::Lsl, m),
            Op::LsrReg => self.shift(i, n, Shift::Lsr, m),
            Op::AsrReg => self.shift(i, n, Shift::Asr, m),
            Op::RorReg => self.shift(i, n, Shift::Ror, m),
            Op::Movt => { self.set(i.rd, n & 0xFFFF | i.imm << 16); Ok(()) }
            Op::AddPc => self.jump(n.wrapping_add(m)),
            Op::MovPc => self.jump(m),
            Op::LdrI => { let v = self.read32(n.wrapping_add(i.imm))?; self.give(i, v) }
            Op::LdrR => { let v = self.read32(n.wrapping_add(m << i.amount))?; self.give(i, v) }
            Op::LdrbI => { let v = self.read8(n.wrapping_add(i.imm))?; self.give(i, v) }
            Op::LdrbR => { let v = self.read8(n.wrapping_add(m << i.amount))?; self.give(i, v) }
            Op::LdrhI => { let v = self.read16(n.wrapping_add(i.imm))?; self.give(i, v) }
            Op::LdrhR => { let v = self.read16(n.wrapping_add(m << i.amount))?; self.give(i, v) }
            Op::LdrsbI => {
                let v = self.read8(n.wrapping_add(i.imm))?;
                self.give(i, v as i8 as u32)
            }
            Op::LdrsbR => {
                let v = self.read8(n.wrapping_add(m << i.amount))?;
                self.give(i, v as i8 as u32)
            }
            Op::LdrshI => {
                let v = self.read16(n.wrapping_add(i.imm))?;
                self.give(i, v as i16 as u32)
            }
            Op::LdrshR => {
                let v = self.read16(n.wrapping_add(m << i.amount))?;
                self.give(i, v as i16 as u32)
            }
            Op::LdrLit => { let v = self.read32(i.imm)?; self.give(i, v) }
            Op::StrI => self.write32(n.wrapping_add(i.imm), self.reg(i.rd)),
            Op::StrR => self.write32(n.wrapping_add(m << i.amount), self.reg(i.rd)),
            Op::StrbI => self.write8(n.wrapping_add(i.imm), self.reg(i.rd)),
            Op::StrbR => self.write8(n.wrapping_add(m << i.amount), self.reg(i.rd)),
            Op::StrhI => self.write16(n.wrapping_add(i.imm), self.reg(i.rd)),
            Op::StrhR => self.write16(n.wrapping_add(m << i.amount), self.reg(i.rd)),
            Op::LdrW | Op::LdrbW | Op::LdrhW | Op::LdrsbW | Op::LdrshW => self.load_written(i),
            Op::StrW | Op::StrbW | Op::StrhW => self.store_written(i),
            Op::LdrbLit => { let v = self.read8(i.imm)?; self.give(i, v) }
            Op::LdrhLit => { let v = self.read16(i.imm)?; self.give(i, v) }
            Op::LdrsbLit => { let v = self.read8(i.imm)?; self.give(i, v as i8 as u32) }
            Op::LdrshLit => { let v = self.read16(i.imm)?; self.give(i, v as i16 as u32) }
            Op::LdrPc => self.load_pc(i),
            Op::Ldrd => self.load_two(i),
            Op::Strd => self.store_two(i),
            Op::Ldm => self.load_many(i),
            Op::Stm => self.store_many(i),
            Op::B => { self.goes_to(i.imm, true, false); Ok(()) }
            Op::Bcond => { self.conditional(i, condition_holds(i.ra, self), true); Ok(()) }
            Op::Cbz => { self.conditional(i, n == 0, false); Ok(()) }
            Op::Cbnz => { self.conditional(i, n != 0, false); Ok(()) }
            Op::Bl => self.call(i.imm | 1, true),
            Op::BlxReg => self.call(m, false),
            Op::Bx => self.exchange(m, i.rm == 14),
            Op::It => { self.it = i.imm as u8; Ok(()) }
            Op::Mul => self.multiply_flags(i, n.wrapping_mul(m)),
            Op::Mla => self.give(i, n.wrapping_mul(m).wrapping_add(self.reg(i.ra))),
            Op::Mls => self.give(i, self.reg(i.ra).wrapping_sub(n.wrapping_mul(m))),
            Op::Umull => self.give_two(i, u64::from(n) * u64::from(m)),
            Op::Smull | Op::Smlal => self.multiply_signed(i),
            Op::Umlal => self.give_two(i, self.two(i).wrapping_add(u64::from(n) * u64::from(m))),
            Op::Umaal => {
                let sum = u64::from(self.reg(i.rd)) + u64::from(self.reg(i.ra));
                self.give_two(i, u64::from(n) * u64::from(m) + sum)
            }
            Op::Ubfx => self.give(i, n >> i.imm & u32::MAX >> (32 - u32::from(i.ra))),
            Op::Sbfx => {
                let left = 32 - i.imm - u32::from(i.ra);
                self.give(i, ((n << left) as i32 >> (32 - u32::from(i.ra))) as u32)
            }
            Op::Bfi | Op::Bfc => {
                let mask = (u32::MAX >> (32 - u32::from(i.ra))) << i.imm;
                let field = if i.op == Op::Bfi { n << i.imm & mask } else { 0 };
                self.give(i, self.reg(i.rd) & !mask | field)
            }
            Op::Clz => self.give(i, m.leading_zeros()),
            Op::Rbit => self.give(i, m.reverse_bits()),
            Op::Rev => self.give(i, m.swap_bytes()),
            Op::Rev16 => self.give(i, m.swap_bytes().rotate_left(16)),
            Op::Revsh => self.give(i, (m as u16).swap_bytes() as i16 as u32),
            Op::Uxtb => self.give(i, m.rotate_right(u32::from(i.amount)) & 0xFF),
            Op::Uxth => self.give(i, m.rotate_right(u32::from(i.amount)) & 0xFFFF),
            Op::Sxtb => self.give(i, m.rotate_right(u32::from(i.amount)) as i8 as u32),
            Op::Sxth => self.give(i, m.rotate_right(u32::from(i.amount)) as i16 as u32),
            Op::Nop => Ok(()),
            _ => self.execute_rare(i),
        }
    }

    #[inline(always)]
    fn constant_carry(&self, i: &Insn) -> bool {
        if i.carry == CARRY_KEPT { self.c } else { i.carry == 1 }
    }

    #[inline(always)]
    fn logical(&mut self, i: &Insn, value: u32, carry: bool) -> Done {
        if i.s {
            (self.n, self.z, self.c) = (value, value, carry);
        }
        self.give(i, value)
    }

    #[inline(always)]
    fn shifted(&self, i: &Insn, value: u32) -> (u32, bool) {
        shift_by(value, i.shift, u32::from(i.amount), self.c)
    }

    #[inline(always)]
    fn sum(&mut self, i: &Insn, a: u32, b: u32, carry: bool) -> Done {
        if i.s {
            let (value, c, v) = add_with_carry(a, b, carry);
            (self.n, self.z, self.c, self.v) = (value, value, c, v);
            self.give(i, value)
        } else {
            self.give(i, a.wrapping_add(b).wrapping_add(u32::from(carry)))
        }
    }

    fn shift(&mut self, i: &Insn, value: u32, kind: Shift, by: u32) -> Done {
        let (value, carry) = shift_by(value, kind as u8, by & 0xFF, self.c);
        self.logical(i, value, carry)
    }

    #[inline(always)]
    pub(crate) fn give(&mut self, i: &Insn, value: u32) -> Done {
        self.set(i.rd, value);
        Ok(())
    }

    fn give_two(&mut self, i: &Insn, value: u64) -> Done {
        self.set(i.rd, value as u32);
        self.set(i.ra, (value >> 32) as u32);
        Ok(())
    }

    fn two(&self, i: &Insn) -> u64 {
        u64::from(self.reg(i.ra)) << 32 | u64::from(self.reg(i.rd))
    }

    #[inline(never)]
    fn execute_rare(&mut self, i: &Insn) -> Done {
        use Op::*;
        match i.op {
            Tbb | Tbh | Dmb | Dsb | Isb | Pld | Wfi | Wfe | Sev | Dbg | Cps | Mrs | Msr | Svc
            | Bkpt | Udf | Clrex | Ldrex | Ldrexb | Ldrexh | Strex | Strexb | Strexh => {
                self.control(i)
            }
            Unknown => Err(Exit::Unknown),
            Pending => Err(Exit::Pending),
            op if op as u8 >= Vldr as u8 => self.float(i),
            op if (Smulxy as u8..=Usada8 as u8).contains(&(op as u8)) => self.multiply(i),
            _ => self.dsp(i),
        }
    }
}
