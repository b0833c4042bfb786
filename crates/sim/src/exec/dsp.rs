//! Division, extension, packing, saturation and parallel sums.

use super::Done;
use super::alu::shift_by;
use crate::decode::parallel_bits::{HALVING, SATURATING, UNSIGNED};
use crate::fault::{Exit, Fault};
use crate::insn::{Insn, Op};
use crate::machine::Machine;

fn join(low: u32, high: u32) -> u32 {
    low & 0xFFFF | high << 16
}

impl Machine {
    #[rustfmt::skip]
    pub(super) fn dsp(&mut self, i: &Insn) -> Done {
        let (n, m) = (self.reg(i.rn), self.reg(i.rm));
        let rotated = m.rotate_right(u32::from(i.amount));
        let (low, high) = (n, n >> 16);
        let value = match i.op {
            Op::Udiv => self.divide(m, n.checked_div(m))?,
            Op::Sdiv => self.divide(m, (m != 0).then(|| (n as i32).wrapping_div(m as i32) as u32))?,
            Op::Uxtab => n.wrapping_add(rotated & 0xFF),
            Op::Uxtah => n.wrapping_add(rotated & 0xFFFF),
            Op::Sxtab => n.wrapping_add(rotated as i8 as u32),
            Op::Sxtah => n.wrapping_add(rotated as i16 as u32),
            Op::Uxtb16 => rotated & 0x00FF_00FF,
            Op::Sxtb16 => join(rotated as i8 as u32, (rotated >> 16) as i8 as u32),
            Op::Uxtab16 => {
                let (a, b) = (rotated & 0xFF, rotated >> 16 & 0xFF);
                join(low.wrapping_add(a), high.wrapping_add(b))
            }
            Op::Sxtab16 => {
                let (a, b) = (rotated as i8 as u32, (rotated >> 16) as i8 as u32);
                join(low.wrapping_add(a), high.wrapping_add(b))
            }
            Op::Pkhbt => join(n, shift_by(m, i.shift, u32::from(i.amount), false).0 >> 16),
            Op::Pkhtb => join(shift_by(m, i.shift, u32::from(i.amount), false).0, high),
            Op::Sel => self.select(n, m),
            Op::Ssat => {
                let value = shift_by(n, i.shift, u32::from(i.amount), false).0 as i32;
                self.saturate(i64::from(value), i.imm, true)
            }
            Op::Usat => {
                let value = shift_by(n, i.shift, u32::from(i.amount), false).0 as i32;
                self.saturate(i64::from(value), i.imm, false)
            }
            Op::Ssat16 | Op::Usat16 => {
                let signed = i.op == Op::Ssat16;
                let low = self.saturate(i64::from(n as i16), i.imm, signed);
                let high = self.saturate(i64::from((n >> 16) as i16), i.imm, signed);
                join(low, high)
            }
            Op::Qadd => self.saturate(wide(m) + wide(n), 32, true),
            Op::Qsub => self.saturate(wide(m) - wide(n), 32, true),
            Op::Qdadd => {
                let doubled = self.saturate(2 * wide(n), 32, true);
                self.saturate(wide(m) + wide(doubled), 32, true)
            }
            Op::Qdsub => {
                let doubled = self.saturate(2 * wide(n), 32, true);
                self.saturate(wide(m) - wide(doubled), 32, true)
            }
            Op::Parallel => self.parallel(i.imm, n, m),
            _ => return Err(Exit::Unknown),
        };
        self.give(i, value)
    }

    fn divide(&self, by: u32, quotient: Option<u32>) -> Result<u32, Exit> {
        match quotient {
            None if by == 0 && self.system.traps_division() => {
                Err(Exit::Fault(Fault::DivisionByZero))
            }
            quotient => Ok(quotient.unwrap_or(0)),
        }
    }

    fn saturate(&mut self, value: i64, width: u32, signed: bool) -> u32 {
        let (least, most) = if signed {
            (-(1i64 << (width - 1)), (1i64 << (width - 1)) - 1)
        } else {
            (0, (1i64 << width) - 1)
        };
        let kept = value.clamp(least, most);
        self.q |= kept != value;
        kept as u32
    }

    fn select(&self, n: u32, m: u32) -> u32 {
        (0..4).fold(0, |word, byte| {
            let from = if self.ge >> byte & 1 != 0 { n } else { m };
            word | from & 0xFF << (byte * 8)
        })
    }

    /// Parallel sums of halfwords or bytes. Each sets its GE bits, unless sums saturate or are halved.
    fn parallel(&mut self, form: u32, n: u32, m: u32) -> u32 {
        let unsigned = form & UNSIGNED != 0;
        let bytes = form & 7 >= 4;
        let width = if bytes { 8 } else { 16 };
        let lanes = 32 / width;
        let lane = |word: u32, index: u32| {
            let bits = word >> (index * width) & (u32::MAX >> (32 - width));
            let left = 32 - width;
            if unsigned { bits as i32 } else { (bits << left) as i32 >> left }
        };
        let mut result = 0;
        let mut ge = 0;
        for index in 0..lanes {
            let (other, minus) = partner(form & 7, index);
            let (a, b) = (lane(n, index), lane(m, other));
            let sum = if minus { a - b } else { a + b };
            let kept = finish(form, sum, width);
            result |= (kept as u32 & (u32::MAX >> (32 - width))) << (index * width);
            let reached = if unsigned && !minus { sum >= 1 << width } else { sum >= 0 };
            let mask = if bytes { 1 } else { 3 };
            ge |= (u8::from(reached) * mask) << (index * width / 8);
        }
        if form & (SATURATING | HALVING) == 0 {
            self.ge = ge;
        }
        result
    }
}

fn wide(word: u32) -> i64 {
    i64::from(word as i32)
}

/// The lane of the other operand that belongs to lane `index`, and whether it is subtracted.
fn partner(sum: u32, index: u32) -> (u32, bool) {
    match sum {
        // ASX: low minus high, high plus low. SAX: the reverse.
        1 => (1 - index, index == 0),
        2 => (1 - index, index == 1),
        3 | 5 => (index, true),
        _ => (index, false),
    }
}

fn finish(form: u32, sum: i32, width: u32) -> i32 {
    if form & HALVING != 0 {
        return sum >> 1;
    }
    if form & SATURATING == 0 {
        return sum;
    }
    if form & UNSIGNED != 0 {
        sum.clamp(0, (1 << width) - 1)
    } else {
        sum.clamp(-(1 << (width - 1)), (1 << (width - 1)) - 1)
    }
}
