//! The floating-point extension.

use super::softfloat::{double, from_half, single, to_half};
use super::{Done, condition_holds};
use crate::decode::{LONG, SIGNED, TO_CORE, TO_FIXED, TO_HALF, TOP};
use crate::fault::{Exit, Fault};
use crate::insn::{Insn, Op};
use crate::machine::Machine;

/// FPSCR: replace every NaN by the default NaN.
const DEFAULT_NAN: u32 = 1 << 25;
/// FPSCR: flush to zero, a rounding mode other than to nearest, alternative half precision. Not simulated.
const OTHER_ARITHMETIC: u32 = 1 << 24 | 3 << 22 | 1 << 26;

/// One operation, for singles and for doubles.
macro_rules! by_width {
    ($self:ident, $i:ident, |$module:ident, $d:ident, $n:ident, $m:ident| $value:expr) => {
        if $i.s {
            use double as $module;
            let ($d, $n, $m) = ($self.double($i.rd), $self.double($i.rn), $self.double($i.rm));
            let _ = ($d, $n, $m);
            let value = $value;
            $self.set_double($i.rd, value);
        } else {
            use single as $module;
            let ($d, $n, $m) = ($self.single($i.rd), $self.single($i.rn), $self.single($i.rm));
            let _ = ($d, $n, $m);
            let value = $value;
            $self.set_single($i.rd, value);
        }
    };
}

impl Machine {
    fn single(&self, register: u8) -> u32 {
        self.s[usize::from(register & 31)]
    }

    fn set_single(&mut self, register: u8, bits: u32) {
        self.s[usize::from(register & 31)] = bits;
    }

    fn double(&self, register: u8) -> u64 {
        u64::from(self.single(register | 1)) << 32 | u64::from(self.single(register & !1))
    }

    fn set_double(&mut self, register: u8, bits: u64) {
        self.set_single(register & !1, bits as u32);
        self.set_single(register | 1, (bits >> 32) as u32);
    }

    /// Executes a floating-point instruction if CPACR allows it.
    pub(super) fn float(&mut self, i: &Insn) -> Done {
        if !self.system.allows_float() {
            return Err(Exit::Fault(Fault::NoCoprocessor));
        }
        self.control |= 4;
        match i.op {
            Op::Vldr | Op::Vstr | Op::Vldm | Op::Vstm => self.float_memory(i),
            Op::VmovCore | Op::VmovCore2 | Op::VmovLane | Op::Vmrs | Op::Vmsr => self.float_move(i),
            Op::Vcmp | Op::VcmpZero => self.float_compare(i),
            Op::VcvtToInt | Op::VcvtFromInt | Op::VcvtFloat | Op::VcvtFixed | Op::VcvtHalf => {
                self.convert(i)
            }
            _ => self.float_arithmetic(i),
        }
    }

    #[rustfmt::skip]
    fn float_arithmetic(&mut self, i: &Insn) -> Done {
        let nan = self.fpscr & DEFAULT_NAN != 0;
        match i.op {
            Op::VmovI if i.s => self.set_double(i.rd, u64::from(i.imm) << 32),
            Op::VmovI => self.set_single(i.rd, i.imm),
            Op::VmovR => self.copy_float(i, i.rm),
            Op::Vabs => by_width!(self, i, |f, d, n, m| f::absolute(m)),
            Op::Vneg => by_width!(self, i, |f, d, n, m| f::negate(m)),
            Op::Vsqrt => by_width!(self, i, |f, d, n, m| f::root(m, nan)),
            Op::Vadd => by_width!(self, i, |f, d, n, m| f::add(n, m, nan)),
            Op::Vsub => by_width!(self, i, |f, d, n, m| f::subtract(n, m, nan)),
            Op::Vmul => by_width!(self, i, |f, d, n, m| f::multiply(n, m, nan)),
            Op::Vdiv => by_width!(self, i, |f, d, n, m| f::divide(n, m, nan)),
            Op::Vnmul => by_width!(self, i, |f, d, n, m| f::negate(f::multiply(n, m, nan))),
            Op::Vmla => by_width!(self, i, |f, d, n, m| f::add(d, f::multiply(n, m, nan), nan)),
            Op::Vmls => {
                by_width!(self, i, |f, d, n, m| f::subtract_product(d, n, m, nan))
            }
            Op::Vnmla => {
                by_width!(self, i, |f, d, n, m| f::subtract_product(f::negate(d), n, m, nan))
            }
            Op::Vnmls => {
                by_width!(self, i, |f, d, n, m| f::add(f::negate(d), f::multiply(n, m, nan), nan))
            }
            Op::Vfma => by_width!(self, i, |f, d, n, m| f::fuse(d, n, m, nan)),
            Op::Vfms => by_width!(self, i, |f, d, n, m| f::fuse(d, f::negate(n), m, nan)),
            Op::Vfnma => {
                by_width!(self, i, |f, d, n, m| f::fuse(f::negate(d), f::negate(n), m, nan))
            }
            Op::Vfnms => by_width!(self, i, |f, d, n, m| f::fuse(f::negate(d), n, m, nan)),
            Op::Vmaxnm => by_width!(self, i, |f, d, n, m| f::extreme(n, m, true, nan)),
            Op::Vminnm => by_width!(self, i, |f, d, n, m| f::extreme(n, m, false, nan)),
            Op::Vrint => by_width!(self, i, |f, d, n, m| f::round(m, u32::from(i.ra), nan)),
            Op::Vsel => {
                let from = if condition_holds(i.ra, self) { i.rn } else { i.rm };
                self.copy_float(i, from);
            }
            _ => return Err(Exit::Unknown),
        }
        Ok(())
    }

