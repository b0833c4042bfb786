//! The floating-point extension FPv5 (A6). Registers are numbered as singles, so D1 is S2.

use super::constants;
use super::narrow::{BELOW, WRITE_BACK};
use crate::insn::{Address, Insn, Op, bit, bits};

/// Decodes a floating-point instruction. [`Insn::s`] is set if it works on doubles.
pub(super) fn decode(address: u32, first: u32, second: u32) -> Option<Insn> {
    if bits(second, 11, 9) != 0b101 {
        return None;
    }
    let double = bit(second, 8);
    match (first >> 8, bit(second, 4)) {
        (0xEC | 0xED, _) if first & 0x1E0 == 0x040 => two_registers(first, second, double),
        (0xEC | 0xED, _) => transfer(address, first, second, double),
        (0xEE, false) => arithmetic(first, second, double),
        (0xEE, true) => core_register(first, second),
        (0xFE, false) => unconditional(first, second, double),
        _ => None,
    }
}

fn insn(op: Op, double: bool) -> Insn {
    Insn::new(op, 4).sets(double)
}

/// A register's number from its four bits and its extra bit; `None` if it is above D15.
fn register(four: u32, extra: bool, double: bool) -> Option<u32> {
    match (double, extra) {
        (false, extra) => Some(four << 1 | u32::from(extra)),
        (true, false) => Some(four << 1),
        (true, true) => None,
    }
}

fn d(first: u32, second: u32, double: bool) -> Option<u32> {
    register(bits(second, 15, 12), bit(first, 6), double)
}

fn n(first: u32, second: u32, double: bool) -> Option<u32> {
    register(first & 0xF, bit(second, 7), double)
}

fn m(second: u32, double: bool) -> Option<u32> {
    register(second & 0xF, bit(second, 5), double)
}

fn arithmetic(first: u32, second: u32, double: bool) -> Option<Insn> {
    let negated = bit(second, 6);
    let op = match (bits(first, 7, 7) << 2 | bits(first, 5, 4), negated) {
        (0b000, false) => Op::Vmla,
        (0b000, true) => Op::Vmls,
        (0b001, false) => Op::Vnmls,
        (0b001, true) => Op::Vnmla,
        (0b010, false) => Op::Vmul,
        (0b010, true) => Op::Vnmul,
        (0b011, false) => Op::Vadd,
        (0b011, true) => Op::Vsub,
        (0b100, false) => Op::Vdiv,
        (0b101, false) => Op::Vfnms,
        (0b101, true) => Op::Vfnma,
        (0b110, false) => Op::Vfma,
        (0b110, true) => Op::Vfms,
        (0b111, _) => return other(first, second, double),
        _ => return None,
    };
    three(op, first, second, double)
}

fn three(op: Op, first: u32, second: u32, double: bool) -> Option<Insn> {
    let (d, n) = (d(first, second, double)?, n(first, second, double)?);
    Some(insn(op, double).d(d).n(n).m(m(second, double)?))
}

fn two(op: Op, first: u32, second: u32, double: bool) -> Option<Insn> {
    Some(insn(op, double).d(d(first, second, double)?).m(m(second, double)?))
}

/// The rounding mode of a conversion or [`Op::Vrint`], in [`Insn::ra`].
pub(crate) mod rounding {
    pub(crate) const NEAREST: u32 = 0;
    pub(crate) const UP: u32 = 1;
    pub(crate) const DOWN: u32 = 2;
    pub(crate) const TO_ZERO: u32 = 3;
    pub(crate) const AWAY: u32 = 4;
    /// As set in FPSCR.
    pub(crate) const CURRENT: u32 = 5;
}

/// For conversions, in [`Insn::imm`]: the integer is signed.
pub(crate) const SIGNED: u32 = 1;
/// The destination is a fixed-point number (otherwise the source is).
pub(crate) const TO_FIXED: u32 = 2;
/// The fixed-point number has 32 bits (otherwise 16).
pub(crate) const LONG: u32 = 4;
/// For VCVTB and VCVTT: the destination is the half-precision number.
pub(crate) const TO_HALF: u32 = 1;
/// The half-precision number is in the upper half.
pub(crate) const TOP: u32 = 2;

/// One operand, constants and conversions (A6.4, table A6-2).
fn other(first: u32, second: u32, double: bool) -> Option<Insn> {
    let upper = bit(second, 7);
    if !bit(second, 6) {
        let byte = (first & 0xF) << 4 | second & 0xF;
        let value = if double { constants::double(byte) } else { constants::float(byte) };
        return Some(insn(Op::VmovI, double).d(d(first, second, double)?).i(value));
    }
    match (first & 0xF, upper) {
        (0, false) => two(Op::VmovR, first, second, double),
        (0, true) => two(Op::Vabs, first, second, double),
        (1, false) => two(Op::Vneg, first, second, double),
        (1, true) => two(Op::Vsqrt, first, second, double),
        (2 | 3, _) => half(first, second, double),
        (4, _) => two(Op::Vcmp, first, second, double),
        (5, _) => Some(insn(Op::VcmpZero, double).d(d(first, second, double)?)),
        (6, upper) => {
            let mode = if upper { rounding::TO_ZERO } else { rounding::CURRENT };
            Some(two(Op::Vrint, first, second, double)?.a(mode))
        }
        (7, false) => Some(two(Op::Vrint, first, second, double)?.a(rounding::CURRENT)),
        (7, true) => {
            let destination = d(first, second, !double)?;
            Some(insn(Op::VcvtFloat, double).d(destination).m(m(second, double)?))
        }
        (8, signed) => {
            let (d, m) = (d(first, second, double)?, m(second, false)?);
            Some(insn(Op::VcvtFromInt, double).d(d).m(m).i(u32::from(signed)))
        }
        (12 | 13, zero) => {
            let mode = if zero { rounding::TO_ZERO } else { rounding::CURRENT };
            to_integer(first, second, double, mode, bit(first, 0))
        }
        (10 | 11 | 14 | 15, _) => fixed(first, second, double),
        _ => None,
    }
}

