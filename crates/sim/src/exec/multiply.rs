//! Multiplications of the DSP extension (A7.7).

use super::Done;
use crate::decode::{TOP_M, TOP_N};
use crate::insn::{Insn, Op};
use crate::machine::Machine;

/// The signed product.
fn signed(a: u32, b: u32) -> i64 {
    i64::from(a as i32) * i64::from(b as i32)
}

/// The lower or upper half, sign-extended.
fn half(word: u32, top: bool) -> i64 {
    i64::from(if top { (word >> 16) as i16 } else { word as i16 })
}

impl Machine {
    #[inline(always)]
    pub(super) fn multiply_flags(&mut self, i: &Insn, value: u32) -> Done {
        if i.s {
            (self.n, self.z) = (value, value);
        }
        self.give(i, value)
    }

    /// Separate from the unsigned multiplications: otherwise, all instructions would wait for both operands
    /// to be sign-extended.
    #[inline(never)]
    pub(super) fn multiply_signed(&mut self, i: &Insn) -> Done {
        let product = signed(self.reg(i.rn), self.reg(i.rm)) as u64;
        let start = if i.op == Op::Smlal { self.two(i) } else { 0 };
        self.give_two(i, start.wrapping_add(product))
    }

    /// Writes the lower 32 bits of the sum. Sets Q if it did not fit.
    fn accumulate(&mut self, i: &Insn, value: i64) -> Done {
        self.q |= value != i64::from(value as i32);
        self.give(i, value as u32)
    }

    pub(super) fn multiply(&mut self, i: &Insn) -> Done {
        let (n, m) = (self.reg(i.rn), self.reg(i.rm));
        let a = i64::from(self.reg(i.ra) as i32);
        let exchanged = if i.imm & TOP_M != 0 { m.rotate_left(16) } else { m };
        let (low, high) =
            (half(n, false) * half(exchanged, false), half(n, true) * half(exchanged, true));
        let halves = half(n, i.imm & TOP_N != 0) * half(m, i.imm & TOP_M != 0);
        let wide = (i64::from(n as i32) * half(m, i.imm & TOP_M != 0)) >> 16;
        let rounding = if i.imm & TOP_M != 0 { 1i64 << 31 } else { 0 };
        let top = |sum: i64| (sum.wrapping_add(rounding) >> 32) as u32;
        let long = self.two(i);
        match i.op {
            Op::Smulxy => self.give(i, halves as u32),
            Op::Smlaxy => self.accumulate(i, halves + a),
            Op::Smulwy => self.give(i, wide as u32),
            Op::Smlawy => self.accumulate(i, wide + a),
            Op::Smlalxy => self.give_two(i, long.wrapping_add(halves as u64)),
            Op::Smuad => self.accumulate(i, low + high),
            Op::Smlad => self.accumulate(i, low + high + a),
            Op::Smusd => self.give(i, (low - high) as u32),
            Op::Smlsd => self.accumulate(i, low - high + a),
            Op::Smlald => self.give_two(i, long.wrapping_add((low + high) as u64)),
            Op::Smlsld => self.give_two(i, long.wrapping_add((low - high) as u64)),
            Op::Smmul => self.give(i, top(signed(n, m))),
            Op::Smmla => self.give(i, top((a << 32).wrapping_add(signed(n, m)))),
            Op::Smmls => self.give(i, top((a << 32).wrapping_sub(signed(n, m)))),
            _ => {
                let sum: u32 = n
                    .to_le_bytes()
                    .iter()
                    .zip(m.to_le_bytes())
                    .map(|(x, y)| u32::from(x.abs_diff(y)))
                    .sum();
                let start = if i.op == Op::Usada8 { a as u32 } else { 0 };
                self.give(i, start.wrapping_add(sum))
            }
        }
    }
}