    fn copy_float(&mut self, i: &Insn, from: u8) {
        if i.s {
            self.set_double(i.rd, self.double(from));
        } else {
            self.set_single(i.rd, self.single(from));
        }
    }

    fn float_compare(&mut self, i: &Insn) -> Done {
        let zero = i.op == Op::VcmpZero;
        let flags = if i.s {
            double::compare(self.double(i.rd), if zero { 0 } else { self.double(i.rm) })
        } else {
            single::compare(self.single(i.rd), if zero { 0 } else { self.single(i.rm) })
        };
        self.fpscr = self.fpscr & 0x0FFF_FFFF | flags;
        Ok(())
    }

    fn float_memory(&mut self, i: &Insn) -> Done {
        let list = matches!(i.op, Op::Vldm | Op::Vstm);
        let words = if list { i.imm } else { 1 + u32::from(i.s) };
        let (mut address, base) =
            if list { self.multiple(i, words) } else { (self.reg(i.rn).wrapping_add(i.imm), 0) };
        for register in (i.rd..).take(words as usize) {
            if matches!(i.op, Op::Vldr | Op::Vldm) {
                let word = self.read_aligned(address)?;
                self.set_single(register, word);
            } else {
                self.write_aligned(address, self.single(register))?;
            }
            address = address.wrapping_add(4);
        }
        if list {
            self.set(i.rn, base);
        }
        Ok(())
    }

    fn float_move(&mut self, i: &Insn) -> Done {
        let to_core = i.imm == TO_CORE;
        match i.op {
            Op::VmovCore | Op::VmovLane if to_core => self.set(i.rd, self.single(i.rm)),
            Op::VmovCore | Op::VmovLane => self.set_single(i.rm, self.reg(i.rd)),
            Op::VmovCore2 if to_core => {
                let (low, high) = (self.single(i.rm), self.single(i.rm + 1));
                self.set(i.rd, low);
                self.set(i.ra, high);
            }
            Op::VmovCore2 => {
                self.set_single(i.rm, self.reg(i.rd));
                self.set_single(i.rm + 1, self.reg(i.ra));
            }
            Op::Vmrs if i.rd == 15 => self.set_flags(self.fpscr),
            Op::Vmrs => self.set(i.rd, self.fpscr),
            _ => {
                let value = self.reg(i.rd);
                if value & OTHER_ARITHMETIC != 0 {
                    return Err(Exit::Arithmetic(value));
                }
                self.fpscr = value & (0xF000_0000 | DEFAULT_NAN);
            }
        }
        Ok(())
    }

    fn convert(&mut self, i: &Insn) -> Done {
        let (mode, signed) = (u32::from(i.ra), i.imm & SIGNED != 0);
        match i.op {
            Op::VcvtToInt if i.s => {
                self.set_single(i.rd, double::integer(self.double(i.rm), mode, signed));
            }
            Op::VcvtToInt => {
                self.set_single(i.rd, single::integer(self.single(i.rm), mode, signed));
            }
            Op::VcvtFromInt => {
                let word = self.single(i.rm);
                let exact = if signed { f64::from(word as i32) } else { f64::from(word) };
                self.set_float(i, exact);
            }
            Op::VcvtFloat if i.s => self.narrow(i),
            Op::VcvtFloat => self.widen(i),
            Op::VcvtHalf => self.convert_half(i),
            _ => self.convert_fixed(i),
        }
        Ok(())
    }