fn half(first: u32, second: u32, double: bool) -> Option<Insn> {
    let to = bit(first, 0);
    let (wide_d, wide_m) = (double && !to, double && to);
    let form = (u32::from(to) * TO_HALF) | (bits(second, 7, 7) * TOP);
    let (d, m) = (d(first, second, wide_d)?, m(second, wide_m)?);
    Some(insn(Op::VcvtHalf, double).d(d).m(m).i(form))
}

fn to_integer(first: u32, second: u32, double: bool, mode: u32, signed: bool) -> Option<Insn> {
    let (d, m) = (d(first, second, false)?, m(second, double)?);
    Some(insn(Op::VcvtToInt, double).d(d).m(m).a(mode).i(u32::from(signed) * SIGNED))
}

fn fixed(first: u32, second: u32, double: bool) -> Option<Insn> {
    let long = bit(second, 7);
    let size = if long { 32 } else { 16 };
    let fraction = size - ((second & 0xF) << 1 | bits(second, 5, 5)) as i32;
    if fraction < 0 {
        return None;
    }
    let form = (u32::from(!bit(first, 0)) * SIGNED)
        | (bits(first, 2, 2) * TO_FIXED)
        | (u32::from(long) * LONG);
    let d = d(first, second, double)?;
    Some(insn(Op::VcvtFixed, double).d(d).m(d).a(fraction as u32).i(form))
}

/// VSEL, VMAXNM, VRINTA and similar instructions (A6.4, table A6-3).
fn unconditional(first: u32, second: u32, double: bool) -> Option<Insn> {
    let (upper, negated) = (bit(first, 7), bit(second, 6));
    let modes = [rounding::AWAY, rounding::NEAREST, rounding::UP, rounding::DOWN];
    let mode = modes[(first & 3) as usize];
    match (upper, bits(first, 5, 4), negated) {
        (false, condition, false) => {
            Some(three(Op::Vsel, first, second, double)?.a([0, 6, 10, 12][condition as usize]))
        }
        (true, 0, false) => three(Op::Vmaxnm, first, second, double),
        (true, 0, true) => three(Op::Vminnm, first, second, double),
        (true, 3, true) => match (bits(first, 3, 2), bit(second, 7)) {
            (2, false) => Some(two(Op::Vrint, first, second, double)?.a(mode)),
            (3, signed) => to_integer(first, second, double, mode, signed),
            _ => None,
        },
        _ => None,
    }
}

fn transfer(address: u32, first: u32, second: u32, double: bool) -> Option<Insn> {
    let (rn, load, up) = (first & 0xF, bit(first, 4), bit(first, 7));
    let (pre, write_back) = (bit(first, 8), bit(first, 5));
    let offset = (second & 0xFF) * 4;
    let extra = bit(first, 6);
    let d = register(bits(second, 15, 12), extra, double)?;
    if pre && !write_back {
        let signed = if up { offset } else { offset.wrapping_neg() };
        let op = insn(if load { Op::Vldr } else { Op::Vstr }, double).d(d).at(Address::Offset);
        if rn == 15 {
            return Some(op.i((address.wrapping_add(4) & !3).wrapping_add(signed)));
        }
        return Some(op.n(rn).i(signed));
    }
    // Addresses below the base require write-back; addresses from the base up exclude `pre`.
    if pre == up || (pre && !write_back) {
        return None;
    }
    let words = second & 0xFF;
    // An odd number of words of doubles is FLDMX, which no compiler emits any more.
    if words == 0 || (double && words & 1 != 0) || d + words > 32 || rn == 15 {
        return None;
    }
    let form = (u32::from(write_back) * WRITE_BACK) | (u32::from(pre) * BELOW);
    let op = if load { Op::Vldm } else { Op::Vstm };
    Some(insn(op, double).d(d).n(rn).i(words).a(form))
}

/// For [`Op::VmovCore`] and similar instructions, in [`Insn::imm`]: the transfer goes to the core register.
pub(crate) const TO_CORE: u32 = 1;

fn two_registers(first: u32, second: u32, double: bool) -> Option<Insn> {
    if second & 0xD0 != 0x10 {
        return None;
    }
    let lowest = m(second, double)?;
    if lowest == 31 {
        return None;
    }
    let form = bits(first, 4, 4) * TO_CORE;
    let (rt, rt2) = (bits(second, 15, 12), first & 0xF);
    Some(insn(Op::VmovCore2, double).d(rt).a(rt2).m(lowest).i(form))
}

fn core_register(first: u32, second: u32) -> Option<Insn> {
    let (rt, form) = (bits(second, 15, 12), bits(first, 4, 4) * TO_CORE);
    match (bit(second, 8), bits(first, 7, 5)) {
        (false, 0) => Some(insn(Op::VmovCore, false).d(rt).m(n(first, second, false)?).i(form)),
        (false, 7) if first & 0xF == 1 => {
            Some(insn(if form == 0 { Op::Vmsr } else { Op::Vmrs }, false).d(rt))
        }
        (true, 0 | 1) if bits(second, 6, 5) == 0 => {
            let lane = n(first, second, true)? + bits(first, 5, 5);
            Some(insn(Op::VmovLane, false).d(rt).m(lane).i(form))
        }
        _ => None,
    }
}