    /// Writes an exact value, rounded once if the destination is a single.
    fn set_float(&mut self, i: &Insn, exact: f64) {
        if i.s {
            self.set_double(i.rd, exact.to_bits());
        } else {
            self.set_single(i.rd, (exact as f32).to_bits());
        }
    }

    fn narrow(&mut self, i: &Insn) {
        let bits = self.double(i.rm);
        let value = f64::from_bits(bits);
        let narrow = if value.is_nan() {
            let payload = (bits >> 29) as u32 & 0x003F_FFFF;
            self.nan_or_default((bits >> 32) as u32 & 0x8000_0000 | 0x7FC0_0000 | payload)
        } else {
            (value as f32).to_bits()
        };
        self.set_single(i.rd, narrow);
    }

    fn widen(&mut self, i: &Insn) {
        let bits = self.single(i.rm);
        let value = f32::from_bits(bits);
        let wide = if value.is_nan() {
            let kept = self.nan_or_default(bits | 1 << 22);
            u64::from(kept >> 31) << 63 | 0x7FF << 52 | u64::from(kept & 0x007F_FFFF) << 29
        } else {
            f64::from(value).to_bits()
        };
        self.set_double(i.rd, wide);
    }

    fn nan_or_default(&self, nan: u32) -> u32 {
        if self.fpscr & DEFAULT_NAN != 0 { 0x7FC0_0000 } else { nan }
    }

    fn convert_half(&mut self, i: &Insn) {
        let shift = if i.imm & TOP != 0 { 16 } else { 0 };
        if i.imm & TO_HALF == 0 {
            let wide = from_half((self.single(i.rm) >> shift) as u16);
            if i.s {
                self.set_double(i.rd, wide);
            } else {
                self.set_single(i.rd, narrowed(wide));
            }
            return;
        }
        let wide = if i.s { self.double(i.rm) } else { widened(self.single(i.rm)) };
        let old = self.single(i.rd) & !(0xFFFF << shift);
        self.set_single(i.rd, old | u32::from(to_half(wide)) << shift);
    }

    fn convert_fixed(&mut self, i: &Insn) {
        let (signed, long) = (i.imm & SIGNED != 0, i.imm & LONG != 0);
        let scale = 2f64.powi(i32::from(i.ra));
        if i.imm & TO_FIXED == 0 {
            let word = self.single(i.rd);
            let integer = match (signed, long) {
                (true, true) => f64::from(word as i32),
                (true, false) => f64::from(word as i16),
                (false, true) => f64::from(word),
                (false, false) => f64::from(word as u16),
            };
            return self.set_float(i, integer / scale);
        }
        let value = if i.s {
            f64::from_bits(self.double(i.rd))
        } else {
            f64::from(f32::from_bits(self.single(i.rd)))
        } * scale;
        // Casts saturate and turn a NaN into zero, as in the architecture.
        let fixed = match (signed, long) {
            (true, true) => value as i32 as u32,
            (true, false) => value as i16 as u32,
            (false, true) => value as u32,
            (false, false) => u32::from(value as u16),
        };
        if i.s {
            let wide = if signed { i64::from(fixed as i32) as u64 } else { u64::from(fixed) };
            self.set_double(i.rd, wide);
        } else {
            self.set_single(i.rd, fixed);
        }
    }
}

/// Converts a double that was a half to a single: exact, NaNs included.
fn narrowed(wide: u64) -> u32 {
    let value = f64::from_bits(wide);
    if value.is_nan() {
        return (wide >> 32) as u32 & 0x8000_0000 | 0x7F80_0000 | (wide >> 29) as u32 & 0x007F_FFFF;
    }
    (value as f32).to_bits()
}

/// Converts a single to a double, NaNs included.
fn widened(bits: u32) -> u64 {
    let value = f32::from_bits(bits);
    if value.is_nan() {
        return u64::from(bits >> 31) << 63 | 0x7FF << 52 | u64::from(bits & 0x007F_FFFF) << 29;
    }
    f64::from(value).to_bits()
}
